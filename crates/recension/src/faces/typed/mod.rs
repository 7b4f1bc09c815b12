//! Typed documents: collections whose bodies are values of a Rust type, by serde. The type declares its
//! collection, id, indexes and schema version; ARCHITECTURE.md says where each of them is kept.

mod codec;
mod collection;
mod deserialize;
mod follow;
mod migrate;
mod read;
mod serialize;
mod text_value;
mod transaction;
mod view;
mod with_fields;

#[cfg(feature = "async")]
pub(crate) use codec::encode;
pub use collection::{Entry, Typed};
pub use follow::{TypedChange, TypedFollow};
pub use migrate::MigrationProgress;
pub use read::{TypedAt, TypedDocuments, TypedFound, TypedHistory, TypedRevision};
pub use transaction::TypedTransaction;
pub use view::{DocumentView, TypedView, TypedViewRow, TypedViewRows};

use serde::Serialize;
use serde::de::DeserializeOwned;

use recension_values::condition::{Condition, Literal, ValueRange};
use recension_values::error::Result;
use recension_values::index_spec::IndexSpec;
use recension_values::json::Path;

/// A Rust type whose values are documents of one collection. `#[derive(Document)]` writes it.
///
/// The id, and the revision if the type has it, are members of what serde writes and reads; they are cut out of the
/// stored body.
///
/// ```
/// use recension::{Document, Result, Store};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Document, Serialize, Deserialize)]
/// #[recension(collection = "accounts")]
/// struct Account {
///     #[recension(id)]
///     id: String,
///     #[recension(unique)]
///     name: String,
///     balance: i64,
/// }
///
/// # fn main() -> Result<()> {
/// let accounts = Store::memory()?.typed::<Account>()?;
/// accounts.put(&Account { id: "ada".into(), name: "Ada".into(), balance: 10 })?;
/// accounts.update("ada", |account| {
///     account.balance += 5;
///     Ok(())
/// })?;
/// assert_eq!(accounts.get("ada")?.unwrap().balance, 15);
/// # Ok(()) }
/// ```
pub trait DocumentType: Serialize + DeserializeOwned {
    /// The collection.
    const COLLECTION: &'static str;

    /// The member that is the document's id: a string, an integer, or null for none.
    const ID_FIELD: &'static str;

    /// The member that is the document's revision, if the type has one: a string or null.
    const REV_FIELD: Option<&'static str> = None;

    /// The version of the schema, from 1.
    const VERSION: u32 = 1;

    /// The member that keeps the version in the document, from version 2 on. Documents without it have version 1.
    const VERSION_FIELD: &'static str = "schema_version";

    /// The indexes that the collection shall have.
    const INDEXES: &'static [DeclaredIndex] = &[];
}

/// An index that a type declares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclaredIndex {
    /// Its name.
    pub name: &'static str,
    /// The paths of the values that it orders, as text: by the first one, then by the next. One with `-` before it is
    /// ordered downwards.
    pub paths: &'static [&'static str],
    /// Whether each value belongs to one document.
    pub unique: bool,
    /// The conditions of a partial index: paths, as text, with values. If it is empty, every document with the values
    /// is in the index.
    pub only: &'static [(&'static str, DeclaredValues)],
}

/// The values of a partial index's condition, as JSON texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeclaredValues {
    /// Any.
    Exists,
    /// This one.
    Equal(&'static str),
    /// This or a greater one of its type.
    AtLeast(&'static str),
    /// A greater one of its type.
    Above(&'static str),
    /// This or a lesser one of its type.
    AtMost(&'static str),
    /// A lesser one of its type.
    Below(&'static str),
}

impl DeclaredValues {
    fn range(self) -> Result<ValueRange> {
        Ok(match self {
            DeclaredValues::Exists => ValueRange::anything(),
            DeclaredValues::Equal(json) => ValueRange::equal(Literal::json(json)?),
            DeclaredValues::AtLeast(json) => ValueRange::at_least(Literal::json(json)?),
            DeclaredValues::Above(json) => ValueRange::above(Literal::json(json)?),
            DeclaredValues::AtMost(json) => ValueRange::at_most(Literal::json(json)?),
            DeclaredValues::Below(json) => ValueRange::below(Literal::json(json)?),
        })
    }
}

impl DeclaredIndex {
    /// The specification to create it with.
    ///
    /// # Errors
    /// [`Error::BadName`](crate::Error::BadName) for an invalid path;
    /// [`Error::Json`](crate::Error::Json) for a value that is no JSON.
    pub fn spec(&self) -> Result<IndexSpec> {
        let direction = |path: &'static str| path.strip_prefix('-').map_or((path, false), |path| (path, true));
        let (first, others) = self.paths.split_first().unwrap_or((&"", &[]));
        let (first, down) = direction(first);
        let path: Path = first.parse()?;
        let mut spec = if self.unique { IndexSpec::unique(self.name, path) } else { IndexSpec::new(self.name, path) };
        for other in others {
            let (path, other_down) = direction(other);
            let path: Path = path.parse()?;
            // The specification's first path is ascending; the reverse index gives the same order backwards.
            spec = if other_down == down { spec.then(path) } else { spec.then_descending(path) };
        }
        for (path, values) in self.only {
            spec = spec.only_where(Condition::new(path.parse::<Path>()?, values.range()?));
        }
        Ok(spec)
    }
}
