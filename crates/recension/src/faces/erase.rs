//! Erasing: documents leave every moment of the store. What remains is a record that something was erased, and when. An
//! order in the catalogue makes it atomic: whoever opens a store and finds an order carries it out before any read.
//! docs/internals/erase.md has the design.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{
    BRANCHES_TREE, BranchId, Branches, Direction, EngineError, ErasedKey, ErasedVersions, KeyRange, Seq, Snapshot,
};
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
    /// collection, on every branch of the store, and in dropped ones of its name. When it returns no read finds them; a
    /// snapshot that was open before may go on answering. After the next [`Store::compact`] no byte of them is in any
    /// file of the store.
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
        let mut known = HashSet::new();
        let ids: Vec<String> = ids.into_iter().map(Into::into).filter(|id| known.insert(id.clone())).collect();
        ids.iter().try_for_each(|id| check_id(id))?;
        if ids.len() > ERASED_IDS_MAX {
            let value = u32::try_from(ids.len()).unwrap_or(u32::MAX);
            return Err(Error::OutOfBounds {
                what: "the number of documents that are erased at once",
                value,
                max: ERASED_IDS_MAX as u32,
            });
        }
        let order = Order { collection: self.name().to_owned(), ids };
        let main = self.store().main_line_as_is();
        let mut known = false;
        for line in std::iter::once(&main).chain(&main.branches_as_is()?) {
            known |= line.unless_dropped(line.has_known(&order.collection))?.unwrap_or(false);
        }
        if order.ids.is_empty() || !known {
            let now = self.store().snapshot(At::Now)?;
            return Ok(Erasure { seq: now.seq(), time: now.time()?, documents: 0 });
        }
        let first = main.order_erasure(&order, &order.ids)?;
        main.carry_out_on_all_lines(first, &order, &mut progress).map_err(still_ordered)
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

/// The error of an erasure that could not be written, such as on a full disk: its order stands.
fn still_ordered(error: Error) -> Error {
    match error {
        Error::Engine(EngineError::Io { doing, source }) => {
            let doing = format!("an erasure is ordered, and goes on at the next opening, before any read: {doing}");
            EngineError::Io { doing, source }.into()
        }
        error => error,
    }
}

impl Store {
    /// Orders the erasure of documents, and takes away those of them that are `there`.
    fn order_erasure(&self, order: &Order, there: &[String]) -> Result<Seq> {
        let collection = self.collection(&order.collection)?;
        let ((), ordered) = in_one_commit(&collection, |writer| {
            there.iter().try_for_each(|id| writer.take_away(id))?;
            if let Some(entry) = writer.entry.clone() {
                // Counts in views would be wrong: the views are built again.
                forget_views_in(writer.view, &entry, &order.collection)?;
            }
            writer.view.put_at_own_seq(CATALOGUE, ERASURES_PREFIX, &[], order.encode());
            Ok(())
        })?;
        Ok(ordered.seq)
    }

    /// The same on a branch, for an order that the main line has since commit `first`: `None` if the branch has never
    /// had such a collection. What was written under these ids since then stays, because an order may be carried out
    /// long after it was given, if a process was interrupted.
    fn order_on_branch(&self, first: Seq, order: &Order) -> Result<Option<Seq>> {
        if !self.has_known(&order.collection)? {
            return Ok(None);
        }
        let now = self.snapshot(At::Now)?;
        let (orders, _) = orders_in(&*now)?;
        // A branch that was made after the order was given has it of its parent.
        if let Some((seq, _)) = orders.iter().find(|(seq, own)| *seq >= first && own == order) {
            return Ok(Some(*seq));
        }
        let slot = self.slot(&order.collection);
        let Some(entry) = slot.entry(&*now)? else { return self.order_erasure(order, &[]).map(Some) };
        let then = self.engine().snapshot_at(first)?;
        let mut there = Vec::new();
        for id in &order.ids {
            let was_there = match then.get(entry.documents, id.as_bytes()) {
                Err(EngineError::Forgotten { .. }) => true,
                found => found?.is_some(),
            };
            there.extend(was_there.then(|| id.clone()));
        }
        self.order_erasure(order, &there).map(Some)
    }

    /// Whether there was such a collection at any moment.
    fn has_known(&self, collection: &str) -> Result<bool> {
        let now = self.snapshot(At::Now)?;
        Ok(now.keys(CATALOGUE, &KeyRange::only(collection_key(collection))).next().transpose()?.is_some())
    }

    /// What was done on a branch; `None`: it failed because the branch was dropped meanwhile, with all that is on it.
    pub(crate) fn unless_dropped<T>(&self, done: Result<T>) -> Result<Option<T>> {
        let id = self.branch_id();
        match done {
            Err(_) if id != BranchId(0) && !self.branches()?.iter().any(|branch| branch.id == id) => Ok(None),
            done => done.map(Some),
        }
    }

    /// Erases the documents of an order of the main line, which this is, there and on every branch. The order stands
    /// until all is done, so that whoever opens the store goes on with an interrupted erasure. A branch shows what its
    /// parents have, so documents are taken away everywhere before anything is erased; and no branch is made
    /// meanwhile that could show them (`faces/branches.rs`).
    fn carry_out_on_all_lines(
        &self,
        first: Seq,
        order: &Order,
        progress: &mut dyn FnMut(EraseProgress),
    ) -> Result<Erasure> {
        let branches = self.branches_as_is()?;
        let mut ordered = Vec::new();
        for line in &branches {
            let seq = line.unless_dropped(line.order_on_branch(first, order))?.flatten();
            ordered.extend(seq.map(|seq| (seq, line)));
        }
        let mut documents = 0;
        for (seq, line) in ordered {
            let done = line.unless_dropped(line.carry_out(first, seq, order, progress))?;
            documents = done.map_or(0, |done| done.documents).max(documents);
        }
        let own = self.carry_out(first, first, order, progress)?;
        Ok(Erasure { documents: documents.max(own.documents), ..own })
    }

    /// Erases the documents of an order, records the erasure, and removes the order. What an order left, since it was
    /// written after the `first` one, keeps its versions from then on.
    fn carry_out(
        &self,
        first: Seq,
        ordered: Seq,
        order: &Order,
        progress: &mut dyn FnMut(EraseProgress),
    ) -> Result<Erasure> {
        self.move_consumers(order)?;
        let found = {
            let snapshot = self.snapshot(At::Now)?;
            let (left, gone) = self.left_by(&*snapshot, ordered, order)?;
            let mut found = erased_rows(&*snapshot, &order.collection, &gone, ordered, progress)?;
            if !left.is_empty() {
                let before = erased_rows(&*snapshot, &order.collection, &left, first, progress)?;
                found.found += before.found;
                found.keys.extend(before.keys);
            }
            found
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
            for tree in &found.documents {
                // A branch that is made of a moment before this is counted anew.
                view.put(BRANCHES_TREE, &Branches::erased_key(*tree), Vec::new());
            }
            self.try_commit_view(&view, std::slice::from_ref(&collection.slot))
        })?;
        self.erase_order(order_key, done.seq)?;
        Ok(Erasure { seq: done.seq, time, documents: found.found })
    }

    /// The documents of an order that its commit did not take away, and the others.
    fn left_by(&self, now: &dyn Snapshot, ordered: Seq, order: &Order) -> Result<(Vec<String>, Vec<String>)> {
        let Some(entry) = self.slot(&order.collection).entry(now)? else { return Ok((Vec::new(), order.ids.clone())) };
        let then = self.engine().snapshot_at(ordered)?;
        let (mut left, mut gone) = (Vec::new(), Vec::new());
        for id in &order.ids {
            let is_left = match then.get(entry.documents, id.as_bytes()) {
                // What is there now and no newer was there then.
                Err(EngineError::Forgotten { .. }) => {
                    now.get(entry.documents, id.as_bytes())?.is_some_and(|row| row.seq <= ordered)
                }
                found => found?.is_some(),
            };
            if is_left { left.push(id.clone()) } else { gone.push(id.clone()) }
        }
        Ok((left, gone))
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
    /// Returns whether there were any. This is the main line.
    pub(crate) fn finish_erasures(&self, snapshot: &dyn Snapshot) -> Result<bool> {
        let (orders, left) = match orders_in(snapshot) {
            Err(Error::Engine(EngineError::Unsupported { .. })) => return Ok(false),
            found => found?,
        };
        let found = !(orders.is_empty() && left.is_empty());
        for (first, order) in &orders {
            self.carry_out_on_all_lines(*first, order, &mut |_| ()).map_err(still_ordered)?;
        }
        if found {
            for line in self.branches_as_is()? {
                let (_, left) = orders_in(&*line.snapshot(At::Now)?)?;
                line.erase_orders(left)?;
            }
        }
        self.erase_orders(left)?;
        Ok(found)
    }

    /// Erases the rows of orders that were carried out.
    fn erase_orders(&self, left: Vec<(Vec<u8>, Seq)>) -> Result<()> {
        left.into_iter().try_for_each(|(key, through)| self.erase_order(key, through))
    }

    /// Whether documents are being erased: the commit of the newest order of the main line that stands.
    pub(crate) fn standing_erasure(main: &dyn Snapshot) -> Result<Option<Seq>> {
        let (orders, _) = orders_in(main)?;
        Ok(orders.into_iter().map(|(seq, _)| seq).max())
    }
}

/// Orders, and the keys of those that were carried out but whose rows may still be in the past.
type Orders = (Vec<(Seq, Order)>, Vec<(Vec<u8>, Seq)>);

fn orders_in(snapshot: &dyn Snapshot) -> Result<Orders> {
    let (mut orders, mut left) = (Vec::new(), Vec::new());
    for key in snapshot.keys(CATALOGUE, &KeyRange::prefix(ERASURES_PREFIX)) {
        let key = key?;
        match snapshot.get(CATALOGUE, &key)? {
            Some(row) => orders.push(Order::decode(&key, &row)?),
            None => {
                if let Some(deletion) = snapshot.versions(CATALOGUE, &key).next().transpose()? {
                    left.push((key, deletion.seq));
                }
            }
        }
    }
    Ok((orders, left))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, MemoryEngine};

    #[test]
    fn what_was_written_after_an_interrupted_erasure_stays_and_no_branch_is_made_that_would_show_it() {
        let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new());
        let main = Store::on(engine.clone()).unwrap();
        let put = |store: &Store, id: &str, body: &str| store.collection("menu").unwrap().put(id, body).unwrap();
        let get = |store: &Store, id: &str| {
            store.collection("menu").unwrap().get(id).unwrap().map(|document| document.body.to_string())
        };
        put(&main, "a", r#"{"secret":1}"#);
        let idea = main.branch("idea", At::Now).unwrap();
        let done = main.branch("done", At::Now).unwrap();
        // As a process leaves it that was interrupted: ordered on the main line and on one branch.
        let order = Order { collection: "menu".to_owned(), ids: vec!["a".to_owned(), "b".to_owned()] };
        let first = main.order_erasure(&order, &order.ids).unwrap();
        done.order_on_branch(first, &order).unwrap();
        assert!(idea.branch("later", At::Now).err().unwrap().to_string().contains("being erased"));
        assert!(main.branch("past", At::Seq(Seq(first.0 - 1))).is_err());
        let of_now = main.branch("of-now", At::Now).unwrap();
        for store in [&main, &done, &of_now] {
            put(store, "a", r#"{"fresh":1}"#);
        }
        put(&idea, "b", r#"{"fresh":1}"#);
        let again = Store::on(engine).unwrap();
        let [idea, done, of_now] = ["idea", "done", "of-now"].map(|name| again.open_branch(name).unwrap());
        for store in [&again, &done, &of_now] {
            assert_eq!(get(store, "a").as_deref(), Some(r#"{"fresh":1}"#), "{:?}", store.branch_name());
        }
        assert_eq!((get(&idea, "a"), get(&idea, "b").is_some()), (None, true));
        for store in [&again, &idea, &done, &of_now] {
            assert_eq!(store.check(At::Now).unwrap().problems, [], "{:?}", store.branch_name());
        }
        idea.branch("later", At::Now).unwrap();
    }
}
