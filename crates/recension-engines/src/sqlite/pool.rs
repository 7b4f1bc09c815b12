//! The connections that read: opened when first needed, a bounded number, each lent for one statement or page.
//! A reader must never hold one while its caller's code runs, or readers could wait for each other for ever.

use std::path::PathBuf;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use recension::engine::Result;
use rusqlite::Connection;

use super::error::ErrorContext;
use super::file;

pub(super) struct Pool {
    path: PathBuf,
    errors: ErrorContext,
    busy_timeout: Duration,
    connections_max: usize,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// Idle and lent.
    open: usize,
}

impl Pool {
    pub(super) fn new(path: PathBuf, errors: ErrorContext, connections_max: usize, busy_timeout: Duration) -> Self {
        Pool {
            path,
            errors,
            busy_timeout,
            connections_max: connections_max.max(1),
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    pub(super) fn open_connections(&self) -> usize {
        self.state.lock().open
    }

    /// Lends a connection to `read`, which must not call code of the engine's user.
    pub(super) fn with<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let connection = self.take()?;
        let result = read(&connection);
        self.state.lock().idle.push(connection);
        self.returned.notify_one();
        result
    }

    fn take(&self) -> Result<Connection> {
        let mut state = self.state.lock();
        while state.idle.is_empty() && state.open >= self.connections_max {
            self.returned.wait(&mut state);
        }
        if let Some(connection) = state.idle.pop() {
            return Ok(connection);
        }
        state.open += 1;
        drop(state);
        file::connect_reader(&self.path, self.busy_timeout).map_err(|error| {
            self.state.lock().open -= 1;
            self.returned.notify_one();
            self.errors.map(error)
        })
    }
}
