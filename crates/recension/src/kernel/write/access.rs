//! The index of access in commits: whoever writes documents keeps it, from the commit that declared it. It follows
//! from the leaves of a document as it was before the commit and as the overlay has it. A document that loses a mark
//! leaves a row, so that whoever may see documents with that mark is told. docs/documents-format.md, "The index of
//! access".

use std::collections::BTreeSet;

use crate::engine::{Seq, Snapshot, Value};
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::access_rows::{AccessEntry, BY_SEQ, Mark, by_id, by_seq, is_lost, value};
use crate::kernel::rows::catalogue::CollectionEntry;
use crate::kernel::rows::side;
use crate::kernel::rows::slot::Slot;
use crate::kernel::rows::stored;
use recension_values::error::Result;

/// Writes what becomes of the index of access, by the documents that an overlay has written. To be called when the
/// overlay is ready to be committed.
pub(crate) fn keep_access(view: &Overlay, slot: &Slot) -> Result<()> {
    let Some(entry) = slot.entry_in(view)? else { return Ok(()) };
    let Some(access) = &entry.access else { return Ok(()) };
    for key in view.written_keys(entry.documents) {
        let id = std::str::from_utf8(&key).map_err(|_| stored::damaged(&key, "the id is not UTF-8"))?;
        let old = view.base().get(entry.documents, &key)?;
        let before = old.as_ref().map(|row| marks_of(view.base(), &entry, access, id, row)).transpose()?;
        let now = view.get(entry.documents, &key)?;
        let now = now.map(|row| marks_of(view, &entry, access, id, &row)).transpose()?;
        let last = Former { marks: before.unwrap_or_default(), seq: old.map(|row| row.seq) };
        write(view, access, id, &last, &now.unwrap_or_default())?;
    }
    Ok(())
}

/// The marks that the leaves of a document have, whose row is given.
pub(crate) fn marks_of(
    snapshot: &dyn Snapshot,
    entry: &CollectionEntry,
    access: &AccessEntry,
    id: &str,
    row: &Value<'_>,
) -> Result<BTreeSet<Mark>> {
    let mut marks = BTreeSet::new();
    let head = stored::decode(&row.bytes, id.as_bytes())?;
    if !head.deleted {
        access.mark(id, stored::body(&row.bytes, &head, id.as_bytes())?, &mut marks);
    }
    if stored::section(&row.bytes, &head, stored::Section::Tree).is_none() {
        return Ok(marks);
    }
    let losing = stored::tree(&row.bytes, &head, id.as_bytes())?.leaves();
    for leaf in losing.into_iter().filter(|leaf| leaf.rev != head.rev && !leaf.deleted) {
        let key = side::revision_key(side::LEAF, id, &leaf.rev);
        let Some(row) = snapshot.get(entry.side, &key)? else { continue };
        let head = stored::decode(&row.bytes, id.as_bytes())?;
        access.mark(id, stored::body(&row.bytes, &head, id.as_bytes())?, &mut marks);
    }
    Ok(marks)
}

/// What a document had before the commit.
struct Former {
    marks: BTreeSet<Mark>,
    /// The commit that wrote its row.
    seq: Option<Seq>,
}

/// `now`: the marks that the document has; of one that is purged, none.
fn write(view: &Overlay, access: &AccessEntry, id: &str, before: &Former, now: &BTreeSet<Mark>) -> Result<()> {
    let at_own_seq = |mark: &Mark, lost| {
        view.put_at_own_seq(access.tree, &[&[BY_SEQ][..], mark].concat(), id.as_bytes(), value(lost));
    };
    for mark in &before.marks {
        if let Some(seq) = before.seq {
            view.delete(access.tree, &by_seq(mark, seq, id));
        }
        let lost = !now.contains(mark);
        at_own_seq(mark, lost);
        if lost {
            view.put(access.tree, &by_id(mark, id), value(true));
        }
    }
    for mark in now.difference(&before.marks) {
        let key = by_id(mark, id);
        if let Some(row) = view.get(access.tree, &key)?
            && is_lost(&row.bytes)
        {
            let (tree, lost) = (access.tree, by_seq(mark, row.seq, id));
            drop(row);
            view.delete(tree, &lost);
        }
        at_own_seq(mark, false);
        view.put(access.tree, &key, value(false));
    }
    // A mark that stayed while the index was being built may have no row in the order of ids: the build adds it.
    Ok(())
}
