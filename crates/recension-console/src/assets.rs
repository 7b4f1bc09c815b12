//! The console's assets as answers. They need no right to be read.

use http::StatusCode;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, ETAG, X_CONTENT_TYPE_OPTIONS};

use recension_app::request::Request;
use recension_endpoints::writing::not_modified;
use recension_pages::assets;
use recension_pages::links::fnv;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};

/// `/_utils/-/{version}/{name}`, or without a version.
pub(super) fn get(request: &Request, version: &str, name: &str) -> Result<Answer> {
    recension_app::request::only(request, "GET,HEAD")?;
    let (kind, text, packed) = assets::find(name).ok_or_else(ApiError::missing)?;
    let accepted = request.header(ACCEPT_ENCODING).unwrap_or_default().to_ascii_lowercase();
    let mut codings = accepted.split(',').map(|coding| coding.replace(' ', ""));
    let packed = packed
        .filter(|_| codings.any(|coding| coding == "gzip" || coding.starts_with("gzip;q=0.") || coding == "gzip;q=1"));
    let tag = format!("{:x}{}", fnv(text), if packed.is_some() { "-gz" } else { "" });
    // A page of an earlier program, or one that names no version, asks again.
    let kept = if version == assets::version() { "public, max-age=31536000, immutable" } else { "no-cache" };
    if not_modified(request, &tag) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).with(ETAG, format!("\"{tag}\"")).with(CACHE_CONTROL, kept));
    }
    let answer = match packed {
        Some(packed) => Answer::of(StatusCode::OK, kind, packed).with(CONTENT_ENCODING, "gzip"),
        None => Answer::of(StatusCode::OK, kind, text),
    };
    let answer = answer.etag(tag).varying("Accept-Encoding");
    Ok(answer.with(CACHE_CONTROL, kept).with(X_CONTENT_TYPE_OPTIONS, "nosniff"))
}
