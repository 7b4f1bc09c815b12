//! The listener for clients of Redis: sockets of `listen.rs`, sessions of `recension_redis`.

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use recension::Store;
use recension_redis::{Authenticate, Door, Settings};
use tokio::sync::{mpsc, watch};

use crate::listen::{Listeners, Listening, Taken, Tls};
use crate::serve_error::ServeError;
use recension_app::auth::doors::RedisLogIns;
use recension_app::config::ConfigError;
use recension_app::state::App;
use recension_wire::connections::Connections;

/// A listener for clients of Redis, which answers once it runs.
pub(crate) struct Redis {
    listeners: Listeners,
    door: Door,
    connections: Arc<Connections>,
    shutdown: Duration,
}

impl Redis {
    /// Listens, if the configuration says where.
    pub(crate) async fn configured(app: &Arc<App>, store: &Store) -> Result<Option<Self>, ServeError> {
        let config = &app.config;
        let Some(listen) = config.redis.listen else { return Ok(None) };
        let wrong = |error: ConfigError| ServeError::Configured(error.message);
        let log_ins = |password: &String| -> Arc<dyn Authenticate> { Arc::new(RedisLogIns::new(&app.realm, password)) };
        let authenticate = config.redis.password.as_ref().map(log_ins);
        let settings = Settings {
            authenticate,
            durability: config.redis.durability().map_err(wrong)?,
            receiving: Arc::clone(&app.bounds.memory),
            sending: Arc::clone(&app.streams.budget),
            ..Settings::default()
        };
        let of_branch = |name: &String| {
            store.open_branch(name).map_err(|error| ServeError::Configured(format!("redis.branch: {error}")))
        };
        let branch = config.redis.branch.as_ref().map(of_branch).transpose()?;
        let tls = config.tls_certificate.as_deref().zip(config.tls_key.as_deref());
        let listening = Listening { listen, unix_socket: None, tls, protocols: &[], patience: settings.patience };
        Ok(Some(Redis {
            listeners: Listeners::bind(&listening).await?,
            door: Door::on(branch.as_ref().unwrap_or(store), settings),
            connections: Arc::clone(&app.connections),
            shutdown: Duration::from_secs(config.shutdown_seconds),
        }))
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listeners.address
    }

    /// The certificate, to be replaced.
    pub(crate) fn tls(&self) -> Option<Arc<Tls>> {
        self.listeners.tls()
    }

    /// Answers until `until` completes. Then no more connections are taken, and those that there are end after the
    /// answers to what they have sent.
    pub(crate) async fn run(self, until: impl Future<Output = ()>) {
        let Redis { listeners, door, connections, shutdown } = self;
        let (stop, stopping) = watch::channel(false);
        // Every connection holds a sender; when the last is dropped all have ended.
        let (alive, mut ended) = mpsc::channel::<()>(1);
        let take = |taken: Taken, place| {
            let (door, held, stopping) = (door.clone(), (alive.clone(), place), stopping.clone());
            let (from, line) = (taken.peer(), connections.opened());
            tokio::spawn(async move {
                let served = async {
                    // Once it has asked something, and may, it is not closed for another: it may listen.
                    let mut under_way = None;
                    let known = || _ = under_way.get_or_insert_with(|| line.begin());
                    // A socket without a handshake is used directly: a virtual call for each read costs time.
                    match taken.open_plain() {
                        Ok(mut stream) => door.serve(&mut stream, from, stopping, known).await,
                        Err(taken) => door.serve(&mut taken.open().await?, from, stopping, known).await,
                    }
                };
                let served = tokio::select! {
                    served = served => served,
                    () = line.is_cut() => Ok(()),
                };
                match served {
                    Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                        tracing::warn!(%error, ?from, "a connection of a client of Redis ended");
                    }
                    Err(error) => tracing::debug!(%error, "a connection of a client of Redis ended"),
                    Ok(()) => {}
                }
                drop(held);
            });
        };
        listeners.accept_until(&connections, until, take).await;
        drop((listeners, alive));
        let _ = stop.send(true);
        if tokio::time::timeout(shutdown, ended.recv()).await.is_err() {
            tracing::warn!("connections of clients of Redis were cut off");
        }
    }
}
