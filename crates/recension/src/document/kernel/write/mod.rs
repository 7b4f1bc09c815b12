//! Writing documents to an overlay: what a write, a merge or a purge makes of rows, indexes, changes and counts.

pub(in crate::document) mod access;
pub(in crate::document) mod attempt;
pub(in crate::document) mod contents;
pub(in crate::document) mod guard;
pub(in crate::document) mod keys;
pub(in crate::document) mod merge;
pub(in crate::document) mod resolve;
pub(in crate::document) mod writer;
