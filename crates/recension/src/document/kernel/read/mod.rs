//! Reading a collection as of one commit.

pub(in crate::document) mod access;
pub(in crate::document) mod ancestry;
pub(in crate::document) mod attachments;
pub(in crate::document) mod duplicates;
pub(in crate::document) mod erased_rows;
pub(in crate::document) mod reader;
