//! Syncs that are held up, so that a test can check what happens meanwhile.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::{OpKind, SimDisk};

const LONG: Duration = Duration::from_secs(20);

/// Holds up the syncs of a disk while it is shut.
#[derive(Clone, Default, Debug)]
pub struct Gate(Arc<(Mutex<Held>, Condvar)>);

#[derive(Default, Debug)]
struct Held {
    shut: bool,
    waits: bool,
    passed: u32,
}

impl Gate {
    /// A gate for the syncs of a disk.
    pub fn on(disk: &SimDisk) -> Self {
        let gate = Gate::default();
        let held = gate.clone();
        disk.before(OpKind::Sync, move |_| held.pass());
        gate
    }

    fn pass(&self) {
        let (held, changed) = &*self.0;
        let mut held = held.lock();
        while held.shut {
            held.waits = true;
            changed.notify_all();
            changed.wait(&mut held);
        }
        held.waits = false;
        held.passed += 1;
    }

    /// Shuts it.
    pub fn shut(&self) {
        self.0.0.lock().shut = true;
    }

    /// Opens it. Returns the number of syncs that had passed.
    pub fn open(&self) -> u32 {
        let mut held = self.0.0.lock();
        held.shut = false;
        self.0.1.notify_all();
        held.passed
    }

    /// The number of syncs that have passed.
    pub fn passed(&self) -> u32 {
        self.0.0.lock().passed
    }

    /// Returns when a sync waits.
    ///
    /// # Panics
    /// If no sync comes for a long time.
    pub fn until_one_waits(&self) {
        let (held, changed) = &*self.0;
        let mut held = held.lock();
        while !held.waits {
            assert!(!changed.wait_for(&mut held, LONG).timed_out(), "nothing is synced");
        }
    }
}
