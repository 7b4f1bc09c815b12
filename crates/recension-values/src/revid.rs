//! Revision ids: CouchDB's `N-32hex`, a generation and a suffix. Plain values; `rev_hash` computes suffixes.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};

/// The longest suffix, in bytes: room for a SHA-256 in hexadecimal digits, and an id without a pointer.
const SUFFIX_BYTES_MAX: usize = 67;
/// The length of a hash, and of every suffix that is printed in hexadecimal digits.
const HASH_BYTES: usize = 16;

/// The id of a revision: its generation, and a hash of its content and its ancestry. Equal edits of equal revisions
/// have equal ids, on any replica.
///
/// The suffix behind the dash is a byte string. As in CouchDB, 32 hexadecimal digits are 16 bytes, and a shorter text
/// (`1-a`), which other writers make, stands for its own bytes. A text of 16 characters is therefore the same id as the
/// 32 digits of its bytes, and is printed as those.
///
/// Ids are ordered as CouchDB orders them when it picks a winner: by generation, then by the suffix's bytes.
///
/// ```
/// use recension::RevId;
/// # fn main() -> recension::Result<()> {
/// let rev: RevId = "1-967a00dff5e02add41819138abb3284d".parse()?;
/// assert_eq!(rev.generation(), 1);
/// assert_eq!(rev.to_string(), "1-967a00dff5e02add41819138abb3284d");
/// assert!("2-b".parse::<RevId>()? > "2-a".parse()?);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RevId {
    generation: u32,
    // Bytes beyond the length are zero, and the length comes last. The derived order is therefore the order of byte
    // strings: only hashes contain zero bytes, and all hashes have the same length. If a shorter text is a prefix of a
    // hash, the length decides.
    bytes: [u8; SUFFIX_BYTES_MAX],
    len: u8,
}

impl RevId {
    /// The id of a revision with a hash. Generations begin with 1.
    pub fn new(generation: u32, hash: [u8; HASH_BYTES]) -> Self {
        let mut bytes = [0; SUFFIX_BYTES_MAX];
        bytes[..HASH_BYTES].copy_from_slice(&hash);
        RevId { generation, bytes, len: HASH_BYTES as u8 }
    }

    /// The id with a suffix of bytes; `None` if they are no valid suffix, and for generation 0.
    pub fn from_bytes(generation: u32, suffix: &[u8]) -> Option<Self> {
        let printable = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
        let fits = suffix.len() == HASH_BYTES || (!suffix.is_empty() && suffix.iter().all(printable));
        let mut bytes = [0; SUFFIX_BYTES_MAX];
        bytes.get_mut(..suffix.len())?.copy_from_slice(suffix);
        (fits && generation > 0).then_some(RevId { generation, bytes, len: suffix.len() as u8 })
    }

    /// 1 for a document's first revision, and one more with every edit.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// The suffix: the 16 bytes of a hash, or the bytes of another text.
    pub fn suffix_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// The suffix, if it is a hash.
    pub fn hash(&self) -> Option<[u8; HASH_BYTES]> {
        self.suffix_bytes().try_into().ok()
    }

    /// The suffix as text: CouchDB's `_revisions` lists these.
    pub fn suffix(&self) -> String {
        let mut text = String::with_capacity(2 * HASH_BYTES);
        // Writing to a String cannot fail.
        let _ = self.write_suffix(&mut text);
        text
    }

    /// Writes it as it is displayed, without a formatter: lists have one in every row.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_to(&self, to: &mut impl fmt::Write) -> fmt::Result {
        match u8::try_from(self.generation) {
            Ok(digit @ 0..=9) => to.write_char(char::from(b'0' + digit))?,
            _ => write!(to, "{}", self.generation)?,
        }
        to.write_char('-')?;
        self.write_suffix(to)
    }

    fn write_suffix(&self, to: &mut impl fmt::Write) -> fmt::Result {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let Some(hash) = self.hash() else {
            // Every other suffix is printable ASCII.
            return to.write_str(std::str::from_utf8(self.suffix_bytes()).unwrap_or_default());
        };
        // It is written at once, because every answer with a document has it twice.
        let mut digits = [0; 2 * HASH_BYTES];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(hash) {
            pair.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
        to.write_str(std::str::from_utf8(&digits).unwrap_or_default())
    }

    /// The id with the generation `generation` and a suffix as text.
    ///
    /// # Errors
    /// [`Error::BadRevision`].
    pub fn with_suffix(generation: u32, suffix: &str) -> Result<Self> {
        parse_suffix(generation, suffix).ok_or_else(|| bad(&format!("{generation}-{suffix}")))
    }
}

impl fmt::Display for RevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
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
        parse(text).ok_or_else(|| bad(text))
    }
}

fn bad(text: &str) -> Error {
    Error::BadRevision { text: text.chars().take(80).collect() }
}

fn parse(text: &str) -> Option<RevId> {
    let (generation, suffix) = text.split_once('-')?;
    if generation.starts_with('0') || !generation.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    parse_suffix(generation.parse().ok()?, suffix)
}

fn parse_suffix(generation: u32, suffix: &str) -> Option<RevId> {
    if suffix.len() != 2 * HASH_BYTES {
        return RevId::from_bytes(generation, suffix.as_bytes());
    }
    let mut hash = [0; HASH_BYTES];
    for (byte, pair) in hash.iter_mut().zip(suffix.as_bytes().chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = (high << 4 | low) as u8;
    }
    RevId::from_bytes(generation, &hash)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rev(text: &str) -> RevId {
        text.parse().unwrap()
    }

    /// As a PouchDB test makes them: a letter, and then 32 digits.
    const LONG: &str = "5000-a967a00dff5e02add41819138abb3284d";

    #[test]
    fn a_revision_id_reads_back_what_it_prints() {
        let hash = "42-00ff10a5c3b2d4e6f708192a3b4c5d6e";
        assert_eq!(rev(&hash.to_uppercase()).to_string(), hash);
        for text in
            [hash, "1-a", "9-F", "2-967a00dff5e02add41819138abb3284", LONG, "4294967295-a-b_c.d", "1-0123456789abcde"]
        {
            assert_eq!(rev(text).to_string(), text);
            assert_eq!(RevId::with_suffix(rev(text).generation(), &rev(text).suffix()).unwrap(), rev(text));
        }
        assert_eq!(rev("1-0123456789abcdef").to_string(), "1-30313233343536373839616263646566");
    }

    #[test]
    fn what_is_not_a_revision_id_is_refused() {
        for text in [
            "",
            "1",
            "1-",
            "foo",
            "-967a00dff5e02add41819138abb3284d",
            "0-967a00dff5e02add41819138abb3284d",
            "0-1",
            "01-967a00dff5e02add41819138abb3284d",
            "+1-967a00dff5e02add41819138abb3284d",
            "x-967a00dff5e02add41819138abb3284d",
            "4294967296-967a00dff5e02add41819138abb3284d",
            "1-967a00dff5e02add41819138abb3284g",
            "1-967a00dff5e02add41819138abb328é",
            "1-é",
            "1-a b",
            "1-a\"",
            "1-a\\",
            "1-a\n",
        ] {
            assert!(text.parse::<RevId>().is_err(), "{text}");
        }
        assert!(format!("1-{}", "a".repeat(SUFFIX_BYTES_MAX + 1)).parse::<RevId>().is_err());
        assert!(RevId::with_suffix(0, "a").is_err() && RevId::from_bytes(1, &[7; 15]).is_none());
    }

    #[test]
    fn revisions_are_ordered_by_generation_and_then_by_bytes() {
        let ordered = [
            "1-ffffffffffffffffffffffffffffffff",
            "2-00000000000000000000000000000000",
            "2-0",
            "2-30000000000000000000000000000000",
            "2-A",
            "2-a",
            "2-aa",
            "2-aa967a00dff5e02add41819138abb3284d",
            "2-b",
            "2-ffffffffffffffffffffffffffffffff",
            "10-00000000000000000000000000000000",
        ];
        assert!(ordered.map(rev).is_sorted_by(|a, b| a < b));
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_the_byte_strings(a in suffix(), b in suffix()) {
            let (left, right) = (RevId::from_bytes(7, &a).unwrap(), RevId::from_bytes(7, &b).unwrap());
            prop_assert_eq!(left.cmp(&right), a.cmp(&b));
            prop_assert_eq!(left.to_string().parse::<RevId>().unwrap(), left);
        }
    }

    fn suffix() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), Just(b'~')], 1..=31),
            proptest::collection::vec(prop_oneof![Just(0), Just(b'a'), any::<u8>()], 16),
        ]
    }
}
