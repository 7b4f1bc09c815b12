//! Long replies are made one at a time: their bytes are in memory before it is known how many they are.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use recension::engine::budget::Budget;

use crate::data::{Refusal, refuse};
use crate::limits::{LONG_BYTES, PATIENCE_SECONDS, REPLY_BYTES_MAX};
use crate::reply::ITEM_BYTES;

/// How long a reply waits for room that cannot be made again.
const PATIENCE: Duration = Duration::from_secs(PATIENCE_SECONDS);

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
    /// It is made once there is room: what it reports is done, and cannot be done again.
    Kept,
    /// It is given up, since it can be made again.
    Droppable,
    /// It was given up.
    GivenUp,
    /// There is: it was paid for before.
    Paid,
}

/// The bytes of a reply that is being made.
pub(crate) struct Gathered {
    turns: Arc<Turns>,
    bytes: usize,
    pub(crate) turn: Option<Turn>,
    /// The budget that is to pay for it.
    sending: Arc<Budget>,
    pub(crate) long: Long,
}

impl Gathered {
    pub(crate) fn new(turns: &Arc<Turns>, turn: Option<Turn>, sending: &Arc<Budget>, long: Long) -> Self {
        Gathered { turns: Arc::clone(turns), bytes: 0, turn, sending: Arc::clone(sending), long }
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

    /// Waits until it may have a reply of this many bytes; returns whether there is room for it, or it is given up.
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        let sending = &self.sending;
        if bytes > LONG_BYTES && self.long != Long::GivenUp {
            let is_full = || sending.waiting() > 0 || sending.held().saturating_add(bytes) > sending.max();
            if self.long == Long::Droppable && is_full() {
                self.long = Long::GivenUp;
            } else if self.turn.is_none() {
                let is_kept = self.long == Long::Kept;
                self.turn = Some(waiting(|| {
                    let turn = self.turns.take();
                    // Those before it may have taken all the room. Who does not read is cut off while this one waits;
                    // if that does not help either, it is done nevertheless.
                    if is_kept {
                        drop(sending.take_within(sending.max() / 2, PATIENCE));
                    }
                    turn
                }));
            }
        }
        self.long != Long::GivenUp
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
