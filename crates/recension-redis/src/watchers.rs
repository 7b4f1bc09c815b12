//! Keys that callers watch, and how often each was removed meanwhile: a key that was made and removed looks like one
//! that was never there, and its watchers are told all the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

type Watched = (usize, Vec<u8>);

/// The watched keys of all callers, with the number of removals of each.
#[derive(Clone, Default)]
pub(crate) struct Watchers(Arc<Mutex<HashMap<Watched, Arc<AtomicU64>>>>);

impl Watchers {
    /// Watches a key of a database until the answer is dropped.
    pub(crate) fn watch(&self, database: usize, key: &[u8]) -> Watch {
        let watched = (database, key.to_vec());
        let removals = self.0.lock().entry(watched.clone()).or_default().clone();
        Watch { watchers: self.clone(), watched, before: removals.load(Ordering::SeqCst), removals }
    }

    /// A key is about to be removed. Whoever begins to watch it later sees it first, and misses it then.
    pub(crate) fn removed(&self, database: usize, key: &[u8]) {
        let watched = self.0.lock();
        if !watched.is_empty()
            && let Some(removals) = watched.get(&(database, key.to_vec()))
        {
            removals.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// The keys of a database that are watched.
    pub(crate) fn watched(&self, database: usize) -> Vec<Vec<u8>> {
        self.0.lock().keys().filter(|(of, _)| *of == database).map(|(_, key)| key.clone()).collect()
    }
}

/// A caller's watch of a key.
pub(crate) struct Watch {
    watchers: Watchers,
    watched: Watched,
    removals: Arc<AtomicU64>,
    before: u64,
}

impl Watch {
    /// Whether the key was removed since.
    pub(crate) fn was_removed(&self) -> bool {
        self.removals.load(Ordering::SeqCst) != self.before
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut watched = self.watchers.0.lock();
        // This one and the map's: nobody else watches the key.
        if Arc::strong_count(&self.removals) <= 2 {
            watched.remove(&self.watched);
        }
    }
}
