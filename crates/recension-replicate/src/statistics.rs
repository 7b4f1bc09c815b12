//! Statistics of a replication, in CouchDB's words.

use serde::{Deserialize, Serialize};

/// Statistics of a replication.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statistics {
    /// Revisions that were looked for on the target.
    pub missing_checked: u64,
    /// Revisions that the target did not have.
    pub missing_found: u64,
    /// Revisions that were read.
    pub docs_read: u64,
    /// Revisions that were written.
    pub docs_written: u64,
    /// Revisions that the target refused. They are not tried again.
    pub doc_write_failures: u64,
    /// Requests for many revisions.
    pub bulk_get_attempts: u64,
    /// Revisions that came with them.
    pub bulk_get_docs: u64,
    /// The position in the source's feed.
    #[serde(skip)]
    pub through: String,
    /// Changes that are still to be read, if the source says so.
    #[serde(skip)]
    pub pending: Option<u64>,
    /// The last refusal: the document, and the reason.
    #[serde(skip)]
    pub last_refusal: Option<(String, String)>,
}
