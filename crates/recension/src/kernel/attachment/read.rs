//! Reading the bytes of an attachment, in pieces, from one snapshot. A whole read is checked against the length and
//! the MD5 that the document names: damage is an error, never other bytes.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;

use md5::{Digest as _, Md5};

use super::rows::{CHUNK_BYTES, ContentRow, chunk_key, chunk_len, content_key, damaged};
use crate::engine::{Snapshot, TreeId};
use recension_values::attachment::gzip;
use recension_values::attachment::upload::BlobId;
use recension_values::attachment::{AttachmentInfo, Encoding};
use recension_values::error::{Error, Result};

/// The bytes of an attachment: a [`Read`] of all of them, decoded. [`AttachmentReader::range`] reads some of them;
/// [`AttachmentReader::stored`] reads them as they are stored.
///
/// After the last byte a whole read checks length and MD5. Errors are of the kind
/// [`io::ErrorKind::InvalidData`] if the store is damaged.
pub struct AttachmentReader {
    info: AttachmentInfo,
    source: Source,
    /// Decoded bytes that are still to be skipped, and then to be read.
    skip: u64,
    left: u64,
    /// Decoded bytes so far, in a whole read of a compressed attachment.
    decoded: u64,
    whole: bool,
}

enum Source {
    Stored(Box<Stored>),
    Gzip(Box<gzip::Reader<BufReader<Stored>>>),
}

impl std::fmt::Debug for AttachmentReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AttachmentReader").field("info", &self.info).field("left", &self.left).finish_non_exhaustive()
    }
}

impl AttachmentReader {
    pub(crate) fn open(snapshot: Arc<dyn Snapshot>, tree: TreeId, info: AttachmentInfo) -> Result<Self> {
        let sha256 = &info.content.sha256;
        let row = value_of(&*snapshot, tree, &content_key(sha256))?;
        let row = row.ok_or_else(|| damaged(sha256, "a document has it, and its row is missing"))?;
        let row = ContentRow::decode(&row, sha256)?;
        if row.content != info.content {
            return Err(damaged(sha256, "its row and a document say different things"));
        }
        let stored = Stored {
            snapshot,
            tree,
            blob: row.blob,
            info: info.clone(),
            at: 0,
            end: info.stored_length(),
            chunk: Vec::new(),
            md5: Some(Md5::new()),
        };
        let source = match info.encoding() {
            Encoding::Identity => Source::Stored(Box::new(stored)),
            Encoding::Gzip => Source::Gzip(Box::new(gzip::Reader::new(BufReader::new(stored)))),
        };
        Ok(AttachmentReader { left: info.length(), info, source, skip: 0, decoded: 0, whole: true })
    }

    /// The attachment's description.
    pub fn info(&self) -> &AttachmentInfo {
        &self.info
    }

    /// The bytes as they are stored: gzipped if [`AttachmentInfo::encoding`] says so. From the beginning.
    #[must_use]
    pub fn stored(mut self) -> Self {
        let mut stored = self.into_stored();
        stored.restart(0..stored.info.stored_length());
        self = AttachmentReader::over(stored);
        self
    }

    /// Some of the bytes, up to the end. In a compressed attachment they are found by decoding from the beginning,
    /// otherwise at once.
    #[must_use]
    pub fn range(mut self, bytes: Range<u64>) -> Self {
        let length = self.length();
        let range = bytes.start.min(length)..bytes.end.min(length).max(bytes.start.min(length));
        let whole = range == (0..length);
        let gzip = matches!(self.source, Source::Gzip(_));
        let mut stored = self.into_stored();
        if !gzip {
            stored.restart(range);
            return AttachmentReader::over(stored);
        }
        stored.restart(0..stored.info.stored_length());
        self = AttachmentReader {
            info: stored.info.clone(),
            source: Source::Gzip(Box::new(gzip::Reader::new(BufReader::new(stored)))),
            skip: range.start,
            left: range.end - range.start,
            decoded: 0,
            whole,
        };
        self
    }

    /// The length of the whole, decoded or as stored.
    fn length(&self) -> u64 {
        match self.source {
            Source::Stored(_) => self.info.stored_length(),
            Source::Gzip(_) => self.info.length(),
        }
    }

    fn over(stored: Stored) -> Self {
        let left = stored.end - stored.at;
        AttachmentReader {
            info: stored.info.clone(),
            source: Source::Stored(Box::new(stored)),
            skip: 0,
            left,
            decoded: 0,
            whole: false,
        }
    }

    fn into_stored(self) -> Stored {
        match self.source {
            Source::Stored(stored) => *stored,
            Source::Gzip(decoder) => decoder.into_inner().into_inner(),
        }
    }

    /// Reads once more: nothing may come after the last byte, and the read checks the stored bytes.
    fn check_end(&mut self) -> io::Result<()> {
        let Source::Gzip(decoder) = &mut self.source else { return Ok(()) };
        if !std::mem::take(&mut self.whole) {
            return Ok(());
        }
        let why = "it is not as long as a document says, or goes on after its end";
        let mut rest = [0; 64];
        if self.decoded != self.info.length() || decoder.read(&mut rest)? > 0 || decoder.get_mut().read(&mut rest)? > 0
        {
            return Err(invalid(damaged(&self.info.content.sha256, why)));
        }
        Ok(())
    }
}

impl Read for AttachmentReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let decoder = match &mut self.source {
            Source::Stored(stored) => return stored.read(out),
            Source::Gzip(decoder) => decoder,
        };
        if out.is_empty() {
            return Ok(0);
        }
        let ended = damaged(&self.info.content.sha256, "it ends before a document says");
        while self.skip > 0 {
            let mut skipped = [0; 4096];
            let most = usize::try_from(self.skip).unwrap_or(usize::MAX).min(skipped.len());
            match decoder.read(skipped.get_mut(..most).unwrap_or_default())? {
                0 => return Err(invalid(ended)),
                count => self.skip -= count as u64,
            }
        }
        if self.left == 0 {
            return self.check_end().map(|()| 0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        let count = decoder.read(out.get_mut(..most).unwrap_or_default())?;
        if count == 0 {
            return Err(invalid(ended));
        }
        self.left -= count as u64;
        self.decoded += count as u64;
        Ok(count)
    }
}

/// The bytes of a content as they are stored.
struct Stored {
    snapshot: Arc<dyn Snapshot>,
    tree: TreeId,
    blob: BlobId,
    info: AttachmentInfo,
    at: u64,
    end: u64,
    /// The chunk that `at` is in, if it has been read.
    chunk: Vec<u8>,
    /// The digest of all bytes so far, in a whole read.
    md5: Option<Md5>,
}

impl Stored {
    fn restart(&mut self, range: Range<u64>) {
        self.md5 = (range == (0..self.info.stored_length())).then(Md5::new);
        self.chunk.clear();
        (self.at, self.end) = (range.start, range.end);
    }

    fn read_chunk(&mut self) -> Result<()> {
        let sha256 = &self.info.content.sha256;
        let number = self.at / CHUNK_BYTES as u64;
        let chunk = value_of(&*self.snapshot, self.tree, &chunk_key(&self.blob, number))?;
        let chunk = chunk.ok_or_else(|| damaged(sha256, "a chunk of it is missing"))?;
        if chunk.len() as u64 != chunk_len(self.info.stored_length(), number) {
            return Err(damaged(sha256, "a chunk of it has another length than it should"));
        }
        self.chunk = chunk;
        Ok(())
    }
}

impl Read for Stored {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        if self.at >= self.end {
            if let Some(md5) = self.md5.take()
                && <[u8; 16]>::from(md5.finalize()) != self.info.md5()
            {
                return Err(invalid(damaged(&self.info.content.sha256, "its bytes do not have the MD5 they should")));
            }
            return Ok(0);
        }
        let offset = (self.at % CHUNK_BYTES as u64) as usize;
        if offset == 0 || self.chunk.is_empty() {
            self.read_chunk().map_err(invalid)?;
        }
        let chunk = self.chunk.get(offset..).unwrap_or_default();
        let most = usize::try_from(self.end - self.at).unwrap_or(usize::MAX).min(chunk.len()).min(out.len());
        let (from, to) = (chunk.get(..most).unwrap_or_default(), out.get_mut(..most).unwrap_or_default());
        to.copy_from_slice(from);
        if let Some(md5) = &mut self.md5 {
            md5.update(from);
        }
        self.at += most as u64;
        Ok(most)
    }
}

/// The value of a row at a snapshot, or else its last value before. The bytes of a revision that is no leaf any more
/// may be deleted now, and a row of a content never has two different values.
fn value_of(snapshot: &dyn Snapshot, tree: TreeId, key: &[u8]) -> Result<Option<Vec<u8>>> {
    if let Some(row) = snapshot.get(tree, key)? {
        return Ok(Some(row.bytes.into_owned()));
    }
    for version in snapshot.versions(tree, key) {
        if let Some(value) = version?.value {
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

fn invalid(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
