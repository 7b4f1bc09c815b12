//! Recension over HTTP: the protocol of Apache CouchDB 3, as PouchDB and other clients speak it, and what goes
//! beyond. ARCHITECTURE.md, "The server", tells a request's way through these files.
//!
//! ```no_run
//! use recension_server::{Server, config::Config};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Server::bind(Config { store: "memory:".into(), ..Config::default() }).await?;
//! println!("http://{}/", server.address());
//! server.run(async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await?;
//! # Ok(()) }
//! ```

#[cfg(not(all(feature = "apocrypha", feature = "redis")))]
mod absent;
mod answer;
#[cfg(feature = "apocrypha")]
mod apocrypha;
mod arriving;
mod auth;
mod backups;
mod compacting;
pub mod config;
mod connections;
mod console;
mod cors;
pub mod descriptors;
mod dispatch;
mod encoding;
mod error;
mod format;
mod functions;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzz;
mod gateway;
mod handed;
mod head;
mod html;
mod http;
mod identity;
mod learning;
pub mod limits;
mod listen;
pub mod logs;
mod members;
mod metrics;
mod observed;
mod parts;
mod query;
mod raw_targets;
mod ready;
#[cfg(feature = "redis")]
mod redis;
mod reload;
mod replication;
mod request;
mod request_body;
mod request_log;
mod route;
mod routes;
mod samples;
mod serve;
mod serve_error;
mod setting_names;
mod settings;
mod slow;
mod spoken;
mod state;
mod streams;
mod threads;
mod write_timeout;

use auth::databases;

#[cfg(feature = "apocrypha")]
pub use apocrypha::{Apocrypha, ApocryphaConfig, Backend, trace_to_stderr};
pub use auth::tokens;
pub use gateway::{Gateway, Place, Protocol, cgi, handed_over};
pub use recension_gateway::Environment;
pub use reload::Reloader;
pub use serve::{FirstAdmin, Server, signalled};
pub use serve_error::ServeError;
