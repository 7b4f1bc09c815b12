//! `_list`: a function that is given the rows of a view. They are given at once, within a bound.

use http::{Method, StatusCode};
use recension::json::quote;

use super::answered::answer;
use super::called::{ask, script};
use super::requested::RequestObject;
use crate::body::{Members, distinct_members_of};
use crate::list_options::{ListQuery, Parameters};
use crate::listed::{List, Part};
use crate::rows::Rows;
use crate::views::{self, ViewQuery};
use crate::within::Limited;
use recension_app::auth::databases::Database;
use recension_app::request::Request;
use recension_pages::form::ListRow;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::LIST_BYTES_MAX;

/// `/{db}/_design/{design}/_list/{function}/[{other design}/]{view}`
pub async fn list(mut request: Request, db: Database, design: &str, rest: &[&str], within: Limited) -> Result<Answer> {
    let (name, of, view) = match rest {
        [name, view] => (*name, design.to_owned(), *view),
        [name, other, view] => (*name, format!("_design/{other}"), *view),
        _ => return Err(ApiError::new(StatusCode::NOT_FOUND, "list_error", "Invalid path.")),
    };
    recension_app::request::only(&request, "GET,HEAD,POST")?;
    let body = if *request.method() == Method::POST {
        request.require_json()?;
        request.bytes().await?
    } else {
        bytes::Bytes::new()
    };
    let in_body = if body.is_empty() {
        Vec::new()
    } else {
        distinct_members_of(&body)?.into_iter().map(|(name, value)| (name, value.get().to_owned())).collect()
    };
    let script = script(&request, &db, design, &["lists", name])?;
    let req = RequestObject::of(&request, &db, None, &body, within.as_deref())?;
    let (before, rows) = if view == "_all_docs" {
        let members: Members<'_> = if body.is_empty() { Vec::new() } else { distinct_members_of(&body)? };
        let query = ListQuery::read(&request.query, &body, members)?;
        let at = db.opened().clone();
        let made = move || {
            let (before, list) = List::of(at, query, &Part::All, within)?;
            Ok((before, gathered(list)?))
        };
        request.app.blocking(made).await?
    } else {
        let asked = views::QueriedView::of(&request, db, (&of, view), None, within.clone())?;
        let reduction = asked.view.reduction.clone();
        let parameters = Parameters::new(&request.query, in_body);
        let query = ViewQuery::read(&parameters, reduction.is_some(), asked.view.view.collation(), None)?;
        let remembered = std::sync::Arc::clone(&request.app.scripts.reduced);
        let made = move || {
            let view = asked.read(query.update)?;
            let (before, list) = views::ViewList::of(view, query, within, reduction, &remembered)?;
            Ok((before, gathered(list)?))
        };
        request.app.blocking(made).await?
    };
    // The text before the rows is an object without its end.
    let head = before.trim_end().strip_suffix("\"rows\":[").unwrap_or("{").trim_end_matches(',').to_owned() + "}";
    let members = vec![("name", quote(name)), ("head", head), ("rows", rows), ("req", req.json())];
    let made = ask(&request, script, "list", members).await?;
    Ok(answer(&made, StatusCode::OK)?.varying("Accept"))
}

/// The rows that a function is given at once, as an array.
fn gathered(mut rows: impl Rows) -> Result<String> {
    let mut all = b"[".to_vec();
    let mut tell = |row: &dyn ListRow| {
        if all.len() > 1 {
            all.push(b',');
        }
        row.write_json(&mut all)?;
        if all.len() > LIST_BYTES_MAX {
            let reason = format!("a list is given rows of {LIST_BYTES_MAX} bytes at most; set a limit");
            return Err(ApiError::bad_request(reason));
        }
        Ok(())
    };
    while rows.next(&mut tell)? {}
    all.push(b']');
    Ok(String::from_utf8_lossy(&all).into_owned())
}
