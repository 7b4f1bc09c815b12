//! Identity and rights. There are two ways to the data, and both go through here: [`Session::database`]
//! and [`Session::server_admin`]. What they return ([`databases::Database`], [`ServerAdmin`]) cannot be made elsewhere,
//! and the store cannot be reached without one: a handler that forgets to ask for access does not compile.
//!
//! Who one is: `evidence.rs` asks `sessions.rs` (the cookie), `tokens.rs` (API tokens), `basic.rs` (`Basic`); the names
//! and passwords behind them: `users.rs` (`_users`), `log_in.rs` (checking, slowly, with what
//! `credentials.rs` keeps), `throttle.rs` (guessing). What one may do: `users_guard.rs` (`_users`),
//! `replicator_guard.rs`; whether one still may: `standing.rs` (feeds), `entered.rs` (bodies that come). Doors beside
//! HTTP: `doors.rs`. What names, hashes and keys are is below, in `identity/`.

pub(crate) mod basic;
pub mod connection;
pub(crate) mod credentials;
pub mod databases;
pub mod doors;
pub mod entered;
mod events;
pub(crate) mod evidence;
pub(crate) mod failed_log_ins;
mod known;
pub mod log_in;
pub mod partitions;
mod proof;
mod realm;
pub mod replicator_guard;
mod rights_changes;
pub mod scope;
mod session;
pub mod sessions;
pub mod standing;
pub(crate) mod throttle;
pub mod tokens;
pub mod users;
pub mod users_guard;

pub use self::proof::ServerAdmin;
pub use self::realm::Realm;
pub use self::session::{Access, Session};
