//! The right to build an index: one thread of a process has it. The builder may be the caller that made the index, or a
//! thread that continues a build of a process that died. An opened store starts such a thread, which ends with the
//! store.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::engine::{Clock, Direction, Engine, KeyRange, Snapshot, TreeId};
use crate::faces::store::Store;
use crate::kernel::rows::catalogue::{BUILDS_PREFIX, BuildCursor, CATALOGUE};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::model::IndexState;

/// The trees of indexes that this process is building. A tree is known by its engine and its number.
static BUILDS: Builds = Builds { claimed: Mutex::new(BTreeSet::new()), given_back: Condvar::new() };

/// Time to wait for another builder before looking at the index again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

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
        let mut builds = now.range(CATALOGUE, &KeyRange::prefix(BUILDS_PREFIX), Direction::Forward);
        if builds.next().transpose()?.is_none() {
            return Ok(None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (engine, clock, stopped) = (engine.clone(), clock.clone(), stop.clone());
        let thread = std::thread::Builder::new().name("recension-indexing".to_owned());
        let work = move || {
            // If it fails now, the next opening of the store tries again.
            let _ = Store::without_builder(engine, clock).finish_builds(&stopped);
        };
        Ok(thread.spawn(work).ok().map(|thread| Builder { stop, thread: Some(thread) }))
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
            collection.build_access(stop)?;
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
