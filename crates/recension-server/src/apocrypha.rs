//! The listener of Apocrypha: sockets of `listen.rs`, sessions of `recension_apocrypha`. It runs beside the HTTP server
//! or alone.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use recension::Store;
use recension_apocrypha::{
    Connection, Conversation, Database, EventLoops, HandOver, Peer, Service, Settings, Speaker, Trace,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use crate::listen::{Duplex, Listeners, Listening, Taken, Tls};
use crate::serve_error::ServeError;
use recension_app::config::ConfigError;
use recension_app::descriptors;
use recension_app::state::App;
use recension_wire::connections::{Coming, Connections, Line, UnderWay};
use recension_wire::limits::SHUTDOWN_SECONDS_MAX;

/// Where to listen for Apocrypha, and for whom.
#[derive(Clone, Debug)]
pub struct ApocryphaConfig {
    /// The address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// A unix socket too, for which no token is needed.
    pub unix_socket: Option<PathBuf>,
    /// A certificate chain and its key, as PEM files: then `listen` speaks TLS.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Bounds, the token, the trace.
    pub settings: Settings,
    /// Connections at a time.
    pub max_connections: usize,
    /// Threads that read requests and answer those that take microseconds.
    pub event_loops: usize,
    /// Time that commands have to finish when the server stops.
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
            event_loops: usual_event_loops(),
            shutdown: Duration::from_secs(SHUTDOWN_SECONDS_MAX),
        }
    }
}

/// One less than there are processors: the clients and the network need one.
fn usual_event_loops() -> usize {
    std::thread::available_parallelism().map_or(1, |processors| (processors.get() - 1).max(1))
}

/// The part that answers a frame.
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
    /// The address, and how long it may take to answer the first time.
    There(Arc<str>, Duration),
}

impl Apocrypha {
    /// Listens beside HTTP, if the configuration says where.
    pub(crate) async fn configured(app: &Arc<App>, store: &Store) -> Result<Option<Self>, ServeError> {
        let (config, wrong) = (&app.config, |error: ConfigError| ServeError::Configured(error.message));
        let Some(listen) = config.apocrypha.listen else { return Ok(None) };
        let database = Database::on(store, config.apocrypha.dialect().map_err(wrong)?)?;
        let settings = Settings {
            token: config.apocrypha.token().map_err(wrong)?,
            receiving: Arc::clone(&app.bounds.memory),
            sending: Arc::clone(&app.streams.budget),
            ..Settings::default()
        };
        let apocrypha = ApocryphaConfig {
            listen,
            unix_socket: config.apocrypha.unix_socket.clone(),
            tls: config.tls_certificate.clone().zip(config.tls_key.clone()),
            settings,
            max_connections: descriptors::doors(config).apocrypha,
            shutdown: Duration::from_secs(config.shutdown_seconds),
            ..ApocryphaConfig::default()
        };
        Self::bind(apocrypha, Backend::Database(database)).await.map(Some)
    }

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
        let max_connections = descriptors::places(config.max_connections);
        Ok(Apocrypha { listeners, config: ApocryphaConfig { max_connections, ..config }, backend })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listeners.address
    }

    /// The certificate, to be replaced.
    pub(crate) fn tls(&self) -> Option<Arc<Tls>> {
        self.listeners.tls()
    }

    /// Answers until `until` completes. Then no more connections are taken, commands that were sent are answered, and
    /// the store is made durable.
    ///
    /// # Errors
    /// [`ServeError::Store`] if the last checkpoint fails.
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
        let loops = match &serving {
            Serving::Here(service) => Some(event_loops(service, config.event_loops)?),
            Serving::There(..) => None,
        };
        // Every connection holds a sender; when the last is dropped all have ended.
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let connections = Connections::up_to(config.max_connections);
        let loops = loops.map(Arc::new);
        let take = |taken: Taken, place| {
            let line = connections.opened();
            let held = Held { line: Arc::clone(&line), under_way: None, _alive: alive.clone(), _place: place };
            let (serving, loops, mut stopping) = (serving.clone(), loops.clone(), stopping.clone());
            tokio::spawn(async move {
                let served = async {
                    let taken = match (&loops, &serving) {
                        // If there is no handshake, requests are answered by the loop that reads them.
                        (Some(loops), Serving::Here(service)) => match taken.open_plain() {
                            Ok(stream) => return to_loop(stream, loops, service, held, &mut stopping).await,
                            Err(taken) => taken,
                        },
                        _ => taken,
                    };
                    serve(&serving, taken, &held, stopping).await
                };
                tokio::select! {
                    served = served => if let Err(error) = served {
                        tracing::debug!(%error, "a connection of Apocrypha ended");
                    },
                    () = line.is_cut() => {}
                }
            });
        };
        listeners.accept_until(&connections, until, take).await;
        drop((listeners, alive, serving));
        let _ = stop.send(true);
        if let Some(loops) = &loops {
            loops.wake();
        }
        if tokio::time::timeout(config.shutdown, ended.recv()).await.is_err() {
            tracing::warn!("commands were cut off: they took longer than {:?} to finish", config.shutdown);
        } else if let Some(mut loops) = loops {
            // The tasks that held it too have ended, but for their last step.
            loop {
                match Arc::try_unwrap(loops) {
                    Ok(loops) => break loops.join(),
                    Err(held) => loops = held,
                }
                tokio::task::yield_now().await;
            }
        }
        match store {
            Some(store) => Ok(store.engine().checkpoint().map_err(recension::Error::from)?),
            None => Ok(()),
        }
    }
}

/// What a connection holds.
struct Held {
    line: Arc<Line>,
    /// It is being served: it is closed for another only while a session waits for its client.
    under_way: Option<UnderWay>,
    /// Its drop shows the server that the connection has ended.
    _alive: mpsc::Sender<()>,
    _place: OwnedSemaphorePermit,
}

/// Gives a connection to an event loop, as soon as its client has sent something.
async fn to_loop(
    stream: TcpStream,
    loops: &EventLoops<Held>,
    service: &Service,
    mut held: Held,
    stopping: &mut watch::Receiver<bool>,
) -> std::io::Result<()> {
    tokio::select! {
        biased;
        readable = stream.readable() => readable?,
        _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
    }
    held.under_way = Some(held.line.begin());
    loops.take(Connection { stream: stream.into_std()?, speaker: service.speaker(Peer::Network), held });
    Ok(())
}

/// A stream whose connection may be closed for another while bytes of its client are waited for.
struct Awaited<S> {
    stream: S,
    line: Arc<Line>,
    coming: Option<Coming>,
}

impl<S> Awaited<S> {
    fn new(stream: S, line: &Arc<Line>) -> Self {
        Awaited { stream, line: Arc::clone(line), coming: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Awaited<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, to);
        if read.is_ready() {
            self.coming = None;
        } else if self.coming.is_none() {
            self.coming = Some(self.line.coming());
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Awaited<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Event loops. A connection that waits becomes a session of this runtime and goes back to its loop afterwards.
fn event_loops(service: &Service, number: usize) -> Result<EventLoops<Held>, ServeError> {
    let (runtime, waits) = (Handle::current(), service.clone());
    let hand_over: HandOver<Held> = Arc::new(move |stream, conversation, held, back| {
        let service = waits.clone();
        runtime.spawn(async move {
            let waited = tokio::select! {
                waited = wait(&service, stream, conversation, &held.line) => waited,
                () = held.line.is_cut() => Ok(None),
            };
            match waited {
                Ok(Some((stream, speaker))) => back.take(Connection { stream, speaker, held }),
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a connection of Apocrypha ended"),
            }
        });
    });
    let failed = |source| ServeError::Io { what: "starting the event loops of Apocrypha".to_owned(), source };
    EventLoops::start(service, number, &hand_over).map_err(failed)
}

/// Serves a session, which may end before its connection does.
async fn wait(
    service: &Service,
    stream: std::net::TcpStream,
    conversation: Conversation,
    line: &Arc<Line>,
) -> std::io::Result<Option<(std::net::TcpStream, Speaker)>> {
    let mut stream = Awaited::new(TcpStream::from_std(stream)?, line);
    let speaker = service.serve(&mut stream, conversation, true).await?;
    speaker.map(|speaker| Ok((stream.stream.into_std()?, speaker))).transpose()
}

async fn serve(serving: &Serving, taken: Taken, held: &Held, stopping: watch::Receiver<bool>) -> std::io::Result<()> {
    let peer = if taken.peer().is_none() { Peer::ThisMachine } else { Peer::Network };
    match serving {
        Serving::Here(service) => {
            let conversation = service.speaker(peer).into();
            let mut stream = Awaited::new(taken.open().await?, &held.line);
            let _under_way = held.line.begin();
            service.serve(&mut stream, conversation, false).await.map(|_| ())
        }
        Serving::There(address, patience) => forward(taken.open().await?, (address, *patience), stopping).await,
    }
}

/// Passes bytes on, both ways. If the other server cannot be reached, the client gets an error reply and does not hang.
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
