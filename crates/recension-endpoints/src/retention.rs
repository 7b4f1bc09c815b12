//! `/{db}/_retention`: how much of its documents' past a database keeps. CouchDB has none.

use http::Method;
use recension::engine::Retention;
use recension::json::quote;

use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::value_of;

/// Longest rule, in bytes.
const RULE_BYTES_MAX: usize = 1024;

/// `GET` answers the rule as a JSON string, `PUT` takes one: `"everything"`, `"head"`, `"versions=3"`, `"days=30"`,
/// `"duration=12h"`. Only admins of the database set it: a narrower rule gives up a part of the past for good.
pub async fn endpoint(mut request: Request, session: Session, db: &str) -> Result<Answer> {
    match *request.method() {
        Method::GET => {
            let collection = session.database(db, Access::Member)?.share();
            let rule = request.app.blocking(move || Ok(collection.settings().retention()?)).await?;
            Ok(Answer::ok(quote(&rule.to_string())))
        }
        Method::PUT => {
            let collection = session.database(db, Access::Admin)?.share();
            let body = request.bytes_up_to(RULE_BYTES_MAX).await?;
            let text: String = value_of(&body, "a JSON string, such as \"versions=3\" or \"days=30\"")?;
            let rule: Retention = text
                .parse()
                .map_err(|error: recension::engine::BadRetention| ApiError::bad_request(error.to_string()))?;
            request.app.blocking(move || Ok(collection.settings().set_retention(rule)?)).await?;
            Ok(Answer::ok(r#"{"ok":true}"#))
        }
        _ => Err(ApiError::method_not_allowed("PUT,GET")),
    }
}
