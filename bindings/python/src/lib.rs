//! Recension in a Python process: the compiled part of the module `recension_db`. `python/recension_db/` has the rest:
//! the classes that people see, and their types.
//!
//! Every call of the store is made while other threads of Python run. Locks are taken there, too: a thread that waits
//! for one while it keeps others from running would wait for ever.
// What Python gives is a value of one's own.
#![allow(clippy::needless_pass_by_value)]

mod collection;
mod database;
mod failure;
mod json;
mod query;
mod rows;

#[pyo3::pymodule]
mod _recension {
    #[pymodule_export]
    use crate::collection::Collection;
    #[pymodule_export]
    use crate::database::forked;
    #[pymodule_export]
    use crate::database::{Database, Transaction};
    #[pymodule_export]
    use crate::failure::{
        Busy, Closed, Conflict, Damaged, InUse, NotUnique, OutcomeUnknown, ReadOnly, RecensionError, Unavailable,
    };
    #[pymodule_export]
    use crate::json::{of_text, to_text};
    #[pymodule_export]
    use crate::rows::{Changes, Rows};
}
