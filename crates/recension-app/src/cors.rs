//! CORS: the other sites whose pages may ask, as the configuration says. Every answer gets its headers here, refusals
//! too: a page cannot read a 401 without them.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    ORIGIN,
};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};

use crate::config::Cors;
use recension_wire::answer::Answer;

/// Headers of answers that pages may read: those that CouchDB names, and the newest commit of a shared store.
const EXPOSED: &str = "content-type, cache-control, accept-ranges, etag, server, x-couch-request-id, \
                       x-couch-update-newrev, x-couchdb-body-time, x-recension-seq";

/// What an entry of `cors/origins` is.
pub(crate) const ORIGINS: &str = "an origin is scheme://host or scheme://host:port, without a path, or * for all; \
                                  several are separated by commas";

/// Whether a browser may send a text as the origin of a page (RFC 6454, section 6), or it is `*`. One that no browser
/// sends would let nobody in, and nobody would be told.
pub(crate) fn may_be_an_origin(text: &str) -> bool {
    let scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    let host = |text: &str| text.chars().all(|c| c.is_ascii_graphic() && !"/?#@*\\\"'<>,;".contains(c));
    matches!(text, "*" | "null") || text.split_once("://").is_some_and(|(before, after)| scheme(before) && host(after))
}

/// The origin of a request that may be answered to.
fn allowed<'h>(cors: &Cors, headers: &'h HeaderMap) -> Option<&'h str> {
    let origin = headers.get(ORIGIN)?.to_str().ok()?;
    let listed = cors.origins.iter().any(|own| own == "*" || own.eq_ignore_ascii_case(origin));
    (cors.enabled && listed).then_some(origin)
}

/// Whether a page of another site sends a request that changes something. Browsers allow that, with the reader's cookie
/// or password, but do not let the page read the answer. They say so in `Sec-Fetch-Site`. Without TLS they only name
/// the page's origin, which is then neither this host nor that of the web server before it.
pub fn is_forged(cors: &Cors, head: &Parts) -> bool {
    !matches!(head.method, Method::GET | Method::HEAD | Method::OPTIONS) && is_foreign(cors, head)
}

/// Whether a page of another site asks, which the configuration does not let in.
pub fn is_foreign(cors: &Cors, head: &Parts) -> bool {
    let text = |name: &str| head.headers.get(name).and_then(|value| value.to_str().ok());
    let own = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => {
            let host = text("host").or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
            let before = text("x-forwarded-host");
            origin.split_once("://").is_some_and(|(_, own)| Some(own) == host || Some(own) == before)
        }
        (None, None) => true,
    };
    !own && allowed(cors, &head.headers).is_none()
}

/// The answer to a preflight request.
pub fn preflight(cors: &Cors, method: &Method, headers: &HeaderMap) -> Option<Answer> {
    if *method != Method::OPTIONS || !headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
        return None;
    }
    allowed(cors, headers)?;
    let answer = Answer::empty(StatusCode::NO_CONTENT)
        .with(ACCESS_CONTROL_ALLOW_METHODS, cors.methods.join(", "))
        .with(ACCESS_CONTROL_ALLOW_HEADERS, cors.headers.join(", "))
        .with(ACCESS_CONTROL_MAX_AGE, cors.max_age.to_string());
    Some(answer)
}

/// Lets the page that asked read the answer, if it may.
#[must_use]
pub fn decorated(answer: Answer, cors: &Cors, headers: &HeaderMap) -> Answer {
    let Some(origin) = allowed(cors, headers) else { return answer };
    let answer =
        answer.with(ACCESS_CONTROL_ALLOW_ORIGIN, origin).with(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED).varying("Origin");
    if cors.credentials { answer.with(ACCESS_CONTROL_ALLOW_CREDENTIALS, "true") } else { answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(http::HeaderName, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn what_other_sites_send_with_a_cookie_is_known() {
        let cors = Cors { enabled: true, origins: vec!["https://friend.example".to_owned()], ..Cors::default() };
        for (method, headers, forged) in [
            ("POST", &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")][..], true),
            ("POST", &[("sec-fetch-site", "same-site")], true),
            ("POST", &[("sec-fetch-site", "cross-site"), ("origin", "https://friend.example")], false),
            ("POST", &[("sec-fetch-site", "same-origin"), ("origin", "http://db.example")], false),
            ("GET", &[("sec-fetch-site", "cross-site")], false),
            ("DELETE", &[("origin", "https://evil.example")], true),
            ("DELETE", &[("origin", "null")], true),
            ("DELETE", &[("origin", "http://db.example")], false),
            ("DELETE", &[("origin", "http://front.example"), ("x-forwarded-host", "front.example")], false),
            ("PUT", &[], false),
        ] {
            let mut request = http::Request::builder().method(method).uri("/db").header("host", "db.example");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            assert_eq!(is_forged(&cors, &head), forged, "{method} {headers:?}");
        }
    }

    #[test]
    fn only_listed_origins_are_answered() {
        let cors = |origins: &[&str]| Cors {
            enabled: true,
            credentials: true,
            origins: origins.iter().map(|origin| (*origin).to_owned()).collect(),
            ..Cors::default()
        };
        let asks = headers(&[(ORIGIN, "https://a.example"), (ACCESS_CONTROL_REQUEST_METHOD, "PUT")]);
        for (cors, answered) in [
            (cors(&["https://a.example"]), true),
            (cors(&["*"]), true),
            (cors(&["https://b.example"]), false),
            (cors(&[]), false),
            (Cors { enabled: false, ..cors(&["*"]) }, false),
        ] {
            assert_eq!(preflight(&cors, &Method::OPTIONS, &asks).is_some(), answered);
            let answer = decorated(Answer::ok("{}"), &cors, &asks);
            assert_eq!(answer.headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN), answered);
            assert_eq!(answer.headers.contains_key(ACCESS_CONTROL_ALLOW_CREDENTIALS), answered);
        }
        let cors = cors(&["*"]);
        assert!(preflight(&cors, &Method::PUT, &asks).is_none());
        assert!(preflight(&cors, &Method::OPTIONS, &headers(&[(ORIGIN, "https://a.example")])).is_none());
        assert!(!decorated(Answer::ok(""), &cors, &HeaderMap::new()).headers.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN));
    }

    #[test]
    fn pages_may_send_what_clients_of_couchdb_send() {
        let cors = Cors { enabled: true, ..Cors::default() };
        let asks = headers(&[(ORIGIN, "https://a.example"), (ACCESS_CONTROL_REQUEST_METHOD, "COPY")]);
        let answer = preflight(&cors, &Method::OPTIONS, &asks).unwrap();
        let allowed = answer.headers[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
        for sent in ["destination", "x-requested-with", "x-couch-full-commit", "pragma", "range", "last-event-id"] {
            assert!(allowed.split(", ").any(|name| name == sent), "{sent}");
        }
    }
}
