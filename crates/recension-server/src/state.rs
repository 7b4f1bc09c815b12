//! The state that all requests share.

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

use crate::auth::credentials::Credentials;
use crate::auth::standing::RightsChanges;
use crate::config::Config;
use crate::connections::Connections;
use crate::databases::Databases;
use crate::descriptors::doors;
use crate::error::Result;
use crate::functions::Scripts;
use crate::html::kept::Kept;
use crate::html::template::Templates;
use crate::learning::Learning;
use crate::limits::{BLOCKING_THREADS_MAX, REQUEST_THREADS, UPLOADS_MAX};
use crate::metrics::Metrics;
use crate::replication::Replications;
use crate::request_log::RequestLines;
use crate::samples::Samples;
use crate::settings::Settings;
use crate::slow::SlowQueries;
use crate::spoken::Spoken;
use crate::streams::Streams;
use crate::threads::{Handlers, Threads};
use recension::engine::budget::Budget;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) config: Config,
    pub(crate) databases: Databases,
    /// The requests that ask the store's log, if other servers commit to it too.
    pub(crate) learning: Learning,
    /// Settings that may be changed while the server runs.
    pub(crate) settings: Settings,
    pub(crate) credentials: Credentials,
    /// Wakes feeds when rights were changed.
    pub(crate) rights: RightsChanges,
    /// The id of the server.
    pub(crate) uuid: String,
    pub(crate) metrics: Metrics,
    /// The counters' samples of the last hours.
    pub(crate) samples: Samples,
    /// Recent queries that took long.
    pub(crate) slow: Arc<SlowQueries>,
    /// Where the log of requests goes.
    pub(crate) request_lines: RequestLines,
    /// Threads and memory of streamed answers.
    pub(crate) streams: Arc<Streams>,
    /// What was said last over topics.
    pub(crate) spoken: Spoken,
    /// Pages that templates made.
    pub(crate) pages: Arc<Kept>,
    pub(crate) templates: Templates,
    /// Bodies of requests that are in memory.
    pub(crate) bodies: Arc<Budget>,
    /// Connections of clients, and their places.
    pub(crate) connections: Arc<Connections>,
    /// The threads that may wait.
    threads: Threads,
    /// The threads that answer requests, if reads of the store may wait; `None`: connections' own threads do.
    pub(crate) handlers: Option<Handlers>,
    /// Places of the threads that take long attachments in.
    pub(crate) uploads: Arc<Semaphore>,
    /// Functions of design documents.
    pub(crate) scripts: Arc<Scripts>,
    /// Replications of the server itself.
    pub(crate) replications: Replications,
    /// Becomes true when the server is to stop. Waiting feeds answer then.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// How long the state is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lives {
    /// As long as a server.
    Long,
    /// For one request, which does not ask for the events of databases: nobody looks for those that were missed.
    OneRequest,
}

impl App {
    /// For a store.
    pub(crate) fn new(
        config: Config,
        databases: Databases,
        stopping: watch::Receiver<bool>,
        lives: Lives,
    ) -> Result<Self> {
        let notes = databases.notes()?;
        let uuid = notes.uuid.map_or_else(|| databases.new_uuid(), Ok)?;
        let handlers = databases.profile().reads_wait().then(|| Handlers::new(REQUEST_THREADS));
        let streams = Streams::new(&config)?;
        let pages = Arc::new(Kept::new(Arc::clone(&streams.budget)));
        let bodies = Budget::new(config.max_body_memory);
        let connections = Connections::up_to(doors(&config).http);
        let threads = Threads::new("recension-waits", BLOCKING_THREADS_MAX)?;
        let uploads = Arc::new(Semaphore::new(UPLOADS_MAX));
        let scripts = Arc::new(Scripts::new(&config));
        if notes.users.is_none() {
            databases.make_users()?;
        }
        if lives == Lives::Long {
            databases.note_what_was_missed()?;
        }
        let settings = Settings::open(&config, &databases, notes.settings, notes.secret)?;
        if let Some(guard) = scripts.guard(settings.live().function_deadline) {
            databases.guard(guard);
        }
        let credentials = Credentials::new()?;
        let (metrics, request_lines) = (Metrics::default(), RequestLines::default());
        let rights = RightsChanges::default();
        Ok(App {
            config,
            databases,
            learning: Learning::default(),
            settings,
            credentials,
            rights,
            uuid,
            metrics,
            samples: Samples::default(),
            slow: Arc::default(),
            request_lines,
            streams,
            spoken: Spoken::default(),
            pages,
            templates: Templates::default(),
            bodies,
            connections,
            threads,
            handlers,
            uploads,
            scripts,
            replications: Replications::default(),
            stopping,
        })
    }

    /// Runs work that may wait for the disk on a thread for that. Waits, without a thread, until one is free.
    pub(crate) fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.threads.run(work)
    }

    /// Completes when the server is to stop.
    pub(crate) async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // The sender lives as long as the server. If it is gone, the server has stopped.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}
