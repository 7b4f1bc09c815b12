//! A revision that was made on another replica: the document, the revision with its ancestors, the body. Input is
//! parsed and checked once, here. Nothing here reads a store.

use crate::attachment::{Wanted, parse};
use crate::error::{Error, Result};
use crate::json::{Event, Minified, Parser, Visitor, minify_object_beside};
use crate::limits::REVISIONS_PER_DOCUMENT_MAX;
use crate::revid::RevId;
use crate::write::{check_id, string_of};

/// A revision that was made elsewhere and is stored as it is: CouchDB's `new_edits=false`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReplicatedWrite {
    pub id: String,
    /// The revision and its ancestors, newest first: at least one, generation by generation.
    pub path: Vec<RevId>,
    pub deleted: bool,
    pub body: String,
    pub attachments: Wanted,
}

impl ReplicatedWrite {
    /// The revision `rev` of the document `id`, with `ancestors` (newest first, as far as they are known). It has the
    /// body `body`, or deletes the document.
    ///
    /// # Errors
    /// [`Error::BadName`] for the id; [`Error::BadField`] for ancestors whose generations do not follow each
    /// other; for the body as `Write::from_json`.
    pub fn new(id: &str, rev: RevId, ancestors: &[RevId], deleted: bool, body: impl AsRef<[u8]>) -> Result<Self> {
        let Minified { text: body, reserved, kind } = minified(body.as_ref())?;
        if kind != "an object" {
            return Err(Error::NotAnObject { found: kind });
        }
        if let Some((field, _)) = reserved.into_iter().next() {
            return Err(Error::ReservedField { field: field.chars().take(80).collect() });
        }
        check_id(id)?;
        let path: Vec<RevId> = std::iter::once(&rev).chain(ancestors).copied().collect();
        if !path.windows(2).all(|pair| pair[0].generation() == pair[1].generation() + 1) {
            return Err(bad_revisions("ancestors, newest first, each one generation before the last"));
        }
        Self { id: id.to_owned(), path, deleted, body, attachments: Wanted::default() }.checked()
    }

    /// Reads a JSON object with `_id` and `_rev`, and with `_revisions`, `_deleted` and `_attachments` as replicas send
    /// them. Without `_revisions` no ancestor is known.
    ///
    /// # Errors
    /// As [`ReplicatedWrite::new`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        let Minified { text: body, reserved, kind } = minified(text.as_ref())?;
        if kind != "an object" {
            return Err(Error::NotAnObject { found: kind });
        }
        let (mut id, mut rev, mut revisions, mut deleted) = (None, None, None, false);
        let mut attachments = Wanted::default();
        for (field, value) in reserved {
            match field.as_str() {
                "_id" => id = Some(string_of(&value).ok_or(Error::BadField { field: "_id", expected: "a string" })?),
                "_rev" => {
                    let text = string_of(&value).ok_or(Error::BadField { field: "_rev", expected: "a string" })?;
                    rev = Some(text.parse::<RevId>()?);
                }
                "_revisions" => revisions = Some(parse_revisions(&value)?),
                "_deleted" if value == "true" => deleted = true,
                "_deleted" if value == "false" => {}
                "_deleted" => return Err(Error::BadField { field: "_deleted", expected: "true or false" }),
                "_attachments" => attachments = parse(&value)?.of_replica(),
                _ => return Err(Error::ReservedField { field: field.chars().take(80).collect() }),
            }
        }
        let id = id.ok_or(Error::BadField { field: "_id", expected: "there: a replica names its documents" })?;
        check_id(&id)?;
        let path = match (rev, revisions) {
            // As CouchDB reads them, even if `_rev` names another one.
            (_, Some(path)) => path,
            (Some(rev), None) => vec![rev],
            (None, None) => {
                return Err(Error::BadField { field: "_rev", expected: "there: a replica names its revisions" });
            }
        };
        Self { id, path, deleted, body, attachments }.checked()
    }

    fn checked(self) -> Result<Self> {
        if self.path.len() > REVISIONS_PER_DOCUMENT_MAX {
            return Err(Error::TooManyRevisions { id: self.id, max: REVISIONS_PER_DOCUMENT_MAX });
        }
        Ok(self)
    }

    /// The document's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The revision and its ancestors, newest first.
    pub fn path(&self) -> &[RevId] {
        &self.path
    }
}

/// Minifies a text. Its revision is not hashed here, which would find numbers that are out of range.
fn minified(text: &[u8]) -> Result<Minified> {
    let mut numbers = Numbers::default();
    let minified = minify_object_beside(text, &[], &mut numbers)?;
    match numbers.out_of_range {
        Some(number) => Err(Error::NumberOutOfRange { number }),
        None => Ok(minified),
    }
}

/// Looks for a number that no document can have.
#[derive(Default)]
struct Numbers {
    out_of_range: Option<String>,
    /// Whether there was one before the last member.
    before: bool,
}

impl Visitor for Numbers {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Number(number) = event
            && !number.in_range()
            && self.out_of_range.is_none()
        {
            self.out_of_range = Some(number.text.chars().take(80).collect());
        }
    }

    fn member(&mut self) {
        self.before = self.out_of_range.is_some();
    }

    fn withdraw(&mut self) {
        self.out_of_range.take_if(|_| !self.before);
    }

    fn superseded(&mut self) {}
}

fn bad_revisions(expected: &'static str) -> Error {
    Error::BadField { field: "_revisions", expected }
}

/// Reads `{"start":3,"ids":["c..","b..","a.."]}`.
fn parse_revisions(text: &str) -> Result<Vec<RevId>> {
    const EXPECTED: &str = "an object with start, a generation, and ids, that many suffixes at most, newest first";
    let bad = || bad_revisions(EXPECTED);
    let (mut start, mut ids) = (None, None);
    let mut parser = Parser::of_text(text);
    let mut next = || parser.next_event();
    if !matches!(next()?, Some(Event::ObjectStart)) {
        return Err(bad());
    }
    loop {
        match next()? {
            Some(Event::Key(key)) if key.decode() == "start" => match next()? {
                Some(Event::Number(number)) => start = number.to_i64().and_then(|start| u32::try_from(start).ok()),
                _ => return Err(bad()),
            },
            Some(Event::Key(key)) if key.decode() == "ids" => {
                if !matches!(next()?, Some(Event::ArrayStart)) {
                    return Err(bad());
                }
                let mut suffixes = Vec::new();
                loop {
                    match next()? {
                        Some(Event::String(suffix)) => suffixes.push(suffix.decode().into_owned()),
                        Some(Event::ArrayEnd) => break,
                        _ => return Err(bad()),
                    }
                }
                ids = Some(suffixes);
            }
            Some(Event::ObjectEnd) => break,
            _ => return Err(bad()),
        }
    }
    let (Some(start), Some(ids)) = (start, ids) else { return Err(bad()) };
    let mut generations = (1..=start).rev();
    let path: Vec<RevId> = ids
        .iter()
        .map(|suffix| RevId::with_suffix(generations.next().ok_or_else(bad)?, suffix))
        .collect::<Result<_>>()?;
    if path.is_empty() { Err(bad()) } else { Ok(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replicated_revision_is_read_with_its_ancestors() {
        let text = r#"{"_id":"a","n":1,"_revisions":{"ids":["c","b"],"start":3},"_rev":"3-c","_deleted":true}"#;
        let write = ReplicatedWrite::from_json(text).unwrap();
        let revs = ["3-c", "2-b"].map(|rev| rev.parse::<RevId>().unwrap());
        assert_eq!(
            (write.id(), write.path(), write.deleted, write.body.as_str()),
            ("a", &revs[..], true, r#"{"n":1}"#)
        );
        assert_eq!(ReplicatedWrite::new("a", revs[0], &revs[1..], true, r#"{"n":1}"#).unwrap(), write);
        assert_eq!(ReplicatedWrite::from_json(r#"{"_id":"a","_rev":"3-c"}"#).unwrap().path(), &revs[..1]);
        let other = r#"{"_id":"a","_rev":"9-x","_revisions":{"start":3,"ids":["c","b"]}}"#;
        assert_eq!(ReplicatedWrite::from_json(other).unwrap().path(), &revs);
    }

    #[test]
    fn what_a_replica_cannot_have_sent_is_refused() {
        for (fields, part) in [
            (r#""_rev":"1-a""#, "_id must be there"),
            (r#""_id":"a""#, "_rev must be there"),
            (r#""_id":"_x","_rev":"1-a""#, "reserved"),
            (r#""_id":"a","_rev":"x""#, "not a revision"),
            (r#""_id":"a","_rev":"1-a","_foo":1"#, "_foo"),
            (r#""_id":"a","_revisions":{"start":1,"ids":["b","a"]}"#, "_revisions must be"),
            (r#""_id":"a","_revisions":{"start":0,"ids":[]}"#, "_revisions must be"),
            (r#""_id":"a","_revisions":{"start":1,"ids":[]}"#, "_revisions must be"),
            (r#""_id":"a","_revisions":{"start":1,"ids":[1]}"#, "_revisions must be"),
            (r#""_id":"a","_revisions":{"start":1}"#, "_revisions must be"),
            (r#""_id":"a","_revisions":[1]"#, "_revisions must be"),
            (r#""_id":"a","_revisions":{"start":1.5,"ids":["a"]}"#, "_revisions must be"),
            (r#""_id":"a","_revisions":{"start":1,"ids":["a b"]}"#, "not a revision"),
        ] {
            let message = ReplicatedWrite::from_json(format!("{{{fields}}}")).unwrap_err().to_string();
            assert!(message.contains(part), "{fields}: {message}");
        }
        let [third, first] = ["3-c", "1-a"].map(|rev| rev.parse::<RevId>().unwrap());
        assert!(ReplicatedWrite::new("a", third, &[first], false, "{}").is_err());
    }
}
