//! `_index`: indexes are listed, made as design documents, and deleted.

use http::Method;
use recension::json::quote;
use recension::{Error, Write};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::value::RawValue;

use super::definition::Definition;
use super::options::bad;
use super::reconcile::{definitions, of_document, reconciled, take_refusal};
use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::http::body::{elements, member, members_of};
use crate::limits::INDEXES_DELETED_MAX;
use crate::request::{Request, only};

/// `/{db}/_index…`
pub(crate) async fn endpoint(mut request: Request, db: Database, rest: &[&str]) -> Result<Answer> {
    let app = request.app.clone();
    match rest {
        [] => match *request.method() {
            Method::GET => {
                let bound = |number: Option<u64>, none| number.map_or(none, |n| usize::try_from(n).unwrap_or(none));
                let limit = bound(request.query.number("limit")?, usize::MAX);
                let skip = bound(request.query.number("skip")?, 0);
                app.blocking(move || list(&db, skip, limit)).await
            }
            Method::POST => {
                request.require_json()?;
                let body = request.bytes().await?;
                app.blocking(move || create(&db, &body)).await
            }
            _ => Err(ApiError::method_not_allowed("GET,POST")),
        },
        ["_bulk_delete"] => {
            only(&request, "POST")?;
            request.require_json()?;
            let body = request.bytes().await?;
            app.blocking(move || bulk_delete(&db, &body)).await
        }
        ["_design", ddoc, "json" | "text", name] | [ddoc, "json" | "text", name] => {
            only(&request, "DELETE")?;
            let (ddoc, name) = (design_id(ddoc), (*name).to_owned());
            app.blocking(move || {
                if remove(&db, &ddoc, Some(&name))? {
                    Ok(Answer::ok(r#"{"ok":true}"#))
                } else {
                    Err(ApiError::missing())
                }
            })
            .await
        }
        _ => Err(ApiError::missing()),
    }
}

fn design_id(name: &str) -> String {
    format!("_design/{}", name.strip_prefix("_design/").unwrap_or(name))
}

fn list(db: &Database, skip: usize, limit: usize) -> Result<Answer> {
    let of_ids = r#"{"ddoc":null,"name":"_all_docs","type":"special","def":{"fields":[{"_id":"asc"}]}}"#;
    let mut rows = vec![of_ids.to_owned()];
    rows.extend(definitions(db.opened())?.iter().map(Definition::to_json));
    let total = rows.len();
    let rows: Vec<String> = rows.into_iter().skip(skip).take(limit).collect();
    Ok(Answer::ok(format!("{{\"total_rows\":{total},\"indexes\":[{}]}}", rows.join(","))))
}

fn create(db: &Database, body: &[u8]) -> Result<Answer> {
    let members = members_of(body)?;
    for (name, _) in &members {
        if !matches!(name.as_str(), "index" | "type" | "name" | "ddoc" | "w" | "partitioned") {
            return Err(bad("invalid_key", format!("Invalid key {name} for this request.")));
        }
    }
    let text = |name: &'static str| -> Result<Option<String>> {
        let wrong = |value: &RawValue| bad("invalid_string", format!("Invalid string: {}", value.get()));
        let value = member(&members, name);
        value.map(|value| serde_json::from_str(value.get()).map_err(|_| wrong(value))).transpose()
    };
    let read = match text("type")?.as_deref() {
        None | Some("json") => Definition::read,
        Some("text") => Definition::read_words,
        Some(other) => return Err(bad("invalid_index", format!("Invalid type for index: {other}"))),
    };
    let index = member(&members, "index").ok_or_else(|| bad("missing_required_key", "Missing required key: index"))?;
    let unnamed = read("", "", index)?;
    let hash = digest(&SHA1_FOR_LEGACY_USE_ONLY, unnamed.def_json().as_bytes());
    let auto = crate::identity::password::hex(hash.as_ref());
    let ddoc = design_id(&text("ddoc")?.unwrap_or_else(|| auto.clone()));
    let definition = Definition { ddoc, name: text("name")?.unwrap_or(auto), ..unnamed };
    take_refusal(db, &definition)?;
    let made = save(db, &definition)?;
    // The build is awaited, so that this request is refused if a document cannot be in the index.
    reconciled(db)?;
    if let Some(refused) = take_refusal(db, &definition)? {
        remove(db, &definition.ddoc, Some(&definition.name))?;
        return Err(refused);
    }
    let result = if made { "created" } else { "exists" };
    let (id, name) = (quote(&definition.ddoc), quote(&definition.name));
    Ok(Answer::ok(format!("{{\"result\":\"{result}\",\"id\":{id},\"name\":{name}}}")))
}

/// Writes the index into its design document; answers whether it is new.
fn save(db: &Database, definition: &Definition) -> Result<bool> {
    db.may_write(&definition.ddoc)?;
    let there = db.now()?.get(&definition.ddoc)?.map(recension::Document::into_owned);
    let of_kind = definition.member();
    let mut views = Vec::new();
    let mut others = Vec::new();
    if let Some(document) = &there {
        for (name, value) in members_of(document.body.as_bytes())? {
            match name.as_str() {
                own if own == of_kind => {
                    for (name, view) in members_of(value.get().as_bytes())? {
                        if name == definition.name {
                            let known = of_document(&definition.ddoc, &document.body)?;
                            let same = |known: &Definition| {
                                known.name == definition.name && known.def_json() == definition.def_json()
                            };
                            if known.iter().any(same) {
                                return Ok(false);
                            }
                        } else {
                            views.push(format!("{}:{}", quote(&name), view.get()));
                        }
                    }
                }
                "language" if value.get() != "\"query\"" => {
                    let reason = format!("Existing design doc has an invalid language: {}", value.get());
                    return Err(bad("invalid_ddoc_lang", reason));
                }
                "language" => {}
                _ => others.push(format!(",{}:{}", quote(&name), value.get())),
            }
        }
    }
    views.push(format!("{}:{}", quote(&definition.name), definition.view_json()));
    let (views, others) = (views.join(","), others.concat());
    let body = format!("{{\"language\":\"query\",\"{of_kind}\":{{{views}}}{others}}}");
    let write = match &there {
        Some(document) => Write::replace(&definition.ddoc, &document.rev, body)?.keep_attachments(),
        None => Write::create(Some(&definition.ddoc), body)?,
    };
    written(db, write)?;
    Ok(true)
}

fn written(db: &Database, write: Write) -> Result<()> {
    match db.collection().write(write) {
        Ok(_) => Ok(()),
        Err(Error::Conflict { .. }) => {
            let reason = "Encountered a conflict while saving the design document.";
            Err(ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "error_saving_ddoc", reason))
        }
        Err(error) => Err(error.into()),
    }
}

/// Removes an index, or all of them, from a design document; answers whether there was one. A design document without
/// indexes is deleted.
fn remove(db: &Database, ddoc: &str, name: Option<&str>) -> Result<bool> {
    db.may_write(ddoc)?;
    let Some(document) = db.now()?.get(ddoc)?.map(recension::Document::into_owned) else { return Ok(false) };
    let known = of_document(ddoc, &document.body)?;
    if !known.iter().any(|known| name.is_none_or(|name| known.name == name)) {
        return Ok(false);
    }
    let members = members_of(document.body.as_bytes())?;
    let (mut any, mut told) = (false, Vec::new());
    for (member, value) in &members {
        if !matches!(member.as_str(), "views" | "indexes") {
            told.push(format!("{}:{}", quote(member), value.get()));
            continue;
        }
        let mut kept = Vec::new();
        for (own, view) in members_of(value.get().as_bytes())? {
            if name.is_some_and(|name| own != name) {
                kept.push(format!("{}:{}", quote(&own), view.get()));
            }
        }
        any |= !kept.is_empty();
        told.push(format!("\"{member}\":{{{}}}", kept.join(",")));
    }
    let write = if any {
        Write::replace(ddoc, &document.rev, format!("{{{}}}", told.join(",")))?.keep_attachments()
    } else {
        Write::delete(ddoc, &document.rev)?
    };
    written(db, write)?;
    reconciled(db)?;
    Ok(true)
}

fn bulk_delete(db: &Database, body: &[u8]) -> Result<Answer> {
    let members = members_of(body)?;
    let docids =
        member(&members, "docids").ok_or_else(|| bad("missing_required_key", "Missing required key: docids"))?;
    let wrong = || {
        let reason = format!("Bulk Delete requires an array of non-null docids. Docids: {}", docids.get());
        bad("invalid_bulk_docs", reason)
    };
    let ids = elements(docids)?.ok_or_else(wrong)?;
    if ids.len() > INDEXES_DELETED_MAX {
        return Err(bad("invalid_bulk_docs", format!("`docids` has {INDEXES_DELETED_MAX} elements at most")));
    }
    let ids = ids.into_iter().map(|id| serde_json::from_str::<String>(id.get()).map_err(|_| wrong()));
    let ids = ids.collect::<Result<Vec<_>>>()?;
    let (mut success, mut fail) = (Vec::new(), Vec::new());
    for id in ids {
        let id = design_id(&id);
        let row = |told: &str| format!("{{\"id\":{},{told}}}", quote(&id));
        match remove(db, &id, None) {
            Ok(true) => success.push(row("\"ok\":true")),
            Ok(false) => fail.push(row("\"error\":\"not_found\"")),
            Err(error) => fail.push(row(&format!("\"error\":{}", quote(&error.reason)))),
        }
    }
    Ok(Answer::ok(format!("{{\"success\":[{}],\"fail\":[{}]}}", success.join(","), fail.join(","))))
}
