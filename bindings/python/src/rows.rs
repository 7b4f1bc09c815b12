//! Long answers as iterators: some items are fetched at a time while other threads run, and each becomes a Python value
//! when it is asked for.

use std::time::Duration;

use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use recension::{Change, Document, Follow, Result, Revision, format_time};
use recension_bindings::{Ahead, Own};

use crate::failure::{raised, refused};
use crate::json;

/// How long other threads may run before a wait looks for a signal (Ctrl-C).
const SIGNALS_EVERY: Duration = Duration::from_millis(100);

/// An item of a long answer.
pub(crate) enum Item {
    Document(Document<'static>),
    Id(String),
    Json(String),
    Revision(String, Revision),
}

impl Item {
    fn bytes(&self) -> usize {
        match self {
            Item::Document(document) => document.body.len(),
            Item::Id(text) | Item::Json(text) => text.len(),
            Item::Revision(_, revision) => revision.body.len(),
        }
    }

    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        match self {
            Item::Document(document) => json::document(py, &document),
            Item::Id(id) => Ok(id.into_pyobject(py)?.into_any()),
            Item::Json(text) => json::value(py, &text),
            Item::Revision(id, revision) => {
                let found = PyDict::new(py);
                found.set_item("rev", revision.rev.to_string())?;
                found.set_item("seq", revision.seq.0)?;
                found.set_item("time", format_time(revision.time))?;
                found.set_item("deleted", revision.deleted)?;
                let document = if revision.deleted { None } else { Some(json::value(py, &revision.to_json(&id))?) };
                found.set_item("document", document)?;
                Ok(found.into_any())
            }
        }
    }
}

/// Items of a long answer.
#[pyclass(frozen, module = "recension_db._recension")]
pub(crate) struct Rows {
    ahead: Own<Ahead<Item>>,
}

impl Rows {
    pub(crate) fn new(source: impl Iterator<Item = Result<Item>> + Send + 'static) -> Self {
        Rows { ahead: Own::new(Ahead::new(source, Item::bytes)) }
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let ahead = self.ahead.get().map_err(|error| refused(py, &error))?;
        match py.detach(|| ahead.next()) {
            None => Ok(None),
            Some(Ok(item)) => item.into_python(py).map(Some),
            Some(Err(error)) => Err(refused(py, &error)),
        }
    }
}

/// Where changes come from: those up to a moment, or those to come, too.
pub(crate) enum Feed {
    Known(Box<recension::Changes>),
    Follow(Box<Follow>, Option<Duration>),
}

/// Changes, as an iterator.
#[pyclass(frozen, module = "recension_db._recension")]
pub(crate) struct Changes {
    feed: Own<Mutex<Feed>>,
}

impl Changes {
    pub(crate) fn new(feed: Feed) -> Self {
        Changes { feed: Own::new(Mutex::new(feed)) }
    }

    /// The next change, waiting a little; whether to go on if there is none.
    fn step(feed: &Mutex<Feed>, waited: Duration) -> (Option<Result<Change>>, bool) {
        match &mut *feed.lock() {
            Feed::Known(changes) => (changes.next(), false),
            Feed::Follow(follow, timeout) => {
                let left = timeout.map_or(SIGNALS_EVERY, |timeout| timeout.saturating_sub(waited));
                let found = follow.next_timeout(left.min(SIGNALS_EVERY)).transpose();
                (found, left > Duration::ZERO)
            }
        }
    }
}

#[pymethods]
impl Changes {
    /// How far the feed has been read, as text: `changes(since=position)` goes on there.
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<String> {
        let feed = self.feed.get().map_err(|error| refused(py, &error))?;
        Ok(py.detach(|| match &*feed.lock() {
            Feed::Known(changes) => (**changes).position().to_string(),
            Feed::Follow(follow, _) => (**follow).position().to_string(),
        }))
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let feed = self.feed.get().map_err(|error| refused(py, &error))?;
        let mut waited = Duration::ZERO;
        loop {
            match py.detach(|| Self::step(feed, waited)) {
                (Some(Ok(change)), _) => return of_change(py, &change).map(Some),
                (Some(Err(error)), _) => return Err(raised(py, error)),
                (None, false) => return Ok(None),
                (None, true) => {
                    waited += SIGNALS_EVERY;
                    py.check_signals()?;
                }
            }
        }
    }
}

fn of_change<'py>(py: Python<'py>, change: &Change) -> PyResult<Bound<'py, PyAny>> {
    let found = PyDict::new(py);
    found.set_item("collection", &*change.collection)?;
    found.set_item("id", &change.id)?;
    found.set_item("rev", change.rev.to_string())?;
    found.set_item("seq", change.seq.0)?;
    found.set_item("deleted", change.deleted)?;
    found.set_item("position", change.position().to_string())?;
    Ok(found.into_any())
}
