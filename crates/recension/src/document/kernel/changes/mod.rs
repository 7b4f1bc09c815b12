//! Changes: documents in the order of the commits that wrote them last, read page by page.

pub(in crate::document) mod change;
pub(in crate::document) mod filter;
pub(in crate::document) mod pages;
