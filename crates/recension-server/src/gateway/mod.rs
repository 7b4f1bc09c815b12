//! The server behind a web server: FastCGI and SCGI over a socket of their own, CGI as a process for each request.
//! What they hand on is a request like any other (`dispatch.rs`); the protocols are in the crate `recension-gateway`.

mod cgi;
mod fcgi;
mod scgi;

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use recension::Store;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use self::cgi::{handed_over, run as cgi};
use crate::handed;
use crate::listen::{Duplex, UnixSocket, unsent_is_bounded};
use crate::serve::{FirstAdmin, first_admin};
use crate::serve_error::ServeError;
use recension_app::auth::databases::Databases;
use recension_app::config::Config;
use recension_app::state::{App, Lives};
use recension_wire::error::ApiError;
use recension_wire::write_timeout::Patient;

/// A protocol of web servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// FastCGI.
    FastCgi,
    /// SCGI.
    Scgi,
}

/// Where a gateway listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A unix socket.
    Unix(PathBuf),
    /// An address.
    Tcp(SocketAddr),
    /// The socket that the web server listens on and gives as standard input.
    Inherited,
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("unix:") {
            Some("") => Err("unix: is followed by the path of a socket".to_owned()),
            Some(path) => Ok(Place::Unix(path.into())),
            None => text.parse().map(Place::Tcp).map_err(|_| {
                format!("'{text}' is no place to listen: give unix:PATH, or ADDRESS:PORT such as 127.0.0.1:9000")
            }),
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Unix(path) => write!(f, "unix:{}", path.display()),
            Place::Tcp(address) => address.fmt(f),
            Place::Inherited => f.write_str("the web server's socket"),
        }
    }
}

enum Listener {
    Unix(UnixSocket),
    Tcp(TcpListener),
    Inherited(UnixListener),
}

impl Listener {
    async fn accept(&self) -> io::Result<Box<dyn Duplex>> {
        match self {
            Listener::Unix(socket) => Ok(Box::new(socket.listener.accept().await?.0)),
            Listener::Inherited(listener) => Ok(Box::new(listener.accept().await?.0)),
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                unsent_is_bounded(&stream);
                Ok(Box::new(stream))
            }
        }
    }
}

/// A server behind a web server.
pub struct Gateway {
    app: Arc<App>,
    protocol: Protocol,
    listener: Listener,
    place: Place,
    stop: watch::Sender<bool>,
    first_admin: Option<FirstAdmin>,
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway").field("protocol", &self.protocol).field("place", &self.place).finish_non_exhaustive()
    }
}

impl Gateway {
    /// Opens the store and listens. Other processes may have the store open: they share it.
    ///
    /// # Errors
    /// [`ServeError`].
    pub async fn bind(config: Config, protocol: Protocol, place: &Place) -> Result<Self, ServeError> {
        let local = match place {
            Place::Unix(_) | Place::Inherited => true,
            Place::Tcp(address) => address.ip().is_loopback(),
        };
        if config.admin_party && !local {
            let reason = "admin_party makes everybody an admin, and is for loopback only";
            return Err(ServeError::Configured(reason.to_owned()));
        }
        let (app, stop) = app(config, Lives::Long)?;
        let configured = |error: ApiError| ServeError::Configured(error.reason.into_owned());
        let first_admin = first_admin(&app, local).map_err(configured)?;
        let failed = |source| ServeError::Io { what: format!("listening on {place}"), source };
        let (listener, place) = match place {
            Place::Unix(path) => (Listener::Unix(UnixSocket::bind(path)?), place.clone()),
            Place::Tcp(address) => {
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                let place = Place::Tcp(listener.local_addr().map_err(failed)?);
                (Listener::Tcp(listener), place)
            }
            Place::Inherited => inherited().map_err(failed)?,
        };
        Ok(Gateway { app, protocol, listener, place, stop, first_admin })
    }

    /// Where it listens.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The server admin that this start made; others find one.
    pub fn first_admin(&self) -> Option<&FirstAdmin> {
        self.first_admin.as_ref()
    }

    /// Answers until `until` completes. Then no more connections are taken, and requests are finished.
    ///
    /// # Errors
    /// [`ServeError::Store`] if the last checkpoint fails.
    pub async fn run(self, until: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Gateway { app, protocol, listener, stop, .. } = self;
        let mut connections = JoinSet::new();
        let handed = handed::offer(&app);
        tokio::pin!(until);
        loop {
            let taken = tokio::select! {
                taken = async { Ok((listener.accept().await?, app.connections.place().await)) } => taken,
                Some(_) = connections.join_next(), if !connections.is_empty() => continue,
                () = &mut until => break,
            };
            match taken {
                Ok((stream, place)) => {
                    let app = Arc::clone(&app);
                    connections.spawn(async move {
                        app.metrics.connections.inc();
                        let stream = Patient::new(stream, app.streams.patience());
                        let ended = match protocol {
                            Protocol::FastCgi => fcgi::connection(&app, stream).await,
                            Protocol::Scgi => scgi::connection(&app, stream).await,
                        };
                        if let Err(error) = ended {
                            tracing::debug!(%error, "a web server's connection ended");
                        }
                        app.metrics.connections.dec();
                        drop(place);
                    });
                }
                Err(error) => {
                    let error: io::Error = error;
                    // No file descriptors are left: connections that end free some.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
        drop(listener);
        let _ = stop.send(true);
        let patience = Duration::from_secs(app.config.shutdown_seconds);
        let finished = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(patience, finished).await.is_err() {
            tracing::warn!("requests were cut off: they took longer than {patience:?} to finish");
        }
        if let Some(handed) = handed {
            let _ = handed.await;
        }
        app.databases.checkpoint()?;
        Ok(())
    }
}

/// The socket that a web server gives a FastCGI program as its standard input.
fn inherited() -> io::Result<(Listener, Place)> {
    let unix = std::os::unix::net::UnixListener::from(io::stdin().as_fd().try_clone_to_owned()?);
    if unix.local_addr().is_ok() {
        unix.set_nonblocking(true)?;
        return Ok((Listener::Inherited(UnixListener::from_std(unix)?), Place::Inherited));
    }
    let tcp = std::net::TcpListener::from(OwnedFd::from(unix));
    tcp.local_addr()?;
    tcp.set_nonblocking(true)?;
    Ok((Listener::Tcp(TcpListener::from_std(tcp)?), Place::Inherited))
}

/// The state of requests on a store that other processes may have open too.
fn app(config: Config, lives: Lives) -> Result<(Arc<App>, watch::Sender<bool>), ServeError> {
    on(Store::on(config.open_store()?)?, config, lives)
}

/// The state of requests on a store.
fn on(store: Store, config: Config, lives: Lives) -> Result<(Arc<App>, watch::Sender<bool>), ServeError> {
    let (stop, stopping) = watch::channel(false);
    let configured = |error: ApiError| ServeError::Configured(error.reason.into_owned());
    let app = App::new(config, Databases::on(store), stopping, lives).map_err(configured)?;
    Ok((Arc::new(app), stop))
}

/// The answer to a request that could not be read, as CGI has it.
fn refusal(status: StatusCode, reason: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let answer = recension_wire::answer::Answer::from(ApiError::new(status, "bad_request", reason.to_owned()));
    recension_gateway::answer::push_head(status, &answer.headers, &mut out);
    if let recension_wire::answer::AnswerBody::Whole(Some(body)) = &answer.body {
        out.extend_from_slice(body);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_sockets_and_addresses() {
        for (text, is_place) in [("unix:/run/x", true), ("127.0.0.1:9000", true), ("unix:", false), ("/run/x", false)] {
            let place = text.parse::<Place>();
            assert_eq!(place.is_ok(), is_place, "{text}");
            assert!(place.is_err() || place.unwrap().to_string() == text);
        }
    }
}
