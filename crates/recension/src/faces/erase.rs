//! Erasing: documents leave every moment of the store. What remains is a record that something was erased, and when. An
//! order in the catalogue makes it atomic: whoever opens a store and finds an order carries it out before any read.
//! docs/internals/erase.md has the design.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, EngineError, ErasedKey, ErasedVersions, KeyRange, Seq, Snapshot};
use crate::faces::collection::Collection;
use crate::faces::commit::in_one_commit;
use crate::faces::store::Store;
use crate::faces::views::forget_views_in;
use crate::kernel::changes::change::{Change, Position, change_key};
use crate::kernel::overlay::Overlay;
use crate::kernel::read::ancestry::whole_tree;
use crate::kernel::read::erased_rows::{EraseProgress, erased_rows, position_in};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{
    BuildCursor, CATALOGUE, CollectionEntry, ERASURES_PREFIX, build_key, collection_key,
};
use crate::kernel::rows::consumer_rows::{self, ConsumerKey};
use crate::kernel::rows::erasure::{Erasure, Order};
use crate::kernel::rows::key_rows::{SpaceTrees, encode_entry};
use crate::kernel::rows::side;
use crate::kernel::write::attempt::{Attempt, retry};
use crate::kernel::write::resolve::{Contents, Next};
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::key_value::KeyValue;
use recension_values::limits::{ERASED_IDS_MAX, ERASED_KEYS_AT_ONCE};
use recension_values::model::IndexState;
use recension_values::write::check_id;

impl Collection {
    /// Erases documents: they, their revisions, attachments, index entries and changes leave every moment, in this
    /// collection, on every branch of the store, and in dropped ones of its name. When it returns no read finds them; a snapshot that was open
    /// before may go on answering. After the next [`Store::compact`] no byte of them is in any file of the store.
    ///
    /// No trace of the ids is kept, so an erasure is no replicated deletion. Every replica has to be told; a replica
    /// that was not can bring the document back. Earlier backups and copies keep the documents.
    ///
    /// It takes time in proportion to the keys of the collection, its past included. Others read and write meanwhile.
    ///
    /// # Errors
    /// [`Error::OutOfBounds`] beyond 1,000 ids; [`Error::BadName`] for what is no id; [`EngineError::Unsupported`].
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// use recension::At;
    /// let store = recension::open("memory:")?;
    /// let people = store.collection("people")?;
    /// let written = people.put("ada", r#"{"born":1815}"#)?;
    /// assert_eq!(people.erase(["ada"])?.documents, 1);
    /// assert!(people.get("ada")?.is_none());
    /// assert!(people.at(At::Seq(written.seq))?.get("ada")?.is_none());
    /// store.compact()?; // the bytes go
    /// # Ok(()) }
    /// ```
    pub fn erase<I: Into<String>>(&self, ids: impl IntoIterator<Item = I>) -> Result<Erasure> {
        self.erase_with(ids, |_| ())
    }

    /// As [`Collection::erase`], with calls of `progress`.
    pub fn erase_with<I: Into<String>>(
        &self,
        ids: impl IntoIterator<Item = I>,
        mut progress: impl FnMut(EraseProgress),
    ) -> Result<Erasure> {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let mut known = HashSet::new();
        let ids: Vec<String> = ids.into_iter().filter(|id| known.insert(id.clone())).collect();
        ids.iter().try_for_each(|id| check_id(id))?;
        if ids.len() > ERASED_IDS_MAX {
            let value = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            return Err(Error::OutOfBounds {
                what: "the number of documents that are erased at once",
                value,
                max: ERASED_IDS_MAX as u32,
            });
        }
        // Before anything is erased, the documents are taken away everywhere: a branch shows what others have.
        let mut ordered = vec![(self.clone(), self.order_erasure(&ids)?)];
        for line in self.store().other_lines()? {
            let there = line.collection(self.name())?;
            let order = there.order_erasure(&ids)?;
            ordered.push((there, order));
        }
        let mut erasure: Option<Erasure> = None;
        for (there, order) in ordered {
            let Some((seq, order)) = order else { continue };
            let done = there.store().carry_out(seq, &order, &mut progress)?;
            let documents = erasure.as_ref().map_or(0, |own| own.documents).max(done.documents);
            erasure = Some(Erasure { documents, ..erasure.unwrap_or(done) });
        }
        let now = self.store().snapshot(At::Now)?;
        let nothing = || Ok(Erasure { seq: now.seq(), time: now.time()?, documents: 0 });
        erasure.map_or_else(nothing, Ok)
    }

    /// Takes documents away, and orders their erasure; `None` if there was never such a collection here.
    fn order_erasure(&self, ids: &[String]) -> Result<Option<(Seq, Order)>> {
        let now = self.store().snapshot(At::Now)?;
        let never = now.keys(CATALOGUE, &KeyRange::only(collection_key(self.name()))).next().transpose()?.is_none();
        if never || ids.is_empty() {
            return Ok(None);
        }
        drop(now);
        let order = Order { collection: self.name().to_owned(), ids: ids.to_vec() };
        let ((), ordered) = in_one_commit(self, |writer| {
            order.ids.iter().try_for_each(|id| writer.take_away(id))?;
            if let Some(entry) = writer.entry.clone() {
                // Counts in views would be wrong: the views are built again.
                forget_views_in(writer.view, &entry, self.name())?;
            }
            writer.view.put_at_own_seq(CATALOGUE, ERASURES_PREFIX, &[], order.encode());
            Ok(())
        })?;
        Ok(Some((ordered.seq, order)))
    }

    /// Past erasures of the collection, newest first: when, and how many documents.
    pub fn erasures(&self) -> Result<Vec<Erasure>> {
        self.at(At::Now)?.erasures()
    }
}

impl CollectionAt {
    /// Erasures up to this moment; see [`Collection::erasures`].
    pub fn erasures(&self) -> Result<Vec<Erasure>> {
        let Some(entry) = &self.entry else { return Ok(Vec::new()) };
        let rows = self.snapshot.range(entry.side, &KeyRange::prefix([side::ERASED]), Direction::Backward);
        rows.map(|row| row.map_err(Error::from).and_then(|row| Erasure::decode(&row.key, &row.value))).collect()
    }
}

impl Store {
    /// Erases the documents of an order, records the erasure, and removes the order.
    fn carry_out(&self, ordered: Seq, order: &Order, progress: &mut dyn FnMut(EraseProgress)) -> Result<Erasure> {
        self.move_consumers(order)?;
        let found = {
            let snapshot = self.snapshot(At::Now)?;
            erased_rows(&*snapshot, &order.collection, &order.ids, ordered, progress)?
        };
        for some in found.keys.chunks(ERASED_KEYS_AT_ONCE) {
            self.erase_keys(some)?;
        }
        let collection = self.collection(&order.collection)?;
        let order_key = [ERASURES_PREFIX, &ordered.0.to_be_bytes()].concat();
        let time = self.now();
        let done = retry(|| {
            let view = Overlay::new(self.snapshot(At::Now)?);
            view.delete(CATALOGUE, &order_key);
            let entry = collection.slot.entry_in(&view)?;
            let building = |state| state == IndexState::Building;
            let indexes = entry.iter().flat_map(|entry| &entry.indexes).filter(|own| building(own.state));
            let access = entry.iter().filter_map(|entry| entry.access.as_ref()).filter(|own| building(own.state));
            for tree in indexes.map(|index| index.tree).chain(access.map(|access| access.tree)) {
                // How far a build had come may have been told by the id of one of the documents: it begins anew.
                if view.get(CATALOGUE, &build_key(tree))?.is_none() {
                    view.put(CATALOGUE, &build_key(tree), BuildCursor::default().encode());
                }
            }
            if let Some(entry) = entry.filter(|_| found.found > 0) {
                view.put_at_own_seq(entry.side, &[side::ERASED], &[], Erasure::encode(found.found, time));
                // The counts' row has the commit of the collection's last change.
                view.add(CATALOGUE, &collection.slot.counts_key, &[0; 3]);
            }
            self.try_commit_view(&view, std::slice::from_ref(&collection.slot))
        })?;
        self.erase_order(order_key, done.seq)?;
        Ok(Erasure { seq: done.seq, time, documents: found.found })
    }

    /// Consumers whose position names one of the documents, which are gone from the changes, stand behind the change
    /// before it from now on. They are handed neither less nor more by that.
    fn move_consumers(&self, order: &Order) -> Result<()> {
        let snapshot = self.snapshot(At::Now)?;
        let entry = self.slot(&order.collection).entry(&*snapshot)?;
        let trees = self.spaces().of(consumer_rows::NAMESPACE).trees(&*snapshot)?;
        let (Some(entry), Some(SpaceTrees { keys: tree, .. })) = (entry, trees) else { return Ok(()) };
        let of_collection = KeyRange::prefix(consumer_rows::of_collection(entry.documents));
        for row in snapshot.range(tree, &of_collection, Direction::Forward) {
            let key = row?.key;
            if consumer_rows::parse(&key) != Some(ConsumerKey::Position) {
                continue;
            }
            retry(|| {
                let view = Overlay::new(self.snapshot(At::Now)?);
                let Some(row) = view.get(tree, &key)? else { return Ok(Attempt::Done(())) };
                let position = position_in(&row, row.seq, &key)?;
                drop(row);
                if position.within.as_ref().is_none_or(|(_, id)| !order.ids.contains(id)) {
                    return Ok(Attempt::Done(()));
                }
                let before = change_before(view.base(), &entry, &order.collection, &position)?;
                view.put(tree, &key, encode_entry(&KeyValue::from(before.to_string()), None, None));
                Ok(self.try_commit_view(&view, &[])?.map(|_| ()))
            })?;
        }
        Ok(())
    }

    /// The row of an order, which has ids, goes too.
    fn erase_order(&self, key: Vec<u8>, through: Seq) -> Result<()> {
        self.erase_keys(&[ErasedKey { tree: CATALOGUE, key, versions: ErasedVersions::through(through) }])
    }

    /// Erases keys; if too many wait for settling, it settles first.
    pub(crate) fn erase_keys(&self, keys: &[ErasedKey]) -> Result<()> {
        match self.engine().erase(keys) {
            Err(EngineError::TooLarge { .. }) => {
                self.engine().settle()?;
                Ok(self.engine().erase(keys)?)
            }
            done => Ok(done?),
        }
    }

    /// Goes on with erasures that a process has left unfinished. Called before anybody reads.
    /// Answers whether there were any.
    pub(crate) fn finish_erasures(&self, snapshot: &dyn Snapshot) -> Result<bool> {
        let keys: Vec<Vec<u8>> = match snapshot.keys(CATALOGUE, &KeyRange::prefix(ERASURES_PREFIX)).collect() {
            Err(EngineError::Unsupported { .. }) => return Ok(false),
            keys => keys?,
        };
        let found = !keys.is_empty();
        for key in keys {
            match snapshot.get(CATALOGUE, &key)? {
                Some(row) => {
                    let (ordered, order) = Order::decode(&key, &row)?;
                    self.carry_out(ordered, &order, &mut |_| ())?;
                }
                // The order was carried out, but its row may still be in the past.
                None => {
                    let left = snapshot.versions(CATALOGUE, &key).next().transpose()?;
                    if let Some(deletion) = left {
                        self.erase_order(key, deletion.seq)?;
                    }
                }
            }
        }
        Ok(found)
    }
}

/// The position behind the last change before `position` of the same commit; if there is none, behind the commit
/// before.
fn change_before(
    snapshot: &dyn Snapshot,
    entry: &CollectionEntry,
    collection: &str,
    position: &Position,
) -> Result<Position> {
    let id = position.within.as_ref().map(|(_, id)| id.as_str()).unwrap_or_default();
    let seq = position.seq();
    let of_commit =
        KeyRange { start: Bound::Included(seq.0.to_be_bytes().to_vec()), end: Bound::Excluded(change_key(seq, id)) };
    let last = snapshot.range(entry.changes, &of_commit, Direction::Backward).next().transpose()?;
    Ok(match last {
        Some(row) => Change::decode(&Arc::from(collection), &row.key, &row.value.bytes)?.position(),
        None => Position::from(Seq(seq.0.saturating_sub(1))),
    })
}

impl Writer<'_> {
    /// Removes all leaves of a document, if it is there, without an entry in the log of purges.
    fn take_away(&mut self, id: &str) -> Result<()> {
        let (Some(before), Some(entry)) = (self.read(id)?, self.entry.clone()) else { return Ok(()) };
        let mut tree = whole_tree(self.view, entry.side, id, before.tree.clone())?;
        let leaves: Vec<_> = tree.leaves().into_iter().map(|leaf| leaf.rev).collect();
        tree.purge(&leaves);
        self.resolve(id, Some(&before), Next { tree, written: Contents::default(), made_here: false })
    }
}
