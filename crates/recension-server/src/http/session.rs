//! `/_session`: the present user, logging in, and logging out.

use http::StatusCode;
use http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use recension::json::quote;

use crate::answer::Answer;
use crate::auth::{Session, log_in, sessions};
use crate::error::{ApiError, Result};
use crate::identity::Identity;
use crate::limits::SESSION_BODY_BYTES_MAX;
use crate::query::Query;
use crate::request::{Request, absolute, is_secure};

/// `/_session`
pub(crate) async fn endpoint(request: Request, session: &Session) -> Result<Answer> {
    match request.method().as_str() {
        "GET" | "HEAD" => Ok(who(&request, session)),
        "POST" => log_in(request).await,
        "DELETE" => {
            let no_cookie = sessions::no_cookie(&request.app.settings.live(), is_secure(&request));
            Ok(on(&request, r#"{"ok":true}"#.to_owned()).with(SET_COOKIE, no_cookie))
        }
        _ => Err(ApiError::method_not_allowed("GET,HEAD,POST,DELETE")),
    }
}

fn who(request: &Request, session: &Session) -> Answer {
    let Identity { name, roles } = session.identity();
    let name = name.as_deref().map_or_else(|| "null".to_owned(), quote);
    let authenticated = session.handler().map_or_else(String::new, |by| format!(",\"authenticated\":\"{by}\""));
    let bearer = if request.app.settings.live().jwt.is_empty() { "" } else { "\"jwt\"," };
    Answer::ok(format!(
        "{{\"ok\":true,\"userCtx\":{{\"name\":{name},\"roles\":[{}]}},\"info\":{{\"authentication_handlers\":\
         [\"cookie\",{bearer}\"default\"]{authenticated}}}}}",
        quoted(roles)
    ))
}

fn quoted(roles: &[String]) -> String {
    roles.iter().map(|role| quote(role)).collect::<Vec<_>>().join(",")
}

async fn log_in(mut request: Request) -> Result<Answer> {
    let body = request.bytes_up_to(SESSION_BODY_BYTES_MAX).await?;
    let (name, password) = pair(&request, &body)?;
    let app = request.app.clone();
    let account = log_in::check(&app.realm, request.connection.address(), &name, &password).await?;
    let cookie = sessions::cookie(&app.settings.live(), is_secure(&request), &name, account.verifier.salt());
    let text = format!("{{\"ok\":true,\"name\":{},\"roles\":[{}]}}", quote(&name), quoted(&account.identity.roles));
    Ok(on(&request, text).with(SET_COOKIE, cookie))
}

/// Name and password, from a form or from JSON. In JSON, `username` is another name for `name`.
fn pair(request: &Request, body: &[u8]) -> Result<(String, String)> {
    let content_type = request.header(CONTENT_TYPE).unwrap_or_default();
    if content_type.trim_start().to_ascii_lowercase().starts_with("application/json") {
        let body: serde_json::Value = serde_json::from_slice(body).map_err(|_| ApiError::bad_json())?;
        let text = |key: &str| body.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        let name = text("name").or_else(|| text("username")).unwrap_or_default();
        return Ok((name, text("password").unwrap_or_default()));
    }
    let form = Query::parse(std::str::from_utf8(body).map_err(|_| ApiError::bad_target())?)?;
    let text = |key: &str| form.get(key).map(str::to_owned);
    Ok((text("name").or_else(|| text("username")).unwrap_or_default(), text("password").unwrap_or_default()))
}

/// An answer, or a redirection to `next`, if that is a path of this server.
fn on(request: &Request, text: String) -> Answer {
    let next = request.query.get("next").filter(|next| is_own_path(next));
    match next {
        Some(next) => Answer::json(StatusCode::FOUND, text).with(LOCATION, absolute(request, next)),
        None => Answer::ok(text),
    }
}

/// Browsers read `//host` and `/\host` as another server.
fn is_own_path(next: &str) -> bool {
    next.starts_with('/') && !next[1..].starts_with(['/', '\\']) && !next.chars().any(|c| c.is_control() || c == '\\')
}

#[cfg(test)]
mod tests {
    #[test]
    fn next_leads_to_no_other_server() {
        for (next, own) in
            [("/db/_design/x", true), ("/", true), ("//evil.example", false), ("/\\evil", false), ("http://e", false)]
        {
            assert_eq!(super::is_own_path(next), own, "{next}");
        }
    }
}
