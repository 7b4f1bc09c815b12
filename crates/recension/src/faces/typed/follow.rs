//! The changes of a typed collection as they come, each with its value.

use std::time::Duration;

use super::codec::Codec;
use super::{DocumentType, Typed};
use crate::engine::EngineError;
use crate::faces::changes::Follow;
use crate::faces::collection::Collection;
use crate::kernel::changes::change::{Change, Position};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::model::Document;

/// A change of a value.
#[derive(Clone, PartialEq, Debug)]
pub struct TypedChange<T> {
    /// The change: id, revision, commit.
    pub change: Change,
    /// The value right after that commit, or the newest one if that moment was given up; `None` if it was deleted.
    pub value: Option<T>,
}

/// The changes of a typed collection: those that exist first, then those to come. A document that does not decode is
/// an error, and the others follow.
pub struct TypedFollow<T> {
    follow: Follow,
    collection: Collection,
    codec: Codec<T>,
}

impl<T: DocumentType> Typed<T> {
    /// Follows the changes since a position, with their values: first those that exist, then those to come. Of a
    /// document that was changed several times since, the newest state is told.
    ///
    /// ```
    /// use recension::{Document, Position, Result, Store};
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Document, Serialize, Deserialize)]
    /// struct Dish {
    ///     #[recension(id)]
    ///     name: String,
    ///     price: u32,
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let menu = Store::memory()?.typed::<Dish>()?;
    /// menu.put(&Dish { name: "pizza".into(), price: 9 })?;
    /// let mut follow = menu.follow(Position::START);
    /// let first = follow.next().expect("there is one")?;
    /// assert_eq!(first.value.map(|dish| dish.price), Some(9));
    /// menu.remove("pizza")?;
    /// assert!(follow.next().expect("it waits")?.value.is_none());
    /// # Ok(()) }
    /// ```
    pub fn follow(&self, since: impl Into<Position>) -> TypedFollow<T> {
        let collection = self.untyped().clone();
        TypedFollow { follow: collection.follow(since), collection, codec: self.codec.clone() }
    }
}

impl<T: DocumentType> TypedFollow<T> {
    /// The position of the feed: a new feed from this position goes on here.
    pub fn position(&self) -> &Position {
        self.follow.position()
    }

    /// The next change if there is one; `None` if the feed has caught up.
    pub fn try_next(&mut self) -> Result<Option<TypedChange<T>>> {
        self.follow.try_next()?.map(|change| self.typed(change)).transpose()
    }

    /// The next change, waiting for it at most `timeout`; `None` if none came.
    pub fn next_timeout(&mut self, timeout: Duration) -> Result<Option<TypedChange<T>>> {
        self.follow.next_timeout(timeout)?.map(|change| self.typed(change)).transpose()
    }

    fn typed(&self, change: Change) -> Result<TypedChange<T>> {
        if change.deleted {
            return Ok(TypedChange { change, value: None });
        }
        // The document may have been changed again, which is told later. Without history the newest state is left.
        let document = match self
            .collection
            .at(At::Seq(change.seq))
            .and_then(|then| Ok(then.get(&change.id)?.map(Document::into_owned)))
        {
            Err(Error::Engine(EngineError::Forgotten { .. })) => self.collection.get(&change.id)?,
            document => document?,
        };
        let value = document.map(|document| self.codec.decode(&document)).transpose()?;
        Ok(TypedChange { change, value })
    }
}

impl<T: DocumentType> Iterator for TypedFollow<T> {
    type Item = Result<TypedChange<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_timeout(Duration::MAX).transpose()
    }
}
