//! A request from its variables (RFC 3875): method, path and headers. The path is taken as the client sent it
//! (`REQUEST_URI`), since `PATH_INFO` no longer distinguishes an encoded slash from a plain one. `PATH_INFO` is used if
//! `REQUEST_URI` is missing, and to find where the application's part of the path begins.

use std::net::IpAddr;

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Uri, Version, header};

use crate::{Environment, Malformed, raw};

/// A request.
#[derive(Debug)]
pub struct GatewayRequest {
    /// Its head.
    pub head: Parts,
    /// The client's address.
    pub client: Option<IpAddr>,
    /// The length of its body in bytes, if it is given.
    pub length: Option<u64>,
    /// Whether the client speaks TLS to the web server.
    pub secure: bool,
    /// What the client's path has before that of the head, encoded: where the application is mounted.
    pub mount: Option<String>,
}

/// Headers that concern only the connection between client and web server, or that have variables of their own.
const NOT_HEADERS: [&str; 8] = [
    "HTTP_CONNECTION",
    "HTTP_TRANSFER_ENCODING",
    "HTTP_UPGRADE",
    "HTTP_TE",
    "HTTP_TRAILER",
    "HTTP_EXPECT",
    "HTTP_CONTENT_LENGTH",
    "HTTP_CONTENT_TYPE",
];

/// The request that variables describe.
///
/// # Errors
/// [`Malformed`] if they are not a request.
pub fn request(environment: &Environment) -> Result<GatewayRequest, Malformed> {
    let method = Method::from_bytes(environment.get("REQUEST_METHOD").unwrap_or(b"GET"))
        .map_err(|_| Malformed("REQUEST_METHOD is no method"))?;
    // Whichever of two would count, a web server may have meant the other one: of bodies, that is another request. One
    // that is empty says nothing: nginx's scgi_params has such a length beside the one that SCGI asks for.
    for name in ["REQUEST_METHOD", "CONTENT_LENGTH"] {
        let said = |(own, value): &&(_, Vec<u8>)| own == name.as_bytes() && !value.is_empty();
        let mut values = environment.0.iter().filter(said).map(|(_, value)| value);
        if values.next().is_some_and(|first| values.any(|other| other != first)) {
            return Err(Malformed("REQUEST_METHOD or CONTENT_LENGTH is there twice"));
        }
    }
    let (target, mount) = target(environment)?;
    let uri = Uri::try_from(typed(target)).map_err(|_| Malformed("REQUEST_URI is no path"))?;
    let (mut head, ()) = Request::new(()).into_parts();
    head.method = method;
    head.uri = uri;
    let mut add = |name: &[u8], value: &[u8]| {
        // A variable that cannot be a header is ignored: HTTP would not have let it through either.
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            // The map refuses more than it can hold.
            let _ = head.headers.try_append(name, value);
        }
    };
    for (name, value) in &environment.0 {
        let Some(rest) = name.strip_prefix(b"HTTP_") else { continue };
        if NOT_HEADERS.iter().all(|own| own.as_bytes() != name) {
            let name: Vec<u8> = rest.iter().map(|byte| if *byte == b'_' { b'-' } else { *byte }).collect();
            add(&name, value);
        }
    }
    if environment.get("HTTP_HOST").is_none() {
        // The web server has taken it without a Host, as HTTP/1.0 allows.
        head.version = Version::HTTP_10;
    }
    for (name, variable) in [(header::CONTENT_TYPE, "CONTENT_TYPE"), (header::CONTENT_LENGTH, "CONTENT_LENGTH")] {
        if let Some(value) = environment.get(variable).filter(|value| !value.is_empty()) {
            add(name.as_str().as_bytes(), value);
        }
    }
    let length = match environment.text("CONTENT_LENGTH").unwrap_or_default() {
        "" => None,
        text => {
            let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            Some(digits.and_then(|text| text.parse().ok()).ok_or(Malformed("CONTENT_LENGTH is no length"))?)
        }
    };
    let secure = environment.text("HTTPS").is_some_and(|https| https.eq_ignore_ascii_case("on") || https == "1")
        || environment.text("REQUEST_SCHEME") == Some("https");
    let client = environment.text("REMOTE_ADDR").and_then(|address| address.parse().ok());
    Ok(GatewayRequest { head, client, length, secure, mount: Some(mount).filter(|mount| !mount.is_empty()) })
}

/// A target with the characters encoded that its client has not encoded.
fn typed(target: String) -> Vec<u8> {
    if target.bytes().all(raw::stays) {
        return target.into_bytes();
    }
    let mut out = Vec::with_capacity(target.len() + 64);
    for byte in target.bytes() {
        if raw::stays(byte) { out.push(byte) } else { raw::encode(&mut out, byte) }
    }
    out
}

/// Path and query, within the application, and what the path has before that.
fn target(environment: &Environment) -> Result<(String, String), Malformed> {
    let (script, info) = (environment.text("SCRIPT_NAME"), environment.text("PATH_INFO").unwrap_or_default());
    let raw = environment.text("REQUEST_URI").unwrap_or_default();
    // Some web servers send the whole URL.
    let raw = raw.split_once("://").map_or(raw, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    if raw.starts_with('/') {
        let (path, query) = raw.split_once('?').map_or((raw, None), |(path, query)| (path, Some(query)));
        // Without PATH_INFO, web servers put the whole path into SCRIPT_NAME.
        let script = script.filter(|_| !info.is_empty()).unwrap_or_default().trim_end_matches('/');
        if let Some(within) = behind(path, script) {
            let mount = path.strip_suffix(within).unwrap_or_default().to_owned();
            let inner = if within.starts_with('/') { within.to_owned() } else { format!("/{within}") };
            return Ok((query.map_or(inner.clone(), |query| format!("{inner}?{query}")), mount));
        }
    } else if !raw.is_empty() {
        return Err(Malformed("REQUEST_URI is no path"));
    }
    let path = encoded(if info.starts_with('/') { "" } else { "/" }, info);
    let mount = encoded("", script.filter(|_| !info.is_empty()).unwrap_or_default().trim_end_matches('/'));
    Ok(match environment.text("QUERY_STRING") {
        Some(query) if !query.is_empty() => (format!("{path}?{query}"), mount),
        _ => (path, mount),
    })
}

/// A path as URLs have it, behind what is encoded already.
fn encoded(before: &str, plain: &str) -> String {
    let mut path = before.to_owned();
    for byte in plain.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~:@!$&'()*,;=".contains(&byte) {
            path.push(char::from(byte));
        } else {
            path.push('%');
            path.push(hexadecimal(byte >> 4));
            path.push(hexadecimal(byte & 15));
        }
    }
    path
}

fn hexadecimal(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0').to_ascii_uppercase()
}

/// The part of an encoded path after a decoded prefix.
fn behind<'p>(path: &'p str, prefix: &str) -> Option<&'p str> {
    let (mut rest, mut prefix) = (path.as_bytes(), prefix.as_bytes());
    while let Some((wanted, left)) = prefix.split_first() {
        let digit = |at: usize| rest.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        let (byte, length) = match (rest.first()?, digit(1), digit(2)) {
            (b'%', Some(high), Some(low)) => ((high << 4 | low) as u8, 3),
            (byte, ..) => (*byte, 1),
        };
        if byte != *wanted {
            return None;
        }
        (rest, prefix) = (&rest[length..], left);
    }
    let behind = &path[path.len() - rest.len()..];
    (behind.is_empty() || behind.starts_with('/')).then_some(behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment(pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect())
    }

    #[test]
    fn the_path_is_what_the_client_sent_within_the_application() {
        let uri = |uri: &str, script: &str, info: &str| {
            let pairs = [("REQUEST_URI", uri), ("SCRIPT_NAME", script), ("PATH_INFO", info), ("QUERY_STRING", "q=1")];
            let given: Vec<_> = pairs.into_iter().filter(|(_, value)| !value.is_empty()).collect();
            request(&environment(&given)).map(|asked| (asked.head.uri.to_string(), asked.mount.unwrap_or_default()))
        };
        for (sent, script, info, expected, mount) in [
            ("/db/a%2Fb?x=%20", "/db/a/b", "", "/db/a%2Fb?x=%20", ""),
            ("/app/db/a%2Fb?x", "/app", "/db/a/b", "/db/a%2Fb?x", "/app"),
            ("/%61pp/db", "/app", "/db", "/db", "/%61pp"),
            ("/app/", "/app", "/", "/", "/app"),
            ("/app?x", "/app", "/", "/?x", "/app"),
            ("/application", "/app", "/other", "/other?q=1", "/app"),
            ("", "/a b", "/db/a b/é", "/db/a%20b/%C3%A9?q=1", "/a%20b"),
            ("", "/app", "", "/?q=1", ""),
            ("/db", "", "/db", "/db", ""),
            ("http://host:1/db/x?y", "", "", "/db/x?y", ""),
            ("http://host", "", "", "/", ""),
        ] {
            let expected = (expected.to_owned(), mount.to_owned());
            assert_eq!(uri(sent, script, info), Ok(expected), "{sent} {script} {info}");
        }
        assert!(uri("nonsense", "", "").is_err());
        assert!(uri("/a b", "", "").is_err());
        assert_eq!(uri("/ä?key=\"1\"", "", ""), Ok(("/%C3%A4?key=%221%22".to_owned(), String::new())));
    }

    #[test]
    fn headers_are_those_of_the_client() {
        let asked = request(&environment(&[
            ("REQUEST_METHOD", "POST"),
            ("REQUEST_URI", "/db"),
            ("HTTP_IF_NONE_MATCH", "\"1-a\""),
            ("HTTP_AUTHORIZATION", "Basic x"),
            ("HTTP_CONTENT_LENGTH", "999"),
            ("HTTP_TRANSFER_ENCODING", "chunked"),
            ("HTTP_BAD", "a\nb"),
            ("CONTENT_TYPE", "application/json"),
            ("CONTENT_LENGTH", "7"),
            ("REMOTE_ADDR", "::1"),
            ("HTTPS", "on"),
            ("HOME", "/root"),
        ]))
        .unwrap();
        let head = &asked.head;
        assert_eq!(head.method, Method::POST);
        assert_eq!((asked.length, asked.client, asked.secure), (Some(7), "::1".parse().ok(), true));
        let names: Vec<_> = head.headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["if-none-match", "authorization", "content-type", "content-length"]);
        assert_eq!(head.headers[header::CONTENT_LENGTH], "7");
        for length in ["-1", "+7", "7, 7", "7 ", "0x7", "99999999999999999999"] {
            assert!(request(&environment(&[("CONTENT_LENGTH", length)])).is_err(), "{length}");
        }
        assert!(request(&environment(&[("CONTENT_LENGTH", "7"), ("CONTENT_LENGTH", "8")])).is_err());
        assert!(request(&environment(&[("CONTENT_LENGTH", "7"), ("CONTENT_LENGTH", "7")])).is_ok());
        assert!(request(&environment(&[("CONTENT_LENGTH", "0"), ("CONTENT_LENGTH", "")])).is_ok(), "as nginx");
        assert!(request(&environment(&[("REQUEST_METHOD", "GET"), ("REQUEST_METHOD", "DELETE")])).is_err());
        assert!(request(&environment(&[("REQUEST_METHOD", "G ET")])).is_err());
    }
}
