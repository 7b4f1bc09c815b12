//! The request as functions see it: CouchDB's request object.

use http::header::{CONTENT_TYPE, COOKIE, HOST};
use serde_json::{Map, Value, json};

use crate::database;
use crate::within::Within;
use recension_app::auth::databases::{Database, user_context};
use recension_app::identity::random::new_uuid;
use recension_app::identity::security;
use recension_app::request::Request;
use recension_wire::error::Result;
use recension_wire::query::Query;

/// A request, as functions see it.
pub(crate) struct RequestObject(Value);

impl RequestObject {
    /// The object of a request with its body. `id`: the document that it is about. Somebody with limits is told neither
    /// the database's counts nor who its members are.
    pub(crate) fn of(
        request: &Request,
        db: &Database,
        id: Option<&str>,
        body: &[u8],
        within: Option<&dyn Within>,
    ) -> Result<Self> {
        let path = request.head.uri.path();
        let parts: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| recension_wire::route::decode(part).unwrap_or_else(|_| part.to_owned()))
            .collect();
        let headers: Map<String, Value> = request
            .head
            .headers
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "authorization" | "proxy-authorization" | "cookie"))
            .filter_map(|(name, value)| Some((title(name.as_str()), value.to_str().ok()?.into())))
            .collect();
        let is_form = request
            .header(CONTENT_TYPE)
            .is_some_and(|own| own.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded"));
        let text = String::from_utf8_lossy(body);
        let form = if is_form { object(&Query::form(&text)?) } else { json!({}) };
        let info = within.map_or_else(|| database::info(db), |within| Ok(within.info()))?;
        let info: Value = serde_json::from_str(&info).unwrap_or_default();
        let user: Value = serde_json::from_str(&user_context(db.writer(), db.name())).unwrap_or_default();
        let security = if within.is_some() { None } else { db.setting(security::SETTING)? };
        let security = security.and_then(|text| serde_json::from_str::<Value>(&text).ok());
        let raw = request.head.uri.path_and_query().map_or(path, http::uri::PathAndQuery::as_str);
        Ok(RequestObject(json!({
            "info": info,
            "id": id,
            "uuid": new_uuid(),
            "method": request.method().as_str(),
            "requested_path": parts,
            "path": parts,
            "raw_path": raw,
            "query": object(&request.query),
            "headers": headers,
            "body": if body.is_empty() && request.method() == http::Method::GET { "undefined".into() } else { text },
            "peer": request.connection.address().map(|address| address.to_string()).unwrap_or_default(),
            "form": form,
            "cookie": cookies(request),
            "userCtx": user,
            "secObj": security.unwrap_or_else(|| json!({})),
            "host": request.header(HOST).unwrap_or_default(),
        })))
    }

    /// As JSON.
    pub(crate) fn json(&self) -> String {
        self.0.to_string()
    }
}

fn object(query: &Query) -> Value {
    let pairs = query.pairs().map(|(name, value)| (name.to_owned(), Value::from(value)));
    Value::Object(pairs.collect())
}

/// Cookies, except those that log in.
fn cookies(request: &Request) -> Value {
    let text = request.header(COOKIE).unwrap_or_default();
    let pairs = text.split(';').filter_map(|pair| pair.trim().split_once('='));
    let own = pairs.filter(|(name, _)| *name != "AuthSession");
    Value::Object(own.map(|(name, value)| (name.to_owned(), value.into())).collect())
}

/// `content-type` as `Content-Type`, as functions look for it.
fn title(name: &str) -> String {
    let capital =
        |part: &str| part.get(..1).unwrap_or_default().to_ascii_uppercase() + part.get(1..).unwrap_or_default();
    name.split('-').map(capital).collect::<Vec<_>>().join("-")
}

/// A document for a function: `null` if there is none.
pub(crate) fn document(db: &Database, id: Option<&str>, within: Option<&dyn Within>) -> Result<String> {
    let Some(id) = id else { return Ok("null".to_owned()) };
    let found = match within {
        Some(within) => within.document(id)?,
        None => db.opened().get(id)?.map(|document| document.to_json()),
    };
    Ok(found.unwrap_or_else(|| "null".to_owned()))
}
