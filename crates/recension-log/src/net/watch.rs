//! Waiting for news of a log: by notifications of its system, or by polling.

use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::Position;

/// The known end of a log, and its waiters.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    /// The newest known record.
    newest: Position,
    wakes: u64,
}

impl Watch {
    /// Learns that there is a record at `position`.
    pub(crate) fn heard(&self, position: Position) {
        let mut state = self.state.lock();
        if position > state.newest {
            state.newest = position;
            self.news.notify_all();
        }
    }

    /// The log does not have the newest known record any more.
    pub(crate) fn went_back(&self) {
        self.state.lock().newest = Position(0);
    }

    /// The newest known record.
    pub(crate) fn newest(&self) -> Position {
        self.state.lock().newest
    }

    /// Waits for news of a record at `position` or behind, or for a wake-up.
    pub(crate) fn wait(&self, position: Position, timeout: Duration) {
        let mut state = self.state.lock();
        let wakes = state.wakes;
        self.news.wait_while_for(&mut state, |state| state.newest < position && state.wakes == wakes, timeout);
    }

    /// The same, calling `has` every `interval`.
    pub(crate) fn poll(&self, position: Position, timeout: Duration, interval: Duration, has: impl Fn() -> bool) {
        let end = Instant::now() + timeout;
        let wakes = self.state.lock().wakes;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            self.wait(position, interval.min(left));
            let state = self.state.lock();
            if state.newest >= position || state.wakes != wakes || Instant::now() >= end {
                return;
            }
            drop(state);
            if has() {
                return;
            }
        }
    }

    pub(crate) fn wake(&self) {
        self.state.lock().wakes += 1;
        self.news.notify_all();
    }
}
