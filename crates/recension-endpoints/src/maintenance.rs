//! `_compact`, `_ensure_full_commit`, `_revs_limit`.

use http::{Method, StatusCode};

use recension_app::auth::{Access, Session};
use recension_app::functions;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}/_ensure_full_commit`: acknowledged writes are durable.
pub fn full_commit(request: &Request) -> Result<Answer> {
    only(request, "POST")?;
    request.require_json()?;
    Ok(Answer::json(StatusCode::CREATED, r#"{"ok":true,"instance_start_time":"0"}"#.to_owned()))
}

/// `/{db}/_name`
pub async fn endpoint(request: Request, session: Session, db: &str, name: &str, rest: &[&str]) -> Result<Answer> {
    match (name, rest) {
        ("_revs_limit", []) => revs_limit(request, session, db).await,
        ("_compact", rest) => {
            only(&request, "POST")?;
            let db = session.database(db, Access::Admin)?;
            request.require_json()?;
            match rest {
                [] => super::compacted::compact(&request, &db).await?,
                // The rows of views are compacted with the store; only whether there is the design document is said.
                [design] => drop(functions::design(&db, &format!("_design/{design}"))?),
                _ => return Err(ApiError::missing()),
            }
            Ok(Answer::json(StatusCode::ACCEPTED, r#"{"ok":true}"#.to_owned()))
        }
        _ => Err(ApiError::missing()),
    }
}

/// `/{db}/_shards` of a single node, whose one range is all there is, and `_sync_shards`.
pub fn shards(request: &Request, name: &str, rest: &[&str]) -> Result<Answer> {
    const RANGE: &str = "00000000-ffffffff";
    match (name, rest) {
        ("_sync_shards", []) => {
            only(request, "POST")?;
            Ok(Answer::json(StatusCode::ACCEPTED, r#"{"ok":true}"#.to_owned()))
        }
        ("_shards", []) => {
            only(request, "GET,HEAD")?;
            Ok(Answer::ok(format!("{{\"shards\":{{\"{RANGE}\":[\"nonode@nohost\"]}}}}")))
        }
        ("_shards", _) => {
            only(request, "GET,HEAD")?;
            Ok(Answer::ok(format!("{{\"range\":\"{RANGE}\",\"nodes\":[\"nonode@nohost\"]}}")))
        }
        _ => Err(ApiError::missing()),
    }
}

async fn revs_limit(mut request: Request, session: Session, db: &str) -> Result<Answer> {
    match *request.method() {
        Method::GET | Method::HEAD => {
            let limit = session.database(db, Access::Member)?.collection().settings().revs_limit()?;
            Ok(Answer::ok(limit.to_string()))
        }
        Method::PUT => {
            let collection = session.database(db, Access::Admin)?.share();
            let limit = number(&request.bytes().await?)?;
            request.app.blocking(move || Ok(collection.settings().set_revs_limit(limit)?)).await?;
            Ok(Answer::ok(r#"{"ok":true}"#))
        }
        _ => Err(ApiError::method_not_allowed("PUT,GET")),
    }
}

/// A body that is a positive integer and nothing else.
pub fn number(body: &[u8]) -> Result<u32> {
    let number: Option<u32> = serde_json::from_slice(body).ok();
    number.filter(|number| *number > 0).ok_or_else(|| ApiError::bad_request("a positive integer was expected"))
}
