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
//! | the root | [`Store`], [`Collection`], [`Query`], [`At`], [`Document`](struct@Document), [`Error`], [`Result`] |
//! | [`document`] | stores, collections, queries, transactions, changes, typed collections |
//! | [`document::json`] | parsing, patches and differences of JSON texts |
//! | `document::asynchronous` | the same for async code (feature `async`) |
//! | [`engine`] | the contract of the engines below, and the native and the memory engine |
//! | [`limits`], [`document::limits`] | every bound |
//!
//! | feature | on by default | what it brings |
//! |---|---|---|
//! | `derive` | yes | `#[derive(Document)]`, which declares what a typed collection needs to know; needs `typed` |
//! | `typed` | with `derive` | collections of Rust types, by serde: [`document::Typed`] |
//! | `async` | no | handles for async code, on any executor: `document::asynchronous` |
//!
//! The crate switches on no feature of `serde_json`, so that it does not change how other parts of a program treat
//! JSON. The library `jsonschema` switches on one, `float_roundtrip`: doubles are read as the nearest one.
//!
//! Reads never wait for writers. Nothing here prints, exits or panics on input.
#![warn(missing_docs)]

pub use recension_engine::limits;
pub use recension_native::disk;
pub mod document;
pub mod engine;

pub use document::{CollectionKeyOptions, OpenOptions, open, open_read_only};
pub use recension_native::Key;

#[doc(hidden)] // what #[derive(Document)] writes for generic types names it
#[cfg(feature = "typed")]
pub use serde;
/// The JSON values that migrations work on.
#[cfg(feature = "typed")]
pub use serde_json;

#[doc(no_inline)]
pub use document::{At, Collection, Document, Error, IndexSpec, Query, Result, Store, ValueRange};
