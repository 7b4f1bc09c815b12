//! The documents of `_replicator`. Each asks for a replication, which begins when the document is written or the server
//! starts, and ends when the document is deleted. A final state is written into the document, as CouchDB does.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::Seq;
use recension::{Collection, ListOptions};
use recension_replicate::{Control, Error, Outcome};
use serde_json::{Map, Value, json};

use super::job::{Job, shown_now};
use super::spec::{Place, ReplicateRequest};
use super::{Owner, Replications, Spec};
use crate::auth::databases::Database;
use crate::auth::replicator_guard::{DocumentOwner, replicator};
use recension_wire::error::Result;
use recension_wire::limits::REPLICATOR_DOCUMENTS_MAX;
use recension_wire::members::rewritten;

pub use recension_wire::route::REPLICATOR as DATABASE;

/// How often the database is checked for new documents.
const EVERY: Duration = Duration::from_millis(300);

/// A document, as far as replications need it.
pub struct Wanted {
    pub id: String,
    pub body: Map<String, Value>,
    pub spec: Result<Spec>,
    user: Option<String>,
    owner: DocumentOwner,
}

impl Wanted {
    /// `completed` or `failed` if the document says so.
    pub fn ended(&self) -> Option<&str> {
        let state = self.body.get("_replication_state").and_then(Value::as_str);
        state.filter(|state| matches!(*state, "completed" | "failed"))
    }

    fn of(id: &str, body: &str) -> Self {
        let asked = ReplicateRequest::parse(body.as_bytes(), Place::Document);
        let body: Map<String, Value> = serde_json::from_str(body).unwrap_or_default();
        let user = body.get("user_ctx").and_then(|user| user.get("name")).and_then(Value::as_str).map(str::to_owned);
        let owner = DocumentOwner::of(body.get("owner"));
        Wanted { id: id.to_owned(), body, spec: asked.and_then(|asked| asked.spec), user, owner }
    }

    /// A row of `_scheduler/docs`, if no replication runs for it.
    pub fn row(&self) -> Value {
        let (source, target) = match &self.spec {
            Ok(spec) => (Some(spec.shown().0), Some(spec.shown().1)),
            Err(_) => (None, None),
        };
        let state = self.ended().unwrap_or(if self.spec.is_ok() { "pending" } else { "failed" });
        let info = match state {
            "completed" => self.body.get("_replication_stats").cloned(),
            _ => self.body.get("_replication_state_reason").map(|reason| json!({ "error": reason })),
        };
        let time = self.body.get("_replication_state_time");
        json!({
            "database": DATABASE, "doc_id": self.id, "id": self.body.get("_replication_id"), "node": "nonode@nohost",
            "source": source, "target": target, "state": state, "info": info,
            "error_count": u8::from(state == "failed"),
            "last_updated": time, "start_time": time, "source_proxy": null, "target_proxy": null
        })
    }
}

/// The documents, by their ids.
pub fn all(database: &Database) -> Result<Vec<Wanted>> {
    let mut all = Vec::new();
    let options = ListOptions { limit: Some(REPLICATOR_DOCUMENTS_MAX), ..ListOptions::default() };
    for document in database.opened().list(&options)? {
        let document = document?;
        if !document.id.starts_with("_design/") {
            all.push(Wanted::of(&document.id, &document.body));
        }
    }
    Ok(all)
}

/// Begins and ends replications as the documents say, until it is stopped.
pub fn watch(replications: &Arc<Replications>, control: &Control) {
    let mut watcher = Watcher { replications, seen: None, begun: HashMap::new() };
    loop {
        replications.ask_all();
        if let Err(error) = watcher.look() {
            tracing::warn!(reason = %error.reason, "the documents of _replicator cannot be read");
        }
        if !control.pause(EVERY) {
            return;
        }
    }
}

struct Watcher<'a> {
    replications: &'a Arc<Replications>,
    /// The newest commit of the database that was looked at.
    seen: Option<Seq>,
    /// The replications that were begun, with the specifications that they were begun for.
    begun: HashMap<String, (Spec, Arc<Job>)>,
}

impl Watcher<'_> {
    fn look(&mut self) -> Result<()> {
        let Some(database) = replicator(&self.replications.realm)? else {
            self.begun.drain().for_each(|(_, (_, job))| job.control.stop());
            self.seen = None;
            return Ok(());
        };
        let changed = database.opened().counts()?.changed;
        let runs = |(_, job): &(Spec, Arc<Job>)| self.replications.get(&job.key).is_some();
        let all_run = self.begun.values().all(runs);
        if self.seen == Some(changed) && all_run {
            return Ok(());
        }
        let documents = all(&database)?;
        // The replication ends if its document is gone or has changed.
        self.begun.retain(|id, (spec, job)| {
            let own = documents.iter().find(|own| own.id == *id && own.ended().is_none());
            let stays = own.is_some_and(|own| own.spec.as_ref().is_ok_and(|now| now == spec));
            if !stays {
                job.control.stop();
            }
            stays && self.replications.get(&job.key).is_some_and(|now| Arc::ptr_eq(&now, job))
        });
        let mut waiting = false;
        for own in documents {
            if own.ended().is_some() || self.begun.contains_key(&own.id) {
                continue;
            }
            let spec = match own.spec {
                Ok(spec) => spec,
                Err(error) => {
                    note(&database.share(), &own.id, own.body, "failed", &error.reason, None);
                    continue;
                }
            };
            // A former one was asked to end and has not ended yet.
            if self.replications.get(&Job::key_of(&own.id)).is_some() {
                waiting = true;
                continue;
            }
            let asks = own.owner.clone().asks(&self.replications.realm);
            let owner = Owner { user: own.owner.name().or(own.user), document: Some(own.id.clone()) };
            let (collection, body) = (database.share(), own.body.clone());
            let ended = move |job: &Job, outcome| ended(&collection, body, job, outcome);
            let proof = own.owner.rights(&self.replications.realm);
            match proof.and_then(|proof| self.replications.begin(&spec, owner, proof, asks, ended)) {
                Ok(job) => drop(self.begun.insert(own.id, (spec, job))),
                Err(error) if matches!(error.error, "bad_request" | "forbidden" | "unauthorized") => {
                    note(&database.share(), &own.id, own.body, "failed", &error.reason, None);
                }
                // It waits until there is room, or until there is the database.
                Err(_) => waiting = true,
            }
        }
        self.seen = (!waiting).then_some(changed);
        Ok(())
    }
}

fn ended(collection: &Collection, body: Map<String, Value>, job: &Job, outcome: std::result::Result<Outcome, Error>) {
    let Some(document) = &job.owner.document else { return };
    match outcome {
        Err(error @ Error::Refused(_)) => note(collection, document, body, "failed", &error.to_string(), None),
        // It was stopped, because the document was deleted or the server ends.
        _ if job.control.is_stopped() => {}
        Ok(outcome) => note(collection, document, body, "completed", "", Some((job, &outcome))),
        Err(error) => note(collection, document, body, "failed", &error.to_string(), None),
    }
}

/// Writes the end of a replication into its document, unless the document has changed meanwhile.
fn note(
    collection: &Collection,
    id: &str,
    mut body: Map<String, Value>,
    state: &str,
    reason: &str,
    outcome: Option<(&Job, &Outcome)>,
) {
    body.insert("_replication_state".to_owned(), state.into());
    body.insert("_replication_state_time".to_owned(), shown_now().into());
    if !reason.is_empty() {
        body.insert("_replication_state_reason".to_owned(), reason.into());
    }
    if let Some((job, outcome)) = outcome {
        let own = &outcome.statistics;
        let stats = json!({
            "revisions_checked": own.missing_checked, "missing_revisions_found": own.missing_found,
            "docs_read": own.docs_read, "docs_written": own.docs_written,
            "doc_write_failures": own.doc_write_failures, "changes_pending": 0,
            "checkpointed_source_seq": outcome.source_last_seq
        });
        body.insert("_replication_id".to_owned(), job.id.clone().into());
        body.insert("_replication_stats".to_owned(), stats);
    }
    let written = (|| {
        let Some(document) = collection.get(id)? else { return Ok(()) };
        let now: Map<String, Value> = serde_json::from_str(&document.body).unwrap_or_default();
        let own = |body: &Map<String, Value>| -> Vec<(String, Value)> {
            let own = body.iter().filter(|(name, _)| !name.starts_with('_'));
            own.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        if own(&now) != own(&body) {
            return Ok(());
        }
        let Ok(text) = rewritten(document.body.as_bytes(), &body) else { return Ok(()) };
        collection.replace(id, &document.rev, text).map(drop)
    })();
    if let Err(error) = written {
        let error: recension::Error = error;
        tracing::warn!(%error, "the state of a replication cannot be written into its document");
    }
}
