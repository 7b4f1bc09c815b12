//! Uploads: bytes that are on their way into the store, before a document has them. Small ones wait in memory;
//! others are written in bounded steps under a name of chance, which nobody sees until a document's write makes
//! them its own. What no document took is taken away again: when its handle goes, or a day later.

use std::io::Read;
use std::sync::Arc;

use super::digest::Digest;
use super::info::{Content, check_content_type};
use super::rows::{
    BlobId, CHUNK_BYTES, GIVEN_UP, chunk_key, chunks_of, upload_in, upload_key, upload_time, upload_value,
};
use crate::document::apply::{Writer, in_one_commit};
use crate::document::limits::{
    ATTACHMENT_BYTES_MAX, SWEEP_STEP_CHUNKS, SWEEP_UPLOADS_MAX, UPLOAD_AGE_MICROS_MAX, UPLOAD_STEP_BYTES,
};
use crate::document::{At, Collection, Error, Result, side};
use crate::engine::{Direction, EngineError, KeyRange, Snapshot, Timestamp};

/// The bytes of an attachment, ready to be attached to a document of the collection that they were uploaded to.
///
/// Clones are cheap and are the same upload. When the last one is dropped and no document was given it, its bytes
/// are deleted.
#[derive(Clone)]
pub struct Upload(Arc<Inner>);

struct Inner {
    content_type: String,
    content: Content,
    blob: BlobId,
    held: Held,
}

/// Where the bytes are until a document has them.
enum Held {
    /// All of them in memory; the document's own commit writes them.
    Memory(Vec<u8>),
    /// In the collection's side tree already.
    Stored(Collection),
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

    pub(super) fn content(&self) -> Content {
        self.0.content
    }

    pub(super) fn blob(&self) -> BlobId {
        self.0.blob
    }

    /// The stored bytes, where they are not in the side tree yet.
    pub(super) fn in_memory(&self) -> Option<&[u8]> {
        match &self.0.held {
            Held::Memory(bytes) => Some(bytes),
            Held::Stored(_) => None,
        }
    }

    /// Bytes of memory that it takes.
    pub(in crate::document) fn size_bytes(&self) -> usize {
        self.in_memory().map_or(0, <[u8]>::len)
    }

    /// Bytes that came with a document itself.
    pub(super) fn inline(bytes: &[u8], content_type: &str) -> Result<Self> {
        check_content_type(content_type)?;
        let (mut digest, mut stored) = (Digest::of_type(content_type), Vec::new());
        digest.write(bytes, &mut stored).map_err(unreadable)?;
        let content = digest.finish(&mut stored).map_err(unreadable)?;
        let held = Held::Memory(stored);
        Ok(Upload(Arc::new(Inner { content_type: content_type.to_owned(), content, blob: new_blob()?, held })))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Held::Stored(collection) = &self.held {
            // Where this fails, the sweep finds it.
            let _ = collection.discard(&self.blob);
        }
    }
}

impl Collection {
    /// Takes the bytes of an attachment in, of any length and in little memory. Attach it with
    /// [`Write::attach`](crate::document::Write::attach).
    ///
    /// Text, JSON, XML and JavaScript are stored compressed, as CouchDB does.
    ///
    /// # Errors
    /// [`Error::Input`] where `bytes` cannot be read; [`Error::AttachmentTooLong`].
    pub fn upload(&self, bytes: impl Read, content_type: &str) -> Result<Upload> {
        check_content_type(content_type)?;
        self.take_in(bytes, content_type, Digest::of_type(content_type))
    }

    /// The same for bytes that come gzipped, and stay as they are: another replica has stored them so.
    pub fn upload_gzip(&self, bytes: impl Read, content_type: &str) -> Result<Upload> {
        check_content_type(content_type)?;
        self.take_in(bytes, content_type, Digest::of_compressed())
    }

    /// The same for bytes that are stored as they are, whatever their type.
    pub(super) fn upload_identity(&self, bytes: impl Read, content_type: &str) -> Result<Upload> {
        self.take_in(bytes, content_type, Digest::of_identity())
    }

    fn take_in(&self, mut bytes: impl Read, content_type: &str, mut digest: Digest) -> Result<Upload> {
        // That others' remains could not be taken away is no reason to refuse this one.
        let _ = self.sweep_when_due();
        let blob = new_blob()?;
        let mut begun = Begun { collection: self, blob, chunks: 0, last_noted: Timestamp(0), finished: false };
        let (mut block, mut waiting) = (vec![0; CHUNK_BYTES], Vec::new());
        loop {
            let count = match bytes.read(&mut block) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(error)),
            };
            digest.write(block.get(..count).unwrap_or_default(), &mut waiting).map_err(unreadable)?;
            if digest.stored_len() > ATTACHMENT_BYTES_MAX {
                return Err(Error::AttachmentTooLong { max: ATTACHMENT_BYTES_MAX });
            }
            if waiting.len() > UPLOAD_STEP_BYTES {
                let whole = waiting.len() - waiting.len() % CHUNK_BYTES;
                begun.put(waiting.get(..whole).unwrap_or_default())?;
                waiting.drain(..whole);
            }
        }
        let content = digest.finish(&mut waiting).map_err(unreadable)?;
        let held = if begun.chunks == 0 && waiting.len() <= UPLOAD_STEP_BYTES {
            Held::Memory(waiting)
        } else {
            begun.put(&waiting)?;
            Held::Stored(self.clone())
        };
        begun.finished = true;
        drop(begun);
        Ok(Upload(Arc::new(Inner { content_type: content_type.to_owned(), content, blob, held })))
    }

    /// Takes the chunks of an upload away that no document has; answers whether there was one. Each step is a
    /// commit of its own; from the first on nobody can use it.
    fn discard(&self, blob: &BlobId) -> Result<bool> {
        let key = upload_key(blob);
        let is_there = in_one_commit(self, |writer| {
            let Some(side) = writer.side() else { return Ok(false) };
            let is_there = writer.view.get(side, &key)?.is_some();
            if is_there {
                writer.view.put(side, &key, upload_value(GIVEN_UP));
            }
            Ok(is_there)
        })?;
        let mut more = is_there.0;
        while more {
            (more, _) = in_one_commit(self, |writer| {
                let Some(side) = writer.side() else { return Ok(false) };
                if writer.view.get(side, &key)?.is_none() {
                    return Ok(false);
                }
                // Nobody adds to it any more: the commit need not depend on the range.
                let rows = writer.view.base().range(side, &chunks_of(blob), Direction::Forward);
                let keys: Vec<Vec<u8>> =
                    rows.take(SWEEP_STEP_CHUNKS).map(|row| Ok(row?.key.into_owned())).collect::<Result<_>>()?;
                if keys.is_empty() {
                    writer.view.delete(side, &key);
                    return Ok(false);
                }
                for key in keys {
                    writer.view.delete(side, &key);
                }
                Ok(true)
            })?;
        }
        Ok(is_there.0)
    }

    /// Takes uploads away that were begun more than a day ago and that no document was given, a bounded number of
    /// them; answers how many. Uploading does this by itself, once an hour at most.
    pub fn sweep_uploads(&self) -> Result<usize> {
        let oldest = Timestamp(self.store().now().0.saturating_sub(UPLOAD_AGE_MICROS_MAX));
        let mut stale = Vec::new();
        {
            let reader = self.at(At::Now)?;
            let Some(entry) = &reader.entry else { return Ok(0) };
            for row in reader.snapshot.range(entry.side, &KeyRange::prefix([side::UPLOAD]), Direction::Forward) {
                let row = row?;
                if upload_time(&row.value)? < oldest {
                    stale.extend(upload_in(&row.key));
                }
                if stale.len() == SWEEP_UPLOADS_MAX {
                    break;
                }
            }
        }
        for blob in &stale {
            self.discard(blob)?;
        }
        Ok(stale.len())
    }

    fn sweep_when_due(&self) -> Result<()> {
        if self.slot.uploads_are_due(self.store().now()) {
            self.sweep_uploads()?;
        }
        Ok(())
    }
}

/// An upload that is being written. Where it is broken off, its chunks go.
struct Begun<'c> {
    collection: &'c Collection,
    blob: BlobId,
    chunks: u64,
    /// When its row said last that it is under way.
    last_noted: Timestamp,
    finished: bool,
}

impl Begun<'_> {
    /// Writes whole chunks, or the last ones.
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let (first, now) = (self.chunks, self.collection.store().now());
        let note = first == 0 || now.0.saturating_sub(self.last_noted.0) > UPLOAD_AGE_MICROS_MAX / 24;
        let key = upload_key(&self.blob);
        in_one_commit(self.collection, |writer| {
            let side = writer.entry_or_new()?.side;
            if first > 0 {
                still_there(writer, side, &key)?;
            }
            if note {
                writer.view.put(side, &key, upload_value(now));
            }
            for (number, chunk) in (first..).zip(bytes.chunks(CHUNK_BYTES)) {
                writer.view.put(side, &chunk_key(&self.blob, number), chunk.to_vec());
            }
            Ok(())
        })?;
        self.chunks += bytes.chunks(CHUNK_BYTES).len() as u64;
        if note {
            self.last_noted = now;
        }
        Ok(())
    }
}

/// An upload's row is read with every step, so that nobody who took it away is overlooked.
fn still_there(writer: &Writer<'_>, side: crate::engine::TreeId, key: &[u8]) -> Result<()> {
    let row = writer.view.get(side, key)?.ok_or(Error::UploadGone)?;
    if upload_time(&row)? == GIVEN_UP { Err(Error::UploadGone) } else { Ok(()) }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.finished && self.chunks > 0 {
            let _ = self.collection.discard(&self.blob);
        }
    }
}

fn new_blob() -> Result<BlobId> {
    let mut blob = [0; 16];
    getrandom::fill(&mut blob)
        .map_err(|error| EngineError::io("asking for random bytes", std::io::Error::other(error.to_string())))?;
    Ok(blob)
}

fn unreadable(error: std::io::Error) -> Error {
    Error::Input { source: Arc::new(error) }
}
