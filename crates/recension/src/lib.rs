//! Recension: a JSON document database that you can embed, serve, sync and rewind.
#![warn(missing_docs)]

pub mod disk;
pub mod document;
pub mod engine;
pub mod limits;

pub use document::open;
