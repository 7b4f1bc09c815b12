//! The position of a feed of changes. Pure.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use recension_engine::Seq;

/// How far a feed has been read: a commit, and if the commit has further changes, the last change that was read.
///
/// A position can be kept as text and read back: `12`, or `12-` and more. It only holds a commit, a collection's name
/// and an id. A server puts a number before it for CouchDB's clients, as `7-12`, which reads as the same position.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Position {
    pub seq: Seq,
    /// The collection and the id of the last change that was read; `None`: all changes of the commit were read.
    pub within: Option<(String, String)>,
}

impl Position {
    /// Before the first change.
    pub const START: Position = Position { seq: Seq::ZERO, within: None };

    /// The commit of the last change that was read.
    pub fn seq(&self) -> Seq {
        self.seq
    }
}

impl From<Seq> for Position {
    /// After all changes of commits up to `seq`.
    fn from(seq: Seq) -> Self {
        Position { seq, within: None }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.seq)?;
        if let Some((collection, id)) = &self.within {
            for text in [collection, id] {
                f.write_str("-")?;
                text.bytes().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
        }
        Ok(())
    }
}

impl FromStr for Position {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let hex = |text: &str| {
            let (pairs, rest) = text.as_bytes().as_chunks::<2>();
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let byte = |pair: &[u8; 2]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
            let bytes = rest.is_empty().then(|| pairs.iter().map(byte).collect::<Option<Vec<u8>>>())??;
            String::from_utf8(bytes).ok()
        };
        let parse = || {
            let number = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
            let parts: Vec<&str> = text.splitn(5, '-').collect();
            // The number of updates before it is for clients alone.
            let parts = if parts.len().is_multiple_of(2) {
                parts.split_first().filter(|(n, _)| number(n).is_some())?.1
            } else {
                &parts[..]
            };
            let (seq, within) = match *parts {
                [seq] => (seq, None),
                [seq, collection, id] => (seq, Some((hex(collection)?, hex(id)?))),
                _ => return None,
            };
            Some(Position { seq: Seq(number(seq)?), within })
        };
        parse().ok_or_else(|| Error::BadPosition { text: text.chars().take(80).collect() })
    }
}
