//! Recension: a JSON document database that you can embed, serve, sync and rewind.
#![warn(missing_docs)]

pub mod disk;
pub mod document;
pub mod engine;
pub mod limits;

pub use document::open;

#[doc(hidden)] // what #[derive(Document)] writes for generic types names it
#[cfg(feature = "typed")]
pub use serde;
/// The JSON values that migrations work on.
#[cfg(feature = "typed")]
pub use serde_json;

#[doc(no_inline)]
pub use document::Document;
