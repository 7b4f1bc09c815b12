//! Endpoints of the server: `/`, `/_up`, `/_uuids`, `/_all_dbs` and the like.

use http::header::{CACHE_CONTROL, ETAG, PRAGMA};
use http::{Method, StatusCode};
use recension::engine::EngineError;
use recension::json::quote;

use super::body::{distinct_members_of, elements, member};
use super::{branches, database};
use recension_app::auth::{Access, Session};
use recension_app::metrics::CONTENT_TYPE;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{DATABASES_ASKED_MAX, UUIDS_MAX};
use recension_wire::query::Query;

/// The version that clients are told: that of the CouchDB whose protocol this server speaks.
const COUCHDB_VERSION: &str = "3.4.3";

/// `/`
pub fn root(request: &Request) -> Result<Answer> {
    only(request, "GET,HEAD")?;
    let uuid = &request.app.uuid;
    Ok(Answer::ok(format!(
        "{{\"couchdb\":\"Welcome\",\"version\":\"{COUCHDB_VERSION}\",\"uuid\":\"{uuid}\",\"features\":\
         [\"partitioned\",\"scheduler\"],\"vendor\":{{\"name\":\"Recension\",\"version\":\"{}\"}}}}",
        env!("CARGO_PKG_VERSION")
    )))
}

/// Whether the server can be used: by writers, or with `reads=true` by readers. It needs no log-in, so that a failure
/// is told by its kind, without the names that an error has.
pub async fn up(request: Request) -> Result<Answer> {
    only(&request, "GET,HEAD")?;
    if *request.app.stopping.borrow() {
        return Ok(Answer::json(StatusCode::NOT_FOUND, r#"{"status":"maintenance_mode"}"#.to_owned()));
    }
    let for_readers = request.query.flag("reads")?;
    let store = request.app.databases.backed_up().clone();
    let writes = request.app.blocking(move || Ok(store.engine().check_writes())).await?;
    let reason = match writes {
        Err(error) if !for_readers => error,
        _ => return Ok(Answer::ok(r#"{"status":"ok","seeds":{}}"#)),
    };
    let reason = match reason {
        EngineError::Poisoned { .. } => "a write or a sync failed; the store takes no writes until it is opened again",
        EngineError::Unavailable { .. } => "the system that has the store's log, or its owner, does not answer",
        error if error.is_disk_full() => "the disk is full",
        EngineError::ReadOnly => "the store was opened for reading only",
        EngineError::Moved { .. } => "the store has moved",
        EngineError::Damaged { .. } | EngineError::Diverged { .. } => "the store is damaged",
        _ => "the store takes no writes now",
    };
    let told = format!(r#"{{"status":"no_writes","reason":{}}}"#, quote(reason));
    Ok(Answer::json(StatusCode::SERVICE_UNAVAILABLE, told))
}

pub fn uuids(request: &Request) -> Result<Answer> {
    only(request, "GET")?;
    let count = request.query.get("count").unwrap_or("1").parse::<usize>().map_err(|_| ApiError::bad_uuid_count())?;
    if count > UUIDS_MAX {
        return Err(ApiError::bad_request("count parameter too large"));
    }
    let algorithm = request.app.settings.live().uuids.clone();
    let ids: Vec<String> = (0..count).map(|_| format!("\"{}\"", request.app.uuids.next(&algorithm))).collect();
    let answer = Answer::ok(format!("{{\"uuids\":[{}]}}", ids.join(",")));
    let answer = answer.with(CACHE_CONTROL, "must-revalidate, no-cache").with(PRAGMA, "no-cache");
    // No two answers are alike.
    Ok(match ids.into_iter().next() {
        Some(first) => answer.with(ETAG, first),
        None => answer,
    })
}

pub fn all_dbs(request: &Request, session: &Session) -> Result<Answer> {
    only(request, "GET,HEAD")?;
    Ok(Answer::ok(names_json(&request.query, names(request, session)?)?))
}

/// The names of all databases of the main line, or of the branch that the query names.
fn names(request: &Request, session: &Session) -> Result<Vec<String>> {
    let databases = &request.app.databases;
    match request.query.get("branch") {
        None => databases.names(session.server_admin()?),
        Some(branch) => branches::database_names(&databases.store(session.server_admin()?), branch),
    }
}

/// The descriptions of some databases (POST, `keys`) or of all (GET).
pub async fn dbs_info(mut request: Request, session: &Session) -> Result<Answer> {
    only(&request, "GET,POST")?;
    let names: Vec<String> = if *request.method() == Method::POST {
        if request.query.get("branch").is_some() {
            return Err(ApiError::query_parse("`keys` names databases of a branch as `{db}@{branch}`."));
        }
        request.require_json()?;
        let body = request.bytes().await?;
        let members = distinct_members_of(&body)?;
        let missing = || ApiError::bad_request("`keys` member must exist.");
        let keys = elements(member(&members, "keys").ok_or_else(missing)?)?;
        let keys = keys.ok_or_else(|| ApiError::bad_request("`keys` member must be an array."))?;
        if keys.len() > DATABASES_ASKED_MAX {
            return Err(ApiError::bad_request(format!("`keys` has {DATABASES_ASKED_MAX} elements at most")));
        }
        keys.into_iter().map(|key| key.get().to_owned()).collect()
    } else {
        names(&request, session)?.iter().map(|name| quote(name)).collect()
    };
    let session = session.clone();
    let row = move |name: &String| {
        let text: Option<String> = serde_json::from_str(name).ok();
        let database = text.and_then(|text| session.database(&text, Access::Member).ok());
        Ok(match database {
            Some(db) => format!("{{\"key\":{name},\"info\":{}}}", database::info(&db)?),
            None => format!("{{\"key\":{name},\"error\":\"not_found\"}}"),
        })
    };
    // For all databases, these may be a hundred thousand reads.
    let rows = request.app.blocking(move || names.iter().map(row).collect::<Result<Vec<_>>>()).await?;
    Ok(Answer::ok(format!("[{}]", rows.join(","))))
}

/// The names that `key`, `keys`, `startkey`, `endkey`, `inclusive_end`, `descending`, `skip` and `limit` select, as an
/// array.
fn names_json(query: &Query, mut names: Vec<String>) -> Result<String> {
    let key = |long: &str, short: &str| -> Result<Option<String>> {
        let text = query.get(long).or_else(|| query.get(short));
        text.map(|text| serde_json::from_str(text).map_err(|_| ApiError::bad_json())).transpose()
    };
    let exact = |parameter: &str| -> Result<Option<serde_json::Value>> {
        query.get(parameter).map(|text| serde_json::from_str(text).map_err(|_| ApiError::bad_json())).transpose()
    };
    if let Some(wanted) = exact("key")? {
        names.retain(|name| wanted == *name);
    }
    if let Some(wanted) = exact("keys")? {
        let not_an_array = || ApiError::bad_request("`keys` parameter must be an array.");
        let wanted = wanted.as_array().ok_or_else(not_an_array)?;
        names.retain(|name| wanted.iter().any(|wanted| wanted == name));
    }
    let (start, end) = (key("startkey", "start_key")?, key("endkey", "end_key")?);
    if query.get("inclusive_end") == Some("false") {
        names.retain(|name| Some(name) != end.as_ref());
    }
    let descending = query.flag("descending")?;
    let (from, to) = if descending { (end, start) } else { (start, end) };
    names.retain(|name| from.as_ref().is_none_or(|from| name >= from) && to.as_ref().is_none_or(|to| name <= to));
    if descending {
        names.reverse();
    }
    let bound = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let skip = query.number("skip")?.map_or(0, bound);
    let limit = query.number("limit")?.map_or(usize::MAX, bound);
    let names: Vec<String> = names.iter().skip(skip).take(limit).map(|name| quote(name)).collect();
    Ok(format!("[{}]", names.join(",")))
}

pub fn membership(request: &Request) -> Result<Answer> {
    only(request, "GET")?;
    Ok(Answer::ok(r#"{"all_nodes":["nonode@nohost"],"cluster_nodes":["nonode@nohost"]}"#))
}

pub fn metrics(request: &Request, session: &Session) -> Result<Answer> {
    only(request, "GET,HEAD")?;
    session.check_metrics()?;
    Ok(Answer::of(StatusCode::OK, CONTENT_TYPE, request.app.figures()?))
}
