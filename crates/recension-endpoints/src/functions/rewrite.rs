//! `_rewrite`: the target of a request, by the rules of a design document, or by its function.

use http::{HeaderName, Method, StatusCode};
use serde_json::{Map, Value};

use super::answered::answer;
use super::called::{ask, script};
use super::requested::RequestObject;
use recension_app::auth::databases::Database;
use recension_app::functions;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// The outcome of a rewrite.
pub enum Rewritten {
    /// The path and query that the request means, and the method, if the function gives another one.
    To(String, Option<Method>),
    /// The function answers itself.
    Answer(Answer),
}

/// Headers of a request that a function may replace.
const REPLACEABLE: [&str; 7] =
    ["accept", "accept-encoding", "accept-language", "content-type", "destination", "if-match", "if-none-match"];

/// The target of a request below `_rewrite`. A function may replace the request's body and some of its headers.
pub async fn target(request: &mut Request, db: Database, design: &str, path: &str) -> Result<Rewritten> {
    let own = functions::design(&db, design)?;
    let missing = || ApiError::new(StatusCode::NOT_FOUND, "rewrite_error", "Invalid path.");
    let rules = own.get("rewrites").cloned().ok_or_else(missing)?;
    let query: Map<String, Value> =
        request.query.pairs().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let (to, query, method) = match &rules {
        Value::Array(rules) => {
            let (to, query) = by_rules(rules, request.method(), path, &query).ok_or_else(ApiError::missing)?;
            (to, query, None)
        }
        Value::String(_) => {
            let body = request.bytes().await?;
            request.body.replace(body.clone());
            let req = RequestObject::of(request, &db, None, &body, None)?;
            let script = script(request, &db, design, &["rewrites"])?;
            let made = ask(request, script, "rewrite", vec![("req", req.json())]).await?;
            match made {
                Value::String(to) => (to, query, None),
                Value::Object(made) if made.contains_key("code") => {
                    return Ok(Rewritten::Answer(answer(&Value::Object(made), StatusCode::OK)?));
                }
                Value::Object(made) => by_function(request, &made, query)?,
                _ => return Err(missing()),
            }
        }
        _ => return Err(missing()),
    };
    let base = format!("/{}/{design}", encode(db.name()));
    let path = resolved(&base, &to);
    let pairs: Vec<String> = query
        .iter()
        .map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            format!("{}={}", encode(name), encode(&value))
        })
        .collect();
    Ok(Rewritten::To(if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) }, method))
}

/// The target that a function gives as an object; it applies what the object says of body and headers. Without a query
/// of its own, that of the request stays.
fn by_function(
    request: &mut Request,
    made: &Map<String, Value>,
    query: Map<String, Value>,
) -> Result<(String, Map<String, Value>, Option<Method>)> {
    let failed = |reason: String| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "rewrite_error", reason);
    let to = made.get("path").and_then(Value::as_str);
    let to = to.ok_or_else(|| failed("Rewrite result must produce a new path.".to_owned()))?;
    let method = made.get("method").and_then(Value::as_str).map(str::parse::<Method>).transpose();
    let method = method.map_err(|_| failed("`method` is no method".to_owned()))?;
    for (name, value) in made.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let header = name.parse::<HeaderName>().ok().filter(|name| REPLACEABLE.contains(&name.as_str()));
        let header = header.ok_or_else(|| {
            let shown: String = name.chars().take(80).collect();
            failed(format!("the function sets the header {shown:?}; it may set {}", REPLACEABLE.join(", ")))
        })?;
        let value = value.as_str().and_then(|value| value.parse().ok());
        request.head.headers.insert(header, value.ok_or_else(|| failed(format!("the header {name} is no text")))?);
    }
    if let Some(body) = made.get("body").and_then(Value::as_str) {
        request.body.replace(body.to_owned().into());
    }
    let query = made.get("query").and_then(Value::as_object).cloned().unwrap_or(query);
    Ok((to.to_owned(), query, method))
}

/// The target and query of the first rule that fits. Pure.
fn by_rules(
    rules: &[Value],
    method: &Method,
    path: &str,
    query: &Map<String, Value>,
) -> Option<(String, Map<String, Value>)> {
    rules.iter().find_map(|rule| {
        let text = |name: &str| rule.get(name).and_then(Value::as_str);
        let wanted = text("method").unwrap_or("*");
        if wanted != "*" && !wanted.eq_ignore_ascii_case(method.as_str()) {
            return None;
        }
        let mut bound = matched(text("from")?, path)?;
        for (name, value) in query {
            if let Some(value) = value.as_str() {
                bound.push((format!(":{name}"), value.to_owned()));
            }
        }
        let fill = |part: &str| {
            let value = bound.iter().find(|(name, _)| name == part).map(|(_, value)| value.clone());
            value.unwrap_or_else(|| part.to_owned())
        };
        let to = text("to")?.split('/').map(fill).collect::<Vec<_>>().join("/");
        let mut all = query.clone();
        for (name, value) in rule.get("query").and_then(Value::as_object).into_iter().flatten() {
            all.insert(name.clone(), filled(value, &fill));
        }
        for (name, value) in &bound {
            if let Some(name) = name.strip_prefix(':') {
                all.entry(name).or_insert_with(|| value.as_str().into());
            }
        }
        Some((to, all))
    })
}

fn filled(value: &Value, fill: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => fill(text).into(),
        Value::Array(values) => {
            // Keys are JSON: a string in them stays a string.
            Value::Array(values.iter().map(|value| filled(value, fill)).collect())
        }
        other => other.clone(),
    }
}

/// The variables of a pattern and their values, if a path fits the pattern. Pure.
fn matched(pattern: &str, path: &str) -> Option<Vec<(String, String)>> {
    let parts =
        |text: &str| -> Vec<String> { text.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect() };
    let (pattern, path) = (parts(pattern), parts(path));
    let mut bound = Vec::new();
    for (at, own) in pattern.iter().enumerate() {
        if own == "*" {
            bound.push(("*".to_owned(), path.get(at..)?.join("/")));
            return Some(bound);
        }
        let part = path.get(at)?;
        if own.starts_with(':') {
            bound.push((own.clone(), part.clone()));
        } else if own != part {
            return None;
        }
    }
    (pattern.len() == path.len()).then_some(bound)
}

/// A path relative to another. It does not leave the server. Pure.
fn resolved(base: &str, to: &str) -> String {
    let mut parts: Vec<&str> = if to.starts_with('/') { Vec::new() } else { base.split('/').collect() };
    for part in to.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_rule_that_fits_says_where_a_request_goes() {
        let rules = json!([
            { "from": "/", "to": "index.html" },
            { "from": "/blog/:id", "to": "_show/post/:id", "method": "GET" },
            { "from": "/tag/:tag", "to": "_view/tags", "query": { "key": ":tag", "limit": 5 } },
            { "from": "/db/*", "to": "../../*" }
        ]);
        let rules = rules.as_array().unwrap();
        let go = |method: Method, path| by_rules(rules, &method, path, &Map::new());
        assert_eq!(go(Method::GET, "").unwrap().0, "index.html");
        assert_eq!(go(Method::GET, "blog/7").unwrap().0, "_show/post/7");
        assert!(go(Method::POST, "blog/7").is_none());
        let (to, query) = go(Method::GET, "tag/x").unwrap();
        assert_eq!((to.as_str(), query["key"].as_str(), query["limit"].as_i64()), ("_view/tags", Some("x"), Some(5)));
        let (to, _) = go(Method::GET, "db/a/b").unwrap();
        assert_eq!(resolved("/db/_design/d", &to), "/db/a/b");
        assert_eq!(resolved("/db/_design/d", "../../../../../x"), "/x");
    }
}
