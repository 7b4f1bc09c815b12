//! The description of an attachment in a document: its name, its type and the digests of its bytes.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::{Error, Result};
use crate::json::quote;
use crate::limits::{ATTACHMENT_NAME_BYTES_MAX, ATTACHMENT_TYPE_BYTES_MAX};
use crate::rev_hash::AttachmentDigest;

/// The SHA-256 of an attachment's stored bytes, which identifies them for ever.
pub type ContentHash = [u8; 32];

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
    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Encoding::Identity),
            1 => Some(Encoding::Gzip),
            _ => None,
        }
    }
}

/// A description of an attachment's stored bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    pub sha256: ContentHash,
    pub md5: [u8; 16],
    pub stored_len: u64,
    pub decoded_len: u64,
    pub encoding: Encoding,
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
    pub content: Content,
}

impl AttachmentInfo {
    /// Its length in bytes, as it was attached.
    pub fn length(&self) -> u64 {
        self.content.decoded_len
    }

    /// Its length in bytes as it is stored: usually less, if it is compressed.
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

    pub fn hashable(&self) -> AttachmentDigest {
        AttachmentDigest { name: self.name.clone(), content_type: self.content_type.clone(), md5: self.content.md5 }
    }
}

/// The member `_attachments` of a document, of stubs, as CouchDB answers it.
pub fn stubs_json(attachments: &[AttachmentInfo]) -> String {
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

/// Checks that `name` can be an attachment's.
pub fn check_name(name: &str) -> Result<()> {
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
pub fn check_content_type(content_type: &str) -> Result<()> {
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
