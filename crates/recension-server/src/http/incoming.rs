//! Documents as clients send them: parsed once, and CouchDB's leniences, which the library does not have. Pure.

use recension::document::json::{Minified, minify_object};
use recension::document::{Error, Expect, RevId, Write};

use crate::error::{ApiError, Result};

/// Members that CouchDB gives out and takes back without looking at them.
const GIVEN_OUT: [&str; 5] = ["_conflicts", "_deleted_conflicts", "_local_seq", "_revs_info", "_replication_info"];

/// A document that was sent, and the revision that it names.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) write: Write,
    pub(crate) rev: Option<RevId>,
}

impl Incoming {
    /// Reads a document. Without `_rev` it must not be there.
    pub(crate) fn parse(text: &[u8], max: usize) -> Result<Self> {
        let write = match Write::from_json(text) {
            Err(Error::ReservedField { .. }) => Write::from_json(without_given_out(text)?)?,
            other => other?,
        };
        if write.body().len() > max {
            return Err(ApiError::document_too_large(write.id().unwrap_or_default()));
        }
        match write.expectation() {
            Expect::Leaf(rev) => Ok(Incoming { write, rev: Some(rev) }),
            _ => Ok(Incoming { write: write.expecting(Expect::Absent), rev: None }),
        }
    }

    /// The same, standing on a revision that was named elsewhere.
    pub(crate) fn on(mut self, rev: RevId) -> Self {
        self.write = self.write.expecting(Expect::Leaf(rev));
        self.rev = Some(rev);
        self
    }
}

/// The text without the members that are given out.
fn without_given_out(text: &[u8]) -> Result<String> {
    let Minified { text, reserved, .. } = minify_object(text).map_err(Error::from)?;
    let mut out = String::with_capacity(text.len());
    for (name, value) in reserved.iter().filter(|(name, _)| !GIVEN_OUT.contains(&name.as_str())) {
        out.push_str(if out.is_empty() { "{" } else { "," });
        out.push_str(&recension::document::json::quote(name));
        out.push(':');
        out.push_str(value);
    }
    if out.is_empty() {
        return Ok(text);
    }
    let members = text.strip_prefix('{').unwrap_or("}");
    out.push_str(if members == "}" { "" } else { "," });
    out.push_str(members);
    Ok(out)
}
