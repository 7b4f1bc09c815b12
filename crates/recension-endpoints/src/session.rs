//! `/_session`: the present user, logging in, and logging out.

use http::StatusCode;
use http::header::{CONTENT_TYPE, LOCATION, SET_COOKIE};
use recension::json::quote;

use super::body::refuse_repeated;
use recension_app::auth::{Session, log_in, sessions};
use recension_app::identity::Identity;
use recension_app::request::{Request, absolute, is_secure};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::SESSION_BODY_BYTES_MAX;
use recension_wire::query::Query;

/// `/_session`
pub async fn endpoint(request: Request, session: &Session) -> Result<Answer> {
    match request.method().as_str() {
        "GET" | "HEAD" if request.query.is_true("basic") && session.identity().name.is_none() => {
            Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "Please login."))
        }
        "GET" | "HEAD" => Ok(who(&request, session)),
        "POST" => log_in(request).await,
        "DELETE" => {
            let no_cookie = sessions::no_cookie(&request.app.settings.live(), is_secure(&request));
            Ok(to(&request, "next", Answer::ok(r#"{"ok":true}"#))?.with(SET_COOKIE, no_cookie))
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
    let live = app.settings.live();
    let account = match log_in::check(&app.realm, request.connection.address(), &name, &password).await {
        Ok(account) => account,
        // Who cannot log in is logged out.
        Err(error) if error == ApiError::bad_password() => {
            let answer = to(&request, "fail", Answer::from(error))?;
            return Ok(answer.with(SET_COOKIE, sessions::no_cookie(&live, is_secure(&request))));
        }
        Err(error) => return Err(error),
    };
    let cookie = sessions::cookie(&live, is_secure(&request), &name, account.verifier.salt());
    let text = format!("{{\"ok\":true,\"name\":{},\"roles\":[{}]}}", quote(&name), quoted(&account.identity.roles));
    Ok(to(&request, "next", Answer::ok(text))?.with(SET_COOKIE, cookie))
}

/// Name and password, from a form or from JSON. `username` is another name for `name`.
fn pair(request: &Request, body: &[u8]) -> Result<(String, String)> {
    let content_type = request.header(CONTENT_TYPE).unwrap_or_default().trim_start().to_ascii_lowercase();
    let fields: Vec<(String, String)> = if content_type.starts_with("application/json") {
        let members: serde_json::Map<String, serde_json::Value> =
            serde_json::from_slice(body).map_err(|_| ApiError::bad_json())?;
        refuse_repeated(body)?;
        let text = |(name, value): (String, serde_json::Value)| Some((name, value.as_str()?.to_owned()));
        members.into_iter().filter_map(text).collect()
    } else if content_type.starts_with("application/x-www-form-urlencoded") {
        let form = Query::form(std::str::from_utf8(body).map_err(|_| ApiError::bad_target())?)?;
        form.refuse_repeated(|name| matches!(name, "name" | "username" | "password"))?;
        form.pairs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    } else {
        return Err(ApiError::content_type_no_form());
    };
    let text = |name: &str| fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let name = match (text("name"), text("username")) {
        (Some(name), Some(other)) if name != other => {
            return Err(ApiError::bad_request("request body contains different usernames"));
        }
        (Some(name), _) | (None, Some(name)) => name,
        (None, None) => return Err(ApiError::bad_request("request body must contain a username")),
    };
    Ok((name, text("password").unwrap_or_default()))
}

/// An answer, or the same as a redirection to the path of this server that a parameter names. Another server's is
/// refused, and where it would lead is not said: a page could else send people with a link that seems to be ours.
fn to(request: &Request, parameter: &str, answer: Answer) -> Result<Answer> {
    match request.query.get(parameter) {
        Some(path) if is_own_path(path) => {
            Ok(Answer { status: StatusCode::FOUND, ..answer }.with(LOCATION, absolute(request, path)))
        }
        Some(_) => Err(ApiError::bad_request("path must begin with a /.")),
        None => Ok(answer),
    }
}

/// Whether a text is a path of this server. Browsers read `//host` and `/\host` as another server.
pub fn is_own_path(next: &str) -> bool {
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
