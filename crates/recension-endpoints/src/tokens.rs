//! `/_tokens`: API tokens for programs. CouchDB has none.

use std::time::Duration;

use http::{Method, StatusCode};
use serde::Deserialize;

use recension_app::auth::Session;
use recension_app::auth::tokens::{self, Rights, Wanted};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::object_of;

/// Longest request, in bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    name: String,
    #[serde(default)]
    databases: Vec<String>,
    rights: Rights,
    expires_seconds: Option<u64>,
}

/// `GET` lists the tokens, `POST` makes one and answers its text, `DELETE` revokes one. Server admins only.
pub async fn endpoint(mut request: Request, session: &Session, rest: &[&str]) -> Result<Answer> {
    let proof = session.server_admin()?;
    let store = request.app.databases.store(proof);
    match (request.method(), rest) {
        (&Method::GET, []) => {
            let all = request.app.blocking(move || Ok(tokens::list(&store)?)).await?;
            Ok(Answer::ok(format!("{{\"tokens\":{}}}", json(&all)?)))
        }
        (&Method::POST, []) => {
            let body = request.bytes_up_to(BODY_BYTES_MAX).await?;
            let Body { name, databases, rights, expires_seconds } = object_of(&body)?;
            let wanted = Wanted { name, databases, rights, ends_after: expires_seconds.map(Duration::from_secs) };
            let (text, token) = request.app.blocking(move || Ok(tokens::create(&store, &wanted)?)).await?;
            let told = json(&token)?;
            let told = told.strip_prefix('{').unwrap_or("}");
            Ok(Answer::json(StatusCode::CREATED, format!("{{\"ok\":true,\"token\":\"{text}\",{told}")))
        }
        (&Method::DELETE, [id]) => {
            let id = (*id).to_owned();
            let revoked = request.app.blocking(move || Ok(tokens::revoke(&store, &id)?)).await?;
            if revoked { Ok(Answer::ok(r#"{"ok":true}"#)) } else { Err(ApiError::missing()) }
        }
        (_, []) => Err(ApiError::method_not_allowed("GET,POST")),
        (_, [_]) => Err(ApiError::method_not_allowed("DELETE")),
        _ => Err(ApiError::missing()),
    }
}

/// JSON of what can be JSON.
fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|_| ApiError::bad_json())
}
