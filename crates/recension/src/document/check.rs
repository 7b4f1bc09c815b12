//! Checking that the rows of the documents layer agree with each other: documents, their revisions, their
//! indexes, their changes, their counts, their attachments. Checksums are the engine's affair ([`Engine::verify`](crate::engine::Engine::verify));
//! this is what a fault of ours, or of another program's, would show in. It reads everything and changes nothing.

use super::ancestry::whole_tree;
use super::attachment::ContentsCheck;
use super::catalogue::{CollectionEntry, IndexState};
use super::changes::{change_key, change_value};
use super::limits::CHECK_PROBLEMS_MAX;
use super::stored::StoredHead;
use super::{At, Counts, Result, Store, side, stored};
use crate::engine::{Direction, KeyRange, Row, Seq, Snapshot, TreeId};

/// What [`Store::check`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Collections looked at.
    pub collections: u64,
    /// Documents looked at, deleted ones too.
    pub documents: u64,
    /// Entries of indexes looked for.
    pub index_entries: u64,
    /// What does not agree, at most a thousand findings. Empty: all does.
    pub problems: Vec<CheckProblem>,
}

/// A disagreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckProblem {
    /// The collection that it is in.
    pub collection: String,
    /// What does not agree.
    pub what: String,
}

impl Store {
    /// Checks that documents, revisions, indexes, changes, counts and attachments agree with each other at a moment. Takes time in
    /// proportion to all of the documents, and little memory.
    pub fn check(&self, at: At) -> Result<CheckReport> {
        let snapshot = self.snapshot(at)?;
        let mut report = CheckReport::default();
        for info in self.collections(At::Seq(snapshot.seq()))? {
            let collection = self.collection(&info.name)?.at(At::Seq(snapshot.seq()))?;
            let Some(entry) = &collection.entry else { continue };
            report.collections += 1;
            let (counts, purged) = (collection.counts(), collection.purge_seq()?);
            let mut check =
                Check { name: &info.name, snapshot: &*snapshot, entry, losing_leaves: 0, report: &mut report };
            check.run(counts, purged)?;
        }
        Ok(report)
    }
}

struct Check<'c> {
    name: &'c str,
    snapshot: &'c dyn Snapshot,
    entry: &'c CollectionEntry,
    losing_leaves: u64,
    report: &'c mut CheckReport,
}

impl Check<'_> {
    fn run(&mut self, counts: Result<Counts>, purged: Seq) -> Result<()> {
        let mut found = Counts { changed: purged, ..Counts::default() };
        let mut rows_of_indexes = vec![0_u64; self.entry.indexes.len()];
        let mut contents = ContentsCheck::new(self.snapshot, self.entry.side);
        for row in self.snapshot.range(self.entry.documents, &KeyRange::all(), Direction::Forward) {
            let row = row?;
            self.report.documents += 1;
            found.changed = found.changed.max(row.value.seq);
            let id = String::from_utf8_lossy(&row.key).into_owned();
            if let Err(error) = self.document(&id, &row, &mut found, &mut rows_of_indexes) {
                self.problem(format!("document {id:?}: {error}"));
            }
            if let Ok(head) = stored::decode(&row.value, &row.key)
                && let Err(error) = contents.document(&id, &row.value, &head)
            {
                self.problem(format!("document {id:?}: {error}"));
            }
        }
        // Every entry that is called for has been found: where there are no more, there are no others.
        let (all, leaves) = (KeyRange::all(), KeyRange::prefix([side::LEAF]));
        self.rows_are("changes", self.entry.changes, &all, found.documents + found.deleted)?;
        self.rows_are("leaves that lose", self.entry.side, &leaves, self.losing_leaves)?;
        let entry = self.entry;
        for (index, rows) in entry.indexes.iter().zip(rows_of_indexes) {
            if index.state == IndexState::Ready {
                self.rows_are(&format!("index {}", index.spec.name), index.tree, &all, rows)?;
            }
        }
        contents.rest(|what| self.problem(what))?;
        match counts {
            Ok(counts) if counts == found => {}
            Ok(counts) => self.problem(format!("the counts say {counts:?}, the documents {found:?}")),
            Err(error) => self.problem(error.to_string()),
        }
        Ok(())
    }

    fn document(&mut self, id: &str, row: &Row<'_>, found: &mut Counts, rows: &mut [u64]) -> Result<()> {
        let head = stored::decode(&row.value, &row.key)?;
        if head.deleted {
            found.deleted += 1;
        } else {
            found.documents += 1;
            found.body_bytes += head.body_len as u64;
        }
        let change = self.snapshot.get(self.entry.changes, &change_key(row.value.seq, id))?;
        if change.as_deref() != Some(&change_value(&head.rev, head.deleted)[..]) {
            self.problem(format!("document {id:?} of commit {} is not among the changes", row.value.seq));
        }
        self.revisions(id, row, &head)?;
        if head.deleted {
            return Ok(());
        }
        let body = stored::into_body(row.value.bytes.clone(), &head, &row.key)?;
        let entry = self.entry;
        let called_for = entry.keys().rows(&entry.indexes, &body, id)?;
        for ((index, rows), called_for) in entry.indexes.iter().zip(rows).zip(called_for) {
            for row in called_for {
                *rows += 1;
                self.report.index_entries += 1;
                if index.state == IndexState::Ready && !index.has(self.snapshot, &row, id)? {
                    self.problem(format!("document {id:?} is not in index {}", index.spec.name));
                }
            }
        }
        Ok(())
    }

    fn revisions(&mut self, id: &str, row: &Row<'_>, head: &StoredHead) -> Result<()> {
        let tree = stored::tree(&row.value, head, id.as_bytes())?;
        let tree = whole_tree(self.snapshot, self.entry.side, id, tree)?;
        for leaf in tree.leaves().into_iter().filter(|leaf| leaf.rev != head.rev) {
            self.losing_leaves += 1;
            let row = self.snapshot.get(self.entry.side, &side::revision_key(side::LEAF, id, &leaf.rev))?;
            let found = row.map(|row| stored::decode(&row, id.as_bytes())).transpose()?;
            if found.map(|found| (found.rev, found.deleted)) != Some((leaf.rev, leaf.deleted)) {
                self.problem(format!("document {id:?}: what its leaf {} says is not there", leaf.rev));
            }
        }
        Ok(())
    }

    fn rows_are(&mut self, what: &str, tree: TreeId, range: &KeyRange, expected: u64) -> Result<()> {
        let mut rows = 0;
        for row in self.snapshot.range(tree, range, Direction::Forward) {
            row?;
            rows += 1;
        }
        if rows != expected {
            self.problem(format!("{what}: {rows} entries where the documents call for {expected}"));
        }
        Ok(())
    }

    fn problem(&mut self, what: String) {
        if self.report.problems.len() < CHECK_PROBLEMS_MAX {
            self.report.problems.push(CheckProblem { collection: self.name.to_owned(), what });
        }
    }
}
