//! A database itself: PUT makes it, GET describes it, DELETE drops it, POST adds a document.

use http::{Method, StatusCode};
use recension::json::quote;

use super::documents;
use super::sequence::Sequence;
use recension_app::auth::databases::Database;
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, absolute};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// `/{db}`; `opened`: as of the moment that is asked for, if the row has one.
pub async fn endpoint(request: Request, session: Session, db: &str, opened: Option<Database>) -> Result<Answer> {
    match *request.method() {
        Method::GET | Method::HEAD => Ok(Answer::ok(info(&opened.ok_or_else(ApiError::no_database)?)?)),
        Method::PUT => create(request, &session, db).await,
        Method::DELETE => drop_database(request, &session, db).await,
        Method::POST => documents::post(request, session.database(db, Access::Member)?, None).await,
        _ => Err(ApiError::method_not_allowed("DELETE,GET,HEAD,POST")),
    }
}

async fn create(request: Request, session: &Session, db: &str) -> Result<Answer> {
    let proof = session.server_admin()?;
    let settings: &[_] = match request.query.get("partitioned") {
        Some("true") if db.starts_with('_') => {
            return Err(ApiError::bad_request("Cannot partition a system database"));
        }
        Some("true") => &[("partitioned", "true")],
        None | Some("false" | "") => &[],
        Some(_) => return Err(ApiError::bad_request("Invalid `partitioned` parameter")),
    };
    for name in ["q", "n"] {
        if request.query.get(name).is_some_and(|text| text.parse::<u32>().map_or(true, |number| number == 0)) {
            return Err(ApiError::bad_request(format!("The `{name}` value should be a positive integer.")));
        }
    }
    match request.query.get("placement") {
        None => {}
        Some(zones) if zones.contains(':') => return Err(ApiError::bad_request("There are no zones here.")),
        Some(_) => return Err(ApiError::bad_request("The `placement` value should be in a format `zone:n`.")),
    }
    if request.query.get("engine").is_some_and(|engine| engine != "couch") {
        return Err(ApiError::bad_request("invalid_engine_extension"));
    }
    let (app, name) = (request.app.clone(), db.to_owned());
    request.app.blocking(move || app.databases.create(&name, settings, proof)).await?;
    let to = absolute(&request, &format!("/{}", encode(db)));
    Ok(Answer::json(StatusCode::CREATED, r#"{"ok":true}"#.to_owned()).location(&to))
}

async fn drop_database(request: Request, session: &Session, db: &str) -> Result<Answer> {
    let proof = session.server_admin()?;
    if request.query.get("rev").is_some() {
        let reason =
            "You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document instead?";
        return Err(ApiError::bad_request(reason));
    }
    let (app, name) = (request.app.clone(), db.to_owned());
    request.app.blocking(move || app.databases.delete(&name, proof)).await?;
    Ok(Answer::ok(r#"{"ok":true}"#))
}

/// The description of a database.
pub fn info(db: &Database) -> Result<String> {
    let now = db.opened();
    let counts = now.counts()?;
    let (updated, purged) = (Sequence::of(&counts), now.purge_seq()?);
    let partitioned = if db.is_partitioned()? { "\"partitioned\":true" } else { "" };
    Ok(format!(
        "{{\"instance_start_time\":\"0\",\"db_name\":{},\"purge_seq\":\"{purged}\",\"update_seq\":\"{updated}\",\
         \"sizes\":{{\"file\":{bytes},\"external\":{bytes},\"active\":{bytes},\"store\":{store}}},\
         \"props\":{{{partitioned}}},\
         \"doc_del_count\":{},\"doc_count\":{},\"disk_format_version\":8,\"compact_running\":{},\
         \"cluster\":{{\"q\":1,\"n\":1,\"w\":1,\"r\":1}}}}",
        quote(db.name()),
        counts.deleted,
        counts.documents,
        db.is_compacting(),
        bytes = counts.body_bytes,
        // Files hold the rows of all databases, and their history: this is what the disk has.
        store = db.disk_bytes()?,
    ))
}
