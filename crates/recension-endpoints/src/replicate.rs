//! `/_replicate`, `/_scheduler/*`, `/_active_tasks`: replications of the server itself, for its admins.

use std::sync::Arc;

use http::{Method, StatusCode};
use recension::json::quote;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use recension_app::auth::{Access, Session};
use recension_app::replication::spec::{Place, ReplicateRequest};
use recension_app::replication::{Job, Owner, documents, refusal};
use recension_app::request::{Request, only};
use recension_app::state::App;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::REPLICATION_BYTES_MAX;

/// `/_replicate`
pub async fn endpoint(mut request: Request, session: &Session) -> Result<Answer> {
    let proof = session.server_admin()?;
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(ApiError::bad_request("Missing request body"));
    }
    only(&request, "POST")?;
    request.require_json()?;
    let ReplicateRequest { spec, cancel, id } =
        ReplicateRequest::parse(&request.bytes_up_to(REPLICATION_BYTES_MAX).await?, Place::Body)?;
    let app = Arc::clone(&request.app);
    let user = session.identity().name.clone();
    if cancel {
        return request.app.blocking(move || cancelled(&app, id, spec, proof)).await;
    }
    let spec = spec?;
    let (tell, told) = oneshot::channel();
    let owner = Owner { user, document: None };
    let live = spec.options.live;
    let asks = session.asks_for_server_admin();
    let begin = move || {
        let ended = |_: &Job, outcome| drop(tell.send(outcome));
        app.replications.begin(&spec, owner, Some(proof), asks, ended)
    };
    let job = request.app.blocking(begin).await?;
    if live {
        let text = format!("{{\"ok\":true,\"_local_id\":{}}}", quote(&job.id));
        return Ok(Answer::json(StatusCode::ACCEPTED, text));
    }
    match told.await {
        Ok(outcome) => outcome.map(|outcome| Answer::ok(outcome.to_json())).map_err(refusal),
        Err(_) => Err(ApiError::new(
            StatusCode::CONFLICT,
            "already_running",
            format!("The replication {} runs already; ask for it again when it has ended.", job.id),
        )),
    }
}

fn cancelled(
    app: &Arc<App>,
    id: Option<String>,
    spec: Result<recension_app::replication::Spec>,
    proof: recension_app::auth::ServerAdmin,
) -> Result<Answer> {
    let id = match id {
        Some(id) => id,
        None => {
            let mut spec = spec?;
            spec.options.create_target = false;
            app.replications.id_of(&spec, proof)?
        }
    };
    match app.replications.get(&id) {
        Some(job) => {
            job.control.stop();
            Ok(Answer::ok(format!("{{\"ok\":true,\"_local_id\":{}}}", quote(&job.id))))
        }
        None => Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", "could not find that replication task")),
    }
}

/// `/_active_tasks`
pub fn active_tasks(request: &Request, session: &Session) -> Result<Answer> {
    only(request, "GET")?;
    session.server_admin()?;
    let jobs = request.app.replications.all();
    let replications = jobs.iter().filter(|job| job.is_running()).map(|job| job.task().to_string());
    let tasks: Vec<String> = replications.chain(request.app.scripts.tasks()).collect();
    Ok(Answer::ok(format!("[{}]", tasks.join(","))))
}

/// `/_scheduler/jobs[/id]`, `/_scheduler/docs[/_replicator[/id]]`
pub async fn scheduler(request: Request, session: Session, rest: &[&str]) -> Result<Answer> {
    session.server_admin()?;
    only(&request, "GET,HEAD")?;
    match rest {
        ["jobs"] => {
            let rows: Vec<Value> = request.app.replications.all().iter().map(|job| job.row()).collect();
            let total = rows.len();
            page(&request, "jobs", rows, total)
        }
        ["jobs", id] => {
            let jobs = request.app.replications.all();
            let job = jobs.iter().find(|job| job.id == *id).ok_or_else(ApiError::missing)?;
            Ok(Answer::ok(job.row().to_string()))
        }
        ["docs"] | ["docs", documents::DATABASE] => {
            let states = states(request.query.get("states"))?;
            let descending = request.query.flag("descending")?;
            let mut rows = document_rows(&request, session).await?;
            if descending {
                rows.reverse();
            }
            let total = rows.len();
            let of = |row: &Value| row.get("state").and_then(Value::as_str).unwrap_or_default().to_owned();
            rows.retain(|row| states.is_empty() || states.contains(&of(row)));
            page(&request, "docs", rows, total)
        }
        ["docs", documents::DATABASE, id] => {
            let mut rows = document_rows(&request, session).await?;
            rows.retain(|row| row.get("doc_id").and_then(Value::as_str) == Some(*id));
            Ok(Answer::ok(rows.pop().ok_or_else(ApiError::missing)?.to_string()))
        }
        _ => Err(ApiError::missing()),
    }
}

/// The rows of `_scheduler/docs`.
pub async fn document_rows(request: &Request, session: Session) -> Result<Vec<Value>> {
    let app = Arc::clone(&request.app);
    let rows = move || {
        let database = match session.database(documents::DATABASE, Access::Admin) {
            Err(error) if error == ApiError::no_database() => return Ok(Vec::new()),
            database => database?,
        };
        let row = |own: documents::Wanted| match app.replications.get(&Job::key_of(&own.id)) {
            Some(job) if own.ended().is_none() => job.document_row(&own.id),
            _ => own.row(),
        };
        Ok(documents::all(&database)?.into_iter().map(row).collect())
    };
    request.app.blocking(rows).await
}

/// The states of replications that `states` asks for, separated by commas; none: all.
fn states(asked: Option<&str>) -> Result<Vec<String>> {
    const ALL: [&str; 7] = ["initializing", "error", "running", "pending", "crashing", "completed", "failed"];
    let states = asked.unwrap_or_default().split(',').map(str::trim).filter(|state| !state.is_empty());
    let states: Vec<String> = states.map(str::to_ascii_lowercase).collect();
    match states.iter().find(|state| !ALL.contains(&state.as_str())) {
        None => Ok(states),
        Some(state) => {
            Err(ApiError::query_parse(format!("Unknown states [{state}]. Choose from: [{}]", ALL.join(","))))
        }
    }
}

/// The rows that `skip` and `limit` select; `total_rows` counts all, whatever their states.
fn page(request: &Request, name: &str, rows: Vec<Value>, total: usize) -> Result<Answer> {
    let bound = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let skip = request.query.number("skip")?.map_or(0, bound);
    let limit = request.query.number("limit")?.map_or(usize::MAX, bound);
    let some: Vec<Value> = rows.into_iter().skip(skip).take(limit).collect();
    Ok(Answer::ok(json!({ "total_rows": total, "offset": skip.min(total), name: some }).to_string()))
}
