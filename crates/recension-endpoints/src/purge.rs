//! `_purge`, `_purged_infos`, `_purged_infos_limit`.

use http::{Method, StatusCode};
use recension::RevId;
use recension::json::quote;

use super::body::ids_and_revs;
use super::maintenance::number;
use super::revisions::quoted;
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{PURGED_DOCUMENTS_MAX, PURGED_REVISIONS_MAX};

/// `/{db}/_purge` and its log
pub async fn endpoint(mut request: Request, session: Session, db: &str, name: &str) -> Result<Answer> {
    match (name, request.method()) {
        ("_purge", _) => {
            only(&request, "POST")?;
            session.server_admin()?;
            let db = session.database(db, Access::Admin)?;
            let collection = db.share();
            request.require_json()?;
            let asked = ids_and_revs(&request.bytes().await?)?;
            asked.iter().try_for_each(|(id, _)| db.check_id(id))?;
            if asked.len() > PURGED_DOCUMENTS_MAX {
                return Err(ApiError::bad_request("Exceeded maximum number of documents."));
            }
            if asked.iter().map(|(_, revs)| revs.len()).sum::<usize>() > PURGED_REVISIONS_MAX {
                return Err(ApiError::bad_request("Exceeded maximum number of revisions."));
            }
            request
                .app
                .blocking(move || {
                    let purged = collection.replication().purge_many(&asked)?;
                    let rows: Vec<String> = asked.iter().zip(&purged).map(|((id, _), revs)| row(id, revs)).collect();
                    // As CouchDB sends it, since it is distributed: clients read a number or nothing.
                    let text = format!("{{\"purge_seq\":null,\"purged\":{{{}}}}}", rows.join(","));
                    Ok(Answer::json(StatusCode::CREATED, text))
                })
                .await
        }
        ("_purged_infos", _) => {
            only(&request, "GET")?;
            let collection = session.database(db, Access::Member)?.share();
            request
                .app
                .blocking(move || {
                    let row = |purge: &recension::Purge| {
                        format!("{{\"id\":{},\"revs\":[{}]}}", quote(&purge.id), quoted(&purge.revs))
                    };
                    let rows: Vec<String> = collection.replication().purges()?.iter().map(row).collect();
                    Ok(Answer::ok(format!("{{\"purged_infos\":[{}]}}", rows.join(","))))
                })
                .await
        }
        (_, &(Method::GET | Method::HEAD)) => {
            Ok(Answer::ok(session.database(db, Access::Member)?.collection().settings().purges_limit()?.to_string()))
        }
        (_, &Method::PUT) => {
            let collection = session.database(db, Access::Admin)?.share();
            let wrong = |_| ApiError::bad_request("`purged_infos_limit` must be positive integer");
            let limit = number(&request.bytes().await?).map_err(wrong)?;
            request.app.blocking(move || Ok(collection.settings().set_purges_limit(limit)?)).await?;
            Ok(Answer::ok(r#"{"ok":true}"#))
        }
        _ => Err(ApiError::method_not_allowed("GET,PUT")),
    }
}

fn row(id: &str, revs: &[RevId]) -> String {
    format!("{}:[{}]", quote(id), quoted(revs))
}
