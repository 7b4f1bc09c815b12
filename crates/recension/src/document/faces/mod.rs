//! What users hold: stores, collections, transactions, typed collections, handles for async code. Thin: reads go to the
//! kernel with a snapshot, writes with an overlay that is committed here.

pub(in crate::document) mod access;
#[cfg(feature = "async")]
pub mod asynchronous;
pub(in crate::document) mod attachments;
pub(in crate::document) mod building;
pub(in crate::document) mod changes;
pub(in crate::document) mod check;
pub(in crate::document) mod collection;
pub(in crate::document) mod collection_keys;
pub(in crate::document) mod commit;
pub(in crate::document) mod consumer;
pub(in crate::document) mod diff;
pub(in crate::document) mod document_expiry;
pub(in crate::document) mod edit;
pub(in crate::document) mod erase;
pub(in crate::document) mod expiry;
pub(in crate::document) mod indexes;
pub(in crate::document) mod key_spaces;
pub(in crate::document) mod keys;
pub(in crate::document) mod keys_at;
pub(in crate::document) mod keys_in_transaction;
pub(in crate::document) mod keys_sweep;
pub(in crate::document) mod loader;
pub(in crate::document) mod local;
pub(in crate::document) mod past;
pub(in crate::document) mod purge;
pub(in crate::document) mod replication;
pub(in crate::document) mod restore;
pub(in crate::document) mod retention;
pub(in crate::document) mod revisions;
pub(in crate::document) mod schema;
pub(in crate::document) mod settings;
pub(in crate::document) mod store;
pub(in crate::document) mod topic_inbox;
pub(in crate::document) mod topics;
pub(in crate::document) mod transaction;
#[cfg(feature = "typed")]
pub(in crate::document) mod typed;
pub(in crate::document) mod uploads;
pub(in crate::document) mod views;
pub(in crate::document) mod watch;
