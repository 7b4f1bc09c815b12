//! What all requests share.

use std::sync::Arc;

use parking_lot::RwLock;
use tokio::sync::{Semaphore, watch};

use crate::auth::admins::Admins;
use crate::config::{Config, Cors};
use crate::databases::Databases;
use crate::error::{ApiError, Result};
use crate::limits::{BLOCKING_THREADS_MAX, UPLOADS_MAX};
use crate::metrics::Metrics;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) databases: Databases,
    pub(crate) admins: Admins,
    /// As configured, and as it may be changed while the server runs.
    pub(crate) cors: RwLock<Arc<Cors>>,
    /// What the server calls itself.
    pub(crate) uuid: String,
    pub(crate) metrics: Metrics,
    /// Places of the threads that may wait.
    blocking: Arc<Semaphore>,
    /// Places of the threads that take long attachments in, as fast as their senders send.
    pub(crate) uploads: Arc<Semaphore>,
    /// Becomes true when the server is to stop: long polls answer then.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl App {
    /// For a store.
    pub(crate) fn new(
        config: Config,
        databases: Databases,
        stopping: watch::Receiver<bool>,
    ) -> recension::document::Result<Self> {
        let uuid = databases.uuid()?;
        let admins = Admins::of(&config.admins);
        let blocking = Arc::new(Semaphore::new(BLOCKING_THREADS_MAX));
        let uploads = Arc::new(Semaphore::new(UPLOADS_MAX));
        let cors = RwLock::new(Arc::new(config.cors.clone()));
        Ok(App { config, databases, admins, cors, uuid, metrics: Metrics::default(), blocking, uploads, stopping })
    }

    /// Runs what may wait for the disk on a thread for that; waits, without a thread, until one is free.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let place = Arc::clone(&self.blocking).acquire_owned().await.map_err(|_| ApiError::stopping())?;
        let done = tokio::task::spawn_blocking(move || {
            let answer = work();
            drop(place);
            answer
        });
        done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a request's work panicked");
            Err(ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", "see the server's log"))
        })
    }

    /// Completes when the server is to stop.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // The sender lives as long as the server; without it, it has stopped.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}
