//! What the head of a request says: its content type, and what the server is put below. Pure.

use http::HeaderName;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING};
use http::request::Parts;

use crate::arriving::Mount;
use crate::error::{ApiError, Result};

/// A header, if it is text.
pub fn header(head: &Parts, name: HeaderName) -> Option<&str> {
    head.headers.get(name).and_then(|value| value.to_str().ok())
}

/// Refuses a body that is not said to be JSON: CouchDB does so for POST, not for PUT. A request without a body needs no
/// content type.
pub fn require_json(head: &Parts) -> Result<()> {
    let is_json = match head.headers.get(CONTENT_TYPE) {
        Some(_) => header(head, CONTENT_TYPE)
            .and_then(|value| value.split(';').next())
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")),
        None => {
            header(head, CONTENT_LENGTH).is_none_or(|length| length.trim() == "0")
                && !head.headers.contains_key(TRANSFER_ENCODING)
        }
    };
    if is_json { Ok(()) } else { Err(ApiError::content_type_not_json()) }
}

/// The header by which web servers say so.
pub const FORWARDED_PREFIX: &str = "x-forwarded-prefix";

/// The longest path that a server is put below.
const BASE_BYTES_MAX: usize = 200;

/// What stands before the paths of this server, as its client sees it: what the gateway said, or the web server's
/// `X-Forwarded-Prefix`. It is empty, or begins with `/` and does not end with it.
pub fn base(head: &Parts) -> &str {
    let told = head.extensions.get::<Mount>().map(|Mount(path)| path.as_str());
    let header = || head.headers.get(FORWARDED_PREFIX).and_then(|value| value.to_str().ok());
    let path = told.or_else(header).unwrap_or_default().trim_end_matches('/');
    let is_path = path.starts_with('/') && !path.starts_with("//") && path.len() <= BASE_BYTES_MAX;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
    if is_path && path.bytes().all(is_plain) { path } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_before_paths_is_a_path() {
        for (told, expected) in [
            ("/db", "/db"),
            ("/a/b%20c/", "/a/b%20c"),
            ("/", ""),
            ("", ""),
            ("//evil.example", ""),
            ("https://evil.example", ""),
            ("/\\evil", ""),
            ("/a b", ""),
            ("/a\"b", ""),
        ] {
            let mut request = http::Request::new(());
            if let Ok(value) = told.parse() {
                request.headers_mut().insert(FORWARDED_PREFIX, value);
            }
            assert_eq!(base(&request.into_parts().0), expected, "{told}");
        }
        let mut request = http::Request::new(());
        request.headers_mut().insert(FORWARDED_PREFIX, "/b".parse().unwrap());
        request.extensions_mut().insert(Mount("/a".into()));
        assert_eq!(base(&request.into_parts().0), "/a");
    }
}
