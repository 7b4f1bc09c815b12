//! The error of a write that expected another revision: how it is made, and its words.

use std::fmt;

use crate::error::Error;
use crate::revid::RevId;

impl Error {
    pub fn conflict(id: &str, expected: Option<RevId>, found: Option<RevId>, deleted: bool) -> Self {
        let (expected, found) = (expected.map(Box::new), found.map(Box::new));
        Error::Conflict { id: id.to_owned(), expected, found, deleted }
    }
}

pub fn write_conflict(
    f: &mut fmt::Formatter<'_>,
    id: &str,
    expected: Option<&RevId>,
    found: Option<&RevId>,
    deleted: bool,
) -> fmt::Result {
    write!(f, "conflict: document {id:?} ")?;
    match (expected, found) {
        (None, Some(found)) => write!(f, "exists, at revision {found}; name that revision to replace it"),
        (None, None) => write!(f, "is written twice in one batch; write it in a later one"),
        (Some(expected), None) => write!(f, "does not exist, and revision {expected} of it was expected"),
        (Some(expected), Some(found)) => {
            let deletion = if deleted { ", its deletion" } else { "" };
            write!(f, "is at revision {found}{deletion}, and {expected} was expected; read it again and retry")
        }
    }
}
