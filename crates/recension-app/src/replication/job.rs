//! A replication that runs, crashes and is tried again, and its rows in `_scheduler` and `_active_tasks`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use recension::engine::Timestamp;
use recension::format_time;
use recension_replicate::{Control, End, Error, Options, Outcome, replicate, replication_id};
use serde_json::{Value, json};

use super::{Owner, Spec};
use recension_wire::limits::REPLICATION_EVENTS;

/// The first pause after a crash; each further one is twice as long.
const PAUSE: Duration = Duration::from_secs(2);
/// The longest one.
const PAUSE_MAX: Duration = Duration::from_mins(10);

/// The state of a replication, in CouchDB's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Running,
    Crashing,
}

impl State {
    pub(crate) fn word(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Crashing => "crashing",
        }
    }
}

/// A replication that runs.
#[derive(Debug)]
pub struct Job {
    /// Its key among the server's replications.
    pub key: String,
    /// The replication's id, as CouchDB shows it.
    pub id: String,
    pub owner: Owner,
    pub control: Control,
    source: String,
    target: String,
    live: bool,
    begun: Timestamp,
    progress: Mutex<Progress>,
    ended: AtomicBool,
}

#[derive(Debug)]
struct Progress {
    state: State,
    errors: u32,
    reason: Option<String>,
    updated: Timestamp,
    /// The newest first.
    events: VecDeque<(Timestamp, &'static str, Option<String>)>,
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// A time as it is shown.
pub(crate) fn shown_now() -> String {
    format_time(now())
}

impl Job {
    pub fn new(spec: &Spec, owner: Owner, control: Control, source: &dyn End, target: &dyn End) -> Self {
        let live = if spec.options.live { "+continuous" } else { "" };
        let id = format!("{}{live}", replication_id(source, target, &spec.options));
        let key = owner.document.as_ref().map_or_else(|| id.clone(), |document| Self::key_of(document));
        let (source, target) = spec.shown();
        let begun = now();
        let events = VecDeque::from([(begun, "started", None), (begun, "added", None)]);
        let progress = Progress { state: State::Running, errors: 0, reason: None, updated: begun, events };
        let live = spec.options.live;
        let (progress, ended) = (Mutex::new(progress), AtomicBool::new(false));
        Job { key, id, owner, control, source, target, live, begun, progress, ended }
    }

    /// The key of a document's replication.
    pub fn key_of(document: &str) -> String {
        format!("_replicator/{document}")
    }

    /// Runs it to its end. After a crash it is tried again, unless a client waits for it.
    pub(super) fn run(&self, source: &dyn End, target: &dyn End, options: &Options) -> Result<Outcome, Error> {
        let again = self.live || self.owner.document.is_some();
        let mut pause = PAUSE;
        loop {
            let before = self.control.statistics().docs_written;
            let done = replicate(source, target, options, &self.control);
            // That may be behind any failure: a stream that was broken off, an end that was asked for.
            if done.is_err()
                && let Err(refused @ Error::Refused(_)) = self.control.permitted()
            {
                tracing::warn!(source = %self.source, target = %self.target, %refused, "a replication has ended");
                return Err(refused);
            }
            let error = match done {
                Err(error) if again && !is_final(&error) => error,
                done => return done,
            };
            if self.control.statistics().docs_written != before {
                pause = PAUSE;
            }
            self.crashed(&error);
            if !self.control.pause(pause) {
                return Err(Error::Stopped);
            }
            pause = (pause * 2).min(PAUSE_MAX);
            self.note(State::Running, "started", None);
        }
    }

    fn crashed(&self, error: &Error) {
        tracing::warn!(source = %self.source, target = %self.target, %error, "a replication crashed");
        self.note(State::Crashing, "crashed", Some(error.to_string()));
    }

    fn note(&self, state: State, event: &'static str, reason: Option<String>) {
        let mut progress = self.progress.lock();
        (progress.state, progress.updated) = (state, now());
        progress.errors = if reason.is_some() { progress.errors + 1 } else { progress.errors };
        progress.reason.clone_from(&reason);
        let updated = progress.updated;
        progress.events.push_front((updated, event, reason));
        progress.events.truncate(REPLICATION_EVENTS);
    }

    /// Its statistics, in CouchDB's words.
    fn info(&self) -> Value {
        let own = self.control.statistics();
        let error = self.progress.lock().reason.clone();
        json!({
            "revisions_checked": own.missing_checked, "missing_revisions_found": own.missing_found,
            "docs_read": own.docs_read, "docs_written": own.docs_written,
            "doc_write_failures": own.doc_write_failures, "changes_pending": own.pending,
            "bulk_get_attempts": own.bulk_get_attempts, "bulk_get_docs": own.bulk_get_docs,
            "checkpointed_source_seq": own.through, "source_seq": own.through, "through_seq": own.through,
            "error": error
        })
    }

    /// A row of `_scheduler/jobs`.
    pub fn row(&self) -> Value {
        let events: Vec<Value> = {
            let progress = self.progress.lock();
            let event = |(time, name, reason): &(Timestamp, &str, Option<String>)| match reason {
                Some(reason) => json!({ "timestamp": format_time(*time), "type": name, "reason": reason }),
                None => json!({ "timestamp": format_time(*time), "type": name }),
            };
            progress.events.iter().map(event).collect()
        };
        json!({
            "database": self.owner.document.as_ref().map(|_| "_replicator"), "id": self.id, "pid": null,
            "source": self.source, "target": self.target, "user": self.owner.user,
            "doc_id": self.owner.document, "node": "nonode@nohost", "start_time": format_time(self.begun),
            "info": self.info(), "history": events
        })
    }

    /// A row of `_scheduler/docs`.
    pub fn document_row(&self, document: &str) -> Value {
        let info = self.info();
        let progress = self.progress.lock();
        json!({
            "database": "_replicator", "doc_id": document, "id": self.id, "node": "nonode@nohost",
            "source": self.source, "target": self.target, "state": progress.state.word(), "info": info,
            "error_count": progress.errors, "last_updated": format_time(progress.updated),
            "start_time": format_time(self.begun), "source_proxy": null, "target_proxy": null
        })
    }

    /// A row of `_active_tasks`.
    pub fn task(&self) -> Value {
        let seconds = |time: Timestamp| time.0 / 1_000_000;
        let mut task = json!({
            "type": "replication", "replication_id": self.id, "doc_id": self.owner.document,
            "database": self.owner.document.as_ref().map(|_| "_replicator"), "user": self.owner.user,
            "continuous": self.live, "source": self.source, "target": self.target, "node": "nonode@nohost",
            "pid": null, "started_on": seconds(self.begun), "updated_on": seconds(now())
        });
        if let (Some(task), Value::Object(info)) = (task.as_object_mut(), self.info()) {
            task.extend(info);
        }
        task
    }

    /// It runs no more; whoever waits for its outcome is told next.
    pub(crate) fn note_end(&self) {
        self.ended.store(true, Ordering::Release);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    pub fn is_running(&self) -> bool {
        self.progress.lock().state == State::Running
    }
}

/// Whether another attempt would fail in the same way.
pub(crate) fn is_final(error: &Error) -> bool {
    matches!(error, Error::Stopped | Error::Refused(_) | Error::BadUrl { .. } | Error::BadOptions(_))
}
