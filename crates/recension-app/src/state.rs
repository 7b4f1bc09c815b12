//! The state that all requests share.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use crate::auth::Realm;
use crate::auth::databases::{Databases, MADE_WITHOUT_RULE, SYSTEM_MADE};
use crate::backups;
use crate::config::Config;
use crate::descriptors::doors;
use crate::functions::Scripts;
use crate::identity::random::new_secret;
use crate::learning::Learning;
use crate::metrics::Metrics;
use crate::node_statistics::Present;
use crate::observed::Observers;
use crate::replication::Replications;
use crate::request_log::RequestLines;
use crate::samples::{self, Samples};
use crate::settings::{NOTE, SECRET_NOTE, Settings};
use crate::slow::SlowQueries;
use crate::spoken::Spoken;
use crate::uuids::Uuids;
use recension::engine::budget::Budget;
use recension_pages::kept::Kept;
use recension_pages::template::Templates;
use recension_wire::connections::Connections;
use recension_wire::error::Result;
use recension_wire::limits::{BLOCKING_THREADS_MAX, REQUEST_THREADS, SPEAKING_MAX, UPLOADS_MAX};
use recension_wire::request_body::Bounds;
use recension_wire::streams::Streams;
use recension_wire::threads::{Handlers, Threads};

/// The state that all requests share.
#[derive(Debug)]
pub struct App {
    pub config: Config,
    pub databases: Arc<Databases>,
    /// The requests that ask the store's log, if other servers commit to it too.
    pub learning: Learning,
    /// Settings that may be changed while the server runs.
    pub settings: Arc<Settings>,
    /// Knows who asks, and what they may do.
    pub realm: Arc<Realm>,
    /// The id of the server.
    pub uuid: String,
    pub metrics: Arc<Metrics>,
    /// The newest commit when the server started.
    first_head: u64,
    /// Note how requests go.
    pub observers: Arc<Observers>,
    /// The counters' samples of the last hours.
    pub samples: Samples,
    /// Recent queries that took long.
    pub slow: Arc<SlowQueries>,
    /// What the last id of `/_uuids` was made of.
    pub uuids: Uuids,
    /// Where the log of requests goes.
    pub request_lines: Arc<RequestLines>,
    /// Threads and memory of streamed answers.
    pub streams: Arc<Streams>,
    /// What was said last over topics.
    pub spoken: Spoken,
    /// Turns of listeners that begin to send.
    pub speaking: Semaphore,
    /// Pages that templates made.
    pub pages: Arc<Kept>,
    pub templates: Templates,
    /// What bodies of requests are read within.
    pub bounds: Arc<Bounds>,
    /// Connections of clients, and their places.
    pub connections: Arc<Connections>,
    /// The threads that may wait.
    threads: Arc<Threads>,
    /// The threads that answer requests, if reads of the store may wait; `None`: connections' own threads do.
    pub handlers: Option<Handlers>,
    /// Places of the threads that take long attachments in.
    pub uploads: Arc<Semaphore>,
    /// Functions of design documents.
    pub scripts: Arc<Scripts>,
    /// Replications of the server itself.
    pub replications: Arc<Replications>,
    /// Becomes true when the server is to stop. Waiting feeds answer then.
    pub stopping: watch::Receiver<bool>,
}

/// How long the state is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lives {
    /// As long as a server.
    Long,
    /// For one request, which does not ask for the events of databases: nobody looks for those that were missed.
    OneRequest,
}

impl App {
    /// For a store.
    pub fn new(config: Config, databases: Databases, stopping: watch::Receiver<bool>, lives: Lives) -> Result<Self> {
        let notes = databases.notes()?;
        let uuid = notes.uuid.map_or_else(|| databases.new_uuid(), Ok)?;
        let handlers = databases.profile().reads_wait().then(|| Handlers::new(REQUEST_THREADS));
        let streams =
            Streams::new(config.max_list_memory, Duration::from_secs(config.reader_seconds), config.list_threads)?;
        let pages = Arc::new(Kept::new(Arc::clone(&streams.budget)));
        let connections = Connections::up_to(doors(&config).http);
        let threads = Arc::new(Threads::new("recension-waits", BLOCKING_THREADS_MAX)?);
        let databases = Arc::new(databases);
        let idle = Duration::from_secs(config.body_idle_seconds);
        let memory = Budget::new(config.max_body_memory);
        let bounds = Arc::new(Bounds { idle, memory, threads: Arc::clone(&threads) });
        let uploads = Arc::new(Semaphore::new(UPLOADS_MAX));
        let scripts = Arc::new(Scripts::new(&config));
        match notes.users.as_deref() {
            Some(SYSTEM_MADE) => {}
            Some(MADE_WITHOUT_RULE) => databases.guard_replications()?,
            _ => databases.make_system_databases()?,
        }
        if lives == Lives::Long {
            databases.note_what_was_missed()?;
        }
        let secret = match notes.secret {
            Some(secret) => secret,
            None => {
                let secret = new_secret()?;
                databases.set_note(SECRET_NOTE, &secret)?;
                secret
            }
        };
        let settings = Arc::new(Settings::of(&config, notes.settings, secret)?);
        if let Some(guard) = scripts.guard(settings.live().function_deadline) {
            databases.guard(guard);
        }
        let (metrics, request_lines) = (Arc::new(Metrics::default()), Arc::new(RequestLines::default()));
        // A process of one request does not ask for it: of a store of another process that is a round trip.
        let first_head = if lives == Lives::Long { databases.head().0 } else { 0 };
        let realm = Arc::new(Realm::new(&config, &databases, &settings, metrics.failed_log_ins.clone())?);
        let observers = Arc::new(Observers::new(&metrics, &request_lines, &settings));
        let replications = Arc::new(Replications::of(&realm, &uuid, stopping.clone()));
        let learning = Learning::of(&databases, &threads);
        Ok(App {
            config,
            databases,
            learning,
            settings,
            realm,
            uuid,
            metrics,
            first_head,
            observers,
            samples: Samples::default(),
            slow: Arc::default(),
            uuids: Uuids::default(),
            request_lines,
            streams,
            spoken: Spoken::default(),
            speaking: Semaphore::new(SPEAKING_MAX),
            pages,
            templates: Templates::default(),
            bounds,
            connections,
            threads,
            handlers,
            uploads,
            scripts,
            replications,
            stopping,
        })
    }

    /// Runs work that may wait for the disk on a thread for that. Waits, without a thread, until one is free.
    pub fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.threads.run(work)
    }

    /// Changes a setting: [`Settings::set`].
    pub fn set(&self, setting: (&str, &str), value: Option<&str>) -> Result<String> {
        self.settings.set(|text| self.databases.set_note(NOTE, text), setting, value)
    }

    /// The counters, as the text that Prometheus gets.
    pub fn figures(&self) -> Result<String> {
        let newest = self.config.backups.folder.as_deref().and_then(backups::newest);
        let replications = self.replications.all();
        let running = replications.iter().filter(|job| job.is_running()).count();
        self.metrics.note_tasks(newest, running, replications.len() - running);
        Ok(self.metrics.text(&self.databases.stats()?, &self.streams, &self.bounds.memory))
    }

    /// The node's statistics by CouchDB's names.
    pub fn node_statistics(&self) -> Result<serde_json::Value> {
        let replications = self.replications.all();
        let running = replications.iter().filter(|job| job.is_running()).count();
        let head = self.databases.head().0;
        Ok(self.metrics.node.to_json(Present {
            databases: self.databases.count()?,
            feeds: u64::try_from(self.metrics.feeds.get()).unwrap_or(0),
            commits: head.saturating_sub(self.first_head),
            passwords: self.realm.credentials.counted(),
            replications: [running as u64, (replications.len() - running) as u64],
        }))
    }

    /// Completes when the server is to stop.
    pub async fn stopped(&self) {
        let mut stopping = self.stopping.clone();
        // The sender lives as long as the server. If it is gone, the server has stopped.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    }
}

/// Goes on with builds of indexes that others left, and notes samples of the counters, until the server ends.
pub async fn watch(app: Arc<App>) {
    let mut ticks = tokio::time::interval(samples::EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = app.stopped() => return,
        }
        let own = Arc::clone(&app);
        // What fails is tried again with the next tick.
        let _ = app.blocking(move || Ok(own.databases.continue_builds()?)).await;
        let own = Arc::clone(&app);
        // What cannot be read now is read the next time.
        let noted = move || {
            own.samples.note(&own.figures()?);
            Ok(())
        };
        let _ = app.blocking(noted).await;
    }
}
