//! `_update_by_query` and `_delete_by_query`, which CouchDB does not have. Every document that a selector selects is
//! changed by one patch, or deleted, in commits of many documents.

use std::sync::Arc;

use recension::json::{JsonPatch, merge_patch_minified, quote, reserved_name};
use recension::{Document, Query, Selector, Write};
use serde_json::value::RawValue;

use super::conflicts::CONFLICTS;
use super::options::bad;
use crate::body::{distinct_members_of, member};
use recension_app::auth::databases::Database;
use recension_app::functions::Building;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{BY_QUERY_BATCH_BYTES, BY_QUERY_BATCH_DOCUMENTS, BY_QUERY_LEFT_MAX};
use recension_wire::request_body::Asked;
use recension_wire::threads::{Asker, asker};

/// What is done to each document.
enum Change {
    Delete,
    Merge(String),
    Patch(JsonPatch),
}

/// What a request asks.
struct ByQuery {
    selector: Selector,
    change: Change,
    dry_run: bool,
    limit: Option<u64>,
}

/// `/{db}/_update_by_query`, `/{db}/_delete_by_query`
pub async fn endpoint(mut request: Request, db: Database, name: &str) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let asked = ByQuery::read(&body, name == "_delete_by_query")?;
    let _kept = Box::pin(request.app.streams.keep_selector(asked.selector.weight())).await?;
    let (asker, waits) = asker();
    let of_type = if name == "_delete_by_query" { "delete_by_query" } else { "update_by_query" };
    let scripts = Arc::clone(&request.app.scripts);
    let mut still = request.body.take_asked();
    let carry_out = move || {
        let working = scripts.work(of_type, db.name(), "");
        carry_out(&db, &asked, (&asker, &mut still), &working)
    };
    let answer = request.app.streams.change(carry_out).await;
    drop(waits);
    answer
}

impl ByQuery {
    fn read(body: &[u8], deletes: bool) -> Result<Self> {
        let members = distinct_members_of(body)?;
        let known = |name: &str| match name {
            "selector" | "dry_run" | "limit" => true,
            "merge" | "patch" => !deletes,
            _ => false,
        };
        if let Some((name, _)) = members.iter().find(|(name, _)| !known(name)) {
            return Err(bad("invalid_key", format!("Invalid key {name} for this request.")));
        }
        let missing = |name: &str| bad("missing_required_key", format!("Missing required key: {name}"));
        let selector = member(&members, "selector").ok_or_else(|| missing("selector"))?;
        let change = match (deletes, member(&members, "merge"), member(&members, "patch")) {
            (true, ..) => Change::Delete,
            (_, Some(merge), None) if merge.get().starts_with('{') => Change::Merge(merge.get().to_owned()),
            (_, None, Some(patch)) => Change::Patch(JsonPatch::from_json(patch.get())?),
            (_, None, None) => return Err(missing("merge, or patch")),
            _ => return Err(bad("bad_arg", "Either merge, an object, or patch, an array of operations.")),
        };
        change.check()?;
        let dry_run = match member(&members, "dry_run").map(RawValue::get) {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => return Err(bad("invalid_boolean", format!("Invalid boolean value: {other}"))),
        };
        let wrong = |text: &str| {
            bad("invalid_non_neg_integer", format!("{text} is not an integer greater than or equal to zero"))
        };
        let limit = member(&members, "limit").map(|limit| limit.get().parse().map_err(|_| wrong(limit.get())));
        let selector = Selector::from_json(selector.get())?;
        if selector.without(CONFLICTS).is_some() {
            let reason = "A change by query cannot select by _conflicts: _find, with \"conflicts\": true, tells which \
                          documents have some.";
            return Err(bad("invalid_selector", reason));
        }
        Ok(ByQuery { selector, change, dry_run, limit: limit.transpose()? })
    }
}

impl Change {
    /// Refuses to change what is in no document's body: a member `_deleted` would delete each of them. A patch may still
    /// move a value there that a document has elsewhere; then [`Write::change`] leaves the document alone.
    fn check(&self) -> Result<()> {
        let name = match self {
            Change::Delete => None,
            Change::Merge(merge) => reserved_name(merge),
            Change::Patch(patch) => patch.reserved_name(),
        };
        match name.as_deref() {
            Some("_deleted") => {
                Err(bad("bad_arg", "A change cannot set `_deleted`: _delete_by_query deletes documents."))
            }
            Some(name) => Err(bad("bad_arg", format!("A change is of a document's own members, and not of `{name}`."))),
            None => Ok(()),
        }
    }

    fn write(&self, document: &Document<'_>) -> Result<Option<Write>> {
        let body = match self {
            Change::Delete => return Ok(Some(Write::delete(&document.id, &document.rev)?)),
            Change::Merge(merge) => merge_patch_minified(&document.body, merge).map_err(recension::Error::from)?,
            Change::Patch(patch) => patch.apply_minified(&document.body)?,
        };
        if body == *document.body {
            return Ok(None);
        }
        Ok(Some(Write::change(&document.id, &document.rev, body)?))
    }
}

/// The result of a request.
#[derive(Default)]
struct Done {
    matched: u64,
    written: u64,
    unchanged: u64,
    /// Documents that were left alone, and why: others wrote them meanwhile, or they may not be written so.
    left: Vec<String>,
    left_more: bool,
    /// Whether there are more than the limit.
    more: bool,
}

impl Done {
    /// Notes `number` more documents that match; returns whether they are within the limit.
    fn match_within(&mut self, number: u64, limit: Option<u64>) -> bool {
        let matched = self.matched.saturating_add(number);
        self.more = limit.is_some_and(|limit| matched > limit);
        self.matched = limit.map_or(matched, |limit| matched.min(limit));
        !self.more
    }

    fn leave(&mut self, id: &str, error: &ApiError) {
        if self.left.len() < BY_QUERY_LEFT_MAX {
            let (error, reason) = (quote(error.error), quote(&error.reason));
            self.left.push(format!("{{\"id\":{},\"error\":{error},\"reason\":{reason}}}", quote(id)));
        } else {
            self.left_more = true;
        }
    }
}

/// Carries the request out. What is committed stays, so an error after it says how much that is.
fn carry_out(db: &Database, asked: &ByQuery, waits: (&Asker, &mut Asked), working: &Building) -> Result<Answer> {
    let mut done = Done::default();
    change_matching(db, asked, waits, working, &mut done).map_err(|error| match done.written {
        0 => error,
        written => {
            let reason = format!("{written} documents were changed and stay so; then it stopped: {}", error.reason);
            ApiError { reason: reason.into(), ..error }
        }
    })?;
    let Done { matched, written, unchanged, left, left_more, more } = done;
    Ok(Answer::ok(format!(
        "{{\"ok\":true,\"dry_run\":{},\"matched\":{matched},\"written\":{written},\"unchanged\":{unchanged},\"left\":[{}],\
         \"left_more\":{left_more},\"more\":{more}}}",
        asked.dry_run,
        left.join(",")
    )))
}

/// Design documents are left alone: they are written one by one. Before each commit it is asked whether the client still
/// waits, and still may.
fn change_matching(
    db: &Database,
    asked: &ByQuery,
    (asker, still): (&Asker, &mut Asked),
    working: &Building,
    done: &mut Done,
) -> Result<()> {
    still()?;
    let mut query = Query::new().selecting(asked.selector.clone()).leaving_out("_design/");
    if let Some(limit) = asked.limit {
        // One more, to learn whether there are more.
        query = query.limit(usize::try_from(limit).unwrap_or(usize::MAX).saturating_add(1));
    }
    let at = db.now()?;
    if asked.dry_run {
        done.match_within(at.count_matching(&query)?, asked.limit);
    } else {
        let (mut writes, mut bytes) = (Vec::new(), 0);
        let mut found = at.find(&query)?;
        // A scan reads every document; an index reads about as many as its plan says.
        let scans = found.plan().index.is_none();
        #[allow(clippy::cast_sign_loss)] // numbers of rows are not negative
        let total = if scans { at.count()? } else { at.explain(&query)?.rows.map_or(0, |rows| rows as u64) };
        while let Some(document) = found.next() {
            let document = document?;
            if !done.match_within(1, asked.limit) {
                break;
            }
            if let Err(error) = db.may_write(&document.id) {
                done.leave(&document.id, &error);
                continue;
            }
            match asked.change.write(&document) {
                Ok(Some(write)) => {
                    bytes += document.body.len();
                    writes.push(write);
                }
                Ok(None) => done.unchanged += 1,
                Err(error) => done.leave(&document.id, &error),
            }
            if writes.len() >= BY_QUERY_BATCH_DOCUMENTS || bytes >= BY_QUERY_BATCH_BYTES {
                commit(db, std::mem::take(&mut writes), done)?;
                bytes = 0;
                let (_, read) = found.examined();
                working.tell(read, total.max(read));
                asker.waits()?;
                still()?;
            }
        }
        commit(db, writes, done)?;
    }
    Ok(())
}

fn commit(db: &Database, writes: Vec<Write>, done: &mut Done) -> Result<()> {
    let ids: Vec<String> = writes.iter().map(|write| write.id().unwrap_or_default().to_owned()).collect();
    for (id, result) in ids.iter().zip(db.collection().bulk(writes)?) {
        match result {
            Ok(_) => done.written += 1,
            Err(error) => done.leave(id, &error.into()),
        }
    }
    Ok(())
}
