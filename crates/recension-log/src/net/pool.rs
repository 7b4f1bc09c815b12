//! Connections that are used again. One that has failed is dropped by whoever had it.

use parking_lot::Mutex;

/// Connections that wait to be used, at most.
const IDLE_MAX: usize = 8;

/// Idle connections.
pub(crate) struct Pool<C> {
    idle: Mutex<Vec<C>>,
}

impl<C> Pool<C> {
    pub(crate) fn new() -> Self {
        Pool { idle: Mutex::new(Vec::new()) }
    }

    /// One that is idle.
    pub(crate) fn take(&self) -> Option<C> {
        self.idle.lock().pop()
    }

    /// Gives back one that is sound.
    pub(crate) fn give(&self, connection: C) {
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }

    /// Drops what is idle: the server is another one now.
    pub(crate) fn clear(&self) {
        self.idle.lock().clear();
    }
}
