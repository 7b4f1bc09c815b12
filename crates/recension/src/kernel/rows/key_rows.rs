//! Rows of keys: a namespace's row in the catalogue, a key's row, and its row among the expiring keys.
//! docs/documents-format.md has their bytes. Pure: bytes in, values out.

use std::time::Duration;

use crate::engine::{Seq, Timestamp, TreeId};
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::key_value::{KeyEntry, KeyRows, KeyValue};

const SPACE_KEY: u8 = 0x10;
const SPACE_LAYOUT: u8 = 1;

/// The layout of a key's row, in the lower bits; the upper ones are flags.
const ENTRY_LAYOUT: u8 = 1;
/// The layout of one whose value is rows.
const ROWS_LAYOUT: u8 = 2;
const LAYOUT_BITS: u8 = 0x0f;
const EXPIRES: u8 = 0x10;
const SLIDES: u8 = 0x20;

const BYTES: u8 = 0;
const INTEGER: u8 = 1;
const FLOAT: u8 = 2;
const ROWS: u8 = 3;

const ROWS_TREE_KEY: u8 = 0x12;

/// The beginning of the keys of all namespaces.
pub(crate) const SPACES_PREFIX: &[u8] = &[SPACE_KEY];

/// The key of a namespace's row.
pub(crate) fn space_key(name: &str) -> Vec<u8> {
    [SPACES_PREFIX, name.as_bytes()].concat()
}

/// The key of the row that says which tree has the rows of a namespace's keys.
pub(crate) fn rows_tree_key(name: &str) -> Vec<u8> {
    [&[ROWS_TREE_KEY], name.as_bytes()].concat()
}

/// The value of that row.
pub(crate) fn encode_rows_tree(tree: TreeId) -> Vec<u8> {
    [&[SPACE_LAYOUT][..], &tree.0.to_be_bytes()].concat()
}

/// Reads it.
pub(crate) fn decode_rows_tree(value: &[u8], name: &str) -> Result<TreeId> {
    let what = || format!("the catalogue's row of the rows of the keys {name}");
    match value.split_first() {
        Some((&found, _)) if found > SPACE_LAYOUT => {
            Err(Error::NewerLayout { what: what(), found, supported: SPACE_LAYOUT })
        }
        Some((_, tree)) if tree.len() == 4 => Ok(TreeId(u32::from_be_bytes([tree[0], tree[1], tree[2], tree[3]]))),
        _ => Err(Error::DamagedRow { what: what(), why: "it does not read" }),
    }
}

/// The trees of a namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpaceTrees {
    /// Keys.
    pub(crate) keys: TreeId,
    /// The keys that expire, by the moment at which they do.
    pub(crate) expiring: TreeId,
}

impl SpaceTrees {
    pub(crate) fn encode(self) -> Vec<u8> {
        [&[SPACE_LAYOUT][..], &self.keys.0.to_be_bytes(), &self.expiring.0.to_be_bytes()].concat()
    }

    pub(crate) fn decode(value: &[u8], name: &str) -> Result<Self> {
        let what = || format!("the catalogue's row of the keys {name}");
        let mut reader = ByteReader::new(value);
        match reader.byte() {
            Some(SPACE_LAYOUT) => {}
            Some(found) if found > SPACE_LAYOUT => {
                return Err(Error::NewerLayout { what: what(), found, supported: SPACE_LAYOUT });
            }
            _ => return Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
        }
        let trees = (reader.u32(), reader.u32());
        let (Some(keys), Some(expiring)) = trees else {
            return Err(Error::DamagedRow { what: what(), why: "it does not read" });
        };
        Ok(SpaceTrees { keys: TreeId(keys), expiring: TreeId(expiring) })
    }
}

/// The value of a key's row.
pub(crate) fn encode_entry(value: &KeyValue, expires: Option<Timestamp>, slides: Option<Duration>) -> Vec<u8> {
    let length = if let KeyValue::Bytes(bytes) = value { bytes.len() } else { 40 };
    let mut out = Vec::with_capacity(18 + length);
    let flag = |set: bool, flag| if set { flag } else { 0 };
    let layout = if matches!(value, KeyValue::Rows(_)) { ROWS_LAYOUT } else { ENTRY_LAYOUT };
    out.push(layout | flag(expires.is_some(), EXPIRES) | flag(slides.is_some(), SLIDES));
    if let Some(expires) = expires {
        out.extend(expires.0.to_be_bytes());
    }
    if let Some(slides) = slides {
        out.extend(micros(slides).to_be_bytes());
    }
    match value {
        KeyValue::Bytes(bytes) => {
            out.push(BYTES);
            out.extend(bytes);
        }
        KeyValue::Integer(number) => {
            out.push(INTEGER);
            out.extend(number.to_be_bytes());
        }
        KeyValue::Float(number) => {
            out.push(FLOAT);
            out.extend(number.to_bits().to_be_bytes());
        }
        KeyValue::Rows(rows) => {
            out.extend([ROWS, rows.kind]);
            out.extend(rows.id);
            out.extend(&rows.about);
        }
    }
    out
}

/// Reads the row of `key`, which the commit `seq` wrote.
pub(crate) fn decode_entry(row: &[u8], seq: Seq, key: &[u8]) -> Result<KeyEntry> {
    let what = || format!("the key \"{}\"", key.escape_ascii());
    let damaged = |why| Error::DamagedRow { what: what(), why };
    let (&first, rest) = row.split_first().ok_or_else(|| damaged("it has no layout number"))?;
    let found = first & LAYOUT_BITS;
    if found > ROWS_LAYOUT {
        return Err(Error::NewerLayout { what: what(), found, supported: ROWS_LAYOUT });
    }
    if found < ENTRY_LAYOUT || first & !(LAYOUT_BITS | EXPIRES | SLIDES) != 0 {
        return Err(damaged("it has flags that are not known"));
    }
    let read = || {
        let mut rest = rest;
        let expires = if first & EXPIRES == 0 { None } else { Some(Timestamp(number(&mut rest)?)) };
        let slides = if first & SLIDES == 0 { None } else { Some(Duration::from_micros(number(&mut rest)?)) };
        let value = match rest.split_first()? {
            (&BYTES, bytes) => KeyValue::Bytes(bytes.to_vec()),
            (&INTEGER, digits) => KeyValue::Integer(i64::from_be_bytes(digits.try_into().ok()?)),
            (&FLOAT, bits) => KeyValue::Float(f64::from_bits(u64::from_be_bytes(bits.try_into().ok()?))),
            (&ROWS, rows) => {
                let (&kind, rows) = rows.split_first()?;
                let (id, about) = rows.split_first_chunk()?;
                KeyValue::Rows(KeyRows { id: *id, kind, about: about.to_vec() })
            }
            _ => return None,
        };
        Some(KeyEntry { value, expires, slides, seq })
    };
    read().ok_or_else(|| damaged("it does not read"))
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    let (number, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(u64::from_be_bytes(*number))
}

/// A duration in microseconds, at most the longest that fits.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// The value of a row among the expiring keys that has no key behind its moment, but the id of rows that were given up.
pub(crate) const GIVEN_UP: u8 = 1;

/// The key of the row that says that `key` expires.
pub(crate) fn expiring_key(expires: Timestamp, key: &[u8]) -> Vec<u8> {
    [&expires.0.to_be_bytes()[..], key].concat()
}

/// The moment and the key of such a row.
pub(crate) fn split_expiring(row: &[u8]) -> Option<(Timestamp, &[u8])> {
    let (expires, key) = row.split_first_chunk()?;
    Some((Timestamp(u64::from_be_bytes(*expires)), key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_read_back_what_was_written_and_newer_or_cut_ones_are_refused() {
        let rows = KeyValue::Rows(KeyRows { id: [7; 16], kind: 2, about: b"12".to_vec() });
        let bytes = [KeyValue::from("a\0b"), KeyValue::from("")];
        let values = bytes.into_iter().chain([KeyValue::Integer(i64::MIN), KeyValue::Float(-0.5), rows]);
        for value in values {
            for (expires, slides) in [(None, None), (Some(Timestamp(7)), None), (Some(Timestamp(8)), Some(9))] {
                let slides = slides.map(Duration::from_micros);
                let row = encode_entry(&value, expires, slides);
                let entry = KeyEntry { value: value.clone(), expires, slides, seq: Seq(3) };
                assert_eq!(decode_entry(&row, Seq(3), b"k").unwrap(), entry);
                let free = match &value {
                    KeyValue::Bytes(bytes) => bytes.len(),
                    KeyValue::Rows(rows) => rows.about.len(),
                    _ => 0,
                };
                let fixed = row.len() - free;
                for cut in 0..fixed {
                    assert!(decode_entry(&row[..cut], Seq(3), b"k").is_err(), "{row:?} at {cut}");
                }
                let newer = [&[(row[0] & !LAYOUT_BITS) | (ROWS_LAYOUT + 1)], &row[1..]].concat();
                assert!(matches!(decode_entry(&newer, Seq(3), b"k"), Err(Error::NewerLayout { .. })));
                let flagged = [&[row[0] | 0x80], &row[1..]].concat();
                assert!(decode_entry(&flagged, Seq(3), b"k").is_err());
            }
        }
        let trees = SpaceTrees { keys: TreeId(4), expiring: TreeId(5) };
        assert_eq!(SpaceTrees::decode(&trees.encode(), "s").unwrap(), trees);
        assert!(SpaceTrees::decode(&[2, 0, 0, 0, 4, 0, 0, 0, 5], "s").is_err());
        assert!(SpaceTrees::decode(&trees.encode()[..8], "s").is_err());
        assert_eq!(split_expiring(&expiring_key(Timestamp(1 << 40), b"k")), Some((Timestamp(1 << 40), &b"k"[..])));
    }
}
