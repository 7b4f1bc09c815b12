//! Views: indexes whose rows a mapper makes. What their rows are, and how they are read as of a commit, together with
//! the documents that were changed since they were kept. docs/internals/views.md has the design.

pub(in crate::document) mod ahead;
pub(in crate::document) mod blocks;
pub(in crate::document) mod gather;
pub(in crate::document) mod in_commit;
pub(in crate::document) mod mapper;
pub(in crate::document) mod range;
pub(in crate::document) mod read;
pub(in crate::document) mod reduced;
