//! A store for clients of Redis: RESP2 and RESP3 over any stream of bytes. Strings and counters are keys of the store,
//! hashes are JSON documents, channels are its topics. docs/src/redis.md has a table of the commands.
//!
//! ```
//! use recension_redis::{Door, Reply, Settings};
//!
//! # fn main() -> recension::Result<()> {
//! let door = Door::on(&recension::open("memory:")?, Settings::default());
//! let mut caller = door.caller();
//! assert_eq!(caller.call(&[b"SET", b"pizza", b"pineapple"]), Reply::Ok);
//! assert_eq!(caller.call(&[b"GET", b"pizza"]), Reply::Bulk(b"pineapple".to_vec()));
//! # Ok(()) }
//! ```

mod blocked;
mod command;
mod commands;
mod data;
mod decimal;
mod door;
mod group;
pub mod limits;
mod long;
mod multi;
mod open;
mod reply;
pub mod resp;
mod scans;
mod script;
mod session;
mod settings;
mod watchers;

pub use door::{Caller, Door};
pub use reply::{Protocol, Reply};
pub use settings::{Attempt, Authenticate, Settings, Standing};
