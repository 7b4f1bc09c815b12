//! Local documents: `_local/{name}` and `_local_docs`. Replications keep in them how far they have come.

use http::StatusCode;
use recension::json::quote;
use recension::{CollectionAt, LocalDocument, Write};

use super::body::{member, members_of};
use super::list_options::ListQuery;
use super::within::{Limited, Within};
use super::{all_docs, documents, incoming};
use recension_app::auth::databases::Database;
use recension_app::request::{Request, absolute, only};
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::BODY_PARTS_MAX;
use recension_wire::route::encode;

/// `/{db}/_local/{name}`
pub async fn document(mut request: Request, db: Database, id: &str, within: Limited) -> Result<Answer> {
    let asked = id.strip_prefix("_local/").unwrap_or(id).to_owned();
    let name = within.as_ref().map_or_else(|| asked.clone(), |within| within.local(&asked));
    let collection = db.share();
    match request.method().as_str() {
        "GET" | "HEAD" => {
            let document = db.collection().locals().get(&name)?.ok_or_else(ApiError::missing)?;
            Ok(Answer::ok(LocalDocument { name: asked, ..document }.to_json()))
        }
        "PUT" => {
            let text = with_rev(incoming::local(&request.bytes().await?)?, request.query.get("rev"));
            put(&request, &db, &asked, within.as_deref(), text).await
        }
        "DELETE" => {
            request.app.blocking(move || Ok(collection.locals().delete(&name)?)).await?;
            Ok(Answer::ok(receipt(id, "0-0")))
        }
        "COPY" => {
            let body = db.collection().locals().get(&name)?.ok_or_else(ApiError::missing)?.body;
            documents::copied(&request, &db, Write::from_json(&body)?, body).await
        }
        _ => Err(ApiError::method_not_allowed("DELETE,GET,HEAD,POST,PUT,COPY")),
    }
}

/// A body with a revision before it, unless it has one.
pub(crate) fn with_rev(mut text: String, rev: Option<&str>) -> String {
    let Some(rev) = rev.filter(|_| !has_rev(&text)) else { return text };
    let members = text.split_off(1);
    let comma = if members == "}" { "" } else { "," };
    format!("{{\"_rev\":{}{comma}{members}", quote(rev))
}

/// Writes one, as who asks knows it by its name.
pub async fn put(
    request: &Request,
    db: &Database,
    asked: &str,
    within: Option<&dyn Within>,
    text: String,
) -> Result<Answer> {
    let name = within.map_or_else(|| asked.to_owned(), |within| within.local(asked));
    let (collection, id) = (db.share(), format!("_local/{asked}"));
    let number = request.app.blocking(move || Ok(collection.locals().put(&name, text)?)).await?;
    let status = if number == 0 { StatusCode::OK } else { StatusCode::CREATED };
    let to = absolute(request, &format!("/{}/{}", encode(db.name()), encode(&id)));
    Ok(Answer::json(status, receipt(&id, format_args!("0-{number}"))).location(&to))
}

fn has_rev(text: &str) -> bool {
    members_of(text.as_bytes()).is_ok_and(|members| member(&members, "_rev").is_some())
}

/// `/{db}/_local_docs` and `…/queries`. There are only as many as replications, so that they are not streamed.
pub async fn list(mut request: Request, db: Database, rest: &[&str]) -> Result<Answer> {
    match rest {
        [] => {}
        ["queries"] => {
            let queries = all_docs::asked_together(&mut request).await?;
            let now = db.now()?;
            let lists = queries.iter().map(|asked| listed(&now, asked)).collect::<Result<Vec<String>>>()?;
            return Ok(Answer::ok(format!("{{\"results\":[\n{}\n]}}", lists.join(",\n"))));
        }
        _ => return Err(ApiError::missing()),
    }
    only(&request, "GET,HEAD,POST")?;
    let asked = ListQuery::of(&mut request).await?;
    Ok(Answer::ok(listed(&db.now()?, &asked)?))
}

/// The name of a local document whose id is a key.
pub(crate) fn name_of(key: &str) -> Option<String> {
    let id: String = serde_json::from_str(key).ok()?;
    id.strip_prefix("_local/").map(str::to_owned)
}

/// A local document as a row of a list.
pub(crate) fn row_of(document: &LocalDocument, include_docs: bool) -> String {
    let id = quote(&format!("_local/{}", document.name));
    let doc = if include_docs { format!(",\"doc\":{}", document.to_json()) } else { String::new() };
    format!("{{\"id\":{id},\"key\":{id},\"value\":{{\"rev\":\"{}\"}}{doc}}}", document.rev())
}

fn listed(now: &CollectionAt, asked: &ListQuery) -> Result<String> {
    let row = |document: &LocalDocument| row_of(document, asked.include_docs);
    let mut rows = Vec::new();
    if let Some(keys) = &asked.keys {
        for key in keys.clone() {
            if rows.len() == BODY_PARTS_MAX {
                return Err(ApiError::too_many_parts());
            }
            // Keys of other documents are passed over, but counted.
            rows.push(match name_of(&key) {
                Some(name) => {
                    now.local(&name)?.as_ref().map_or_else(|| format!("{{\"key\":{key},\"error\":\"not_found\"}}"), row)
                }
                None => String::new(),
            });
        }
    } else {
        let all = now.locals()?.into_iter().filter(|document| asked.has(&format!("_local/{}", document.name)));
        rows.extend(all.map(|document| row(&document)));
    }
    if asked.descending {
        rows.reverse();
    }
    let rows = rows.into_iter().skip(asked.skip).take(asked.limit);
    let rows: Vec<String> = rows.filter(|row| !row.is_empty()).collect();
    let update_seq = if asked.update_seq { "\"update_seq\":null," } else { "" };
    Ok(format!("{{\"total_rows\":null,\"offset\":null,{update_seq}\"rows\":[\n{}\n]}}", rows.join(",\n")))
}
