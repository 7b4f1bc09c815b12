//! What documents are made of, without a store: JSON, revisions, ids, moments, queries, writes. Pure: nothing here
//! reads a store, a clock or a file. The crate `recension` exports what its users need; all else is for its kernel.
#![allow(
    missing_docs,                         // what users see is documented
    clippy::len_without_is_empty,         // the kernel asks for lengths alone
    clippy::missing_panics_doc,
    clippy::new_without_default,
    clippy::return_self_not_must_use,
)]

pub mod access;
pub mod at;
pub mod attachment;
pub mod byte_reader;
pub mod collation;
pub mod condition;
#[cfg(feature = "conditions")]
pub mod conditions;
pub mod conflict;
pub mod cursor;
pub mod error;
mod error_from;
mod error_text;
pub mod glob;
pub mod guard;
pub mod index_spec;
pub mod index_term;
pub mod json;
pub mod key_value;
pub mod limits;
pub mod model;
pub mod own;
pub mod pipeline;
pub mod plan;
pub mod position;
pub mod query;
pub mod reduce;
pub mod replicated;
pub mod rev_hash;
pub mod revid;
#[cfg(feature = "typed")]
mod revid_serde;
pub mod revision_tree;
pub mod schema;
pub mod selector;
pub mod term;
pub mod text;
pub mod time;
#[cfg(feature = "unicode-collation")]
pub mod unicode;
pub mod view;
pub mod write;
