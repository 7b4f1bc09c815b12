//! The rows and their bytes: the catalogue, documents, side trees, indexes.

pub(in crate::document) mod access_rows;
pub(in crate::document) mod catalogue;
pub(in crate::document) mod collection_key;
pub(in crate::document) mod consumer_rows;
pub(in crate::document) mod erasure;
pub(in crate::document) mod index_keys;
pub(in crate::document) mod index_rows;
pub(in crate::document) mod index_statistics;
pub(in crate::document) mod key_rows;
pub(in crate::document) mod recent_commits;
pub(in crate::document) mod side;
pub(in crate::document) mod slot;
pub(in crate::document) mod stored;
pub(in crate::document) mod trees;
pub(in crate::document) mod view_entry;
pub(in crate::document) mod view_rows;
pub(in crate::document) mod word_rows;
