//! Per-document access: a rule of a database says which documents a user may read and write. A user whom it limits
//! reaches the database only by the routes that say so (`routes/table.rs`): `Session::database` refuses all others.
//! docs/decisions/0070-access.md has the protocol for replicas, and why it never deletes a document.
//!
//! `rule` is the rule, `served` what an index of access finds by it, `names` the revisions that are made up, `limits`
//! what a user is told of a document at a commit, `judge` what they may write; `setting` is `/{db}/_access`; `entry` is
//! their way in, to `reading`, `feed` and `writing`, and to the database's own endpoints, which ask `within` what the
//! user may see.

mod entry;
mod feed;
mod judge;
mod limits;
mod names;
mod reading;
mod rule;
mod served;
mod setting;
mod within;
mod writing;

pub use self::entry::{limits, refused};
pub use self::feed::endpoint as changes;
pub use self::limits::Shared;
pub use self::reading::{attached, bulk_get, description, document};
pub use self::setting::endpoint as setting;
pub use self::writing::revs_diff;

/// The note of the server's own that holds its secret.
const SECRET: &str = "access-secret";
