//! Refusals as Python's exceptions. Each has the message of the library, and the members that a program decides by.

use pyo3::exceptions::{PyException, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use recension::Error;
use recension::engine::EngineError;
use recension_bindings::{Kind, Refused};

pyo3::create_exception!(recension_db, RecensionError, PyException, "What the store refuses.");
pyo3::create_exception!(
    recension_db,
    Conflict,
    RecensionError,
    "The document is at another revision than the writer expected (id, expected, found)."
);
pyo3::create_exception!(
    recension_db,
    Busy,
    RecensionError,
    "Others wrote what this transaction has read. Nothing was written: run it again."
);
pyo3::create_exception!(
    recension_db,
    NotUnique,
    RecensionError,
    "Another document has the value in a unique index (id, index, holder)."
);
pyo3::create_exception!(
    recension_db,
    InUse,
    RecensionError,
    "Another process has the store open and does not share it."
);
pyo3::create_exception!(recension_db, ReadOnly, RecensionError, "The store was opened for reading only.");
pyo3::create_exception!(
    recension_db,
    Unavailable,
    RecensionError,
    "The process that owns the store does not answer. Nothing was written."
);
pyo3::create_exception!(
    recension_db,
    OutcomeUnknown,
    RecensionError,
    "The process that owned the store has died, and the write may have been made or not: read to know."
);
pyo3::create_exception!(recension_db, Damaged, RecensionError, "Stored bytes are not what was written.");
pyo3::create_exception!(recension_db, Closed, RecensionError, "The database was closed.");

/// The exception of a refusal of the library.
pub(crate) fn raised(py: Python<'_>, error: recension::Error) -> PyErr {
    refused(py, &Refused::Store(error))
}

/// The exception of a refusal.
pub(crate) fn refused(py: Python<'_>, refused: &Refused) -> PyErr {
    let says = refused.to_string();
    let raised = match refused.kind() {
        Kind::Conflict => Conflict::new_err(says),
        Kind::Busy => Busy::new_err(says),
        Kind::NotUnique => NotUnique::new_err(says),
        Kind::Missing => PyKeyError::new_err(says),
        Kind::Type => PyTypeError::new_err(says),
        Kind::Value => PyValueError::new_err(says),
        Kind::Damaged => Damaged::new_err(says),
        Kind::InUse => InUse::new_err(says),
        Kind::ReadOnly => ReadOnly::new_err(says),
        Kind::Unavailable => Unavailable::new_err(says),
        Kind::Unknown => OutcomeUnknown::new_err(says),
        Kind::Closed => Closed::new_err(says),
        Kind::Other => RecensionError::new_err(says),
    };
    if let Refused::Store(error) = refused {
        // The exception is raised even if its members cannot be set.
        let _ = members(py, error.cause(), &raised);
        if let Error::Stopped { written, .. } = error {
            let _ = raised.value(py).setattr("written", written);
        }
    }
    raised
}

fn members(py: Python<'_>, error: &Error, raised: &PyErr) -> PyResult<()> {
    let value = raised.value(py);
    match error {
        Error::Conflict { id, expected, found, .. } => {
            value.setattr("id", id)?;
            value.setattr("expected", expected.as_ref().map(ToString::to_string))?;
            value.setattr("found", found.as_ref().map(ToString::to_string))
        }
        Error::NotUnique { index, id, holder, .. } => {
            value.setattr("index", index)?;
            value.setattr("id", id)?;
            value.setattr("holder", holder)
        }
        Error::Engine(EngineError::Branch { name, .. }) => {
            value.setattr("id", name)?;
            value.setattr("expected", py.None())?;
            value.setattr("found", py.None())
        }
        _ => Ok(()),
    }
}
