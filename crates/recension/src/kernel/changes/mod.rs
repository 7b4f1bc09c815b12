//! Changes: documents in the order of the commits that wrote them last, read page by page.

pub(crate) mod change;
pub(crate) mod filter;
pub(crate) mod pages;
