//! `/{db}/_access`: the rule of a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Method;
use recension::json::quote;
use recension::limits::INDEX_PARTS_MAX;

use super::rule::Rule;
use recension_app::auth::databases::Database;
use recension_app::auth::{Access, Session, users};
use recension_app::identity::security::ACCESS;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `GET` answers the rule, `PUT` sets it, `DELETE` removes it. For admins of the database.
pub async fn endpoint(mut request: Request, session: Session, name: &str) -> Result<Answer> {
    let db = session.database(name, Access::Admin)?;
    let rule = match *request.method() {
        Method::GET => {
            let none = || ApiError::new(http::StatusCode::NOT_FOUND, "not_found", "The database has no access rule.");
            let rule = db.setting(ACCESS)?.ok_or_else(none)?;
            return Ok(Answer::ok(if request.query.is_true("explain") { explained(&db, &rule)? } else { rule }));
        }
        Method::PUT => {
            request.require_json()?;
            let body = request.bytes_up_to(recension::limits::SETTING_BYTES_MAX).await?;
            let text = std::str::from_utf8(&body).map_err(|_| ApiError::bad_json())?;
            if name == users::DATABASE {
                return Err(ApiError::forbidden("The database of users has rules of its own."));
            }
            Some(Rule::read(text)?)
        }
        Method::DELETE => None,
        _ => return Err(ApiError::method_not_allowed("PUT,GET,DELETE")),
    };
    db.keeps_rights()?;
    let collection = db.share();
    // What the rule hides is hidden from here on; the index makes it quick.
    let keep = move || {
        collection.settings().set(ACCESS, rule.as_ref().map(Rule::to_json).as_deref())?;
        let paths = rule.as_ref().and_then(Rule::paths).filter(|paths| paths.len() <= INDEX_PARTS_MAX);
        Ok(collection.settings().set_access(&paths.unwrap_or_default())?)
    };
    request.app.blocking(keep).await?;
    let (collection, app) = (db.share(), Arc::clone(&request.app));
    tokio::spawn(async move {
        let stop = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&stop);
        let build = app.blocking(move || Ok(collection.settings().build_access(&own)?));
        tokio::pin!(build);
        let built = tokio::select! {
            built = &mut build => built,
            () = app.stopped() => {
                stop.store(true, Ordering::Release);
                build.await
            }
        };
        if let Err(error) = built {
            let reason = &error.reason;
            tracing::warn!(%reason, "an index of access was not made; whoever opens the store goes on with it");
        }
    });
    Ok(Answer::ok(r#"{"ok":true}"#))
}

/// The rule, and how the documents are found that it lets through.
fn explained(db: &Database, rule: &str) -> Result<String> {
    let paths = Rule::read(rule)?.paths();
    let building = || Ok::<_, recension_wire::error::ApiError>(db.now()?.access()?.is_none());
    let (reads, why) = match &paths {
        None => ("every document", "the rule asks for other things than equality of members"),
        Some(paths) if paths.len() > INDEX_PARTS_MAX => ("every document", "the rule names more than 16 members"),
        Some(_) if building()? => ("every document", "the index of access is being built"),
        Some(_) => ("the index of access", "a document has to have one of some values at these paths"),
    };
    let paths: Vec<String> = paths.unwrap_or_default().iter().map(|path| quote(&path.to_string())).collect();
    Ok(format!("{{\"rule\":{rule},\"reads\":{},\"why\":{},\"paths\":[{}]}}", quote(reads), quote(why), paths.join(",")))
}
