//! Endpoints for limited users. An endpoint that is not listed here does not exist for them.

use std::borrow::Cow;
use std::sync::Arc;

use http::Method;

use super::limits::{Limits, Shared};
use super::{SECRET, feed, reading, writing};
use crate::answer::Answer;
use crate::auth::{Session, users};
use crate::databases::{Database, new_uuid};
use crate::dispatch::only;
use crate::error::{ApiError, Result};
use crate::http as endpoints;
use crate::query::Query;
use crate::request::Request;
use crate::route::Target;

/// Answers a request of a user whom the database's rule limits.
pub(crate) async fn endpoint(request: Request, session: &Session, db: Database, target: &Target<'_>) -> Result<Answer> {
    if request.query.get("at").is_some() {
        return Err(refused());
    }
    let app = Arc::clone(&request.app);
    let own = session.clone();
    let limits = app.blocking(move || {
        let secret = secret(&own)?;
        let users = own.collection_of_users(users::DATABASE)?;
        Limits::of(db, users.as_ref(), &secret).map(Arc::new)
    });
    let limits = limits.await?;
    let db = limits.db.clone();
    let get = matches!(*request.method(), Method::GET | Method::HEAD);
    match target {
        Target::Database { .. } if get => Ok(Answer::ok(reading::description(&limits))),
        Target::Database { .. } if *request.method() == Method::POST => {
            endpoints::documents::post(request, db, Some(limits)).await
        }
        Target::Document { id, .. } if id.starts_with("_local/") => {
            endpoints::local::document(request, db, id, Some(limits)).await
        }
        Target::Document { id, .. } if get => reading::document(request, limits, id).await,
        Target::Document { id, .. } => {
            only(&request, "GET,HEAD,PUT,DELETE")?;
            endpoints::documents::document(request, db, id, Some(limits)).await
        }
        Target::OfDocument { id, name, .. } if get && !id.starts_with('_') && !name.starts_with('_') => {
            let mut request = request;
            match request.query.rev("rev")? {
                None => reading::check_winner(&limits, id)?,
                Some(rev) => {
                    let real = reading::readable(&limits, id, &rev)?;
                    request.query = Query::parse(&format!("rev={real}"))?;
                }
            }
            endpoints::attachments::endpoint(request, db, id, name).await
        }
        Target::OfDocument { id, name, .. } if id.starts_with("_design/") => {
            let rest: Vec<&str> = name.split('/').collect();
            match rest.as_slice() {
                ["_view", rest @ ..] => endpoints::views::endpoint(request, db, id, rest, None, Some(limits)).await,
                ["_show", rest @ ..] => endpoints::functions::show(request, db, id, rest, Some(limits)).await,
                ["_list", rest @ ..] => endpoints::functions::list(request, db, id, rest, Some(limits)).await,
                ["_update", rest @ ..] => endpoints::functions::update(request, db, id, rest, Some(limits)).await,
                _ => Err(refused()),
            }
        }
        Target::Special { name, rest, .. } => special(request, session, limits, (name, rest)).await,
        _ => Err(refused()),
    }
}

/// `/{db}/_name`.
async fn special(
    request: Request,
    session: &Session,
    limits: Shared,
    (name, rest): (&str, &[Cow<'_, str>]),
) -> Result<Answer> {
    let db = limits.db.clone();
    let rest: Vec<&str> = rest.iter().map(|part| &**part).collect();
    match (name, rest.as_slice()) {
        ("_all_docs" | "_design_docs", rest) => {
            endpoints::all_docs::endpoint(request, db, (name, rest), None, Some(limits)).await
        }
        ("_partition", rest) => endpoints::partition::endpoint(request, db, rest, Some(limits)).await,
        ("_find" | "_explain", []) => endpoints::mango::query(request, db, name, None, Some(limits)).await,
        ("_aggregate", []) => endpoints::mango::aggregate::endpoint(request, db, Some(limits)).await,
        // The design documents that define them are read by all.
        ("_index", []) if *request.method() == Method::GET => endpoints::mango::index::endpoint(request, db, &[]).await,
        ("_changes", []) => feed::endpoint(request, session, limits).await,
        ("_bulk_get", []) => reading::bulk_get(request, limits).await,
        ("_bulk_docs", []) => endpoints::bulk::endpoint(request, db, Some(limits)).await,
        ("_revs_diff", []) => writing::revs_diff(request, limits, false).await,
        ("_missing_revs", []) => writing::revs_diff(request, limits, true).await,
        ("_ensure_full_commit", []) => {
            Ok(Answer::json(http::StatusCode::CREATED, r#"{"ok":true,"instance_start_time":"0"}"#.to_owned()))
        }
        _ => Err(refused()),
    }
}

/// The refusal of an endpoint that limited users do not have.
pub(crate) fn refused() -> ApiError {
    ApiError::forbidden("The database has access rules: this is for its admins.")
}

/// The server's secret, made once.
fn secret(session: &Session) -> Result<String> {
    let databases = session.databases();
    if let Some(secret) = databases.note(SECRET)? {
        return Ok(secret);
    }
    databases.set_note(SECRET, &format!("{}{}", new_uuid(), new_uuid()))?;
    databases.note(SECRET)?.ok_or_else(|| ApiError::internal("a note that was made is not there".to_owned()))
}
