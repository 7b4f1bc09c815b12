//! Loading many documents: writes are gathered and committed together. Memory is bounded by one batch.

use std::collections::HashSet;

use crate::faces::collection::Collection;
use crate::faces::commit::apply;
use recension_values::error::{Error, Result};
use recension_values::limits::{LOAD_BATCH_BYTES, LOAD_BATCH_DOCUMENTS};
use recension_values::write::Write;

/// A document that was not loaded.
#[derive(Clone, Debug)]
pub struct LoadFailure {
    /// The number of its push, from 0.
    pub number: u64,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The reason.
    pub error: Error,
}

/// Loads documents into a collection, in commits of many.
///
/// Nothing of the last batch is written before [`Loader::finish`] or [`Loader::flush`].
///
/// ```
/// use recension::{Store, Write};
/// # fn main() -> recension::Result<()> {
/// let people = Store::memory()?.collection("people")?;
/// let mut loader = people.loader();
/// for line in [r#"{"name":"Ada"}"#, r#"{"name":"Grace"}"#] {
///     for failure in loader.push(Write::from_json(line)?)? {
///         eprintln!("document {}: {}", failure.number, failure.error);
///     }
/// }
/// let failures = loader.finish()?;
/// assert!(failures.is_empty());
/// assert_eq!(people.count()?, 2);
/// # Ok(()) }
/// ```
pub struct Loader {
    collection: Collection,
    batch: Vec<Write>,
    batch_bytes: usize,
    ids: HashSet<String>,
    pushed: u64,
    written: u64,
    stop: fn(&Error) -> bool,
}

impl Loader {
    pub(crate) fn new(collection: Collection) -> Self {
        Loader {
            collection,
            batch: Vec::new(),
            batch_bytes: 0,
            ids: HashSet::new(),
            pushed: 0,
            written: 0,
            stop: |_| false,
        }
    }

    /// With a stop at the first document that is refused for such a reason. Documents that were pushed before it are
    /// written; those of its batch that were pushed after it are not. The caller then has to stop pushing.
    #[must_use]
    pub fn stopping_at(mut self, reason: fn(&Error) -> bool) -> Self {
        self.stop = reason;
        self
    }

    /// Adds a document. If this push commits a batch, returns the documents that failed.
    ///
    /// # Errors
    /// An error of the engine, or [`Error::Busy`]: nothing of the batch was written.
    pub fn push(&mut self, write: Write) -> Result<Vec<LoadFailure>> {
        let mut failures = Vec::new();
        if write.id().is_some_and(|id| self.ids.contains(id)) {
            // One commit holds one revision of a document.
            failures = self.flush()?;
        }
        self.ids.extend(write.id().map(str::to_owned));
        self.batch_bytes += write.size_bytes();
        self.batch.push(write);
        self.pushed += 1;
        if self.batch.len() >= LOAD_BATCH_DOCUMENTS || self.batch_bytes >= LOAD_BATCH_BYTES {
            failures.extend(self.flush()?);
        }
        Ok(failures)
    }

    /// Commits what was pushed; returns the documents that failed.
    ///
    /// # Errors
    /// An error of the engine, or [`Error::Busy`]: nothing of the batch was written.
    pub fn flush(&mut self) -> Result<Vec<LoadFailure>> {
        let first = self.pushed - self.batch.len() as u64;
        let ids: Vec<Option<String>> = self.batch.iter().map(|write| write.id().map(str::to_owned)).collect();
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.ids.clear();
        let results = apply(&self.collection, batch, self.stop)?;
        let mut failures = Vec::new();
        for ((number, id), result) in (first..).zip(ids).zip(results) {
            match result {
                Ok(_) => self.written += 1,
                Err(error) => failures.push(LoadFailure { number, id, error }),
            }
        }
        Ok(failures)
    }

    /// Documents that have been written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Commits what is left; returns the documents that failed.
    ///
    /// # Errors
    /// An error of the engine, or [`Error::Busy`]: nothing of the last batch was written.
    pub fn finish(mut self) -> Result<Vec<LoadFailure>> {
        self.flush()
    }
}
