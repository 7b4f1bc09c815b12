//! Views: indexes whose rows a mapper makes. The form of their rows, and reading them as of a commit, together with
//! documents that were changed since the rows were kept. docs/internals/views.md has the design.

pub(crate) mod ahead;
pub(crate) mod blocks;
pub(crate) mod gather;
pub(crate) mod in_commit;
pub(crate) mod mapper;
pub(crate) mod places;
pub(crate) mod range;
pub(crate) mod read;
pub(crate) mod reduced;
