//! Applying writes to an overlay: reading the document, deciding, and writing documents, index rows, rows of changes
//! and counts together. The commit depends on all that was read.

use std::borrow::Cow;
use std::sync::Arc;

use crate::kernel::attachment;
use crate::kernel::overlay::Overlay;
use crate::kernel::read::ancestry::whole_tree;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use crate::kernel::rows::index_keys::RowsChange;
use crate::kernel::rows::index_rows::{IndexChange, To};
use crate::kernel::rows::slot::Slot;
use crate::kernel::rows::stored::{self, Section, StoredHead, StoredRow};
use crate::kernel::rows::trees::take_collection_trees;
use crate::kernel::write::guard::ToBe;
use crate::kernel::write::resolve::{Before, Content, Contents, DocumentRow, Next};
use recension_values::attachment::AttachmentInfo;
use recension_values::error::{Error, Result};
use recension_values::guard::Actor;
use recension_values::rev_hash::{AttachmentDigest, HashableBody, revision_id};
use recension_values::revid::RevId;
use recension_values::revision_tree::{Leaf, Line, RevisionTree};
use recension_values::schema::is_of_schema;
use recension_values::write::{Expect, Write};

/// Writes documents of one collection to an overlay.
pub(crate) struct Writer<'a> {
    pub(crate) view: &'a Overlay,
    pub(crate) slot: &'a Slot,
    /// `None`: the first write makes the collection.
    pub(crate) entry: Option<Arc<CollectionEntry>>,
    /// A write of a collection that does not exist is an error; it does not make the collection.
    pub(crate) must_exist: bool,
    /// Who writes; `None`: the program itself.
    pub(crate) actor: Option<Arc<dyn Actor>>,
    /// Whether unique indexes are asked when all of a merge is written ([`Writer::check_unique`]).
    pub(crate) judged_later: bool,
}

impl<'a> Writer<'a> {
    pub(crate) fn on(view: &'a Overlay, slot: &'a Slot) -> Result<Self> {
        Ok(Writer { view, slot, entry: slot.entry_in(view)?, must_exist: false, actor: None, judged_later: false })
    }

    /// Applies one write. After an error nothing of the write is in the overlay.
    pub(crate) fn write(&mut self, write: &Write) -> Result<RevId> {
        let id = write.id.as_deref().unwrap_or_default();
        self.ask_actor_of_edit(write, id)?;
        self.ask_guard_of_design(id, write.deleted, &write.body)?;
        let row = self.row(id)?;
        let guarded = self.is_guarded(id)?;
        if row.is_none() && self.actor.is_some() {
            self.check_unknown_parent(write, id, guarded)?;
        }
        if guarded {
            self.ask_guard_of(write, id)?;
        }
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
            && head.says(content.body.as_bytes(), write)
        {
            return Ok(head.rev);
        }
        if parent.is_some_and(|parent| parent.generation() == u32::MAX) {
            return Err(Error::TooManyRevisions { id: id.to_owned(), max: u32::MAX as usize });
        }
        let (body, hashable) = self.body_of(write, id, before.as_ref(), parent.as_ref())?;
        self.check_schema(id, write.deleted, &body)?;
        let infos = self.attachments_wanted(write, id, before.as_ref(), parent.as_ref())?;
        let digests: Vec<AttachmentDigest> = infos.iter().map(AttachmentInfo::hashable).collect();
        let rev = revision_id(parent.as_ref(), write.deleted, &hashable, &digests);
        let mut tree = match (&before, &self.entry, parent) {
            // Equal edits have equal revisions. An edit of a leaf may make a revision again that is folded away here.
            (Some(before), Some(entry), _) if before.tree.knows(&rev).is_none() => {
                whole_tree(self.view, entry.side, id, before.tree.clone())?
            }
            (Some(before), ..) => before.tree.clone(),
            // The document was never here, and its ancestor is known by name only.
            (None, _, Some(parent)) => RevisionTree::of_one(parent, false),
            (None, _, None) => RevisionTree::of_one(rev, write.deleted),
        };
        if let Some(parent) = parent {
            tree.append(&parent, rev, write.deleted);
        }
        let content = Content { body, attachments: attachment::encode(&infos).map(Cow::Owned) };
        let next = Next { tree, written: Contents::of_one(rev, content, &write.attachments), made_here: true };
        self.resolve(id, before.as_ref(), next)?;
        Ok(rev)
    }

    /// Refuses a client's write that names a revision of a document that was never here, where CouchDB does: it looks
    /// for the document only if it validates the write, as it does the first one of a collection.
    fn check_unknown_parent(&self, write: &Write, id: &str, guarded: bool) -> Result<()> {
        let Expect::Leaf(rev) = write.expect else { return Ok(()) };
        let looks = guarded || id.starts_with("_design/") || !write.attachments.brings_none();
        // As it was before: the commit does not depend on it, since every commit changes it.
        if looks || self.view.base().get(CATALOGUE, &self.slot.counts_key)?.is_none() {
            return Err(Error::conflict(id, Some(rev), None, false));
        }
        Ok(())
    }

    /// Asks the guard, if the write would take place.
    fn ask_guard_of(&self, write: &Write, id: &str) -> Result<()> {
        let before = self.read(id)?;
        let tree = before.as_ref().map(|before| &before.tree);
        let leaf = |rev: &RevId| tree.and_then(|tree| tree.leaf(rev));
        let parent = parent_of(&self.slot.name, write, id, before.as_ref().map(|before| &before.head), leaf)?;
        // The revision after a deletion names none.
        let parent = parent.filter(|parent| leaf(parent).is_some_and(|leaf| !leaf.deleted));
        let (body, _) = self.body_of(write, id, before.as_ref(), parent.as_ref())?;
        let attachments = self.attachments_wanted(write, id, before.as_ref(), parent.as_ref())?;
        let next = ToBe { deleted: write.deleted, body: &body, attachments: &attachments };
        self.ask_guard(id, parent.as_slice(), next, before.as_ref())
    }

    /// Writes the next revision of a document that has no attachments and whose tree is one line, as nearly every write
    /// does. `None`: the write is not that simple, and nothing was done.
    fn write_next(&mut self, write: &Write, id: &str, row: &DocumentRow<'_>) -> Result<Option<RevId>> {
        let DocumentRow { head, value, .. } = row;
        let Some(entry) = &self.entry else { return Ok(None) };
        if head.attachments || !write.attachments.brings_none() || write.same_body {
            return Ok(None);
        }
        let tree = stored::section(value, head, Section::Tree);
        // This is decided before the revision is hashed, since hashing is most of the work of a large document.
        let line = Line::of(tree, &head.rev, head.deleted).filter(|line| line.has_room(entry.revs_limit));
        let Some(line) = line else { return Ok(None) };
        let leaf = |rev: &RevId| (*rev == head.rev).then_some(Leaf { rev: head.rev, deleted: head.deleted });
        let parent = parent_of(&self.slot.name, write, id, Some(head), leaf)?;
        if parent != Some(head.rev) || head.rev.generation() == u32::MAX {
            return Ok(None);
        }
        if value.get(..head.body_len).is_some_and(|body| head.says(body, write)) {
            return Ok(Some(head.rev));
        }
        self.check_schema(id, write.deleted, &write.body)?;
        let rev = revision_id(parent.as_ref(), write.deleted, &write.hashable, &[]);
        let Some(tree) = line.next(&rev, write.deleted, entry.revs_limit) else { return Ok(None) };
        self.write_line(write, id, Some(row), rev, Some(&tree))?;
        Ok(Some(rev))
    }

    /// Writes the first revision of a document that was never here and has no attachments. `None`: the write is not
    /// that simple, and nothing was done.
    fn write_first(&mut self, write: &Write, id: &str) -> Result<Option<RevId>> {
        if !write.attachments.brings_none() || write.same_body {
            return Ok(None);
        }
        // The document was never here, but its ancestor may be known by name.
        if parent_of(&self.slot.name, write, id, None, |_| None)?.is_some() {
            return Ok(None);
        }
        self.check_schema(id, write.deleted, &write.body)?;
        let rev = revision_id(None, write.deleted, &write.hashable, &[]);
        self.write_line(write, id, None, rev, None)?;
        Ok(Some(rev))
    }

    /// Writes all rows that follow from a revision of a document without attachments whose tree is one line. After an
    /// error nothing of the write is in the overlay.
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
            self.index_changes(id, old, (!deleted).then_some(body), !self.judged_later)?
        } else {
            Vec::new()
        };
        let entry = self.entry_or_new()?;
        self.change_indexes(changes);
        self.note_validator(&entry, id, (!deleted).then_some(body))?;
        let row = StoredRow { body, rev: &rev, deleted: *deleted, tree, attachments: None };
        self.view.put(entry.documents, id.as_bytes(), row.encode());
        let leaf = Leaf { rev, deleted: *deleted };
        self.note_change(&entry, id, before.map(|row| (&row.head, row.seq)), Some((&leaf, body.len())));
        Ok(())
    }

    /// The body that the document is to have: the write's own, or that of the parent revision.
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

    /// Whether the collection's schema lets a document say `body`. Deletions and design documents are not of it.
    pub(crate) fn check_schema(&self, id: &str, deleted: bool, body: &str) -> Result<()> {
        match self.entry.as_ref().and_then(|entry| entry.schema.as_ref()) {
            Some(schema) if !deleted && is_of_schema(id) => schema.check(id, body),
            _ => Ok(()),
        }
    }

    /// The attachments that the document is to have.
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
        // A document that is made again after its deletion keeps nothing of the deletion.
        let gone =
            |before: &Before, parent| write.same_body && before.tree.leaf(parent).is_none_or(|leaf| leaf.deleted);
        let of_parent = match (before, parent) {
            (Some(before), Some(parent)) if !gone(before, parent) => self.attachments_of(id, before, parent)?,
            _ => Vec::new(),
        };
        write.attachments.resolve(id, parent.map_or(1, |parent| parent.generation().saturating_add(1)), &of_parent)
    }

    /// The changes of index rows for a document whose body changes from `old` to `new`. `refusable`: it is an error if
    /// another document has a new value in a unique index.
    pub(crate) fn index_changes(
        &self,
        id: &str,
        old: Option<&str>,
        new: Option<&str>,
        refusable: bool,
    ) -> Result<Vec<IndexChange>> {
        let Some(entry) = self.entry.as_ref().filter(|entry| !entry.indexes.is_empty()) else { return Ok(Vec::new()) };
        let mut changes = Vec::new();
        for change in entry.keys().changes(&entry.indexes, old, new, id) {
            let RowsChange { index, gone, new, counted } = change?;
            if let Some(counted) = counted {
                index.count(self.view, counted, id, &mut changes)?;
            }
            for row in gone {
                index.remove(self.view, row.key, id, &mut changes)?;
            }
            for row in new {
                index.add(self.view, row, id, refusable, &mut changes).map_err(|error| self.told(error))?;
            }
        }
        Ok(changes)
    }

    /// Returns an error if another document has one of a document's values in a unique index, and `merged` has its
    /// revision: what stood there before is not judged.
    pub(crate) fn check_unique(&self, id: &str, merged: impl Fn(&RevId) -> bool) -> Result<()> {
        if !self.entry.as_ref().is_some_and(|entry| entry.indexes.iter().any(|index| index.spec.unique)) {
            return Ok(());
        }
        match self.read(id)?.filter(|found| !found.head.deleted && merged(&found.head.rev)) {
            Some(found) => self.index_changes(id, None, Some(&found.content.body), true).map(drop),
            None => Ok(()),
        }
    }

    pub(crate) fn change_indexes(&self, changes: Vec<IndexChange>) {
        for IndexChange { tree, key, to } in changes {
            match to {
                To::Value(value) => self.view.put(tree, &key, value),
                To::Nothing => self.view.delete(tree, &key),
                To::More(more) => self.view.add(tree, &key, &more),
            }
        }
    }

    /// Changes the collection's row in the catalogue.
    pub(crate) fn change_entry(&mut self, change: impl FnOnce(&mut CollectionEntry)) -> Result<()> {
        let mut entry = CollectionEntry::clone(&*self.entry_or_new()?);
        change(&mut entry);
        self.view.put(CATALOGUE, &self.slot.key, entry.encode());
        self.entry = Some(Arc::new(entry));
        Ok(())
    }

    pub(crate) fn entry_or_new(&mut self) -> Result<Arc<CollectionEntry>> {
        if let Some(entry) = &self.entry {
            return Ok(entry.clone());
        }
        if self.must_exist {
            return Err(Error::NoSuchCollection { collection: self.slot.name.clone() });
        }
        let entry = Arc::new(CollectionEntry::new(take_collection_trees(self.view, &self.slot.name)?));
        self.view.put(CATALOGUE, &self.slot.key, entry.encode());
        self.entry = Some(entry.clone());
        Ok(entry)
    }
}

/// The parent revision of a write, if what the write expects holds; `None`: it is the first revision.
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
    // A write that extends a deletion names no revision.
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
