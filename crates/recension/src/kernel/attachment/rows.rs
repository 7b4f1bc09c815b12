//! Rows of the side tree that hold the bytes of attachments, each content once, however many documents
//! have it. Pure. Layout: docs/documents-format.md, "Side trees".

use crate::engine::{KeyRange, Timestamp};
use crate::kernel::rows::side;
use recension_values::attachment::upload::BlobId;
use recension_values::attachment::{Content, ContentHash, Encoding};
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};

/// Bytes of a chunk; the last one of a blob may have fewer.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// Where a content's bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ContentRow {
    pub(crate) blob: BlobId,
    pub(crate) content: Content,
}

impl ContentRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let Content { md5, stored_len, decoded_len, encoding, .. } = self.content;
        let mut out = Vec::with_capacity(16 + 8 + 8 + 16 + 1);
        out.extend(self.blob);
        out.extend(stored_len.to_be_bytes());
        out.extend(decoded_len.to_be_bytes());
        out.extend(md5);
        out.push(encoding as u8);
        out
    }

    pub(crate) fn decode(value: &[u8], sha256: &ContentHash) -> Result<Self> {
        let mut reader = ByteReader::new(value);
        let mut read = || {
            let blob = reader.chunk()?;
            let (stored_len, decoded_len) = (reader.u64()?, reader.u64()?);
            let (md5, encoding) = (reader.chunk()?, Encoding::from_byte(reader.byte()?)?);
            let content = Content { sha256: *sha256, md5, stored_len, decoded_len, encoding };
            reader.is_empty().then_some(ContentRow { blob, content })
        };
        read().ok_or_else(|| damaged(sha256, "its row does not read"))
    }
}

/// How many chunks this many bytes make.
pub(crate) fn chunk_count(stored_len: u64) -> u64 {
    stored_len.div_ceil(CHUNK_BYTES as u64)
}

/// The length of a chunk of a content.
pub(crate) fn chunk_len(stored_len: u64, number: u64) -> u64 {
    stored_len.saturating_sub(number.saturating_mul(CHUNK_BYTES as u64)).min(CHUNK_BYTES as u64)
}

pub(crate) fn content_key(sha256: &ContentHash) -> Vec<u8> {
    [&[side::CONTENT][..], sha256].concat()
}

/// Uploads are bounded, so the number of a chunk always fits into 32 bits.
pub(crate) fn chunk_key(blob: &BlobId, number: u64) -> Vec<u8> {
    [&[side::CHUNK][..], blob, &(number as u32).to_be_bytes()].concat()
}

pub(crate) fn chunks_of(blob: &BlobId) -> KeyRange {
    KeyRange::prefix([&[side::CHUNK][..], blob].concat())
}

/// The key of a reference: the document `id` has the content.
pub(crate) fn reference_key(sha256: &ContentHash, id: &str) -> Vec<u8> {
    let document = side::prefix_of(side::REFERENCE, id);
    [&[side::REFERENCE][..], sha256, document.get(1..).unwrap_or_default()].concat()
}

/// The references of a content.
pub(crate) fn references_of(sha256: &ContentHash) -> KeyRange {
    KeyRange::prefix([&[side::REFERENCE][..], sha256].concat())
}

pub(crate) fn upload_key(blob: &BlobId) -> Vec<u8> {
    [&[side::UPLOAD][..], blob].concat()
}

/// The blob of an upload's key.
pub(crate) fn upload_in(key: &[u8]) -> Option<BlobId> {
    key.strip_prefix(&[side::UPLOAD])?.try_into().ok()
}

/// A time that no upload has. The thread that deletes an upload's chunks writes it first, and then no document can take
/// the upload.
pub(crate) const GIVEN_UP: Timestamp = Timestamp(0);

pub(crate) fn upload_value(time: Timestamp) -> Vec<u8> {
    time.0.to_be_bytes().to_vec()
}

pub(crate) fn upload_time(value: &[u8]) -> Result<Timestamp> {
    let time = value.try_into().map(u64::from_be_bytes).map(Timestamp);
    time.map_err(|_| Error::DamagedRow { what: "the row of an upload".to_owned(), why: "it does not read" })
}

/// An error about the stored bytes of attachments.
pub(crate) fn damaged(sha256: &ContentHash, why: &'static str) -> Error {
    let start = sha256.first_chunk().map_or(0, |start| u64::from_be_bytes(*start));
    Error::DamagedRow { what: format!("the content {start:016x}... of attachments"), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_row_reads_back_what_was_written_and_nothing_else() {
        let content =
            Content { sha256: [1; 32], md5: [2; 16], stored_len: 3, decoded_len: 4, encoding: Encoding::Identity };
        let row = ContentRow { blob: [9; 16], content };
        let value = row.encode();
        assert_eq!(ContentRow::decode(&value, &[1; 32]).unwrap(), row);
        for cut in 0..value.len() {
            assert!(ContentRow::decode(&value[..cut], &[1; 32]).is_err());
        }
        assert!(ContentRow::decode(&[&value[..], b"x"].concat(), &[1; 32]).is_err());
    }

    #[test]
    fn chunks_cover_a_content_exactly() {
        let chunk = CHUNK_BYTES as u64;
        for (len, count, last) in [
            (0, 0, 0),
            (1, 1, 1),
            (chunk - 1, 1, chunk - 1),
            (chunk, 1, chunk),
            (chunk + 1, 2, 1),
            (10 * chunk, 10, chunk),
        ] {
            assert_eq!(chunk_count(len), count, "{len}");
            assert_eq!((0..count).map(|number| chunk_len(len, number)).sum::<u64>(), len);
            assert_eq!(chunk_len(len, count.saturating_sub(1)), last);
            assert_eq!(chunk_len(len, count), 0);
        }
    }

    #[test]
    fn references_of_one_content_lie_apart_from_others() {
        let (one, other) = ([1; 32], [2; 32]);
        for id in ["a", "a\0", "\0"] {
            assert!(references_of(&one).contains(&reference_key(&one, id)));
            assert!(!references_of(&other).contains(&reference_key(&one, id)));
        }
        assert_ne!(reference_key(&one, "a"), reference_key(&one, "a\0"));
    }
}
