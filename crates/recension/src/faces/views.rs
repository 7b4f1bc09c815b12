//! Keeping views: bringing their rows up to date in bounded steps, each of which is one commit, and dropping views that
//! nobody names any more.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Batch, Direction, Durability, EngineError, KeyRange, Seq, Snapshot};
use crate::faces::building::BuildClaim;
use crate::faces::handles::Views;
use crate::faces::indexes::BuildProgress;
use crate::kernel::changes::change::Position;
use crate::kernel::overlay::Overlay;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, dropped_key};
use crate::kernel::rows::trees::take_index_tree;
use crate::kernel::rows::view_entry::{
    ViewEntry, encode_kept, kept_in_commits, kept_key, name_key, named, names_prefix, view_key, views_of,
};
use crate::kernel::rows::view_rows::{decode_keys, encode_keys, of_document};
use crate::kernel::view::blocks::Blocks;
use crate::kernel::view::gather::{Gathered, gather, purges_are_known};
use crate::kernel::view::mapper::View;
use crate::kernel::view::read::ViewAt;
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::{VIEWS_IN_COMMIT_MAX, WRITE_ATTEMPTS_MAX};
use recension_values::view::Signature;

/// A description of a view's rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViewInfo {
    /// The signature that identifies them.
    pub signature: Signature,
    /// How many there are.
    pub rows: u64,
    /// Whether the view has been complete once.
    pub whole: bool,
    /// Whether commits of documents keep them, so that they are never behind.
    pub in_commit: bool,
    /// The commit up to which documents were mapped.
    pub seq: Seq,
}

/// The result of one step.
enum Step {
    /// The view was entered into the catalogue.
    Begun,
    /// So many documents were mapped, up to a commit, and there may be more.
    Went(u64, Seq),
    /// Every document is in.
    Whole,
}

impl Views<'_> {
    /// A view as of now, exactly: its rows are brought up to date, and later changes are added on reading.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use recension::{Emitted, MapInput, Store, View, ViewOptions, ViewRange};
    /// # fn main() -> recension::Result<()> {
    /// let cities = Store::memory()?.collection("cities")?;
    /// cities.put("lisbon", r#"{"country":"PT"}"#)?;
    /// let by_length = |input: &MapInput| {
    ///     vec![Emitted { key: input.document.body.len().to_string(), value: "null".to_owned() }]
    /// };
    /// let view = View::new("by length of the body, 1", ViewOptions::default(), Arc::new(by_length));
    /// let rows = cities.views().get(&view)?.rows(&ViewRange::key("16"))?;
    /// assert_eq!(rows.map(|row| row.unwrap().id).collect::<Vec<_>>(), ["lisbon"]);
    /// # Ok(()) }
    /// ```
    pub fn get(self, view: &View) -> Result<ViewAt> {
        match self.update(view, &AtomicBool::new(false), |_| ()) {
            // Rows cannot be kept, so they are mapped for this read only.
            Ok(()) | Err(Error::Engine(EngineError::ReadOnly)) => {}
            Err(error) => return Err(error),
        }
        self.collection.at(At::Now)?.view(view)
    }

    /// Brings the rows of a view up to date, in steps that are committed one by one, until it is done or `stop` is set.
    /// If it is interrupted, the next call continues. `progress` is called after each step, and before
    /// the first one if there are rows: it counts what was mapped before, also by others.
    ///
    /// # Errors
    /// Errors of the mapper. Committed steps stay.
    pub fn update(self, view: &View, stop: &AtomicBool, mut progress: impl FnMut(BuildProgress)) -> Result<()> {
        // Later changes may come faster than they can be mapped, so they are left out.
        let asked = self.collection.store().engine().head();
        let (mut went, mut refused) = (BuildProgress { done: 0, total: 0 }, 0);
        let in_commit = view.mapper.in_commit();
        if in_commit {
            self.collection.store().known_views().note(view);
        }
        // One thread of this process maps at a time. Another process's commit would conflict with it.
        let mut claim = None;
        while !stop.load(Ordering::Acquire) {
            if claim.is_none() {
                let now = self.collection.at(At::Now)?;
                let Some(entry) = &now.entry else { return Ok(()) };
                if let Some(kept) = ViewEntry::of(&*now.snapshot, entry, view.signature)? {
                    if is_done(&now, &kept, asked)? && (kept.in_commit || !in_commit) {
                        return Ok(());
                    }
                    claim = BuildClaim::take(self.collection.store().engine(), kept.tree);
                    if claim.is_none() {
                        BuildClaim::wait();
                        continue;
                    }
                    went = progress_of(&now, &kept)?;
                    if went.done > 0 {
                        // It goes on from there.
                        progress(went);
                    }
                }
            }
            // Under a stream of writes, the view may stay behind the commits.
            match self.step(view, in_commit && refused < SWITCHES_TRIED_MAX)? {
                Attempt::Done(Step::Begun) => self.collection.extend_retention()?,
                Attempt::Done(Step::Went(some, reached)) => {
                    refused = 0;
                    went.done += some;
                    went.total = went.total.max(went.done);
                    progress(went);
                    if reached > asked {
                        return Ok(());
                    }
                }
                Attempt::Done(Step::Whole) => {
                    if went.done < went.total {
                        went.done = went.total;
                        progress(went);
                    }
                    return Ok(());
                }
                Attempt::Again => {
                    refused += 1;
                    if refused > WRITE_ATTEMPTS_MAX {
                        return Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX });
                    }
                }
            }
        }
        Ok(())
    }

    /// `switch`: if this step makes the view whole, commits of documents keep it from here on.
    fn step(self, view: &View, switch: bool) -> Result<Attempt<Step>> {
        let at = self.collection.at(At::Now)?;
        let Some(entry) = &at.entry else { return Ok(Attempt::Done(Step::Whole)) };
        let Some(kept) = ViewEntry::of(&*at.snapshot, entry, view.signature)? else {
            return Ok(self.declare(view)?.map(|()| Step::Begun));
        };
        let switch = switch && !kept.in_commit;
        let from = if kept.in_commit { Position::from(at.seq()) } else { kept.position.clone() };
        if !kept.in_commit && !purges_are_known(&at, entry, &from)? {
            self.drop_matching(&|signature| signature == view.signature)?;
            return Ok(Attempt::Again);
        }
        let Gathered { documents, position, end } = gather(&at, entry, view, &from)?;
        let name = view.name.as_deref().map(|name| name_key(entry, name));
        let is_named = match (&view.name, end) {
            (Some(name), true) => named(&*at.snapshot, entry, name)? == Some(view.signature),
            _ => true,
        };
        let listed = at.snapshot.get(CATALOGUE, &kept_key(entry))?;
        let mut listed = listed.map_or(Ok(Vec::new()), |row| kept_in_commits(&row.bytes))?;
        let switch = switch && end && listed.len() < VIEWS_IN_COMMIT_MAX;
        if documents.is_empty() && (kept.whole || !end) && is_named && !switch {
            return Ok(Attempt::Done(Step::Whole));
        }
        let seq = at.seq();
        let mut batch = Batch::new();
        let key = view_key(entry, view.signature);
        batch.depends_on(CATALOGUE, &self.collection.slot.key, seq);
        batch.depends_on(CATALOGUE, &key, seq);
        let mut rows = kept.rows;
        let mut blocks = Blocks::load(&*at.snapshot, kept.tree)?;
        let went = documents.len() as u64;
        for (id, new) in documents {
            let list = of_document(&id);
            let listed = at.snapshot.get(kept.tree, &list)?;
            for old in listed.as_ref().map_or(Ok(Vec::new()), |row| decode_keys(&row.bytes))? {
                rows = rows.wrapping_sub(1);
                if !new.iter().any(|(key, _)| key == old) {
                    batch.delete(kept.tree, old);
                    blocks.remove(old);
                }
            }
            let old = listed.as_ref().map_or(Ok(Vec::new()), |row| decode_keys(&row.bytes))?;
            rows = rows.wrapping_add(new.len() as u64);
            if !new.is_empty() {
                batch.put(kept.tree, &list, &encode_keys(new.iter().map(|(key, _)| key.as_slice())));
            } else if listed.is_some() {
                batch.delete(kept.tree, &list);
            }
            for (key, value) in new {
                blocks.put(&key, !old.contains(&key.as_slice()));
                batch.put(kept.tree, &key, &value);
            }
        }
        blocks.write(&*at.snapshot, kept.tree, &mut batch)?;
        let reached = position.seq;
        if switch {
            // Nothing may be written in between, and the next writer sees the switch.
            batch.depends_on(CATALOGUE, &self.collection.slot.counts_key, seq);
            batch.depends_on(CATALOGUE, &kept_key(entry), seq);
            listed.push(view.signature);
            batch.put(CATALOGUE, &kept_key(entry), &encode_kept(&listed));
        }
        let in_commit = kept.in_commit || switch;
        let next = ViewEntry { rows, position, whole: kept.whole || end, in_commit, ..kept };
        batch.put(CATALOGUE, &key, &next.encode());
        if let Some(name) = name.filter(|_| end && !is_named) {
            batch.put(CATALOGUE, &name, &view.signature.0);
        }
        // The rows can be made again, so they become durable with the next durable commit.
        batch.durability(Durability::Process);
        Ok(self
            .collection
            .store()
            .try_commit(batch)?
            .map(|_| if end { Step::Whole } else { Step::Went(went, reached) }))
    }

    /// Enters a view into the catalogue.
    fn declare(self, view: &View) -> Result<Attempt<()>> {
        let overlay = Overlay::new(self.collection.store().snapshot(At::Now)?);
        let Some(entry) = self.collection.slot.entry_in(&overlay)? else { return Ok(Attempt::Done(())) };
        let key = view_key(&entry, view.signature);
        if overlay.get(CATALOGUE, &key)?.is_some() {
            return Ok(Attempt::Done(()));
        }
        let tree = take_index_tree(&overlay, self.collection.name(), "of a view")?;
        overlay.put(CATALOGUE, &key, ViewEntry::new(tree).encode());
        let mut batch = overlay.batch();
        batch.durability(Durability::Process);
        Ok(self.collection.store().try_commit(batch)?.map(|_| ()))
    }

    /// Drops the rows of all views, except these views and views with these names. Returns how many views were dropped.
    /// Reads at earlier moments still find them.
    pub fn drop_others(self, views: &BTreeSet<Signature>, names: &BTreeSet<String>) -> Result<usize> {
        let now = self.collection.at(At::Now)?;
        let Some(entry) = &now.entry else { return Ok(0) };
        let kept: BTreeSet<Signature> = views_of(&*now.snapshot, entry)?
            .into_iter()
            .filter(|(_, kept)| kept.whole)
            .map(|(signature, _)| signature)
            .collect();
        // The former view of a name stays until its present one is whole.
        let mut wanted = views.clone();
        let prefix = names_prefix(entry);
        for row in now.snapshot.range(CATALOGUE, &KeyRange::prefix(prefix.clone()), Direction::Forward) {
            let row = row?;
            let name = row.key.get(prefix.len()..).and_then(|name| std::str::from_utf8(name).ok());
            let signature = row.value.bytes.as_ref().try_into().ok().map(Signature);
            let building = views.iter().any(|view| !kept.contains(view));
            if let (Some(name), Some(signature)) = (name, signature)
                && building
                && names.contains(name)
            {
                wanted.insert(signature);
            }
        }
        self.drop_matching(&|signature| !wanted.contains(&signature))
    }

    fn drop_matching(self, dropped: &dyn Fn(Signature) -> bool) -> Result<usize> {
        retry(|| {
            let snapshot = self.collection.store().snapshot(At::Now)?;
            let Some(entry) = self.collection.slot.entry(&*snapshot)? else { return Ok(Attempt::Done(0)) };
            let mut batch = Batch::new();
            batch.depends_on(CATALOGUE, &self.collection.slot.key, snapshot.seq());
            let count = forget_views(&*snapshot, &entry, self.collection.name(), dropped, &mut |key, value| {
                batch.depends_on(CATALOGUE, key, snapshot.seq());
                match value {
                    Some(value) => batch.put(CATALOGUE, key, value),
                    None => batch.delete(CATALOGUE, key),
                };
            })?;
            if count == 0 {
                return Ok(Attempt::Done(0));
            }
            Ok(self.collection.store().try_commit(batch)?.map(|_| count))
        })
    }

    /// How many of its documents, deleted ones included, the rows of a view speak for; `None`: there are no rows. Takes
    /// time with the number of the others.
    pub fn progress(self, view: Signature) -> Result<Option<BuildProgress>> {
        let now = self.collection.at(At::Now)?;
        let Some(entry) = &now.entry else { return Ok(None) };
        let kept = ViewEntry::of(&*now.snapshot, entry, view)?;
        kept.map(|kept| progress_of(&now, &kept)).transpose()
    }

    /// Descriptions of its views.
    pub fn list(self) -> Result<Vec<ViewInfo>> {
        let now = self.collection.at(At::Now)?;
        let Some(entry) = &now.entry else { return Ok(Vec::new()) };
        let infos = views_of(&*now.snapshot, entry)?.into_iter().map(|(signature, kept)| {
            let (rows, seq) = (kept.total_rows(&*now.snapshot)?, kept.seq(&*now.snapshot));
            Ok(ViewInfo { signature, rows, whole: kept.whole, in_commit: kept.in_commit, seq })
        });
        infos.collect()
    }
}

/// Writes or deletes a row of the catalogue.
type CatalogueWrite<'w> = dyn FnMut(&[u8], Option<&[u8]>) + 'w;

/// Makes the catalogue writes that drop views; returns how many views are dropped.
pub(crate) fn forget_views(
    snapshot: &dyn Snapshot,
    entry: &CollectionEntry,
    collection: &str,
    dropped: &dyn Fn(Signature) -> bool,
    write: &mut CatalogueWrite<'_>,
) -> Result<usize> {
    let mut count = 0;
    let list = kept_key(entry);
    if let Some(row) = snapshot.get(CATALOGUE, &list)? {
        let all = kept_in_commits(&row.bytes)?;
        let left: Vec<Signature> = all.iter().copied().filter(|signature| !dropped(*signature)).collect();
        if left.len() < all.len() {
            write(&list, (!left.is_empty()).then(|| encode_kept(&left)).as_deref());
        }
    }
    for (signature, kept) in views_of(snapshot, entry)? {
        if dropped(signature) {
            write(&view_key(entry, signature), None);
            write(&dropped_key(kept.tree), Some(collection.as_bytes()));
            count += 1;
        }
    }
    for row in snapshot.range(CATALOGUE, &KeyRange::prefix(names_prefix(entry)), Direction::Forward) {
        let row = row?;
        if row.value.bytes.as_ref().try_into().ok().map(Signature).is_none_or(dropped) {
            write(&row.key, None);
        }
    }
    Ok(count)
}

/// Drops all views of a collection within an overlay.
pub(crate) fn forget_views_in(view: &Overlay, entry: &CollectionEntry, name: &str) -> Result<usize> {
    let mut rows = Vec::new();
    let count = forget_views(view.base(), entry, name, &|_| true, &mut |key, value| {
        rows.push((key.to_vec(), value.map(<[u8]>::to_vec)));
    })?;
    for (key, value) in rows {
        match value {
            Some(value) => view.put(CATALOGUE, &key, value),
            None => {
                // The read makes this commit conflict with one that keeps the view at this moment.
                view.get(CATALOGUE, &key)?;
                view.delete(CATALOGUE, &key);
            }
        }
    }
    Ok(count)
}

/// How often a view's switch into commits is tried before the view stays behind them for now.
const SWITCHES_TRIED_MAX: u32 = 3;

/// How many documents the rows speak for. Each document is among the changes once: those behind the position are left.
fn progress_of(now: &CollectionAt, kept: &ViewEntry) -> Result<BuildProgress> {
    let counts = now.counts()?;
    let total = counts.documents + counts.deleted;
    if kept.position == Position::START && !kept.in_commit {
        return Ok(BuildProgress { done: 0, total });
    }
    let mut done = total;
    if !kept.in_commit {
        for change in now.changes(kept.position.clone()) {
            change?;
            done = done.saturating_sub(1);
        }
    }
    Ok(BuildProgress { done, total })
}

/// Whether the rows are up to date, or have reached the commit that was asked for.
fn is_done(now: &CollectionAt, kept: &ViewEntry, asked: Seq) -> Result<bool> {
    let Position { seq, within } = &kept.position;
    Ok(kept.in_commit || kept.whole && within.is_none() && (*seq >= asked || now.counts()?.changed <= *seq))
}
