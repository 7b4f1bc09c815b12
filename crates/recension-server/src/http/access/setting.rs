//! `/{db}/_access`: the rule of a database.

use http::Method;

use super::rule::Rule;
use crate::answer::Answer;
use crate::auth::security::ACCESS;
use crate::auth::{Access, Session, users};
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `GET` answers the rule, `PUT` sets it, `DELETE` removes it. For admins of the database.
pub(crate) async fn endpoint(mut request: Request, session: Session, name: &str) -> Result<Answer> {
    let db = session.database(name, Access::Admin)?;
    let rule = match *request.method() {
        Method::GET => {
            let none = || ApiError::new(http::StatusCode::NOT_FOUND, "not_found", "The database has no access rule.");
            return Ok(Answer::ok(db.setting(ACCESS)?.ok_or_else(none)?));
        }
        Method::PUT => {
            request.require_json()?;
            let body = request.bytes_up_to(recension::document::limits::SETTING_BYTES_MAX).await?;
            let text = std::str::from_utf8(&body).map_err(|_| ApiError::bad_json())?;
            if name == users::DATABASE {
                return Err(ApiError::forbidden("The database of users has rules of its own."));
            }
            Some(Rule::read(text)?.to_json())
        }
        Method::DELETE => None,
        _ => return Err(ApiError::method_not_allowed("PUT,GET,DELETE")),
    };
    let collection = db.share();
    request.app.blocking(move || Ok(collection.set_setting(ACCESS, rule.as_deref())?)).await?;
    Ok(Answer::ok(r#"{"ok":true}"#))
}
