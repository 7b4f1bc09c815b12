//! JSON pointers, RFC 6901: the name of one place in a JSON text, as JSON patches use it. Pure.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::limits::{JSON_DEPTH_MAX, POINTER_BYTES_MAX};

/// A place in a JSON text: `/items/0/sku`; the empty pointer is the whole text.
///
/// `~1` stands for a slash in a name, `~0` for a tilde. `-` is the place behind an array's last element.
///
/// ```
/// use recension::json::Pointer;
/// # fn main() -> recension::Result<()> {
/// let pointer: Pointer = "/items/0/a~1b".parse()?;
/// assert_eq!(pointer.tokens(), ["items", "0", "a/b"]);
/// assert_eq!(pointer, Pointer::root().child("items").child("0").child("a/b"));
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Pointer {
    tokens: Vec<String>,
}

impl Pointer {
    /// The whole text.
    pub fn root() -> Self {
        Self::default()
    }

    /// The member or the element `token` of this place.
    #[must_use]
    pub fn child(mut self, token: impl Into<String>) -> Self {
        self.tokens.push(token.into());
        self
    }

    /// Its names and numbers of elements, from the outermost.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// The place that this one is directly in, and the last token; `None` for the whole text.
    pub(super) fn split_last(&self) -> Option<(&str, &[String])> {
        self.tokens.split_last().map(|(last, rest)| (last.as_str(), rest))
    }

    pub(super) fn push(&mut self, token: &str) {
        self.tokens.push(token.to_owned());
    }

    pub(super) fn pop(&mut self) {
        self.tokens.pop();
    }

    /// About how many bytes it holds.
    pub(super) fn len_bytes(&self) -> usize {
        self.tokens.iter().map(|token| token.len() + size_of::<String>()).sum()
    }

    /// Whether `other` is here or inside of here.
    pub(super) fn is_prefix_of(&self, other: &Pointer) -> bool {
        other.tokens.starts_with(&self.tokens)
    }
}

/// The number of an element: digits, without zeros before them.
pub(super) fn element_number(token: &str) -> Option<usize> {
    let canonical = token == "0" || (!token.starts_with('0') && token.bytes().all(|byte| byte.is_ascii_digit()));
    if canonical { token.parse().ok() } else { None }
}

impl FromStr for Pointer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad =
            |why| Err(Error::BadName { what: "place in a JSON text", name: text.chars().take(80).collect(), why });
        if text.is_empty() {
            return Ok(Self::root());
        }
        let Some(tokens) = text.strip_prefix('/') else {
            return bad("a JSON pointer is empty or begins with a slash");
        };
        if text.len() > POINTER_BYTES_MAX || tokens.split('/').count() > JSON_DEPTH_MAX {
            return bad("it is too long");
        }
        let mut pointer = Self::root();
        for token in tokens.split('/') {
            let mut decoded = String::with_capacity(token.len());
            let mut chars = token.chars();
            while let Some(c) = chars.next() {
                match (c, if c == '~' { chars.next() } else { None }) {
                    ('~', Some('0')) => decoded.push('~'),
                    ('~', Some('1')) => decoded.push('/'),
                    ('~', _) => return bad("behind a tilde comes 0 (for a tilde) or 1 (for a slash)"),
                    (c, _) => decoded.push(c),
                }
            }
            pointer.tokens.push(decoded);
        }
        Ok(pointer)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for token in &self.tokens {
            f.write_str("/")?;
            for c in token.chars() {
                match c {
                    '~' => f.write_str("~0")?,
                    '/' => f.write_str("~1")?,
                    c => write!(f, "{c}")?,
                }
            }
        }
        Ok(())
    }
}
