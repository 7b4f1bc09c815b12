//! Recension: a JSON document database that you can embed, serve, sync and rewind.
//!
//! A store is a directory, or memory. It has collections of documents: JSON objects under ids. Every write is a commit,
//! and every commit can be read again.
//!
//! ```
//! use recension::{At, IndexSpec, Query, Result, ValueRange};
//!
//! # fn main() -> Result<()> {
//! let store = recension::open("memory:")?; // or a path
//! let menu = store.collection("menu")?;
//! let pizza = menu.put("pizza", r#"{"topping": "pineapple", "price": 9.5}"#)?;
//!
//! // A replacement names the revision that it was made from: no change of others is lost.
//! menu.replace("pizza", &pizza.rev, r#"{"topping": "ham", "price": 10}"#)?;
//! assert!(menu.replace("pizza", &pizza.rev, r#"{"topping": "eel"}"#).is_err());
//!
//! // Indexes are built while others go on, and kept in the same commit as the documents.
//! menu.create_index(IndexSpec::new("by-price", "price"), |_| {})?;
//! let cheap = Query::new().matching("price", ValueRange::at_most(12));
//! assert_eq!(menu.find(&cheap)?.count(), 1);
//!
//! // Any read, as of any past moment.
//! let then = menu.at(At::Seq(pizza.seq))?;
//! assert_eq!(then.get("pizza")?.unwrap().body, r#"{"topping":"pineapple","price":9.5}"#);
//!
//! // Several documents in one commit, or none of them; run again if others were faster.
//! store.transaction(|tx| {
//!     tx.collection("stock")?.put("ham", r#"{"slices": 11}"#)?;
//!     tx.collection("orders")?.create(None, r#"{"dish": "pizza"}"#)
//! })?;
//!
//! // What happened, in order, from any position on; `follow` waits for what comes.
//! let changed: Vec<String> = store.changes(pizza.seq)?.map(|change| Ok(change?.id)).collect::<Result<_>>()?;
//! assert_eq!((changed.len(), changed[0].as_str()), (3, "pizza"));
//! # Ok(()) }
//! ```
//!
//! Values of Rust types are documents with `#[derive(Document)]` (feature `derive`, on by default):
//!
//! ```
//! # #[cfg(feature = "derive")]
//! # mod typed {
//! use recension::{Document, Result, Store};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Document, Serialize, Deserialize)]
//! #[recension(collection = "accounts")]
//! struct Account {
//!     #[recension(id)]
//!     id: String,
//!     #[recension(index)]
//!     balance: i64,
//! }
//!
//! # pub fn run() -> Result<()> {
//! let accounts = Store::memory()?.typed::<Account>()?;
//! accounts.put(&Account { id: "ada".into(), balance: 10 })?;
//! accounts.update("ada", |account| Ok(account.balance += 5))?;
//! assert_eq!(accounts.get("ada")?.unwrap().balance, 15);
//! # Ok(()) }
//! # }
//! # #[cfg(feature = "derive")]
//! # typed::run().unwrap();
//! ```
//!
//! | where | what |
//! |---|---|
//! | the root | [`Store`], [`Collection`], [`Query`], [`At`], [`Document`](struct@Document), [`Error`], and others |
//! | [`json`] | parsing, patches and differences of JSON texts |
//! | `asynchronous` | the same for async code (feature `async`) |
//! | [`engine`] | the contract of the engines below, and the native and the memory engine |
//! | [`limits`], [`engine::limits`] | every bound |
//!
//! | feature | on by default | what it brings |
//! |---|---|---|
//! | `derive` | yes | `#[derive(Document)]`, which declares what a typed collection needs to know; needs `typed` |
//! | `typed` | with `derive` | collections of Rust types, by serde: `Typed` |
//! | `attachments-compression` | yes | attachments of types that compress well are stored compressed, as CouchDB does |
//! | `unicode-collation` | no | strings in Unicode's order ([`Collation`]), and texts compared without their accents |
//! | `words` | no | indexes and queries of words ([`IndexSpec::words`], [`TextQuery`]) |
//! | `schema` | no | collections whose documents fit a JSON Schema ([`Schema`]) |
//! | `conditions` | no | conditions in the words of the command line (`conditions`) |
//! | `encryption` | no | stores that are encrypted with a key or a passphrase ([`Key`]) |
//! | `remote` | no | one store, several processes ([`OpenOptions::share`]) |
//! | `async` | no | handles for async code, on any executor: `asynchronous` |
//! | `log` | no | stores on a shared log in a folder (`file://`) |
//! | `etcd`, `mongodb`, `mysql`, `postgres`, `s3` | no | stores on a shared log on that system; each needs `log` |
//! | `full` | no | all of them but `async` and the logs |
//!
//! What needs a feature that is not built in is refused with its name ([`engine::EngineError::NotBuiltIn`]): a
//! collection with an index of words or in Unicode's order is then neither read nor written, one with a schema is not
//! written, an encrypted store is not opened. Without `unicode-collation` strings are ordered by their bytes where
//! nothing else is said, and new indexes are in that order.
//!
//! The crate switches on no feature of `serde_json`, so that it does not change how other parts of a program treat
//! JSON. With `schema` the library `jsonschema` switches on one, `float_roundtrip`: doubles are read as the nearest.
//!
//! Reads never wait for writers. If others wrote what a write had read, the write is tried again. A write with an
//! expectation fails with [`Error::Conflict`] if the expectation does not hold, or not any more. Nothing here prints,
//! exits or panics on input.
#![warn(missing_docs)]

pub use recension_native::{Key, disk};
pub mod engine;

#[doc(hidden)] // what #[derive(Document)] writes for generic types names it
#[cfg(feature = "typed")]
pub use serde;
/// The JSON values that migrations work on.
#[cfg(feature = "typed")]
pub use serde_json;

mod faces;
mod kernel;

#[cfg(feature = "async")]
pub use self::faces::asynchronous;
#[cfg(feature = "conditions")]
pub use recension_values::conditions;
pub use recension_values::{json, limits};

pub use self::faces::changes::{Changes, Follow};
pub use self::faces::check::{CheckProblem, CheckReport};
pub use self::faces::collection::Collection;
pub use self::faces::collection_keys::CollectionKeyOptions;
pub use self::faces::consumer::{Consumer, ConsumerOptions, ConsumerStatus, Delivery, HandedOut};
pub use self::faces::diff::{CollectionDiff, DocumentDiff, Version};
pub use self::faces::edit::Matched;
pub use self::faces::handles::{Locals, Replication, Settings, Uploads, Views};
pub use self::faces::indexes::BuildProgress;
pub use self::faces::keys::Keys;
pub use self::faces::keys_at::KeysAt;
pub use self::faces::keys_in_transaction::TransactionKeys;
pub use self::faces::loader::{LoadFailure, Loader};
pub use self::faces::local::LocalDocument;
pub use self::faces::merge::{ConflictedMerge, Conflicts, MergeOptions, Merged};
pub use self::faces::past::DroppedCollection;
pub use self::faces::purge::Purge;
pub use self::faces::restore::Restored;
pub use self::faces::retention::Compacted;
pub use self::faces::schema::{SchemaCheck, SchemaVersion};
pub use self::faces::store::{OpenOptions, Store, open, open_read_only};
pub use self::faces::topics::{Message, Received, Subscriber, Topics};
pub use self::faces::transaction::{Transaction, TransactionCollection};
#[cfg(feature = "typed")]
pub use self::faces::typed::{
    DeclaredIndex, DeclaredValues, DocumentType, DocumentView, Entry, MigrationProgress, Typed, TypedAt, TypedChange,
    TypedDocuments, TypedFollow, TypedFound, TypedHistory, TypedRevision, TypedTransaction, TypedView, TypedViewRow,
    TypedViewRows,
};
pub use self::faces::views::ViewInfo;
pub use self::faces::watch::{ResultChange, Watch};
pub use self::kernel::attachment::AttachmentReader;
pub use self::kernel::changes::change::{Change, Position};
pub use self::kernel::changes::filter::ChangeFilter;
pub use self::kernel::query::find::{Found, Selected, Selection};
pub use self::kernel::query::page::Page;
pub use self::kernel::read::access::{AccessAt, AccessChanges, AccessIds};
pub use self::kernel::read::ancestry::{Conflicted, ConflictedDocument, RevisionStatus, RevsDiff};
pub use self::kernel::read::duplicates::Duplicate;
pub use self::kernel::read::erased_rows::EraseProgress;
pub use self::kernel::read::history::{History, Revisions};
pub use self::kernel::read::reader::{CollectionAt, Documents, ListOptions};
pub use self::kernel::rows::erasure::Erasure;
pub use self::kernel::rows::view_rows::ViewRow;
pub use self::kernel::view::ahead::ReducedBlocks;
pub use self::kernel::view::mapper::{MapInput, Mapper, View};
pub use self::kernel::view::range::{ViewEdge, ViewRange};
pub use self::kernel::view::read::{ViewAt, ViewRows};
pub use self::kernel::view::reduced::{Grouping, ReducedRow, Reducer, Reduction, ViewGroups};
pub use recension_values::access::AccessMarks;
pub use recension_values::at::{At, TagName};
pub use recension_values::attachment::{AttachmentInfo, Encoding, Following, Upload};
pub use recension_values::collation::{Collation, JsonType};
pub use recension_values::condition::{Condition, Literal, ValueRange, ValueSet};
pub use recension_values::cursor::Cursor;
pub use recension_values::error::{Error, Result};
pub use recension_values::glob::Glob;
pub use recension_values::guard::{Actor, Guard, Intended, Proposed, Validator};
pub use recension_values::index_spec::{IndexPart, IndexSpec};
pub use recension_values::index_term::IndexOptions;
pub use recension_values::json::{IntoPath, Path};
pub use recension_values::key_value::{Expiry, KeyCondition, KeyEntry, KeyRows, KeyValue, SetOptions, SetOutcome};
pub use recension_values::model::{
    CollectionInfo, Counts, Document, IndexInfo, IndexState, Revision, RevisionHead, Staged, Written,
};
pub use recension_values::pipeline::{Fold, Pipeline};
pub use recension_values::plan::{Alternative, Plan, PlanSort};
pub use recension_values::query::Query;
pub use recension_values::reduce::BuiltIn;
pub use recension_values::replicated::ReplicatedWrite;
pub use recension_values::rev_hash::{AttachmentDigest, HashableBody, revision_id};
pub use recension_values::revid::RevId;
pub use recension_values::revision_tree::Leaf;
pub use recension_values::schema::Schema;
pub use recension_values::selector::{Highlighting, Highlights, Selector, SelectorTest};
pub use recension_values::text::{Language, TextQuery};
pub use recension_values::time::format_time;
pub use recension_values::view::{Emitted, Signature, ViewOptions};
pub use recension_values::write::{Expect, Write};

/// Declares the documents that a struct's values are. The macro has the name of the type that is read from a
/// collection, so one `use` brings both: `#[derive(Document)]` uses the macro, and everything else the type.
#[cfg(feature = "derive")]
pub use recension_derive::Document;
