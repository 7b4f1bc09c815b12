//! Attachments as values: the description of one (`info.rs`), its bytes on their way in (`digest.rs` encodes and hashes
//! them, then they wait in an `upload.rs`), and the attachments of a write (`parse.rs`, `wanted.rs`, `change.rs`).

mod change;
pub mod digest;
pub mod gzip;
pub mod info;
mod parse;
pub mod upload;
pub mod wanted;

pub use info::{Content, ContentHash, stubs_json};
pub use parse::parse;
pub use wanted::Wanted;

pub use info::{AttachmentInfo, Encoding};
pub use upload::Upload;
pub use wanted::Following;
