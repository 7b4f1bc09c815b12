//! A typed collection as its users see it.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use super::codec::{Codec, encode, encode_under};
use super::{DocumentType, TypedAt, TypedDocuments, TypedFound, TypedHistory, TypedTransaction};
use crate::engine::Seq;
use crate::faces::collection::Collection;
use crate::faces::edit::Matched;
use crate::faces::loader::LoadFailure;
use crate::faces::store::{Ahead, Store};
use crate::faces::transaction::Transaction;
use crate::kernel::query::page::Page;
use crate::kernel::read::reader::{ListOptions, read_document};
use recension_values::at::At;
use recension_values::condition::Literal;
use recension_values::error::Result;
use recension_values::model::{Document, IndexState, Written};
use recension_values::query::Query;
use recension_values::revid::RevId;
use recension_values::write::Expect;

/// A value with its document's id, revision and commit. It is used as the value itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry<T> {
    /// The document's id.
    pub id: String,
    /// Its revision.
    pub rev: RevId,
    /// The commit that wrote it; `u64::MAX` if the reading transaction itself wrote it.
    pub seq: Seq,
    /// The value.
    pub value: T,
}

impl<T: DocumentType> Entry<T> {
    pub(super) fn of(codec: &Codec<T>, document: &Document<'_>) -> Result<Self> {
        let value = codec.decode(document)?;
        Ok(Entry { id: document.id.as_ref().to_owned(), rev: document.rev, seq: document.seq, value })
    }
}

impl<T> Deref for Entry<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl Store {
    /// The collection of a type, with the indexes that the type declares. Missing indexes are made, which takes as long
    /// as [`Collection::create_index`] does. If all are there, this costs one read at most.
    ///
    /// Indexes that the type no longer declares stay; [`Collection::drop_index`] drops them.
    ///
    /// # Errors
    /// As [`Collection::create_index`]; [`Error::BadName`](crate::Error::BadName).
    pub fn typed<T: DocumentType>(&self) -> Result<Typed<T>> {
        let collection = self.collection(T::COLLECTION)?;
        if !T::INDEXES.is_empty() {
            let there = collection.indexes()?;
            for declared in T::INDEXES {
                let spec = declared.spec()?;
                if !there.iter().any(|index| index.spec == spec && index.state == IndexState::Ready) {
                    collection.create_index(spec, |_| {})?;
                }
            }
        }
        Ok(Typed { collection, codec: Codec::new() })
    }
}

/// A collection of values of one type. Clones are cheap; use it from any thread.
pub struct Typed<T> {
    pub(super) collection: Collection,
    pub(super) codec: Codec<T>,
}

impl<T> Clone for Typed<T> {
    fn clone(&self) -> Self {
        Typed { collection: self.collection.clone(), codec: self.codec.clone() }
    }
}

impl<T: DocumentType> Typed<T> {
    /// The collection without the type.
    pub fn untyped(&self) -> &Collection {
        &self.collection
    }

    /// The same collection, which brings documents of older versions to the newest one as they are read.
    ///
    /// `step` gets a version and a body of that version, without id and revision, and answers the body of the next
    /// version. It is called once for each version in between. A document with an integer beyond 64 bits, or with a
    /// number of more digits than a double has, is not migrated: reading it is an error, and it stays as it is.
    ///
    /// ```
    /// use recension::{Document, Result, Store};
    /// use recension::serde_json::Value;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Document, Serialize, Deserialize)]
    /// #[recension(collection = "people", version = 2)]
    /// struct Person {
    ///     #[recension(id)]
    ///     id: String,
    ///     full_name: String,
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let store = Store::memory()?;
    /// store.collection("people")?.put("ada", r#"{"first": "Ada", "last": "Lovelace"}"#)?;
    /// let people = store.typed::<Person>()?.with_migration(|from, mut body| {
    ///     if from == 1 {
    ///         let full_name = format!("{} {}", body["first"].as_str().unwrap_or(""), body["last"].as_str().unwrap_or(""));
    ///         body = recension::serde_json::json!({ "full_name": full_name });
    ///     }
    ///     Ok::<Value, std::convert::Infallible>(body)
    /// });
    /// assert_eq!(people.get("ada")?.unwrap().full_name, "Ada Lovelace");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_migration<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        self,
        step: impl Fn(u32, Value) -> std::result::Result<Value, E> + Send + Sync + 'static,
    ) -> Self {
        let step = Arc::new(move |from, body| step(from, body).map_err(Into::into));
        Typed { codec: Codec::migrating(step), ..self }
    }

    /// A value; `None` if there is no document or it is deleted. It is decoded from where the engine has it.
    pub fn get(&self, id: &str) -> Result<Option<T>> {
        self.read(id, |document| self.codec.decode(document))
    }

    /// A value, with its revision.
    pub fn entry(&self, id: &str) -> Result<Option<Entry<T>>> {
        self.read(id, |document| Entry::of(&self.codec, document))
    }

    /// The value whose document has these values in a unique index; see [`Collection::get_by`].
    pub fn get_by(&self, index: &str, values: &[Literal]) -> Result<Option<T>> {
        self.collection.read_by(index, values, |document| self.codec.decode(&document))
    }

    fn read<U>(&self, id: &str, decode: impl FnOnce(&Document<'_>) -> Result<U>) -> Result<Option<U>> {
        let snapshot = self.collection.store().snapshot_for(&self.collection.slot, Ahead::Read(&[id]))?;
        let Some(entry) = self.collection.slot.entry(&*snapshot)? else { return Ok(None) };
        match read_document(&*snapshot, entry.documents, Cow::Borrowed(id))? {
            Some(document) if !document.deleted => decode(&document).map(Some),
            _ => Ok(None),
        }
    }

    /// The collection at a moment: one commit for any number of reads.
    pub fn at(&self, at: At) -> Result<TypedAt<T>> {
        Ok(TypedAt { reader: self.collection.at(at)?, codec: self.codec.clone() })
    }

    /// The collection as a transaction sees it, with the same migrations.
    ///
    /// ```
    /// # use recension::{Document, Result, Store};
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Document, Serialize, Deserialize)]
    /// struct Account {
    ///     #[recension(id)]
    ///     id: u32,
    ///     balance: i64,
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let store = Store::memory()?;
    /// let accounts = store.typed::<Account>()?;
    /// accounts.put(&Account { id: 1, balance: 10 })?;
    /// accounts.put(&Account { id: 2, balance: 0 })?;
    /// store.transaction(|tx| {
    ///     let accounts = accounts.within(tx)?;
    ///     accounts.update("1", |from| Ok(from.balance -= 3))?;
    ///     accounts.update("2", |to| Ok(to.balance += 3))
    /// })?;
    /// assert_eq!(accounts.get("2")?.unwrap().balance, 3);
    /// # Ok(()) }
    /// ```
    pub fn within<'t>(&self, transaction: &'t Transaction) -> Result<TypedTransaction<'t, T>> {
        Ok(TypedTransaction::new(transaction.collection(T::COLLECTION)?, self.codec.clone()))
    }

    /// Values in the order of their ids.
    pub fn list(&self, options: &ListOptions) -> Result<TypedDocuments<T>> {
        self.at(At::Now)?.list(options)
    }

    /// The values that a query asks for; see [`TypedAt::find`].
    pub fn find(&self, query: &Query) -> Result<TypedFound<T>> {
        self.at(At::Now)?.find(query)
    }

    /// One page of the values that a query asks for, and whether there is a next one; see [`CollectionAt::page`].
    ///
    /// [`CollectionAt::page`]: crate::CollectionAt::page
    pub fn page(&self, query: &Query) -> Result<Page<T>> {
        self.at(At::Now)?.page(query)
    }

    /// Every revision of a document, newest first.
    pub fn history(&self, id: &str) -> Result<TypedHistory<T>> {
        self.at(At::Now)?.history(id)
    }

    /// How many documents there are.
    pub fn count(&self) -> Result<u64> {
        self.collection.count()
    }

    /// Writes a value under its id, whatever the document says now. If the value has no id, a document with a new id is
    /// made. If the value has a revision, the document must be at it.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict), [`Error::NotUnique`](crate::Error::NotUnique),
    /// [`Error::Encode`](crate::Error::Encode); input errors.
    pub fn put(&self, value: &T) -> Result<Written> {
        self.collection.write(encode(value)?)
    }

    /// Writes a new document; it is given an id if the value has none.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if the document exists; as [`Typed::put`].
    pub fn create(&self, value: &T) -> Result<Written> {
        self.collection.write(encode(value)?.expecting(Expect::Absent))
    }

    /// Writes a value in the place of the revision `rev` of its document.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if it is at another one; as [`Typed::put`].
    pub fn replace(&self, rev: &RevId, value: &T) -> Result<Written> {
        self.collection.write(encode(value)?.expecting(Expect::Revision(*rev)))
    }

    /// Deletes the document `id`, whatever it says; see [`Collection::remove`].
    ///
    /// # Errors
    /// As [`Collection::remove`].
    pub fn remove(&self, id: &str) -> Result<bool> {
        self.collection.remove(id)
    }

    /// Deletes the document `id`, which is at `rev`. Its history stays.
    ///
    /// # Errors
    /// [`Error::Conflict`](crate::Error::Conflict) if it is at another revision.
    pub fn delete(&self, id: &str, rev: &RevId) -> Result<Written> {
        self.collection.delete(id, rev)
    }

    /// If a value cannot be encoded, or a commit fails as a whole. Earlier commits stay.
    ///
    /// # Errors
    /// If a value cannot be encoded, or a commit fails as a whole. Earlier commits stay.
    pub fn put_all(&self, values: impl IntoIterator<Item = T>) -> Result<Vec<LoadFailure>> {
        let mut loader = self.collection.loader();
        let mut failures = Vec::new();
        for value in values {
            failures.extend(loader.push(encode(&value)?)?);
        }
        failures.extend(loader.finish()?);
        Ok(failures)
    }

    /// Changes the document `id`: `change` changes its value, which is then written. If others have written the
    /// document meanwhile, `change` runs again on their value. Returns the written value.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`](crate::Error::NoSuchDocument); that of `change`, and then nothing is
    /// written; [`Error::Encode`](crate::Error::Encode) if it changes the id; as [`Typed::put`].
    pub fn update(&self, id: &str, mut change: impl FnMut(&mut T) -> Result<()>) -> Result<T> {
        self.collection.store().transaction(|tx| self.within(tx)?.update(id, &mut change))
    }

    /// Changes the document `id`, or makes it: `make` gets its value, if there is one, and answers the new one. If
    /// others have written the document meanwhile, `make` runs again. Returns the written value.
    ///
    /// # Errors
    /// Those of [`Typed::update`].
    pub fn upsert(&self, id: &str, mut make: impl FnMut(Option<T>) -> Result<T>) -> Result<T> {
        self.collection.store().transaction(|tx| self.within(tx)?.upsert(id, &mut make))
    }

    /// Changes the values that a query finds, in commits of many. `change` answers whether it has changed its value.
    /// Changed documents of an older version are migrated. Documents that others write meanwhile are left alone and
    /// named.
    ///
    /// # Errors
    /// That of `change`; [`Error::Encode`](crate::Error::Encode) if it changes the id; as
    /// [`Typed::put`]. What was committed before stays.
    pub fn update_matching(&self, query: &Query, mut change: impl FnMut(&mut T) -> Result<bool>) -> Result<Matched> {
        self.collection.for_matching(self.collection.find(query)?, |document| {
            let mut value = self.codec.decode(document)?;
            if !change(&mut value)? {
                return Ok(None);
            }
            let write = encode_under(&document.id, &value)?;
            Ok(Some(write.expecting(Expect::Revision(document.rev)).keep_attachments()))
        })
    }

    /// Deletes the documents that a query finds; see [`Collection::delete_matching`].
    pub fn delete_matching(&self, query: &Query) -> Result<Matched> {
        self.collection.delete_matching(query)
    }
}
