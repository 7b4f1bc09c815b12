//! The catalogue's rows about keys of collections: which key a collection's trees are sealed by, and how many trees of
//! the key's block are given out. docs/documents-format.md has their bytes. Pure: bytes in, values out.

use crate::engine::KeyNumber;
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};

const KEY_KEY: u8 = 0x0d;
const LAYOUT: u8 = 1;
const WITH_INDEXES: u8 = 1;

/// Kinds of rows of the catalogue behind whose first byte comes the number of a tree: dropped trees, builds, views,
/// their names, validation functions, statistics, views kept in commits.
pub(crate) const KINDS_OF_TREES: [u8; 7] = [0x02, 0x03, 0x06, 0x07, 0x08, 0x09, 0x0c];

/// The key of the row with the number of the next key.
pub(crate) const NEXT_KEY: &[u8] = &[KEY_KEY];

/// The key of the row about a collection's key.
pub(crate) fn row_key(name: &str) -> Vec<u8> {
    [&[KEY_KEY], name.as_bytes()].concat()
}

/// A collection's key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KeyRow {
    pub(crate) number: KeyNumber,
    /// Trees of its block that are given out.
    pub(crate) given: u16,
    /// Whether the collection may have indexes and views, of which the key does not seal the keys of rows.
    pub(crate) with_indexes: bool,
}

impl KeyRow {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut out = vec![LAYOUT, if self.with_indexes { WITH_INDEXES } else { 0 }];
        out.extend(self.number.get().to_be_bytes());
        out.extend(self.given.to_be_bytes());
        out
    }

    pub(crate) fn decode(value: &[u8], name: &str) -> Result<Self> {
        let what = || format!("the row about the key of {name}");
        match value.first() {
            Some(&LAYOUT) => {}
            Some(&found) if found > LAYOUT => {
                return Err(Error::NewerLayout { what: what(), found, supported: LAYOUT });
            }
            _ => return Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
        }
        let read = || {
            let mut reader = ByteReader::new(&value[1..]);
            let flags = reader.byte().filter(|flags| flags & !WITH_INDEXES == 0)?;
            let (number, given) = (KeyNumber::new(reader.u16()?)?, reader.u16()?);
            reader.is_empty().then_some(KeyRow { number, given, with_indexes: flags & WITH_INDEXES != 0 })
        };
        read().ok_or_else(|| Error::DamagedRow { what: what(), why: "it does not read" })
    }
}

/// The number of the next key, as the row [`NEXT_KEY`] has it; none: all are given.
pub(crate) fn next_number(value: Option<&[u8]>) -> Result<Option<KeyNumber>> {
    let Some(value) = value else { return Ok(Some(KeyNumber::FIRST)) };
    let number = value.try_into().map(u16::from_be_bytes).map_err(|_| Error::DamagedRow {
        what: "the row with the number of the next key".to_owned(),
        why: "it does not read",
    })?;
    Ok(KeyNumber::new(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_about_keys_read_back_and_cuts_are_refused() {
        for with_indexes in [false, true] {
            let row = KeyRow { number: KeyNumber::MAX, given: 9, with_indexes };
            let value = row.encode();
            assert_eq!(KeyRow::decode(&value, "people").unwrap(), row);
            for cut in 0..value.len() {
                assert!(KeyRow::decode(&value[..cut], "people").is_err(), "{cut}");
            }
            let mut flags = value.clone();
            flags[1] |= 2;
            assert!(KeyRow::decode(&flags, "people").is_err());
            let mut newer = value;
            newer[0] = LAYOUT + 1;
            assert!(matches!(KeyRow::decode(&newer, "people"), Err(Error::NewerLayout { .. })));
        }
        assert_eq!(next_number(None).unwrap(), Some(KeyNumber::FIRST));
        assert_eq!(next_number(Some(&[0x7f, 0xfe])).unwrap(), Some(KeyNumber::MAX));
        assert_eq!(next_number(Some(&[0x7f, 0xff])).unwrap(), None);
        assert!(next_number(Some(&[1])).is_err());
    }
}
