//! One store, many processes: the engine contract over a unix socket in the store's folder.
//!
//! The process that has a native store open is its owner. If it shares the store, it listens ([`Owner`]). Later openers
//! get a [`RemoteEngine`], which can do everything that the engine can. [`open`] does the one or the other.
//! docs/remote-engine.md has the protocol.
//!
//! A request goes: `engine` and `snapshot` -> `link` (which owner, and what if it dies) -> `pool` (which connection) ->
//! `pipe` (one that threads share) ->
//! `frame` -> `serve` (the owner's thread for it) -> `makers` -> `execute` (the call of the owner's engine).
#![warn(missing_docs)]

mod answer;
mod bytes;
mod door;
mod engine;
mod execute;
mod failure;
mod frame;
#[doc(hidden)]
pub mod fuzz;
pub mod limits;
mod link;
mod makers;
mod names;
#[cfg(feature = "network")]
pub mod network;
mod open;
mod owner;
mod pieces;
mod pipe;
mod pool;
mod request;
mod room;
mod serve;
mod snapshot;
pub mod socket;
mod wire;

pub use engine::RemoteEngine;
pub use open::open;
pub use owner::Owner;
pub use room::Bounds;
pub use serve::Listening;

/// The version of the protocol. Both sides must speak the same one.
pub const PROTOCOL_VERSION: u32 = 3;
