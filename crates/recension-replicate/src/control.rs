//! Stopping a replication from another thread, and watching its progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::statistics::Statistics;

/// A handle to a replication; its clones are the same one.
#[derive(Clone, Default, Debug)]
pub struct Control(Arc<Inner>);

#[derive(Default, Debug)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default, Debug)]
struct State {
    stopped: bool,
    statistics: Statistics,
}

impl Control {
    /// Asks it to end. It ends between two batches.
    pub fn stop(&self) {
        self.0.state.lock().stopped = true;
        self.0.changed.notify_all();
    }

    /// Whether it was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.0.state.lock().stopped
    }

    /// Its statistics so far.
    pub fn statistics(&self) -> Statistics {
        self.0.state.lock().statistics.clone()
    }

    pub(crate) fn tell(&self, statistics: &Statistics) {
        self.0.state.lock().statistics = statistics.clone();
    }

    /// Waits; returns `false` as soon as the replication must end.
    pub fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.0.state.lock();
        while !state.stopped {
            if self.0.changed.wait_until(&mut state, until).timed_out() {
                return !state.stopped;
            }
        }
        false
    }
}
