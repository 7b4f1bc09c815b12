//! A typed collection inside of a transaction.

use super::codec::{Codec, encode, encode_under};
use super::{DocumentType, Entry, TypedAt, TypedDocuments, TypedFound};
use crate::faces::transaction::{Transaction, TransactionCollection};
use crate::kernel::read::reader::ListOptions;
use recension_values::condition::Literal;
use recension_values::error::{Error, Result};
use recension_values::model::Staged;
use recension_values::query::Query;
use recension_values::revid::RevId;
use recension_values::write::Expect;

impl Transaction {
    /// The collection of a type, as this transaction sees it. Its indexes are declared by [`Store::typed`], and
    /// [`Typed::within`] is for types with migrations.
    ///
    /// [`Store::typed`]: crate::Store::typed
    /// [`Typed::within`]: crate::Typed::within
    pub fn typed<T: DocumentType>(&self) -> Result<TypedTransaction<'_, T>> {
        Ok(TypedTransaction::new(self.collection(T::COLLECTION)?, Codec::new()))
    }
}

/// A typed collection inside of a transaction: its reads see the transaction's own writes.
pub struct TypedTransaction<'t, T> {
    collection: TransactionCollection<'t>,
    codec: Codec<T>,
}

impl<'t, T: DocumentType> TypedTransaction<'t, T> {
    pub(super) fn new(collection: TransactionCollection<'t>, codec: Codec<T>) -> Self {
        TypedTransaction { collection, codec }
    }

    /// The collection without the type.
    pub fn untyped(&self) -> &TransactionCollection<'t> {
        &self.collection
    }

    /// All reads of the collection, as the transaction sees it now. They may not see later writes of the transaction.
    pub fn reader(&self) -> Result<TypedAt<T>> {
        Ok(TypedAt { reader: self.collection.reader()?, codec: self.codec.clone() })
    }

    /// A value; `None` if there is no document or it is deleted.
    pub fn get(&self, id: &str) -> Result<Option<T>> {
        self.reader()?.get(id)
    }

    /// A value, with its revision.
    pub fn entry(&self, id: &str) -> Result<Option<Entry<T>>> {
        self.reader()?.entry(id)
    }

    /// The value whose document has these values in a unique index; see
    /// [`CollectionAt::get_by`](crate::CollectionAt::get_by).
    pub fn get_by(&self, index: &str, values: &[Literal]) -> Result<Option<T>> {
        self.reader()?.get_by(index, values)
    }

    /// Values in the order of their ids.
    pub fn list(&self, options: &ListOptions) -> Result<TypedDocuments<T>> {
        self.reader()?.list(options)
    }

    /// The values that a query asks for.
    pub fn find(&self, query: &Query) -> Result<TypedFound<T>> {
        self.reader()?.find(query)
    }

    /// Writes a value under its id; if it has a revision, the document must be at it.
    pub fn put(&self, value: &T) -> Result<Staged> {
        self.collection.write(encode(value)?)
    }

    /// Writes a new document; it is given an id if the value has none.
    pub fn create(&self, value: &T) -> Result<Staged> {
        self.collection.write(encode(value)?.expecting(Expect::Absent))
    }

    /// Writes a value in the place of the revision `rev` of its document.
    pub fn replace(&self, rev: &RevId, value: &T) -> Result<Staged> {
        self.collection.write(encode(value)?.expecting(Expect::Revision(*rev)))
    }

    /// Deletes the document `id`, which is at `rev`.
    pub fn delete(&self, id: &str, rev: &RevId) -> Result<Staged> {
        self.collection.delete(id, rev)
    }

    /// Changes the document `id`; returns the written value.
    ///
    /// # Errors
    /// [`Error::NoSuchDocument`]; that of `change`; [`Error::Encode`] if it changes the id.
    pub fn update(&self, id: &str, change: impl FnOnce(&mut T) -> Result<()>) -> Result<T> {
        let none = || Error::NoSuchDocument { collection: T::COLLECTION.to_owned(), id: id.to_owned() };
        let mut value = self.get(id)?.ok_or_else(none)?;
        change(&mut value)?;
        self.write_under(id, value)
    }

    /// Changes the document `id`, or makes it; returns the written value.
    ///
    /// # Errors
    /// That of `make`; [`Error::Encode`] if the new value has another id.
    pub fn upsert(&self, id: &str, make: impl FnOnce(Option<T>) -> Result<T>) -> Result<T> {
        let value = make(self.get(id)?)?;
        self.write_under(id, value)
    }

    fn write_under(&self, id: &str, value: T) -> Result<T> {
        // The transaction depends on its read, so a revision in the value says nothing more. In a new value, the
        // revision would be another document's.
        self.collection.write(encode_under(id, &value)?.expecting(Expect::Anything))?;
        if T::REV_FIELD.is_none() {
            return Ok(value);
        }
        // The value has the revision that it was read with. The written one has another.
        let none = || Error::NoSuchDocument { collection: T::COLLECTION.to_owned(), id: id.to_owned() };
        self.get(id)?.ok_or_else(none)
    }
}
