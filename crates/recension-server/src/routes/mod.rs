//! From a request to its endpoint: one table (`table.rs`), and the only place where it is asked who is let in, by
//! rights and by the access rule of a database. The description of the interface, the refusals with 501 and the list of
//! endpoints come from the same table.

mod handlers;
mod openapi;
mod table;

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::LazyLock;

use http::{Method, StatusCode};

use self::table::ROUTES;
use recension_app::auth::databases::Database;
use recension_app::auth::standing::may_change_rights;
use recension_app::auth::{Access, Session, users};
use recension_app::request::{Request, absolute, at_its_moment};
use recension_endpoints::access::{self, Shared};
use recension_endpoints::functions::{self, rewrite::Rewritten};
use recension_endpoints::within::Limited;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::REWRITES_MAX;
use recension_wire::members::refuse_misspelt;
use recension_wire::query::Query;
use recension_wire::route::Target;

/// An endpoint.
pub(crate) struct Route {
    /// In small letters; `any`: the handler decides.
    pub(crate) method: &'static str,
    /// The path, with the names of its parameters in braces.
    pub(crate) path: &'static str,
    pub(crate) right: Right,
    /// Whether it is there for users whom an access rule limits.
    pub(crate) limited: bool,
    handler: Handler,
    /// What it does; for what is not there, what is missing.
    pub(crate) summary: &'static str,
    /// Parameters of the query: `name:type`, separated by blanks. `at` is the moment that is read.
    pub(crate) query: &'static str,
    /// The body, as a JSON schema; empty: none.
    pub(crate) body: &'static str,
    /// The successful answers, with their forms.
    pub(crate) answers: &'static [(u16, Form)],
}

impl Route {
    /// Whether `at` says which moment is read.
    fn reads_the_past(&self) -> bool {
        self.query.split_whitespace().any(|named| named == "at:string")
    }
}

/// Who is let in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Right {
    Everybody,
    /// Members of the database.
    Members,
    /// Admins of the database.
    Admins,
    /// Server admins, and tokens with the right `metrics`.
    Metrics,
    ServerAdmins,
}

impl Right {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Right::Everybody => "everybody",
            Right::Members => "members",
            Right::Admins => "admins",
            Right::Metrics => "server admins and tokens for metrics",
            Right::ServerAdmins => "server admins",
        }
    }
}

/// The body of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    None,
    Object,
    Array,
    /// Any JSON.
    Json,
    /// JSON, or if the client asks for it, lines or a table.
    List,
    Text,
    /// Bytes as they were stored.
    Bytes,
}

/// The future of an answer. It is boxed, so that a request's own future does not grow with the largest endpoint.
type Answering = Pin<Box<dyn Future<Output = Result<Answer>> + Send>>;

type Handler = fn(Call) -> Answering;

/// A request that was let in.
struct Call {
    request: Request,
    session: Session,
    route: &'static Route,
    /// The parts of the path, decoded. A document's id is one of them; the ids of design and local documents are two.
    parts: Vec<String>,
    place: Place,
}

/// The database of a call.
struct Place {
    db: Option<Database>,
    within: Option<Shared>,
}

impl Place {
    /// The database, and who asks.
    fn open(self) -> Result<(Database, Limited)> {
        let within = self.within.map(|limits| limits as std::sync::Arc<_>);
        Ok((self.db.ok_or_else(ApiError::no_database)?, within))
    }
}

/// The rows by the beginning of their paths.
static ROOMS: LazyLock<HashMap<String, Vec<&'static Route>>> = LazyLock::new(|| {
    let mut rooms: HashMap<String, Vec<&'static Route>> = HashMap::new();
    for route in ROUTES {
        rooms.entry(room(&parts_of(route.path))).or_default().push(route);
    }
    rooms
});

fn parts_of(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// The part of a path by which rows are looked up.
fn room<P: AsRef<str>>(parts: &[P]) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        [] => "/".to_owned(),
        [name, ..] if name.starts_with('_') => format!("/{name}"),
        [_] => "/{db}".to_owned(),
        [_, "_design", _] => "/{db}/_design/{name}".to_owned(),
        [_, "_design", _, part, ..] => format!("/{{db}}/_design/{{name}}/{part}"),
        [_, "_local", _] => "/{db}/_local/{name}".to_owned(),
        [_, name, ..] if name.starts_with('_') => format!("/{{db}}/{name}"),
        [_, _] => "/{db}/{id}".to_owned(),
        [_, _, part, ..] => format!("/{{db}}/{{id}}/{part}"),
    }
}

/// The room and the parts of a target; `None`: it is elsewhere.
fn place_of(target: &Target<'_>) -> Option<(String, Vec<String>)> {
    let mut parts: Vec<String> = Vec::new();
    let mut is_document = false;
    match target {
        Target::Root => {}
        Target::Server { name, rest } => {
            parts.push(name.to_string());
            parts.extend(rest.iter().map(ToString::to_string));
        }
        Target::Database { db } => return Some(("/{db}".to_owned(), vec![db.to_string()])),
        Target::Special { db, name, rest } => {
            parts.extend([db.to_string(), name.to_string()]);
            parts.extend(rest.iter().map(ToString::to_string));
            return Some((format!("/{{db}}/{name}"), parts));
        }
        Target::Document { db, id } | Target::OfDocument { db, id, .. } => {
            is_document = true;
            parts.push(db.to_string());
            match id.split_once('/').filter(|(kind, _)| matches!(*kind, "_design" | "_local")) {
                Some((kind, name)) => parts.extend([kind.to_owned(), name.to_owned()]),
                None => parts.push(id.to_string()),
            }
        }
        Target::Redirect { .. } => return None,
    }
    if let Target::OfDocument { id, name, .. } = target {
        let of_design = id.starts_with("_design/");
        let known = if of_design { name.split('/').next().unwrap_or_default() } else { name };
        let own = if of_design { "/{db}/_design/{name}/" } else { "/{db}/{id}/" };
        let room = format!("{own}{known}");
        if known.starts_with('_') && ROOMS.contains_key(&room) {
            parts.extend(name.split('/').map(str::to_owned));
            return Some((room, parts));
        }
        parts.push(name.to_string());
        return Some((format!("{own}{{attachment}}"), parts));
    }
    if is_document {
        let room = match parts.get(1).map(String::as_str) {
            Some("_design") if parts.len() == 3 => "/{db}/_design/{name}",
            Some("_local") if parts.len() == 3 => "/{db}/_local/{name}",
            _ => "/{db}/{id}",
        };
        return Some((room.to_owned(), parts));
    }
    Some((room(&parts), parts))
}

/// The row of a request, and what it asks for.
#[derive(Clone, Copy)]
struct Found {
    route: &'static Route,
    right: Right,
    limited: bool,
}

/// The row of a request: of those that fit its path, the one with its method, and then the one with the longest path.
/// If none has its method, the handler says so, to those whom all these rows let in.
fn find(room: &str, method: &Method, parts: &[String]) -> Option<Found> {
    let method = method.as_str().to_ascii_lowercase();
    let rank = |route: &'static Route| {
        let own = parts_of(route.path);
        let fits = own.iter().zip(parts).all(|(own, part)| own.starts_with('{') || own == part);
        let named = match route.method {
            own if own == method => 2,
            "any" => 1,
            "get" if method == "head" => 1,
            _ => 0,
        };
        (fits, named, own.len() == parts.len(), own.len() <= parts.len(), own.len())
    };
    let fitting = || ROOMS.get(room).into_iter().flatten().rev().copied().filter(|route| rank(route).0);
    let route = fitting().max_by_key(|route| rank(route))?;
    Some(if rank(route).1 > 0 {
        Found { route, right: route.right, limited: route.limited }
    } else {
        let right = fitting().map(|route| route.right).max().unwrap_or(Right::ServerAdmins);
        Found { route, right, limited: fitting().all(|route| route.limited) }
    })
}

/// Checks the parameters of a GET of a document, which is answered before its row is looked up.
pub(crate) fn check_document(request: &Request) -> Result<()> {
    let row = || ROOMS.get("/{db}/{id}").into_iter().flatten().find(|route| route.method == "get");
    if request.query.is_empty() { Ok(()) } else { row().map_or(Ok(()), |route| check_parameters(request, route)) }
}

/// Answers a request by its row.
pub(crate) fn answered(request: Request, session: Session, target: &Target<'_>) -> Answering {
    match target {
        Target::Redirect { to } => {
            let to = absolute(&request, to);
            return Box::pin(async move { Ok(Answer::empty(StatusCode::MOVED_PERMANENTLY).location(&to)) });
        }
        Target::OfDocument { id, .. } if id.starts_with("_local/") => {
            return Box::pin(async { Err(ApiError::local_has_no_attachments()) });
        }
        _ => {}
    }
    let found = place_of(target).and_then(|(room, parts)| Some((find(&room, request.method(), &parts)?, parts)));
    match found {
        Some((found, parts)) => Box::pin(async move {
            let (request, place) = let_in(request, &session, found, &parts).await?;
            let route = found.route;
            check_path(route, &parts)?;
            check_parameters(&request, route)?;
            (route.handler)(Call { request, session, route, parts, place }).await
        }),
        None => {
            let error = unknown(&request, &session, target);
            Box::pin(async { Err(error) })
        }
    }
}

/// The parts of paths of endpoints that CouchDB does not have.
const OWN: [&str; 19] = [
    "_access",
    "_aggregate",
    "_backup",
    "_branches",
    "_consumers",
    "_delete_by_query",
    "_diff",
    "_erase",
    "_expiry",
    "_history",
    "_leaves",
    "_merge",
    "_openapi.json",
    "_retention",
    "_schema",
    "_tags",
    "_tokens",
    "_topics",
    "_update_by_query",
];

/// Parameters of every endpoint that is a page too.
const OF_PAGES: [&str; 7] = ["fields", "format", "include_docs", "lang", "skip", "template", "title"];

/// Older and other names of CouchDB's parameters, and what its clients send besides.
const ALSO_KNOWN: [&str; 18] = [
    "_nonce",
    "att_encoding_info",
    "callback",
    "doc_ids",
    "end_key",
    "end_key_doc_id",
    "end_key_docid",
    "last-event-id",
    "partition",
    "revs_limit",
    "sorted",
    "stable",
    "stale",
    "start_key",
    "start_key_doc_id",
    "start_key_docid",
    "update",
    "view",
];

/// Whether some endpoint has a parameter of this name.
fn is_elsewhere(name: &str) -> bool {
    let has = |route: &Route| route.query.split_whitespace().any(|own| own.split(':').next() == Some(name));
    ROUTES.iter().any(has)
}

/// Rows whose paths may go on: what follows is a part of a name, or chooses.
const GO_ON: [&str; 11] = [
    "/_compact",
    "/_index",
    "/_list/",
    "/_partition/",
    "/_rewrite/",
    "/_shards",
    "/_show/",
    "/_stats",
    "/_topics",
    "/_update/",
    "/_view/",
];

/// Refuses what stands behind the path of an endpoint: it would be ignored, and the answer be that of the endpoint. If
/// it is a path for other methods, the answer says so.
fn check_path(route: &Route, parts: &[String]) -> Result<()> {
    let own = parts_of(route.path).len();
    let Some(part) = parts.iter().skip(own).find(|part| !part.is_empty()) else { return Ok(()) };
    if route.method == "any" || GO_ON.iter().any(|word| route.path.contains(word)) {
        return Ok(());
    }
    let is_there = |other: &&Route| {
        let named = parts_of(other.path);
        named.len() == parts.len() && named.iter().zip(parts).all(|(own, part)| own.starts_with('{') || own == part)
    };
    // Only questions that are asked together have such a path.
    if ROUTES.iter().any(|other| other.path.starts_with(route.path) && is_there(&other) && other.method == "post") {
        return Err(ApiError::method_not_allowed("POST"));
    }
    let reason = format!("There is no \"{part}\" here: the path is {}.", route.path);
    Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", reason))
}

/// Refuses a parameter that an endpoint of our own does not know. CouchDB ignores such, and its clients send some; but
/// none of them sends `at`: whoever does would take what is there now for the past.
fn check_parameters(request: &Request, route: &Route) -> Result<()> {
    let passes_on = matches!(route.path, "/_utils" | "/{db}/_design/{name}/_rewrite/{path}");
    if request.query.get("at").is_some() && !passes_on && !route.reads_the_past() {
        return Err(ApiError::bad_request("This endpoint does not read the past: it has no parameter \"at\"."));
    }
    let typed = || route.query.split_whitespace().filter_map(|named| named.split_once(':'));
    let is_word = |value: &str| value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false");
    for (name, value) in request.query.pairs() {
        // Whether a new database is partitioned is refused in CouchDB's own words.
        let is_flag = name != "partitioned" && typed().any(|own| own == (name, "boolean"));
        if is_flag && !is_word(value) {
            return Err(ApiError::query_parse(format!("Invalid boolean parameter: \"{value}\"")));
        }
    }
    // A function is given whatever stands in the query.
    let filters = request.query.get("filter").is_some_and(|name| name.contains('/') || name == "_view");
    let is_of_function =
        filters || ["_show", "_list", "_update", "_rewrite"].iter().any(|name| route.path.contains(name));
    if !is_of_function {
        let known = |name: &str| typed().any(|(own, _)| own == name) || ALSO_KNOWN.contains(&name);
        request.query.refuse_repeated(known)?;
        refuse_those_of_the_body(request, route)?;
    }
    let is_own = route.method == "patch" || parts_of(route.path).iter().any(|part| OWN.contains(part));
    let is_of_method = route.method.eq_ignore_ascii_case(request.method().as_str())
        || (route.method == "get" && request.method() == Method::HEAD);
    let named = || typed().map(|(name, _)| name);
    if is_of_method && !is_own && !is_of_function && !request.query.is_empty() {
        let known: Vec<&str> = named().chain(ALSO_KNOWN).chain(OF_PAGES).collect();
        // What another endpoint has is no misspelt word: clients send `partitioned` and others everywhere.
        let names = request.query.pairs().map(|(name, _)| name);
        return refuse_misspelt(names.filter(|name| known.contains(name) || !is_elsewhere(name)), &known);
    }
    if !is_own || !is_of_method {
        return Ok(());
    }
    let is_page = route.answers.iter().any(|(_, form)| *form == Form::List);
    let is_known =
        |name: &str| name == "fresh" || named().any(|own| own == name) || is_page && OF_PAGES.contains(&name);
    match request.query.pairs().find(|(name, _)| !is_known(name)) {
        None => Ok(()),
        Some((name, _)) => {
            let known = named().collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {known}") };
            Err(ApiError::bad_request(format!("This endpoint has no parameter \"{name}\"; {known}.")))
        }
    }
}

/// Refuses a parameter that is a member of the body: it would be ignored, and the answer be another one.
fn refuse_those_of_the_body(request: &Request, route: &Route) -> Result<()> {
    let in_query = |name: &str| {
        ALSO_KNOWN.contains(&name) || route.query.split_whitespace().any(|own| own.split(':').next() == Some(name))
    };
    let of_body = |name: &str| {
        let schema: serde_json::Value = serde_json::from_str(route.body).unwrap_or_default();
        schema["properties"].get(name).is_some()
    };
    match request.query.pairs().find(|(name, _)| !in_query(name) && of_body(name)) {
        None => Ok(()),
        Some((name, _)) => Err(ApiError::bad_request(format!(
            "This endpoint has no parameter \"{name}\": it is a member of the body."
        ))),
    }
}

/// Asks whether somebody is let in, and opens the database for them. Nothing else of the server asks for an endpoint.
async fn let_in(
    request: Request,
    session: &Session,
    Found { route, right, limited }: Found,
    parts: &[String],
) -> Result<(Request, Place)> {
    let name = parts.first().filter(|_| route.path.starts_with("/{db}"));
    let lists_accounts = name.is_some() && lists_accounts(parts);
    let opened = match (right, name) {
        (Right::Members, Some(_)) if lists_accounts && session.server_admin().is_err() => {
            Err(ApiError::not_server_admin())
        }
        (Right::Members, Some(name)) => session.database(name, Access::Member).map(Some),
        (Right::Admins, Some(name)) => session.database(name, Access::Admin).map(Some),
        (Right::Metrics, _) => session.check_metrics().map(|()| None),
        (Right::ServerAdmins, _) => session.server_admin().map(|_| None),
        _ => Ok(None),
    };
    let error = match opened {
        Ok(db) if route.reads_the_past() => {
            let db = db.map(|db| at_its_moment(&request, db)).transpose()?;
            return Ok((request, Place { db, within: None }));
        }
        Ok(db) => return Ok((request, Place { db, within: None })),
        Err(error) => error,
    };
    // A user whom the rule of the database limits, or whom nobody lets in.
    let Some(db) = name.map_or(Ok(None), |name| session.limited(name))? else { return Err(error) };
    if !limited || request.query.get("at").is_some() {
        return Err(access::refused());
    }
    let limits = access::limits(&request.app, session, db).await?;
    let db = Some(limits.db().clone());
    Ok((request, Place { db, within: Some(limits) }))
}

/// Whether a path is about all documents of a database of accounts or of replications, or about what only the server's
/// own admins read: CouchDB lets nobody else in, whoever the members are.
fn lists_accounts(parts: &[String]) -> bool {
    let mut parts = parts.iter().map(String::as_str);
    matches!(
        (parts.next(), parts.next()),
        (Some("_users" | "_replicator"), Some("_all_docs" | "_changes")) | (Some("_global_changes"), _)
    )
}

/// The refusal of a path that no row has, in CouchDB's words.
fn unknown(request: &Request, session: &Session, target: &Target<'_>) -> ApiError {
    let Some(db) = target.database() else {
        return match target {
            Target::Server { name, rest } if *request.method() == Method::PUT && rest.is_empty() => {
                session.server_admin().err().unwrap_or_else(|| ApiError::illegal_database_name(name))
            }
            _ => ApiError::no_database(),
        };
    };
    if let Err(error) = session.database(db, Access::Member) {
        return error;
    }
    match *request.method() {
        Method::GET | Method::HEAD => ApiError::missing(),
        Method::POST => ApiError::referer_required(),
        _ => ApiError::id_reserved(),
    }
}

/// Answers a request as if it had been made for the path that a design document's rules give.
async fn rewritten(mut request: Request, session: Session, db: Database, id: &str, path: &str) -> Result<Answer> {
    request.rewrites += 1;
    if request.rewrites > REWRITES_MAX {
        return Err(ApiError::bad_request("Exceeded rewrite recursion limit"));
    }
    let (to, method) = match functions::rewrite::target(&mut request, db, id, path).await? {
        Rewritten::To(to, method) => (to, method),
        Rewritten::Answer(answer) => return Ok(answer),
    };
    if let Some(method) = method {
        request.head.method = method;
    }
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
    answered(request, session, &target).await
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn row(method: &str, path: &str) -> Option<(&'static str, &'static str)> {
        let target = Target::parse(path).ok()?;
        let (room, parts) = place_of(&target)?;
        find(&room, &method.parse().ok()?, &parts).map(|found| (found.route.method, found.route.path))
    }

    #[test]
    fn a_request_has_the_row_of_its_method_and_path() {
        for (method, path, found) in [
            ("GET", "/", ("get", "/")),
            ("GET", "/_node/x/_config/a/b", ("get", "/_node/{node}/_config/{section}/{setting}")),
            ("GET", "/_node/x/_smoosh/status", ("any", "/_node/{node}/_smoosh")),
            ("GET", "/_node/x/_none", ("any", "/_node/{node}")),
            ("GET", "/_utils/db/doc/a", ("any", "/_utils")),
            ("POST", "/db", ("post", "/{db}")),
            ("HEAD", "/db", ("head", "/{db}")),
            ("GET", "/db/a", ("get", "/{db}/{id}")),
            ("COPY", "/db/a", ("copy", "/{db}/{id}")),
            ("GET", "/db/_design/x", ("get", "/{db}/_design/{name}")),
            ("HEAD", "/db/_design/x", ("get", "/{db}/_design/{name}")),
            ("PUT", "/db/_local/x", ("put", "/{db}/_local/{name}")),
            ("GET", "/db/a/b/c.txt", ("get", "/{db}/{id}/{attachment}")),
            ("GET", "/db/a/_history", ("get", "/{db}/{id}/_history")),
            ("GET", "/db/_design/x/a/b.txt", ("any", "/{db}/_design/{name}/{attachment}")),
            ("GET", "/db/_design/x/_view/v", ("get", "/{db}/_design/{name}/_view/{view}")),
            ("POST", "/db/_design/x/_view/v/queries", ("post", "/{db}/_design/{name}/_view/{view}/queries")),
            ("GET", "/db/_design/x/_show/s", ("get", "/{db}/_design/{name}/_show/{function}/{id}")),
            ("GET", "/db/_design/x/_rewrite/a/b", ("get", "/{db}/_design/{name}/_rewrite/{path}")),
            ("POST", "/db/_index/_bulk_delete", ("post", "/{db}/_index/_bulk_delete")),
            ("DELETE", "/db/_index/a/json/i", ("delete", "/{db}/_index/{design}/json/{name}")),
            ("POST", "/db/_consumers/c/fetch", ("post", "/{db}/_consumers/{consumer}/fetch")),
            ("GET", "/db/_partition/p/_all_docs", ("get", "/{db}/_partition/{partition}/_all_docs")),
        ] {
            assert_eq!(row(method, path), Some(found), "{method} {path}");
        }
        for path in ["/_none", "/db/_none"] {
            assert_eq!(row("GET", path), None, "{path}");
        }
    }

    /// docs/internals/endpoints.md, which is written anew if `UPDATE_ENDPOINTS` is set.
    #[test]
    fn the_list_of_endpoints_is_that_of_the_table() {
        let mut text = "# Endpoints\n\nMade from `crates/recension-server/src/routes/table.rs`: `UPDATE_ENDPOINTS=1 \
                        cargo test -p recension-server --lib routes`.\n\n| method | path | for | limited users | \
                        |\n|---|---|---|---|---|\n"
            .to_owned();
        for Route { method, path, right, limited, summary, .. } in ROUTES {
            let (method, right) = (method.to_ascii_uppercase(), right.name());
            let limited = if *limited { "yes" } else { "" };
            writeln!(text, "| {method} | `{path}` | {right} | {limited} | {summary} |").unwrap();
        }
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/endpoints.md");
        if std::env::var_os("UPDATE_ENDPOINTS").is_some() {
            std::fs::write(&file, &text).unwrap();
        }
        assert!(std::fs::read_to_string(&file).unwrap_or_default() == text, "docs/internals/endpoints.md is old");
    }

    #[test]
    fn every_row_is_found_by_its_own_path() {
        for route in ROUTES.iter().filter(|route| route.method != "any") {
            let path = route.path.replace(['{', '}'], "");
            let method = route.method.to_ascii_uppercase();
            assert_eq!(row(&method, &path), Some((route.method, route.path)), "{method} {path}");
        }
    }
}
