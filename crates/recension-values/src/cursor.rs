//! The place where a page of a query ended, as a token for clients. It has a version and a checksum, so that a damaged
//! one is an error and never another page. Pure.

use std::fmt;
use std::str::FromStr;

use crate::byte_reader::ByteReader;
use crate::error::{Error, Result};
use crate::limits::CURSOR_CHARS_MAX;
use recension_engine::{Seq, TreeId};

const VERSION: u8 = 1;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The place of a document in the answer to a query: `Query::after` continues behind
/// it.
///
/// It stays valid while others write. Documents that are written behind it are found. A document that was found does
/// not come again unless it moved. With [`Cursor::seq`] all pages can read the same moment.
///
/// ```
/// use recension::{Cursor, Query, Store};
/// # fn main() -> recension::Result<()> {
/// let things = Store::memory()?.collection("things")?;
/// for id in ["a", "b", "c"] {
///     things.put(id, "{}")?;
/// }
/// let page = Query::new().limit(2);
/// let mut found = things.find(&page)?;
/// assert_eq!(found.by_ref().count(), 2);
/// let token = found.cursor().unwrap().to_string();
/// let rest = things.find(&page.after(token.parse::<Cursor>()?))?;
/// assert_eq!(rest.count(), 1);
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cursor {
    pub seq: Seq,
    pub query: u32,
    pub place: Place,
}

/// A place in one of the orders that documents are found in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// By id: the id.
    Ids(Vec<u8>),
    /// By an index: its tree, and the key of the row.
    Index(TreeId, Vec<u8>),
    /// Sorted in memory: the encoded values, the id.
    Sorted(Vec<u8>, String),
}

impl Cursor {
    /// The commit as of which the page was read.
    pub fn seq(&self) -> Seq {
        self.seq
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = self.query.to_be_bytes().to_vec();
        out.extend(self.seq.0.to_be_bytes());
        match &self.place {
            Place::Ids(id) => {
                out.push(0);
                out.extend(id);
            }
            Place::Index(tree, key) => {
                out.push(1);
                out.extend(tree.0.to_be_bytes());
                out.extend(key);
            }
            Place::Sorted(key, id) => {
                out.push(2);
                out.extend((id.len() as u32).to_be_bytes());
                out.extend(id.as_bytes());
                out.extend(key);
            }
        }
        let mut token = vec![VERSION];
        token.extend(crc32c::crc32c(&out).to_be_bytes());
        token.extend(out);
        token
    }

    fn decode(token: &[u8]) -> Result<Self> {
        let bad = |why| Error::BadCursor { why };
        let mut reader = ByteReader::new(token);
        match reader.byte() {
            Some(VERSION) => {}
            Some(version) if version > VERSION => return Err(bad("a newer release made it")),
            _ => return Err(bad("it is damaged")),
        }
        let sum = reader.u32();
        if sum != Some(crc32c::crc32c(reader.rest())) {
            return Err(bad("it is damaged"));
        }
        Self::read(&mut reader).ok_or_else(|| bad("it is damaged"))
    }

    fn read(reader: &mut ByteReader<'_>) -> Option<Self> {
        let query = reader.u32()?;
        let seq = Seq(reader.chunk().map(u64::from_be_bytes)?);
        let place = match reader.byte()? {
            0 => Place::Ids(reader.rest().to_vec()),
            1 => Place::Index(TreeId(reader.u32()?), reader.rest().to_vec()),
            2 => {
                let length = reader.u32()? as usize;
                let id = String::from_utf8(reader.take(length)?.to_vec()).ok()?;
                Place::Sorted(reader.rest().to_vec(), id)
            }
            _ => return None,
        };
        Some(Cursor { seq, query, place })
    }
}

impl fmt::Display for Cursor {
    /// Base64 with - and _, without padding.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.encode().chunks(3) {
            let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for i in 0..=chunk.len() {
                let digit = ALPHABET[(bits >> (18 - 6 * i)) as usize & 63];
                write!(f, "{}", char::from(digit))?;
            }
        }
        Ok(())
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |why| Error::BadCursor { why };
        if text.len() > CURSOR_CHARS_MAX {
            return Err(bad("it is too long"));
        }
        let mut token = Vec::with_capacity(text.len());
        let (mut bits, mut count) = (0_u32, 0);
        for byte in text.trim().bytes() {
            let digit = ALPHABET.iter().position(|known| *known == byte);
            let digit = digit.ok_or_else(|| bad("it has a character that no cursor has"))?;
            bits = bits << 6 | digit as u32;
            count += 6;
            if count >= 8 {
                count -= 8;
                token.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        if bits != 0 || count == 6 {
            return Err(bad("it is damaged"));
        }
        Self::decode(&token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursors() -> [Cursor; 4] {
        let places = [
            Place::Ids(b"an id".to_vec()),
            Place::Index(TreeId(9), vec![0, 0xff, 7]),
            Place::Sorted(vec![1, 2, 3], "é".to_owned()),
            Place::Sorted(Vec::new(), String::new()),
        ];
        places.map(|place| Cursor { seq: Seq(77), query: 5, place })
    }

    #[test]
    fn a_cursor_reads_back_what_it_prints() {
        for cursor in cursors() {
            assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        }
    }

    #[test]
    fn a_damaged_cursor_is_refused() {
        for cursor in cursors() {
            let token = cursor.to_string();
            for cut in 0..token.len() {
                assert!(token[..cut].parse::<Cursor>().is_err(), "{cut}");
            }
            for at in 0..token.len() {
                for digit in ALPHABET {
                    let mut changed = token.clone().into_bytes();
                    changed[at] = *digit;
                    let changed = String::from_utf8(changed).unwrap();
                    assert!(changed == token || changed.parse::<Cursor>().is_err(), "{at}");
                }
            }
        }
        for text in ["", "?", "A", "é", &"A".repeat(CURSOR_CHARS_MAX + 1)] {
            assert!(matches!(text.parse::<Cursor>(), Err(Error::BadCursor { .. })), "{text}");
        }
    }
}
