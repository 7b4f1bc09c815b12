//! Writing documents to an overlay: what a write, a merge or a purge makes of rows, indexes, changes and counts.

pub(crate) mod access;
pub(crate) mod attempt;
pub(crate) mod contents;
pub(crate) mod guard;
pub(crate) mod intended;
pub(crate) mod keys;
pub(crate) mod merge;
pub(crate) mod resolve;
pub(crate) mod writer;
