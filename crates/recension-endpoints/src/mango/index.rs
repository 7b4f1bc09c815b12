//! `_index`: indexes are listed, made as design documents, and deleted.

use http::{Method, StatusCode};
use recension::json::{minify, quote};
use recension::{Error, IndexOptions, Selector, Write};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::value::RawValue;

use super::definition::Definition;
use super::options::bad;
use super::reconcile::{definitions, of_document, reconciled, take_refusal};
use crate::body::{Members, distinct_members_of, elements, member, members_of, refuse_repeated};
use recension_app::auth::databases::Database;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::INDEXES_DELETED_MAX;

/// `/{db}/_index…`
pub async fn endpoint(mut request: Request, db: Database, rest: &[&str]) -> Result<Answer> {
    let app = request.app.clone();
    match rest {
        [] => match *request.method() {
            Method::GET | Method::HEAD => {
                let bound = |name: &str, least: i64, none: usize| -> Result<usize> {
                    let Some(text) = request.query.get(name) else { return Ok(none) };
                    let wrong = || {
                        let reason = "Index parameter ranges: limit > 1, skip > 0";
                        // CouchDB's words, although 1 and 0 are taken; its status is 500, but it is the client's error.
                        ApiError::new(StatusCode::BAD_REQUEST, "invalid_list_index_params", reason)
                    };
                    let number = text.parse::<i64>().ok().filter(|number| *number >= least).ok_or_else(wrong)?;
                    Ok(usize::try_from(number).unwrap_or(none))
                };
                let (limit, skip) = (bound("limit", 1, usize::MAX)?, bound("skip", 0, 0)?);
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
    let of_ids = super::candidates::BY_IDS;
    let mut rows = vec![of_ids.to_owned()];
    let partitioned = db.is_partitioned()?;
    rows.extend(definitions(db.opened())?.iter().map(|definition| definition.to_json(partitioned)));
    let total = rows.len();
    let rows: Vec<String> = rows.into_iter().skip(skip).take(limit).collect();
    Ok(Answer::ok(format!("{{\"total_rows\":{total},\"indexes\":[{}]}}", rows.join(","))))
}

/// An index that a request asks for: its definition, and the same as the client gave it.
fn read(body: &[u8]) -> Result<(Definition, String)> {
    let members = members_of(body)?;
    refuse_repeated(body)?;
    let allowed = |members: &Members<'_>, allowed: &[&str]| match members
        .iter()
        .find(|(name, _)| !allowed.contains(&name.as_str()))
    {
        Some((name, _)) => Err(bad("invalid_key", format!("Invalid key {name} for this request."))),
        None => Ok(()),
    };
    let text = |name: &'static str| -> Result<Option<String>> {
        let wrong = |value: &RawValue| bad("invalid_string", format!("Invalid string: {}", value.get()));
        let value = member(&members, name);
        value.map(|value| serde_json::from_str(value.get()).map_err(|_| wrong(value))).transpose()
    };
    let named = |name: &'static str| match text(name)? {
        Some(text) if text.is_empty() => Err(bad("invalid_empty_string", "Index name or ddoc cannot be empty string")),
        text => Ok(text),
    };
    let of_type = text("type")?.unwrap_or_else(|| "json".to_owned());
    let read = match of_type.as_str() {
        "json" => Definition::read,
        "text" => Definition::read_words,
        other => return Err(bad("invalid_index", format!("Invalid type for index: {other}"))),
    };
    let index = member(&members, "index").ok_or_else(|| bad("missing_required_key", "Missing required key: index"))?;
    let mut definition = read("", "", index)?;
    let own: &[&str] = match definition.words {
        Some(_) => &["fields", "language"],
        None => &["fields", "partial_filter_selector", "unique"],
    };
    allowed(&members_of(index.get().as_bytes())?, own)?;
    allowed(&members, &["index", "type", "name", "ddoc", "w", "partitioned"])?;
    let w = member(&members, "w").map_or("2", RawValue::get);
    let w = w
        .parse::<i64>()
        .ok()
        .filter(|w| *w > 0)
        .ok_or_else(|| bad("invalid_pos_integer", format!("{w} is not an integer greater than zero")))?;
    let partitioned = member(&members, "partitioned").map(RawValue::get);
    let wrong = |_| bad("invalid_partitioned_value", "`partitioned` is true or false");
    definition.partitioned = partitioned.map(str::parse).transpose().map_err(wrong)?;
    // A filter is stored as CouchDB writes it.
    if let Some(partial) = &mut definition.partial {
        *partial = Selector::from_json(partial.as_str())?.to_json();
    }
    let given = minify(index.get().as_bytes()).map_err(|_| ApiError::bad_json())?;
    let (ddoc, name) = (named("ddoc")?, named("name")?);
    let options = IndexOptions {
        definition: &given,
        ddoc: ddoc.as_deref(),
        name: name.as_deref(),
        partitioned: definition.partitioned,
        of_type: &of_type,
        w,
    };
    let auto = recension_app::identity::password::hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, &options.term()?).as_ref());
    definition.ddoc = design_id(ddoc.as_deref().unwrap_or(&auto));
    definition.name = name.unwrap_or(auto);
    if definition.ddoc == "_design/" {
        return Err(ApiError::new(StatusCode::BAD_REQUEST, "illegal_docid", "Illegal document id `_design/`"));
    }
    Ok((definition, given))
}

/// Makes the index that a request to `_index` asks for.
pub fn create(db: &Database, body: &[u8]) -> Result<Answer> {
    let (definition, given) = read(body)?;
    take_refusal(db, &definition)?;
    let made = save(db, &definition, &given)?;
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

/// Writes the index into its design document; returns whether it is new. A design document of another language, or of
/// none, is refused: its views are functions.
fn save(db: &Database, definition: &Definition, given: &str) -> Result<bool> {
    db.may_write(&definition.ddoc)?;
    let there = db.now()?.get(&definition.ddoc)?.map(recension::Document::into_owned);
    let of_kind = definition.member();
    let mut views = Vec::new();
    let mut others = Vec::new();
    let mut partitioned = None;
    if let Some(document) = &there {
        let members = members_of(document.body.as_bytes())?;
        let language = member(&members, "language").map_or("missing", RawValue::get);
        if language != "\"query\"" {
            return Err(bad("invalid_ddoc_lang", format!("Existing design doc has an invalid language: {language}")));
        }
        let known = of_document(&definition.ddoc, &document.body)?;
        partitioned = known.first().and_then(|known| known.partitioned);
        let same = |known: &Definition| known.name == definition.name && known.def_json() == definition.def_json();
        if known.iter().any(same) && partitioned == definition.partitioned {
            return Ok(false);
        }
        for (name, value) in members {
            match name.as_str() {
                own if own == of_kind => {
                    let others = members_of(value.get().as_bytes())?;
                    views.extend(others.iter().map(|(name, view)| (name.clone(), view.get().to_owned())));
                }
                "language" => {}
                _ => others.push(format!(",{}:{}", quote(&name), value.get())),
            }
        }
    }
    if there.is_some() && partitioned != definition.partitioned {
        let reason = format!(
            "Requested partitioned option does not match existing value on design document {}",
            definition.ddoc
        );
        return Err(bad("invalid_partitioned_option", reason));
    }
    let view = definition.view_json(given);
    match views.iter_mut().find(|(name, _)| *name == definition.name) {
        Some((_, own)) => *own = view,
        None => views.push((definition.name.clone(), view)),
    }
    if let (None, Some(partitioned)) = (&there, definition.partitioned) {
        others.push(format!(",\"options\":{{\"partitioned\":{partitioned}}}"));
    }
    let views: Vec<String> = views.iter().map(|(name, view)| format!("{}:{view}", quote(name))).collect();
    let body = format!("{{\"language\":\"query\",\"{of_kind}\":{{{}}}{}}}", views.join(","), others.concat());
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

/// The design document and the name of an index of the store; `None` if no design document defines it.
pub fn named(db: &Database, stored: &str) -> Result<Option<(String, String)>> {
    let mut all = definitions(&db.now()?)?.into_iter();
    Ok(all.find(|one| one.stored_name() == stored).map(|one| (one.ddoc, one.name)))
}

/// Removes an index, or all of them, from a design document; returns whether there was one. A design document of which
/// nothing else is left is deleted.
pub fn remove(db: &Database, ddoc: &str, name: Option<&str>) -> Result<bool> {
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
            any |= !matches!(member.as_str(), "language" | "options");
            told.push(format!("{}:{}", quote(member), value.get()));
            continue;
        }
        let mut kept = Vec::new();
        for (own, view) in members_of(value.get().as_bytes())? {
            if name.is_some_and(|name| own != name) {
                kept.push(format!("{}:{}", quote(&own), view.get()));
            }
        }
        if !kept.is_empty() {
            any = true;
            told.push(format!("\"{member}\":{{{}}}", kept.join(",")));
        }
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
    let members = distinct_members_of(body)?;
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
