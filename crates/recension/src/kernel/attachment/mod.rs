//! Attachments in the store: a document's row names them (`section.rs`); the bytes lie in the collection's side tree
//! (`rows.rs`), each content once for all documents that have it. `read.rs` reads them, `verify.rs` checks them.

mod read;
pub(crate) mod rows;
pub(crate) mod section;
mod verify;

pub(crate) use section::{decode, encode};
pub(crate) use verify::ContentsCheck;

pub use read::AttachmentReader;
