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
#[cfg(feature = "apocrypha")]
mod apocrypha;
mod dispatch;
mod gateway;
mod handed;
mod listen;
mod ready;
#[cfg(feature = "redis")]
mod redis;
mod reload;
mod routes;
mod serve;
mod serve_error;

#[cfg(feature = "apocrypha")]
pub use apocrypha::{Apocrypha, ApocryphaConfig, Backend, trace_to_stderr};
pub use gateway::{Gateway, Place, Protocol, cgi, handed_over};
pub use recension_app::auth::tokens;
pub use recension_app::{config, descriptors, logs};
pub use recension_gateway::Environment;
pub use recension_wire::limits;
pub use reload::Reloader;
pub use serve::{FirstAdmin, Server, signalled};
pub use serve_error::ServeError;
