//! `_erase`: erased documents leave every moment of the store. The log of erasures has times and no ids.

use http::{Method, StatusCode};
use recension::format_time;
use serde::Deserialize;

use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::ERASED_DOCUMENTS_MAX;
use recension_wire::members::object_of;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EraseRequest {
    ids: Vec<String>,
}

/// `/{db}/_erase`
pub async fn endpoint(mut request: Request, session: Session, db: &str) -> Result<Answer> {
    session.server_admin()?;
    let collection = session.database(db, Access::Admin)?.share();
    match *request.method() {
        Method::GET => {
            let list = move || {
                let erasures = collection.erasures()?;
                let rows: Vec<String> = erasures
                    .iter()
                    .map(|one| {
                        let time = format_time(one.time);
                        format!("{{\"seq\":\"{}\",\"time\":\"{time}\",\"documents\":{}}}", one.seq, one.documents)
                    })
                    .collect();
                Ok(Answer::ok(format!("{{\"erasures\":[{}]}}", rows.join(","))))
            };
            request.app.blocking(list).await
        }
        Method::POST => {
            request.require_json()?;
            let settle = request.query.flag("settle")?;
            let asked: EraseRequest = object_of(&request.bytes().await?).map_err(|_| {
                ApiError::bad_request("An object was expected, with `ids`, an array of strings, and nothing else.")
            })?;
            if asked.ids.is_empty() || asked.ids.len() > ERASED_DOCUMENTS_MAX {
                let reason = format!("`ids` has 1 to {ERASED_DOCUMENTS_MAX} ids of documents.");
                return Err(ApiError::bad_request(reason));
            }
            let scripts = std::sync::Arc::clone(&request.app.scripts);
            let erase = move || {
                let erased = collection.erase(asked.ids)?;
                scripts.forget();
                if settle {
                    collection.store().compact()?;
                }
                let text = format!(
                    "{{\"ok\":true,\"erased\":{},\"seq\":\"{}\",\"settled\":{settle}}}",
                    erased.documents, erased.seq
                );
                Ok(Answer::json(StatusCode::OK, text))
            };
            request.app.blocking(erase).await
        }
        _ => Err(ApiError::method_not_allowed("GET,POST")),
    }
}
