//! Documents as clients send them: parsed once, with CouchDB's leniences, which the library does not have. Pure.

use http::StatusCode;
use recension::json::{Minified, minify_object, quote};
use recension::{Error, Expect, ReplicatedWrite, RevId, Write};
use serde_json::value::RawValue;

use super::body::members_of;
use super::normal::{as_read, normalized};
use recension_wire::error::{ApiError, Result};

/// Members that CouchDB sends out and ignores when they come back.
const GIVEN_OUT: [&str; 5] = ["_conflicts", "_deleted_conflicts", "_local_seq", "_revs_info", "_replication_info"];

/// A document that was sent, and the revision that it names.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) write: Write,
    pub(crate) rev: Option<RevId>,
}

impl Incoming {
    /// Reads a document of at most `max` bytes. If it has no `_rev`, the document must be new.
    pub(crate) fn parse(text: &[u8], max: usize) -> Result<Self> {
        let write = match Write::from_json(text) {
            Err(error) if is_lenient(&error) => Write::from_json(leniently(text)?)?,
            other => other?,
        };
        if write.body().len() > max {
            return Err(ApiError::document_too_large(write.id().unwrap_or_default()));
        }
        let write = match normalized(write.body()) {
            Some(text) => match as_read(write.body()) {
                Some(read) => write.hashed_as(&read)?.reworded(text),
                None => write.reworded(text),
            },
            None => write,
        };
        match write.expectation() {
            Expect::Leaf(rev) => Ok(Incoming { write, rev: Some(rev) }),
            _ => Ok(Incoming { write: write.expecting(Expect::Absent), rev: None }),
        }
    }

    /// The same, based on a revision that was named elsewhere.
    pub(crate) fn on(mut self, rev: RevId) -> Self {
        self.write = self.write.expecting(Expect::Leaf(rev));
        self.rev = Some(rev);
        self
    }
}

/// Reads a replicated revision. It keeps its spelling: a replica has stored it so.
pub(crate) fn replicated(text: &[u8], max: usize) -> Result<ReplicatedWrite> {
    if text.len() > max.saturating_mul(2) {
        // About: attachments within the text do not count as the document's.
        check_size(text, max)?;
    }
    match ReplicatedWrite::from_json(text) {
        Err(error) if is_lenient(&error) => Ok(ReplicatedWrite::from_json(leniently_with_revisions(text)?)?),
        other => Ok(other?),
    }
}

fn check_size(text: &[u8], max: usize) -> Result<()> {
    let minified = minify_object(text).map_err(Error::from)?;
    if minified.text.len() > max { Err(ApiError::document_too_large("")) } else { Ok(()) }
}

/// The name of a local document that a text is about. Its revision (`0-1`) is none of other documents' revisions.
pub(crate) fn is_local(text: &[u8]) -> Option<String> {
    let Minified { reserved, .. } = minify_object(text).ok()?;
    let id = reserved.iter().rev().find(|(name, _)| name == "_id").map(|(_, value)| value)?;
    serde_json::from_str::<String>(id).ok()?.strip_prefix("_local/").filter(|name| !name.is_empty()).map(str::to_owned)
}

/// A local document as the library takes it: without its id, which is known, and without other members that begin with
/// `_`.
pub(crate) fn local(text: &[u8]) -> Result<String> {
    let minified = minify_object(text).map_err(Error::from)?;
    if minified.kind != "an object" {
        return Err(ApiError::not_a_document());
    }
    let kept = minified.reserved.iter().filter(|(name, _)| matches!(name.as_str(), "_rev" | "_deleted"));
    let body = normalized(&minified.text).unwrap_or(minified.text);
    Ok(joined(kept.map(|(name, value)| (name.as_str(), value.clone())), &body))
}

fn is_lenient(error: &Error) -> bool {
    matches!(error, Error::ReservedField { .. } | Error::BadAttachment { .. })
}

fn leniently(text: &[u8]) -> Result<String> {
    lenient(text, |_, value, has_rev| {
        let revisions: Revisions = serde_json::from_str(value).map_err(|_| unlike_revisions(value))?;
        Ok(match revisions.ids.first() {
            Some(suffix) if !has_rev => Some(("_rev", quote(&format!("{}-{suffix}", revisions.start)))),
            _ => None,
        })
    })
}

fn leniently_with_revisions(text: &[u8]) -> Result<String> {
    lenient(text, |_, value, _| Ok(Some(("_revisions", value.to_owned()))))
}

/// What is wrong with `_revisions`, in CouchDB's words.
fn unlike_revisions(value: &str) -> ApiError {
    let Ok(members) = members_of(value.as_bytes()) else { return ApiError::special_member("_revisions") };
    let is = |name: &str, is: fn(&str) -> bool| members.iter().any(|(own, value)| own == name && is(value.get()));
    let reason = if !is("start", |text| text.parse::<i64>().is_ok()) {
        "_revisions.start isn't an integer."
    } else if !is("ids", |text| text.starts_with('[')) {
        "_revisions.ids isn't a array."
    } else {
        return ApiError::special_member("_revisions");
    };
    ApiError::new(StatusCode::BAD_REQUEST, "doc_validation", reason)
}

#[derive(serde::Deserialize)]
struct Revisions {
    start: u32,
    ids: Vec<String>,
}

/// The text without the members that are sent out, and without attachments that are no objects.
fn lenient(
    text: &[u8],
    on_revisions: impl Fn(&str, &str, bool) -> Result<Option<(&'static str, String)>>,
) -> Result<String> {
    let Minified { text, reserved, .. } = minify_object(text).map_err(Error::from)?;
    let has_rev = reserved.iter().any(|(name, _)| name == "_rev");
    let mut kept = Vec::new();
    for (name, value) in &reserved {
        match name.as_str() {
            name if GIVEN_OUT.contains(&name) => {}
            "_revisions" => kept.extend(on_revisions(name, value, has_rev)?),
            "_attachments" => kept.push(("_attachments", attachments_that_are(value)?)),
            name => kept.push((name, value.clone())),
        }
    }
    Ok(joined(kept.into_iter(), &text))
}

/// The members of `_attachments` that are objects.
fn attachments_that_are(text: &str) -> Result<String> {
    let Ok(members) = members_of(text.as_bytes()) else { return Err(ApiError::special_member("_attachments")) };
    let objects = members.iter().filter(|(_, value)| value.get().starts_with('{'));
    let objects: Vec<String> =
        objects.map(|(name, value)| format!("{}:{}", quote(name), RawValue::get(value))).collect();
    Ok(format!("{{{}}}", objects.join(",")))
}

/// An object with these members and those of a minified object.
fn joined<'m>(members: impl Iterator<Item = (&'m str, String)>, object: &str) -> String {
    let mut out = String::with_capacity(object.len() + 64);
    out.push('{');
    for (name, value) in members {
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(&quote(name));
        out.push(':');
        out.push_str(&value);
    }
    let rest = object.strip_prefix('{').unwrap_or("}");
    if rest != "}" && out.len() > 1 {
        out.push(',');
    }
    out.push_str(rest);
    out
}

/// Reads a revision of the document `id`, whatever id the text has; `rev` is the query's parameter.
pub(crate) fn replicated_as(id: &str, text: &[u8], rev: Option<&str>, max: usize) -> Result<ReplicatedWrite> {
    let minified = minify_object(text).map_err(Error::from)?;
    if minified.kind != "an object" {
        return Err(ApiError::not_a_document());
    }
    let others = minified.reserved.iter().filter(|(name, _)| name != "_id");
    let mut members: Vec<(&str, String)> = vec![("_id", quote(id))];
    members.extend(others.map(|(name, value)| (name.as_str(), value.clone())));
    if let Some(rev) = rev.filter(|_| !minified.reserved.iter().any(|(name, _)| name == "_rev")) {
        members.push(("_rev", quote(rev)));
    }
    replicated(joined(members.into_iter(), &minified.text).as_bytes(), max)
}
