//! Reading documents within limits: one document, many revisions, and the database's description.

use std::fmt::Write as _;

use http::StatusCode;
use recension::json::quote;
use recension::{CollectionAt, RevId, Revision};
use serde_json::value::RawValue;

use super::feed;
use super::limits::{Limits, Shared, Told};
use crate::body::{distinct_members_of, elements, member, rev_of};
use crate::compacted::body_of;
use crate::inline::Inline;
use crate::multipart;
use crate::reading::{Extras, Shown};
use crate::revisions::asked_docs;
use crate::streaming;
use crate::writing::not_modified;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/{db}`: the members that replications need. Counts are left out: they would tell of hidden documents.
pub fn description(limits: &Limits) -> String {
    format!(
        "{{\"db_name\":{},\"update_seq\":{},\"purge_seq\":\"0\",\"instance_start_time\":\"0\",\
         \"compact_running\":false,\"disk_format_version\":8,\"props\":{{\"access\":true}}}}",
        quote(limits.db.name()),
        quote(&feed::now(limits))
    )
}

/// The revision whose attachment is read, if one is named; refuses what may not be read, as if it were not there.
pub fn attached(limits: &Limits, id: &str, rev: Option<RevId>) -> Result<Option<RevId>> {
    match rev {
        Some(rev) => readable(limits, id, &rev).map(Some),
        // That of the document as the user reads it, whose winner may be hidden.
        None => match limits.told(limits.db.opened(), id)?.first() {
            Some(told) => Ok(Some(told.real)),
            None => Err(ApiError::missing()),
        },
    }
}

/// The revision that a name stands for, if it may be read.
fn readable(limits: &Limits, id: &str, rev: &RevId) -> Result<RevId> {
    let at = limits.db.opened();
    let real = match limits.meant(at, id, rev)? {
        Some(Told { number, .. }) if number % 2 == 1 => return Err(ApiError::missing()),
        Some(told) => told.real,
        None => *rev,
    };
    match body_of(at, id, &real)? {
        Some(revision) if limits.opens(id, &revision)? => Ok(real),
        _ => Err(ApiError::missing()),
    }
}

/// `GET /{db}/{id}`
pub async fn document(request: Request, limits: Shared, id: &str) -> Result<Answer> {
    let query = &request.query;
    let (extras, inline) = (shown_extras(&request), Inline::of(query)?);
    let latest = query.is_true("latest");
    let open = query.get("open_revs").map(str::to_owned);
    let rev = query.rev("rev")?;
    let id = id.to_owned();
    let parts = open.is_some() && multipart::is_taken(&request, &["multipart/mixed"]);
    // The parts have the bytes of their attachments, as JSON.
    let inline = if parts { Inline::in_rows(true, false) } else { inline };
    let read = move || -> Result<(Vec<Found>, Option<RevId>)> {
        let at = limits.db.opened();
        let view = Opener { limits: &limits, at, extras, inline: &inline };
        if let Some(open) = open {
            let asked: Vec<RevId> = if open == "all" {
                limits.told(at, &id)?.iter().map(|told| limits.rev(&id, *told)).collect()
            } else {
                let asked: &RawValue = serde_json::from_str(&open).map_err(|_| ApiError::bad_json())?;
                let asked = elements(asked)?.ok_or_else(|| ApiError::bad_request("Invalid list of revisions"))?;
                asked.into_iter().map(rev_of).collect::<Result<_>>()?
            };
            let mut rows = Vec::new();
            for rev in asked {
                match view.open(&id, &rev, latest)? {
                    found if found.is_empty() => rows.push(Err(rev)),
                    found => rows.extend(found.into_iter().map(|(_, text)| Ok(text))),
                }
            }
            return Ok((rows, None));
        }
        let rev = match rev {
            Some(rev) => rev,
            None => match limits.told(at, &id)?.first() {
                Some(told) => limits.rev(&id, *told),
                None => return Err(ApiError::missing()),
            },
        };
        let found = view.open(&id, &rev, latest)?.into_iter().next();
        found.map(|(rev, text)| (vec![Ok(text)], Some(rev))).ok_or_else(ApiError::missing)
    };
    let (found, rev) = request.app.blocking(read).await?;
    if parts {
        let parts = found.into_iter().map(|found| match found {
            Ok(text) => Ok(multipart::json_part(&text)),
            Err(rev) => Ok(multipart::error_part(&missing(&rev))),
        });
        return multipart::mixed(&request.app, parts).await;
    }
    Ok(match (rev, found.as_slice()) {
        (Some(rev), _) if not_modified(&request, &rev) => Answer::empty(StatusCode::NOT_MODIFIED).etag(rev),
        (Some(rev), [Ok(text)]) => Answer::ok(text.clone()).etag(rev),
        (_, rows) => {
            let row = |row: &Found| match row {
                Ok(text) => format!("{{\"ok\":{text}}}"),
                Err(rev) => missing(rev),
            };
            Answer::ok(format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(",")))
        }
    })
}

/// A revision as JSON; `Err`: it is not there.
type Found = std::result::Result<String, RevId>;

fn missing(rev: &RevId) -> String {
    format!("{{\"missing\":\"{rev}\"}}")
}

/// The extras that are shown: none that tells of other leaves.
fn shown_extras(request: &Request) -> Extras {
    let asked = Extras::of(&request.query);
    Extras { revs: asked.revs, ..Extras::default() }
}

/// Finds revisions for a user.
struct Opener<'o> {
    limits: &'o Limits,
    at: &'o CollectionAt,
    extras: Extras,
    inline: &'o Inline,
}

impl Opener<'_> {
    /// A revision by its name; with `latest`, the told leaves that stand on it, if there are any.
    fn open(&self, id: &str, rev: &RevId, latest: bool) -> Result<Vec<(RevId, String)>> {
        let made_up = self.limits.meant(self.at, id, rev)?;
        let asked = made_up.unwrap_or(Told { real: *rev, number: 0 });
        let told = self.limits.told(self.at, id)?;
        if latest {
            let mut found = Vec::new();
            for own in &told {
                let stands = own.real == asked.real && own.number >= asked.number
                    || asked.number == 0
                        && self.at.ancestry(id, &own.real)?.is_some_and(|path| path.contains(&asked.real));
                if stands {
                    found.extend(self.shown(id, *own)?);
                }
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let shown = match asked.number {
            number if number % 2 == 1 => self.gone(id, asked)?,
            0 if made_up.is_none() => self.plain(id, rev)?,
            _ if told.contains(&asked) => self.shown(id, asked)?,
            _ => None,
        };
        Ok(shown.into_iter().collect())
    }

    /// A revision that is no leaf, or one under its own name.
    fn plain(&self, id: &str, rev: &RevId) -> Result<Option<(RevId, String)>> {
        match body_of(self.at, id, rev)? {
            Some(revision) if self.limits.opens(id, &revision)? => {
                self.text(id, &revision, Told { real: *rev, number: 0 }).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn shown(&self, id: &str, told: Told) -> Result<Option<(RevId, String)>> {
        let revision = self.at.get_revision(id, &told.real)?;
        revision.map(|revision| self.text(id, &revision, told)).transpose()
    }

    fn text(&self, id: &str, revision: &Revision, told: Told) -> Result<(RevId, String)> {
        let rev = self.limits.rev(id, told);
        let shown = Shown { rev, ..Shown::of(id, revision) };
        let mut text = self.inline.text(self.at, shown, Extras { revs: false, ..self.extras })?;
        self.push_path(id, told, &mut text)?;
        Ok((rev, text))
    }

    /// The deletion that tells a replica to drop a revision. A client that knows its name was told of it.
    fn gone(&self, id: &str, told: Told) -> Result<Option<(RevId, String)>> {
        let rev = self.limits.rev(id, told);
        let mut text = format!("{{\"_id\":{},\"_rev\":\"{rev}\",\"_deleted\":true}}", quote(id));
        self.push_path(id, told, &mut text)?;
        Ok(Some((rev, text)))
    }

    /// Adds `_revisions` if it is asked for: the made-up names, then the ancestors of the real revision.
    fn push_path(&self, id: &str, told: Told, text: &mut String) -> Result<()> {
        if !self.extras.revs {
            return Ok(());
        }
        let chain = (1..=told.number).rev().map(|number| self.limits.names.made_up(id, &told.real, number));
        let mut path: Vec<RevId> = chain.collect();
        path.extend(self.at.ancestry(id, &told.real)?.unwrap_or_else(|| vec![told.real]));
        let start = path.first().map_or(0, RevId::generation);
        let ids: Vec<String> = path.iter().map(|rev| format!("\"{}\"", rev.suffix())).collect();
        text.pop();
        // Writing to a String cannot fail.
        let _ = write!(text, ",\"_revisions\":{{\"start\":{start},\"ids\":[{}]}}}}", ids.join(","));
        Ok(())
    }
}

/// `POST /{db}/_bulk_get`
pub async fn bulk_get(mut request: Request, limits: Shared) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let read = |doc: &str| -> Result<(String, Option<RevId>)> {
        let members = distinct_members_of(doc.as_bytes())?;
        let id = member(&members, "id").and_then(|id| serde_json::from_str(id.get()).ok());
        let id = id.ok_or_else(ApiError::id_not_a_string)?;
        let rev = member(&members, "rev").filter(|rev| rev.get() != "null").map(rev_of).transpose()?;
        Ok((id, rev))
    };
    let all = move || {
        let docs = asked_docs(&body)?;
        docs.clone().try_for_each(|doc: String| read(&doc).map(drop))?;
        Ok(docs)
    };
    let docs = request.app.blocking(all).await?;
    let extras = shown_extras(&request);
    let (inline, latest) = (Inline::of(&request.query)?, request.query.is_true("latest"));
    let row = move |(number, doc): (usize, String)| -> Result<String> {
        let (id, rev) = read(&doc)?;
        let at = limits.db.opened();
        let view = Opener { limits: &limits, at, extras, inline: &inline };
        let found = match rev {
            Some(rev) => view.open(&id, &rev, latest)?,
            None => {
                let mut found = Vec::new();
                for told in limits.told(at, &id)? {
                    found.extend(view.shown(&id, told)?);
                }
                found
            }
        };
        let docs: Vec<String> = if found.is_empty() {
            let rev = rev.map_or("\"undefined\"".to_owned(), |rev| format!("\"{rev}\""));
            let (id, error) = (quote(&id), "\"error\":\"not_found\",\"reason\":\"missing\"");
            vec![format!("{{\"error\":{{\"id\":{id},\"rev\":{rev},{error}}}}}")]
        } else {
            found.into_iter().map(|(_, text)| format!("{{\"ok\":{text}}}")).collect()
        };
        let comma = if number == 0 { "" } else { "," };
        Ok(format!("{comma}{{\"id\":{},\"docs\":[{}]}}", quote(&id), docs.join(",")))
    };
    let rows = docs.enumerate().map(row);
    streaming::json(&request.app, "{\"results\":[".to_owned(), rows, "]}\n").await
}
