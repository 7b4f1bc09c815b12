//! From a request to the endpoint that answers it, by its identity and its path.

use std::borrow::Cow;
use std::sync::Arc;

use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, SET_COOKIE};
use http::uri::Authority;
use http::{Method, Response, StatusCode, Version};
use hyper::body::Body as _;

use crate::answer::Answer;
use crate::arriving::{Arriving, Secure};
use crate::auth::connection::Connection;
use crate::auth::standing::may_change_rights;
use crate::auth::{Access, Session, users, users_guard};
use crate::cors;
use crate::databases::Database;
use crate::encoding;
use crate::error::{ApiError, Result};
use crate::html::asked::Asked;
use crate::html::links;
use crate::http as endpoints;
use crate::http::not_implemented::{self, Place};
use crate::learning;
use crate::limits::{REWRITES_MAX, TARGET_BYTES_MAX};
use crate::observed::{Observed, ObservedBody};
use crate::query::Query;
use crate::request::{Request, at_its_moment};
use crate::route::Target;
use crate::state::App;

/// Answers a request, on a thread of its own if reads of the store may wait.
pub(crate) async fn answered(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: http::Request<Arriving>,
) -> Response<ObservedBody> {
    let Some(handlers) = &app.handlers else {
        return answer(Arc::clone(&app), connection, request).await;
    };
    let (head, body) = request.into_parts();
    let (kept, address) = (head.clone(), connection.address());
    let answering = answer(Arc::clone(&app), connection, http::Request::from_parts(head, body));
    handlers.run(answering).await.unwrap_or_else(|error| {
        let answer = Answer::from(error).into_response(kept.method == Method::HEAD);
        Observed::begin(&app, address, &kept).answered(answer)
    })
}

/// Answers a request. It never fails: an error is an answer too.
pub(crate) async fn answer(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: http::Request<Arriving>,
) -> Response<ObservedBody> {
    let (mut head, body) = request.into_parts();
    let mut observed = Observed::begin(&app, connection.address(), &head);
    let mut page = Asked::of(&mut head);
    let (method, uri) = (head.method.clone(), head.uri.clone());
    // Only browsers' pages send an origin, and it matters only if the configuration lets some in.
    let cors = Arc::clone(&app.settings.live().cors);
    let from_page = cors.enabled.then(|| head.headers.clone());
    let coding = head.headers.get(ACCEPT_ENCODING).and_then(|value| encoding::negotiated(value.to_str().ok()?));
    let at_once = match check_host(&head) {
        Err(error) => Some(Answer::from(error).with(CONNECTION, "close")),
        Ok(()) => from_page.as_ref().and_then(|headers| cors::preflight(&cors, &method, headers)),
    };
    let answer = match at_once {
        Some(answer) => answer,
        None => one_of_many(&app, connection, head, body, &mut observed, page.as_mut()).await,
    };
    let answer = match page {
        Some(page) => page.turned(answer),
        None => answer,
    };
    // The answer to HEAD has no body to be compressed; its tag is the revision, as clients expect it.
    let answer = encoding::encoded(answer, coding.filter(|_| method != Method::HEAD), &app.streams.budget);
    let answer = match &from_page {
        Some(headers) => cors::decorated(answer, &cors, headers),
        None => answer,
    };
    tracing::debug!(%method, path = uri.path(), status = answer.status.as_u16(), "answered");
    observed.answered(answer.into_response(method == Method::HEAD))
}

/// Answers a request of a client that may have asked another server of the store before: what it was told there must
/// be known here too. Requests that may write learn first of what was acknowledged anywhere; of the others those that
/// would be refused, which learn of it and are looked at again. What is read may be a moment old, if it is not for
/// `fresh` or for a commit that the client names.
async fn one_of_many(
    app: &Arc<App>,
    connection: Arc<Connection>,
    head: http::request::Parts,
    body: Arriving,
    observed: &mut Observed,
    mut page: Option<&mut Asked>,
) -> Answer {
    let is_shared = app.databases.profile().others_commit;
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    let is_fresh = head.uri.query().is_some_and(|query| query.split('&').any(|part| part == "fresh=true"));
    if (is_fresh || is_shared && !reads)
        && let Err(error) = Box::pin(learning::first(app, is_fresh)).await
    {
        return error.into();
    }
    if let Err(error) = Box::pin(learning::at_least_what_is_asked_for(app, &head.headers)).await {
        return error.into();
    }
    let again = (is_shared && reads && !is_fresh).then(|| (head.clone(), app.databases.head()));
    let first = handle(app, Arc::clone(&connection), head, body, observed, page.as_deref_mut()).await;
    let first = first.unwrap_or_else(Answer::from);
    let answer = match again {
        Some((head, seen)) if Box::pin(learning::is_too_old(app, first.status, seen)).await => {
            let second = Box::pin(handle(app, connection, head, Arriving::empty(), observed, page));
            second.await.unwrap_or_else(Answer::from)
        }
        _ => first,
    };
    if is_shared { learning::told(app, answer) } else { answer }
}

async fn handle(
    app: &Arc<App>,
    connection: Arc<Connection>,
    head: http::request::Parts,
    body: Arriving,
    observed: &mut Observed,
    page: Option<&mut Asked>,
) -> Result<Answer> {
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(ApiError::target_too_long());
    }
    let query = Query::parse(head.uri.query().unwrap_or_default())?;
    let uri = head.uri.clone();
    let target = Target::parse(uri.path())?;
    observed.is_for(&target, body.size_hint().exact());
    let mut session = Session::identify(app, &connection, &head).await?;
    observed.is_by(session.identity());
    // A token is sent by its holder on purpose. A browser sends everything else for any page.
    let by_token = matches!(session.handler(), Some("jwt" | "token"));
    if !by_token && cors::is_forged(&app.settings.live().cors, &head) {
        return Err(ApiError::forged());
    }
    session.check_scope(&head.method, &target)?;
    let mut request = Request::new(Arc::clone(app), connection, head, query, body);
    if let Some(page) = page {
        page.load(&session, &mut request)?;
    }
    // Slow branches are boxed: a request's future is as large as its largest branch that is not, and it is moved about.
    if target.database() == Some(users::DATABASE) {
        Box::pin(users_guard::pass(&mut request, &mut session, &target)).await?;
    }
    let renewed = session.renewed().map(str::to_owned);
    let changes_rights = may_change_rights(request.method(), &target);
    if let Some(name) = target.database()
        && let Some(db) = session.limited(name)?
    {
        let mut answer = Box::pin(endpoints::access::endpoint(request, &session, db, &target)).await?;
        if let Some(cookie) = renewed {
            answer = answer.with(SET_COOKIE, cookie);
        }
        return Ok(answer);
    }
    let answer = match at_once(&request, &session, &target) {
        Some(answer) => {
            let again = || at_once(&request, &session, &target).unwrap_or_else(|| Err(ApiError::missing()));
            let answer = answer?;
            if answer.long_body().is_some() { Box::pin(app.streams.paid(answer, again)).await? } else { answer }
        }
        None => Box::pin(route(request, session, target)).await?,
    };
    if changes_rights {
        app.rights.tell();
    }
    // A session that goes on gets its cookie here; logging in and out have their own.
    Ok(match renewed.filter(|_| !answer.headers.contains_key(SET_COOKIE)) {
        Some(cookie) => answer.with(SET_COOKIE, cookie),
        None => answer,
    })
}

/// Refuses a request without one Host (RFC 9112, 3.2). hyper refuses lengths that two servers could read differently.
fn check_host(head: &http::request::Parts) -> Result<()> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let why = match (hosts.next(), hosts.next()) {
        (None, _) if head.version == Version::HTTP_11 => "A request of HTTP/1.1 needs a header Host.",
        (None, _) => return Ok(()),
        (Some(host), None) => {
            let is_host = |host: &str| host.parse::<Authority>().is_ok() && !host.contains('@');
            if host.is_empty() || host.to_str().is_ok_and(is_host) {
                return Ok(());
            }
            "The header Host is no name of a host."
        }
        (Some(_), Some(_)) => "The request has several headers Host.",
    };
    Err(ApiError::bad_request(why))
}

/// The answer to a GET of a document, which needs no waiting.
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
        Target::Server { name, rest } if name == "_utils" => {
            let rest: Vec<&str> = rest.iter().map(|part| &**part).collect();
            crate::console::endpoint(request, session, &rest).await
        }
        Target::Server { name, rest } => endpoints::server::endpoint(request, session, &name, &rest).await,
        Target::Database { db } => endpoints::database::endpoint(request, session, &db).await,
        Target::Special { db, name, rest } => special(request, session, &db, &name, &rest).await,
        Target::Document { db, id } if id.starts_with("_local/") => {
            let db = session.database(&db, Access::Member)?;
            endpoints::local::document(request, db, &id, None).await
        }
        Target::Document { db, id } => {
            let db = at_its_moment(&request, session.database(&db, Access::Member)?)?;
            endpoints::documents::document(request, db, &id, None).await
        }
        Target::OfDocument { id, .. } if id.starts_with("_local/") => Err(ApiError::local_has_no_attachments()),
        Target::OfDocument { db, id, name } => {
            let part = name.split('/').next().unwrap_or_default();
            if id.starts_with("_design/")
                && let Some(refusal) = not_implemented::refusal(&session, request.method(), Place::Design(&db), part)
            {
                return Err(refusal);
            }
            let db = at_its_moment(&request, session.database(&db, Access::Member)?)?;
            if id.starts_with("_design/") {
                let rest: Vec<&str> = name.split('/').skip(1).collect();
                match (part, rest.as_slice()) {
                    ("_view", rest) => return endpoints::views::endpoint(request, db, &id, rest, None, None).await,
                    ("_update", rest) => return endpoints::functions::update(request, db, &id, rest, None).await,
                    ("_show", rest) => return endpoints::functions::show(request, db, &id, rest, None).await,
                    ("_list", rest) => return endpoints::functions::list(request, db, &id, rest, None).await,
                    ("_rewrite", rest) => return rewritten(request, session, db, &id, &rest.join("/")).await,
                    ("_info", []) => return endpoints::views::info(request, db, &id).await,
                    _ => {}
                }
            }
            match &*name {
                "_history" => endpoints::history::of_document(request, db, &id).await,
                name => endpoints::attachments::endpoint(request, db, &id, name).await,
            }
        }
        Target::Redirect { to } => Ok(Answer::empty(StatusCode::MOVED_PERMANENTLY).location(&absolute(&request, &to))),
    }
}

/// Answers a request as if it had been made for the path that a design document's rules give.
async fn rewritten(mut request: Request, session: Session, db: Database, id: &str, path: &str) -> Result<Answer> {
    request.rewrites += 1;
    if request.rewrites > REWRITES_MAX {
        return Err(ApiError::bad_request("Exceeded rewrite recursion limit"));
    }
    let to = endpoints::functions::rewrite::target(&request, db, id, path).await?;
    let uri: http::Uri = to.parse().map_err(|_| ApiError::bad_target())?;
    request.query = Query::parse(uri.query().unwrap_or_default())?;
    request.head.uri = uri.clone();
    let target = Target::parse(uri.path())?;
    let is_elsewhere = target.database() == Some(users::DATABASE) || matches!(target, Target::Server { .. });
    if is_elsewhere || may_change_rights(request.method(), &target) {
        // The guards of those paths have been passed by for another path.
        return Err(ApiError::forbidden("A request is not rewritten to there."));
    }
    // A token for one database must not reach another in this way.
    session.check_scope(&request.head.method, &target)?;
    Box::pin(route(request, session, target)).await
}

/// `/{db}/_name`.
async fn special(request: Request, session: Session, db: &str, name: &str, rest: &[Cow<'_, str>]) -> Result<Answer> {
    let rest: Vec<&str> = rest.iter().map(|part| &**part).collect();
    let member = || session.database(db, Access::Member);
    match (name, rest.as_slice()) {
        ("_all_docs" | "_design_docs", rest) => {
            let db = at_its_moment(&request, member()?)?;
            endpoints::all_docs::endpoint(request, db, (name, rest), None, None).await
        }
        ("_local_docs", []) => endpoints::local::list(request, member()?).await,
        ("_bulk_docs", []) => endpoints::bulk::endpoint(request, member()?, None).await,
        ("_bulk_get", []) => endpoints::revisions::bulk_get(request, member()?).await,
        ("_leaves", []) => endpoints::leaves::endpoint(request, member()?).await,
        ("_revs_diff", []) => endpoints::revisions::revs_diff(request, member()?).await,
        ("_missing_revs", []) => endpoints::revisions::missing_revs(request, member()?).await,
        ("_changes", []) => endpoints::changes::endpoint(request, &session, db).await,
        ("_purge" | "_purged_infos" | "_purged_infos_limit", []) => {
            endpoints::purge::endpoint(request, session, db, name).await
        }
        ("_erase", []) => endpoints::erase::endpoint(request, session, db).await,
        ("_expiry", []) => endpoints::expiry::endpoint(request, session, db).await,
        ("_consumers", rest) => endpoints::consumers::endpoint(request, session, db, rest).await,
        ("_topics", rest) => endpoints::topics::endpoint(request, session, db, rest).await,
        ("_retention", []) => endpoints::retention::endpoint(request, session, db).await,
        ("_access", []) => endpoints::access::setting(request, session, db).await,
        ("_schema", []) => endpoints::schema::endpoint(request, session, db).await,
        ("_security", []) => endpoints::security::endpoint(request, session, db).await,
        ("_view_cleanup", []) => {
            only(&request, "POST")?;
            endpoints::views::cleanup(request, session.database(db, Access::Admin)?).await
        }
        ("_compact" | "_ensure_full_commit" | "_revs_limit", rest) => {
            endpoints::maintenance::endpoint(request, session, db, name, rest).await
        }
        ("_find" | "_explain", []) => {
            let db = at_its_moment(&request, member()?)?;
            endpoints::mango::query(request, db, name, None, None).await
        }
        ("_aggregate", []) => {
            let db = at_its_moment(&request, member()?)?;
            endpoints::mango::aggregate::endpoint(request, db, None).await
        }
        ("_update_by_query" | "_delete_by_query", []) => {
            endpoints::mango::by_query::endpoint(request, member()?, name).await
        }
        ("_temp_view", []) => {
            only(&request, "POST")?;
            member()?;
            let reason = "Temporary views are not supported in CouchDB";
            Err(ApiError::new(StatusCode::GONE, "gone", reason))
        }
        ("_index", rest) => endpoints::mango::indexes(request, session, db, rest).await,
        ("_partition", rest) => {
            let name = rest.get(1).copied().unwrap_or_default();
            if let Some(refusal) = not_implemented::refusal(&session, request.method(), Place::Partition(db), name) {
                return Err(refusal);
            }
            let db = at_its_moment(&request, member()?)?;
            endpoints::partition::endpoint(request, db, rest, None).await
        }
        _ => {
            if let Some(refusal) = not_implemented::refusal(&session, request.method(), Place::Database(db), name) {
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
    let path = format!("{}{path}", links::base(&request.head));
    match request.header(HOST).or_else(|| request.head.uri.authority().map(Authority::as_str)) {
        Some(host) => {
            let scheme = if is_secure(request) { "https" } else { "http" };
            format!("{scheme}://{host}{path}")
        }
        None => path,
    }
}

/// Whether the client speaks TLS: to this server, or to the web server before it.
pub(crate) fn is_secure(request: &Request) -> bool {
    request.app.config.tls_certificate.is_some() || request.head.extensions.get::<Secure>().is_some()
}

/// Refuses methods other than those of an endpoint, listed as CouchDB does.
pub(crate) fn only(request: &Request, methods: &'static str) -> Result<()> {
    let method = request.method().as_str();
    if methods.split(',').any(|own| own == method) { Ok(()) } else { Err(ApiError::method_not_allowed(methods)) }
}
