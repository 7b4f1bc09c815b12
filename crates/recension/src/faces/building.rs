//! The right to build an index: one thread of a process has it. The builder may be the caller that made the index, or a
//! thread that continues a build of a process that died. An opened store starts such a thread, which ends with the
//! store, after one step at least: so that many short openings come to an end, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::engine::{Clock, Direction, Engine, EngineError, KeyRange, Snapshot, TreeId};
use crate::faces::store::Store;
use crate::kernel::rows::catalogue::{BUILDS_PREFIX, BuildCursor, CATALOGUE};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::model::IndexState;

/// The trees of indexes that this process is building. A tree is known by its engine and its number.
static BUILDS: Builds = Builds { claimed: Mutex::new(BTreeSet::new()), given_back: Condvar::new() };

/// Time to wait for another builder before looking at the index again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Looks between two tries of a build in whose way writers were.
const LOOKS_AFTER_FAILURE: u32 = 20;

struct Builds {
    claimed: Mutex<BTreeSet<(usize, TreeId)>>,
    given_back: Condvar,
}

/// The right to build an index, until it is dropped.
pub(crate) struct BuildClaim((usize, TreeId));

impl BuildClaim {
    /// Takes the right; `None` if another thread has it.
    pub(crate) fn take(engine: &Arc<dyn Engine>, tree: TreeId) -> Option<Self> {
        let key = (Arc::as_ptr(engine).cast::<()>() as usize, tree);
        // A dropped claim gives its right back, so a claim is made only if the right is free.
        let is_free = BUILDS.claimed.lock().insert(key);
        is_free.then(|| BuildClaim(key))
    }

    /// Waits a little, or until a claim is given back.
    pub(crate) fn wait() {
        BUILDS.given_back.wait_for(&mut BUILDS.claimed.lock(), BETWEEN_LOOKS);
    }
}

impl Drop for BuildClaim {
    fn drop(&mut self) {
        BUILDS.claimed.lock().remove(&self.0);
        BUILDS.given_back.notify_all();
    }
}

/// The thread that continues interrupted builds. It ends after its present step when this is dropped.
pub(crate) struct Builder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Builder {
    /// Starts it if there is anything to do; `None` if there is not, or the system gives no thread.
    pub(crate) fn start(engine: &Arc<dyn Engine>, clock: &Arc<dyn Clock>, now: &dyn Snapshot) -> Result<Option<Self>> {
        if builds(now)?.is_empty() {
            return Ok(None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (engine, clock, stopped) = (engine.clone(), clock.clone(), stop.clone());
        let thread = std::thread::Builder::new().name("recension-indexing".to_owned());
        let work = move || {
            let store = Store::without_builder(engine, clock);
            // After any other failure the next opening of the store tries again.
            while let Err(Error::Busy { .. } | Error::Engine(EngineError::Unavailable { .. })) =
                store.finish_builds(&stopped)
            {
                for _ in 0..LOOKS_AFTER_FAILURE {
                    if stopped.load(Ordering::Acquire) {
                        return;
                    }
                    BuildClaim::wait();
                }
            }
        };
        Ok(thread.spawn(work).ok().map(|thread| Builder { stop, thread: Some(thread) }))
    }
}

/// Where the builds are that were begun and are not done, each with its cursor.
fn builds(now: &dyn Snapshot) -> Result<BTreeMap<Vec<u8>, Vec<u8>>> {
    let rows = now.range(CATALOGUE, &KeyRange::prefix(BUILDS_PREFIX), Direction::Forward);
    rows.map(|row| row.map(|row| (row.key.into_owned(), row.value.bytes.into_owned())).map_err(Error::from)).collect()
}

/// The builder of an open store, and what it last saw of the builds of other processes.
#[derive(Default)]
pub(crate) struct Building {
    builder: Option<Builder>,
    seen: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Building {
    pub(crate) fn by(builder: Option<Builder>) -> Self {
        Building { builder, seen: BTreeMap::new() }
    }
}

impl Store {
    /// Goes on with builds that stand still: another process that had the store open began them, and has died. A
    /// process that stays calls this now and then; builds that have moved since the last call are left to who builds
    /// them.
    pub fn continue_builds(&self) -> Result<()> {
        let now = self.snapshot(At::Now)?;
        let found = builds(&*now)?;
        let mut building = self.building().lock();
        let stand_still = found.iter().any(|(key, cursor)| building.seen.get(key) == Some(cursor));
        building.seen = found;
        let is_at_work = building.builder.as_ref().and_then(|builder| builder.thread.as_ref());
        if stand_still && is_at_work.is_none_or(JoinHandle::is_finished) {
            building.builder = Builder::start(self.engine(), self.clock(), &*now)?;
        }
        Ok(())
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Store {
    /// Continues every build that no thread has claimed.
    fn finish_builds(&self, stop: &AtomicBool) -> Result<()> {
        for info in self.collections(At::Now)? {
            let collection = self.collection(&info.name)?;
            if collection.at(At::Now)?.entry.is_some_and(|entry| !self.has_key_of(&entry)) {
                continue;
            }
            collection.settings().build_access(stop)?;
            for index in info.indexes.into_iter().filter(|index| index.state == IndexState::Building) {
                // A crash may have come before the index had the collection's rule.
                collection.extend_retention()?;
                match collection.finish_build(&index.spec, stop) {
                    // The index is gone, or an existing document does not fit, and the index was dropped.
                    Ok(())
                    | Err(
                        Error::NoSuchIndex { .. }
                        | Error::NotUnique { .. }
                        | Error::ValueTooLong { .. }
                        | Error::TooManyEntries { .. },
                    ) => {}
                    Err(error) => return Err(error),
                }
                if stop.load(Ordering::Acquire) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// How many documents a build has done, according to a snapshot.
pub(crate) fn documents_done(snapshot: &dyn Snapshot, key: &[u8]) -> Result<u64> {
    Ok(snapshot.get(CATALOGUE, key)?.map_or(0, |row| BuildCursor::decode(&row).done))
}
