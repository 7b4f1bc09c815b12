//! What users hold: stores, collections, transactions, typed collections, handles for async code. Thin: reads go to the
//! kernel with a snapshot, writes with an overlay that is committed here.

pub(crate) mod access;
#[cfg(feature = "async")]
pub mod asynchronous;
pub(crate) mod attachments;
pub(crate) mod branches;
pub(crate) mod building;
pub(crate) mod changes;
pub(crate) mod check;
pub(crate) mod collection;
pub(crate) mod collection_keys;
pub(crate) mod commit;
pub(crate) mod consumer;
pub(crate) mod diff;
pub(crate) mod document_expiry;
pub(crate) mod edit;
pub(crate) mod erase;
pub(crate) mod expiry;
pub(crate) mod handles;
pub(crate) mod indexes;
pub(crate) mod key_spaces;
pub(crate) mod keys;
pub(crate) mod keys_at;
pub(crate) mod keys_in_transaction;
pub(crate) mod keys_sweep;
pub(crate) mod loader;
pub(crate) mod local;
pub(crate) mod merge;
mod merge_base;
mod merge_shapes;
pub(crate) mod past;
pub(crate) mod purge;
pub(crate) mod replication;
pub(crate) mod restore;
pub(crate) mod retention;
pub(crate) mod revisions;
pub(crate) mod schema;
pub(crate) mod settings;
pub(crate) mod store;
pub(crate) mod topic_inbox;
pub(crate) mod topics;
pub(crate) mod transaction;
#[cfg(feature = "typed")]
pub(crate) mod typed;
pub(crate) mod uploads;
pub(crate) mod views;
pub(crate) mod watch;
