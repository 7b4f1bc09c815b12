//! Replication between any two of these: a collection of a store, a database at a URL. The protocol is CouchDB's, so
//! the other side may be CouchDB, PouchDB Server or another Recension.
//!
//! ```
//! use recension::Store;
//! use recension_replicate::{Control, Local, Options, replicate};
//!
//! let (here, there) = (Store::memory()?, Store::memory()?);
//! here.collection("notes")?.put("a", r#"{"text":"hello"}"#)?;
//! let (from, to) = (Local::new(here.collection("notes")?), Local::new(there.collection("notes")?));
//! let options = Options { create_target: true, ..Options::default() };
//! let outcome = replicate(&from, &to, &options, &Control::default())?;
//! assert_eq!(outcome.statistics.docs_written, 1);
//! assert!(there.collection("notes")?.get("a")?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The position of a replication is kept in a local document on both sides. It is written after the documents that it
//! covers are acknowledged. A replication that was cut off anywhere therefore continues from there: nothing is lost,
//! and anything that comes twice is recognised.

mod backup;
mod certificates;
mod checkpoint;
mod control;
mod document;
mod end;
mod error;
mod http;
mod leaves;
mod limits;
mod local;
mod options;
mod replicate;
mod statistics;
mod write;

pub use self::backup::{FetchedBackup, fetch_backup};
pub use self::certificates::with_advice;
pub use self::control::Control;
pub use self::document::{Attachment, Document};
pub use self::end::{Changed, End, Feed, Fetched, Missing, Open, Page, Refusal, Wanted};
pub use self::error::{Error, Result};
pub use self::http::{Http, HttpOptions, without_credentials};
pub use self::local::Local;
pub use self::options::Options;
pub use self::replicate::{Outcome, replicate, replication_id};
pub use self::statistics::Statistics;
