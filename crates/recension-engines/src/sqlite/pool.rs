//! The connections that read. They are opened when they are first needed, up to a bound, and each is lent for one
//! statement or page. A reader must never hold one while its caller's code runs, or readers could wait for each other
//! for ever.

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
    /// The number of idle and lent connections.
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
        let place = Place(self);
        let result = read(&connection);
        place.keep(connection);
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

/// The place of a lent connection. If `read` panics, the connection is closed, since its state is not known, and
/// another one may take the place.
struct Place<'p>(&'p Pool);

impl Place<'_> {
    fn keep(self, connection: Connection) {
        self.0.state.lock().idle.push(connection);
        self.0.returned.notify_one();
        std::mem::forget(self);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state.lock().open -= 1;
        self.0.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc;

    use super::super::{SqliteEngine, SqliteOptions};
    use super::*;

    #[test]
    fn a_read_that_panics_leaves_its_place_to_others() {
        let dir = tempfile::tempdir().unwrap();
        let options = SqliteOptions { read_connections: 1, ..SqliteOptions::default() };
        let engine = SqliteEngine::open(&dir.path().join("store.db"), options).unwrap();
        let readers = &engine.shared.readers;
        let panicked = catch_unwind(AssertUnwindSafe(|| readers.with(|_| -> Result<()> { panic!("on purpose") })));
        assert!(panicked.is_err());
        assert_eq!(readers.open_connections(), 0);
        let (done, read) = mpsc::channel();
        let shared = engine.shared.clone();
        std::thread::spawn(move || {
            let answer = shared.readers.with(|connection| {
                let answer = connection.query_row("SELECT 7", [], |row| row.get::<_, i64>(0));
                Ok(answer.unwrap())
            });
            done.send(answer.unwrap()).unwrap();
        });
        assert_eq!(read.recv_timeout(Duration::from_mins(1)), Ok(7), "it waits for a place that nobody has");
    }
}
