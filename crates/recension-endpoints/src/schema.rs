//! `/{db}/_schema`: a JSON Schema that the documents of a database must fit. CouchDB has none.

use http::Method;
use recension::engine::Seq;
use recension::json::quote;
use recension::{Collection, Error, Schema, format_time, limits};

use recension_app::auth::databases::Database;
use recension_app::auth::{Access, Session};
use recension_app::request::{Request, at_its_moment};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::threads::{Asker, asker};

/// `GET` answers the schema, with `history=true` all that there were. `PUT` sets it, with `check=true` it only tests
/// the documents against it. `DELETE` removes it. Only admins of the database change it.
pub async fn endpoint(mut request: Request, session: Session, db: &str) -> Result<Answer> {
    match *request.method() {
        Method::GET => {
            let history = request.query.flag("history")?;
            let db = at_its_moment(&request, session.database(db, Access::Member)?)?;
            request.app.blocking(move || if history { versions(&db) } else { schema(&db) }).await
        }
        Method::PUT => {
            request.require_json()?;
            let check = request.query.flag("check")?;
            let db = session.database(db, Access::Admin)?;
            let body = request.bytes_up_to(limits::SCHEMA_BYTES_MAX).await?;
            let (asker, waits) = asker();
            let answer = request.app.blocking(move || put(&db, &body, check, &asker)).await;
            drop(waits);
            answer
        }
        Method::DELETE => {
            let collection = session.database(db, Access::Admin)?.share();
            request.app.blocking(move || set(&collection, None)).await
        }
        _ => Err(ApiError::method_not_allowed("PUT,GET,DELETE")),
    }
}

fn schema(db: &Database) -> Result<Answer> {
    match db.opened().schema() {
        Some(schema) => Ok(Answer::ok(schema.to_owned())),
        None => Err(ApiError::new(http::StatusCode::NOT_FOUND, "not_found", "The database has no schema.")),
    }
}

fn versions(db: &Database) -> Result<Answer> {
    let versions = db.collection().settings().schema_history()?.into_iter().map(|version| {
        let (seq, time) = (version.since.seq, format_time(version.since.time));
        let schema = version.schema.as_deref().unwrap_or("null");
        format!("\n{{\"seq\":{seq},\"time\":{},\"schema\":{schema}}}", quote(&time))
    });
    Ok(Answer::ok(format!("{{\"history\":[{}\n]}}", versions.collect::<Vec<_>>().join(","))))
}

fn put(db: &Database, body: &[u8], check: bool, asker: &Asker) -> Result<Answer> {
    let schema = Schema::from_json(body)?;
    if !check {
        return set(db.collection(), Some(schema));
    }
    let mut gone = Ok(());
    let found = db.now()?.check_schema(&schema, Seq::ZERO, |found| {
        if found.documents % 1000 == 0 {
            gone = asker.waits();
        }
        gone.is_ok()
    })?;
    gone?;
    let problem = |problem: &Error| match problem {
        Error::NotOfSchema { id, path, why } => {
            Some(format!("\n{{\"id\":{},\"path\":{},\"reason\":{}}}", quote(id), quote(path), quote(why)))
        }
        _ => None,
    };
    let problems: Vec<String> = found.problems.iter().filter_map(problem).collect();
    Ok(Answer::ok(format!(
        "{{\"ok\":{},\"documents\":{},\"refused\":{},\"problems\":[{}\n]}}",
        found.refused == 0,
        found.documents,
        found.refused,
        problems.join(",")
    )))
}

fn set(collection: &Collection, schema: Option<Schema>) -> Result<Answer> {
    let commit = collection.settings().set_schema(schema)?;
    Ok(Answer::ok(format!("{{\"ok\":true,\"seq\":{}}}", commit.seq)))
}
