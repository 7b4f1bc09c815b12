//! Options of a replication: which documents, and how.

use crate::error::{Error, Result};
use crate::limits::BATCH;

/// Options of a replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Goes on with later changes, until it is stopped.
    pub live: bool,
    /// Only these documents.
    pub doc_ids: Option<Vec<String>>,
    /// Only documents that a Mango selector (JSON) lets through.
    pub selector: Option<String>,
    /// Only documents that a filter function of the source lets through: `design/name`.
    pub filter: Option<String>,
    /// Parameters of the filter function.
    pub query_params: Vec<(String, String)>,
    /// Begins at this position and not at the last checkpoint.
    pub since: Option<String>,
    /// Creates the target if it does not exist.
    pub create_target: bool,
    /// Keeps and uses checkpoints.
    pub checkpoints: bool,
    /// Changes that are read at once.
    pub batch: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            live: false,
            doc_ids: None,
            selector: None,
            filter: None,
            query_params: Vec::new(),
            since: None,
            create_target: false,
            checkpoints: true,
            batch: BATCH,
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<()> {
        let ways = [self.doc_ids.is_some(), self.selector.is_some(), self.filter.is_some()];
        if ways.iter().filter(|asked| **asked).count() > 1 {
            let why = "`doc_ids`, `filter` and `selector` are mutually exclusive: give one of them";
            return Err(Error::BadOptions(why.to_owned()));
        }
        Ok(())
    }
}
