//! Mappers: a mapper is given documents and answers the keys and values of a view's rows.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use recension_values::collation::Collation;
use recension_values::error::Result;
use recension_values::json::quote;
use recension_values::model::Document;
use recension_values::revid::RevId;
use recension_values::view::{Emitted, Signature, ViewOptions};

/// A document for a mapper.
#[derive(Clone, Debug)]
pub struct MapInput {
    /// The document: its winning revision, which is no deletion.
    pub document: Document<'static>,
    /// Losing leaves that are no deletions.
    pub conflicts: Vec<RevId>,
    /// Losing leaves that are deletions.
    pub deleted_conflicts: Vec<RevId>,
}

impl MapInput {
    /// The document as CouchDB shows it to a map function.
    pub fn to_json(&self) -> String {
        let mut out = self.document.to_json();
        for (name, revs) in [("_conflicts", &self.conflicts), ("_deleted_conflicts", &self.deleted_conflicts)] {
            if revs.is_empty() {
                continue;
            }
            let revs: Vec<String> = revs.iter().map(|rev| quote(&rev.to_string())).collect();
            out.pop();
            // Writing to a String cannot fail.
            let _ = write!(out, ",\"{name}\":[{}]}}", revs.join(","));
        }
        out
    }
}

/// Makes the rows of a view. It must answer the same for the same document, whenever it is asked.
pub trait Mapper: Send + Sync {
    /// The rows that each document emits: an answer for each, in their order.
    ///
    /// # Errors
    /// [`Error::Function`](crate::Error::Function) if the function fails: the view stays where it was.
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>>;

    /// Whether it is so quick, for any document, that it may run while a document is written. Its views, once whole,
    /// are then kept in the commits of documents and are never behind. It must not look at the commit of a document,
    /// which is not known at that time.
    fn in_commit(&self) -> bool {
        false
    }

    /// The number of threads on which calling it in parallel pays.
    fn parallel(&self) -> usize {
        1
    }
}

impl<F: Fn(&MapInput) -> Vec<Emitted> + Send + Sync> Mapper for F {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        Ok(documents.iter().map(self).collect())
    }
}

/// A view: a mapper, and everything else that its rows depend on.
#[derive(Clone)]
pub struct View {
    pub(crate) signature: Signature,
    pub(crate) mapper: Arc<dyn Mapper>,
    pub(crate) options: ViewOptions,
    pub(crate) name: Option<String>,
}

impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("signature", &self.signature)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl View {
    /// A view. `function` identifies the mapper: its text, or a name with a version. Views with equal functions and
    /// options share their rows.
    pub fn new(function: &str, options: ViewOptions, mapper: Arc<dyn Mapper>) -> Self {
        View { signature: Signature::of(function, options), mapper, options, name: None }
    }

    /// The same under a name. While the rows of the name's present mapper are not whole, reads that do not wait see the
    /// rows of the former one.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        View { name: Some(name.into()), ..self }
    }

    /// The order of its keys.
    pub fn collation(&self) -> Collation {
        self.options.collation
    }

    /// The signature that identifies its rows.
    pub fn signature(&self) -> Signature {
        self.signature
    }
}
