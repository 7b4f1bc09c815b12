//! Apocrypha: a command language for JSON and its wire protocol, as the two existing servers speak it, over a
//! collection of documents. docs/internals/apocrypha.md tells a command's way through these files.
//!
//! ```
//! use recension_apocrypha::{Database, Dialect};
//!
//! # fn main() -> recension::Result<()> {
//! let database = Database::on(&recension::open("memory:")?, Dialect::HASKELL)?;
//! assert_eq!(database.answer("toppings\n+\npineapple"), "");
//! assert_eq!(database.answer("toppings"), "pineapple");
//! # Ok(()) }
//! ```

pub mod dialect;
mod event_loop;
pub mod file;
pub mod language;
mod large;
pub mod limits;
mod names;
mod normalise;
mod print;
mod python;
mod session;
mod settings;
mod store;
mod value;
pub mod wire;
mod writer;

pub use dialect::Dialect;
pub use event_loop::{Connection, Entrance, EventLoops, HandOver};
pub use session::{Conversation, Peer, Service, Speaker};
pub use settings::{Settings, Token, Trace};
pub use store::{COLLECTION, Database};
pub use value::{Members, Number, Value};
