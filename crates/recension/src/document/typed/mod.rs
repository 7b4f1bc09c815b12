//! Typed documents: collections whose bodies are values of a Rust type, by serde. The type declares its
//! collection, id, indexes and schema version; ARCHITECTURE.md says where each of them is kept.

mod codec;
mod collection;
mod migrate;
mod read;
mod rev;
mod transaction;
mod with_fields;

pub use collection::{Entry, Typed};
pub use migrate::MigrationProgress;
pub use read::{TypedAt, TypedDocuments, TypedFound, TypedHistory, TypedRevision};
pub use transaction::TypedTransaction;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{IndexSpec, Result};

/// A Rust type whose values are documents of one collection. `#[derive(Document)]` writes it.
///
/// The id, and the revision where the type has it, are members of what serde writes and reads; they are cut out of the
/// stored body.
///
/// ```
/// use recension::document::{Document, Result, Store};
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
    /// The path of the values that it orders, as text.
    pub path: &'static str,
    /// Whether each value belongs to one document.
    pub unique: bool,
}

impl DeclaredIndex {
    /// What to create it with.
    ///
    /// # Errors
    /// [`Error::BadName`](super::Error::BadName) for a path that is none.
    pub fn spec(&self) -> Result<IndexSpec> {
        let path = self.path.parse()?;
        Ok(if self.unique { IndexSpec::unique(self.name, path) } else { IndexSpec::new(self.name, path) })
    }
}
