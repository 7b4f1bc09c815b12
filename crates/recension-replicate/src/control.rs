//! Stopping a replication from another thread, and watching its progress.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::{Error, Result};
use crate::statistics::Statistics;

/// Whether who asked for a replication still may.
type Asks = dyn Fn() -> Result<()> + Send + Sync;

/// A handle to a replication; its clones are the same one.
#[derive(Clone, Default, Debug)]
pub struct Control(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
    asks: Option<Box<Asks>>,
}

#[derive(Default, Debug)]
struct State {
    stopped: bool,
    /// Why who asked for it may not any more.
    refused: Option<String>,
    statistics: Statistics,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("state", &self.state).finish_non_exhaustive()
    }
}

impl Control {
    /// Of a replication that ends once `asks` answers with [`Error::Refused`]. It is asked before each piece is read or
    /// written.
    pub fn asking(asks: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Control(Arc::new(Inner { asks: Some(Box::new(asks)), ..Inner::default() }))
    }

    /// Whether who asked for it still may; if not, it is stopped.
    ///
    /// # Errors
    /// [`Error::Refused`], from then on always; whatever else keeps from knowing it.
    pub fn permitted(&self) -> Result<()> {
        if let Some(reason) = self.0.state.lock().refused.clone() {
            return Err(Error::Refused(reason));
        }
        let answer = self.0.asks.as_ref().map_or(Ok(()), |asks| asks());
        if let Err(Error::Refused(reason)) = &answer {
            self.0.state.lock().refused = Some(reason.clone());
            self.stop();
        }
        answer
    }

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
