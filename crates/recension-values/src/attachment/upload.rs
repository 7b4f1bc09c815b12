//! Uploads: bytes on their way into the store, before a document has them. Small ones wait in memory; others are in the
//! store already, under a random name.

use std::sync::Arc;

use super::digest::Digest;
use super::info::{Content, check_content_type};
use crate::error::{Error, Result};
use recension_engine::EngineError;

/// The name of the bytes in the store. It is random, so that no two uploads ever write the same keys.
pub type BlobId = [u8; 16];

/// The bytes of an attachment, ready to be attached to a document of the collection that they were uploaded to.
///
/// Clones are cheap and are the same upload. If the last one is dropped before a document has the upload, its bytes are
/// deleted.
#[derive(Clone)]
pub struct Upload(Arc<Inner>);

struct Inner {
    content_type: String,
    content: Content,
    blob: BlobId,
    held: Held,
}

/// Deletes the bytes of an upload that no document has.
pub type Discard = Box<dyn Fn(&BlobId) + Send + Sync>;

/// Where the bytes are until a document has them.
pub enum Held {
    /// All of them in memory; the document's own commit writes them.
    Memory(Vec<u8>),
    /// Already in the collection's side tree. The function deletes them there.
    Stored(Discard),
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Inner { content_type, content, .. } = &*self.0;
        f.debug_struct("Upload").field("content_type", content_type).field("length", &content.decoded_len).finish()
    }
}

/// Equal types and equal bytes.
impl PartialEq for Upload {
    fn eq(&self, other: &Self) -> bool {
        self.0.content_type == other.0.content_type && self.0.content == other.0.content
    }
}

impl Eq for Upload {}

impl Upload {
    pub fn new(content_type: &str, content: Content, blob: BlobId, held: Held) -> Self {
        Upload(Arc::new(Inner { content_type: content_type.to_owned(), content, blob, held }))
    }

    /// Its media type.
    pub fn content_type(&self) -> &str {
        &self.0.content_type
    }

    /// Its length in bytes, as it was uploaded.
    pub fn length(&self) -> u64 {
        self.0.content.decoded_len
    }

    /// The MD5 of its bytes as they are stored.
    pub fn md5(&self) -> [u8; 16] {
        self.0.content.md5
    }

    pub fn content(&self) -> Content {
        self.0.content
    }

    pub fn blob(&self) -> BlobId {
        self.0.blob
    }

    /// The stored bytes, if they are not in the side tree yet.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match &self.0.held {
            Held::Memory(bytes) => Some(bytes),
            Held::Stored(_) => None,
        }
    }

    /// Bytes of memory that it takes.
    pub fn size_bytes(&self) -> usize {
        self.in_memory().map_or(0, <[u8]>::len)
    }

    /// Bytes that came with a document itself.
    pub fn inline(bytes: &[u8], content_type: &str) -> Result<Self> {
        check_content_type(content_type)?;
        let (mut digest, mut stored) = (Digest::of_type(content_type), Vec::new());
        digest.write(bytes, &mut stored).map_err(unreadable)?;
        let content = digest.finish(&mut stored).map_err(unreadable)?;
        Ok(Upload::new(content_type, content, new_blob()?, Held::Memory(stored)))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Held::Stored(discard) = &self.held {
            discard(&self.blob);
        }
    }
}

pub fn new_blob() -> Result<BlobId> {
    let mut blob = [0; 16];
    getrandom::fill(&mut blob)
        .map_err(|error| EngineError::io("asking for random bytes", std::io::Error::other(error.to_string())))?;
    Ok(blob)
}

pub fn unreadable(error: std::io::Error) -> Error {
    Error::Input { source: Arc::new(error) }
}
