//! `/{db}/_security`. `identity/security.rs` says what it means.

use http::Method;

use recension_app::auth::users::DATABASE;
use recension_app::auth::{Access, Session};
use recension_app::identity::security::{DEFAULT, SETTING, Security};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}/_security`
pub async fn endpoint(mut request: Request, session: Session, db: &str) -> Result<Answer> {
    match *request.method() {
        Method::GET | Method::HEAD => {
            let text = session.database(db, Access::Member)?.setting(SETTING)?;
            Ok(Answer::ok(text.unwrap_or_else(|| DEFAULT.to_owned())))
        }
        Method::PUT => {
            if db == DATABASE && !request.app.settings.live().users_security_editable {
                session.database(db, Access::Admin)?;
                return Err(ApiError::users_security_fixed());
            }
            let db = session.database(db, Access::Admin)?;
            db.keeps_rights()?;
            let body = request.bytes().await?;
            Security::check(&body)?;
            let text = recension::json::minify(&body).map_err(|_| ApiError::bad_json())?;
            let collection = db.share();
            request.app.blocking(move || Ok(collection.settings().set(SETTING, Some(&text))?)).await?;
            Ok(Answer::ok(r#"{"ok":true}"#))
        }
        _ => Err(ApiError::method_not_allowed("PUT,GET")),
    }
}
