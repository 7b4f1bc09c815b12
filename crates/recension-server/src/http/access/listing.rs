//! Lists of documents within limits: `_all_docs` and `_find`.

use std::fmt::Write as _;

use recension::document::json::quote;
use recension::document::{AccessIds, Documents, Selector};

use super::dispatch::refused;
use super::limits::{Limits, Shared};
use crate::answer::Answer;
use crate::dispatch::only;
use crate::error::{ApiError, Result};
use crate::http as endpoints;
use crate::http::body::members_of;
use crate::http::list_options::ListQuery;
use crate::http::streaming;
use crate::request::Request;

/// `/{db}/_all_docs`: documents whose winner may be read. Their number is `null`: it would have to be counted.
pub(super) async fn all_docs(mut request: Request, limits: Shared) -> Result<Answer> {
    only(&request, "GET,HEAD,POST")?;
    let asked = ListQuery::of(&mut request).await?;
    let before = "{\"total_rows\":null,\"offset\":null,\"rows\":[".to_owned();
    let app = request.app.clone();
    let rows = app.streams.read(move || Rows::of(asked, limits)).await?;
    streaming::json(&app, before, rows, "\n]}\n").await
}

/// The ids that are looked at.
enum Ids {
    None,
    /// Those of all documents.
    All(Documents),
    /// Those of documents that may be the user's.
    Own(AccessIds),
}

impl Iterator for Ids {
    type Item = recension::document::Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Ids::None => None,
            Ids::All(documents) => documents.next().map(|document| Ok(document?.id.into_owned())),
            Ids::Own(ids) => ids.next(),
        }
    }
}

struct Rows {
    limits: Shared,
    asked: ListQuery,
    ids: Ids,
    keys: std::vec::IntoIter<String>,
    skip: usize,
    left: usize,
    first: bool,
}

impl Rows {
    fn of(mut asked: ListQuery, limits: Shared) -> Result<Self> {
        let keys = asked.keys.take();
        let options = asked.options();
        let ids = match (&keys, limits.index_now()?) {
            (Some(_), _) => Ids::None,
            (None, Some((access, marks))) => {
                let (start, end) = (options.start.as_ref(), options.end.as_ref());
                let (start, end) = (start.map(String::as_str), end.map(String::as_str));
                Ids::Own(access.ids(&marks, start, end, options.direction)?)
            }
            (None, None) => Ids::All(limits.db.opened().list(&options)?),
        };
        let (skip, left) = (asked.skip, asked.limit);
        Ok(Rows { limits, asked, ids, keys: keys.unwrap_or_default().into_iter(), skip, left, first: true })
    }

    fn row(&self, id: &str) -> Result<Option<String>> {
        let at = self.limits.db.opened();
        let Some(document) = at.get(id)? else { return Ok(None) };
        if !id.starts_with("_design/") && !self.limits.tests().reads().takes(&document) {
            return Ok(None);
        }
        let doc = if self.asked.include_docs { format!(",\"doc\":{}", document.to_json()) } else { String::new() };
        let (id, rev) = (quote(id), document.rev);
        Ok(Some(format!("{{\"id\":{id},\"key\":{id},\"value\":{{\"rev\":\"{rev}\"}}{doc}}}")))
    }

    fn next_row(&mut self) -> Result<Option<String>> {
        loop {
            if let Some(key) = self.keys.next() {
                let id: Option<String> = serde_json::from_str(&key).ok();
                let found = id.as_deref().map_or(Ok(None), |id| self.row(id))?;
                return Ok(Some(found.unwrap_or_else(|| format!("{{\"key\":{key},\"error\":\"not_found\"}}"))));
            }
            let Some(id) = self.ids.next().transpose()? else { return Ok(None) };
            if let Some(row) = self.row(&id)? {
                return Ok(Some(row));
            }
        }
    }
}

impl streaming::Rows for Rows {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        while self.skip > 0 {
            self.skip -= 1;
            if self.next_row()?.is_none() {
                return Ok(false);
            }
        }
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let Some(row) = self.next_row()? else { return Ok(false) };
        let between: &str = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        out.extend_from_slice(between.as_bytes());
        out.extend_from_slice(row.as_bytes());
        Ok(true)
    }
}

/// `/{db}/_find`: documents that the query selects and the rule lets through.
pub(super) async fn find(mut request: Request, limits: &Limits) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let mut out = String::from("{");
    for (name, value) in members_of(&body)? {
        let value = match name.as_str() {
            "selector" => within(limits, value.get())?,
            // They tell of documents that are hidden.
            "conflicts" | "execution_stats" => continue,
            _ => value.get().to_owned(),
        };
        if out.len() > 1 {
            out.push(',');
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "{}:{value}", quote(&name));
    }
    out.push('}');
    request.replace_body(out.into());
    let among = limits.index_now()?.map(|(_, marks)| marks);
    endpoints::mango::find_among(request, limits.db.clone(), among).await
}

/// A selector for documents that another selector selects and the rule lets through.
fn within(limits: &Limits, selector: &str) -> Result<String> {
    let asked = Selector::from_json(selector)?;
    let rule = limits.tests().reads().selector().ok_or_else(refused)?;
    let both = Selector::all([asked, rule.clone()]).to_json();
    if both.is_empty() { Err(ApiError::bad_json()) } else { Ok(both) }
}
