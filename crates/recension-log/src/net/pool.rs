//! Pooled connections. One that has failed is dropped by its user.

use parking_lot::Mutex;

/// Most idle connections.
const IDLE_MAX: usize = 8;

/// Idle connections.
pub(crate) struct Pool<C> {
    idle: Mutex<Vec<C>>,
}

impl<C> Pool<C> {
    pub(crate) fn new() -> Self {
        Pool { idle: Mutex::new(Vec::new()) }
    }

    /// Takes an idle one.
    pub(crate) fn take(&self) -> Option<C> {
        self.idle.lock().pop()
    }

    /// Gives a working one back.
    pub(crate) fn give(&self, connection: C) {
        let mut idle = self.idle.lock();
        if idle.len() < IDLE_MAX {
            idle.push(connection);
        }
    }

    /// Drops idle ones: the server has changed.
    pub(crate) fn clear(&self) {
        self.idle.lock().clear();
    }
}
