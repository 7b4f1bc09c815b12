//! The value of a document's row: its body first, then its revision. The body comes first so that an
//! owned value becomes the document's text without a copy. Layout: docs/documents-format.md.

use std::borrow::Cow;

use super::{Error, Result, RevId};

/// The layout that this version writes.
const LAYOUT: u8 = 1;
/// Revision hash, generation, flags, layout.
const TRAILER_BYTES: usize = 16 + 4 + 1 + 1;

const DELETED: u8 = 1;
/// Between the body and the trailer lies an extension (with its length at its end): the revision tree,
/// attachments. Nothing writes one yet.
const EXTENDED: u8 = 2;
const FLAGS_KNOWN: u8 = DELETED | EXTENDED;

/// What a row says of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct StoredHead {
    pub(super) rev: RevId,
    pub(super) deleted: bool,
    pub(super) body_len: usize,
}

/// The value of a row, for a body and its revision.
pub(super) fn encode(body: &str, rev: &RevId, deleted: bool) -> Vec<u8> {
    let mut value = Vec::with_capacity(body.len() + TRAILER_BYTES);
    value.extend(body.as_bytes());
    value.extend(rev.hash);
    value.extend(rev.generation.to_be_bytes());
    value.push(if deleted { DELETED } else { 0 });
    value.push(LAYOUT);
    value
}

/// The revision of a row, and where its body ends.
pub(super) fn decode(value: &[u8], id: &[u8]) -> Result<StoredHead> {
    let damaged = |why| Error::DamagedRow { what: describe(id), why };
    match value.last() {
        Some(&LAYOUT) => {}
        Some(&found) if found > LAYOUT => {
            return Err(Error::NewerLayout { what: describe(id), found, supported: LAYOUT });
        }
        _ => return Err(damaged("it has no layout number")),
    }
    let trailer = value.last_chunk::<TRAILER_BYTES>().ok_or_else(|| damaged("it is too short"))?;
    let mut body_len = value.len() - TRAILER_BYTES;
    let (hash, rest) = trailer.split_first_chunk::<16>().ok_or_else(|| damaged("it is too short"))?;
    let generation = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]);
    let flags = rest[4];
    if flags & !FLAGS_KNOWN != 0 {
        return Err(damaged("it has flags that are not known"));
    }
    if flags & EXTENDED != 0 {
        let length = value[..body_len].last_chunk::<4>().map(|length| u32::from_be_bytes(*length) as usize);
        let before = length.and_then(|length| body_len.checked_sub(length)?.checked_sub(4));
        body_len = before.ok_or_else(|| damaged("its extension is longer than the row"))?;
    }
    Ok(StoredHead { rev: RevId { generation, hash: *hash }, deleted: flags & DELETED != 0, body_len })
}

/// The body of a row.
pub(super) fn into_body<'s>(value: Cow<'s, [u8]>, head: &StoredHead, id: &[u8]) -> Result<Cow<'s, str>> {
    let damaged = || Error::DamagedRow { what: describe(id), why: "its body is not UTF-8" };
    match value {
        Cow::Borrowed(value) => {
            let body = value.get(..head.body_len).and_then(|body| std::str::from_utf8(body).ok());
            body.map(Cow::Borrowed).ok_or_else(damaged)
        }
        Cow::Owned(mut value) => {
            value.truncate(head.body_len);
            String::from_utf8(value).map(Cow::Owned).map_err(|_| damaged())
        }
    }
}

fn describe(id: &[u8]) -> String {
    format!("the row of document \"{}\"", id.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REV: RevId = RevId { generation: 258, hash: [7; 16] };

    #[test]
    fn a_row_reads_back_what_was_written() {
        for deleted in [false, true] {
            let value = encode("{\"a\":\"ä\"}", &REV, deleted);
            let head = decode(&value, b"x").unwrap();
            assert_eq!((head.rev, head.deleted), (REV, deleted));
            assert_eq!(into_body(Cow::Borrowed(&value), &head, b"x").unwrap(), "{\"a\":\"ä\"}");
            assert_eq!(into_body(Cow::Owned(value), &head, b"x").unwrap(), "{\"a\":\"ä\"}");
        }
    }

    #[test]
    fn an_extension_between_body_and_trailer_is_passed_over() {
        let plain = encode("{}", &REV, false);
        let (body, trailer) = plain.split_at(2);
        let mut value = [body, b"extension", &9_u32.to_be_bytes(), trailer].concat();
        let flags_at = value.len() - 2;
        value[flags_at] |= EXTENDED;
        let head = decode(&value, b"x").unwrap();
        assert_eq!(into_body(Cow::Owned(value), &head, b"x").unwrap(), "{}");
    }

    #[test]
    fn a_damaged_row_is_an_error_and_never_a_panic() {
        let value = encode("{}", &REV, true);
        for cut in 0..value.len() {
            assert!(decode(&value[..cut], b"x").is_err() || cut > TRAILER_BYTES, "{cut}");
        }
        for at in 0..value.len() {
            for byte in 0..=255 {
                let mut changed = value.clone();
                changed[at] = byte;
                if let Ok(head) = decode(&changed, b"x") {
                    drop(into_body(Cow::Owned(changed), &head, b"x"));
                }
            }
        }
        let mut newer = value;
        *newer.last_mut().unwrap() = LAYOUT + 1;
        assert!(matches!(decode(&newer, b"x"), Err(Error::NewerLayout { .. })));
    }
}
