//! The head of an answer in the form of CGI: `Status`, headers, and an empty line.

use http::{HeaderMap, HeaderName, StatusCode, header};

/// Headers of a connection. The web server sets them itself.
const OF_CONNECTIONS: [HeaderName; 5] =
    [header::CONNECTION, header::TRANSFER_ENCODING, header::UPGRADE, header::TRAILER, header::TE];

/// Appends the head of an answer.
pub fn push_head(status: StatusCode, headers: &HeaderMap, out: &mut Vec<u8>) {
    let reason = status.canonical_reason().unwrap_or_default();
    out.extend_from_slice(format!("Status: {} {reason}\r\n", status.as_u16()).as_bytes());
    for (name, value) in headers {
        if !OF_CONNECTIONS.contains(name) {
            out.extend_from_slice(name.as_str().as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
    }
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_head_is_cgis() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        let mut out = Vec::new();
        push_head(StatusCode::NOT_FOUND, &headers, &mut out);
        assert_eq!(out, b"Status: 404 Not Found\r\ncontent-type: application/json\r\n\r\n");
    }
}
