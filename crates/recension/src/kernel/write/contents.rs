//! The bytes of attachments when a document is written. Each content is stored once, as long as a leaf of any document
//! has it. All reads go through the overlay, so that two writers who disagree cannot both commit.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::engine::{Direction, Snapshot, TreeId};
use crate::kernel::attachment::rows::{
    CHUNK_BYTES, ContentRow, GIVEN_UP, chunk_count, chunk_key, content_key, reference_key, references_of, upload_key,
    upload_time,
};
use crate::kernel::attachment::section;
use crate::kernel::rows::side;
use crate::kernel::rows::stored::{self, Section};
use crate::kernel::write::resolve::{Before, Content, Contents};
use crate::kernel::write::writer::Writer;
use recension_values::attachment::upload::{BlobId, Upload};
use recension_values::attachment::wanted::Wanted;
use recension_values::attachment::{AttachmentInfo, ContentHash};
use recension_values::error::{Error, Result};
use recension_values::revid::RevId;
use recension_values::revision_tree::Leaf;

/// Rows of the side tree that change. A row without a value is deleted.
pub(crate) type Changes = Vec<(Vec<u8>, Option<Vec<u8>>)>;

impl Writer<'_> {
    pub(crate) fn side(&self) -> Option<TreeId> {
        self.entry.as_ref().map(|entry| entry.side)
    }

    /// The attachments of a leaf of the document.
    pub(crate) fn attachments_of(&self, id: &str, before: &Before, rev: &RevId) -> Result<Vec<AttachmentInfo>> {
        if before.head.rev == *rev {
            return section::decode(before.content.attachments.as_deref(), id.as_bytes());
        }
        self.in_losing_leaf(id, rev, |bytes| section::decode(bytes, id.as_bytes()))
    }

    fn in_losing_leaf<T>(&self, id: &str, rev: &RevId, read: impl FnOnce(Option<&[u8]>) -> Result<T>) -> Result<T> {
        let Some(side) = self.side() else { return read(None) };
        let Some(row) = self.view.get(side, &side::revision_key(side::LEAF, id, rev))? else { return read(None) };
        let head = stored::decode(&row, id.as_bytes())?;
        read(stored::section(&row, &head, Section::Attachments))
    }

    /// The changes of contents when the leaves of a document, which were those of `before`, become `leaves`, of which
    /// `written` is new. Nothing is written to the overlay yet.
    pub(crate) fn content_changes(
        &self,
        id: &str,
        before: Option<&Before>,
        leaves: &[Leaf],
        written: &Contents<'_>,
    ) -> Result<Changes> {
        // Most documents have one leaf and no attachments.
        let of_one_leaf = before.is_none_or(|before| before.tree.only_leaf().is_some());
        let has_some = |content: &Content<'_>| content.attachments.is_some();
        let had_some = before.is_some_and(|before| has_some(&before.content));
        if of_one_leaf && !had_some && !written.iter().any(|(_, new)| has_some(&new.content)) {
            return Ok(Changes::new());
        }
        let hashes = |bytes: Option<&[u8]>| section::contents(bytes, id.as_bytes());
        let revs: HashSet<&RevId> = leaves.iter().map(|leaf| &leaf.rev).collect();
        let is_leaf = |rev: &RevId| revs.contains(rev);
        let stays = |rev: &RevId| is_leaf(rev) && written.get(rev).is_none();
        let mut come: BTreeMap<ContentHash, Vec<&Wanted>> = BTreeMap::new();
        for (_, new) in written.iter().filter(|(rev, _)| is_leaf(rev)) {
            for sha256 in hashes(new.content.attachments.as_deref())? {
                come.entry(sha256).or_default().push(new.wanted);
            }
        }
        let (mut gone, mut losing) = (BTreeSet::new(), Vec::new());
        if let Some(before) = before {
            let former = before.tree.leaves();
            for leaf in former.iter().filter(|leaf| leaf.rev != before.head.rev) {
                if stays(&leaf.rev) {
                    losing.push(leaf.rev);
                } else {
                    gone.extend(self.in_losing_leaf(id, &leaf.rev, hashes)?);
                }
            }
            if !stays(&before.head.rev) {
                gone.extend(hashes(before.content.attachments.as_deref())?);
            }
        }
        if come.is_empty() && gone.is_empty() {
            return Ok(Vec::new());
        }
        let mut kept = BTreeSet::new();
        if let Some(before) = before {
            if stays(&before.head.rev) {
                kept.extend(hashes(before.content.attachments.as_deref())?);
            }
            for rev in losing {
                kept.extend(self.in_losing_leaf(id, &rev, hashes)?);
            }
        }
        let mut changes = Changes::new();
        for (sha256, wanted) in &come {
            let had = gone.contains(sha256) || kept.contains(sha256);
            self.take(id, sha256, had, wanted, &mut changes)?;
        }
        for sha256 in gone.iter().filter(|sha256| !come.contains_key(*sha256) && !kept.contains(*sha256)) {
            self.release(id, sha256, &mut changes)?;
        }
        Ok(changes)
    }

    /// The document has the content from now on. `had`: it has it already.
    fn take(&self, id: &str, sha256: &ContentHash, had: bool, wanted: &[&Wanted], changes: &mut Changes) -> Result<()> {
        let mut uploads = wanted.iter().flat_map(|wanted| wanted.upload_of(sha256)).peekable();
        if had && uploads.peek().is_none() {
            return Ok(());
        }
        let mut at = self.content_row(sha256)?.map(|row| row.blob);
        for upload in uploads {
            match at {
                Some(blob) => self.drop_upload(upload, &blob, changes)?,
                None => at = Some(self.keep_upload(upload, changes)?),
            }
        }
        if at.is_none() {
            return Err(Error::ContentGone);
        }
        if !had {
            changes.push((reference_key(sha256, id), Some(Vec::new())));
        }
        Ok(())
    }

    /// The content becomes the upload's bytes.
    fn keep_upload(&self, upload: &Upload, changes: &mut Changes) -> Result<BlobId> {
        let (blob, content) = (upload.blob(), upload.content());
        if let Some(bytes) = upload.in_memory() {
            let chunks = (0..).zip(bytes.chunks(CHUNK_BYTES));
            changes.extend(chunks.map(|(number, chunk)| (chunk_key(&blob, number), Some(chunk.to_vec()))));
        } else if self.is_uploaded(&blob)? {
            changes.push((upload_key(&blob), None));
        } else {
            return Err(Error::UploadGone);
        }
        changes.push((content_key(&content.sha256), Some(ContentRow { blob, content }.encode())));
        Ok(blob)
    }

    /// The content is stored at `blob` already, so the upload's bytes are deleted.
    fn drop_upload(&self, upload: &Upload, blob: &BlobId, changes: &mut Changes) -> Result<()> {
        let own = upload.blob();
        if upload.in_memory().is_none() && own != *blob && self.is_uploaded(&own)? {
            changes.extend((0..chunk_count(upload.content().stored_len)).map(|number| (chunk_key(&own, number), None)));
            changes.push((upload_key(&own), None));
        }
        Ok(())
    }

    fn is_uploaded(&self, blob: &BlobId) -> Result<bool> {
        let Some(side) = self.side() else { return Ok(false) };
        let Some(row) = self.view.get(side, &upload_key(blob))? else { return Ok(false) };
        Ok(upload_time(&row)? != GIVEN_UP)
    }

    /// No leaf of the document has the content any more. If no other document has it, the content is deleted. Older
    /// snapshots still have it.
    fn release(&self, id: &str, sha256: &ContentHash, changes: &mut Changes) -> Result<()> {
        let Some(side) = self.side() else { return Ok(()) };
        let own = reference_key(sha256, id);
        for row in self.view.range(side, &references_of(sha256), Direction::Forward) {
            if *row?.key != *own {
                changes.push((own, None));
                return Ok(());
            }
        }
        changes.push((own, None));
        if let Some(ContentRow { blob, content }) = self.content_row(sha256)? {
            changes.extend((0..chunk_count(content.stored_len)).map(|number| (chunk_key(&blob, number), None)));
            changes.push((content_key(sha256), None));
        }
        Ok(())
    }

    fn content_row(&self, sha256: &ContentHash) -> Result<Option<ContentRow>> {
        let Some(side) = self.side() else { return Ok(None) };
        let row = self.view.get(side, &content_key(sha256))?;
        row.map(|row| ContentRow::decode(&row, sha256)).transpose()
    }
}
