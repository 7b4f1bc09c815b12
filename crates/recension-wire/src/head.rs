//! What the head of a request says: its content type, and what the server is put below. Pure.

use http::HeaderName;
use http::header::CONTENT_TYPE;
use http::request::Parts;

use crate::arriving::Mount;
use crate::error::{ApiError, Result};

/// A header, if it is text.
pub fn header(head: &Parts, name: HeaderName) -> Option<&str> {
    head.headers.get(name).and_then(|value| value.to_str().ok())
}

/// Refuses a body whose content type is given and is not JSON: CouchDB does so for POST, not for PUT.
pub fn require_json(head: &Parts) -> Result<()> {
    let content_type = header(head, CONTENT_TYPE).and_then(|value| value.split(';').next());
    let is_json = content_type.is_none_or(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
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
