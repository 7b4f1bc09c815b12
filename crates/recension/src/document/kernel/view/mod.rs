//! Views: indexes whose rows a mapper makes. The form of their rows, and reading them as of a commit, together with
//! documents that were changed since the rows were kept. docs/internals/views.md has the design.

pub(in crate::document) mod ahead;
pub(in crate::document) mod blocks;
pub(in crate::document) mod gather;
pub(in crate::document) mod in_commit;
pub(in crate::document) mod mapper;
pub(in crate::document) mod places;
pub(in crate::document) mod range;
pub(in crate::document) mod read;
pub(in crate::document) mod reduced;
