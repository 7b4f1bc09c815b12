//! One file for each command: its arguments, its help, and its code.

#[cfg(not(all(feature = "apocrypha", feature = "server")))]
mod absent;
pub mod aggregate;
#[cfg(feature = "apocrypha")]
pub mod apocrypha;
pub mod attach;
pub mod backup;
pub mod branch;
pub mod changes;
pub mod cluster;
pub mod collections;
pub mod compact;
pub mod completions;
pub mod conflicts;
#[cfg(feature = "apocrypha")]
pub mod d;
pub mod delete;
pub mod diff;
pub mod doctor;
pub mod drop;
pub mod erase;
pub mod explain;
pub mod export;
pub mod find;
#[cfg(feature = "server")]
pub mod gateway;
pub mod get;
pub mod history;
pub mod import;
pub mod index;
pub mod key;
pub mod log;
pub mod man;
pub mod merge;
pub mod mv;
pub mod patch;
pub mod ping;
pub mod project;
pub mod purge;
pub mod put;
pub mod restore;
pub mod restore_backup;
pub mod retention;
pub mod salvage;
pub mod schema;
#[cfg(feature = "server")]
pub mod serve;
pub mod shell;
pub mod stats;
pub mod sync;
#[cfg(feature = "server")]
pub mod token;
pub mod update;
pub mod verify;
pub mod views;

#[cfg(not(feature = "apocrypha"))]
pub use absent::{apocrypha, d};
#[cfg(not(feature = "server"))]
pub use absent::{gateway, serve, token};
