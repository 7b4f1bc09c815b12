//! Revisions: `open_revs`, `new_edits=false`, `_revs_diff`, `_missing_revs`, `_bulk_get`, `_compact`.

use std::collections::HashSet;

use bytes::Bytes;
use http::StatusCode;
use recension::json::quote;
use recension::{CollectionAt, Leaf, ReplicatedWrite, RevId, Revision};
use serde_json::value::RawValue;

use super::body::{Elements, distinct_members_of, elements, ids_and_revs, member, refuse_misspelt_members, rev_of};
use super::compacted::body_of;
use super::inline::Inline;
use super::reading::{Extras, Shown};
use super::within::{Within, is_made_up};
use super::{incoming, multipart, streaming};
use recension_app::auth::databases::Database;
use recension_app::auth::partitions;
use recension_app::request::{Request, absolute, only};
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};
use recension_wire::route::encode;

/// `GET /{db}/{id}?open_revs=…`: `all` leaves, or those of a list.
pub(crate) async fn open_revs(request: &Request, at: &CollectionAt, id: &str, open: &str) -> Result<Answer> {
    let query = &request.query;
    let asked = if open == "all" {
        OpenRevs::All
    } else {
        let asked: &RawValue = serde_json::from_str(open).map_err(|_| ApiError::bad_json())?;
        let asked = elements(asked)?.ok_or_else(|| ApiError::bad_request("Invalid list of revisions"))?;
        OpenRevs::These(asked.into_iter().map(rev_of).collect::<Result<_>>()?, query.is_true("latest"))
    };
    let (extras, inline) = (Extras::of(query).of_any_leaf(), Inline::of(query)?);
    let (at, id) = (at.clone(), id.to_owned());
    let (at, id, opened) = request
        .app
        .streams
        .read(move || {
            let opened = asked.opened(&at, &id)?;
            Ok((at, id, opened))
        })
        .await?;
    if multipart::is_taken(request, &["multipart/mixed"]) {
        let inline = inline.following();
        let parts = opened.map(move |opened| multipart::part(&at, &id, &opened?, extras, &inline));
        return multipart::mixed(&request.app, parts).await;
    }
    let rows = opened.enumerate().flat_map(move |(number, opened)| {
        let comma = if number == 0 { "" } else { "," };
        let row = match opened {
            Ok(Opened::Found(revision)) => ok_row(&at, &id, &revision, extras, &inline),
            Ok(Opened::Missing(rev)) => text(format!("{{\"missing\":\"{rev}\"}}")),
            Err(error) => Box::new(std::iter::once(Err(error))),
        };
        text(comma.to_owned()).chain(row)
    });
    streaming::json(&request.app, "[".to_owned(), rows, "]\n").await
}

/// The revisions that are asked for.
enum OpenRevs {
    All,
    /// The named ones; with `true`, the leaves that stand on them.
    These(Vec<RevId>, bool),
}

impl OpenRevs {
    /// The revisions. Each is read when its turn comes.
    fn opened(self, at: &CollectionAt, id: &str) -> Result<Box<dyn Iterator<Item = Result<Opened>> + Send>> {
        match self {
            OpenRevs::All => {
                let leaves = at.leaves(id)?;
                if leaves.is_empty() {
                    return Err(ApiError::missing());
                }
                Ok(Box::new(all_leaves(at.clone(), id.to_owned(), leaves)))
            }
            OpenRevs::These(revs, latest) => {
                let (at, id) = (at.clone(), id.to_owned());
                // Two revisions of one branch have the same leaf, which is told once.
                let mut told = HashSet::new();
                let mut is_new = move |opened: &Opened| match opened {
                    Opened::Found(revision) => told.insert(revision.rev) || !latest,
                    Opened::Missing(_) => true,
                };
                Ok(Box::new(revs.into_iter().flat_map(move |rev| match open_many(&at, &id, &[rev], latest) {
                    Ok(opened) => opened.into_iter().filter(&mut is_new).map(Ok).collect(),
                    Err(error) => vec![Err(error)],
                })))
            }
        }
    }
}

/// The leaves of a document. Each is read when its turn comes.
fn all_leaves(at: CollectionAt, id: String, leaves: Vec<Leaf>) -> impl Iterator<Item = Result<Opened>> + Send {
    leaves.into_iter().enumerate().map(move |(number, leaf)| {
        let revision = at.leaf_revision(&id, &leaf, number == 0)?;
        Ok(revision.map_or(Opened::Missing(leaf.rev), |revision| Opened::Found(Box::new(revision))))
    })
}

/// A row of an answer, in pieces.
type Row = Box<dyn Iterator<Item = Result<String>> + Send>;

fn text(text: String) -> Row {
    Box::new(std::iter::once(Ok(text)))
}

/// `{"ok":` a revision as JSON `}`, with the bytes of its attachments if the request asks for them.
fn ok_row(at: &CollectionAt, id: &str, revision: &Revision, extras: Extras, inline: &Inline) -> Row {
    match inline.pieces(at, Shown::of(id, revision), extras) {
        Ok(pieces) => Box::new(text("{\"ok\":".to_owned()).chain(pieces).chain(text("}".to_owned()))),
        Err(error) => Box::new(std::iter::once(Err(error))),
    }
}

/// A revision that was asked for.
#[derive(Debug)]
pub(crate) enum Opened {
    Found(Box<Revision>),
    Missing(RevId),
}

fn open_one(at: &CollectionAt, id: &str, rev: RevId) -> Result<Opened> {
    Ok(body_of(at, id, &rev)?.map_or(Opened::Missing(rev), |revision| Opened::Found(Box::new(revision))))
}

/// Revisions by name; with `latest`, the leaves that stand on them.
pub(crate) fn open_many(at: &CollectionAt, id: &str, asked: &[RevId], latest: bool) -> Result<Vec<Opened>> {
    let mut opened = Vec::with_capacity(asked.len());
    for rev in asked {
        let leaves = if latest { at.latest(id, rev)? } else { Vec::new() };
        if leaves.is_empty() {
            opened.push(open_one(at, id, *rev)?);
        }
        for leaf in leaves {
            opened.push(open_one(at, id, leaf.rev)?);
        }
    }
    Ok(opened)
}

/// `PUT /{db}/{id}?new_edits=false`: the body names its own revision.
pub async fn put(
    request: &Request,
    db: &Database,
    id: &str,
    body: &[u8],
    within: Option<&dyn Within>,
) -> Result<Answer> {
    let most = request.app.settings.live().max_document_size;
    let write = incoming::replicated_as(id, body, request.query.get("rev"), most)?;
    if is_made_up(within, id, write.path()) {
        let rev = write.path().first().map(ToString::to_string).unwrap_or_default();
        return Ok(Answer::json(StatusCode::CREATED, receipt(id, rev)));
    }
    merged(request, db, id, write).await
}

/// Writes a replicated revision, and answers with the receipt.
pub async fn merged(request: &Request, db: &Database, id: &str, write: ReplicatedWrite) -> Result<Answer> {
    let rev = write.path().first().copied();
    let collection = db.share();
    let mut results = request.app.blocking(move || Ok(collection.replication().merge_revisions([write])?)).await?;
    if let Some(Err(error)) = results.pop() {
        return Err(error.into());
    }
    let rev = rev.map_or_else(String::new, |rev| rev.to_string());
    let to = absolute(request, &format!("/{}/{}", encode(db.name()), encode(id)));
    Ok(Answer::json(StatusCode::CREATED, receipt(id, &rev)).etag(rev).location(&to))
}

/// `/{db}/_revs_diff`
pub async fn revs_diff(mut request: Request, db: Database) -> Result<Answer> {
    let asked = asked_of(&mut request).await?;
    request
        .app
        .blocking(move || {
            let rows = db.opened().revs_diff(asked.iter().map(|(id, revs)| (id.as_str(), revs.as_slice())))?;
            let row = |row: &recension::RevsDiff| {
                let ancestors = match row.possible_ancestors.as_slice() {
                    [] => String::new(),
                    revs => format!(",\"possible_ancestors\":[{}]", quoted(revs)),
                };
                format!("{}:{{\"missing\":[{}]{ancestors}}}", quote(&row.id), quoted(&row.missing))
            };
            let rows: Vec<String> = rows.iter().map(row).collect();
            Ok(Answer::ok(format!("{{{}}}", rows.join(","))))
        })
        .await
}

/// `/{db}/_missing_revs`
pub async fn missing_revs(mut request: Request, db: Database) -> Result<Answer> {
    let asked = asked_of(&mut request).await?;
    request
        .app
        .blocking(move || {
            let rows = db.opened().revs_diff(asked.iter().map(|(id, revs)| (id.as_str(), revs.as_slice())))?;
            let rows: Vec<String> =
                rows.iter().map(|row| format!("{}:[{}]", quote(&row.id), quoted(&row.missing))).collect();
            Ok(Answer::ok(format!("{{\"missing_revs\":{{{}}}}}", rows.join(","))))
        })
        .await
}

async fn asked_of(request: &mut Request) -> Result<Vec<(String, Vec<RevId>)>> {
    only(request, "POST")?;
    request.require_json()?;
    ids_and_revs(&request.bytes().await?)
}

/// Parameters that CouchDB refuses there, since each document has its own.
const NOT_OF_BULK_GET: [&str; 5] = ["open_revs", "new_edits", "w", "rev", "atts_since"];

/// `/{db}/_bulk_get`: many revisions in one answer, which is streamed.
pub async fn bulk_get(mut request: Request, db: Database) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    if let Some(name) = NOT_OF_BULK_GET.iter().find(|name| request.query.get(name).is_some()) {
        return Err(ApiError::bad_request(format!("\"{name}\" query parameter is not acceptable")));
    }
    let body = request.bytes().await?;
    let partitioned = db.is_partitioned()?;
    let read = move || {
        let docs = asked_docs(&body)?;
        // What is refused is refused before the answer begins; then each is read when its turn comes.
        docs.clone().try_for_each(|doc| BulkGetItem::of(&doc, partitioned).map(drop))?;
        Ok(docs)
    };
    let docs = request.app.blocking(read).await?;
    let at = db.opened().clone();
    let (extras, inline) = (Extras::of(&request.query).of_any_leaf(), Inline::of(&request.query)?);
    let latest = request.query.is_true("latest");
    if multipart::is_taken(&request, &["multipart/mixed", "multipart/related"]) {
        let inline = inline.following();
        let parts = docs.flat_map(move |doc| match BulkGetItem::of(&doc, partitioned) {
            Ok(asked) => asked.parts(&at, extras, latest, &inline),
            Err(error) => vec![Err(error)],
        });
        return multipart::mixed(&request.app, parts).await;
    }
    let row = move |(number, doc): (usize, String)| -> Row {
        let asked = match BulkGetItem::of(&doc, partitioned) {
            Ok(asked) => asked,
            Err(error) => return Box::new(std::iter::once(Err(error))),
        };
        let comma = if number == 0 { "" } else { "," };
        let before = text(format!("{comma}{{\"id\":{},\"docs\":[", asked.id_json));
        Box::new(before.chain(asked.rows(&at, extras, latest, &inline)).chain(text("]}".to_owned())))
    };
    let rows = docs.enumerate().flat_map(row);
    streaming::json(&request.app, "{\"results\":[".to_owned(), rows, "]}\n").await
}

/// Parameters that would be ignored in the body.
const OF_THE_QUERY: [&str; 4] = ["revs", "latest", "attachments", "att_encoding_info"];

/// The documents that the body of a `_bulk_get` asks for, as JSON.
pub(crate) fn asked_docs(body: &Bytes) -> Result<Elements> {
    let members = distinct_members_of(body)?;
    if let Some((name, _)) = members.iter().find(|(name, _)| OF_THE_QUERY.contains(&name.as_str())) {
        let reason = format!("\"{name}\" is no member of the body here: it is a parameter, as in ?{name}=true.");
        return Err(ApiError::bad_request(reason));
    }
    let docs = member(&members, "docs").and_then(|docs| Elements::of(body.slice_ref(docs.get().as_bytes())));
    docs.ok_or_else(|| ApiError::bad_request("Missing JSON list of 'docs'."))
}

/// One document of a `_bulk_get`.
struct BulkGetItem {
    /// The id, as JSON.
    id_json: String,
    /// The id and the revision, or the error of the request.
    what: std::result::Result<(String, Option<RevId>), ApiError>,
    /// The revision, as it was sent.
    rev_json: String,
    /// Revisions that the client has. Only attachments that are newer than one of them are sent with their bytes.
    atts_since: Option<Vec<RevId>>,
}

impl BulkGetItem {
    /// What is wrong with a document is an error in its place; only misspelt members are refused as a whole.
    fn of(doc: &str, partitioned: bool) -> Result<Self> {
        let members = if doc.starts_with('{') { distinct_members_of(doc.as_bytes())? } else { Vec::new() };
        refuse_misspelt_members(members.iter().map(|(name, _)| name.as_str()), &["id", "rev", "atts_since"])?;
        let id = member(&members, "id");
        let rev = member(&members, "rev").filter(|rev| rev.get() != "null");
        let since = member(&members, "atts_since");
        let id_json = id.map_or("null", RawValue::get).to_owned();
        let refused = |rev_json: &str, error: ApiError| {
            Ok(BulkGetItem {
                id_json: id_json.clone(),
                what: Err(error),
                rev_json: rev_json.to_owned(),
                atts_since: None,
            })
        };
        let id = match (members.is_empty(), id.map(|id| read_id(id, partitioned))) {
            (true, _) => return refused("null", ApiError::bad_request("document must be a JSON object")),
            (_, None) => return refused("null", ApiError::bad_request("document id missed")),
            (_, Some(Err(error))) => return refused("null", error),
            (_, Some(Ok(id))) => id,
        };
        let wanted = match rev.map(|rev| rev_of(rev).map_err(|error| (rev.get(), error))).transpose() {
            Ok(wanted) => wanted,
            Err((rev, error)) => return refused(rev, error),
        };
        let atts_since = match since.map(since_of).transpose() {
            Ok(revs) => revs,
            Err((value, error)) => return refused(value, error),
        };
        let rev_json = rev.map_or("\"undefined\"", RawValue::get).to_owned();
        Ok(BulkGetItem { id_json, what: Ok((id, wanted)), rev_json, atts_since })
    }

    fn opened(&self, at: &CollectionAt, latest: bool) -> Result<std::result::Result<Vec<Opened>, &ApiError>> {
        let (id, rev) = match &self.what {
            Ok(asked) => asked,
            Err(error) => return Ok(Err(error)),
        };
        Ok(Ok(match rev {
            Some(rev) => open_many(at, id, &[*rev], latest)?,
            None => all_leaves(at.clone(), id.clone(), at.leaves(id)?).collect::<Result<Vec<_>>>()?,
        }))
    }

    /// Maps each revision, or the error in its place, by `form`.
    fn each<T>(
        &self,
        at: &CollectionAt,
        latest: bool,
        form: impl Fn(std::result::Result<&Opened, String>) -> T,
    ) -> Result<Vec<T>> {
        let opened = match self.opened(at, latest)? {
            Err(error) => return Ok(vec![form(Err(self.error(&self.rev_json, error)))]),
            Ok(opened) if opened.is_empty() => {
                return Ok(vec![form(Err(self.error(&self.rev_json, &ApiError::missing())))]);
            }
            Ok(opened) => opened,
        };
        let row = |opened: &Opened| match opened {
            Opened::Found(_) => form(Ok(opened)),
            Opened::Missing(rev) => form(Err(self.error(&format!("\"{rev}\""), &ApiError::missing()))),
        };
        Ok(opened.iter().map(row).collect())
    }

    fn id(&self) -> &str {
        self.what.as_ref().map_or("", |(id, _)| id)
    }

    fn inline(&self, inline: &Inline) -> Inline {
        self.atts_since.clone().map_or_else(|| inline.clone(), |revs| inline.since(revs))
    }

    fn rows(&self, at: &CollectionAt, extras: Extras, latest: bool, inline: &Inline) -> Row {
        let inline = self.inline(inline);
        let form = |opened: std::result::Result<&Opened, String>| match opened {
            Ok(Opened::Found(revision)) => ok_row(at, self.id(), revision, extras, &inline),
            Ok(Opened::Missing(_)) => text(String::new()),
            Err(error) => text(error),
        };
        let comma = |(number, row): (usize, Row)| -> Row {
            if number == 0 { row } else { Box::new(text(",".to_owned()).chain(row)) }
        };
        match self.each(at, latest, form) {
            Ok(rows) => Box::new(rows.into_iter().enumerate().flat_map(comma)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    }

    fn parts(
        &self,
        at: &CollectionAt,
        extras: Extras,
        latest: bool,
        inline: &Inline,
    ) -> Vec<Result<multipart::Pieces>> {
        let inline = self.inline(inline);
        let form = |opened: std::result::Result<&Opened, String>| match opened {
            Ok(opened) => multipart::part(at, self.id(), opened, extras, &inline),
            Err(error) => Ok(multipart::error_part(&error)),
        };
        self.each(at, latest, form).unwrap_or_else(|error| vec![Err(error)])
    }

    fn error(&self, rev: &str, error: &ApiError) -> String {
        format!(
            "{{\"error\":{{\"id\":{},\"rev\":{rev},\"error\":\"{}\",\"reason\":{}}}}}",
            self.id_json,
            error.error,
            quote(&error.reason)
        )
    }
}

fn read_id(id: &RawValue, partitioned: bool) -> Result<String> {
    let id: String = serde_json::from_str(id.get()).map_err(|_| ApiError::id_not_a_string())?;
    match id.as_str() {
        "" => return Err(ApiError::id_empty()),
        own if own.starts_with('_') && !own.starts_with("_design/") && !own.starts_with("_local/") => {
            return Err(ApiError::id_reserved());
        }
        own if partitioned => partitions::check_id(own)?,
        _ => {}
    }
    Ok(id)
}

/// The revisions of `atts_since`, or what is wrong in it, and why.
fn since_of(value: &RawValue) -> std::result::Result<Vec<RevId>, (&str, ApiError)> {
    let wrong = || (value.get(), ApiError::bad_request("att_since value must be array of revs."));
    let revs = elements(value).ok().flatten().ok_or_else(wrong)?;
    revs.into_iter().map(|rev| rev_of(rev).map_err(|error| (rev.get(), error))).collect()
}

/// Revisions as strings, with commas between them.
pub(crate) fn quoted(revs: &[RevId]) -> String {
    let revs: Vec<String> = revs.iter().map(|rev| format!("\"{rev}\"")).collect();
    revs.join(",")
}
