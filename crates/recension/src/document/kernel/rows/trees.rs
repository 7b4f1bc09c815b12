//! Handing out trees: their numbers, from the catalogue's row of the store.

use crate::document::kernel::overlay::Overlay;
use crate::document::kernel::rows::catalogue::{CATALOGUE, STORE_KEY, decode_store, encode_store};
use crate::document::values::error::{Error, Result};
use crate::engine::{Snapshot, TreeId};

/// Trees for a new collection or index. The commit conflicts with every other commit that takes trees.
pub(in crate::document) fn take_trees<const N: usize>(view: &Overlay) -> Result<[TreeId; N]> {
    let first = decode_store(view.get(CATALOGUE, STORE_KEY)?.as_deref())?.0;
    let next = first.checked_add(N as u32).ok_or_else(|| Error::DamagedRow {
        what: "the catalogue's row of the store".to_owned(),
        why: "it has given out all numbers of trees",
    })?;
    view.put(CATALOGUE, STORE_KEY, encode_store(TreeId(next)));
    Ok(std::array::from_fn(|i| TreeId(first + i as u32)))
}
