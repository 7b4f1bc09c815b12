//! Local documents: notes that belong to one store and are never replicated, such as a replication's checkpoint. They
//! have no history and no conflicts; they are not counted, listed or among the changes. The last write wins: CouchDB
//! checks their revisions as weakly.

use crate::engine::{Direction, KeyRange, Snapshot};
use crate::faces::commit::in_one_commit;
use crate::faces::handles::Locals;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::side;
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::json::{Minified, minify_object, quote};
use recension_values::limits::DOCUMENT_ID_BYTES_MAX;
use recension_values::write::string_of;

const LAYOUT: u8 = 1;
const PREFIX: &str = "_local/";

/// A document that is not replicated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalDocument {
    /// Its name: its id after `_local/`.
    pub name: String,
    /// How often it was written; its revision is `0-` and this.
    pub number: u64,
    /// Its body: a minified JSON object without `_id` and `_rev`.
    pub body: String,
}

impl LocalDocument {
    /// Its revision as text: `0-1` for the first.
    pub fn rev(&self) -> String {
        format!("0-{}", self.number)
    }

    /// The body with `_id` and `_rev` before its own members.
    pub fn to_json(&self) -> String {
        let members = self.body.strip_prefix('{').unwrap_or("}");
        let comma = if members == "}" { "" } else { "," };
        let id = quote(&format!("{PREFIX}{}", self.name));
        format!("{{\"_id\":{id},\"_rev\":\"0-{}\"{comma}{members}", self.number)
    }

    fn key(name: &str) -> Vec<u8> {
        [&[side::LOCAL], name.as_bytes()].concat()
    }

    /// Body, number, layout.
    fn encode(&self) -> Vec<u8> {
        [self.body.as_bytes(), &self.number.to_be_bytes(), &[LAYOUT]].concat()
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self> {
        let what = || format!("the local document \"{}\"", key.get(1..).unwrap_or_default().escape_ascii());
        let read = || {
            let name = String::from_utf8(key.strip_prefix(&[side::LOCAL])?.to_vec()).ok()?;
            let (_layout, value) = value.split_last()?;
            let (body, number) = value.split_last_chunk()?;
            let body = String::from_utf8(body.to_vec()).ok()?;
            Some(LocalDocument { name, number: u64::from_be_bytes(*number), body })
        };
        match value.last() {
            Some(&found) if found > LAYOUT => Err(Error::NewerLayout { what: what(), found, supported: LAYOUT }),
            _ => read().ok_or_else(|| Error::DamagedRow { what: what(), why: "it does not read" }),
        }
    }
}

/// A local document as it was sent.
struct LocalWrite {
    /// The number in its `_rev`.
    number: u64,
    deleted: bool,
    body: String,
}

impl LocalWrite {
    fn from_json(name: &str, text: &[u8]) -> Result<Self> {
        check_name(name)?;
        let Minified { text: body, reserved, kind } = minify_object(text)?;
        if kind != "an object" {
            return Err(Error::NotAnObject { found: kind });
        }
        let (mut number, mut deleted) = (0, false);
        for (field, value) in reserved {
            match field.as_str() {
                "_rev" => number = number_of(&value)?,
                "_id" => {
                    let id = string_of(&value);
                    if id.as_deref().and_then(|id| id.strip_prefix(PREFIX)) != Some(name) {
                        let expected = "the id that the document is written under";
                        return Err(Error::BadField { field: "_id", expected });
                    }
                }
                "_deleted" if value == "true" => deleted = true,
                "_deleted" if value == "false" => {}
                "_deleted" => return Err(Error::BadField { field: "_deleted", expected: "true or false" }),
                _ => return Err(Error::ReservedField { field: field.chars().take(80).collect() }),
            }
        }
        Ok(LocalWrite { number, deleted, body })
    }
}

fn number_of(value: &str) -> Result<u64> {
    let rev = string_of(value);
    let digits = rev.as_deref().and_then(|rev| rev.strip_prefix("0-"));
    let number = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    number
        .and_then(|digits| digits.parse().ok())
        .ok_or(Error::BadField { field: "_rev", expected: "0- and a number, as local documents have it" })
}

fn check_name(name: &str) -> Result<()> {
    let bad = |why| Err(Error::BadName { what: "local document", name: name.chars().take(80).collect(), why });
    match name.len() {
        0 => bad("a name has at least one character"),
        len if len > DOCUMENT_ID_BYTES_MAX - PREFIX.len() => bad("an id is at most 2048 bytes long"),
        _ => Ok(()),
    }
}

impl CollectionAt {
    /// A local document, by its name: its id after `_local/`.
    pub fn local(&self, name: &str) -> Result<Option<LocalDocument>> {
        let Some(entry) = &self.entry else { return Ok(None) };
        let key = LocalDocument::key(name);
        self.snapshot.get(entry.side, &key)?.map(|row| LocalDocument::decode(&key, &row)).transpose()
    }

    /// All local documents, by name.
    pub fn locals(&self) -> Result<Vec<LocalDocument>> {
        let Some(entry) = &self.entry else { return Ok(Vec::new()) };
        let rows = self.snapshot.range(entry.side, &KeyRange::prefix([side::LOCAL]), Direction::Forward);
        rows.map(|row| row.map_err(Error::from).and_then(|row| LocalDocument::decode(&row.key, &row.value))).collect()
    }
}

impl Locals<'_> {
    /// A local document, by its name: its id after `_local/`.
    pub fn get(self, name: &str) -> Result<Option<LocalDocument>> {
        self.collection.at(At::Now)?.local(name)
    }

    /// All local documents, by name.
    pub fn list(self) -> Result<Vec<LocalDocument>> {
        self.collection.at(At::Now)?.locals()
    }

    /// Writes `body` as the local document `name`, whatever it says now. Returns the number of its new revision: one
    /// more than in the `_rev` of the body, or 1 without. If the body has `_deleted`, the document is deleted, and 0 is
    /// answered.
    ///
    /// # Errors
    /// [`Error::BadName`]; [`Error::BadField`] for a `_rev` that is not `0-` and a number;
    /// [`Error::NoSuchDocument`] if there is nothing to delete.
    pub fn put(self, name: &str, body: impl AsRef<[u8]>) -> Result<u64> {
        let LocalWrite { number, deleted, body } = LocalWrite::from_json(name, body.as_ref())?;
        if deleted {
            return self.delete(name).map(|()| 0);
        }
        let document = LocalDocument { name: name.to_owned(), number: number.saturating_add(1), body };
        let put = |writer: &mut Writer<'_>| {
            let entry = writer.entry_or_new()?;
            writer.view.put(entry.side, &LocalDocument::key(name), document.encode());
            Ok(document.number)
        };
        in_one_commit(self.collection, put).map(|(number, _)| number)
    }

    /// Deletes a local document.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`].
    pub fn delete(self, name: &str) -> Result<()> {
        check_name(name)?;
        let missing =
            || Error::NoSuchDocument { collection: self.collection.name().to_owned(), id: format!("{PREFIX}{name}") };
        let delete = |writer: &mut Writer<'_>| {
            let side = writer.entry.as_ref().ok_or_else(missing)?.side;
            let key = LocalDocument::key(name);
            writer.view.get(side, &key)?.ok_or_else(missing)?;
            writer.view.delete(side, &key);
            Ok(())
        };
        in_one_commit(self.collection, delete).map(|((), _)| ())
    }
}
