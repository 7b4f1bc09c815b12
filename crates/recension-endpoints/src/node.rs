//! `/_node/{node}` and what is below: its name, statistics and versions by CouchDB's names. Clients and dashboards of
//! CouchDB read them. A member that has no meaning here says 0.

use serde_json::{Value, json};

use super::node_config;
use super::views::COLLATOR;
use recension_app::auth::Session;
use recension_app::node_statistics::at;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// The node's name: that of a CouchDB of one node.
const NAME: &str = "nonode@nohost";

/// `/_node/{node}` and what is below
pub async fn endpoint(request: Request, session: &Session, node: &str, rest: &[&str]) -> Result<Answer> {
    if !matches!(node, "_local" | NAME) {
        session.server_admin()?;
        let reason = format!("no such node: {node}");
        return Err(ApiError::new(http::StatusCode::NOT_FOUND, "not_found", reason));
    }
    match rest {
        ["_config", path @ ..] => return node_config::endpoint(request, session, path).await,
        ["_stats" | "_system", ..] => session.check_metrics()?,
        _ => drop(session.server_admin()?),
    }
    let value = match rest {
        [] => json!({ "name": NAME }),
        ["_stats", path @ ..] => {
            only(&request, "GET")?;
            let app = request.app.clone();
            let all = request.app.blocking(move || app.node_statistics()).await?;
            at(&all, path).clone()
        }
        ["_system"] => system(&request)?,
        ["_versions"] => versions(),
        _ => return Err(ApiError::missing()),
    };
    only(&request, "GET")?;
    Ok(Answer::ok(value.to_string()))
}

/// A file of the system's about this process; empty where there is none.
fn of_process(name: &str) -> String {
    std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default()
}

/// The number behind a name in such a file.
fn figure(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// The process in CouchDB's words. Erlang's kinds of memory are there as far as they have a like here: `binary` are the
/// bodies of requests and answers, `ets` is what the store's engine holds, `processes` all that the process takes.
fn system(request: &Request) -> Result<Value> {
    let app = &request.app;
    let (status, io) = (of_process("status"), of_process("io"));
    let resident = figure(&status, "VmRSS") * 1024;
    let engine = app.databases.stats()?.memory_bytes;
    let bodies = (app.bounds.memory.held() + app.streams.budget.held()) as u64;
    let switches = figure(&status, "voluntary_ctxt_switches") + figure(&status, "nonvoluntary_ctxt_switches");
    Ok(json!({
        "uptime": app.metrics.node.uptime().as_secs(),
        "memory": {
            "other": resident.saturating_sub(engine + bodies), "atom": 0, "atom_used": 0,
            "processes": resident, "processes_used": resident, "binary": bodies, "code": 0, "ets": engine,
        },
        "run_queue": 0, "run_queue_dirty_cpu": 0, "ets_table_count": 0,
        "context_switches": switches, "reductions": 0, "garbage_collection_count": 0, "words_reclaimed": 0,
        "io_input": figure(&io, "rchar"), "io_output": figure(&io, "wchar"),
        "os_proc_count": 0, "stale_proc_count": 0,
        "process_count": figure(&status, "Threads"), "process_limit": 0,
        "message_queues": { "couch_file": {}, "couch_db_updater": {} },
        "internal_replication_jobs": 0, "distribution": {}, "distribution_events": {},
    }))
}

/// What the server is built of, in CouchDB's words. There is no Erlang.
fn versions() -> Value {
    json!({
        "erlang": { "version": "none", "supported_hashes": ["sha", "sha256", "sha384", "sha512"] },
        "collation_driver": {
            "name": "icu4x", "library_version": "2.4", "collation_algorithm_version": "", "collator_version": COLLATOR,
        },
        "javascript_engine": { "name": "quickjs" },
        "vendor": { "name": "Recension", "version": env!("CARGO_PKG_VERSION") },
    })
}
