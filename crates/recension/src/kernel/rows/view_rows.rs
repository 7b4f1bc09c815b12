//! The rows of a view's tree: rows that were emitted, in the order of their keys, and for each document the keys of its
//! rows. Layout: docs/documents-format.md. Pure: bytes in, values out.

use std::borrow::Cow;

use recension_values::byte_reader::ByteReader;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};
use recension_values::limits::{VIEW_KEY_BYTES_MAX, VIEW_ROW_BYTES_MAX, VIEW_ROWS_PER_DOCUMENT_MAX};
use recension_values::view::{Emitted, ViewOptions};

/// Rows that were emitted.
pub(crate) const ROW: u8 = 0x01;
/// The keys of a document's rows.
pub(crate) const OF_DOCUMENT: u8 = 0x02;

/// Behind the id: a zero, and the number of the row among its document's.
const TAIL_BYTES: usize = 5;

/// A row of a view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewRow {
    /// The document that emitted it.
    pub id: String,
    /// The key, as JSON.
    pub key: String,
    /// The value, as JSON.
    pub value: String,
}

/// The key of the row that lists a document's rows.
pub(crate) fn of_document(id: &str) -> Vec<u8> {
    [&[OF_DOCUMENT], id.as_bytes()].concat()
}

/// The prefix of the collated keys of a partition's rows.
pub(crate) fn partition_prefix(partition: &str) -> Vec<u8> {
    [&[ROW], partition.as_bytes(), &[0]].concat()
}

/// The prefix of the collated keys of a document's rows.
fn prefix_of(id: &str, options: ViewOptions) -> Vec<u8> {
    match id.split_once(':').filter(|_| options.partitioned) {
        Some((partition, _)) => partition_prefix(partition),
        None if options.partitioned => partition_prefix(""),
        None => vec![ROW],
    }
}

/// Rows of a tree: keys and values.
pub(crate) type TreeRows = Vec<(Vec<u8>, Vec<u8>)>;

/// The rows for what a document has emitted; none at all if that is too much.
pub(crate) fn rows_of(id: &str, mut emitted: Vec<Emitted>, options: ViewOptions) -> Result<TreeRows> {
    if emitted.len() > VIEW_ROWS_PER_DOCUMENT_MAX {
        return Ok(Vec::new());
    }
    // Rows with equal keys are in the order of their values, as in CouchDB.
    let value = |emitted: &Emitted| Collation::Raw.key(&emitted.value).unwrap_or_default();
    emitted.sort_by(|a, b| a.key.cmp(&b.key).then_with(|| value(a).cmp(&value(b))));
    let prefix = prefix_of(id, options);
    let mut rows = Vec::with_capacity(emitted.len());
    let mut bytes = 0;
    for (number, Emitted { key, value }) in emitted.into_iter().enumerate() {
        let mut row = prefix.clone();
        let same = options.collation.encode_value(&key, &mut row)?;
        let collated = row.len() - prefix.len();
        row.extend(id.as_bytes());
        row.push(0);
        row.extend((number as u32).to_be_bytes());
        bytes += row.len() * 2 + value.len() + key.len();
        if collated > VIEW_KEY_BYTES_MAX || bytes > VIEW_ROW_BYTES_MAX {
            return Ok(Vec::new());
        }
        let text: &str = if same { "" } else { &key };
        let mut stored = Vec::with_capacity(8 + text.len() + value.len());
        stored.extend((collated as u16).to_be_bytes());
        stored.extend((text.len() as u32).to_be_bytes());
        stored.extend(text.as_bytes());
        stored.extend(value.as_bytes());
        rows.push((row, stored));
    }
    Ok(rows)
}

/// The value of the row that lists a document's rows.
pub(crate) fn encode_keys<'k>(keys: impl Iterator<Item = &'k [u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    for key in keys {
        out.extend((key.len() as u16).to_be_bytes());
        out.extend(key);
    }
    out
}

/// The keys that such a value lists.
pub(crate) fn decode_keys(value: &[u8]) -> Result<Vec<&[u8]>> {
    let mut reader = ByteReader::new(value);
    let mut keys = Vec::new();
    while !reader.is_empty() {
        let key = reader.u16().and_then(|length| reader.take(usize::from(length)));
        keys.push(key.ok_or_else(|| damaged(value))?);
    }
    Ok(keys)
}

/// The parts of a row, borrowed.
pub(crate) struct RowParts<'r> {
    pub(crate) id: &'r str,
    pub(crate) collated: &'r [u8],
    /// The key's text, if it cannot be decoded from the collated key.
    text: &'r str,
    pub(crate) value: &'r str,
}

impl<'r> RowParts<'r> {
    pub(crate) fn of(key: &'r [u8], value: &'r [u8], options: ViewOptions) -> Result<Self> {
        let read = || {
            let mut after = key.strip_prefix(&[ROW])?;
            if options.partitioned {
                let end = after.iter().position(|byte| *byte == 0)?;
                after = after.get(end + 1..)?;
            }
            let mut reader = ByteReader::new(value);
            let (collated, text) = (usize::from(reader.u16()?), reader.u32()? as usize);
            let text = std::str::from_utf8(reader.take(text)?).ok()?;
            let (collated, id) = after.split_at_checked(collated)?;
            let id = std::str::from_utf8(id.get(..id.len().checked_sub(TAIL_BYTES)?)?).ok()?;
            Some(RowParts { id, collated, text, value: std::str::from_utf8(reader.rest()).ok()? })
        };
        read().ok_or_else(|| damaged(key))
    }

    /// The key as JSON.
    pub(crate) fn key(&self, options: ViewOptions) -> Result<Cow<'r, str>> {
        if !self.text.is_empty() {
            return Ok(Cow::Borrowed(self.text));
        }
        let mut key = String::new();
        options.collation.decode_value(self.collated, &mut key).ok_or_else(|| damaged(self.collated))?;
        Ok(Cow::Owned(key))
    }

    pub(crate) fn to_row(&self, options: ViewOptions) -> Result<ViewRow> {
        let (id, value) = (self.id.to_owned(), self.value.to_owned());
        Ok(ViewRow { id, key: self.key(options)?.into_owned(), value })
    }
}

fn damaged(key: &[u8]) -> Error {
    let key = key.get(..key.len().min(64)).unwrap_or_default();
    Error::DamagedRow { what: format!("a row of a view, \"{}\"", key.escape_ascii()), why: "it does not read" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_read_back_what_was_emitted(
            number: f64,
            text: String,
            id in "[a-z]{1,4}:[a-zé]{1,4}",
            partitioned: bool,
        ) {
            let options = ViewOptions { partitioned, ..ViewOptions::default() };
            let number = if number.is_finite() { number } else { 0.0 };
            let key = format!("[{number},{}]", crate::json::quote(&text));
            let emitted = vec![Emitted { key: key.clone(), value: "{\"a\":1}".to_owned() }; 2];
            let rows = rows_of(&id, emitted, options).unwrap();
            for (row, value) in &rows {
                let read = RowParts::of(row, value, options).unwrap().to_row(options).unwrap();
                prop_assert_eq!(read, ViewRow { id: id.clone(), key: key.clone(), value: "{\"a\":1}".to_owned() });
            }
            let keys: Vec<&[u8]> = rows.iter().map(|(key, _)| key.as_slice()).collect();
            let listed = encode_keys(keys.iter().copied());
            prop_assert_eq!(decode_keys(&listed).unwrap(), keys);
        }

        #[test]
        fn any_bytes_are_a_row_or_damage(key: Vec<u8>, value: Vec<u8>, partitioned: bool) {
            let options = ViewOptions { partitioned, ..ViewOptions::default() };
            let _ = RowParts::of(&key, &value, options).and_then(|row| row.to_row(options));
            let _ = decode_keys(&value);
        }
    }

    #[test]
    fn what_is_too_much_has_no_rows() {
        let emitted = |key: String| vec![Emitted { key, value: "1".to_owned() }];
        let long = format!("\"{}\"", "x".repeat(VIEW_KEY_BYTES_MAX));
        assert!(rows_of("a", emitted(long), ViewOptions::default()).unwrap().is_empty());
        assert_eq!(rows_of("a", emitted("1".to_owned()), ViewOptions::default()).unwrap().len(), 1);
    }
}
