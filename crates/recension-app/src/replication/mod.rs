//! Replications that the server itself runs, asked for by `_replicate` or by documents of `_replicator`. Each has a
//! thread of its own. Credentials are never shown.

pub mod documents;
pub mod job;
pub mod spec;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use recension_replicate::{Control, Error, Outcome};
use tokio::sync::watch;

pub use self::job::Job;
pub use self::spec::Spec;
use crate::auth::{Realm, ServerAdmin};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::REPLICATIONS_MAX;

/// How long the next replication of a key waits for one that has ended and is still noted.
const ENDING: Duration = Duration::from_secs(5);

/// All replications that run.
#[derive(Debug)]
pub struct Replications {
    realm: Arc<Realm>,
    /// The id of the server.
    uuid: String,
    stopping: watch::Receiver<bool>,
    running: Mutex<BTreeMap<String, Arc<Job>>>,
    one_less: Condvar,
}

/// The owner of a replication.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// The user who asked for it.
    pub user: Option<String>,
    /// The document of `_replicator`.
    pub document: Option<String>,
}

impl Replications {
    /// Of a server: none yet.
    pub fn of(realm: &Arc<Realm>, uuid: &str, stopping: watch::Receiver<bool>) -> Self {
        let (realm, uuid) = (Arc::clone(realm), uuid.to_owned());
        Replications { realm, uuid, stopping, running: Mutex::default(), one_less: Condvar::new() }
    }

    /// The replications that run, in the order of their keys.
    pub fn all(&self) -> Vec<Arc<Job>> {
        self.running.lock().values().cloned().collect()
    }

    /// The replication of a key.
    pub fn get(&self, key: &str) -> Option<Arc<Job>> {
        self.running.lock().get(key).cloned()
    }

    /// The id that a replication has, or would have.
    ///
    /// # Errors
    /// As [`Spec::ends`].
    pub fn id_of(&self, spec: &Spec, proof: ServerAdmin) -> Result<String> {
        let (source, target) = spec.ends(&self.realm.databases, &self.uuid, Some(proof))?;
        Ok(Job::new(spec, Owner::default(), Control::default(), &*source, &*target).id)
    }

    /// Begins one, or answers the one that runs under its key. It ends once `asks` refuses its owner. `ended` is called
    /// on the replication's thread.
    ///
    /// # Errors
    /// As [`Spec::ends`]; 503 if too many run.
    pub fn begin(
        self: &Arc<Self>,
        spec: &Spec,
        owner: Owner,
        proof: Option<ServerAdmin>,
        asks: impl Fn() -> Result<()> + Send + Sync + 'static,
        ended: impl FnOnce(&Job, std::result::Result<Outcome, Error>) + Send + 'static,
    ) -> Result<Arc<Job>> {
        let (source, target) = spec.ends(&self.realm.databases, &self.uuid, proof)?;
        let control = Control::asking(move || asks().map_err(unlike_refusal));
        let job = Arc::new(Job::new(spec, owner, control, &*source, &*target));
        {
            let mut running = self.running.lock();
            // One that has told its end is not there any more for who heard of it.
            let until = Instant::now() + ENDING;
            while let Some(job) = running.get(&job.key).map(Arc::clone) {
                if !job.has_ended() || self.one_less.wait_until(&mut running, until).timed_out() {
                    return Ok(job);
                }
            }
            if *self.stopping.borrow() {
                return Err(ApiError::stopping());
            }
            if running.len() >= REPLICATIONS_MAX {
                return Err(ApiError::too_many_replications());
            }
            running.insert(job.key.clone(), Arc::clone(&job));
        }
        let (all, own, options) = (Arc::clone(self), Arc::clone(&job), spec.options.clone());
        let work = move || {
            let done = Done(&all, &own);
            let outcome = own.run(&*source, &*target, &options);
            own.note_end();
            ended(&own, outcome);
            drop(done);
        };
        if let Err(error) = std::thread::Builder::new().name("recension-replicates".to_owned()).spawn(work) {
            self.remove(&job);
            return Err(ApiError::internal(format!("no thread can be started: {error}")));
        }
        Ok(job)
    }

    fn remove(&self, job: &Arc<Job>) {
        let mut running = self.running.lock();
        if running.get(&job.key).is_some_and(|own| Arc::ptr_eq(own, job)) {
            running.remove(&job.key);
        }
        self.one_less.notify_all();
    }

    /// Ends those whose owners may not any more, also while there is nothing to copy.
    fn ask_all(&self) {
        for job in self.all() {
            if let Err(error) = job.control.permitted() {
                tracing::debug!(id = %job.id, %error, "the rights of a replication's owner were asked for");
            }
        }
    }

    /// Asks all to end, and waits for some time; returns whether all have ended.
    pub fn stop(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut running = self.running.lock();
        running.values().for_each(|job| job.control.stop());
        while !running.is_empty() {
            if self.one_less.wait_until(&mut running, until).timed_out() {
                return running.is_empty();
            }
        }
        true
    }
}

/// The thread that follows the documents of `_replicator`. When this is dropped, it ends, and all replications with it.
pub struct Watch {
    replications: Arc<Replications>,
    control: Control,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Begins it.
    pub fn begin(replications: &Arc<Replications>) -> std::io::Result<Self> {
        let control = Control::default();
        let (watched, own) = (Arc::clone(replications), control.clone());
        let thread = std::thread::Builder::new()
            .name("recension-replicator".to_owned())
            .spawn(move || documents::watch(&watched, &own))?;
        Ok(Watch { replications: Arc::clone(replications), control, thread: Some(thread) })
    }

    /// Ends it and all replications, and waits for that for some time; returns whether all have ended.
    pub fn end(mut self, patience: Duration) -> bool {
        self.control.stop();
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked, which was printed.
            let _ = thread.join();
        }
        self.replications.stop(patience)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.control.stop();
        self.replications.stop(Duration::ZERO);
    }
}

/// Removes a replication from the running ones, even if its thread panics.
struct Done<'a>(&'a Replications, &'a Arc<Job>);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.remove(self.1);
    }
}

/// What becomes of a replication whose owner's rights were asked for. Whoever may not know them now is asked again.
fn unlike_refusal(error: ApiError) -> Error {
    let why = error.reason.into_owned();
    if error.status.is_client_error() {
        Error::Refused(why)
    } else {
        Error::Unreachable { end: "this server".to_owned(), why }
    }
}

/// The answer to an error of a replication.
pub fn refusal(error: Error) -> ApiError {
    use http::StatusCode;
    let reason = error.to_string();
    match error {
        Error::Store(error) => error.into(),
        Error::Stopped => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "cancelled", reason),
        Error::BadUrl { .. } | Error::BadOptions(_) => ApiError::bad_request(reason),
        Error::NoDatabase { .. } | Error::NotADatabase { .. } => {
            ApiError::new(StatusCode::NOT_FOUND, "db_not_found", reason)
        }
        Error::Denied { status: 401, .. } => ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", reason),
        Error::Denied { .. } | Error::Refused(_) => ApiError::forbidden(reason),
        _ => ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "replication_failed", reason),
    }
}
