//! What a replication asks of its two sides.

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

/// What of a feed is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// The position behind which to read; `"0"` is the beginning.
    pub since: &'a str,
    /// Most changes.
    pub limit: usize,
    /// If there is none: how long to wait for one.
    pub wait: Option<Duration>,
    /// Which documents.
    pub options: &'a Options,
    /// Who may end the wait.
    pub control: &'a Control,
}

/// A part of a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The changes.
    pub changes: Vec<Changed>,
    /// The position behind them.
    pub last_seq: String,
    /// Whether that is all there is.
    pub caught_up: bool,
    /// How many are left, if that is known.
    pub pending: Option<u64>,
}

/// What a target does not have of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The document.
    pub id: String,
    /// The revisions.
    pub revs: Vec<String>,
    /// Revisions that it has and that may be their ancestors.
    pub ancestors: Vec<String>,
}

/// A revision that is wanted of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The document.
    pub id: String,
    /// The revision.
    pub rev: String,
}

/// What a source says of a revision.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// The revision, or one that stands on it.
    Found(Document),
    /// It is not there any more.
    Gone,
}

/// A document that a target does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The document.
    pub id: String,
    /// CouchDB's word for it.
    pub error: String,
    /// Why.
    pub reason: String,
}

/// Opens an attachment of the document that is written.
pub type Open<'a> = dyn Fn(&Attachment) -> Result<Box<dyn Read + Send>> + 'a;

/// A side of a replication.
pub trait End: Send + Sync {
    /// Its name for people, without credentials.
    fn name(&self) -> String;

    /// What tells it from others: a part of the replication's own id.
    fn identity(&self) -> String;

    /// Checks that it is there, and creates it if it may.
    fn prepare(&self, create: bool, control: &Control) -> Result<()>;

    /// Some changes, with all leaves.
    fn changes(&self, feed: Feed<'_>) -> Result<Page>;

    /// All leaves of what changed behind a position, in one stream of lines: a revision each, as JSON, and now and then
    /// `{"last_seq":position}`, up to which all was sent; the last one has `"done":true`, too. `None`: it has no such
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

    /// What it does not have.
    fn revs_diff(&self, changes: &[Changed], control: &Control) -> Result<Vec<Missing>>;

    /// Revisions with their ancestors, and with the bytes of attachments inside of them if `attachments`.
    fn fetch(&self, wanted: &[Wanted], attachments: bool, control: &Control) -> Result<Vec<Fetched>>;

    /// The bytes of an attachment.
    fn attachment(&self, document: &Document, name: &str, control: &Control) -> Result<Box<dyn Read + Send>>;

    /// Takes revisions over. Those that it will never take are answered.
    fn write(&self, documents: &[Document], control: &Control) -> Result<Vec<Refusal>>;

    /// Takes over a revision with attachments of any length. Those that came up to generation `known` are there.
    fn write_attached(
        &self,
        document: &Document,
        known: u32,
        open: &Open<'_>,
        control: &Control,
    ) -> Result<Option<Refusal>>;

    /// A local document, as JSON.
    fn local(&self, name: &str, control: &Control) -> Result<Option<String>>;

    /// Writes a local document over the one that is there.
    fn put_local(&self, name: &str, body: &str, control: &Control) -> Result<()>;
}
