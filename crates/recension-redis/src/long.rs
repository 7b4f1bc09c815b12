//! Long replies are made one at a time: their bytes are in memory before it is known how many they are.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

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

/// The bytes of a reply that is being made.
pub(crate) struct Gathered {
    turns: Arc<Turns>,
    bytes: usize,
    pub(crate) turn: Option<Turn>,
}

impl Gathered {
    pub(crate) fn new(turns: &Arc<Turns>) -> Self {
        Gathered { turns: Arc::clone(turns), bytes: 0, turn: None }
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
        self.wait_if_long(self.bytes);
        Ok(())
    }

    /// The same for a reply of so many bytes that was made already.
    pub(crate) fn wait_if_long(&mut self, bytes: usize) {
        if bytes > LONG_BYTES && self.turn.is_none() {
            self.turn = Some(crate::door::waiting(|| self.turns.take()));
        }
    }
}
