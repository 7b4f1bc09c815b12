//! Making and dropping the index of access of a collection. Every writer keeps it from the commit that declares it,
//! while a build adds the documents that were there before, in bounded steps. What a rule of access says is not known
//! here: docs/decisions/0070-access.md.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::engine::{Batch, Direction, KeyRange};
use crate::faces::building::BuildClaim;
use crate::faces::handles::Settings;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::access_rows::{AccessEntry, SINCE_KEY, by_id, by_seq, value};
use crate::kernel::rows::catalogue::{BuildCursor, CATALOGUE, CollectionEntry, build_key, dropped_key};
use crate::kernel::rows::trees::{take_collection_trees, take_index_tree};
use crate::kernel::write::access::marks_of;
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::json::{Path, Step};
use recension_values::limits::{BUILD_STEP_BYTES, BUILD_STEP_DOCUMENTS, INDEX_PARTS_MAX, WRITE_ATTEMPTS_MAX};
use recension_values::model::IndexState;

impl Settings<'_> {
    /// Keeps an index of access on paths from now on, and no other one; with no paths, none. It finds the documents of
    /// which a leaf has one of some values there, or had it:
    /// [`CollectionAt::access`](crate::CollectionAt::access). [`Settings::build_access`] makes it whole.
    ///
    /// If there is one that has all of the paths, it stays.
    ///
    /// # Errors
    /// [`Error::BadIndex`] for more than 16 paths, or one that leads to elements.
    pub fn set_access(self, paths: &[Path]) -> Result<()> {
        let refused = |why: &'static str| Error::BadIndex { index: "of access".to_owned(), why };
        let paths: Vec<Path> = paths
            .iter()
            .enumerate()
            .filter(|(at, path)| !paths[..*at].contains(path))
            .map(|(_, p)| p.clone())
            .collect();
        for path in &paths {
            let each: Vec<Step> = path.steps().iter().cloned().chain([Step::Each]).collect();
            if path.steps().contains(&Step::Each) || path.steps().is_empty() || Path::of_steps(each).is_err() {
                return Err(refused("it takes paths to single members"));
            }
        }
        if paths.len() > INDEX_PARTS_MAX {
            return Err(refused("it has 16 paths at most"));
        }
        retry(|| {
            let view = Overlay::new(self.collection.store().snapshot(At::Now)?);
            let known = self.collection.slot.entry_in(&view)?;
            let before = known.as_ref().and_then(|entry| entry.access.as_ref());
            let stays = match before {
                Some(before) => !paths.is_empty() && paths.iter().all(|path| before.paths().contains(path)),
                None => paths.is_empty(),
            };
            if stays {
                return Ok(Attempt::Done(()));
            }
            if let Some(before) = before {
                view.put(CATALOGUE, &dropped_key(before.tree), self.collection.name().as_bytes().to_vec());
                view.delete(CATALOGUE, &build_key(before.tree));
            }
            let (mut entry, state) = match &known {
                Some(known) => (CollectionEntry::clone(known), IndexState::Building),
                // A collection without documents: the index is whole as it is.
                None => {
                    (CollectionEntry::new(take_collection_trees(&view, self.collection.name())?), IndexState::Ready)
                }
            };
            entry.access = None;
            if !paths.is_empty() {
                let tree = take_index_tree(&view, self.collection.name(), "of access")?;
                entry.access = Some(AccessEntry::new(tree, state, paths.clone()));
                view.put(tree, SINCE_KEY, Vec::new());
                if state == IndexState::Building {
                    // From here on, whoever opens the store goes on with it.
                    view.put(CATALOGUE, &build_key(tree), BuildCursor::default().encode());
                }
            }
            view.put(CATALOGUE, &self.collection.slot.key, entry.encode());
            Ok(self.collection.store().try_commit_view(&view, &[])?.map(|_| ()))
        })?;
        self.collection.extend_retention()
    }

    /// Goes on with the build of the index of access, if there is one that is not whole, until it is or is to stop.
    pub fn build_access(self, stop: &AtomicBool) -> Result<()> {
        let building = || -> Result<Option<AccessEntry>> {
            let entry = self.collection.at(At::Now)?.entry;
            let access = entry.and_then(|entry| entry.access.clone());
            Ok(access.filter(|access| access.state == IndexState::Building))
        };
        let (mut claim, mut documents, mut refused) = (None, BUILD_STEP_DOCUMENTS, 0);
        loop {
            let Some(access) = building()? else { return Ok(()) };
            if claim.as_ref().is_none_or(|(tree, _)| *tree != access.tree) {
                claim =
                    BuildClaim::take(self.collection.store().engine(), access.tree).map(|claim| (access.tree, claim));
                if claim.is_none() {
                    if stop.load(Ordering::Acquire) {
                        return Ok(());
                    }
                    BuildClaim::wait();
                    continue;
                }
            }
            match self.access_step(documents)? {
                Attempt::Done(()) => (documents, refused) = ((documents * 2).min(BUILD_STEP_DOCUMENTS), 0),
                // Writers were at work among these documents: fewer of them at a time.
                Attempt::Again => {
                    (documents, refused) = ((documents / 2).max(1), refused + 1);
                    if refused > WRITE_ATTEMPTS_MAX {
                        return Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX });
                    }
                }
            }
            if stop.load(Ordering::Acquire) {
                return Ok(());
            }
        }
    }

    /// Adds some documents in one commit, or makes the index ready.
    fn access_step(self, documents: usize) -> Result<Attempt<()>> {
        let snapshot = self.collection.store().snapshot(At::Now)?;
        let Some(entry) = self.collection.slot.entry(&*snapshot)? else { return Ok(Attempt::Done(())) };
        let building = entry.access.as_ref().filter(|access| access.state == IndexState::Building);
        let Some(access) = building else { return Ok(Attempt::Done(())) };
        let (seq, cursor_key) = (snapshot.seq(), build_key(access.tree));
        let cursor = snapshot.get(CATALOGUE, &cursor_key)?.map(|row| BuildCursor::decode(&row)).unwrap_or_default();
        let mut batch = Batch::new();
        batch.depends_on(CATALOGUE, &self.collection.slot.key, seq);
        batch.depends_on(CATALOGUE, &cursor_key, seq);
        let start = cursor.after.clone().map_or(Bound::Unbounded, Bound::Excluded);
        let range = KeyRange { start: start.clone(), end: Bound::Unbounded };
        let (mut reached, mut bytes) = (cursor.clone(), 0);
        for row in snapshot.range(entry.documents, &range, Direction::Forward) {
            let row = row?;
            let id = String::from_utf8_lossy(&row.key);
            let marks: BTreeSet<_> = marks_of(&*snapshot, &entry, access, &id, &row.value)?;
            for mark in &marks {
                batch.put(access.tree, &by_seq(mark, row.value.seq, &id), &value(false));
                batch.put(access.tree, &by_id(mark, &id), &value(false));
                bytes += 2 * (mark.len() + id.len());
            }
            bytes += row.value.len();
            reached = BuildCursor { done: reached.done + 1, after: Some(row.key.to_vec()) };
            if reached.done - cursor.done >= documents as u64 || bytes >= BUILD_STEP_BYTES {
                break;
            }
        }
        match reached.after.clone().filter(|_| reached.done > cursor.done) {
            Some(last) => {
                batch.depends_on_range(entry.documents, KeyRange { start, end: Bound::Included(last) }, seq);
                batch.put(CATALOGUE, &cursor_key, &reached.encode());
            }
            None => {
                // Every document of this snapshot is in; later ones were put in by their writers.
                let mut whole = CollectionEntry::clone(&entry);
                whole.access = Some(access.ready());
                batch.put(CATALOGUE, &self.collection.slot.key, &whole.encode());
                batch.delete(CATALOGUE, &cursor_key);
            }
        }
        Ok(self.collection.store().try_commit(batch)?.map(|_| ()))
    }
}
