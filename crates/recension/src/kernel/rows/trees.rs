//! Handing out trees: their numbers, from the catalogue's row of the store, or from the block of a collection's key.

use crate::engine::{Snapshot, TreeId};
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::{CATALOGUE, STORE_KEY, decode_store, encode_store};
use crate::kernel::rows::collection_key::{KeyRow, row_key};
use recension_values::error::{Error, Result};

/// Trees of the store. The commit conflicts with every other commit that takes trees.
pub(crate) fn take_trees<const N: usize>(view: &Overlay) -> Result<[TreeId; N]> {
    let first = decode_store(view.get(CATALOGUE, STORE_KEY)?.as_deref())?.0;
    let next = first.checked_add(N as u32).ok_or_else(|| Error::DamagedRow {
        what: "the catalogue's row of the store".to_owned(),
        why: "it has given out all numbers of trees",
    })?;
    view.put(CATALOGUE, STORE_KEY, encode_store(TreeId(next)));
    Ok(std::array::from_fn(|i| TreeId(first + i as u32)))
}

/// Trees for a new collection: of its key's block, if it has a key.
pub(crate) fn take_collection_trees(view: &Overlay, collection: &str) -> Result<[TreeId; 3]> {
    take(view, collection, None)
}

/// A tree for what is kept in order of its documents' contents: an index or a view, by its name for people.
///
/// # Errors
/// [`Error::BadIndex`] if the collection has a key that allows none.
pub(crate) fn take_index_tree(view: &Overlay, collection: &str, index: &str) -> Result<TreeId> {
    take(view, collection, Some(index)).map(|[tree]| tree)
}

fn take<const N: usize>(view: &Overlay, collection: &str, index: Option<&str>) -> Result<[TreeId; N]> {
    let Some(value) = view.get(CATALOGUE, &row_key(collection))? else { return take_trees(view) };
    let row = KeyRow::decode(&value, collection)?;
    if let Some(index) = index.filter(|_| !row.with_indexes) {
        let why = "the collection has a key, which does not seal what is in keys of indexes and views; \
                   `recension key collection --with-indexes` allows them all the same";
        return Err(Error::BadIndex { index: index.to_owned(), why });
    }
    let given = row.given.checked_add(N as u16).ok_or_else(|| Error::DamagedRow {
        what: format!("the row about the key of {collection}"),
        why: "it has given out all trees of the key; copy the documents into a new collection",
    })?;
    view.put(CATALOGUE, &row_key(collection), KeyRow { given, ..row }.encode());
    Ok(std::array::from_fn(|i| row.number.tree(row.given + i as u16)))
}
