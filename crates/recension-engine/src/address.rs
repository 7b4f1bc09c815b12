//! The address of a store, as a person types it. This is the only place where its form is read. The crates with the
//! engines say which schemes there are. Parsing is pure: it opens nothing.

use std::path::Path;

use crate::error::{EngineError, Result};

/// A store's address, by its form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address<'a> {
    /// `memory:`: an empty store that ends with the process.
    Memory,
    /// A path: the directory of a native store.
    Path(&'a Path),
    /// `scheme:rest`: a store of another engine.
    Scheme(&'a str, &'a str),
}

impl<'a> Address<'a> {
    /// Understands `memory:`, `scheme:rest`, or a path. A path that begins like an address (letters, then a colon) is
    /// written with `./` before it. One letter is no scheme: it is a drive of Windows.
    ///
    /// ```
    /// use recension_engine::Address;
    /// assert_eq!(Address::parse("memory:").unwrap(), Address::Memory);
    /// assert_eq!(Address::parse("sqlite:notes.db").unwrap(), Address::Scheme("sqlite", "notes.db"));
    /// assert_eq!(Address::parse("./a:b").unwrap(), Address::Path("./a:b".as_ref()));
    /// assert!(Address::parse("").is_err());
    /// ```
    ///
    /// # Errors
    /// [`EngineError::BadAddress`] for an empty address, one with a zero byte, and a name behind `memory:`.
    pub fn parse(address: &'a str) -> Result<Self> {
        let bad = |why: &str| Err(EngineError::BadAddress { address: address.to_owned(), why: why.to_owned() });
        if address.is_empty() {
            return bad("it is empty; name a directory, or memory:");
        }
        if address.contains('\0') {
            return bad("it contains a zero byte");
        }
        match scheme(address) {
            Some(("memory", "")) => Ok(Address::Memory),
            Some(("memory", _)) => bad("nothing can follow memory:, a store that has no name"),
            Some((scheme, rest)) => Ok(Address::Scheme(scheme, rest)),
            None => Ok(Address::Path(address.as_ref())),
        }
    }
}

impl Address<'_> {
    /// The store and the branch of `place#branch`; `None` if the address names no branch. What stands behind `#` may be
    /// no name of a branch, or nothing: it is none, and no store of such a name is to be made. A directory whose own
    /// name is like that is for the caller to notice.
    ///
    /// ```
    /// use recension_engine::Address;
    /// assert_eq!(Address::branch("notes.store#idea"), Some(("notes.store", "idea")));
    /// assert_eq!(Address::branch("notes.store#"), Some(("notes.store", "")));
    /// assert_eq!(Address::branch("notes.store"), None);
    /// assert_eq!(Address::branch("disk#2/notes.store"), None);
    /// ```
    pub fn branch(address: &str) -> Option<(&str, &str)> {
        let (store, branch) = address.rsplit_once('#')?;
        (!store.is_empty() && !branch.contains(['/', '\\'])).then_some((store, branch))
    }
}

/// The text before and after the colon, if the address begins like a URL (RFC 3986, section 3.1).
fn scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}
