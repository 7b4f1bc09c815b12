//! A process that was forked off has copies of all that its parent has open, and of the locks on it. It must use none
//! of them: two processes would write to one log, and the one that ends first would give up the other's lock.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Refused, Result};

/// How many forks lie between this process and the first one.
static FORKS: AtomicU32 = AtomicU32::new(0);

const OF_PARENT: Refused = Refused::Closed(
    "the store was opened before this process was forked off, and is its parent's: open it here, with share in both",
);

/// Says that this process was forked off.
pub fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// The processes of before a fork and after it have different numbers.
pub(crate) fn process() -> u32 {
    FORKS.load(Ordering::Relaxed)
}

/// A value that only the process has that made it. Another one neither uses nor drops it.
pub struct Own<T> {
    value: Option<T>,
    made_in: u32,
}

impl<T> Own<T> {
    /// A value of this process.
    pub fn new(value: T) -> Self {
        Own { value: Some(value), made_in: process() }
    }

    /// The value, if it is this process'.
    pub fn get(&self) -> Result<&T> {
        self.value.as_ref().filter(|_| self.made_in == process()).ok_or(OF_PARENT)
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.made_in != process() {
            std::mem::forget(self.value.take());
        }
    }
}
