//! A collection: of the newest commit, of a past one, or inside of a transaction.

use std::ops::Bound as Limit;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use recension::engine::{Direction, Seq};
use recension::{
    At, Collection as Now, CollectionAt, Document, Expect, IndexSpec, Language, ListOptions, Matched, Pipeline, Query,
    Result, RevId, Write, conditions,
};
use recension_bindings::{Patch, Place};

use crate::database::{Database, Transaction, aside, position, restored, seconds};
use crate::failure::raised;
use crate::json::{self, Encoding};
use crate::query::{Number, QueryOptions, moment};
use crate::rows::{Changes, Feed, Item, Rows};

/// A collection. See `recension_db.Collection`.
#[pyclass(frozen, subclass, mapping, module = "recension_db._recension")]
pub(crate) struct Collection {
    /// The collection's name.
    #[pyo3(get)]
    name: String,
    place: Place,
    encoding: Arc<Encoding>,
}

impl Collection {
    /// A write of a dict, whose `_rev`, if it has one, is the revision that it replaces.
    fn written(&self, py: Python<'_>, document: &Bound<'_, PyAny>, what: &str) -> PyResult<Write> {
        let text = self.encoding.object(document, what)?;
        py.detach(|| Write::from_json(text)).map_err(|error| raised(py, error))
    }

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

    /// Writes; returns the id and the revision.
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

/// The revision that a document has to be at: this one, or any.
fn expected(py: Python<'_>, rev: Option<&str>) -> PyResult<Expect> {
    rev.map_or(Ok(Expect::Anything), |rev| revision(py, rev).map(Expect::Revision))
}

/// Bytes of an attachment: those of an object, or of a file.
enum Bytes {
    Given(Vec<u8>),
    File(std::path::PathBuf),
}

impl Bytes {
    fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = data.extract::<Vec<u8>>() {
            return Ok(Bytes::Given(bytes));
        }
        let path = !data.is_instance_of::<PyString>() && data.hasattr("__fspath__")?;
        if !path {
            return Err(PyTypeError::new_err("data: give bytes, or the pathlib.Path of a file"));
        }
        Ok(Bytes::File(data.extract()?))
    }
}

impl Collection {
    /// A dict or a list of changes, as text.
    fn changes_of(&self, changes: &Bound<'_, PyAny>) -> PyResult<String> {
        if changes.is_instance_of::<PyDict>() || changes.is_instance_of::<PyList>() {
            return self.encoding.text(changes, "the changes");
        }
        Err(PyTypeError::new_err("changes: give a dict (a merge patch), or a list (a JSON Patch)"))
    }
}

/// The documents that are to be changed. An empty text is a slip: it would choose all.
fn chosen(selector: &Bound<'_, PyAny>) -> PyResult<Query> {
    if selector.extract::<String>().is_ok_and(|text| text.trim().is_empty()) {
        return Err(PyValueError::new_err("the condition is empty: give {} to choose all documents"));
    }
    QueryOptions { selector: Some(selector), ..QueryOptions::default() }.query(selector.py())
}

/// What became of documents that a query found.
fn matched<'py>(py: Python<'py>, told: &Matched) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("written", told.written)?;
    found.set_item("left_alone", &told.left_alone)?;
    Ok(found)
}

#[pymethods]
impl Collection {
    #[new]
    #[pyo3(signature = (place, name, at = None))]
    fn new(place: &Bound<'_, PyAny>, name: String, at: Option<u64>) -> PyResult<Self> {
        let (place, encoding) = match (place.cast::<Database>(), place.cast::<Transaction>(), at) {
            (Ok(database), _, at) => {
                let Database { handle, encoding, .. } = database.get();
                let handle = Arc::clone(handle);
                (at.map_or(Place::Store(handle.clone()), |at| Place::Past(handle, Seq(at))), encoding.clone())
            }
            (_, Ok(transaction), None) => {
                let Transaction { within, encoding } = transaction.get();
                (Place::Transaction(Arc::clone(within)), encoding.clone())
            }
            _ => return Err(PyTypeError::new_err("a collection is one of a Database or a Transaction")),
        };
        Ok(Collection { name, place, encoding })
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

    /// A document as a dict with `_id` and `_rev`, or `default`; as of a moment, if `at` names one.
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

    /// Writes a document; returns its revision. One with `_rev` replaces that revision, or raises `Conflict`.
    fn put(&self, py: Python<'_>, id: &str, document: &Bound<'_, PyAny>) -> PyResult<String> {
        let write = self.written(py, document, "the document")?.with_id(id).map_err(|error| raised(py, error))?;
        self.write(py, write).map(|(_, rev)| rev.to_string())
    }

    /// Creates a document; returns its id and its revision. `Conflict` if there is one of that id.
    #[pyo3(signature = (document, id = None))]
    fn create(&self, py: Python<'_>, document: &Bound<'_, PyAny>, id: Option<&str>) -> PyResult<(String, String)> {
        let write = self.written(py, document, "the document")?.expecting(Expect::Absent);
        let write = match id {
            Some(id) => write.with_id(id).map_err(|error| raised(py, error))?,
            None => write,
        };
        self.write(py, write).map(|(id, rev)| (id, rev.to_string()))
    }

    /// Deletes a document, if it is at `rev`; returns the deletion's revision.
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

    /// Changes a document, if it is at `rev`; returns its new revision.
    ///
    /// A dict is a merge patch (RFC 7396): its members replace those of the document, and None removes one. A list is a
    /// JSON Patch (RFC 6902).
    #[pyo3(signature = (id, changes, rev = None))]
    fn patch(&self, py: Python<'_>, id: &str, changes: &Bound<'_, PyAny>, rev: Option<&str>) -> PyResult<String> {
        let (patch, expect) = (self.changes_of(changes)?, expected(py, rev)?);
        aside(py, || self.place.patch(&self.name, id, expect, &Patch::read(patch)?)).map(|rev| rev.to_string())
    }

    /// Changes all documents that a selector selects, as `patch` does; `{}` selects all.
    ///
    /// Returns how many were `written`, and the ids that were `left_alone`, since others wrote them meanwhile.
    fn update_many<'py>(
        &self,
        py: Python<'py>,
        selector: &Bound<'py, PyAny>,
        changes: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let query = chosen(selector)?;
        let patch = self.changes_of(changes)?;
        let patch = aside(py, || Patch::read(patch))?;
        matched(py, &self.itself(py, |collection| collection.update_matching(&query, |_, body| patch.apply(body)))?)
    }

    /// Deletes all documents that a selector selects; `{}` selects all. Returns what `update_many` does.
    fn delete_many<'py>(&self, py: Python<'py>, selector: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let query = chosen(selector)?;
        matched(py, &self.itself(py, |collection| collection.delete_matching(&query))?)
    }

    /// Makes a new revision with the body and the attachments of an old one; returns it.
    fn restore(&self, py: Python<'_>, id: &str, rev: &str) -> PyResult<String> {
        let rev = revision(py, rev)?;
        self.itself(py, |collection| collection.restore(id, &rev)).map(|written| written.rev.to_string())
    }

    /// Brings every document back to its state at a moment. Documents that were made since are deleted.
    ///
    /// Returns how many were `restored` and `deleted`, in how many `commits`.
    fn restore_to<'py>(&self, py: Python<'py>, at: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let at = moment(Some(at))?;
        restored(py, &self.itself(py, |collection| collection.restore_to(at))?)
    }

    /// Gives a document an attachment, which replaces one of the same name; returns the document's revision.
    ///
    /// `data` is bytes, or the `pathlib.Path` of a file, which is read in pieces. The document is made if there is
    /// none.
    #[pyo3(signature = (id, name, data, content_type = "application/octet-stream", rev = None))]
    fn attach(
        &self,
        py: Python<'_>,
        id: &str,
        name: &str,
        data: &Bound<'_, PyAny>,
        content_type: &str,
        rev: Option<&str>,
    ) -> PyResult<String> {
        let (expect, data) = (expected(py, rev)?, Bytes::of(data)?);
        let file = match &data {
            Bytes::Given(_) => None,
            Bytes::File(path) => Some(std::fs::File::open(path)?),
        };
        let written = self.itself(py, |collection| match (file, &data) {
            (Some(file), _) => collection.attach(id, expect, name, content_type, file),
            (None, Bytes::Given(bytes)) => collection.attach(id, expect, name, content_type, &bytes[..]),
            (None, Bytes::File(_)) => collection.attach(id, expect, name, content_type, std::io::empty()),
        })?;
        Ok(written.rev.to_string())
    }

    /// The bytes of an attachment, or None; of an older revision, if `rev` names one.
    #[pyo3(signature = (id, name, rev = None))]
    fn attachment<'py>(
        &self,
        py: Python<'py>,
        id: &str,
        name: &str,
        rev: Option<&str>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let rev = rev.map(|rev| revision(py, rev)).transpose()?;
        let found = aside(py, || self.place.attachment(&self.name, id, name, rev.as_ref()))?;
        Ok(found.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The attachments of a document: for each `name`, `content_type`, `length`, `digest` and `revpos`.
    fn attachments<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyList>> {
        let told = PyList::empty(py);
        for info in self.read(py, At::Now, |collection| collection.attachments(id))? {
            let one = PyDict::new(py);
            one.set_item("name", &info.name)?;
            one.set_item("content_type", &info.content_type)?;
            one.set_item("length", info.length())?;
            one.set_item("digest", info.digest())?;
            one.set_item("revpos", info.revpos)?;
            told.append(one)?;
        }
        Ok(told)
    }

    /// Removes an attachment; returns the document's revision. `KeyError` if there is no such document.
    #[pyo3(signature = (id, name, rev = None))]
    fn detach(&self, py: Python<'_>, id: &str, name: &str, rev: Option<&str>) -> PyResult<String> {
        let rev = match (rev, self.found(py, id, None)?) {
            (Some(rev), _) => revision(py, rev)?,
            (None, Some(document)) => document.rev,
            (None, None) => return Err(PyKeyError::new_err(id.to_owned())),
        };
        self.itself(py, |collection| collection.detach(id, &rev, name)).map(|written| written.rev.to_string())
    }

    /// Many documents in one commit: for each its revision, or the exception that refuses it.
    fn put_many<'py>(&self, py: Python<'py>, documents: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let mut writes = Vec::new();
        let one = documents.is_instance_of::<PyDict>() || documents.is_instance_of::<PyString>();
        if one || documents.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("give a list of documents, or another iterable of them"));
        }
        for (number, document) in documents.try_iter()?.enumerate() {
            writes.push(self.written(py, &document?, &format!("document {number}"))?);
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

    /// Documents by id, from `start` on and before `end`, or those whose ids begin with `prefix`.
    #[pyo3(signature = (start = None, end = None, *, prefix = None, limit = None, descending = false, at = None))]
    #[allow(clippy::too_many_arguments)] // they are named where it is called
    fn documents(
        &self,
        py: Python<'_>,
        start: Option<String>,
        end: Option<String>,
        prefix: Option<&str>,
        limit: Option<Number>,
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
        options.limit = limit.map(|limit| limit.0);
        options.direction = if descending { Direction::Backward } else { Direction::Forward };
        let found = self.read(py, moment(at)?, |collection| collection.list(&options))?;
        Ok(Rows::new(found.map(|document| document.map(Item::Document))))
    }

    /// The documents that a selector selects: a Mango selector, or a condition such as `'state = open and price > 9'`.
    ///
    /// `sort`: a path, or a list of paths and of `(path, "desc")`. `fields`: only these of each. `at`: as of a moment.
    #[pyo3(
        signature = (selector = None, *, sort = None, limit = None, skip = Number(0), fields = None, at = None),
        text_signature = "($self, selector=None, *, sort=None, limit=None, skip=0, fields=None, at=None)",
    )]
    #[allow(clippy::too_many_arguments)] // they are named where it is called
    fn find(
        &self,
        py: Python<'_>,
        selector: Option<&Bound<'_, PyAny>>,
        sort: Option<&Bound<'_, PyAny>>,
        limit: Option<Number>,
        skip: Number,
        fields: Option<Vec<String>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        let selects = fields.is_some();
        let query = QueryOptions { selector, sort, limit, skip: Some(skip), fields, after: None }.query(py)?;
        let at = moment(at)?;
        if selects {
            let found = self.read(py, at, |collection| collection.select(&query))?;
            return Ok(Rows::new(found.map(|row| row.map(|row| Item::Json(row.to_json())))));
        }
        let found = self.read(py, at, |collection| collection.find(&query))?;
        Ok(Rows::new(found.map(|document| document.map(Item::Document))))
    }

    /// One page of them, and what `after` is for the next one; None if it was the last.
    #[pyo3(
        signature = (selector = None, *, sort = None, limit = Number(100), after = None, at = None),
        text_signature = "($self, selector=None, *, sort=None, limit=100, after=None, at=None)",
    )]
    fn page<'py>(
        &self,
        py: Python<'py>,
        selector: Option<&Bound<'py, PyAny>>,
        sort: Option<&Bound<'py, PyAny>>,
        limit: Number,
        after: Option<&str>,
        at: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyList>, Option<String>)> {
        let query = QueryOptions { selector, sort, limit: Some(limit), after, ..QueryOptions::default() }.query(py)?;
        let page = self.read(py, moment(at)?, |collection| collection.page(&query))?;
        let documents = PyList::empty(py);
        for document in &page.documents {
            documents.append(json::document(py, document)?)?;
        }
        Ok((documents, page.next.map(|next| next.to_string())))
    }

    /// How many documents there are, or a selector selects.
    #[pyo3(signature = (selector = None, *, at = None))]
    fn count(
        &self,
        py: Python<'_>,
        selector: Option<&Bound<'_, PyAny>>,
        at: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let query = QueryOptions { selector, ..QueryOptions::default() }.query(py)?;
        let all = query == Query::new();
        let count = move |collection: CollectionAt| {
            if all { collection.count() } else { collection.count_matching(&query) }
        };
        self.read(py, moment(at)?, count)
    }

    /// The rows that a pipeline makes of the documents that a selector selects.
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
        let query = QueryOptions { selector, ..QueryOptions::default() }.query(py)?;
        let rows = self.read(py, moment(at)?, move |collection| collection.aggregate(&query, &pipeline))?;
        let found = PyList::empty(py);
        for row in rows {
            found.append(json::value(py, &row)?)?;
        }
        Ok(found)
    }

    /// How a query is carried out, through which index, and why.
    #[pyo3(signature = (selector = None, *, sort = None, limit = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        selector: Option<&Bound<'py, PyAny>>,
        sort: Option<&Bound<'py, PyAny>>,
        limit: Option<Number>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let query = QueryOptions { selector, sort, limit, ..QueryOptions::default() }.query(py)?;
        let plan = self.read(py, At::Now, |collection| collection.explain(&query).map(|plan| plan.to_json()))?;
        json::value(py, &plan)
    }

    /// Every revision of a document, newest first.
    fn history(&self, py: Python<'_>, id: &str) -> PyResult<Rows> {
        let found = self.read(py, At::Now, |collection| collection.history(id))?;
        let id = id.to_owned();
        Ok(Rows::new(found.map(move |revision| revision.map(|revision| Item::Revision(id.clone(), revision)))))
    }

    /// One revision of a document, or None.
    fn revision<'py>(&self, py: Python<'py>, id: &str, rev: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let rev = revision(py, rev)?;
        let found = self.read(py, At::Now, |collection| collection.get_revision(id, &rev))?;
        found.map(|found| json::value(py, &found.to_json(id))).transpose()
    }

    /// The revisions that lost a conflict and are not resolved yet.
    fn conflicts(&self, py: Python<'_>, id: &str) -> PyResult<Vec<String>> {
        let found = self.read(py, At::Now, |collection| collection.conflicts(id))?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    /// Creates an index on one path or several. It is filled before this returns.
    ///
    /// `unique`: no two documents have the same values. `where`: only documents that meet a condition are in it, such
    /// as `where="state = open"`. `words`: an index of the words of texts, in a language (`words="english"`), or
    /// `words="plain"`.
    #[pyo3(signature = (name, *paths, unique = false, words = None, r#where = None))]
    fn create_index(
        &self,
        py: Python<'_>,
        name: &str,
        paths: Vec<String>,
        unique: bool,
        words: Option<&str>,
        r#where: Option<&str>,
    ) -> PyResult<()> {
        let wrong = |error: conditions::ConditionError| PyValueError::new_err(error.to_string());
        let Some((first, others)) = paths.split_first() else {
            return Err(PyTypeError::new_err("create_index: give a name, and one path or several"));
        };
        let spec = match words {
            Some(_) if unique => return Err(PyValueError::new_err("an index of words cannot be unique")),
            Some(language) => {
                let language = Language::named(language).map_err(|error| raised(py, error))?;
                IndexSpec::words(name, paths.iter().map(String::as_str), language)
            }
            None => {
                let spec = IndexSpec { unique, ..IndexSpec::new(name, first.as_str()) };
                others.iter().fold(spec, |spec, path| spec.then(path.as_str()))
            }
        };
        let only = conditions::of_index(r#where.unwrap_or_default()).map_err(wrong)?;
        let spec = only.into_iter().fold(spec, IndexSpec::only_where);
        self.itself(py, |collection| collection.create_index(spec, |_| {}))
    }

    /// Drops an index.
    fn drop_index(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.itself(py, |collection| collection.drop_index(name))
    }

    /// The indexes: for each `name`, `paths`, `unique`, `words` (the language) and `where`.
    fn indexes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = PyList::empty(py);
        for index in self.read(py, At::Now, |collection| Ok(collection.indexes()))? {
            let one = PyDict::new(py);
            one.set_item("name", index.spec.name)?;
            let paths: Vec<_> = index.spec.parts.iter().map(|part| part.path.to_string()).collect();
            one.set_item("paths", paths)?;
            one.set_item("unique", index.spec.unique)?;
            one.set_item("words", index.spec.words.map(Language::name))?;
            let only: Vec<_> = index.spec.filter.iter().map(ToString::to_string).collect();
            one.set_item("where", (!only.is_empty()).then(|| only.join(" and ")))?;
            found.append(one)?;
        }
        Ok(found)
    }

    /// What has changed in the collection since a position, in order; see `Database.changes`.
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
