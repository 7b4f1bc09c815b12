//! The rows and their bytes: the catalogue, documents, side trees, indexes.

pub(crate) mod access_rows;
pub(crate) mod catalogue;
pub(crate) mod collection_key;
pub(crate) mod consumer_rows;
pub(crate) mod erasure;
pub(crate) mod index_keys;
pub(crate) mod index_rows;
pub(crate) mod index_statistics;
pub(crate) mod index_texts;
pub(crate) mod key_rows;
pub(crate) mod recent_commits;
pub(crate) mod side;
pub(crate) mod slot;
pub(crate) mod stored;
pub(crate) mod trees;
pub(crate) mod view_entry;
pub(crate) mod view_rows;
pub(crate) mod word_rows;
