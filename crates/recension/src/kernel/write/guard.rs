//! Validation: within a write, the store's guard is asked whether the document may be written. The catalogue lists the
//! design documents that have validation functions; the commits that write these keep the list.

use std::fmt::Write as _;

use crate::engine::{Snapshot, TreeId};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use crate::kernel::write::resolve::Before;
use crate::kernel::write::writer::Writer;
use recension_values::attachment::{AttachmentInfo, stubs_json};
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::guard::{Actor, Proposed, Validator};
use recension_values::index_spec::{push_text, take_text};
use recension_values::json::{Event, Parser, quote};
use recension_values::revid::RevId;

const VALIDATORS_KEY: u8 = 0x08;

/// The member of a design document that holds its validation function.
const FUNCTION: &str = "validate_doc_update";

/// The program itself.
struct Own<'c>(&'c str);

impl Actor for Own<'_> {
    fn user(&self) -> String {
        format!("{{\"db\":{},\"name\":null,\"roles\":[\"_admin\"]}}", quote(self.0))
    }

    fn security(&self) -> String {
        "{}".to_owned()
    }
}

/// The key of the row that lists the design documents of a collection that have validation functions.
pub(crate) fn validators_key(documents: TreeId) -> Vec<u8> {
    [&[VALIDATORS_KEY][..], &documents.0.to_be_bytes()].concat()
}

fn encode(ids: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for id in ids {
        push_text(id, &mut out);
    }
    out
}

fn decode(value: &[u8]) -> Result<Vec<String>> {
    let mut reader = ByteReader::new(value);
    let mut ids = Vec::new();
    while !reader.is_empty() {
        let damaged = || Error::DamagedRow { what: "the list of validators".to_owned(), why: "it does not read" };
        ids.push(take_text(&mut reader).ok_or_else(damaged)?.to_owned());
    }
    Ok(ids)
}

/// The design documents of a collection that have validation functions.
pub(crate) fn validators(snapshot: &dyn Snapshot, entry: &CollectionEntry) -> Result<Vec<String>> {
    let row = snapshot.get(CATALOGUE, &validators_key(entry.documents))?;
    row.map_or(Ok(Vec::new()), |row| decode(&row))
}

impl CollectionAt {
    /// The design documents that have validation functions.
    pub fn validators(&self) -> Result<Vec<String>> {
        self.entry.as_ref().map_or(Ok(Vec::new()), |entry| validators(&*self.snapshot, entry))
    }
}

impl Writer<'_> {
    /// Asks whether a document may be written. `path`: the new revision's ancestors, newest first, if known. As the old
    /// document, the function sees the leaf that the new revision stands on; if there is none, the winner.
    pub(crate) fn ask_guard(&self, id: &str, path: &[RevId], next: ToBe<'_>, before: Option<&Before>) -> Result<()> {
        let Some(entry) = self.entry.as_ref().filter(|_| !id.starts_with("_design/")) else { return Ok(()) };
        let all = validators(self.view, entry)?;
        let Some(first) = all.first() else { return Ok(()) };
        let guard = self.slot.guard.get();
        let missing = || Error::NoGuard { collection: self.slot.name.clone(), design: first.clone() };
        let guard = guard.ok_or_else(missing)?;
        let new = shown(id, path, &next);
        let old = before.map(|before| self.shown_before(id, path, before)).transpose()?.flatten();
        let own = Own(&self.slot.name);
        let actor: &dyn Actor = self.actor.as_deref().unwrap_or(&own);
        let (user, security) = (actor.user(), actor.security());
        let proposed = Proposed { id, new: &new, old: old.as_deref(), user: &user, security: &security };
        for design in &all {
            let Some(own) = self.read(design)?.filter(|own| !own.head.deleted) else { continue };
            let (collection, branch, number) = (self.slot.name.as_str(), self.slot.branch, entry.documents.0);
            let body = own.content.body.as_ref();
            let validator = Validator { collection, branch, number, id: design, rev: own.head.rev, body };
            guard.validate(&validator, &proposed)?;
        }
        Ok(())
    }

    /// The document before a revision, as validation functions see it.
    fn shown_before(&self, id: &str, path: &[RevId], before: &Before) -> Result<Option<String>> {
        let live = |rev: &&RevId| before.tree.leaf(rev).is_some_and(|leaf| !leaf.deleted);
        let rev = path.iter().find(live).copied().or((!before.head.deleted).then_some(before.head.rev));
        let Some(rev) = rev else { return Ok(None) };
        let Some(body) = self.live_body_of(id, before, &rev)? else { return Ok(None) };
        let attachments = self.attachments_of(id, before, &rev)?;
        Ok(Some(shown(id, &[rev], &ToBe { deleted: false, body: &body, attachments: &attachments })))
    }

    /// Whether a guard has to be asked before a document is written.
    pub(crate) fn is_guarded(&self, id: &str) -> Result<bool> {
        match self.entry.as_ref().filter(|_| !id.starts_with("_design/")) {
            Some(entry) => Ok(self.view.get(CATALOGUE, &validators_key(entry.documents))?.is_some()),
            None => Ok(false),
        }
    }

    /// Asks whether a design document that is written here is valid.
    pub(crate) fn ask_guard_of_design(&self, id: &str, deleted: bool, body: &str) -> Result<()> {
        if deleted || !id.starts_with("_design/") {
            return Ok(());
        }
        self.ask_actor_of_design(id, deleted, body)?;
        self.slot.guard.get().map_or(Ok(()), |guard| guard.check_design(id, body))
    }

    /// Asks whether a design document has the form of one. Whether the functions of a replicated one compile, its use
    /// will tell: other engines know other dialects, and a replica that lacks it helps nobody.
    pub(crate) fn ask_actor_of_design(&self, id: &str, deleted: bool, body: &str) -> Result<()> {
        match &self.actor {
            Some(actor) if !deleted && id.starts_with("_design/") => actor.may_design(id, body),
            _ => Ok(()),
        }
    }

    /// Updates the list of validators for a design document's next state.
    pub(crate) fn note_validator(&self, entry: &CollectionEntry, id: &str, body: Option<&str>) -> Result<()> {
        if !id.starts_with("_design/") {
            return Ok(());
        }
        let mut all = validators(self.view, entry)?;
        let place = all.binary_search_by(|own| own.as_str().cmp(id));
        match (place, body.is_some_and(has_function)) {
            (Err(at), true) => all.insert(at, id.to_owned()),
            (Ok(at), false) => drop(all.remove(at)),
            _ => return Ok(()),
        }
        let key = validators_key(entry.documents);
        if all.is_empty() {
            self.view.delete(CATALOGUE, &key);
        } else {
            self.view.put(CATALOGUE, &key, encode(&all));
        }
        Ok(())
    }
}

/// The next state of a document.
#[derive(Clone, Copy)]
pub(crate) struct ToBe<'w> {
    pub(crate) deleted: bool,
    pub(crate) body: &'w str,
    pub(crate) attachments: &'w [AttachmentInfo],
}

/// A document as validation functions see it.
fn shown(id: &str, path: &[RevId], next: &ToBe<'_>) -> String {
    let ToBe { deleted, body, attachments } = *next;
    let mut out = format!("{{\"_id\":{}", quote(id));
    if let Some(rev) = path.first() {
        let ids: Vec<String> = path.iter().map(|rev| quote(&rev.suffix())).collect();
        let (start, ids) = (rev.generation(), ids.join(","));
        // Writing to a String cannot fail.
        let _ = write!(out, ",\"_rev\":\"{rev}\",\"_revisions\":{{\"start\":{start},\"ids\":[{ids}]}}");
    }
    if deleted {
        out.push_str(",\"_deleted\":true");
    }
    let members = body.strip_prefix('{').unwrap_or("}");
    out.push_str(if members == "}" { "" } else { "," });
    out.push_str(members);
    if !attachments.is_empty() {
        out.pop();
        // Writing to a String cannot fail.
        let _ = write!(out, ",\"_attachments\":{}}}", stubs_json(attachments));
    }
    out
}

/// Whether a design document has a validation function.
fn has_function(body: &str) -> bool {
    let mut parser = Parser::of_text(body);
    let mut named = false;
    while let Ok(Some(event)) = parser.next_event() {
        match event {
            Event::Key(name) if parser.depth() == 1 => named = name.is(FUNCTION),
            Event::String(_) if named && parser.depth() == 1 => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn validation_functions_are_members_of_the_whole() {
        assert!(has_function(r#"{"a":{},"validate_doc_update":"f"}"#));
        for body in ["{}", r#"{"a":{"validate_doc_update":"f"}}"#, r#"{"validate_doc_update":1,"b":"x"}"#] {
            assert!(!has_function(body), "{body}");
        }
    }

    #[test]
    fn lists_of_validators_read_back() {
        let ids = vec!["_design/a".to_owned(), "_design/é".to_owned()];
        assert_eq!(decode(&encode(&ids)).unwrap(), ids);
        assert!(decode(&[0, 9, 1]).is_err());
    }
}
