//! HTTP as the server reads and writes it: what arrives, what is answered, and within which bounds. It knows no store:
//! of the library it has values, budgets, and the errors that it words as CouchDB does (`error.rs`).

// A floor of the server, for no other program: what a name says is not said again.
#![allow(missing_docs)]

pub mod answer;
pub mod arriving;
pub mod connections;
pub mod encoding;
pub mod error;
pub mod format;
pub mod head;
pub mod limits;
pub mod members;
pub mod parts;
pub mod query;
pub mod raw_targets;
pub mod request_body;
pub mod route;
pub mod streams;
pub mod threads;
pub mod write_timeout;
