//! A store that is open, and its transactions.

use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyType};
use recension::engine::Seq;
use recension::{At, Position, Restored, Store};
use recension_bindings::branches::{self, MergeAsked};
use recension_bindings::{Handle, Result, Within};

use crate::failure::{raised, refused};
use crate::json::{self, Encoding, Nan};
use crate::query::moment;
use crate::rows::{Changes, Feed, Item, Rows};

/// Does something while other threads run.
pub(crate) fn aside<T: Send>(py: Python<'_>, does: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(does).map_err(|error| refused(py, &error))
}

/// Says that this process was forked off.
#[pyfunction(name = "_forked")]
pub(crate) fn forked() {
    recension_bindings::forked();
}

/// A store. See `recension_db.Database`.
#[pyclass(frozen, subclass, module = "recension_db._recension")]
pub(crate) struct Database {
    pub(crate) handle: Arc<Handle>,
    pub(crate) encoding: Arc<Encoding>,
    address: String,
}

#[pymethods]
impl Database {
    #[new]
    #[pyo3(signature = (address, *, share = false, read_only = false, default = None, nan = None))]
    fn new(
        py: Python<'_>,
        address: &Bound<'_, PyAny>,
        share: bool,
        read_only: bool,
        default: Option<Py<PyAny>>,
        nan: Option<&str>,
    ) -> PyResult<Self> {
        if let Ok(opened) = address.cast::<Opened>() {
            let Opened { handle, encoding, address } = opened.get();
            return Ok(Database { handle: handle.clone(), encoding: encoding.clone(), address: address.clone() });
        }
        let nan = match nan {
            None => Nan::Refused,
            Some("null") => Nan::Null,
            Some("omit") => Nan::Omitted,
            Some(_) => return Err(PyValueError::new_err("nan: give \"null\", \"omit\" or None")),
        };
        if let Some(default) = default.as_ref().filter(|default| !default.bind(py).is_callable()) {
            let what = default.bind(py).get_type();
            return Err(PyTypeError::new_err(format!("default: give a function, not {what}")));
        }
        let address = address.extract::<String>()?;
        let handle = Arc::new(Handle::closed());
        aside(py, || handle.open(&address, share, read_only))?;
        Ok(Database { handle, encoding: Arc::new(Encoding { default, nan }), address })
    }

    /// Where the store is, as it was opened.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Closes the store. What is being iterated over, and a branch that is open, keep it open until that ends.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.handle.close());
    }

    /// Whether it was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.handle.is_closed()
    }

    /// The number of the newest commit.
    #[getter]
    fn seq(&self, py: Python<'_>) -> PyResult<u64> {
        aside(py, || Ok(self.handle.store()?.resolve(At::Now)?)).map(|seq| seq.0)
    }

    /// The names of the collections.
    fn collections(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let found = aside(py, || Ok(self.handle.store()?.collections(At::Now)?))?;
        Ok(found.into_iter().map(|collection| collection.name).collect())
    }

    /// Drops a collection; returns whether there was one. Its past can be read.
    fn drop(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        aside(py, || Ok(self.handle.store()?.drop_collection(name)?))
    }

    /// The number of the commit that a moment names.
    fn resolve(&self, py: Python<'_>, at: &Bound<'_, PyAny>) -> PyResult<u64> {
        let at = moment(Some(at))?;
        aside(py, || Ok(self.handle.store()?.resolve(at)?)).map(|seq| seq.0)
    }

    /// A branch, for the class of Python to be made of; `made_at`: a new one.
    #[pyo3(signature = (name, made_at = None))]
    fn _branch(&self, py: Python<'_>, name: &str, made_at: Option<&Bound<'_, PyAny>>) -> PyResult<Opened> {
        let made_at = made_at.map(|at| moment(Some(at))).transpose()?;
        let branch = Arc::new(Handle::closed());
        aside(py, || branch.open_branch(&self.handle, name, made_at))?;
        let place = self.address.split_once('#').map_or(self.address.as_str(), |(place, _)| place);
        Ok(Opened { handle: branch, encoding: self.encoding.clone(), address: format!("{place}#{name}") })
    }

    /// The name of the branch; `None` on the main line.
    #[getter]
    fn branch_name(&self, py: Python<'_>) -> PyResult<Option<String>> {
        aside(py, || Ok(self.handle.store()?.branch_name().map(str::to_owned)))
    }

    /// The branches of the store: for each `name`, `from` (the branch that it began as) and `seq` (where).
    fn branches<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::value(py, &aside(py, || branches::branches(&self.handle.store()?))?)
    }

    /// Gives a branch another name.
    fn rename_branch(&self, py: Python<'_>, name: &str, to: &str) -> PyResult<()> {
        aside(py, || Ok(self.handle.store()?.rename_branch(name, to)?))
    }

    /// Drops a branch with everything that was written on it.
    fn drop_branch(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        aside(py, || Ok(self.handle.store()?.drop_branch(name)?))
    }

    /// Gives a moment a name, `at="tag:NAME"`: it stays readable as long as the tag is there.
    ///
    /// Returns the number of its commit.
    #[pyo3(signature = (name, at = None))]
    fn tag(&self, py: Python<'_>, name: &str, at: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let at = moment(at)?;
        aside(py, || Ok(self.handle.store()?.tag(name, at)?)).map(|tag| tag.seq.0)
    }

    /// The tags of the store: for each `name`, `branch` and `seq`.
    fn tags<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::value(py, &aside(py, || branches::tags(&self.handle.store()?))?)
    }

    /// Removes a tag; returns whether there was one.
    fn untag(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        aside(py, || Ok(self.handle.store()?.untag(name)?))
    }

    /// The documents that differ between this store, which is before, and another branch, a `Database` or a name.
    ///
    /// An iterator of `{"collection", "id", "before", "after"}`. `at` and `other_at` are moments of the two.
    #[pyo3(signature = (other, *, at = None, other_at = None))]
    fn diff(
        &self,
        py: Python<'_>,
        other: &Bound<'_, PyAny>,
        at: Option<&Bound<'_, PyAny>>,
        other_at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        let (at, other_at, other) = (moment(at)?, moment(other_at)?, Other::of(other)?);
        let found = aside(py, || {
            let store = self.handle.store()?;
            branches::differences(&store, at, &other.store(&store)?, other_at)
        })?;
        Ok(Rows::new(found.map(|text| text.map(Item::Json))))
    }

    /// Merges another branch, a `Database` or a name, into this one, member by member.
    ///
    /// Where both changed the same differently, `conflicts` says what happens: `"fields"` leaves both revisions,
    /// `"ours"` and `"theirs"` choose, `"abort"` writes nothing. Returns what was done (with `dry_run`: what would be):
    /// `seq`, `taken`, `combined`, `conflicted`, `conflicts`, `dropped` and `made`.
    #[pyo3(signature = (other, *, conflicts = "fields", dry_run = false, counters = None, identities = None))]
    fn merge<'py>(
        &self,
        py: Python<'py>,
        other: &Bound<'py, PyAny>,
        conflicts: &str,
        dry_run: bool,
        counters: Option<Vec<String>>,
        identities: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let other = Other::of(other)?;
        let (conflicts, counters) = (Some(conflicts.to_owned()), counters.unwrap_or_default());
        let asked = MergeAsked { conflicts, dry_run, counters, identities };
        let merged = aside(py, || {
            let store = self.handle.store()?;
            branches::merge(&store, &other.store(&store)?, asked)
        })?;
        json::value(py, &merged)
    }

    /// Brings every collection back to its state at a moment; one that was dropped since, too.
    ///
    /// Returns how many documents were `restored` and `deleted`, in how many `commits`.
    fn restore_to<'py>(&self, py: Python<'py>, at: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let at = moment(Some(at))?;
        restored(py, &aside(py, || Ok(self.handle.store()?.restore_to(at)?))?)
    }

    /// Begins a transaction: `Database.transaction`.
    fn begin(&self, py: Python<'_>) -> PyResult<Transaction> {
        let within = Arc::new(Within::ended());
        aside(py, || within.begin(&self.handle))?;
        Ok(Transaction { within, encoding: self.encoding.clone() })
    }

    /// What has changed since a position, in order: one dict for each document, at its newest revision.
    ///
    /// `follow`: wait for what comes, `timeout` seconds at most. The result's `position` is where to go on.
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

/// A store that was opened, before it is a `Database`.
#[pyclass(frozen, module = "recension_db._recension")]
pub(crate) struct Opened {
    handle: Arc<Handle>,
    encoding: Arc<Encoding>,
    address: String,
}

/// Another branch of the same store.
enum Other {
    Named(String),
    Opened(Arc<Handle>),
}

impl Other {
    fn of(other: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(database) = other.cast::<Database>() {
            return Ok(Other::Opened(Arc::clone(&database.get().handle)));
        }
        let named = other.extract::<String>().map(Other::Named);
        named.map_err(|_| PyTypeError::new_err("give a branch: its name, or the Database that it is"))
    }

    fn store(&self, of: &Store) -> Result<Store> {
        match self {
            Other::Named(name) => Ok(of.open_branch(name)?),
            Other::Opened(handle) => handle.store(),
        }
    }
}

/// What a restore did, as a dict.
pub(crate) fn restored<'py>(py: Python<'py>, told: &Restored) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("restored", told.restored)?;
    found.set_item("deleted", told.deleted)?;
    found.set_item("commits", told.commits)?;
    Ok(found)
}

/// A position of a feed: nothing, a commit's number, or a text that `position` was.
pub(crate) fn position(since: Option<&Bound<'_, PyAny>>) -> PyResult<Position> {
    let Some(since) = since.filter(|since| !since.is_none()) else { return Ok(Position::START) };
    let wrong = || PyTypeError::new_err("since: give a commit's number, or the position of a feed as a text");
    if since.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    if let Ok(seq) = since.extract::<u64>() {
        return Ok(Seq(seq).into());
    }
    let text = since.extract::<String>().map_err(|_| wrong())?;
    text.parse().map_err(|error| raised(since.py(), error))
}

pub(crate) fn seconds(timeout: Option<f64>) -> PyResult<Option<Duration>> {
    let wrong = |_| PyValueError::new_err("timeout: give seconds, 0 or more");
    timeout.map(|seconds| Duration::try_from_secs_f64(seconds).map_err(wrong)).transpose()
}

/// A transaction. See `recension_db.Transaction`.
#[pyclass(frozen, subclass, module = "recension_db._recension")]
pub(crate) struct Transaction {
    pub(crate) within: Arc<Within>,
    pub(crate) encoding: Arc<Encoding>,
}

#[pymethods]
impl Transaction {
    #[new]
    fn new(py: Python<'_>, database: &Database) -> PyResult<Self> {
        database.begin(py)
    }

    /// The commit whose state it reads.
    #[getter]
    fn seq(&self, py: Python<'_>) -> PyResult<u64> {
        aside(py, || self.within.with(|transaction| Ok(transaction.seq().0)))
    }

    /// Commits; returns the number of the commit.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        aside(py, || self.within.commit()).map(|seq| seq.0)
    }

    /// Gives it up: nothing is written.
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
