//! Listening, connections, and stopping: from sockets to `dispatch`. No request is cut off when the server stops.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use recension::Store;
use tokio::sync::watch;

#[cfg(not(feature = "apocrypha"))]
use crate::absent::Absent as Apocrypha;
#[cfg(not(feature = "redis"))]
use crate::absent::Absent as Redis;
#[cfg(feature = "apocrypha")]
use crate::apocrypha::Apocrypha;
use crate::dispatch::answered;
use crate::handed;
use crate::listen::{Listeners, Listening, Taken, read_tls};
#[cfg(feature = "redis")]
use crate::redis::Redis;
use crate::reload::{self, Reloader};
use crate::serve_error::ServeError;
use recension_app::auth::connection::Connection;
use recension_app::auth::databases::Databases;
use recension_app::auth::doors::EngineGate;
use recension_app::backups::Backups;
use recension_app::config::{Config, ConfigError};
use recension_app::descriptors::doors;
use recension_app::identity::admins;
use recension_app::observed::ObservedBody;
use recension_app::replication;
use recension_app::state::{self, App, Lives};
use recension_wire::arriving::Arriving;
use recension_wire::error::ApiError;
use recension_wire::limits::{CHUNK_BYTES, HEAD_BYTES_MAX, HEADERS_MAX, HTTP2_STREAMS_MAX};
use recension_wire::raw_targets::RawTargets;
use recension_wire::write_timeout::Patient;

/// A server that listens, and answers once it runs.
pub struct Server {
    app: Arc<App>,
    listeners: Listeners,
    stop: watch::Sender<bool>,
    first_admin: Option<FirstAdmin>,
    apocrypha: Option<Apocrypha>,
    engine: Option<(recension_remote::Listening, SocketAddr)>,
    redis: Option<Redis>,
    /// Whether the store is the one that the configuration names.
    configured: bool,
}

/// The server admin that the first start made. Only the password's hash is kept: somebody who does not note the
/// password down now has to set another one (`RECENSION_ADMIN`).
#[derive(Clone, PartialEq, Eq)]
pub struct FirstAdmin {
    /// The name: `admin`.
    pub name: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("url", &self.url()).finish_non_exhaustive()
    }
}

impl Server {
    /// Opens the store and listens.
    ///
    /// # Errors
    /// [`ServeError`].
    pub async fn bind(config: Config) -> Result<Self, ServeError> {
        let server = Self::on(Store::on(config.open_store()?)?, config).await?;
        Ok(Server { configured: true, ..server })
    }

    /// Listens, for a store that the program has opened and goes on to use beside the server. [`Config::store`] is
    /// ignored.
    ///
    /// # Errors
    /// [`ServeError`].
    pub async fn on(store: Store, config: Config) -> Result<Self, ServeError> {
        let databases = Databases::on(store.clone());
        let (stop, stopping) = watch::channel(false);
        let configured = |error: ApiError| ServeError::Configured(error.reason.into_owned());
        let app = Arc::new(App::new(config, databases, stopping, Lives::Long).map_err(configured)?);
        let engine = engine(&app, &store)?;
        let apocrypha = Apocrypha::configured(&app, &store).await?;
        let redis = Redis::configured(&app, &store).await?;
        let first_admin = first_admin(&app, app.config.listen.ip().is_loopback()).map_err(configured)?;
        let listeners = Listeners::bind(&Listening::http(&app.config)).await?;
        Ok(Server { app, listeners, stop, first_admin, apocrypha, engine, redis, configured: false })
    }

    /// The means to reload configurations while the server runs.
    pub fn reloader(&self) -> Reloader {
        let apocrypha = self.apocrypha.as_ref().and_then(Apocrypha::tls);
        let redis = self.redis.as_ref().and_then(Redis::tls);
        let certificates = self.listeners.tls().into_iter().chain(apocrypha).chain(redis).collect();
        Reloader { app: Arc::clone(&self.app), certificates }
    }

    /// Applies the configuration that `read` gives, whenever the process gets SIGHUP, and logs the result. After this
    /// call, the signal does not end the process any more.
    ///
    /// # Errors
    /// [`ServeError::Io`] if the system refuses the signal.
    pub fn reload_on_hangup(
        &self,
        read: impl Fn() -> Result<Config, ConfigError> + Send + Sync + 'static,
    ) -> Result<(), ServeError> {
        let failed = |source| ServeError::Io { what: "waiting for SIGHUP".to_owned(), source };
        reload::on_hangup(self.reloader(), read).map_err(failed)
    }

    /// Writes the log of requests to `out`, if [`Config::log_requests`] asks for a log. All of it is written when
    /// [`Server::run`] returns.
    ///
    /// # Errors
    /// [`ServeError::Io`] if the system gives no thread for it.
    pub fn log_requests_to(&self, out: impl std::io::Write + Send + 'static) -> Result<(), ServeError> {
        let failed = |source| ServeError::Io { what: "starting to log requests".to_owned(), source };
        self.app.request_lines.open(out).map_err(failed)
    }

    /// The server admin that this start made; others find one.
    pub fn first_admin(&self) -> Option<&FirstAdmin> {
        self.first_admin.as_ref()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listeners.address
    }

    /// Where it listens for commands of Apocrypha, if it does.
    pub fn apocrypha(&self) -> Option<SocketAddr> {
        self.apocrypha.as_ref().map(Apocrypha::address)
    }

    /// Where other machines' programs open the store, if they may.
    pub fn engine(&self) -> Option<SocketAddr> {
        self.engine.as_ref().map(|(_, address)| *address)
    }

    /// Where it listens for clients of Redis, if it does.
    pub fn redis(&self) -> Option<SocketAddr> {
        self.redis.as_ref().map(Redis::address)
    }

    /// Its URL.
    pub fn url(&self) -> String {
        let scheme = if self.app.config.tls_certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address())
    }

    /// Answers until `until` completes. Then no more connections are taken, waiting feeds are answered, requests are
    /// finished, and the store is made durable.
    ///
    /// # Errors
    /// [`ServeError::Store`] if the last checkpoint fails.
    pub async fn run(self, until: impl Future<Output = ()>) -> Result<(), ServeError> {
        let Server { app, listeners, stop, apocrypha, engine, redis, configured, .. } = self;
        let connections = GracefulShutdown::new();
        let builder = connection_builder(&app.config);
        let take = |taken: Taken, place| {
            let peer = taken.peer();
            let (app, builder, watcher) = (Arc::clone(&app), builder.clone(), connections.watcher());
            tokio::spawn(async move {
                app.metrics.connections.inc();
                let line = app.connections.opened();
                let connection = Connection::placed(peer, place, Arc::clone(&line));
                let served = async {
                    let stream = match taken.open().await {
                        Ok(stream) => RawTargets::new(Patient::new(stream, app.streams.patience())),
                        Err(error) => return tracing::debug!(%error, "a handshake failed"),
                    };
                    let service = service(&app, connection);
                    let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
                    if let Err(error) = watcher.watch(connection.into_owned()).await {
                        tracing::debug!(%error, "a connection ended");
                    }
                };
                tokio::select! {
                    () = served => {}
                    () = line.is_cut() => tracing::debug!("a connection that waited was closed"),
                }
                app.metrics.connections.dec();
            });
        };
        let beside = apocrypha.map(|apocrypha| {
            let app = Arc::clone(&app);
            tokio::spawn(apocrypha.run(async move { app.stopped().await }))
        });
        let failed = app.metrics.backups_failed.clone();
        let note_failure = move || _ = failed.inc();
        let backups =
            Backups::begin(&app.config.backups, app.databases.backed_up(), note_failure).map_err(|source| {
                let what = "beginning to make backups".to_owned();
                ServeError::Io { what, source }
            })?;
        let for_redis = redis.map(|redis| {
            let app = Arc::clone(&app);
            tokio::spawn(redis.run(async move { app.stopped().await }))
        });
        let handed = if configured { handed::offer(&app) } else { None };
        tokio::spawn(state::watch(Arc::clone(&app)));
        let replicating = replication::Watch::begin(&app.replications).map_err(|source| {
            let what = "starting the thread of _replicator".to_owned();
            ServeError::Io { what, source }
        })?;
        listeners.accept_until(&app.connections, until, take).await;
        drop(listeners);
        // An error means that nobody waits for it any more.
        let _ = stop.send(true);
        let patience = Duration::from_secs(app.config.shutdown_seconds);
        let ended = tokio::task::spawn_blocking(move || replicating.end(patience)).await;
        if !ended.unwrap_or(false) {
            tracing::warn!("replications were cut off; they go on from their last checkpoint");
        }
        let ended = async {
            let mut ended = std::pin::pin!(connections.shutdown());
            // A request whose head has not come has not begun.
            while tokio::time::timeout(HEADS_WITHIN, ended.as_mut()).await.is_err() {
                app.connections.close_waiting();
            }
        };
        if tokio::time::timeout(patience, ended).await.is_err() {
            tracing::warn!("requests were cut off: they took longer than {patience:?} to finish");
        }
        if let Some(beside) = beside {
            // A panic was logged. The store still gets its checkpoint.
            beside.await.unwrap_or(Ok(()))?;
        }
        if let Some(for_redis) = for_redis {
            let _ = for_redis.await;
        }
        if let Some(handed) = handed {
            let _ = handed.await;
        }
        // Requests of other machines' programs are answered first.
        let _ = tokio::task::spawn_blocking(move || drop((engine, backups))).await;
        app.databases.checkpoint()?;
        // A panic was logged.
        let _ = tokio::task::spawn_blocking(move || app.request_lines.close()).await;
        Ok(())
    }
}

/// The port of the store itself that is configured.
fn engine(app: &Arc<App>, store: &Store) -> Result<Option<(recension_remote::Listening, SocketAddr)>, ServeError> {
    let (config, wrong) = (&app.config, |error: ConfigError| ServeError::Configured(error.message));
    let Some((listen, token)) = config.engine.place().map_err(wrong)? else { return Ok(None) };
    let files = config.tls_certificate.as_deref().zip(config.tls_key.as_deref());
    let tls = files.map(|(certificate, key)| read_tls(certificate, key, &[])).transpose()?;
    let gate = Arc::new(EngineGate::new(&app.realm, token));
    let bounds = recension_remote::Bounds {
        connections: doors(config).engine,
        receiving: Arc::clone(&app.bounds.memory),
        sending: Arc::clone(&app.streams.budget),
    };
    let listening = recension_remote::network::listen(Arc::clone(store.engine()), listen, tls, gate, bounds);
    Ok(Some(listening.map_err(recension::Error::from)?))
}

/// Makes a server admin if there is none and `admin_party` is off. If there is none and the server listens beyond
/// loopback, it refuses.
pub(crate) fn first_admin(app: &App, loopback: bool) -> recension_wire::error::Result<Option<FirstAdmin>> {
    let live = app.settings.live();
    if app.config.admin_party || !live.admins.is_empty() {
        return Ok(None);
    }
    if !loopback {
        return Err(ApiError::forbidden(
            "no other interface than loopback is opened without a server admin; set RECENSION_ADMIN=name:password, or \
             listen on 127.0.0.1",
        ));
    }
    let (name, password) = ("admin".to_owned(), admins::new_password()?);
    let hash = admins::hashed(&password, live.password_iterations);
    app.set(("admins", &name), Some(&hash))?;
    Ok(Some(FirstAdmin { name, password }))
}

/// How long the rest of a head that is coming is waited for when the server stops.
const HEADS_WITHIN: Duration = Duration::from_millis(500);

/// What answers the requests of a connection.
fn service(
    app: &Arc<App>,
    connection: Connection,
) -> impl Service<Request<Incoming>, Response = Response<ObservedBody>, Error = Infallible, Future: Send> + Send + use<>
{
    let (app, connection) = (Arc::clone(app), Arc::new(connection));
    service_fn(move |request: Request<Incoming>| {
        let under_way = connection.begin();
        let answer = answered(Arc::clone(&app), Arc::clone(&connection), request.map(Arriving::Http));
        async move { Ok::<_, Infallible>(answer.await.map(|body| body.of(under_way))) }
    })
}

fn connection_builder(config: &Config) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(Duration::from_secs(config.head_seconds))
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .half_close(false);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .max_concurrent_streams(HTTP2_STREAMS_MAX)
        .max_send_buf_size(CHUNK_BYTES)
        .keep_alive_interval(Some(Duration::from_secs(30)));
    builder
}

/// Completes when the process is asked to end: Ctrl-C, or SIGTERM.
pub async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = terminate.recv() => {}
        },
        Err(_) => {
            let _ = tokio::signal::ctrl_c().await;
        }
    }
}
