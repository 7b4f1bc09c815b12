//! Keys of a collection's side tree, which holds the further rows of documents. A key is a kind, the document's id in a
//! form that keeps the keys of two documents apart, and a part that depends on the kind. Layout:
//! docs/documents-format.md.

use std::ops::Range;

use crate::engine::KeyRange;
use crate::kernel::rows::stored;
use recension_values::error::Result;
use recension_values::revid::RevId;

/// A losing leaf. Its value has the form of a document's row.
pub(crate) const LEAF: u8 = 0x01;
/// A block of ancestors that were folded away.
pub(crate) const ANCESTORS: u8 = 0x02;
/// A local document, which is not replicated. Its key is the kind and the id as it is.
pub(crate) const LOCAL: u8 = 0x03;
/// The place of a content's bytes. `attachment/rows.rs` has the keys of this kind and of the next three.
pub(crate) const CONTENT: u8 = 0x04;
/// A chunk of a content's bytes.
pub(crate) const CHUNK: u8 = 0x05;
/// A reference: a document has the content.
pub(crate) const REFERENCE: u8 = 0x06;
/// An upload that no document has yet.
pub(crate) const UPLOAD: u8 = 0x08;
/// A purge: the kind, its commit, the id as it is.
pub(crate) const PURGED: u8 = 0x07;
/// An erasure: the kind and the commit that noted it.
pub(crate) const ERASED: u8 = 0x0a;
/// A setting of the collection: the kind and its name as it is.
pub(crate) const SETTING: u8 = 0x09;

/// The beginning of all keys of a kind that belong to a document.
pub(crate) fn prefix_of(kind: u8, id: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(1 + id.len() + 2 + 4 + 16);
    key.push(kind);
    for byte in id.bytes() {
        key.push(byte);
        if byte == 0 {
            key.push(0xff);
        }
    }
    key.extend([0x00, 0x01]);
    key
}

/// The key of a kind for a revision of a document.
pub(crate) fn revision_key(kind: u8, id: &str, rev: &RevId) -> Vec<u8> {
    let mut key = prefix_of(kind, id);
    key.extend(rev.generation().to_be_bytes());
    key.extend(rev.suffix_bytes());
    key
}

/// The keys of a kind for revisions of a document, in a range of generations.
pub(crate) fn of_generations(kind: u8, id: &str, generations: Range<u32>) -> KeyRange {
    let prefix = prefix_of(kind, id);
    let from = |generation: u32| [&prefix[..], &generation.to_be_bytes()].concat();
    KeyRange::between(from(generations.start), from(generations.end.max(generations.start)))
}

/// The revision in a key that begins with `prefix`.
pub(crate) fn revision_in(key: &[u8], prefix: &[u8], id: &str) -> Result<RevId> {
    let rest = key.get(prefix.len()..).and_then(<[u8]>::split_first_chunk);
    let rev = rest.and_then(|(generation, suffix)| RevId::from_bytes(u32::from_be_bytes(*generation), suffix));
    rev.ok_or_else(|| stored::damaged(id.as_bytes(), "a key in its side tree names no revision"))
}

/// The document and the revision in a key of a kind that has both.
pub(crate) fn id_and_revision_in(key: &[u8]) -> Result<(String, RevId)> {
    let damaged = || stored::damaged(key, "a key in its side tree names no document and revision");
    let (id, rest) = id_in(key.get(1..).unwrap_or_default()).ok_or_else(damaged)?;
    let (generation, suffix) = rest.split_first_chunk().ok_or_else(damaged)?;
    let rev = RevId::from_bytes(u32::from_be_bytes(*generation), suffix).ok_or_else(damaged)?;
    Ok((id, rev))
}

/// The document's id behind the kind of a key, and the rest; `None` if there is none.
pub(crate) fn id_in(mut rest: &[u8]) -> Option<(String, &[u8])> {
    let mut id = Vec::new();
    loop {
        rest = match rest {
            [0x00, 0x01, after @ ..] => return Some((String::from_utf8(id).ok()?, after)),
            [0x00, 0xff, after @ ..] => {
                id.push(0);
                after
            }
            [0x00, ..] | [] => return None,
            [byte, after @ ..] => {
                id.push(*byte);
                after
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_one_document_lie_together_and_apart_from_others() {
        let ids = ["a", "a\0", "a\0\u{1}", "ab", "\0"];
        let revs = ["1-a", "1-00000000000000000000000000000000", "258-ffffffffffffffffffffffffffffffff"];
        for id in ids {
            let prefix = prefix_of(ANCESTORS, id);
            for rev in revs.map(|rev| rev.parse::<RevId>().unwrap()) {
                let key = revision_key(ANCESTORS, id, &rev);
                assert_eq!(revision_in(&key, &prefix, id).unwrap(), rev);
                assert_eq!(id_and_revision_in(&key).unwrap(), (id.to_owned(), rev));
                for other in ids {
                    assert_eq!(
                        KeyRange::prefix(prefix_of(ANCESTORS, other)).contains(&key),
                        id == other,
                        "{id:?} {other:?}"
                    );
                }
                let of = |generations| of_generations(ANCESTORS, id, generations).contains(&key);
                assert_eq!(of(0..258), rev.generation() < 258);
                assert_eq!(of(258..u32::MAX), rev.generation() >= 258);
                // A step back: the range is empty.
                let (newer, older) = (258, 3);
                assert!(!of(newer..older));
            }
        }
        for key in
            [&b""[..], b"\x01", b"\x01a", b"\x01a\x00", b"\x01a\x00\x02\0\0\0\x01a", b"\x01\xff\x00\x01\0\0\0\x01a"]
        {
            assert!(id_and_revision_in(key).is_err(), "{}", key.escape_ascii());
        }
        assert!(revision_in(b"\x02a\x00\x01\0\0\0\0a", b"\x02a\x00\x01", "a").is_err());
    }
}
