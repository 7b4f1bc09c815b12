//! Recension over HTTP: the protocol of Apache CouchDB 3, as PouchDB and other clients speak it, and what goes beyond.
//! ARCHITECTURE.md, "The server", tells a request's way through these files.
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

mod answer;
mod apocrypha;
mod auth;
pub mod config;
mod cors;
mod databases;
mod dispatch;
mod encoding;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod http;
pub mod limits;
mod listen;
pub mod logs;
mod metrics;
mod patient;
mod query;
mod request;
mod route;
mod serve;
mod settings;
mod state;

pub use apocrypha::{Apocrypha, ApocryphaConfig, Backend, trace_to_stderr};
pub use serve::{FirstAdmin, ServeError, Server, signalled};
