//! `/{db}/_expiry`: which member of a database's documents says when they are deleted. CouchDB has none.

use http::Method;
use recension::json::quote;

use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::value_of;

/// Longest rule, in bytes.
const RULE_BYTES_MAX: usize = 8 * 1024;

/// `GET` answers the path as a JSON string, or `null`; `PUT` takes one of the two. The member is a number of seconds
/// since 1970. Only admins of the database set it: it deletes documents.
pub async fn endpoint(mut request: Request, session: Session, db: &str) -> Result<Answer> {
    match *request.method() {
        Method::GET => {
            let collection = session.database(db, Access::Member)?.share();
            let path = request.app.blocking(move || Ok(collection.settings().expiry()?)).await?;
            Ok(Answer::ok(path.as_deref().map_or_else(|| "null".to_owned(), quote)))
        }
        Method::PUT => {
            let collection = session.database(db, Access::Admin)?.share();
            let body = request.bytes_up_to(RULE_BYTES_MAX).await?;
            let path: Option<String> = value_of(&body, "a JSON string, the path of a member, or null")?;
            request.app.blocking(move || Ok(collection.settings().set_expiry(path.as_deref())?)).await?;
            Ok(Answer::ok(r#"{"ok":true}"#))
        }
        _ => Err(ApiError::method_not_allowed("PUT,GET")),
    }
}
