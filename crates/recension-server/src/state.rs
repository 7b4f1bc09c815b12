//! What all requests share.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::auth::credentials::Credentials;
use crate::config::Config;
use crate::databases::Databases;
use crate::error::{ApiError, Result};
use crate::limits::{BLOCKING_THREADS_MAX, UPLOADS_MAX};
use crate::metrics::Metrics;
use crate::settings::Settings;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) databases: Databases,
    /// What may be changed while the server runs.
    pub(crate) settings: Settings,
    pub(crate) credentials: Credentials,
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
    pub(crate) fn new(config: Config, databases: Databases, stopping: watch::Receiver<bool>) -> Result<Self> {
        let uuid = databases.uuid()?;
        let blocking = Arc::new(Semaphore::new(BLOCKING_THREADS_MAX));
        let uploads = Arc::new(Semaphore::new(UPLOADS_MAX));
        databases.make_users()?;
        databases.note_what_was_missed()?;
        let settings = Settings::open(&config, &databases)?;
        let credentials = Credentials::new()?;
        let metrics = Metrics::default();
        Ok(App { config, databases, settings, credentials, uuid, metrics, blocking, uploads, stopping })
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
            Err(panicked())
        })
    }

    /// Completes when the server is to stop.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // The sender lives as long as the server; without it, it has stopped.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}

fn panicked() -> ApiError {
    ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", "see the server's log")
}
