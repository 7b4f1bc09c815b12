//! The console at `/_utils`: pages made here, by the templates of `recension-pages`, that read without a script. What
//! changes something is done by one module of JavaScript (`assets/console.js`) with requests that any client could
//! send, so that a page grants nothing which its reader has no right to.

// A floor of the server, for no other program: what a name says is not said again.
#![allow(missing_docs)]

mod answers;
mod around;
mod assets;
mod backups;
mod branches;
mod changes;
mod conflicts;
mod databases;
mod designs;
mod difference;
mod document;
mod documents;
mod export;
mod facets;
mod frame;
mod index_form;
mod index_names;
mod indexes;
mod laboratory;
mod log_in;
mod logs;
mod members_form;
mod metrics;
mod moments;
mod new;
mod plan;
mod pretty;
mod query;
mod query_compare;
mod query_form;
mod replications;
mod restore;
mod search;
mod security;
mod settings;
mod side;
mod tasks;
mod users;
mod when;

use http::{Method, StatusCode};
use minijinja::context;

use self::frame::Frame;
use recension_app::auth::Session;
use recension_app::request::{Request, absolute};
use recension_pages::links::Parameters;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// `/_utils/…`
pub async fn endpoint(mut request: Request, session: Session, rest: &[&str]) -> Result<Answer> {
    match rest {
        ["-", name] if name.contains('.') => return assets::get(&request, "", name),
        ["-", version, name] => return assets::get(&request, version, name),
        _ => {}
    }
    if *request.method() == Method::POST {
        return match rest {
            ["-", "backups"] => backups::make(&request, &session).await,
            ["-", "restore"] => backups::restore(&mut request, &session).await,
            [db, "indexes"] => index_form::endpoint(&mut request, &session, db).await,
            [db, "doc", id, "conflicts"] => {
                let side = side::of(&request, &session, Some(db)).await?;
                request.head.extensions.insert(side);
                let made = conflicts::with_mine(&mut request, &session, db, id).await;
                Ok(made.unwrap_or_else(|error| failed(&request, &session, Some(db), &error)))
            }
            [db, "doc", id, "restore"] => restore::endpoint(&request, &session, db, id).await,
            _ => Err(ApiError::missing()),
        };
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(ApiError::method_not_allowed("GET,HEAD,POST"));
    }
    // What is no page answers as any endpoint does.
    match rest {
        ["-", "samples"] => return metrics::samples(&request, &session).await,
        [db, "export"] => return export::endpoint(&request, &session, db).await,
        _ => {}
    }
    if let Some(seconds) = request.query.number("moment")? {
        return Ok(at_moment(&request, seconds));
    }
    let db = rest.first().copied().filter(|db| *db != "-");
    let side = side::of(&request, &session, db).await?;
    request.head.extensions.insert(side);
    let made = match rest {
        [] => databases::page(&request, &session).await,
        ["-", name] => of_server(&request, &session, name).await,
        [db] => documents::page(&request, &session, db).await,
        [db, "doc", id] => document::page(&request, &session, db, id).await,
        [db, "doc", id, "compare"] => difference::of_document(&request, &session, db, id).await,
        [db, "doc", id, "conflicts"] => conflicts::page(&request, &session, db, id).await,
        [db, "query", "compare"] => query_compare::page(&request, &session, db).await,
        [db, "query"] => query::page(&request, &session, db).await,
        [db, "compare"] => difference::of_database(&request, &session, db).await,
        [db, "new"] => new::page(&request, &session, db),
        [db, "changes"] => changes::page(&request, &session, db).await,
        [db, "indexes"] => indexes::page(&request, &session, db).await,
        [db, "security"] => security::page(&request, &session, db),
        _ => Err(ApiError::missing()),
    };
    // A page says what went wrong as a page.
    Ok(made.unwrap_or_else(|error| failed(&request, &session, db, &error)))
}

/// The page as of a moment of the slider, whose end is now.
fn at_moment(request: &Request, seconds: u64) -> Answer {
    let micros = seconds.saturating_add(1).saturating_mul(1_000_000);
    let is_past = micros <= when::now().0;
    // What was written within the second is of it.
    let at = if is_past { recension::format_time(recension::engine::Timestamp(micros - 1)) } else { String::new() };
    let parameters = Parameters::of(&request.query).without(&["moment"]).with("at", &at);
    Answer::empty(StatusCode::SEE_OTHER).location(&absolute(request, &parameters.on(request.head.uri.path())))
}

/// `/_utils/-/{name}`: pages of the server.
async fn of_server(request: &Request, session: &Session, name: &str) -> Result<Answer> {
    match name {
        "log-in" => Ok(log_in::page(request, session)),
        "branches" => branches::page(request, session).await,
        "branch-diff" => branches::compare(request, session).await,
        "merge" => branches::merge(request, session).await,
        "account" => users::account(request, session),
        "users" => users::page(request, session).await,
        "replications" => replications::page(request, session).await,
        "tasks" => tasks::page(request, session).await,
        "metrics" => metrics::page(request, session).await,
        "logs" => logs::page(request, session),
        "settings" => settings::page(request, session),
        "backups" => backups::page(request, session).await,
        "laboratory" => laboratory::page(request, session),
        _ => Err(ApiError::missing()),
    }
}

/// Refuses what a form of another site could send.
fn is_json(request: &Request) -> Result<()> {
    match request.header(http::header::CONTENT_TYPE) {
        Some("application/json") => Ok(()),
        _ => Err(ApiError::content_type_not_json()),
    }
}

/// The page of an error: what it is, and what can be done.
fn failed(request: &Request, session: &Session, db: Option<&str>, error: &ApiError) -> Answer {
    let nobody = session.identity().name.is_none();
    let status = match error.status {
        // Who has not said who they are may have the right when they have.
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if nobody => StatusCode::UNAUTHORIZED,
        status => status,
    };
    let title = status.canonical_reason().unwrap_or("Error");
    // The pages of a database that is not there, or not for this reader, are no way on.
    let db = db.filter(|_| *error != ApiError::no_database() && status != StatusCode::UNAUTHORIZED);
    let way = match (status, db) {
        (StatusCode::NOT_FOUND, Some(_)) => "database",
        (StatusCode::NOT_FOUND | StatusCode::FORBIDDEN, None) => "databases",
        _ if matches!(error.error, "query_parse_error" | "gone") => "moment",
        _ => "",
    };
    let here = request.head.uri.path_and_query().map(http::uri::PathAndQuery::as_str);
    let values = context! {
        way, reason => error.reason.as_ref(), path => db.map(|db| format!("/_utils/{}", encode(db))),
        next => (status == StatusCode::UNAUTHORIZED).then(|| log_in::next(here)),
    };
    let mut answer = Frame::begin(request, session, title, db, "", false).page("failed", values);
    answer.status = status;
    answer
}
