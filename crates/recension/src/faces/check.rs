//! Checking that the rows of documents, revisions, indexes, changes, counts and attachments agree with each other. The
//! engine checks its own checksums ([`Engine::verify`](crate::engine::Engine::verify)). This check finds rows that a
//! fault in this layer, or another program, has broken. It reads everything and changes nothing.

use crate::engine::{Direction, KeyRange, Row, Seq, Snapshot, TreeId, counters};
use crate::faces::store::Store;
use crate::kernel::attachment::ContentsCheck;
use crate::kernel::changes::change::{change_key, change_value};
use crate::kernel::read::ancestry::whole_tree;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::access_rows::{BY_ID, BY_SEQ, by_id, by_seq, is_lost};
use crate::kernel::rows::catalogue::{CollectionEntry, IndexEntry};
use crate::kernel::rows::stored::StoredHead;
use crate::kernel::rows::word_rows::{COUNTERS_KEY, Tally, tally};
use crate::kernel::rows::{side, stored};
use crate::kernel::write::access::marks_of;
use recension_values::at::At;
use recension_values::error::Result;
use recension_values::limits::CHECK_PROBLEMS_MAX;
use recension_values::model::{Counts, IndexState};

/// What [`Store::check`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Collections looked at.
    pub collections: u64,
    /// Documents looked at, deleted ones too.
    pub documents: u64,
    /// Entries of indexes looked for.
    pub index_entries: u64,
    /// Collections whose key is not here, so that nobody can look at their documents.
    pub without_key: Vec<String>,
    /// The findings, at most a thousand; empty if all rows agree.
    pub problems: Vec<CheckProblem>,
}

/// A disagreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckProblem {
    /// The collection that it is in.
    pub collection: String,
    /// The rows that do not agree.
    pub what: String,
}

impl Store {
    /// Checks that documents, revisions, indexes, changes, counts and attachments agree with each other at a moment.
    /// The time grows with the number of documents; memory is bounded.
    pub fn check(&self, at: At) -> Result<CheckReport> {
        let snapshot = self.snapshot(at)?;
        let mut report = CheckReport::default();
        for info in self.collections(At::Seq(snapshot.seq()))? {
            let collection = self.collection_as_of(&info.name, At::Seq(snapshot.seq()))?;
            let Some(entry) = &collection.entry else { continue };
            if !self.has_key_of(entry) {
                report.without_key.push(info.name);
                continue;
            }
            report.collections += 1;
            Check::of(&collection, entry, &mut report).run(collection.counts(), collection.purge_seq()?)?;
        }
        Ok(report)
    }
}

/// What the documents of a collection call for: its counts, and those of each index of words.
pub(crate) fn counted(collection: &CollectionAt) -> Result<(Counts, Vec<(TreeId, Tally)>)> {
    let Some(entry) = &collection.entry else { return Ok((Counts::default(), Vec::new())) };
    let mut report = CheckReport::default();
    let (counts, indexes, _) = Check::of(collection, entry, &mut report).count()?;
    let of_words = |(index, found): (&IndexEntry, InIndex)| {
        let counted = index.spec.words.is_some() && index.state == IndexState::Ready;
        counted.then_some((index.tree, found.tally))
    };
    Ok((counts, entry.indexes.iter().zip(indexes).filter_map(of_words).collect()))
}

struct Check<'c> {
    name: &'c str,
    snapshot: &'c dyn Snapshot,
    entry: &'c CollectionEntry,
    losing_leaves: u64,
    /// Rows that the index of access has to have in each order.
    marks: u64,
    report: &'c mut CheckReport,
}

/// The entries that an index should have, according to the documents.
#[derive(Clone, Default)]
struct InIndex {
    rows: u64,
    /// For an index of words: the counts that it should have.
    tally: Tally,
}

impl<'c> Check<'c> {
    fn of(collection: &'c CollectionAt, entry: &'c CollectionEntry, report: &'c mut CheckReport) -> Self {
        let (name, snapshot) = (&*collection.name, &*collection.snapshot);
        Check { name, snapshot, entry, losing_leaves: 0, marks: 0, report }
    }

    /// Looks at every document, and counts what they call for.
    fn count(&mut self) -> Result<(Counts, Vec<InIndex>, ContentsCheck<'c>)> {
        let mut found = Counts::default();
        let mut rows_of_indexes = vec![InIndex::default(); self.entry.indexes.len()];
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
        Ok((found, rows_of_indexes, contents))
    }

    fn run(&mut self, counts: Result<Counts>, purged: Seq) -> Result<()> {
        let (mut found, rows_of_indexes, contents) = self.count()?;
        found.changed = found.changed.max(purged);
        // Every expected entry was found, so an equal number means that there are no others.
        let (all, leaves) = (KeyRange::all(), KeyRange::prefix([side::LEAF]));
        self.rows_are("changes", self.entry.changes, &all, found.documents + found.deleted)?;
        self.rows_are("leaves that lose", self.entry.side, &leaves, self.losing_leaves)?;
        let entry = self.entry;
        for (index, InIndex { rows, tally }) in entry.indexes.iter().zip(rows_of_indexes) {
            if index.state == IndexState::Ready {
                let what = format!("index {}", index.spec.name);
                let counted = self.snapshot.get(index.tree, COUNTERS_KEY)?.filter(|_| index.spec.words.is_some());
                self.rows_are(&what, index.tree, &all, rows + u64::from(counted.is_some()))?;
                if let Some(counted) = counted.and_then(|counted| counters(&counted))
                    && counted != tally
                {
                    self.problem(format!("{what}: it counts {counted:?}, but the documents need {tally:?}"));
                }
            }
        }
        self.access_has_no_more()?;
        contents.rest(|what| self.problem(what))?;
        match counts {
            // What was rewritten is in no row.
            Ok(counts) if counts == Counts { rewritten: counts.rewritten, ..found } => {}
            Ok(counts) => self.problem(format!("the counts say {counts:?}, the documents {found:?}")),
            Err(error) => self.problem(error.to_string()),
        }
        Ok(())
    }

    fn document(&mut self, id: &str, row: &Row<'_>, found: &mut Counts, indexes: &mut [InIndex]) -> Result<()> {
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
        self.access(id, row)?;
        if head.deleted {
            return Ok(());
        }
        let body = stored::into_body(row.value.bytes.clone(), &head, &row.key)?;
        let entry = self.entry;
        let called_for = entry.keys().rows(&entry.indexes, &body, id)?;
        for ((index, found), called_for) in entry.indexes.iter().zip(indexes).zip(called_for) {
            if index.spec.words.is_some() {
                let [documents, length] = tally(&called_for);
                found.tally = [found.tally[0] + documents, found.tally[1] + length];
            }
            for row in called_for {
                found.rows += 1;
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

    /// Whether the index of access has a document.
    fn access(&mut self, id: &str, row: &Row<'_>) -> Result<()> {
        let ready = self.entry.access.as_ref().filter(|access| access.state == IndexState::Ready);
        let Some(access) = ready else { return Ok(()) };
        for mark in marks_of(self.snapshot, self.entry, access, id, &row.value)? {
            self.marks += 1;
            for key in [by_seq(&mark, row.value.seq, id), by_id(&mark, id)] {
                if self.snapshot.get(access.tree, &key)?.is_none_or(|row| is_lost(&row)) {
                    self.problem(format!("document {id:?} is not in the index of access"));
                }
            }
        }
        Ok(())
    }

    /// Whether the index of access has rows that no document calls for.
    fn access_has_no_more(&mut self) -> Result<()> {
        let ready = self.entry.access.as_ref().filter(|access| access.state == IndexState::Ready);
        let Some(access) = ready else { return Ok(()) };
        for kind in [BY_SEQ, BY_ID] {
            let mut rows = 0_u64;
            for row in self.snapshot.range(access.tree, &KeyRange::prefix([kind]), Direction::Forward) {
                rows += u64::from(!is_lost(&row?.value));
            }
            if rows != self.marks {
                let expected = self.marks;
                self.problem(format!("index of access: {rows} entries where the documents call for {expected}"));
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
            self.problem(format!("{what}: {rows} entries, but the documents need {expected}"));
        }
        Ok(())
    }

    fn problem(&mut self, what: String) {
        if self.report.problems.len() < CHECK_PROBLEMS_MAX {
            self.report.problems.push(CheckProblem { collection: self.name.to_owned(), what });
        }
    }
}
