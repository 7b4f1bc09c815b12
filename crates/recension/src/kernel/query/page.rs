//! Pages of what a query asks for, each with the cursor of the next one.

use crate::kernel::query::find::Found;
use crate::kernel::read::reader::CollectionAt;
use recension_values::cursor::Cursor;
use recension_values::error::Result;
use recension_values::model::Document;
use recension_values::query::Query;

/// One page of the documents that a query asks for: as many as its limit says, or all of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page<D> {
    /// The documents, in their order.
    pub documents: Vec<D>,
    /// The cursor of the next page, for [`Query::after`]. `None`: this is the last one.
    pub next: Option<Cursor>,
}

impl CollectionAt {
    /// One page of the documents that a query asks for, and whether there is a next one.
    ///
    /// ```
    /// use recension::{Query, Store};
    /// # fn main() -> recension::Result<()> {
    /// let menu = Store::memory()?.collection("menu")?;
    /// for id in ["a", "b", "c"] {
    ///     menu.put(id, "{}")?;
    /// }
    /// let query = Query::new().limit(2);
    /// let first = menu.page(&query)?;
    /// assert_eq!(first.documents.len(), 2);
    /// let last = menu.page(&query.after(first.next))?;
    /// assert_eq!((last.documents.len(), last.next), (1, None));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`CollectionAt::find`].
    pub fn page(&self, query: &Query) -> Result<Page<Document<'static>>> {
        Page::read(query, |query| self.find(query), Found::cursor)
    }
}

impl<D> Page<D> {
    /// Reads one document more than the page holds.
    pub(crate) fn read<F: Iterator<Item = Result<D>>>(
        query: &Query,
        find: impl FnOnce(&Query) -> Result<F>,
        cursor: impl FnOnce(&F) -> Option<Cursor>,
    ) -> Result<Self> {
        let Some(limit) = query.limit else {
            return Ok(Page { documents: find(query)?.collect::<Result<_>>()?, next: None });
        };
        let mut found = find(&query.clone().limit(limit.saturating_add(1)))?;
        let documents = found.by_ref().take(limit).collect::<Result<_>>()?;
        let next = cursor(&found);
        Ok(Page { documents, next: found.next().transpose()?.and(next) })
    }
}
