//! From a request to the endpoint that answers it: who asks, what the path names, which file has the endpoint.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{ACCEPT_ENCODING, HOST, SET_COOKIE};
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use recension::document::At;

use crate::answer::{Answer, AnswerBody};
use crate::auth::connection::Connection;
use crate::auth::{Access, Session, users, users_guard};
use crate::cors;
use crate::databases::Database;
use crate::encoding;
use crate::error::{ApiError, Result};
use crate::http as endpoints;
use crate::http::rooms::{self, Place};
use crate::limits::TARGET_BYTES_MAX;
use crate::query::Query;
use crate::request::Request;
use crate::route::Target;
use crate::state::App;

/// Answers a request. It never fails: what goes wrong is an answer too.
pub(crate) async fn answer(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: http::Request<Incoming>,
) -> Response<AnswerBody> {
    let started = std::time::Instant::now();
    let (head, body) = request.into_parts();
    let (method, uri) = (head.method.clone(), head.uri.clone());
    // Only browsers' pages send an origin, and only where some are let in is it looked at.
    let cors = Arc::clone(&app.settings.live().cors);
    let page = cors.enabled.then(|| head.headers.clone());
    let coding = head.headers.get(ACCEPT_ENCODING).and_then(|value| encoding::negotiated(value.to_str().ok()?));
    let answer = match page.as_ref().and_then(|headers| cors::preflight(&cors, &method, headers)) {
        Some(answer) => answer,
        None => handle(&app, connection, head, body).await.unwrap_or_else(Answer::from),
    };
    // The answer to HEAD has no body to be compressed; its tag is the revision, as clients expect it.
    let answer = encoding::encoded(answer, coding.filter(|_| method != Method::HEAD));
    let answer = match &page {
        Some(headers) => cors::decorated(answer, &cors, headers),
        None => answer,
    };
    let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    app.metrics.answered(answer.status, micros);
    tracing::debug!(%method, path = uri.path(), status = answer.status.as_u16(), micros, "answered");
    answer.into_response(method == Method::HEAD)
}

async fn handle(
    app: &Arc<App>,
    connection: Arc<Connection>,
    head: http::request::Parts,
    body: Incoming,
) -> Result<Answer> {
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(ApiError::target_too_long());
    }
    let query = Query::parse(head.uri.query().unwrap_or_default())?;
    let uri = head.uri.clone();
    let target = Target::parse(uri.path())?;
    let mut session = Session::identify(app, &connection, &head).await?;
    let mut request = Request::new(Arc::clone(app), connection, head, query, body);
    // What waits is boxed: the future of every request is as large as the largest that is not, and is moved about.
    if target.database() == Some(users::DATABASE) {
        Box::pin(users_guard::pass(&mut request, &mut session, &target)).await?;
    }
    let renewed = session.renewed().map(str::to_owned);
    let answer = match at_once(&request, &session, &target) {
        Some(answer) => answer?,
        None => Box::pin(route(request, session, target)).await?,
    };
    // A session that goes on; logging in and out have a cookie of their own.
    Ok(match renewed.filter(|_| !answer.headers.contains_key(SET_COOKIE)) {
        Some(cookie) => answer.with(SET_COOKIE, cookie),
        None => answer,
    })
}

/// The answer that nothing has to be waited for: to a GET of a document.
fn at_once(request: &Request, session: &Session, target: &Target<'_>) -> Option<Result<Answer>> {
    let Target::Document { db, id } = target else { return None };
    if id.starts_with("_local/") || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let db = session.database(db, Access::Member).and_then(|db| at_its_moment(request, db));
    db.map_or_else(|error| Some(Err(error)), |db| endpoints::documents::at_once(request, &db, id))
}

async fn route(request: Request, session: Session, target: Target<'_>) -> Result<Answer> {
    match target {
        Target::Root => endpoints::server::root(&request),
        Target::Server { name, rest } => endpoints::server::endpoint(request, session, &name, &rest).await,
        Target::Database { db } => endpoints::database::endpoint(request, session, &db).await,
        Target::Special { db, name, rest } => special(request, session, &db, &name, &rest).await,
        Target::Document { db, id } if id.starts_with("_local/") => {
            let db = session.database(&db, Access::Member)?;
            endpoints::local::document(request, db, &id).await
        }
        Target::Document { db, id } => {
            let db = at_its_moment(&request, session.database(&db, Access::Member)?)?;
            endpoints::documents::document(request, db, &id).await
        }
        Target::OfDocument { id, .. } if id.starts_with("_local/") => Err(ApiError::local_has_no_attachments()),
        Target::OfDocument { db, id, name } => {
            let part = name.split('/').next().unwrap_or_default();
            if id.starts_with("_design/")
                && let Some(refusal) = rooms::refusal(&session, request.method(), Place::Design(&db), part)
            {
                return Err(refusal);
            }
            let db = at_its_moment(&request, session.database(&db, Access::Member)?)?;
            match &*name {
                "_history" => endpoints::history::of_document(request, db, &id).await,
                name => endpoints::attachments::endpoint(request, db, &id, name).await,
            }
        }
        Target::Redirect { to } => Ok(Answer::empty(StatusCode::MOVED_PERMANENTLY).location(&absolute(&request, &to))),
    }
}

/// The database as of the moment that the query names with `at`: a commit, a time or an age. Who may read it is decided by
/// what `_security` says now.
fn at_its_moment(request: &Request, db: Database) -> Result<Database> {
    match request.query.get("at") {
        None => Ok(db),
        Some(moment) => db.seen_at(moment.parse::<At>()?),
    }
}

/// `/{db}/_name`.
async fn special(request: Request, session: Session, db: &str, name: &str, rest: &[Cow<'_, str>]) -> Result<Answer> {
    let rest: Vec<&str> = rest.iter().map(|part| &**part).collect();
    let member = || session.database(db, Access::Member);
    match (name, rest.as_slice()) {
        ("_all_docs" | "_design_docs", rest) => {
            let db = at_its_moment(&request, member()?)?;
            endpoints::all_docs::endpoint(request, db, name, rest, None).await
        }
        ("_local_docs", []) => endpoints::local::list(request, member()?).await,
        ("_bulk_docs", []) => endpoints::bulk::endpoint(request, member()?).await,
        ("_bulk_get", []) => endpoints::revisions::bulk_get(request, member()?).await,
        ("_revs_diff", []) => endpoints::revisions::revs_diff(request, member()?).await,
        ("_missing_revs", []) => endpoints::revisions::missing_revs(request, member()?).await,
        ("_changes", []) => endpoints::changes::endpoint(request, member()?).await,
        ("_purge" | "_purged_infos" | "_purged_infos_limit", []) => {
            endpoints::purge::endpoint(request, session, db, name).await
        }
        ("_retention", []) => endpoints::retention::endpoint(request, session, db).await,
        ("_security", []) => endpoints::security::endpoint(request, session, db).await,
        ("_compact" | "_view_cleanup" | "_ensure_full_commit" | "_revs_limit", rest) => {
            endpoints::maintenance::endpoint(request, session, db, name, rest).await
        }
        ("_partition", rest) => {
            let name = rest.get(1).copied().unwrap_or_default();
            if let Some(refusal) = rooms::refusal(&session, request.method(), Place::Partition(db), name) {
                return Err(refusal);
            }
            let db = at_its_moment(&request, member()?)?;
            endpoints::partition::endpoint(request, db, rest).await
        }
        _ => {
            if let Some(refusal) = rooms::refusal(&session, request.method(), Place::Database(db), name) {
                return Err(refusal);
            }
            member()?;
            Err(match *request.method() {
                Method::GET | Method::HEAD => ApiError::missing(),
                Method::POST => ApiError::referer_required(),
                _ => ApiError::id_reserved(),
            })
        }
    }
}

/// A path of this server as a URL. Clients expect it in `Location`.
pub(crate) fn absolute(request: &Request, path: &str) -> String {
    match request.header(HOST).or_else(|| request.head.uri.authority().map(http::uri::Authority::as_str)) {
        Some(host) => {
            let scheme = if request.app.config.tls_certificate.is_some() { "https" } else { "http" };
            format!("{scheme}://{host}{path}")
        }
        None => path.to_owned(),
    }
}

/// Refuses methods other than those of an endpoint, listed as CouchDB does.
pub(crate) fn only(request: &Request, methods: &'static str) -> Result<()> {
    let method = request.method().as_str();
    if methods.split(',').any(|own| own == method) { Ok(()) } else { Err(ApiError::method_not_allowed(methods)) }
}
