//! Views in the commit: every writer of documents keeps the views that the catalogue lists, so that these are never
//! behind. Counts are counters, so that commits of different documents do not conflict. If a view's mapper is not known
//! here, fails, or would write too much, the commit leaves the view behind and says so in the catalogue. The view is
//! then kept behind the commits until it has caught up.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::engine::Snapshot;
use crate::kernel::overlay::Overlay;
use crate::kernel::read::reader::document_of;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use crate::kernel::rows::slot::Slot;
use crate::kernel::rows::stored;
use crate::kernel::rows::view_entry::{COUNT_KEY, ViewEntry, encode_kept, kept_in_commits, kept_key, view_key};
use crate::kernel::rows::view_rows::{TreeRows, decode_keys, encode_keys, of_document, rows_of};
use crate::kernel::view::blocks::BlocksInCommit;
use crate::kernel::view::mapper::{MapInput, View};
use crate::kernel::view::places::Places;
use recension_values::error::{Error, Result};
use recension_values::limits::{KNOWN_VIEWS_MAX, VIEW_ROWS_PER_COMMIT_MAX};
use recension_values::position::Position;
use recension_values::view::Signature;

/// Mappers of views that may be kept in commits, as far as they are known to a store. If one is lost, its view is kept
/// behind the commits until it is queried.
#[derive(Default)]
pub(crate) struct KnownViews(RwLock<HashMap<Signature, KnownView>>);

/// A view, and where its blocks are.
#[derive(Clone)]
struct KnownView {
    view: View,
    places: Arc<Mutex<Places>>,
}

impl KnownViews {
    /// Remembers a view.
    pub(crate) fn note(&self, view: &View) {
        if self.0.read().contains_key(&view.signature) {
            return;
        }
        let mut known = self.0.write();
        if known.len() >= KNOWN_VIEWS_MAX {
            known.clear();
        }
        known.insert(view.signature, KnownView { view: view.clone(), places: Arc::default() });
    }

    fn of(&self, signature: Signature) -> Option<KnownView> {
        self.0.read().get(&signature).cloned()
    }
}

/// Documents that a commit writes, as mappers see them; `None`: it is deleted.
type Written = BTreeMap<String, Option<MapInput>>;

/// Writes the rows of the views that are kept in commits, for the documents that an overlay has written. It is called
/// when the overlay is ready to be committed.
pub(crate) fn keep_views(view: &Overlay, slot: &Slot, known: &KnownViews) -> Result<()> {
    let Some(entry) = slot.entry_in(view)? else { return Ok(()) };
    let ids = view.written_keys(entry.documents);
    if ids.is_empty() {
        return Ok(());
    }
    let key = kept_key(&entry);
    let Some(list) = view.get(CATALOGUE, &key)?.map(|row| kept_in_commits(&row.bytes)).transpose()? else {
        return Ok(());
    };
    let written = ids.into_iter().map(|id| read(view, &entry, id)).collect::<Result<Written>>()?;
    let mut kept = Vec::with_capacity(list.len());
    for signature in &list {
        let Some(row) = view.base().get(CATALOGUE, &view_key(&entry, *signature))? else { continue };
        let (tree, seq) = (ViewEntry::decode(&row)?.tree, row.seq);
        let Some(own) = known.of(*signature) else {
            leave_behind(view, &entry, *signature)?;
            continue;
        };
        match rows(&own.view, &written) {
            Ok(Some(rows)) => {
                write(view, rows, BlocksInCommit::on(view, tree, seq, &own.places)?)?;
                kept.push(*signature);
            }
            // The next query of the view reports the error, if there is one.
            Ok(None) | Err(Error::Function { .. }) => leave_behind(view, &entry, *signature)?,
            Err(error) => return Err(error),
        }
    }
    match kept.len() {
        count if count == list.len() => {}
        0 => view.delete(CATALOGUE, &key),
        _ => view.put(CATALOGUE, &key, encode_kept(&kept)),
    }
    Ok(())
}

/// A document as the overlay has it.
fn read(view: &Overlay, entry: &CollectionEntry, id: Vec<u8>) -> Result<(String, Option<MapInput>)> {
    let unreadable = |_| stored::damaged(b"", "the id is not UTF-8");
    let id = String::from_utf8(id).map_err(unreadable)?;
    let Some(value) = view.get(entry.documents, id.as_bytes())? else { return Ok((id, None)) };
    let head = stored::decode(&value, id.as_bytes())?;
    if head.deleted {
        return Ok((id, None));
    }
    let leaves = stored::tree(&value, &head, id.as_bytes())?.leaves();
    let (gone, live): (Vec<_>, Vec<_>) =
        leaves.into_iter().filter(|leaf| leaf.rev != head.rev).partition(|leaf| leaf.deleted);
    let document = document_of(Cow::Owned(id.clone()), value)?.into_owned();
    let conflicts = live.into_iter().map(|leaf| leaf.rev).collect();
    let deleted_conflicts = gone.into_iter().map(|leaf| leaf.rev).collect();
    Ok((id, Some(MapInput { document, conflicts, deleted_conflicts })))
}

/// The documents' present rows; `None` if they are too many for one commit.
fn rows(view: &View, written: &Written) -> Result<Option<Vec<(String, TreeRows)>>> {
    let (mut rows, mut count) = (Vec::with_capacity(written.len()), 0);
    for (id, input) in written {
        let is_design = id.starts_with("_design/");
        let input = input.as_ref().filter(|_| !is_design || view.options.design_documents);
        let own = match input {
            Some(input) => {
                let emitted = view.mapper.map(std::slice::from_ref(input))?.pop().unwrap_or_default();
                let failed = |error: Error| Error::Function { error: "map".to_owned(), reason: error.to_string() };
                rows_of(id, emitted, view.options).map_err(failed)?
            }
            None => TreeRows::new(),
        };
        count += own.len();
        if count > VIEW_ROWS_PER_COMMIT_MAX {
            return Ok(None);
        }
        rows.push((id.clone(), own));
    }
    Ok(Some(rows))
}

/// Replaces documents' former rows by these.
fn write(view: &Overlay, documents: Vec<(String, TreeRows)>, mut blocks: BlocksInCommit<'_>) -> Result<()> {
    let tree = blocks.tree();
    let mut more = 0_i64;
    for (id, new) in documents {
        let list = of_document(&id);
        let listed = view.get(tree, &list)?.map(|row| row.bytes.into_owned()).unwrap_or_default();
        let old = decode_keys(&listed)?;
        for key in old.iter().filter(|key| !new.iter().any(|(own, _)| own == *key)) {
            view.delete(tree, key);
            blocks.note(key, -1)?;
            more -= 1;
        }
        let now = encode_keys(new.iter().map(|(key, _)| key.as_slice()));
        for (key, value) in new {
            let is_new = !old.contains(&key.as_slice());
            // An unchanged row is not written, so that reductions of its block stay valid.
            if !is_new && view.get(tree, &key)?.is_some_and(|row| *row.bytes == *value) {
                continue;
            }
            blocks.note(&key, i64::from(is_new))?;
            more += i64::from(is_new);
            view.put(tree, &key, value);
        }
        match (now.is_empty(), listed.is_empty()) {
            (true, false) => view.delete(tree, &list),
            (false, _) if now != listed => view.put(tree, &list, now),
            _ => {}
        }
    }
    if more != 0 {
        view.add(tree, COUNT_KEY, &[more]);
    }
    blocks.write()
}

/// Notes in the catalogue that a view has the changes up to the overlay's snapshot only.
fn leave_behind(view: &Overlay, entry: &CollectionEntry, signature: Signature) -> Result<()> {
    let key = view_key(entry, signature);
    let Some(own) = view.get(CATALOGUE, &key)?.map(|row| ViewEntry::decode(&row)).transpose()? else { return Ok(()) };
    let position = Position::from(view.base().seq());
    view.put(CATALOGUE, &key, ViewEntry { in_commit: false, position, ..own }.encode());
    Ok(())
}
