//! Taking the bytes of attachments in. Small ones wait in memory. Others are written in bounded steps under a random
//! name, which no reader sees until the write of a document refers to it. Bytes that no document took are deleted when
//! their handle is dropped, or a day later.

use std::io::Read;

use crate::engine::{Direction, KeyRange, Snapshot, Timestamp};
use crate::faces::collection::Collection;
use crate::faces::commit::in_one_commit;
use crate::faces::handles::Uploads;
use crate::kernel::attachment::rows::{
    CHUNK_BYTES, GIVEN_UP, chunk_key, chunks_of, upload_in, upload_key, upload_time, upload_value,
};
use crate::kernel::rows::side;
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::attachment::digest::Digest;
use recension_values::attachment::info::check_content_type;
use recension_values::attachment::upload::{BlobId, Held, Upload, new_blob, unreadable};
use recension_values::error::{Error, Result};
use recension_values::limits::{
    ATTACHMENT_BYTES_MAX, SWEEP_STEP_CHUNKS, SWEEP_UPLOADS_MAX, UPLOAD_AGE_MICROS_MAX, UPLOAD_STEP_BYTES,
};

impl Uploads<'_> {
    /// Takes the bytes of an attachment, of any length and in little memory. Attach the upload with
    /// [`Write::attach`](crate::Write::attach).
    ///
    /// Text, JSON, XML and JavaScript are stored compressed, as CouchDB does.
    ///
    /// # Errors
    /// [`Error::Input`] if `bytes` cannot be read; [`Error::AttachmentTooLong`].
    pub fn add(self, bytes: impl Read, content_type: &str) -> Result<Upload> {
        check_content_type(content_type)?;
        self.collection.take_in(bytes, content_type, Digest::of_type(content_type))
    }

    /// The same for gzipped bytes, which are stored as they are: another replica has compressed them.
    pub fn add_gzip(self, bytes: impl Read, content_type: &str) -> Result<Upload> {
        check_content_type(content_type)?;
        self.collection.take_in(bytes, content_type, Digest::of_compressed())
    }

    /// Deletes uploads that were begun more than a day ago and that no document took, a bounded number of them; answers
    /// how many. Uploads do this by themselves, at most once an hour.
    pub fn sweep(self) -> Result<usize> {
        let oldest = Timestamp(self.collection.store().now().0.saturating_sub(UPLOAD_AGE_MICROS_MAX));
        let mut stale = Vec::new();
        {
            let reader = self.collection.at(At::Now)?;
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
            self.collection.discard(blob)?;
        }
        Ok(stale.len())
    }
}

impl Collection {
    /// Takes bytes that are stored as they are, whatever their type.
    pub(crate) fn upload_identity(&self, bytes: impl Read, content_type: &str) -> Result<Upload> {
        self.take_in(bytes, content_type, Digest::of_identity())
    }

    fn take_in(&self, mut bytes: impl Read, content_type: &str, mut digest: Digest) -> Result<Upload> {
        // A sweep that fails is no reason to refuse this upload.
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
            let collection = self.clone();
            Held::Stored(Box::new(move |blob| {
                // If this fails, a later sweep deletes the bytes.
                let _ = collection.discard(blob);
            }))
        };
        begun.finished = true;
        drop(begun);
        Ok(Upload::new(content_type, content, blob, held))
    }

    /// Deletes the chunks of an upload that no document has; returns whether there was one. Each step is a commit of
    /// its own. From the first one on no document can take the upload.
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
                // Nothing is added to the upload any more, so the commit need not depend on the range.
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

    fn sweep_when_due(&self) -> Result<()> {
        if self.slot.uploads_are_due(self.store().now()) {
            self.uploads().sweep()?;
        }
        Ok(())
    }
}

/// An upload that is being written. Its chunks are deleted if it is broken off.
struct Begun<'c> {
    collection: &'c Collection,
    blob: BlobId,
    chunks: u64,
    /// The time of the upload's row, which says that it goes on.
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

/// Each step reads the row of the upload, so that a deletion of the upload is noticed.
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
