//! Checking that documents and the stored bytes of attachments agree: [`Store::check`](crate::Store::check).

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::rows::{
    ContentRow, chunk_count, chunk_key, chunk_len, chunks_of, content_key, damaged, reference_key, references_of,
    upload_in,
};
use super::section;
use crate::engine::{Direction, KeyRange, Snapshot, TreeId};
use crate::kernel::rows::side;
use crate::kernel::rows::stored::{self, Section, StoredHead};
use recension_values::attachment::{Content, ContentHash};
use recension_values::error::Result;
use recension_values::revision_tree::RevisionTree;

/// A check of the attachments of one collection: first each of its documents, then the rest.
pub(crate) struct ContentsCheck<'c> {
    snapshot: &'c dyn Snapshot,
    side: TreeId,
    /// References that the documents need.
    references: u64,
}

impl<'c> ContentsCheck<'c> {
    pub(crate) fn new(snapshot: &'c dyn Snapshot, side: TreeId) -> Self {
        ContentsCheck { snapshot, side, references: 0 }
    }

    /// Checks the contents that a document's leaves need.
    pub(crate) fn document(&mut self, id: &str, row: &[u8], head: &StoredHead) -> Result<()> {
        let mut hashes = BTreeSet::new();
        self.leaf(id, row, head, &mut hashes)?;
        let tree = stored::tree(row, head, id.as_bytes())?;
        for leaf in RevisionTree::leaves(&tree).into_iter().skip(1) {
            let key = side::revision_key(side::LEAF, id, &leaf.rev);
            if let Some(row) = self.snapshot.get(self.side, &key)? {
                let head = stored::decode(&row, id.as_bytes())?;
                self.leaf(id, &row, &head, &mut hashes)?;
            }
        }
        self.references += hashes.len() as u64;
        for sha256 in hashes {
            if self.snapshot.get(self.side, &reference_key(&sha256, id))?.is_none() {
                return Err(damaged(&sha256, "that the document has it is not noted"));
            }
        }
        Ok(())
    }

    fn leaf(&self, id: &str, row: &[u8], head: &StoredHead, hashes: &mut BTreeSet<ContentHash>) -> Result<()> {
        for info in section::decode(stored::section(row, head, Section::Attachments), id.as_bytes())? {
            let sha256 = info.content.sha256;
            if self.content(&sha256)?.content != info.content {
                return Err(damaged(&sha256, "its row and the document say different things"));
            }
            hashes.insert(sha256);
        }
        Ok(())
    }

    fn content(&self, sha256: &ContentHash) -> Result<ContentRow> {
        let row = self.snapshot.get(self.side, &content_key(sha256))?;
        ContentRow::decode(&row.ok_or_else(|| damaged(sha256, "its row is missing"))?, sha256)
    }

    /// After all documents: checks that contents are whole, and that each is needed by some document.
    pub(crate) fn rest(&self, mut problem: impl FnMut(String)) -> Result<()> {
        let references = self.rows(&KeyRange::prefix([side::REFERENCE]))?;
        if references != self.references {
            let expected = self.references;
            problem(format!("attachments: {references} references, but the documents need {expected}"));
        }
        let mut chunks = 0;
        for row in self.snapshot.range(self.side, &KeyRange::prefix([side::CONTENT]), Direction::Forward) {
            let row = row?;
            let Some(sha256) = row.key.get(1..).and_then(|hash| ContentHash::try_from(hash).ok()) else {
                problem(format!("attachments: \"{}\" is no key of a content", row.key.escape_ascii()));
                continue;
            };
            match ContentRow::decode(&row.value, &sha256).and_then(|content| self.whole(&content)) {
                Ok(count) => chunks += count,
                Err(error) => problem(error.to_string()),
            }
        }
        for row in self.snapshot.range(self.side, &KeyRange::prefix([side::UPLOAD]), Direction::Forward) {
            let row = row?;
            match upload_in(&row.key) {
                Some(blob) => chunks += self.rows(&chunks_of(&blob))?,
                None => problem(format!("attachments: \"{}\" is no key of an upload", row.key.escape_ascii())),
            }
        }
        let found = self.rows(&KeyRange::prefix([side::CHUNK]))?;
        if found != chunks {
            problem(format!("attachments: {found} chunks, but contents and uploads need {chunks}"));
        }
        Ok(())
    }

    /// Checks that a content has all of its chunks and that some document has it; returns how many chunks it has.
    fn whole(&self, row: &ContentRow) -> Result<u64> {
        let Content { sha256, stored_len, .. } = row.content;
        if self.snapshot.range(self.side, &references_of(&sha256), Direction::Forward).next().is_none() {
            return Err(damaged(&sha256, "no document has it"));
        }
        let count = chunk_count(stored_len);
        let mut hash = Sha256::new();
        for number in 0..count {
            let chunk = self.snapshot.get(self.side, &chunk_key(&row.blob, number))?;
            match chunk.filter(|chunk| chunk.len() as u64 == chunk_len(stored_len, number)) {
                Some(chunk) => hash.update(&*chunk.bytes),
                None => return Err(damaged(&sha256, "a chunk of it is missing or has another length than it should")),
            }
        }
        if hash.finalize()[..] != sha256 {
            return Err(damaged(&sha256, "its bytes are others than were written"));
        }
        Ok(count)
    }

    fn rows(&self, range: &KeyRange) -> Result<u64> {
        let mut rows = 0;
        for row in self.snapshot.range(self.side, range, Direction::Forward) {
            row?;
            rows += 1;
        }
        Ok(rows)
    }
}
