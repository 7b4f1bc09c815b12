//! Applying writes to a view: reading what is there, deciding, and writing documents, index entries, the
//! changes' rows and the counts together. The commit then depends on all that was read.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Bound;
use std::sync::Arc;

use super::ancestry::whole_tree;
use super::attachment;
use super::catalogue::{CATALOGUE, CollectionEntry};
use super::index_keys::{IndexRow, RowsChange, row_texts};
use super::index_rows::IndexChange;
use super::index_spec::IndexSpec;
use super::reader::after_prefix;
use super::rev_hash::{AttachmentDigest, HashableBody, revision_id};
use super::revision_tree::{Leaf, Line, RevisionTree};
use super::settle::{Before, Content, DocumentRow, Next};
use super::store::{Attempt, Slot, Store, retry, take_trees};
use super::stored::{self, Section, StoredHead, StoredRow};
use super::view::View;
use super::{At, AttachmentInfo, Collection, Error, Expect, Result, RevId, Write, Written};
use crate::engine::{Batch, CommitInfo, KeyRange, Snapshot};

/// Applies one write.
pub(super) fn apply_one(collection: &Collection, mut write: Write) -> Result<Written> {
    ensure_id(collection.store(), &mut write)?;
    let (rev, commit) = in_one_commit(collection, |writer| writer.write(&write))?;
    Ok(receipt(write, rev, commit))
}

/// What is known of a write that was committed.
pub(super) fn receipt(write: Write, rev: RevId, CommitInfo { seq, time }: CommitInfo) -> Written {
    Written { id: write.id.unwrap_or_default(), rev, seq, time }
}

/// Applies writes in one commit, with a result for each.
pub(super) fn apply(
    collection: &Collection,
    mut writes: Vec<Write>,
    stop: fn(&Error) -> bool,
) -> Result<Vec<Result<Written>>> {
    for write in &mut writes {
        ensure_id(collection.store(), write)?;
    }
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    let (decided, CommitInfo { seq, time }) = in_one_commit(collection, |writer| {
        let mut ids = HashSet::new();
        let mut decide = |write| {
            let Write { id, .. }: &Write = write;
            let id = id.as_deref().unwrap_or_default();
            if ids.contains(id) {
                return Err(Error::conflict(id, None, None, false));
            }
            let rev = writer.write(write)?;
            ids.insert(id);
            Ok(rev)
        };
        let mut decided: Vec<Result<RevId>> = Vec::with_capacity(writes.len());
        for write in &writes {
            decided.push(decide(write));
            if matches!(decided.last(), Some(Err(error)) if stop(error)) {
                break;
            }
        }
        Ok(decided)
    })?;
    let receipt = |(write, rev): (&Write, Result<RevId>)| {
        rev.map(|rev| Written { id: write.id.clone().unwrap_or_default(), rev, seq, time })
    };
    Ok(writes.iter().zip(decided).map(receipt).collect())
}

/// Gives the write an id where it has none.
pub(super) fn ensure_id(store: &Store, write: &mut Write) -> Result<()> {
    if write.id.is_none() {
        write.id = Some(new_id(store)?);
    }
    Ok(())
}

/// Runs `body` on a writer of the collection and commits what it has written; where others wrote what it had
/// read, again. Where it wrote nothing, there is no commit, and the moment that was read is answered.
pub(super) fn in_one_commit<T>(
    collection: &Collection,
    body: impl Fn(&mut Writer<'_>) -> Result<T>,
) -> Result<(T, CommitInfo)> {
    retry(|| match decide(collection, &body)? {
        Decided::Done(answer, commit) => Ok(Attempt::Done((answer, commit))),
        Decided::Commits(mut commits) => {
            let commit = collection.store().engine().commit(commits.take_batch());
            commits.committed(collection, commit)
        }
    })
}

/// Runs `body` on a writer of the collection, up to the commit.
pub(super) fn decide<T>(
    collection: &Collection,
    body: impl FnOnce(&mut Writer<'_>) -> Result<T>,
) -> Result<Decided<T>> {
    let view = View::new(collection.store().snapshot(At::Now)?);
    let mut writer = Writer { must_exist: collection.must_exist, ..Writer::on(&view, &collection.slot)? };
    let answer = body(&mut writer)?;
    let batch = view.batch();
    if batch.is_empty() {
        let commit = CommitInfo { seq: view.seq(), time: view.time()? };
        return Ok(Decided::Done(answer, commit));
    }
    Ok(Decided::Commits(Commits { answer, view, batch }))
}

/// What was decided as of a moment.
#[expect(clippy::large_enum_variant, reason = "it is taken apart where it is made")]
pub(super) enum Decided<T> {
    /// Nothing is written.
    Done(T, CommitInfo),
    /// A batch is to be committed.
    Commits(Commits<T>),
}

pub(super) struct Commits<T> {
    answer: T,
    view: View,
    batch: Batch,
}

impl<T> Commits<T> {
    /// What is to be committed.
    pub(super) fn take_batch(&mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }

    /// What came of the commit.
    pub(super) fn committed(
        self,
        collection: &Collection,
        commit: crate::engine::Result<CommitInfo>,
    ) -> Result<Attempt<(T, CommitInfo)>> {
        let tried = collection.store().tried(commit, std::slice::from_ref(&collection.slot))?;
        Ok(tried.map(|commit| {
            collection.slot.committed(&self.view, commit.seq);
            (self.answer, commit)
        }))
    }
}

/// Writes documents of one collection to a view.
pub(super) struct Writer<'a> {
    pub(super) view: &'a View,
    pub(super) slot: &'a Slot,
    /// `None`: the collection comes into being with its first write.
    pub(super) entry: Option<Arc<CollectionEntry>>,
    /// It does not: it is an error then.
    pub(super) must_exist: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn on(view: &'a View, slot: &'a Slot) -> Result<Self> {
        Ok(Writer { view, slot, entry: slot.entry_in(view)?, must_exist: false })
    }

    /// Applies one write. After an error nothing of it is in the view.
    pub(super) fn write(&mut self, write: &Write) -> Result<RevId> {
        let id = write.id.as_deref().unwrap_or_default();
        let row = self.row(id)?;
        let simple = match &row {
            Some(row) => self.write_next(write, id, row)?,
            None => self.write_first(write, id)?,
        };
        if let Some(rev) = simple {
            return Ok(rev);
        }
        let before = row.map(|row| Before::of(row, id)).transpose()?;
        let tree = before.as_ref().map(|before| &before.tree);
        let leaf = |rev: &RevId| tree.and_then(|tree| tree.leaf(rev));
        let parent = parent_of(&self.slot.name, write, id, before.as_ref().map(|before| &before.head), leaf)?;
        if let Some(Before { head, content, .. }) = &before
            && parent == Some(head.rev)
            && write.is_said_by(head, content.body.as_bytes())
        {
            return Ok(head.rev);
        }
        if parent.is_some_and(|parent| parent.generation() == u32::MAX) {
            return Err(Error::TooManyRevisions { id: id.to_owned(), max: u32::MAX as usize });
        }
        let (body, hashable) = self.body_of(write, id, before.as_ref(), parent.as_ref())?;
        let infos = self.attachments_wanted(write, id, before.as_ref(), parent.as_ref())?;
        let digests: Vec<AttachmentDigest> = infos.iter().map(AttachmentInfo::hashable).collect();
        let rev = revision_id(parent.as_ref(), write.deleted, &hashable, &digests);
        let mut tree = match (&before, &self.entry, parent) {
            // Equal edits have equal revisions: on a leaf that others had stemmed, one may make again what is folded away here.
            (Some(before), Some(entry), _) if before.tree.knows(&rev).is_none() => {
                whole_tree(self.view, entry.side, id, before.tree.clone())?
            }
            (Some(before), ..) => before.tree.clone(),
            // The ancestor of a document that was never here is known by name.
            (None, _, Some(parent)) => RevisionTree::of_one(parent, false),
            (None, _, None) => RevisionTree::of_one(rev, write.deleted),
        };
        if let Some(parent) = parent {
            tree.append(&parent, rev, write.deleted);
        }
        let content = Content { body, attachments: attachment::encode(&infos).map(Cow::Owned) };
        let next = Next { tree, written: Some((rev, content)), wanted: Some(&write.attachments), made_here: true };
        self.settle(id, before.as_ref(), next)?;
        Ok(rev)
    }

    /// Writes the next revision of a document that has no attachments and whose tree is one line: what nearly every write
    /// is. `None`: it is not that simple, and nothing was done.
    fn write_next(&mut self, write: &Write, id: &str, row: &DocumentRow<'_>) -> Result<Option<RevId>> {
        let DocumentRow { head, value, .. } = row;
        let Some(entry) = &self.entry else { return Ok(None) };
        if head.attachments || !write.attachments.brings_none() || write.same_body {
            return Ok(None);
        }
        let tree = stored::section(value, head, Section::Tree);
        // Told before the revision is hashed, which is most of the work of a large document.
        let line = Line::of(tree, &head.rev, head.deleted).filter(|line| line.has_room(entry.revs_limit));
        let Some(line) = line else { return Ok(None) };
        let leaf = |rev: &RevId| (*rev == head.rev).then_some(Leaf { rev: head.rev, deleted: head.deleted });
        let parent = parent_of(&self.slot.name, write, id, Some(head), leaf)?;
        if parent != Some(head.rev) || head.rev.generation() == u32::MAX {
            return Ok(None);
        }
        if value.get(..head.body_len).is_some_and(|body| write.is_said_by(head, body)) {
            return Ok(Some(head.rev));
        }
        let rev = revision_id(parent.as_ref(), write.deleted, &write.hashable, &[]);
        let Some(tree) = line.next(&rev, write.deleted, entry.revs_limit) else { return Ok(None) };
        self.write_line(write, id, Some(row), rev, Some(&tree))?;
        Ok(Some(rev))
    }

    /// Writes the first revision of a document that was never here and has no attachments. `None`: it is not that simple,
    /// and nothing was done.
    fn write_first(&mut self, write: &Write, id: &str) -> Result<Option<RevId>> {
        if !write.attachments.brings_none() || write.same_body {
            return Ok(None);
        }
        // The ancestor of a document that was never here may be known by name.
        if parent_of(&self.slot.name, write, id, None, |_| None)?.is_some() {
            return Ok(None);
        }
        let rev = revision_id(None, write.deleted, &write.hashable, &[]);
        self.write_line(write, id, None, rev, None)?;
        Ok(Some(rev))
    }

    /// Writes all that follows from a revision of a document without attachments whose tree is one line. After an error
    /// nothing of it is in the view.
    fn write_line(
        &mut self,
        write: &Write,
        id: &str,
        before: Option<&DocumentRow<'_>>,
        rev: RevId,
        tree: Option<&[u8]>,
    ) -> Result<()> {
        let Write { body, deleted, .. } = write;
        let changes = if self.entry.as_ref().is_some_and(|entry| !entry.indexes.is_empty()) {
            let old = before.filter(|row| !row.head.deleted);
            let old = old.map(|row| stored::body(&row.value, &row.head, id.as_bytes())).transpose()?;
            self.index_changes(id, old, (!deleted).then_some(body), true)?
        } else {
            Vec::new()
        };
        let entry = self.entry_or_new()?;
        self.change_indexes(changes);
        let row = StoredRow { body, rev: &rev, deleted: *deleted, tree, attachments: None };
        self.view.put(entry.documents, id.as_bytes(), row.encode());
        let leaf = Leaf { rev, deleted: *deleted };
        self.note_change(&entry, id, before.map(|row| (&row.head, row.seq)), Some((&leaf, body.len())));
        Ok(())
    }

    /// What the document shall say: the write's own body, or what the revision says that it stands on.
    fn body_of<'w>(
        &self,
        write: &'w Write,
        id: &str,
        before: Option<&Before>,
        parent: Option<&RevId>,
    ) -> Result<(Cow<'w, str>, Cow<'w, HashableBody>)> {
        let own = (Cow::Borrowed(&*write.body), Cow::Borrowed(&write.hashable));
        let Some(parent) = parent.filter(|_| write.same_body) else { return Ok(own) };
        let Some(before) = before else {
            return Err(Error::conflict(id, Some(*parent), None, false));
        };
        let Some(body) = self.live_body_of(id, before, parent)? else { return Ok(own) };
        let hashable = HashableBody::of(&body)?;
        Ok((Cow::Owned(body), Cow::Owned(hashable)))
    }

    /// The attachments that the document shall have.
    fn attachments_wanted(
        &self,
        write: &Write,
        id: &str,
        before: Option<&Before>,
        parent: Option<&RevId>,
    ) -> Result<Vec<AttachmentInfo>> {
        if write.attachments.is_nothing() {
            return Ok(Vec::new());
        }
        // Nothing of a deletion is left when the document is made again.
        let gone =
            |before: &Before, parent| write.same_body && before.tree.leaf(parent).is_none_or(|leaf| leaf.deleted);
        let of_parent = match (before, parent) {
            (Some(before), Some(parent)) if !gone(before, parent) => self.attachments_of(id, before, parent)?,
            _ => Vec::new(),
        };
        write.attachments.resolve(id, parent.map_or(1, |parent| parent.generation().saturating_add(1)), &of_parent)
    }

    /// What the indexes have to change for a document that said `old` and shall say `new`. Where it is `refusable`, an
    /// error where a unique index has a new value of it already.
    pub(super) fn index_changes(
        &self,
        id: &str,
        old: Option<&str>,
        new: Option<&str>,
        refusable: bool,
    ) -> Result<Vec<IndexChange>> {
        let Some(entry) = self.entry.as_ref().filter(|entry| !entry.indexes.is_empty()) else { return Ok(Vec::new()) };
        let mut changes = Vec::new();
        for change in entry.keys().changes(&entry.indexes, old, new, id) {
            let RowsChange { index, gone, new } = change?;
            for row in gone {
                index.remove(self.view, row.key, id, &mut changes)?;
            }
            for row in new {
                index.add(self.view, row, id, refusable, &mut changes)?;
            }
        }
        Ok(changes)
    }

    pub(super) fn change_indexes(&self, changes: Vec<IndexChange>) {
        for IndexChange { tree, key, value } in changes {
            match value {
                Some(value) => self.view.put(tree, &key, value),
                None => self.view.delete(tree, &key),
            }
        }
    }

    /// Changes the collection's row in the catalogue.
    pub(super) fn change_entry(&mut self, change: impl FnOnce(&mut CollectionEntry)) -> Result<()> {
        let mut entry = CollectionEntry::clone(&*self.entry_or_new()?);
        change(&mut entry);
        self.view.put(CATALOGUE, &self.slot.key, entry.encode());
        self.entry = Some(Arc::new(entry));
        Ok(())
    }

    pub(super) fn entry_or_new(&mut self) -> Result<Arc<CollectionEntry>> {
        if let Some(entry) = &self.entry {
            return Ok(entry.clone());
        }
        if self.must_exist {
            return Err(Error::NoSuchCollection { collection: self.slot.name.clone() });
        }
        let entry = Arc::new(CollectionEntry::new(take_trees(self.view)?));
        self.view.put(CATALOGUE, &self.slot.key, entry.encode());
        self.entry = Some(entry.clone());
        Ok(entry)
    }
}

/// The revision that a write stands on, where what it expects is so; `None`: it is the first.
fn parent_of(
    collection: &str,
    write: &Write,
    id: &str,
    head: Option<&StoredHead>,
    leaf: impl Fn(&RevId) -> Option<Leaf>,
) -> Result<Option<RevId>> {
    let conflict = |expected| {
        let deleted = head.is_some_and(|head| head.deleted);
        Err(Error::conflict(id, expected, head.map(|head| head.rev), deleted))
    };
    let winner = head.map(|head| head.rev);
    let lives = head.is_some_and(|head| !head.deleted);
    // Whoever extends a deletion says so by naming no revision.
    let leaf = |rev: &RevId| leaf(rev).filter(|_| lives);
    match write.expect {
        Expect::Absent if lives => conflict(None),
        Expect::Anything if write.deleted && !lives => {
            Err(Error::NoSuchDocument { collection: collection.to_owned(), id: id.to_owned() })
        }
        Expect::Anything | Expect::Absent => Ok(winner),
        Expect::Revision(rev) if leaf(&rev).is_some_and(|leaf| !leaf.deleted) => Ok(Some(rev)),
        Expect::Leaf(rev) if head.is_none() || leaf(&rev).is_some() => Ok(Some(rev)),
        Expect::Revision(rev) | Expect::Leaf(rev) => conflict(Some(rev)),
    }
}

/// The keys of an index whose value is `value`.
pub(super) fn value_range(value: &[u8]) -> KeyRange {
    KeyRange { start: Bound::Included(value.to_vec()), end: after_prefix(value) }
}

pub(super) fn not_unique(spec: &IndexSpec, row: &IndexRow, id: &str, holder: &str) -> Error {
    let texts = row_texts(spec, &row.key, &row.value).ok().flatten().unwrap_or_default();
    let value = texts.join(", ");
    let mut shown: String = value.chars().take(60).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    Error::NotUnique { index: spec.name.clone(), value: shown, id: id.to_owned(), holder: holder.to_owned() }
}

/// An id like no other: 12 hexadecimal digits of the time in milliseconds, so that new documents lie
/// beside each other, and 20 of chance.
pub(super) fn new_id(store: &Store) -> Result<String> {
    let mut chance = [0; 10];
    getrandom::fill(&mut chance).map_err(|error| {
        crate::engine::EngineError::io("asking for random bytes", std::io::Error::other(error.to_string()))
    })?;
    let millis = store.now().0 / 1000;
    let mut id = format!("{:012x}", millis & 0xffff_ffff_ffff);
    for byte in chance {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}
