//! Expiry: the moment by which it is judged, and the thread that deletes expired keys and documents. A reader never
//! sees an expired key, even if the thread has not deleted it yet.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::engine::{Clock, Direction, Engine, EngineError, KeyRange, Snapshot, Timestamp, successor_of_prefix};
use crate::faces::store::Store;
use crate::kernel::rows::catalogue::{CATALOGUE, EXPIRY_PREFIX};
use crate::kernel::rows::key_rows::SPACES_PREFIX;
use recension_values::error::{Error, Result};

/// How often the thread looks for expired keys and documents.
const BETWEEN_SWEEPS: Duration = Duration::from_secs(1);

/// The expiry of one store.
#[derive(Default)]
pub(crate) struct Expiring {
    /// The latest moment that this store has seen. If the clock goes back, expired keys stay expired.
    latest: Arc<AtomicU64>,
    sweeper: OnceLock<Option<Sweeper>>,
    /// Held while the thread sweeps.
    sweeping: Arc<Mutex<()>>,
}

impl Expiring {
    fn beside(&self) -> Self {
        Expiring { latest: self.latest.clone(), sweeper: OnceLock::new(), sweeping: self.sweeping.clone() }
    }

    /// Keeps the thread from reading, so that no snapshot of it keeps files of the past from being removed.
    pub(crate) fn pause(&self) -> MutexGuard<'_, ()> {
        self.sweeping.lock()
    }

    fn at_least(&self, now: Timestamp) -> Timestamp {
        // Only a later moment needs a write.
        let before = self.latest.load(Ordering::Relaxed);
        if before >= now.0 {
            return Timestamp(before);
        }
        Timestamp(self.latest.fetch_max(now.0, Ordering::Relaxed).max(now.0))
    }
}

impl Store {
    /// The moment by which expiry is judged: the clock's, but never before an earlier such moment, or the time of a
    /// commit of this process.
    pub(crate) fn moment(&self) -> Timestamp {
        self.expiring().at_least(self.now())
    }

    /// Notes the time of a commit of this store.
    pub(crate) fn was_at(&self, time: Timestamp) {
        self.expiring().at_least(time);
    }

    /// Starts the thread that sweeps, if there may be anything to sweep one day. Expiry is judged by no moment before
    /// the newest commit from then on; a store without keys is not asked for its time.
    pub(crate) fn sweep_what_may_expire(&self, snapshot: &dyn Snapshot) -> Result<()> {
        let wanted = KeyRange::between(SPACES_PREFIX, successor_of_prefix(EXPIRY_PREFIX).unwrap_or_default());
        if snapshot.range(CATALOGUE, &wanted, Direction::Forward).next().transpose()?.is_some() {
            self.was_at(snapshot.time()?);
            self.sweep_from_now_on();
        }
        Ok(())
    }

    /// Starts the sweeping thread, if it does not run.
    pub(crate) fn sweep_from_now_on(&self) {
        self.expiring()
            .sweeper
            .get_or_init(|| Sweeper::start(self.engine().clone(), self.clock().clone(), self.expiring().beside()));
    }

    /// Deletes expired keys, and expired documents of collections that have a rule. Returns how many. An open store
    /// does this by itself once a second.
    pub fn sweep_expired(&self) -> Result<u64> {
        Ok(self.sweep_keys()? + self.sweep_all_documents()?)
    }
}

/// The sweeping thread. It ends after its present step when this is dropped.
struct Sweeper {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Sweeper {
    /// Starts it; `None` if the system gives no thread. Expired keys then stay on the disk until they are read.
    fn start(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>, expiring: Expiring) -> Option<Self> {
        let stop = Arc::<(Mutex<bool>, Condvar)>::default();
        let stopped = stop.clone();
        let work = move || {
            let store = Store::sweeping(engine, clock, expiring);
            let (stop, changed) = &*stopped;
            loop {
                {
                    let mut stop = stop.lock();
                    if !*stop {
                        changed.wait_for(&mut stop, BETWEEN_SWEEPS);
                    }
                    if *stop {
                        return;
                    }
                }
                let _sweeping = store.expiring().pause();
                match store.sweep_expired() {
                    Err(Error::Engine(error)) if is_for_good(&error) => return,
                    // What else cannot be done now is tried again.
                    _ => {}
                }
            }
        };
        let thread = std::thread::Builder::new().name("recension-expiry".to_owned()).spawn(work).ok()?;
        Some(Sweeper { stop, thread: Some(thread) })
    }
}

/// Whether no later sweep can succeed. A branch that was dropped never comes back: its number is not given again.
fn is_for_good(error: &EngineError) -> bool {
    matches!(error, EngineError::ReadOnly | EngineError::Poisoned { .. } | EngineError::NoSuchBranch { .. })
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        *self.stop.0.lock() = true;
        self.stop.1.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
