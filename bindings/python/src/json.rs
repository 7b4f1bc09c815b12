//! Documents between the two worlds: JSON text to Python values, and Python values to JSON text. Both are bounded in
//! depth and length, and numbers of any size and precision are written back as they were read.

use std::fmt::Write as _;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDate, PyDateTime, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};
use recension::Document;
use recension::json::{Event, Number, Parser, quote, quote_into};
use recension::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX};
use recension_bindings::is_plain;

use crate::failure::raised;

/// The value of a JSON text.
#[pyfunction(name = "_value")]
pub(crate) fn of_text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut parser = Parser::new(text.as_bytes()).map_err(|error| raised(py, error.into()))?;
    let Some(first) = next(py, &mut parser)? else { return Err(ended(py)) };
    let found = of_event(py, &mut parser, first)?;
    next(py, &mut parser)?;
    Ok(found)
}

/// The JSON text of a value that was read.
#[pyfunction(name = "_text")]
pub(crate) fn to_text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    text(value, "the value")
}

/// The value of a JSON text.
pub(crate) fn value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut parser = Parser::of_text(text);
    let Some(first) = next(py, &mut parser)? else { return Err(ended(py)) };
    of_event(py, &mut parser, first)
}

/// A document as a dict: its id and its revision, then its members.
pub(crate) fn document<'py>(py: Python<'py>, document: &Document<'_>) -> PyResult<Bound<'py, PyAny>> {
    if !document.attachments.is_empty() || document.deleted {
        return value(py, &document.to_json());
    }
    let found = PyDict::new(py);
    found.set_item(intern!(py, "_id"), &*document.id)?;
    found.set_item(intern!(py, "_rev"), document.rev.to_string())?;
    let mut parser = Parser::of_text(&document.body);
    next(py, &mut parser)?;
    members(py, &mut parser, &found)?;
    Ok(found.into_any())
}

fn next<'t>(py: Python<'_>, parser: &mut Parser<'t>) -> PyResult<Option<Event<'t>>> {
    parser.next_event().map_err(|error| raised(py, error.into()))
}

fn ended(py: Python<'_>) -> PyErr {
    let _ = py;
    PyValueError::new_err("the JSON text ends too early")
}

fn of_event<'py>(py: Python<'py>, parser: &mut Parser<'_>, event: Event<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match event {
        Event::ObjectStart => {
            let found = PyDict::new(py);
            members(py, parser, &found)?;
            found.into_any()
        }
        Event::ArrayStart => {
            let found = PyList::empty(py);
            loop {
                match next(py, parser)? {
                    Some(Event::ArrayEnd) => break,
                    Some(event) => found.append(of_event(py, parser, event)?)?,
                    None => return Err(ended(py)),
                }
            }
            found.into_any()
        }
        Event::String(text) => PyString::new(py, &text.decode()).into_any(),
        Event::Number(number) => of_number(py, number)?,
        Event::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Event::Null => py.None().into_bound(py),
        Event::ObjectEnd | Event::ArrayEnd | Event::Key(_) => return Err(ended(py)),
    })
}

/// The members of an object that has begun. The parser bounds how deep this goes.
fn members(py: Python<'_>, parser: &mut Parser<'_>, found: &Bound<'_, PyDict>) -> PyResult<()> {
    loop {
        match next(py, parser)? {
            Some(Event::Key(name)) => {
                let Some(event) = next(py, parser)? else { return Err(ended(py)) };
                found.set_item(PyString::new(py, &name.decode()), of_event(py, parser, event)?)?;
            }
            Some(Event::ObjectEnd) => return Ok(()),
            _ => return Err(ended(py)),
        }
    }
}

/// `recension_db.Number`: a float that remembers how the store spells it.
fn spelled(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static NUMBER: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    NUMBER.import(py, "recension_db", "Number")
}

fn of_number<'py>(py: Python<'py>, number: Number<'_>) -> PyResult<Bound<'py, PyAny>> {
    if !number.integer || number.text == "-0" {
        let float = number.to_f64();
        if is_plain(number.text) || format!("{float:?}") == number.text {
            return Ok(PyFloat::new(py, float).into_any());
        }
        return spelled(py)?.call1((number.text,));
    }
    match number.to_i64() {
        Some(small) => Ok(small.into_pyobject(py)?.into_any()),
        // Python's own, which knows no bound.
        None => py.get_type::<PyInt>().call1((number.text,)),
    }
}

/// What is written for values that JSON does not have.
#[derive(Default)]
pub(crate) struct Encoding {
    /// Called with each: it returns what is written instead, as that of `json.dumps`.
    pub(crate) default: Option<Py<PyAny>>,
    /// What becomes of `NaN`, and of `NaT` and `NA` of pandas.
    pub(crate) nan: Nan,
}

/// What becomes of values that stand for none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Nan {
    /// They are refused.
    #[default]
    Refused,
    /// They are null.
    Null,
    /// Members with them are left out; elements of lists are null.
    Omitted,
}

impl Encoding {
    /// The JSON text of a value. `what` names it in errors.
    pub(crate) fn text(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
        let mut writing = Writing { out: String::with_capacity(256), place: Vec::new(), what, by: self };
        writing.value(value)?;
        Ok(writing.out)
    }

    /// The JSON text of a dict.
    pub(crate) fn object(&self, value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
        if !value.is_instance_of::<PyDict>() {
            return Err(PyTypeError::new_err(format!("{what} must be a dict, not {}", type_name(value))));
        }
        self.text(value, what)
    }
}

/// The JSON text of a value that is no document: a selector, a pipeline.
pub(crate) fn text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    Encoding::default().text(value, what)
}

/// Whether a value stands for none: `NaN`, or `NaT` or `NA` of pandas.
fn is_none_of_pandas(value: &Bound<'_, PyAny>) -> bool {
    if let Ok(float) = value.cast::<PyFloat>() {
        return float.value().is_nan();
    }
    let kind = value.get_type();
    let named = |name: &str| kind.name().is_ok_and(|own| own == name);
    named("NaTType") || named("NAType")
}

fn is_of_module(value: &Bound<'_, PyAny>, module: &str) -> bool {
    value.get_type().module().is_ok_and(|own| own.to_str().is_ok_and(|own| own == module))
}

fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "a value".to_owned(), |name| name.to_string())
}

/// A text that is being written, and where in the value it has come to.
struct Writing<'w> {
    out: String,
    place: Vec<Step>,
    what: &'w str,
    by: &'w Encoding,
}

enum Step {
    Member(String),
    Element(usize),
    /// What is written in the place of a value.
    Instead,
}

impl Writing<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.out.len() > JSON_BYTES_MAX {
            return Err(PyValueError::new_err(format!(
                "{} has more than {JSON_BYTES_MAX} bytes as JSON, which is the most",
                self.what
            )));
        }
        if let Ok(text) = value.cast::<PyString>() {
            quote_into(&text.to_cow()?, &mut self.out);
        } else if value.is_none() {
            self.out.push_str("null");
        } else if let Ok(value) = value.cast::<PyBool>() {
            self.out.push_str(if value.is_true() { "true" } else { "false" });
        } else if let Ok(integer) = value.cast::<PyInt>() {
            match integer.extract::<i64>() {
                Ok(small) => _ = write!(self.out, "{small}"),
                Err(_) => self
                    .out
                    .push_str(&integer.py().get_type::<PyInt>().call_method1("__repr__", (integer,))?.to_string()),
            }
        } else if is_none_of_pandas(value) {
            if self.by.nan == Nan::Refused {
                let here = self.here();
                return Err(PyValueError::new_err(format!(
                    "{here} is {}, which JSON does not have: open the store with nan=\"null\" to write null, or with \
                     nan=\"omit\" to leave the member out",
                    value.str()?
                )));
            }
            self.out.push_str("null");
        } else if !value.is_exact_instance_of::<PyFloat>() && value.is_instance(spelled(value.py())?)? {
            self.number(value, &value.getattr(intern!(value.py(), "text"))?.extract::<String>()?)?;
        } else if let Ok(float) = value.cast::<PyFloat>() {
            let float = float.value();
            if !float.is_finite() {
                return Err(PyValueError::new_err(format!("{} is {float}, which JSON does not have", self.here())));
            }
            _ = write!(self.out, "{float:?}");
        } else if let Ok(dict) = value.cast::<PyDict>() {
            self.deeper()?;
            self.members(dict)?;
        } else if let Ok(list) = value.cast::<PyList>() {
            self.deeper()?;
            self.elements(list.iter())?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.deeper()?;
            self.elements(tuple.iter())?;
        } else if is_of_module(value, "numpy") && value.hasattr("tolist")? {
            self.other(&value.call_method0("tolist")?)?;
        } else if value.is_instance_of::<PyDateTime>() || value.is_instance_of::<PyDate>() {
            quote_into(&value.call_method0("isoformat")?.extract::<String>()?, &mut self.out);
        } else if let Some(default) = &self.by.default {
            let other = default.bind(value.py()).call1((value,))?;
            self.other(&other)?;
        } else if is_of_module(value, "decimal") {
            self.number(value, &value.str()?.to_cow()?)?;
        } else {
            return Err(PyTypeError::new_err(format!(
                "{} is of type {}, which JSON does not have: give a dict, list, tuple, str, int, float, Decimal, bool, \
                 datetime or None, or open the store with default=function",
                self.here(),
                type_name(value)
            )));
        }
        Ok(())
    }

    /// A number that has a spelling of its own.
    fn number(&mut self, value: &Bound<'_, PyAny>, text: &str) -> PyResult<()> {
        let mut parser = Parser::of_text(text);
        match (parser.next_event(), parser.next_event()) {
            (Ok(Some(Event::Number(number))), Ok(None)) => self.out.push_str(number.text),
            _ => {
                let (here, kind) = (self.here(), type_name(value));
                return Err(PyValueError::new_err(format!("{here} is the {kind} {text}, which JSON does not have")));
            }
        }
        Ok(())
    }

    /// What is written in the place of another value. It is one level deeper, so that a function that returns what it
    /// was given ends.
    fn other(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.deeper()?;
        self.place.push(Step::Instead);
        self.value(value)?;
        self.place.pop();
        Ok(())
    }

    fn deeper(&self) -> PyResult<()> {
        if self.place.len() < JSON_DEPTH_MAX {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "{} is nested more than {JSON_DEPTH_MAX} deep, which is the most, or contains itself",
            self.what
        )))
    }

    fn members(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<()> {
        self.out.push('{');
        let mut number = 0;
        for (name, value) in dict.iter() {
            if self.by.nan == Nan::Omitted && is_none_of_pandas(&value) {
                continue;
            }
            let Ok(name) = name.cast::<PyString>() else {
                return Err(PyTypeError::new_err(format!(
                    "{} has the key {}: keys must be str, not {}",
                    self.here(),
                    name.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string()),
                    type_name(&name)
                )));
            };
            if number > 0 {
                self.out.push(',');
            }
            number += 1;
            let name = name.to_cow()?;
            quote_into(&name, &mut self.out);
            self.out.push(':');
            self.place.push(Step::Member(name.into_owned()));
            self.value(&value)?;
            self.place.pop();
        }
        self.out.push('}');
        Ok(())
    }

    fn elements<'py>(&mut self, elements: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        self.out.push('[');
        for (number, element) in elements.enumerate() {
            if number > 0 {
                self.out.push(',');
            }
            self.place.push(Step::Element(number));
            self.value(&element)?;
            self.place.pop();
        }
        self.out.push(']');
        Ok(())
    }

    /// Where in the value it is, for people.
    fn here(&self) -> String {
        let mut here = self.what.to_owned();
        for step in self.place.iter().take(32) {
            _ = match step {
                Step::Member(name) => write!(here, "[{}]", quote(name)),
                Step::Element(number) => write!(here, "[{number}]"),
                Step::Instead => Ok(()),
            };
        }
        here
    }
}
