//! Long replies are made one at a time: their bytes are in memory before it is known how many they are.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use recension::engine::budget::Budget;

use crate::data::{Refusal, refuse};
use crate::limits::{LONG_BYTES, REPLY_BYTES_MAX};
use crate::reply::ITEM_BYTES;

/// Whose turn it is.
#[derive(Default)]
pub(crate) struct Turns {
    taken: Mutex<bool>,
    free: Condvar,
}

/// The turn of one who makes a long reply, until it is dropped.
pub(crate) struct Turn(Arc<Turns>);

impl Turns {
    fn take(self: &Arc<Self>) -> Turn {
        let mut taken = self.taken.lock();
        self.free.wait_while(&mut taken, |taken| *taken);
        *taken = true;
        Turn(Arc::clone(self))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock() = false;
        self.0.free.notify_one();
    }
}

/// What becomes of a long reply for which there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Long {
    /// It is made nevertheless.
    Kept,
    /// It is given up, since it can be made again.
    Droppable,
    /// It was given up.
    GivenUp,
}

/// The bytes of a reply that is being made.
pub(crate) struct Gathered {
    turns: Arc<Turns>,
    bytes: usize,
    pub(crate) turn: Option<Turn>,
    /// The budget that is to pay for it. If that has no room, it is given up instead, to be made again later.
    budget: Option<Arc<Budget>>,
    /// It was given up.
    pub(crate) is_given_up: bool,
}

impl Gathered {
    pub(crate) fn new(turns: &Arc<Turns>, turn: Option<Turn>, budget: Option<Arc<Budget>>) -> Self {
        Gathered { turns: Arc::clone(turns), bytes: 0, turn, budget, is_given_up: false }
    }

    /// Another reply begins.
    pub(crate) fn begin(&mut self) {
        self.bytes = 0;
    }

    /// Counts an item before it is kept. From [`LONG_BYTES`] on it waits for its turn, which it has until the reply is
    /// paid for.
    pub(crate) fn add(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.bytes = self.bytes.saturating_add(bytes).saturating_add(ITEM_BYTES);
        if self.bytes > REPLY_BYTES_MAX {
            return Err(refuse("that is more than one reply has (64 MiB): ask for a part of it"));
        }
        if !self.has_room(self.bytes) {
            return Err(refuse("there is no room for the reply"));
        }
        Ok(())
    }

    /// Waits until it may have a reply of so many bytes; returns whether there is room for it, or it is given up.
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        let full = |budget: &Arc<Budget>| budget.waiting() > 0 || budget.held().saturating_add(bytes) > budget.max();
        self.is_given_up |= bytes > LONG_BYTES && self.budget.as_ref().is_some_and(full);
        if bytes > LONG_BYTES && self.turn.is_none() && !self.is_given_up {
            self.turn = Some(waiting(|| self.turns.take()));
        }
        !self.is_given_up
    }
}

/// Waits for the disk, or for others. If the runtime allows it, the other tasks of this thread go on meanwhile.
pub(crate) fn waiting<T>(commit: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => tokio::task::block_in_place(commit),
        _ => commit(),
    }
}
