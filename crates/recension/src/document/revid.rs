//! Revision ids: CouchDB's `N-32hex`, a generation and a hash. Plain values; how the hash comes about
//! is `rev_hash`'s affair.

use std::fmt;
use std::str::FromStr;

use super::{Error, Result};

/// The id of a revision: how many edits it is away from the first, and a hash of what it says and
/// where it comes from. Equal edits of equal revisions have equal ids, on any replica.
///
/// Ids are ordered as CouchDB orders them when it picks a winner: by generation, then by hash.
///
/// ```
/// use recension::document::RevId;
/// # fn main() -> recension::document::Result<()> {
/// let rev: RevId = "1-967a00dff5e02add41819138abb3284d".parse()?;
/// assert_eq!(rev.generation, 1);
/// assert_eq!(rev.to_string(), "1-967a00dff5e02add41819138abb3284d");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RevId {
    /// 1 for a document's first revision, one more with every edit.
    pub generation: u32,
    /// The hash.
    pub hash: [u8; 16],
}

const HEX: &[u8; 16] = b"0123456789abcdef";

impl fmt::Display for RevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        write!(f, "{}-", self.generation)?;
        for byte in self.hash {
            f.write_char(char::from(HEX[usize::from(byte >> 4)]))?;
            f.write_char(char::from(HEX[usize::from(byte & 15)]))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for RevId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| Error::BadRevision { text: text.chars().take(80).collect() })
    }
}

fn parse(text: &str) -> Option<RevId> {
    let (generation, hash) = text.split_once('-')?;
    if generation.starts_with('0') || !generation.bytes().all(|byte| byte.is_ascii_digit()) || hash.len() != 32 {
        return None;
    }
    let generation = generation.parse().ok()?;
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(hash.as_bytes().chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high << 4 | low) as u8;
    }
    Some(RevId { generation, hash: bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_id_reads_back_what_it_prints() {
        let text = "42-00ff10a5c3b2d4e6f708192a3b4c5d6e";
        assert_eq!(text.parse::<RevId>().unwrap().to_string(), text);
        assert_eq!(text.to_uppercase().parse::<RevId>().unwrap().to_string(), text);
    }

    #[test]
    fn what_is_not_a_revision_id_is_refused() {
        for text in [
            "",
            "1",
            "1-",
            "-967a00dff5e02add41819138abb3284d",
            "0-967a00dff5e02add41819138abb3284d",
            "01-967a00dff5e02add41819138abb3284d",
            "+1-967a00dff5e02add41819138abb3284d",
            "4294967296-967a00dff5e02add41819138abb3284d",
            "1-967a00dff5e02add41819138abb3284",
            "1-967a00dff5e02add41819138abb3284dd",
            "1-967a00dff5e02add41819138abb3284g",
            "1-967a00dff5e02add41819138abb328é",
        ] {
            assert!(text.parse::<RevId>().is_err(), "{text}");
        }
    }
}
