//! What is asked for: moments, orders, queries, as Python says them.

use std::time::Duration;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDateTime, PyDelta, PyDict, PyInt, PyList, PyString, PyTuple};
use recension::engine::{Direction, Seq, Timestamp};
use recension::{At, Cursor, Query, Selector, conditions};

use crate::failure::raised;
use crate::json;

/// A moment: a commit's number, a text such as `"2h"`, a `datetime`, or a `timedelta` (that long ago).
pub(crate) fn moment(at: Option<&Bound<'_, PyAny>>) -> PyResult<At> {
    let Some(at) = at.filter(|at| !at.is_none()) else { return Ok(At::Now) };
    let py = at.py();
    if let Ok(text) = at.cast::<PyString>() {
        return text.to_cow()?.parse().map_err(|error| raised(py, error));
    }
    if at.is_instance_of::<PyInt>() && !at.is_instance_of::<PyBool>() {
        let seq = at.extract::<u64>();
        return seq
            .map(|seq| At::Seq(Seq(seq)))
            .map_err(|_| PyValueError::new_err("at: a commit has a number from 0 on"));
    }
    if at.is_instance_of::<PyDateTime>() {
        let seconds: f64 = at.call_method0("timestamp")?.extract()?;
        return Ok(At::Time(Timestamp(since_epoch(seconds)?.as_micros() as u64)));
    }
    if at.is_instance_of::<PyDelta>() {
        return Ok(At::Ago(since_epoch(at.call_method0("total_seconds")?.extract()?)?));
    }
    Err(PyTypeError::new_err("at: give a commit's number, a text such as \"2h\", a datetime or a timedelta"))
}

fn since_epoch(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|time| u64::try_from(time.as_micros()).is_ok())
        .ok_or_else(|| PyValueError::new_err("at: the time is out of range"))
}

/// A number of documents. Its errors are of types, since Python names the argument in those alone.
#[derive(Clone, Copy)]
pub(crate) struct Number(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = if given.is_instance_of::<PyBool>() { None } else { given.extract().ok() };
        let wrong = || PyTypeError::new_err(format!("give a whole number from 0 on, not {}", *given));
        number.map(Number).ok_or_else(wrong)
    }
}

/// What `find` and its like are told.
#[derive(Default)]
pub(crate) struct QueryOptions<'a, 'py> {
    pub(crate) selector: Option<&'a Bound<'py, PyAny>>,
    pub(crate) sort: Option<&'a Bound<'py, PyAny>>,
    pub(crate) limit: Option<Number>,
    pub(crate) skip: Option<Number>,
    pub(crate) fields: Option<Vec<String>>,
    pub(crate) after: Option<&'a str>,
}

impl QueryOptions<'_, '_> {
    pub(crate) fn query(&self, py: Python<'_>) -> PyResult<Query> {
        let refused = |error: recension::Error| raised(py, error);
        let mut query = Query::new().skip(self.skip.map_or(0, |skip| skip.0));
        if let Some(selector) = self.selector.filter(|selector| !selector.is_none()) {
            query = if let Ok(text) = selector.cast::<PyString>() {
                let wrong = |error: conditions::ConditionError| PyValueError::new_err(error.to_string());
                query.selecting(conditions::selector(&text.to_cow()?).map_err(wrong)?)
            } else if selector.is_instance_of::<PyDict>() {
                query.selecting(Selector::from_json(json::text(selector, "the selector")?).map_err(refused)?)
            } else {
                let what = "the selector must be a dict, or a condition as text such as 'state = open'";
                return Err(PyTypeError::new_err(format!("{what}, not {}", selector.get_type())));
            };
        }
        for (path, direction) in order(self.sort)? {
            query = query.sort(path, direction);
        }
        if let Some(limit) = self.limit {
            query = query.limit(limit.0);
        }
        if let Some(fields) = &self.fields {
            query = query.select(fields.iter().map(String::as_str));
        }
        if let Some(after) = self.after {
            query = query.after(after.parse::<Cursor>().map_err(refused)?);
        }
        Ok(query)
    }
}

/// An order: `"name"`, `["name", ("age", "desc")]`, or CouchDB's `[{"age": "desc"}]`.
fn order(sort: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, Direction)>> {
    let Some(sort) = sort.filter(|sort| !sort.is_none()) else { return Ok(Vec::new()) };
    if let Ok(path) = sort.extract::<String>() {
        return Ok(vec![(path, Direction::Forward)]);
    }
    let wrong = || PyTypeError::new_err("sort: give a path, or a list of paths and of (path, \"desc\")");
    // Of a dict only the paths would be read, and a set has no order.
    if !sort.is_instance_of::<PyList>() && !sort.is_instance_of::<PyTuple>() {
        return Err(wrong());
    }
    let mut order = Vec::new();
    for part in sort.try_iter().map_err(|_| wrong())? {
        let part = part?;
        let (path, direction) = if let Ok(path) = part.extract::<String>() {
            (path, "asc".to_owned())
        } else if let Ok(one) = part.cast::<PyDict>() {
            if one.len() != 1 {
                return Err(wrong());
            }
            one.items().get_item(0)?.extract::<(String, String)>().map_err(|_| wrong())?
        } else {
            part.extract::<(String, String)>().map_err(|_| wrong())?
        };
        let direction = match direction.as_str() {
            "asc" => Direction::Forward,
            "desc" => Direction::Backward,
            _ => return Err(PyValueError::new_err("sort: a direction is \"asc\" or \"desc\"")),
        };
        order.push((path, direction));
    }
    Ok(order)
}
