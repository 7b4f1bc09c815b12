//! Keys of what is kept of consumers, in one namespace of keys: a consumer's position, and the documents that it was
//! handed. docs/documents-format.md has their bytes. Pure: bytes in, values out.

use crate::engine::{Seq, TreeId};

/// The namespace.
pub(crate) const NAMESPACE: &str = "_consumers";

/// What is behind a consumer's name, in which it is not.
const END: u8 = 0;

/// What a key is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ConsumerKey<'k> {
    /// Where a consumer stands.
    Position,
    /// The document that it was handed as commit `seq` wrote it.
    Delivery { seq: Seq, id: &'k str },
}

/// The beginning of the keys of all consumers of a collection, which has a number: that of the tree of its documents.
pub(crate) fn of_collection(documents: TreeId) -> [u8; 4] {
    documents.0.to_be_bytes()
}

/// The key of a consumer's position; with a delivery's seq and id behind it, of that. A collection that is dropped and
/// made again has another number.
pub(crate) fn position_key(collection: u32, consumer: &str) -> Vec<u8> {
    [&of_collection(TreeId(collection))[..], consumer.as_bytes(), &[END]].concat()
}

/// The key of a delivery.
pub(crate) fn delivery_key(collection: u32, consumer: &str, seq: Seq, id: &str) -> Vec<u8> {
    [&position_key(collection, consumer)[..], &seq.0.to_be_bytes(), id.as_bytes()].concat()
}

/// What is behind the key of a consumer's position.
pub(crate) fn delivery(rest: &[u8]) -> Option<(Seq, &str)> {
    let (seq, id) = rest.split_first_chunk()?;
    Some((Seq(u64::from_be_bytes(*seq)), std::str::from_utf8(id).ok()?))
}

/// What a key of the namespace is of.
pub(crate) fn parse(key: &[u8]) -> Option<ConsumerKey<'_>> {
    let named = key.get(4..)?;
    let end = named.iter().position(|byte| *byte == END)?;
    match named.get(end + 1..)? {
        [] => Some(ConsumerKey::Position),
        rest => delivery(rest).map(|(seq, id)| ConsumerKey::Delivery { seq, id }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_and_what_is_none_is_refused() {
        assert_eq!(parse(&position_key(7, "kitchen")), Some(ConsumerKey::Position));
        let key = delivery_key(7, "kitchen", Seq(9), "a\0b");
        assert_eq!(parse(&key), Some(ConsumerKey::Delivery { seq: Seq(9), id: "a\0b" }));
        assert!(key.starts_with(&of_collection(TreeId(7))));
        for bad in [&b""[..], b"\0\0\0\x07kitchen", b"\0\0\0\x07kitchen\0seven"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
