//! The two rows of an erasure. The order is in the catalogue until it is carried out, and has the ids. The record stays
//! in the collection's side tree, and has none. Pure: bytes in, values out.

use crate::engine::{Seq, Timestamp};
use crate::kernel::rows::catalogue::ERASURES_PREFIX;
use crate::kernel::rows::side;
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};

const LAYOUT: u8 = 1;

/// Documents to erase, with everything up to the commit of the order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Order {
    /// The collection's name.
    pub(crate) collection: String,
    /// The documents.
    pub(crate) ids: Vec<String>,
}

impl Order {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![LAYOUT];
        for text in std::iter::once(&self.collection).chain(&self.ids) {
            out.extend((text.len() as u16).to_be_bytes());
            out.extend(text.as_bytes());
        }
        out
    }

    /// Reads a row: the commit of the order, and the order.
    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<(Seq, Self)> {
        let what = || format!("the order of an erasure, \"{}\"", key.escape_ascii());
        let mut reader = ByteReader::new(value);
        match reader.byte() {
            Some(LAYOUT) => {}
            Some(found) if found > LAYOUT => {
                return Err(Error::NewerLayout { what: what(), found, supported: LAYOUT });
            }
            _ => return Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
        }
        let mut read = || {
            let seq = key.strip_prefix(ERASURES_PREFIX)?.try_into().ok().map(u64::from_be_bytes)?;
            let mut texts = Vec::new();
            while !reader.is_empty() {
                let length = reader.u16()?;
                texts.push(String::from_utf8(reader.take(usize::from(length))?.to_vec()).ok()?);
            }
            let collection = if texts.is_empty() { None } else { Some(texts.remove(0)) };
            Some((Seq(seq), Order { collection: collection?, ids: texts }))
        };
        read().ok_or_else(|| Error::DamagedRow { what: what(), why: "it does not read" })
    }
}

/// A record that documents were erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Erasure {
    /// The commit that noted it, after it was done.
    pub seq: Seq,
    /// The time.
    pub time: Timestamp,
    /// How many documents: ids that had any row, at any moment.
    pub documents: u64,
}

impl Erasure {
    /// The value of its row; the key has the seq.
    pub(crate) fn encode(documents: u64, time: Timestamp) -> Vec<u8> {
        [documents.to_be_bytes(), time.0.to_be_bytes()].concat()
    }

    pub(crate) fn decode(key: &[u8], value: &[u8]) -> Result<Self> {
        let seq = key.strip_prefix(&[side::ERASED]).and_then(|seq| seq.try_into().ok()).map(u64::from_be_bytes);
        let mut reader = ByteReader::new(value);
        match (seq, reader.u64(), reader.u64().filter(|_| reader.is_empty())) {
            (Some(seq), Some(documents), Some(time)) => Ok(Erasure { seq: Seq(seq), time: Timestamp(time), documents }),
            _ => Err(Error::DamagedRow { what: "the record of an erasure".to_owned(), why: "it does not read" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_records_read_back_what_was_written_and_cuts_are_refused() {
        let order = Order { collection: "people".into(), ids: vec!["ada".into(), "a\0b".into()] };
        let key = [ERASURES_PREFIX, &7_u64.to_be_bytes()].concat();
        let value = order.encode();
        assert_eq!(Order::decode(&key, &value).unwrap(), (Seq(7), order));
        for cut in 0..value.len() {
            let read = Order::decode(&key, &value[..cut]);
            assert!(read.is_err() || read.is_ok_and(|(_, order)| order.ids.len() < 2), "{cut}");
        }
        assert!(Order::decode(&key[..5], &value).is_err());
        assert!(matches!(Order::decode(&key, &[LAYOUT + 1]), Err(Error::NewerLayout { .. })));
        let key = [&[side::ERASED][..], &9_u64.to_be_bytes()].concat();
        let time = Timestamp(5);
        let value = Erasure::encode(3, time);
        assert_eq!(Erasure::decode(&key, &value).unwrap(), Erasure { seq: Seq(9), time, documents: 3 });
        assert!(Erasure::decode(&key, b"x").is_err() && Erasure::decode(b"x", &value).is_err());
    }
}
