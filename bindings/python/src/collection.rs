//! A collection: of the newest commit, of a past one, or inside of a transaction.

use std::ops::Bound as Limit;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use recension::engine::{Direction, Seq};
use recension::{
    At, Collection as Now, CollectionAt, Document, Expect, IndexSpec, ListOptions, Pipeline, Query, Result, RevId,
    Write,
};
use recension_bindings::Place;

use crate::database::{Database, Transaction, aside, position, seconds};
use crate::failure::raised;
use crate::json;
use crate::query::{Asked, moment};
use crate::rows::{Changes, Feed, Item, Rows};

/// A collection. See `recension_db.Collection`.
#[pyclass(frozen, subclass, mapping, module = "recension_db._recension")]
pub(crate) struct Collection {
    #[pyo3(get)]
    name: String,
    place: Place,
}

impl Collection {
    /// Reads as of a moment.
    fn read<T: Send>(
        &self,
        py: Python<'_>,
        at: At,
        does: impl FnOnce(CollectionAt) -> Result<T> + Send,
    ) -> PyResult<T> {
        aside(py, || self.place.read(&self.name, at, does))
    }

    fn found(&self, py: Python<'_>, id: &str, at: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Document<'static>>> {
        match moment(at)? {
            At::Now => aside(py, || self.place.get(&self.name, id)),
            at => self.read(py, at, |collection| Ok(collection.get(id)?.map(Document::into_owned))),
        }
    }

    /// Writes; answers the id and the revision.
    fn write(&self, py: Python<'_>, write: Write) -> PyResult<(String, RevId)> {
        aside(py, || self.place.write(&self.name, write))
    }

    /// The collection itself, for what is done outside of transactions.
    fn itself<T: Send>(&self, py: Python<'_>, does: impl FnOnce(Now) -> Result<T> + Send) -> PyResult<T> {
        aside(py, || Ok(does(self.place.itself(&self.name)?)?))
    }
}

fn revision(py: Python<'_>, text: &str) -> PyResult<RevId> {
    text.parse().map_err(|error| raised(py, error))
}

/// A write of a dict, whose `_rev`, if it has one, is the revision that it replaces.
fn written(py: Python<'_>, document: &Bound<'_, PyAny>, what: &str) -> PyResult<Write> {
    let text = json::object(document, what)?;
    py.detach(|| Write::from_json(text)).map_err(|error| raised(py, error))
}

#[pymethods]
impl Collection {
    #[new]
    #[pyo3(signature = (place, name, at = None))]
    fn new(place: &Bound<'_, PyAny>, name: String, at: Option<u64>) -> PyResult<Self> {
        let place = match (place.cast::<Database>(), place.cast::<Transaction>(), at) {
            (Ok(database), _, None) => Place::Store(Arc::clone(&database.get().handle)),
            (Ok(database), _, Some(at)) => Place::Past(Arc::clone(&database.get().handle), Seq(at)),
            (_, Ok(transaction), None) => Place::Transaction(Arc::clone(&transaction.get().within)),
            _ => return Err(PyTypeError::new_err("a collection is one of a Database or a Transaction")),
        };
        Ok(Collection { name, place })
    }

    fn __getitem__<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.found(py, id, None)? {
            Some(document) => json::document(py, &document),
            None => Err(PyKeyError::new_err(id.to_owned())),
        }
    }

    fn __setitem__(&self, py: Python<'_>, id: &str, document: &Bound<'_, PyAny>) -> PyResult<()> {
        self.put(py, id, document).map(|_| ())
    }

    fn __delitem__(&self, py: Python<'_>, id: &str) -> PyResult<()> {
        self.delete(py, id, None).map(|_| ())
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(id) = id.extract::<String>() else { return Ok(false) };
        self.found(py, &id, None).map(|found| found.is_some())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.read(py, At::Now, |collection| collection.count()).map(|count| count as usize)
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Rows> {
        let found = self.read(py, At::Now, |collection| collection.list(&ListOptions::default()))?;
        Ok(Rows::new(found.map(|document| document.map(|document| Item::Id(document.id.into_owned())))))
    }

    #[pyo3(signature = (id, default = None, *, at = None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        default: Option<Bound<'py, PyAny>>,
        at: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.found(py, id, at)? {
            Some(document) => json::document(py, &document).map(Some),
            None => Ok(default),
        }
    }

    fn put(&self, py: Python<'_>, id: &str, document: &Bound<'_, PyAny>) -> PyResult<String> {
        let write = written(py, document, "the document")?.with_id(id).map_err(|error| raised(py, error))?;
        self.write(py, write).map(|(_, rev)| rev.to_string())
    }

    #[pyo3(signature = (document, id = None))]
    fn create(&self, py: Python<'_>, document: &Bound<'_, PyAny>, id: Option<&str>) -> PyResult<(String, String)> {
        let write = written(py, document, "the document")?.expecting(Expect::Absent);
        let write = match id {
            Some(id) => write.with_id(id).map_err(|error| raised(py, error))?,
            None => write,
        };
        self.write(py, write).map(|(id, rev)| (id, rev.to_string()))
    }

    #[pyo3(signature = (id, rev = None))]
    fn delete(&self, py: Python<'_>, id: &str, rev: Option<&str>) -> PyResult<String> {
        let rev = match rev {
            Some(rev) => revision(py, rev)?,
            None => match self.found(py, id, None)? {
                Some(document) => document.rev,
                None => return Err(PyKeyError::new_err(id.to_owned())),
            },
        };
        let write = Write::delete(id, &rev).map_err(|error| raised(py, error))?;
        self.write(py, write).map(|(_, rev)| rev.to_string())
    }

    /// Many documents in one commit: for each its revision, or the exception that refuses it.
    fn put_many<'py>(&self, py: Python<'py>, documents: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let mut writes = Vec::new();
        for (number, document) in documents.try_iter()?.enumerate() {
            writes.push(written(py, &document?, &format!("document {number}"))?);
        }
        let answers = PyList::empty(py);
        for written in self.itself(py, |collection| collection.bulk(writes))? {
            match written {
                Ok(written) => answers.append(written.rev.to_string())?,
                Err(error) => answers.append(raised(py, error).value(py))?,
            }
        }
        Ok(answers)
    }

    #[pyo3(signature = (start = None, end = None, *, prefix = None, limit = None, descending = false, at = None))]
    #[allow(clippy::too_many_arguments)] // they are named where it is called
    fn documents(
        &self,
        py: Python<'_>,
        start: Option<String>,
        end: Option<String>,
        prefix: Option<&str>,
        limit: Option<usize>,
        descending: bool,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        let mut options = match prefix {
            Some(_) if start.is_some() || end.is_some() => {
                return Err(PyValueError::new_err("give a prefix, or where the ids begin and end"));
            }
            Some(prefix) => ListOptions::prefix(prefix),
            None => ListOptions {
                start: start.map_or(Limit::Unbounded, Limit::Included),
                end: end.map_or(Limit::Unbounded, Limit::Excluded),
                ..ListOptions::default()
            },
        };
        options.limit = limit;
        options.direction = if descending { Direction::Backward } else { Direction::Forward };
        let found = self.read(py, moment(at)?, |collection| collection.list(&options))?;
        Ok(Rows::new(found.map(|document| document.map(Item::Document))))
    }

    #[pyo3(signature = (selector = None, *, sort = None, limit = None, skip = 0, fields = None, at = None))]
    #[allow(clippy::too_many_arguments)] // they are named where it is called
    fn find(
        &self,
        py: Python<'_>,
        selector: Option<&Bound<'_, PyAny>>,
        sort: Option<&Bound<'_, PyAny>>,
        limit: Option<usize>,
        skip: usize,
        fields: Option<Vec<String>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        let selects = fields.is_some();
        let query = Asked { selector, sort, limit, skip, fields, after: None }.query(py)?;
        let at = moment(at)?;
        if selects {
            let found = self.read(py, at, |collection| collection.select(&query))?;
            return Ok(Rows::new(found.map(|row| row.map(|row| Item::Json(row.to_json())))));
        }
        let found = self.read(py, at, |collection| collection.find(&query))?;
        Ok(Rows::new(found.map(|document| document.map(Item::Document))))
    }

    #[pyo3(signature = (selector = None, *, sort = None, limit = 100, after = None, at = None))]
    fn page<'py>(
        &self,
        py: Python<'py>,
        selector: Option<&Bound<'py, PyAny>>,
        sort: Option<&Bound<'py, PyAny>>,
        limit: usize,
        after: Option<&str>,
        at: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyList>, Option<String>)> {
        let query = Asked { selector, sort, limit: Some(limit), after, ..Asked::default() }.query(py)?;
        let page = self.read(py, moment(at)?, |collection| collection.page(&query))?;
        let documents = PyList::empty(py);
        for document in &page.documents {
            documents.append(json::document(py, document)?)?;
        }
        Ok((documents, page.next.map(|next| next.to_string())))
    }

    #[pyo3(signature = (selector = None, *, at = None))]
    fn count(
        &self,
        py: Python<'_>,
        selector: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let query = Asked { selector, ..Asked::default() }.query(py)?;
        let all = query == Query::new();
        let count = move |collection: CollectionAt| {
            if all { collection.count() } else { collection.count_matching(&query) }
        };
        self.read(py, moment(at)?, count)
    }

    #[pyo3(signature = (pipeline, selector = None, *, at = None))]
    fn aggregate<'py>(
        &self,
        py: Python<'py>,
        pipeline: &Bound<'py, PyAny>,
        selector: Option<&Bound<'py, PyAny>>,
        at: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let pipeline = json::text(pipeline, "the pipeline")?;
        let pipeline = Pipeline::from_json(pipeline).map_err(|error| raised(py, error))?;
        let query = Asked { selector, ..Asked::default() }.query(py)?;
        let rows = self.read(py, moment(at)?, move |collection| collection.aggregate(&query, &pipeline))?;
        let found = PyList::empty(py);
        for row in rows {
            found.append(json::value(py, &row)?)?;
        }
        Ok(found)
    }

    #[pyo3(signature = (selector = None, *, sort = None, limit = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        selector: Option<&Bound<'py, PyAny>>,
        sort: Option<&Bound<'py, PyAny>>,
        limit: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let query = Asked { selector, sort, limit, ..Asked::default() }.query(py)?;
        let plan = self.read(py, At::Now, |collection| collection.explain(&query).map(|plan| plan.to_json()))?;
        json::value(py, &plan)
    }

    fn history(&self, py: Python<'_>, id: &str) -> PyResult<Rows> {
        let found = self.read(py, At::Now, |collection| collection.history(id))?;
        let id = id.to_owned();
        Ok(Rows::new(found.map(move |revision| revision.map(|revision| Item::Revision(id.clone(), revision)))))
    }

    fn revision<'py>(&self, py: Python<'py>, id: &str, rev: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rev = revision(py, rev)?;
        let found = self.read(py, At::Now, |collection| collection.get_revision(id, &rev))?;
        found.map(|found| json::value(py, &found.to_json(id))).transpose()
    }

    fn conflicts(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        let found = self.read(py, At::Now, |collection| collection.conflicts(id))?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[pyo3(signature = (name, *paths, unique = false))]
    fn create_index(&self, py: Python<'_>, name: &str, paths: Vec<String>, unique: bool) -> PyResult<()> {
        let Some((first, others)) = paths.split_first() else {
            return Err(PyTypeError::new_err("create_index: give a name, and one path or several"));
        };
        let first = first.as_str();
        let spec = if unique { IndexSpec::unique(name, first) } else { IndexSpec::new(name, first) };
        let spec = others.iter().fold(spec, |spec, path| spec.then(path.as_str()));
        self.itself(py, |collection| collection.create_index(spec, |_| {}))
    }

    fn drop_index(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.itself(py, |collection| collection.drop_index(name))
    }

    fn indexes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = PyList::empty(py);
        for index in self.read(py, At::Now, |collection| Ok(collection.indexes()))? {
            let one = PyDict::new(py);
            one.set_item("name", index.spec.name)?;
            let paths: Vec<_> = index.spec.parts.iter().map(|part| part.path.to_string()).collect();
            one.set_item("paths", paths)?;
            one.set_item("unique", index.spec.unique)?;
            found.append(one)?;
        }
        Ok(found)
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
        let feed = self.itself(py, |collection| {
            if follow {
                Ok(Feed::Follow(Box::new(collection.follow(since)), timeout))
            } else {
                Ok(Feed::Known(Box::new(collection.changes(since)?)))
            }
        })?;
        Ok(Changes::new(feed))
    }
}
