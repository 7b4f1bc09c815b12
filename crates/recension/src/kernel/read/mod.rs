//! Reading a collection as of one commit.

pub(crate) mod access;
pub(crate) mod ancestry;
pub(crate) mod attachments;
pub(crate) mod duplicates;
pub(crate) mod erased_rows;
pub(crate) mod history;
pub(crate) mod reader;
