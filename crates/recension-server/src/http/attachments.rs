//! Attachments: `/{db}/{id}/{name}`, and what documents say of them. A room to be furnished: GET and HEAD with Range and
//! gzip, PUT and DELETE with `rev`, streamed both ways by `Collection::upload` and `AttachmentReader`.

use std::fmt::Write as _;

use recension::document::json::quote;
use recension::document::{AttachmentInfo, Collection, Revision, Write};

use crate::answer::Answer;
use crate::databases::Database;
use crate::error::{ApiError, Result};
use crate::request::Request;

/// `/{db}/{id}/{name}`
#[allow(clippy::unused_async)] // until it is furnished
pub(crate) async fn endpoint(_request: Request, _db: Database, _id: &str, _name: &str) -> Result<Answer> {
    Err(ApiError::not_implemented())
}

/// Adds `_attachments` with stubs to a document's text.
pub(crate) fn push_stubs(attachments: &[AttachmentInfo], out: &mut String) {
    out.push_str(",\"_attachments\":{");
    for (number, info) in attachments.iter().enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "{}{}:{{\"content_type\":{},\"revpos\":{},\"digest\":{},\"length\":{},\"stub\":true}}",
            if number == 0 { "" } else { "," },
            quote(&info.name),
            quote(&info.content_type),
            info.revpos,
            quote(&info.digest()),
            info.length()
        );
    }
    out.push('}');
}

/// The write that makes another document say what a revision says. To come: its attachments.
pub(crate) fn copied(_collection: &Collection, _id: &str, from: &Revision) -> Result<Write> {
    Ok(Write::from_json(&from.body)?)
}
