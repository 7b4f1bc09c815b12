//! The kernel: how documents are rows of trees, read from a snapshot and written to an overlay that becomes a batch.
//! Nothing here knows a store, or commits.

pub(crate) mod attachment;
pub(crate) mod changes;
pub(crate) mod overlay;
pub(crate) mod query;
pub(crate) mod read;
pub(crate) mod rows;
pub(crate) mod view;
pub(crate) mod write;
