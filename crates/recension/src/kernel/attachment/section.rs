//! The attachments in a document's row: a list with the name, the type and the digests of each. The bytes lie in the
//! side tree (`rows.rs`). Layout: docs/documents-format.md, "Attachments".

use std::collections::BTreeSet;

use crate::kernel::rows::stored::damaged;
use recension_values::attachment::{AttachmentInfo, Content, ContentHash, Encoding};
use recension_values::byte_reader::ByteReader;
use recension_values::error::Result;
use recension_values::limits::{ATTACHMENT_NAME_BYTES_MAX, ATTACHMENT_TYPE_BYTES_MAX, ATTACHMENTS_MAX};

/// The section of a row; `None` if there are none.
pub(crate) fn encode(attachments: &[AttachmentInfo]) -> Option<Vec<u8>> {
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
pub(crate) fn decode(section: Option<&[u8]>, id: &[u8]) -> Result<Vec<AttachmentInfo>> {
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
pub(crate) fn contents(section: Option<&[u8]>, id: &[u8]) -> Result<BTreeSet<ContentHash>> {
    Ok(decode(section, id)?.into_iter().map(|info| info.content.sha256).collect())
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
