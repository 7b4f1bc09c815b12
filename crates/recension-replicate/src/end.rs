//! The contract of the two sides of a replication.

use std::io::Read;
use std::time::Duration;

use crate::control::Control;
use crate::document::{Attachment, Document};
use crate::error::Result;
use crate::options::Options;

/// A change: a document, and its leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The document.
    pub id: String,
    /// Its leaves.
    pub revs: Vec<String>,
}

/// A request for a part of a feed.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// The position to read from; `"0"` is the beginning.
    pub since: &'a str,
    /// Most changes.
    pub limit: usize,
    /// How long to wait for a change if there is none.
    pub wait: Option<Duration>,
    /// Selects the documents.
    pub options: &'a Options,
    /// May end the wait.
    pub control: &'a Control,
}

/// A part of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The changes.
    pub changes: Vec<Changed>,
    /// The position behind them.
    pub last_seq: String,
    /// Whether there are no further ones now.
    pub caught_up: bool,
    /// How many are left, if known.
    pub pending: Option<u64>,
}

/// The revisions of a document that a target does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The document.
    pub id: String,
    /// The revisions.
    pub revs: Vec<String>,
    /// Revisions that it has and that may be their ancestors.
    pub ancestors: Vec<String>,
}

/// A revision that is requested from a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The document.
    pub id: String,
    /// The revision.
    pub rev: String,
}

/// A source's answer about a revision.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// The revision, or one that stands on it.
    Found(Document),
    /// It is not there any more.
    Gone,
}

/// A document that a target refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The document.
    pub id: String,
    /// The kind of error, in CouchDB's words.
    pub error: String,
    /// The reason.
    pub reason: String,
}

/// Opens an attachment of the document that is written.
pub type Open<'a> = dyn Fn(&Attachment) -> Result<Box<dyn Read + Send>> + 'a;

/// A side of a replication.
pub trait End: Send + Sync {
    /// Its name for people, without credentials.
    fn name(&self) -> String;

    /// Distinguishes it from other sides: it becomes a part of the replication's own id.
    fn identity(&self) -> String;

    /// Checks that the database exists. Creates it if that is allowed.
    fn prepare(&self, create: bool, control: &Control) -> Result<()>;

    /// Some changes, with all leaves.
    fn changes(&self, feed: Feed<'_>) -> Result<Page>;

    /// All leaves of documents that changed after a position, in one stream of lines. Each is a revision as JSON, or
    /// `{"last_seq":position}`, up to which all was sent. The last one also has `"done":true`. `None`: there is no such
    /// stream.
    ///
    /// # Errors
    /// It cannot be asked.
    fn leaves(&self, since: &str, control: &Control) -> Result<Option<Box<dyn Read + Send>>> {
        let _ = (since, control);
        Ok(None)
    }

    /// Whether it surely has no documents, not even deleted ones.
    fn is_empty(&self, control: &Control) -> Result<bool> {
        let _ = control;
        Ok(false)
    }

    /// The revisions that it does not have.
    fn revs_diff(&self, changes: &[Changed], control: &Control) -> Result<Vec<Missing>>;

    /// Revisions with their ancestors. With `attachments`, the bytes of attachments are inside of them.
    fn fetch(&self, wanted: &[Wanted], attachments: bool, control: &Control) -> Result<Vec<Fetched>>;

    /// The bytes of an attachment.
    fn attachment(&self, document: &Document, name: &str, control: &Control) -> Result<Box<dyn Read + Send>>;

    /// Stores revisions. Returns those that it will never take.
    fn write(&self, documents: &[Document], control: &Control) -> Result<Vec<Refusal>>;

    /// Stores a revision with attachments of any length. Attachments up to generation `known` are there already.
    fn write_attached(
        &self,
        document: &Document,
        known: u32,
        open: &Open<'_>,
        control: &Control,
    ) -> Result<Option<Refusal>>;

    /// A design document, as JSON. `None`: it has none, or cannot run its functions.
    ///
    /// # Errors
    /// It cannot be asked.
    fn design(&self, name: &str, control: &Control) -> Result<Option<String>> {
        let _ = (name, control);
        Ok(None)
    }

    /// A local document, as JSON.
    fn local(&self, name: &str, control: &Control) -> Result<Option<String>>;

    /// Writes a local document over the one that is there.
    fn put_local(&self, name: &str, body: &str, control: &Control) -> Result<()>;
}
