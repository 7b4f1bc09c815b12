//! From a request to the endpoint that answers it, by its identity and its path.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use http::header::{ACCEPT_ENCODING, CONNECTION, HOST, SET_COOKIE};
use http::{HeaderName, Method, Response, Version};
use hyper::body::Body as _;

use crate::routes;
use recension_app::auth::connection::Connection;
use recension_app::auth::entered::{Awaited, Moment};
use recension_app::auth::standing::may_change_rights;
use recension_app::auth::{Access, Session, replicator_guard, users, users_guard};
use recension_app::cors;
use recension_app::observed::{Observed, ObservedBody};
use recension_app::request::{Request, at_its_moment, is_host};
use recension_app::state::App;
use recension_endpoints as endpoints;
use recension_pages::page_request::PageRequest;
use recension_pages::template::Template;
use recension_wire::answer::Answer;
use recension_wire::arriving::Arriving;
use recension_wire::encoding;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::TARGET_BYTES_MAX;
use recension_wire::query::Query;
use recension_wire::route::{REPLICATOR, Target};

/// Answers a request, on a thread of its own if reads of the store may wait.
pub(crate) async fn answered(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: http::Request<Arriving>,
) -> Response<ObservedBody> {
    // Boxed: otherwise the future of each request has room for both.
    if app.handlers.is_some() {
        Box::pin(by_handlers(app, connection, request)).await
    } else {
        answer(app, connection, request).await
    }
}

async fn by_handlers(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: http::Request<Arriving>,
) -> Response<ObservedBody> {
    let Some(handlers) = &app.handlers else { return answer(Arc::clone(&app), connection, request).await };
    let (head, body) = request.into_parts();
    let (kept, address) = (head.clone(), connection.address());
    let answering = answer(Arc::clone(&app), connection, http::Request::from_parts(head, body));
    handlers.run(answering).await.unwrap_or_else(|error| {
        let answer = Answer::from(error).into_response(kept.method == Method::HEAD);
        Observed::begin(&app.observers, address, &kept).answered(answer)
    })
}

/// Answers a request. It never fails: an error is an answer too.
pub(crate) async fn answer(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: http::Request<Arriving>,
) -> Response<ObservedBody> {
    let (mut head, body) = request.into_parts();
    override_method(&mut head);
    let id = given_id(&head).unwrap_or_else(request_id);
    let mut observed = Observed::begin(&app.observers, connection.address(), &head);
    let mut page = PageRequest::of(&mut head);
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
    let answer = answer.with(REQUEST_ID, id);
    tracing::debug!(%method, path = uri.path(), status = answer.status.as_u16(), "answered");
    observed.answered(answer.into_response(method == Method::HEAD))
}

/// A POST may say which method it means: there are proxies that let nothing else through.
fn override_method(head: &mut http::request::Parts) {
    const OVERRIDE: HeaderName = HeaderName::from_static("x-http-method-override");
    let meant = head.headers.get(OVERRIDE).filter(|_| head.method == Method::POST);
    match meant.map(http::HeaderValue::as_bytes) {
        Some(b"GET") => head.method = Method::GET,
        Some(b"PUT") => head.method = Method::PUT,
        Some(b"DELETE") => head.method = Method::DELETE,
        Some(b"COPY") => head.method = Method::from_bytes(b"COPY").unwrap_or(Method::POST),
        _ => {}
    }
}

/// The header by which CouchDB tells its requests from each other.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-couch-request-id");

/// The client's own, which may have 36 letters, digits, `-` and `_`.
fn given_id(head: &http::request::Parts) -> Option<String> {
    let of_id = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let given = head.headers.get(REQUEST_ID)?.to_str().ok()?;
    ((1..=36).contains(&given.len()) && given.as_bytes().iter().all(of_id)).then(|| given.to_owned())
}

/// Ten hexadecimal digits that no other request of this process has.
fn request_id() -> String {
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| {
        let mut seed = [0; 8];
        // Without randomness the numbers begin at zero.
        let _ = getrandom::fill(&mut seed);
        AtomicU64::new(u64::from_be_bytes(seed))
    });
    // An odd factor: different numbers stay different, and neighbours do not look alike.
    let number = NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:010x}", number & 0xff_ffff_ffff)
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
    mut page: Option<&mut PageRequest>,
) -> Answer {
    let is_shared = app.databases.profile().others_commit;
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    let is_fresh = head.uri.query().is_some_and(|query| query.split('&').any(|part| part == "fresh=true"));
    if (is_fresh || is_shared && !reads)
        && let Err(error) = Box::pin(app.learning.first(is_fresh)).await
    {
        return error.into();
    }
    if let Err(error) = Box::pin(app.learning.at_least_what_is_asked_for(&head.headers)).await {
        return error.into();
    }
    let again = (is_shared && reads && !is_fresh).then(|| Box::new((head.clone(), app.databases.head())));
    let first = handle(app, Arc::clone(&connection), head, body, observed, page.as_deref_mut()).await;
    let first = first.unwrap_or_else(Answer::from);
    let answer = match again {
        Some(again) if Box::pin(app.learning.is_too_old(first.status, again.1)).await => {
            let second = Box::pin(handle(app, connection, again.0, Arriving::empty(), observed, page));
            second.await.unwrap_or_else(Answer::from)
        }
        _ => first,
    };
    if is_shared { app.learning.told(answer) } else { answer }
}

async fn handle(
    app: &Arc<App>,
    connection: Arc<Connection>,
    head: http::request::Parts,
    body: Arriving,
    observed: &mut Observed,
    page: Option<&mut PageRequest>,
) -> Result<Answer> {
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    if target > TARGET_BYTES_MAX {
        return Err(ApiError::target_too_long());
    }
    let query = Query::parse(head.uri.query().unwrap_or_default())?;
    let uri = head.uri.clone();
    let redirected;
    let target = match Target::parse(uri.path())? {
        // Only readers are sent to the path with a slash: writers would lose their body on the way.
        Target::Redirect { to } if !matches!(head.method, Method::GET | Method::HEAD) => {
            redirected = to;
            Target::parse(&redirected)?
        }
        target => target,
    };
    observed.is_for(&target, body.size_hint().exact());
    // If all has come, rights are asked again only if a long answer is made. To know the moment may be a round trip.
    let before = (!body.is_end_stream()).then(|| Moment::of(&app.realm));
    let mut session = Session::identify(&app.realm, &connection, &head).await?;
    observed.is_by(session.identity());
    // A token is sent by its holder on purpose. A browser sends everything else for any page.
    let by_token = matches!(session.handler(), Some("jwt" | "token"));
    if !by_token && cors::is_forged(&app.settings.live().cors, &head) {
        return Err(ApiError::forged());
    }
    session.check_scope(&head.method, &target)?;
    let mut request = Request::new(Arc::clone(app), connection, head, query, body);
    if !request.body.has_ended() {
        let mut awaited = Awaited::of(&mut session, before.clone());
        request.body.asking(Box::new(move || awaited.ask()));
    }
    if let Some(page) = page {
        load_template(page, &session, &mut request)?;
    }
    // Slow branches are boxed: a request's future is as large as its largest branch that is not, and it is moved about.
    if target.database() == Some(users::DATABASE) {
        let Request { head, query, body, .. } = &mut request;
        let asked = users_guard::GuardedRequest { head, query, body };
        Box::pin(users_guard::pass(asked, &mut session, &target)).await?;
    }
    if target.database() == Some(REPLICATOR) {
        let Request { head, query, body, .. } = &mut request;
        let asked = users_guard::GuardedRequest { head, query, body };
        Box::pin(replicator_guard::pass(asked, &session, &target)).await?;
    }
    let renewed = session.renewed().map(str::to_owned);
    let changes_rights = may_change_rights(request.method(), &target);
    let answer = match at_once(&request, &session, &target) {
        Some(answer) => {
            let again = || at_once(&request, &session, &target).unwrap_or_else(|| Err(ApiError::missing()));
            let answer = answer?;
            if answer.long_body().is_some() { Box::pin(app.streams.paid(answer, again)).await? } else { answer }
        }
        None => {
            let mut entered = Awaited::of(&mut session, before);
            let answer = routes::answered(request, session, &target).await?;
            answer.asking(|| Box::new(move || entered.ask_of_answer()))
        }
    };
    if changes_rights {
        app.realm.rights.tell();
    }
    // A session that goes on gets its cookie here; logging in and out have their own.
    Ok(match renewed.filter(|_| !answer.headers.contains_key(SET_COOKIE)) {
        Some(cookie) => answer.with(SET_COOKIE, cookie),
        None => answer,
    })
}

/// Reads the template that a page is to be made by, as its reader may.
fn load_template(page: &mut PageRequest, session: &Session, request: &mut Request) -> Result<()> {
    let Some(name) = request.query.get("template") else { return Ok(()) };
    let of_server = || ApiError::bad_request("Templates are of databases: this has none.");
    let db = session.database(page.kind.database().ok_or_else(of_server)?, Access::Member)?;
    let template = Template::of(at_its_moment(request, db)?.opened(), name, &request.app.templates)?;
    page.by_template(template, &mut request.head, &request.app.pages);
    Ok(())
}

/// Refuses a request without one Host (RFC 9112, 3.2). hyper refuses lengths that two servers could read differently.
fn check_host(head: &http::request::Parts) -> Result<()> {
    let mut hosts = head.headers.get_all(HOST).iter();
    let why = match (hosts.next(), hosts.next()) {
        (None, _) if head.version == Version::HTTP_11 => "A request of HTTP/1.1 needs a header Host.",
        (None, _) => return Ok(()),
        (Some(host), None) => {
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
    // Who is refused here may be a limited user.
    let db = session.database(db, Access::Member).ok()?;
    match routes::check_document(request).and_then(|()| at_its_moment(request, db)) {
        Ok(db) => endpoints::documents::at_once(request, &db, id),
        Err(error) => Some(Err(error)),
    }
}
