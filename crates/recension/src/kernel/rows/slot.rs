//! A cache of the catalogue: the row of each collection, and the collections that the newest commits wrote. The cache
//! is bounded. Losing it costs reads and changes no answer.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use crate::engine::{BranchId, Seq, Snapshot, Timestamp};
use crate::kernel::overlay::{Key, Overlay};
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, collection_key, counts_key};
use crate::kernel::rows::recent_commits::RecentCommits;
use recension_values::error::Result;
use recension_values::guard::GuardCell;
use recension_values::limits::{CACHED_COLLECTIONS_MAX, SWEEP_PAUSE_MICROS};

/// The slots of a store's collections, by their names.
pub(crate) struct Slots {
    by_name: Mutex<HashMap<String, Arc<Slot>>>,
    recent: RecentCommits,
    guard: GuardCell,
    branch: BranchId,
}

impl Slots {
    /// Those of a branch; zero: of the main line.
    pub(crate) fn of_branch(branch: BranchId) -> Self {
        let (by_name, recent, guard) = (Mutex::default(), RecentCommits::default(), GuardCell::default());
        Slots { by_name, recent, guard, branch }
    }

    /// The slot of a collection.
    pub(crate) fn of(&self, name: &str) -> Arc<Slot> {
        let mut slots = self.by_name.lock();
        if let Some(slot) = slots.get(name) {
            return slot.clone();
        }
        if slots.len() >= CACHED_COLLECTIONS_MAX {
            // Handles keep their slots. A slot that is forgotten costs the next user one read.
            slots.clear();
        }
        let slot = Arc::new(Slot {
            name: name.to_owned(),
            shared_name: Arc::from(name),
            key: collection_key(name),
            row: Key::new(CATALOGUE, &collection_key(name)),
            counts_key: counts_key(name),
            known: RwLock::default(),
            sweep_at: Mutex::new(Timestamp(0)),
            guard: self.guard.clone(),
            branch: self.branch,
        });
        slots.insert(name.to_owned(), slot.clone());
        slot
    }

    /// Notes which collections a commit wrote.
    pub(crate) fn committed(&self, seq: Seq, written: &[Arc<Slot>]) {
        self.recent.note(seq, written.iter().map(|slot| slot.shared_name.clone()));
    }

    /// The guard of the store.
    pub(crate) fn guard(&self) -> &GuardCell {
        &self.guard
    }

    /// Which collections the newest commits wrote.
    pub(crate) fn recent(&self) -> &RecentCommits {
        &self.recent
    }
}

/// A collection's row in the catalogue, as far as it is known.
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(crate) shared_name: Arc<str>,
    pub(crate) key: Vec<u8>,
    /// The row's key, as an overlay looks it up.
    row: Key,
    /// The key of its counts.
    pub(crate) counts_key: Vec<u8>,
    known: RwLock<Known>,
    /// The time of the next search for uploads that were broken off.
    sweep_at: Mutex<Timestamp>,
    /// The guard of the store.
    pub(crate) guard: GuardCell,
    /// The branch that it is on; zero: the main line.
    pub(crate) branch: BranchId,
}

/// The row as it was from commit `since` to commit `until`, both included.
#[derive(Clone, Default)]
struct Known {
    entry: Option<Arc<CollectionEntry>>,
    since: Seq,
    until: Seq,
}

impl Slot {
    /// The collection as of a snapshot; `None` if there is none. The catalogue is read once if the store has moved on
    /// since the last look, and not at all otherwise.
    pub(crate) fn entry(&self, snapshot: &dyn Snapshot) -> Result<Option<Arc<CollectionEntry>>> {
        let seq = snapshot.seq();
        let known = self.known.read().clone();
        if known.since <= seq && seq <= known.until {
            return Ok(known.entry);
        }
        let row = snapshot.get(CATALOGUE, &self.key)?;
        let found = match row {
            None => Known { entry: None, since: seq, until: seq },
            Some(row) => {
                let same = known.entry.filter(|_| known.since == row.seq);
                let entry = match same {
                    Some(entry) => entry,
                    None => Arc::new(CollectionEntry::decode(&row, &self.name)?),
                };
                Known { entry: Some(entry), since: row.seq, until: seq }
            }
        };
        let entry = found.entry.clone();
        let mut known = self.known.write();
        if found.until > known.until {
            *known = found;
        }
        Ok(entry)
    }

    /// The collection as it was last seen: good for a guess.
    pub(crate) fn guess(&self) -> Option<Arc<CollectionEntry>> {
        self.known.read().entry.clone()
    }

    /// The collection as a transaction sees it. The commit of the transaction then depends on it.
    pub(crate) fn entry_in(&self, view: &Overlay) -> Result<Option<Arc<CollectionEntry>>> {
        if view.depend_or_written(CATALOGUE, &self.key) {
            let row = view.get(CATALOGUE, &self.key)?;
            return row.map(|row| CollectionEntry::decode(&row, &self.name).map(Arc::new)).transpose();
        }
        self.entry(view.base())
    }

    /// Whether it is time to search for uploads that were broken off: at first use, then once an hour.
    pub(crate) fn uploads_are_due(&self, now: Timestamp) -> bool {
        let mut sweep_at = self.sweep_at.lock();
        let due = now >= *sweep_at;
        if due {
            *sweep_at = Timestamp(now.0.saturating_add(SWEEP_PAUSE_MICROS));
        }
        due
    }

    /// Notes that the commit of an overlay, for which [`Slot::entry_in`] was called, found the row unchanged.
    pub(crate) fn committed(&self, view: &Overlay, seq: Seq) {
        if view.has_written(&self.row) {
            return;
        }
        let mut known = self.known.write();
        if (known.since..=known.until).contains(&view.seq()) && known.until < seq {
            known.until = seq;
        }
    }
}
