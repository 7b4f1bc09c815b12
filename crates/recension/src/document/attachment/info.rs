//! What a document says of its attachments: a list in its row, each with its name, its type and what its
//! bytes are known by. Pure; the bytes themselves lie in the side tree (`rows.rs`). Layout:
//! docs/documents-format.md, "Attachments".

use std::collections::BTreeSet;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::document::byte_reader::ByteReader;
use crate::document::json::quote;
use crate::document::limits::{ATTACHMENT_NAME_BYTES_MAX, ATTACHMENT_TYPE_BYTES_MAX, ATTACHMENTS_MAX};
use crate::document::rev_hash::AttachmentDigest;
use crate::document::stored::damaged;
use crate::document::{Error, Result};

/// What an attachment's stored bytes are known by, for ever: their SHA-256.
pub(in crate::document) type ContentHash = [u8; 32];

/// How the bytes of an attachment are stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Encoding {
    /// As they came.
    Identity = 0,
    /// Compressed, as CouchDB does with text, JSON, XML and JavaScript.
    Gzip = 1,
}

impl Encoding {
    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Encoding::Identity),
            1 => Some(Encoding::Gzip),
            _ => None,
        }
    }
}

/// What the stored bytes of an attachment are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::document) struct Content {
    pub(in crate::document) sha256: ContentHash,
    pub(in crate::document) md5: [u8; 16],
    pub(in crate::document) stored_len: u64,
    pub(in crate::document) decoded_len: u64,
    pub(in crate::document) encoding: Encoding,
}

/// An attachment of a document, without its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttachmentInfo {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Number of the revision that it came with.
    pub revpos: u32,
    pub(in crate::document) content: Content,
}

impl AttachmentInfo {
    /// Its length in bytes, as it was attached.
    pub fn length(&self) -> u64 {
        self.content.decoded_len
    }

    /// Its length in bytes as it is stored: fewer, mostly, where that is compressed.
    pub fn stored_length(&self) -> u64 {
        self.content.stored_len
    }

    /// How it is stored.
    pub fn encoding(&self) -> Encoding {
        self.content.encoding
    }

    /// The MD5 of its stored bytes, which is what revisions are made from.
    pub fn md5(&self) -> [u8; 16] {
        self.content.md5
    }

    /// The SHA-256 of its stored bytes.
    pub fn sha256(&self) -> [u8; 32] {
        self.content.sha256
    }

    /// Its MD5 as CouchDB writes it: `md5-` and Base64.
    pub fn digest(&self) -> String {
        format!("md5-{}", STANDARD.encode(self.content.md5))
    }

    pub(in crate::document) fn hashable(&self) -> AttachmentDigest {
        AttachmentDigest { name: self.name.clone(), content_type: self.content_type.clone(), md5: self.content.md5 }
    }
}

/// The member `_attachments` of a document, of stubs, as CouchDB answers it.
pub(in crate::document) fn stubs_json(attachments: &[AttachmentInfo]) -> String {
    let mut out = String::from("{");
    for (number, info) in attachments.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "{comma}{}:{{\"content_type\":{},\"revpos\":{},\"digest\":\"{}\",\"length\":{},\"stub\":true}}",
            quote(&info.name),
            quote(&info.content_type),
            info.revpos,
            info.digest(),
            info.length()
        );
    }
    out.push('}');
    out
}

/// The section of a row; `None` where there are none.
pub(in crate::document) fn encode(attachments: &[AttachmentInfo]) -> Option<Vec<u8>> {
    if attachments.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for AttachmentInfo { name, content_type, revpos, content } in attachments {
        for text in [name, content_type] {
            out.extend((text.len() as u16).to_be_bytes());
            out.extend(text.as_bytes());
        }
        out.extend(content.md5);
        out.extend(content.sha256);
        out.extend(content.stored_len.to_be_bytes());
        out.extend(content.decoded_len.to_be_bytes());
        out.push(content.encoding as u8);
        out.extend(revpos.to_be_bytes());
    }
    Some(out)
}

/// The attachments that a row's section has.
pub(in crate::document) fn decode(section: Option<&[u8]>, id: &[u8]) -> Result<Vec<AttachmentInfo>> {
    let mut reader = ByteReader::new(section.unwrap_or_default());
    let mut attachments = Vec::new();
    while !reader.is_empty() {
        if attachments.len() == ATTACHMENTS_MAX {
            return Err(damaged(id, "it has more attachments than one can have"));
        }
        attachments.push(decode_one(&mut reader).ok_or_else(|| damaged(id, "its attachments do not read"))?);
    }
    Ok(attachments)
}

fn decode_one(reader: &mut ByteReader<'_>) -> Option<AttachmentInfo> {
    let mut text = |max| {
        let length = usize::from(reader.u16()?);
        let bytes = reader.take(length).filter(|_| length <= max)?;
        String::from_utf8(bytes.to_vec()).ok()
    };
    let (name, content_type) = (text(ATTACHMENT_NAME_BYTES_MAX)?, text(ATTACHMENT_TYPE_BYTES_MAX)?);
    let content = Content {
        md5: reader.chunk()?,
        sha256: reader.chunk()?,
        stored_len: reader.u64()?,
        decoded_len: reader.u64()?,
        encoding: Encoding::from_byte(reader.byte()?)?,
    };
    Some(AttachmentInfo { name, content_type, revpos: reader.u32()?, content })
}

/// The contents that a row's section names.
pub(in crate::document) fn contents(section: Option<&[u8]>, id: &[u8]) -> Result<BTreeSet<ContentHash>> {
    Ok(decode(section, id)?.into_iter().map(|info| info.content.sha256).collect())
}

/// Checks that `name` can be an attachment's.
pub(super) fn check_name(name: &str) -> Result<()> {
    let bad = |why| Err(Error::BadName { what: "attachment", name: name.chars().take(80).collect(), why });
    if name.starts_with('_') {
        return bad("attachments whose names start with _ are reserved");
    }
    if name.len() > ATTACHMENT_NAME_BYTES_MAX {
        return bad("a name is at most 1024 bytes long");
    }
    Ok(())
}

/// Checks that `content_type` can be an attachment's. It becomes a header one day.
pub(super) fn check_content_type(content_type: &str) -> Result<()> {
    let bad =
        |why| Err(Error::BadName { what: "type of an attachment", name: content_type.chars().take(80).collect(), why });
    if content_type.len() > ATTACHMENT_TYPE_BYTES_MAX {
        return bad("a media type is at most 255 bytes long");
    }
    if content_type.chars().any(char::is_control) {
        return bad("a media type has no control characters");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(name: &str, revpos: u32) -> AttachmentInfo {
        let content = Content {
            sha256: [3; 32],
            md5: [7; 16],
            stored_len: 1 << 40,
            decoded_len: 1 << 41,
            encoding: Encoding::Gzip,
        };
        AttachmentInfo { name: name.to_owned(), content_type: "text/plain".to_owned(), revpos, content }
    }

    #[test]
    fn a_section_reads_back_what_was_written() {
        let attachments = vec![info("a", 1), info("", u32::MAX), info("ä/b", 2)];
        let section = encode(&attachments).unwrap();
        assert_eq!(decode(Some(&section), b"x").unwrap(), attachments);
        assert_eq!((encode(&[]), decode(None, b"x").unwrap()), (None, Vec::new()));
    }

    #[test]
    fn a_damaged_section_is_an_error_and_never_a_panic() {
        let section = encode(&[info("abc", 1), info("d", 2)]).unwrap();
        for cut in 1..section.len() {
            let whole_record = cut == encode(&[info("abc", 1)]).unwrap().len();
            assert_eq!(decode(Some(&section[..cut]), b"x").is_ok(), whole_record, "{cut}");
        }
        for at in 0..section.len() {
            for byte in 0..=255 {
                let mut changed = section.clone();
                changed[at] = byte;
                drop(decode(Some(&changed), b"x"));
            }
        }
        let many = encode(&vec![info("a", 1); ATTACHMENTS_MAX + 1]);
        assert!(decode(many.as_deref(), b"x").is_err());
    }
}
