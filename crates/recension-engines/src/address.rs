//! The address of a store: what a person types to say which store they mean. Parsing is pure; nothing is
//! opened, made or looked up before the whole address is understood.

use std::path::PathBuf;

use recension::engine::{EngineError, Result};

/// A store's address, understood.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Address {
    /// `memory:`: an empty store that ends with the process.
    Memory,
    /// `sqlite:FILE`: a file in `SQLite`'s format.
    Sqlite(PathBuf),
    /// A path: the directory of a native store.
    Native(PathBuf),
}

impl Address {
    /// Understands `memory:`, `sqlite:FILE`, or a path. A path that begins like an address of another kind
    /// (letters, then a colon) is written with `./` before it.
    ///
    /// ```
    /// use recension_engines::Address;
    /// assert_eq!(Address::parse("sqlite:notes.db").unwrap(), Address::Sqlite("notes.db".into()));
    /// assert_eq!(Address::parse("./a:b").unwrap(), Address::Native("./a:b".into()));
    /// assert!(Address::parse("oracle:x").is_err());
    /// ```
    ///
    /// # Errors
    /// [`EngineError::BadAddress`], which says what is understood.
    pub fn parse(address: &str) -> Result<Self> {
        let bad = |why: &str| Err(EngineError::BadAddress { address: address.to_owned(), why: why.to_owned() });
        if address.contains('\0') {
            return bad("it contains a zero byte");
        }
        match scheme(address) {
            Some(("memory", "")) => Ok(Address::Memory),
            Some(("memory", _)) => bad("nothing can follow memory:, a store that has no name"),
            Some(("sqlite", "")) => bad("a file must follow, as in sqlite:notes.db"),
            Some(("sqlite", ":memory:")) => bad("for a store in memory, write memory:"),
            Some(("sqlite", file)) => Ok(Address::Sqlite(file.into())),
            Some(_) => {
                bad("the kinds of store are memory:, sqlite:FILE, or a path (write ./ before a path with a colon)")
            }
            None if address.is_empty() => bad("it is empty; give a path, memory: or sqlite:FILE"),
            None => Ok(Address::Native(address.into())),
        }
    }
}

/// What stands before and after the colon, if the address begins like a URL (RFC 3986, section 3.1).
fn scheme(address: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = address.split_once(':')?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}
