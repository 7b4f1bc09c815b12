//! The listener of Apocrypha: sockets of `listen.rs`, sessions of `recension_apocrypha`. Beside the HTTP server or alone.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use recension::document::Store;
use recension_apocrypha::{Database, Peer, Service, Settings, Trace};
use tokio::io::{AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

use crate::limits::SHUTDOWN_SECONDS_MAX;
use crate::listen::{Duplex, Listeners, Listening, Taken};
use crate::serve::ServeError;

/// Where to listen for Apocrypha, and for whom.
#[derive(Clone, Debug)]
pub struct ApocryphaConfig {
    /// Where; port 0 takes a free one.
    pub listen: SocketAddr,
    /// A unix socket too, for which no token is needed.
    pub unix_socket: Option<PathBuf>,
    /// A certificate chain and its key, as PEM files: then `listen` speaks TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Bounds, the token, the trace.
    pub settings: Settings,
    /// Connections at a time.
    pub max_connections: usize,
    /// For commands to finish when the server stops.
    pub shutdown: Duration,
}

impl Default for ApocryphaConfig {
    fn default() -> Self {
        ApocryphaConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 9999)),
            unix_socket: None,
            tls: None,
            settings: Settings::default(),
            max_connections: recension_apocrypha::limits::CONNECTIONS_MAX,
            shutdown: Duration::from_secs(SHUTDOWN_SECONDS_MAX),
        }
    }
}

/// What is asked when a frame comes.
#[derive(Clone)]
pub enum Backend {
    /// A database of this process.
    Database(Database),
    /// Another server, `HOST:PORT`: frames go there as they are.
    Proxy(String),
}

/// A listener of Apocrypha, which answers once it runs.
pub struct Apocrypha {
    listeners: Listeners,
    config: ApocryphaConfig,
    backend: Backend,
}

impl fmt::Debug for Apocrypha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Apocrypha").field("address", &self.address()).finish_non_exhaustive()
    }
}

#[derive(Clone)]
enum Serving {
    Here(Box<Service>),
    /// Where, and how long that may take to answer the first time.
    There(Arc<str>, Duration),
}

impl Apocrypha {
    /// Listens.
    ///
    /// # Errors
    /// [`ServeError::Configured`] for an address that others can reach without a token; [`ServeError::Io`].
    pub async fn bind(config: ApocryphaConfig, backend: Backend) -> Result<Self, ServeError> {
        if !config.listen.ip().is_loopback() {
            let refused = |why: &str| Err(ServeError::Configured(format!("{} is not loopback: {why}", config.listen)));
            match backend {
                Backend::Proxy(_) => return refused("a proxy knows no token; listen on 127.0.0.1"),
                Backend::Database(_) if config.settings.token.is_none() => {
                    return refused("set a token (RECENSION_APOCRYPHA_TOKEN), or listen on 127.0.0.1");
                }
                Backend::Database(_) => {}
            }
        }
        let listeners = Listeners::bind(&Listening {
            listen: config.listen,
            unix_socket: config.unix_socket.as_deref(),
            tls: config.tls.as_ref().map(|(certificate, key)| (certificate.as_path(), key.as_path())),
            protocols: &[],
            patience: config.settings.patience,
        })
        .await?;
        Ok(Apocrypha { listeners, config, backend })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listeners.address
    }

    /// Answers until `until` completes; then no connection is taken any more, what was asked is answered, and the store
    /// is made durable.
    ///
    /// # Errors
    /// [`ServeError::Store`] where the last checkpoint fails.
    pub async fn run(self, until: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Apocrypha { listeners, config, backend } = self;
        let (stop, stopping) = watch::channel(false);
        let store: Option<Store> = match &backend {
            Backend::Database(database) => Some(database.collection().store().clone()),
            Backend::Proxy(_) => None,
        };
        let serving = match backend {
            Backend::Database(database) => {
                Serving::Here(Box::new(Service::new(database, config.settings, stopping.clone())))
            }
            Backend::Proxy(address) => Serving::There(address.into(), config.settings.patience),
        };
        // Every connection holds a sender; when the last is dropped all have ended.
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let take = |taken: Taken, place| {
            let (serving, alive, stopping) = (serving.clone(), alive.clone(), stopping.clone());
            tokio::spawn(async move {
                if let Err(error) = serve(&serving, taken, stopping).await {
                    tracing::debug!(%error, "a connection of Apocrypha ended");
                }
                drop((alive, place));
            });
        };
        listeners.accept_until(config.max_connections, until, take).await;
        drop((listeners, alive, serving));
        let _ = stop.send(true);
        if tokio::time::timeout(config.shutdown, ended.recv()).await.is_err() {
            tracing::warn!("commands were cut off: they took longer than {:?} to finish", config.shutdown);
        }
        match store {
            Some(store) => Ok(store.engine().checkpoint().map_err(recension::document::Error::from)?),
            None => Ok(()),
        }
    }
}

async fn serve(serving: &Serving, taken: Taken, stopping: watch::Receiver<bool>) -> std::io::Result<()> {
    let peer = if taken.peer().is_none() { Peer::ThisMachine } else { Peer::Network };
    match serving {
        // Where there is no handshake the stream is used as it is, without another one's table of functions.
        Serving::Here(service) => match taken.open_plain() {
            Ok(stream) => service.serve(stream, peer).await,
            Err(taken) => service.serve(taken.open().await?, peer).await,
        },
        Serving::There(address, patience) => forward(taken.open().await?, (address, *patience), stopping).await,
    }
}

/// Passes bytes on, both ways. Who cannot be reached is an error reply, not a client that hangs.
async fn forward(
    mut stream: Box<dyn Duplex>,
    (to, patience): (&str, Duration),
    mut stopping: watch::Receiver<bool>,
) -> std::io::Result<()> {
    let connected = tokio::time::timeout(patience, TcpStream::connect(to)).await;
    match connected.unwrap_or_else(|_| Err(std::io::ErrorKind::TimedOut.into())) {
        Ok(mut upstream) => {
            upstream.set_nodelay(true)?;
            tokio::select! {
                done = copy_bidirectional(&mut stream, &mut upstream) => done.map(|_| ()),
                _ = stopping.wait_for(|stopping| *stopping) => Ok(()),
            }
        }
        Err(error) => {
            let mut reply = Vec::new();
            recension_apocrypha::wire::write(format!("error: {to} does not answer: {error}").as_bytes(), &mut reply);
            stream.write_all(&reply).await?;
            stream.shutdown().await
        }
    }
}

/// A trace that writes lines to standard error.
pub fn trace_to_stderr() -> Trace {
    use std::io::Write as _;
    Arc::new(|line| {
        // Nobody may read it any more; the commands go on.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    })
}
