//! Attachments in the store: a document's row names them (`section.rs`); the bytes lie in the collection's side tree
//! (`rows.rs`), each content once for all documents that have it. `read.rs` reads them, `verify.rs` checks them.

mod read;
pub(in crate::document) mod rows;
pub(in crate::document) mod section;
mod verify;

pub(in crate::document) use section::{decode, encode};
pub(in crate::document) use verify::ContentsCheck;

pub use read::AttachmentReader;
