//! Attachments as values: the description of one (`info.rs`), its bytes on their way in (`digest.rs` encodes and hashes
//! them, then they wait in an `upload.rs`), and the attachments of a write (`parse.rs`, `wanted.rs`, `change.rs`).

mod change;
pub(in crate::document) mod digest;
pub(in crate::document) mod info;
mod parse;
pub(in crate::document) mod upload;
pub(in crate::document) mod wanted;

pub(in crate::document) use info::{Content, ContentHash, stubs_json};
pub(in crate::document) use parse::parse;
pub(in crate::document) use wanted::Wanted;

pub use info::{AttachmentInfo, Encoding};
pub use upload::Upload;
pub use wanted::Following;
