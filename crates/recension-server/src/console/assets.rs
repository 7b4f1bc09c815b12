//! The stylesheet, the module and the icon of the console. They are part of the program, and need no right to be
//! read.

use http::StatusCode;
use http::header::{CACHE_CONTROL, ETAG, X_CONTENT_TYPE_OPTIONS};

use crate::answer::Answer;
use crate::error::{ApiError, Result};
use crate::http::documents::not_modified;
use crate::request::Request;

const ALL: [(&str, &str, &str); 3] = [
    ("style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("console.js", "text/javascript; charset=utf-8", include_str!("assets/console.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// `/_utils/-/{name}`
pub(super) fn get(request: &Request, name: &str) -> Result<Answer> {
    crate::dispatch::only(request, "GET,HEAD")?;
    let (_, kind, text) = ALL.iter().find(|(own, ..)| *own == name).ok_or_else(ApiError::missing)?;
    // They change with the program, and with nothing else.
    let tag = format!("{:x}", fnv(text));
    if not_modified(request, &tag) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, format!("\"{tag}\"")));
    }
    let answer = Answer::of(StatusCode::OK, kind, *text).etag(tag);
    Ok(answer.with(CACHE_CONTROL, "no-cache").with(X_CONTENT_TYPE_OPTIONS, "nosniff"))
}

/// A number that another text hardly has (FNV-1a).
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
