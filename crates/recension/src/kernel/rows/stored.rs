//! The value of a document's row: the body, then an extension, then the revision. The body comes first, so that an
//! owned value becomes the document's text without a copy. Layout: docs/documents-format.md, "Trees of documents".

use std::borrow::Cow;

use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::revid::RevId;
use recension_values::revision_tree::RevisionTree;
use recension_values::write::Write;

/// The layout that this version writes. Layout 1 is read too; no version wrote an extension in it.
const LAYOUT: u8 = 2;
const NOT_UTF_8: &str = "its body is not UTF-8";
/// Revision hash, generation, flags, layout.
const TRAILER_BYTES: usize = 16 + 4 + 1 + 1;

const DELETED: u8 = 1;
/// Between the body and the trailer lies an extension, with its length at its end.
const EXTENDED: u8 = 2;
/// The suffix of the revision is not a hash, and lies in the extension.
const TEXT_SUFFIX: u8 = 4;
const ATTACHMENTS: u8 = 8;

/// A part of a row's extension.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub(crate) enum Section {
    /// The revision tree, if it is more than the row's revision.
    Tree = 1,
    /// The attachments.
    Attachments = 2,
    /// The suffix of the revision, if it is not a hash.
    Suffix = 3,
}

/// The head of a document's row: all but its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoredHead {
    pub(crate) rev: RevId,
    pub(crate) deleted: bool,
    pub(crate) attachments: bool,
    pub(crate) body_len: usize,
    /// The sections come right after the body.
    extension_len: usize,
}

impl StoredHead {
    /// Whether the document, whose row has this `body`, is as the write would make it. Nothing is written then.
    pub(crate) fn says(&self, body: &[u8], write: &Write) -> bool {
        let attachments_stay = write.attachments.brings_none() && (!self.attachments || write.attachments.keeps());
        let writes_body = !write.deleted && !write.same_body;
        write.unless_same && writes_body && !self.deleted && attachments_stay && body == write.body.as_bytes()
    }
}

/// What a row is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredRow<'r> {
    pub(crate) body: &'r str,
    pub(crate) rev: &'r RevId,
    pub(crate) deleted: bool,
    /// [`Section::Tree`]
    pub(crate) tree: Option<&'r [u8]>,
    /// [`Section::Attachments`]
    pub(crate) attachments: Option<&'r [u8]>,
}

impl StoredRow<'_> {
    /// The value of the row.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let hash = self.rev.hash();
        let suffix = if hash.is_none() { Some(self.rev.suffix_bytes()) } else { None };
        let sections =
            [(Section::Tree, self.tree), (Section::Attachments, self.attachments), (Section::Suffix, suffix)];
        let present = sections.into_iter().filter_map(|(tag, bytes)| Some((tag, bytes?)));
        let extension_len: usize = present.clone().map(|(_, bytes)| 1 + 4 + bytes.len()).sum();
        let mut value = Vec::with_capacity(self.body.len() + extension_len + 4 + TRAILER_BYTES);
        value.extend(self.body.as_bytes());
        for (tag, bytes) in present {
            value.push(tag as u8);
            value.extend((bytes.len() as u32).to_be_bytes());
            value.extend(bytes);
        }
        if extension_len > 0 {
            value.extend((extension_len as u32).to_be_bytes());
        }
        value.extend(hash.unwrap_or_default());
        value.extend(self.rev.generation().to_be_bytes());
        let flag = |set: bool, flag| if set { flag } else { 0 };
        value.push(
            flag(self.deleted, DELETED)
                | flag(extension_len > 0, EXTENDED)
                | flag(hash.is_none(), TEXT_SUFFIX)
                | flag(self.attachments.is_some(), ATTACHMENTS),
        );
        value.push(LAYOUT);
        value
    }
}

/// The revision of a row, and where its body ends.
pub(crate) fn decode(value: &[u8], id: &[u8]) -> Result<StoredHead> {
    let damaged = |why| damaged(id, why);
    let flags_known = match value.last() {
        Some(1) => DELETED | EXTENDED,
        Some(&LAYOUT) => DELETED | EXTENDED | TEXT_SUFFIX | ATTACHMENTS,
        Some(&found) if found > LAYOUT => {
            return Err(Error::NewerLayout { what: describe(id), found, supported: LAYOUT });
        }
        _ => return Err(damaged("it has no layout number")),
    };
    let (before, trailer) = value.split_last_chunk::<TRAILER_BYTES>().ok_or_else(|| damaged("it is too short"))?;
    let (hash, rest) = trailer.split_first_chunk::<16>().ok_or_else(|| damaged("it is too short"))?;
    let generation = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]);
    let flags = rest[4];
    if flags & !flags_known != 0 {
        return Err(damaged("it has flags that are not known"));
    }
    let (mut body_len, mut extension_len) = (before.len(), 0);
    if flags & EXTENDED != 0 {
        let (before, length) = before.split_last_chunk::<4>().ok_or_else(|| damaged("it is too short"))?;
        extension_len = u32::from_be_bytes(*length) as usize;
        body_len =
            before.len().checked_sub(extension_len).ok_or_else(|| damaged("its extension is longer than the row"))?;
    }
    let mut head = StoredHead {
        rev: RevId::new(generation.max(1), *hash),
        deleted: flags & DELETED != 0,
        attachments: flags & ATTACHMENTS != 0,
        body_len,
        extension_len: if flags_known & TEXT_SUFFIX == 0 { 0 } else { extension_len },
    };
    if head.extension_len > 0 {
        check_sections(value, &head).map_err(damaged)?;
    }
    if flags & TEXT_SUFFIX != 0 {
        let suffix = section(value, &head, Section::Suffix).unwrap_or_default();
        head.rev = RevId::from_bytes(generation, suffix).ok_or_else(|| damaged("its revision cannot be one"))?;
    } else if generation == 0 {
        return Err(damaged("its revision cannot be one"));
    }
    Ok(head)
}

fn sections<'v>(value: &'v [u8], head: &StoredHead) -> ByteReader<'v> {
    let extension = value.get(head.body_len..head.body_len.saturating_add(head.extension_len));
    ByteReader::new(extension.unwrap_or_default())
}

fn next_section<'v>(reader: &mut ByteReader<'v>) -> Option<(u8, &'v [u8])> {
    let tag = reader.byte()?;
    let length = reader.u32()?;
    Some((tag, reader.take(length as usize)?))
}

fn check_sections(value: &[u8], head: &StoredHead) -> std::result::Result<(), &'static str> {
    let mut reader = sections(value, head);
    let mut last = 0;
    while !reader.is_empty() {
        let (tag, _) = next_section(&mut reader).ok_or("its extension is cut short")?;
        if tag <= last {
            return Err("the sections of its extension are not in order");
        }
        if tag > Section::Suffix as u8 {
            return Err("its extension has a section that is not known; a newer release may have written it");
        }
        last = tag;
    }
    Ok(())
}

/// A section of a row that was decoded.
pub(crate) fn section<'v>(value: &'v [u8], head: &StoredHead, section: Section) -> Option<&'v [u8]> {
    let mut reader = sections(value, head);
    std::iter::from_fn(|| next_section(&mut reader)).find_map(|(tag, bytes)| (tag == section as u8).then_some(bytes))
}

/// The revision tree of a document, as its row has it: long lines are folded away.
pub(crate) fn tree(value: &[u8], head: &StoredHead, id: &[u8]) -> Result<RevisionTree> {
    match section(value, head, Section::Tree) {
        Some(bytes) => RevisionTree::decode(bytes, &head.rev).map_err(|why| damaged(id, why)),
        None => Ok(RevisionTree::of_one(head.rev, head.deleted)),
    }
}

/// The body of a row, borrowed.
pub(crate) fn body<'v>(value: &'v [u8], head: &StoredHead, id: &[u8]) -> Result<&'v str> {
    let body = value.get(..head.body_len).and_then(|body| std::str::from_utf8(body).ok());
    body.ok_or_else(|| damaged(id, NOT_UTF_8))
}

/// The body of a row.
pub(crate) fn into_body<'s>(value: Cow<'s, [u8]>, head: &StoredHead, id: &[u8]) -> Result<Cow<'s, str>> {
    match value {
        Cow::Borrowed(value) => body(value, head, id).map(Cow::Borrowed),
        Cow::Owned(mut value) => {
            value.truncate(head.body_len);
            String::from_utf8(value).map(Cow::Owned).map_err(|_| damaged(id, NOT_UTF_8))
        }
    }
}

/// An error about the rows of a document.
pub(crate) fn damaged(id: &[u8], why: &'static str) -> Error {
    Error::DamagedRow { what: describe(id), why }
}

fn describe(id: &[u8]) -> String {
    format!("the row of document \"{}\"", id.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rev(text: &str) -> RevId {
        text.parse().unwrap()
    }

    #[test]
    fn a_row_reads_back_what_was_written() {
        let body = "{\"a\":\"ä\"}";
        for rev in ["258-07070707070707070707070707070707", "1-a", "9-0123456789abcdef0123456789abcde"].map(rev) {
            for (deleted, tree, attachments) in [
                (false, None, None),
                (true, Some(&b"tree"[..]), None),
                (false, None, Some(&b""[..])),
                (true, Some(&b""[..]), Some(&b"attached"[..])),
            ] {
                let value = StoredRow { body, rev: &rev, deleted, tree, attachments }.encode();
                let head = decode(&value, b"x").unwrap();
                assert_eq!((head.rev, head.deleted, head.attachments), (rev, deleted, attachments.is_some()));
                assert_eq!(section(&value, &head, Section::Tree), tree);
                assert_eq!(section(&value, &head, Section::Attachments), attachments);
                assert_eq!(into_body(Cow::Borrowed(&value), &head, b"x").unwrap(), body);
                assert_eq!(into_body(Cow::Owned(value), &head, b"x").unwrap(), body);
            }
        }
    }

    #[test]
    fn a_row_of_layout_1_is_read_as_a_revision_whose_ancestors_are_not_known() {
        let (hash, rest) = ([7; 16], [0, 0, 1, 2]);
        for (extension, flags) in [(&b""[..], DELETED), (b"extension\0\0\0\x09", DELETED | EXTENDED)] {
            let value = [b"{}", extension, &hash, &rest, &[flags, 1]].concat();
            let head = decode(&value, b"x").unwrap();
            assert_eq!((head.rev, head.deleted, head.body_len), (RevId::new(258, hash), true, 2));
            assert_eq!(tree(&value, &head, b"x").unwrap(), RevisionTree::of_one(head.rev, true));
            let unknown = [&value[..value.len() - 2], &[flags | TEXT_SUFFIX, 1]].concat();
            assert!(decode(&unknown, b"x").is_err());
        }
    }

    #[test]
    fn a_damaged_row_is_an_error_and_never_a_panic() {
        let rev = rev("3-abc");
        let row = StoredRow { body: "{}", rev: &rev, deleted: true, tree: Some(&[0, 1, 2]), attachments: Some(b"a") };
        let value = row.encode();
        for cut in 1..value.len() {
            assert!(decode(&value[cut..], b"x").is_err() || cut <= 2, "{cut}");
            drop(decode(&value[..cut], b"x"));
        }
        for at in 0..value.len() {
            for byte in 0..=255 {
                let mut changed = value.clone();
                changed[at] = byte;
                if let Ok(head) = decode(&changed, b"x") {
                    drop(tree(&changed, &head, b"x"));
                    drop(into_body(Cow::Owned(changed), &head, b"x"));
                }
            }
        }
        let mut newer = value;
        *newer.last_mut().unwrap() = LAYOUT + 1;
        assert!(matches!(decode(&newer, b"x"), Err(Error::NewerLayout { .. })));
    }
}
