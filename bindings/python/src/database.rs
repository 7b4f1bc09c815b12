//! A store that is open, and its transactions.

use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use recension::engine::Seq;
use recension::{At, Position};
use recension_bindings::{Handle, Result, Within};

use crate::failure::{raised, refused};
use crate::query::moment;
use crate::rows::{Changes, Feed};

/// Does something while other threads run.
pub(crate) fn aside<T: Send>(py: Python<'_>, does: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(does).map_err(|error| refused(py, &error))
}

/// A store. See `recension_db.Database`.
#[pyclass(frozen, subclass, module = "recension_db._recension")]
pub(crate) struct Database {
    pub(crate) handle: Arc<Handle>,
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (address, *, share = false, read_only = false))]
    fn new(py: Python<'_>, address: &str, share: bool, read_only: bool) -> PyResult<Self> {
        let handle = Arc::new(Handle::closed());
        aside(py, || handle.open(address, share, read_only))?;
        Ok(Database { handle })
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.handle.close());
    }

    #[getter]
    fn closed(&self) -> bool {
        self.handle.is_closed()
    }

    #[getter]
    fn seq(&self, py: Python<'_>) -> PyResult<u64> {
        aside(py, || Ok(self.handle.store()?.resolve(At::Now)?)).map(|seq| seq.0)
    }

    fn collections(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = aside(py, || Ok(self.handle.store()?.collections(At::Now)?))?;
        Ok(found.into_iter().map(|collection| collection.name).collect())
    }

    fn drop(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        aside(py, || Ok(self.handle.store()?.drop_collection(name)?))
    }

    /// The number of the commit that a moment names.
    fn resolve(&self, py: Python<'_>, at: &Bound<'_, PyAny>) -> PyResult<u64> {
        let at = moment(Some(at))?;
        aside(py, || Ok(self.handle.store()?.resolve(at)?)).map(|seq| seq.0)
    }

    fn begin(&self, py: Python<'_>) -> PyResult<Transaction> {
        let within = Arc::new(Within::ended());
        aside(py, || within.begin(&self.handle))?;
        Ok(Transaction { within })
    }

    #[pyo3(signature = (since = None, *, follow = false, timeout = None))]
    fn changes(
        &self,
        py: Python<'_>,
        since: Option<&Bound<'_, PyAny>>,
        follow: bool,
        timeout: Option<f64>,
    ) -> PyResult<Changes> {
        let (since, timeout) = (position(since)?, seconds(timeout)?);
        let feed = aside(py, || {
            let store = self.handle.store()?;
            Ok(if follow {
                Feed::Follow(Box::new(store.follow(since)), timeout)
            } else {
                Feed::Known(Box::new(store.changes(since)?))
            })
        })?;
        Ok(Changes::new(feed))
    }

    /// Writes a consistent copy of the store into a folder; one that was broken off goes on.
    fn backup<'py>(&self, py: Python<'py>, to: std::path::PathBuf) -> PyResult<Bound<'py, PyDict>> {
        let report = aside(py, || Ok(self.handle.store()?.engine().backup(&to)?))?;
        let found = PyDict::new(py);
        found.set_item("seq", report.head.0)?;
        found.set_item("files_copied", report.files_copied)?;
        found.set_item("bytes_copied", report.bytes_copied)?;
        Ok(found)
    }
}

/// A position of a feed: nothing, a commit's number, or a text that `position` was.
pub(crate) fn position(since: Option<&Bound<'_, PyAny>>) -> PyResult<Position> {
    let Some(since) = since.filter(|since| !since.is_none()) else { return Ok(Position::START) };
    if let Ok(seq) = since.extract::<u64>() {
        return Ok(Seq(seq).into());
    }
    let text = since.extract::<String>().map_err(|_| {
        pyo3::exceptions::PyTypeError::new_err("since: give a commit's number, or the position of a feed as a text")
    })?;
    text.parse().map_err(|error| raised(since.py(), error))
}

pub(crate) fn seconds(timeout: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = |_| pyo3::exceptions::PyValueError::new_err("timeout: give seconds, 0 or more");
    timeout.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(wrong)).transpose()
}

/// A transaction. See `recension_db.Transaction`.
#[pyclass(frozen, subclass, module = "recension_db._recension")]
pub(crate) struct Transaction {
    pub(crate) within: Arc<Within>,
}

#[pymethods]
impl Transaction {
    #[new]
    fn new(py: Python<'_>, database: &Database) -> PyResult<Self> {
        database.begin(py)
    }

    #[getter]
    fn seq(&self, py: Python<'_>) -> PyResult<u64> {
        aside(py, || self.within.with(|transaction| Ok(transaction.seq().0)))
    }

    /// Commits; answers the number of the commit.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        aside(py, || self.within.commit()).map(|seq| seq.0)
    }

    fn rollback(&self, py: Python<'_>) {
        py.detach(|| self.within.roll_back());
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        kind: Option<&Bound<'_, PyType>>,
        _value: Option<&Bound<'_, PyAny>>,
        _trace: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        if kind.is_some() {
            self.rollback(py);
        } else if py.detach(|| !self.within.has_ended()) {
            self.commit(py)?;
        }
        Ok(false)
    }
}
