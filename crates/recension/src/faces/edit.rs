//! Changing a part of a document: patches, merge patches, functions of its body. Each change is one transaction. It
//! runs again if another writer has changed the document meanwhile, unless the caller names the revision that it
//! expects.

use crate::faces::collection::Collection;
use crate::faces::store::Ahead;
use crate::faces::transaction::TransactionCollection;
use crate::kernel::query::find::Found;
use recension_values::error::{Error, Result};
use recension_values::json::{JsonPatch, merge_patch_minified};
use recension_values::limits::{LOAD_BATCH_BYTES, LOAD_BATCH_DOCUMENTS};
use recension_values::model::{Document, Staged, Written};
use recension_values::query::Query;
use recension_values::revid::RevId;
use recension_values::write::{Expect, NOT_BY_A_CHANGE, Write};

impl Collection {
    /// Applies a JSON patch (RFC 6902) to the body of a document, wholly or not at all. With [`Expect::Anything`] the
    /// patch is applied to what the document says at that moment. With [`Expect::Revision`] it is applied to that
    /// revision, the winner or a losing leaf of a conflict, and the new revision replaces it.
    ///
    /// ```
    /// use recension::{Expect, Store, json::JsonPatch};
    /// # fn main() -> recension::Result<()> {
    /// let menu = Store::memory()?.collection("menu")?;
    /// menu.put("pizza", r#"{"price":9.50,"toppings":["pineapple"]}"#)?;
    /// let patch = JsonPatch::from_json(r#"[{"op":"add","path":"/toppings/-","value":"ham"}]"#)?;
    /// menu.patch("pizza", Expect::Anything, &patch)?;
    /// assert_eq!(menu.get("pizza")?.unwrap().body, r#"{"price":9.50,"toppings":["pineapple","ham"]}"#);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Patch`] names the operation that could not be carried out; [`Error::NoSuchDocument`];
    /// [`Error::Conflict`] if the document is not as expected; as [`Collection::put`].
    pub fn patch(&self, id: &str, expect: Expect, patch: &JsonPatch) -> Result<Written> {
        self.edit(id, |collection| collection.patch(id, expect, patch))
    }

    /// Applies a JSON merge patch (RFC 7396) to the body of a document.
    ///
    /// # Errors
    /// As [`Collection::patch`].
    pub fn merge_patch(&self, id: &str, expect: Expect, patch: impl AsRef<[u8]>) -> Result<Written> {
        self.edit(id, |collection| collection.merge_patch(id, expect, &patch))
    }

    /// Writes what `change` makes of the body of a document. It may run more than once.
    ///
    /// # Errors
    /// That of `change`, and then nothing is written; [`Error::NoSuchDocument`]; as [`Collection::put`].
    pub fn update(&self, id: &str, mut change: impl FnMut(&str) -> Result<String>) -> Result<Written> {
        self.edit(id, |collection| collection.update(id, &mut change))
    }

    /// Writes what `make` makes of the body of a document, or of its absence. It may run more than once.
    ///
    /// # Errors
    /// That of `make`, and then nothing is written; as [`Collection::put`].
    pub fn upsert(&self, id: &str, mut make: impl FnMut(Option<&str>) -> Result<String>) -> Result<Written> {
        self.edit(id, |collection| collection.upsert(id, &mut make))
    }

    /// Deletes a document whatever it says; returns whether there was one. Its history stays. Whoever has read it
    /// deletes the revision that was read, so that no change of others is lost: [`Collection::delete`].
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// let menu = recension::Store::memory()?.collection("menu")?;
    /// menu.put("pizza", "{}")?;
    /// assert!(menu.remove("pizza")?);
    /// assert!(!menu.remove("pizza")?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`Collection::delete`].
    pub fn remove(&self, id: &str) -> Result<bool> {
        let mut there = false;
        let removed = self.edit(id, |collection| {
            let staged = collection.remove(id)?;
            there = staged.is_some();
            staged.ok_or_else(|| Error::NoSuchDocument { collection: self.name().to_owned(), id: id.to_owned() })
        });
        match removed {
            Err(Error::NoSuchDocument { .. }) if !there => Ok(false),
            removed => removed.map(|_| true),
        }
    }

    /// Deletes the documents that a query finds, in commits of many. Documents that others write meanwhile are left
    /// alone; their ids are answered.
    pub fn delete_matching(&self, query: &Query) -> Result<Matched> {
        self.for_matching(self.find(query)?, |document| Write::delete(&document.id, &document.rev).map(Some))
    }

    /// Writes what `change` makes of the bodies of the documents that a query finds, in commits of many. `None` leaves
    /// a document as it is. Attachments stay. Documents that others write meanwhile are left alone; their ids are
    /// answered.
    ///
    /// # Errors
    /// [`Error::Stopped`], which says how many documents were changed before: around that of `change`, which names the
    /// document, around [`Error::BadField`] if it makes a body with `_deleted`, [`Error::ReservedField`] if with
    /// another name of its kind, and, after the first commit, around those of [`Collection::put`].
    pub fn update_matching(
        &self,
        query: &Query,
        mut change: impl FnMut(&str, &str) -> Result<Option<String>>,
    ) -> Result<Matched> {
        self.for_matching(self.find(query)?, |document| {
            let body = change(&document.id, &document.body)?;
            body.map(|body| Write::change(&document.id, &document.rev, body)).transpose()
        })
    }

    pub(crate) fn for_matching(
        &self,
        found: Found,
        mut write: impl FnMut(&Document<'_>) -> Result<Option<Write>>,
    ) -> Result<Matched> {
        let mut matched = Matched::default();
        let (mut writes, mut bytes) = (Vec::new(), 0);
        for document in found {
            let document = document.map_err(|error| Error::stopped(None, matched.written, error))?;
            let write = write(&document);
            let stopped = |error| Error::stopped(Some(&document.id), matched.written, error);
            let Some(write) = write.map_err(stopped)? else { continue };
            bytes += write.size_bytes();
            writes.push(write);
            if writes.len() >= LOAD_BATCH_DOCUMENTS || bytes >= LOAD_BATCH_BYTES {
                self.write_matched(std::mem::take(&mut writes), &mut matched)?;
                bytes = 0;
            }
        }
        self.write_matched(writes, &mut matched)?;
        Ok(matched)
    }

    fn write_matched(&self, writes: Vec<Write>, matched: &mut Matched) -> Result<()> {
        let results = self.bulk(writes).map_err(|error| Error::stopped(None, matched.written, error))?;
        let mut refused = None;
        for result in results {
            match result {
                Ok(_) => matched.written += 1,
                Err(Error::Conflict { id, .. }) => matched.left_alone.push(id),
                // Others of the same commit are written, whatever one of them is refused for.
                Err(error) => _ = refused.get_or_insert(error),
            }
        }
        refused.map_or(Ok(()), |error| Err(Error::stopped(None, matched.written, error)))
    }

    fn edit(&self, id: &str, mut edit: impl FnMut(&TransactionCollection<'_>) -> Result<Staged>) -> Result<Written> {
        let store = self.store();
        let begin = || store.snapshot_for(&self.slot, Ahead::Write(&[id]));
        let (Staged { id, rev }, commit) =
            store.transaction_from(begin, None, |tx| edit(&tx.collection(self.name())?))?;
        Ok(Written { id, rev, seq: commit.seq, time: commit.time })
    }
}

/// The result of changing the documents that a query finds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Matched {
    /// Documents written or deleted.
    pub written: u64,
    /// Documents that others wrote after they were found.
    pub left_alone: Vec<String>,
}

impl TransactionCollection<'_> {
    /// Applies a JSON patch to the body of a document; see [`Collection::patch`].
    pub fn patch(&self, id: &str, expect: Expect, patch: &JsonPatch) -> Result<Staged> {
        let (body, rev, on) = self.expected(id, expect)?;
        self.write_body(Write::put_minified(id, patch.apply_minified(&body)?)?, Some(rev), on)
    }

    /// Applies a JSON merge patch to the body of a document; see [`Collection::merge_patch`].
    pub fn merge_patch(&self, id: &str, expect: Expect, patch: impl AsRef<[u8]>) -> Result<Staged> {
        let (body, rev, on) = self.expected(id, expect)?;
        self.write_body(Write::put_minified(id, merge_patch_minified(&body, patch)?)?, Some(rev), on)
    }

    /// Deletes a document whatever it says; `None` if there is none. See [`Collection::remove`].
    pub fn remove(&self, id: &str) -> Result<Option<Staged>> {
        self.get(id)?.map(|document| self.delete(id, &document.rev)).transpose()
    }

    /// Writes what `change` makes of the body of a document; see [`Collection::update`].
    pub fn update(&self, id: &str, change: impl FnOnce(&str) -> Result<String>) -> Result<Staged> {
        let (body, rev, on) = self.expected(id, Expect::Anything)?;
        self.write_body(Write::put(id, change(&body)?)?, Some(rev), on)
    }

    /// Writes what `make` makes of the body of a document, or of its absence; see [`Collection::upsert`].
    pub fn upsert(&self, id: &str, make: impl FnOnce(Option<&str>) -> Result<String>) -> Result<Staged> {
        let document = self.get(id)?;
        let body = make(document.as_ref().map(|document| &*document.body))?;
        self.write_body(Write::put(id, body)?, document.map(|document| document.rev), Expect::Anything)
    }

    /// The body of the expected revision, the revision, and the expectation of the write: the revision may be a losing
    /// leaf of a conflict.
    fn expected(&self, id: &str, expect: Expect) -> Result<(String, RevId, Expect)> {
        let conflict = |expected, found| Error::conflict(id, expected, found, false);
        let reader = self.reader()?;
        let winner = reader.get(id)?;
        let found = winner.as_ref().map(|document| document.rev);
        match (winner, expect) {
            // The transaction depends on its read of the document, so the write itself expects nothing more.
            (Some(document), Expect::Anything) => Ok((document.body.into_owned(), document.rev, Expect::Anything)),
            (Some(document), Expect::Revision(rev) | Expect::Leaf(rev)) if document.rev == rev => {
                Ok((document.body.into_owned(), rev, Expect::Anything))
            }
            (Some(_), Expect::Revision(rev) | Expect::Leaf(rev)) => {
                if !reader.conflicts(id)?.contains(&rev) {
                    return Err(conflict(Some(rev), found));
                }
                let loser = reader.get_revision(id, &rev)?.ok_or_else(|| conflict(Some(rev), found))?;
                Ok((loser.body, rev, Expect::Revision(rev)))
            }
            (Some(_), Expect::Absent) => Err(conflict(None, found)),
            (None, Expect::Revision(rev) | Expect::Leaf(rev)) => Err(conflict(Some(rev), None)),
            (None, _) => Err(Error::NoSuchDocument { collection: self.name().to_owned(), id: id.to_owned() }),
        }
    }

    /// Writes what a change has made of the revision `of`. A `_rev` in it, which only the change can have named, has to
    /// be that one.
    fn write_body(&self, write: Write, of: Option<RevId>, on: Expect) -> Result<Staged> {
        if let Expect::Leaf(named) = write.expectation()
            && Some(named) != of
        {
            return Err(Error::conflict(write.id().unwrap_or_default(), Some(named), of, false));
        }
        let write = write.expecting(on).keep_attachments();
        if write.is_deletion() {
            return Err(Error::BadField { field: "_deleted", expected: NOT_BY_A_CHANGE });
        }
        self.write(write)
    }
}
