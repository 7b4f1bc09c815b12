//! Attachments as values: the description of one (`info.rs`), its bytes on their way in (`digest.rs` encodes and hashes
//! them, then they wait in an `upload.rs`), and the attachments of a write (`parse.rs`, `wanted.rs`, `change.rs`).

mod change;
pub(crate) mod digest;
pub(crate) mod info;
mod parse;
pub(crate) mod upload;
pub(crate) mod wanted;

pub(crate) use info::{Content, ContentHash, stubs_json};
pub(crate) use parse::parse;
pub(crate) use wanted::Wanted;

pub use info::{AttachmentInfo, Encoding};
pub use upload::Upload;
pub use wanted::Following;
