//! The kernel: how documents are rows of trees, read from a snapshot and written to an overlay that becomes a batch.
//! Nothing here knows a store, or commits.

pub(in crate::document) mod attachment;
pub(in crate::document) mod changes;
pub(in crate::document) mod overlay;
pub(in crate::document) mod query;
pub(in crate::document) mod read;
pub(in crate::document) mod rows;
pub(in crate::document) mod view;
pub(in crate::document) mod write;
