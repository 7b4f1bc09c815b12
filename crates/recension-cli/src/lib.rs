//! The `recension` command line.
pub mod at;
pub mod input;
pub mod limits;
pub mod output;
pub mod progress;
pub mod query;
