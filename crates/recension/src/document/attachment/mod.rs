//! Attachments: bytes that belong to a document. A document's row names them (`info.rs`); the bytes lie in the
//! collection's side tree (`rows.rs`), each content once for all documents that have it.
//!
//! On their way in they are encoded and hashed (`digest.rs`), wait as an `upload.rs`, and become a document's with
//! its write (`wanted.rs` says what is meant, `contents.rs` what changes). `read.rs` reads them.

mod change;
mod contents;
mod digest;
mod info;
mod parse;
mod read;
mod rows;
mod upload;
mod verify;
mod wanted;

pub(super) use info::{decode, encode, stubs_json};
pub(super) use parse::parse;
pub(super) use verify::ContentsCheck;
pub(super) use wanted::Wanted;

pub use info::{AttachmentInfo, Encoding};
pub use read::AttachmentReader;
pub use upload::Upload;
pub use wanted::Following;
