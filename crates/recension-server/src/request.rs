//! A request as endpoints see it: its head, and its body on demand, within bounds of size and time.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, Method};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use recension::At;

use crate::arriving::{Arriving, Mount, Secure};
use crate::auth::connection::Connection;
use crate::budget::Share;
use crate::databases::Database;
use crate::encoding::gunzipped;
use crate::error::{ApiError, Result};
use crate::limits::{BODY_FREE_BYTES, GZIP_RATIO_MAX};
use crate::query::Query;
use crate::state::App;
use crate::streams::Paid;

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) app: Arc<App>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) head: Parts,
    pub(crate) query: Query,
    /// How often it was rewritten.
    pub(crate) rewrites: u8,
    body: Arriving,
    replaced: Option<Bytes>,
}

impl Request {
    /// From a head that was read, and the body behind it.
    pub(crate) fn new(app: Arc<App>, connection: Arc<Connection>, head: Parts, query: Query, body: Arriving) -> Self {
        Request { app, connection, head, query, rewrites: 0, body, replaced: None }
    }

    /// The method.
    pub(crate) fn method(&self) -> &Method {
        &self.head.method
    }

    /// A header, if it is text.
    pub(crate) fn header(&self, name: HeaderName) -> Option<&str> {
        self.head.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Whether the content type is JSON, or missing.
    pub(crate) fn is_json(&self) -> bool {
        let content_type =
            self.header(CONTENT_TYPE).and_then(|value| value.split(';').next()).unwrap_or("application/json");
        content_type.trim().eq_ignore_ascii_case("application/json")
    }

    /// Refuses a body whose content type is not JSON: CouchDB does so for POST, not for PUT.
    pub(crate) fn require_json(&self) -> Result<()> {
        if self.is_json() { Ok(()) } else { Err(ApiError::content_type_not_json()) }
    }

    /// The whole body, as long as the configuration allows.
    pub(crate) async fn bytes(&mut self) -> Result<Bytes> {
        let max = self.app.settings.live().max_request_size;
        self.bytes_up_to(max).await
    }

    /// The whole body, of at most `max` bytes. Its memory grows with the bytes that have arrived, not with the
    /// announced length. A gzip body is unpacked.
    pub(crate) async fn bytes_up_to(&mut self, max: usize) -> Result<Bytes> {
        let coding = if self.replaced.is_some() { None } else { self.header(CONTENT_ENCODING) };
        match coding.map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "identity") => self.plain_bytes_up_to(max).await,
            Some("gzip") => {
                let packed = self.plain_bytes_up_to(max).await?;
                // The memory is taken before its need is known.
                let most = packed.len().saturating_mul(GZIP_RATIO_MAX).min(max);
                let patience = Duration::from_secs(self.app.config.body_idle_seconds);
                let share = tokio::time::timeout(patience, self.app.bodies.take(most)).await;
                let share = share.map_err(|_| ApiError::too_many_bodies())?;
                let unpacked = move || {
                    let unpacked = gunzipped(&packed, max).map_err(|_| ApiError::bad_gzip())?;
                    Ok(unpacked.map(|unpacked| Paid::bytes(unpacked, share)))
                };
                self.app.blocking(unpacked).await?.ok_or_else(ApiError::too_large)
            }
            Some(_) => Err(ApiError::bad_content_encoding()),
        }
    }

    async fn plain_bytes_up_to(&mut self, max: usize) -> Result<Bytes> {
        let announced = self.header(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        if announced.is_some_and(|length| length > max as u64) {
            return Err(ApiError::too_large());
        }
        let mut whole: Vec<u8> = Vec::new();
        let mut first: Option<Bytes> = None;
        let mut share: Option<Share> = None;
        while let Some(piece) = self.piece().await? {
            match first.take() {
                None if whole.is_empty() => first = Some(piece),
                held => {
                    whole.extend(held.as_deref().unwrap_or_default());
                    whole.extend(&piece);
                }
            }
            if whole.len() + first.as_ref().map_or(0, Bytes::len) > max {
                return Err(ApiError::too_large());
            }
            self.pay(&mut share, whole.len())?;
        }
        Ok(match (first, share) {
            (Some(first), _) => first,
            (None, Some(share)) => Paid::of(Bytes::from(whole), share),
            (None, None) => Bytes::from(whole),
        })
    }

    /// Takes the memory that so many bytes of a body need.
    pub(crate) fn pay(&self, share: &mut Option<Share>, bytes: usize) -> Result<()> {
        let Some(wanted) = bytes.checked_sub(BODY_FREE_BYTES).filter(|wanted| *wanted > 0) else { return Ok(()) };
        let enough = match share {
            Some(share) => wanted <= share.bytes() || share.grow(wanted - share.bytes()),
            none => {
                *none = self.app.bodies.at_once(wanted);
                none.is_some()
            }
        };
        if enough { Ok(()) } else { Err(ApiError::too_many_bodies()) }
    }

    /// Puts another body in place of the one that was read.
    pub(crate) fn replace_body(&mut self, body: Bytes) {
        self.replaced = Some(body);
    }

    /// The next piece of the body; `None` at its end. For bodies that are not held in memory.
    pub(crate) async fn piece(&mut self) -> Result<Option<Bytes>> {
        if let Some(body) = self.replaced.take() {
            return Ok(Some(body));
        }
        let idle = Duration::from_secs(self.app.config.body_idle_seconds);
        loop {
            if self.body.is_end_stream() {
                return Ok(None);
            }
            match tokio::time::timeout(idle, self.body.frame()).await {
                Err(_) => return Err(ApiError::body_too_slow()),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(ApiError::bad_request("The request's body broke off.")),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

/// The database as of the moment in the query's `at`: a commit, a time or an age. The present `_security` decides
/// whether the user may read it.
pub(crate) fn at_its_moment(request: &Request, db: Database) -> Result<Database> {
    match request.query.get("at") {
        None => Ok(db),
        Some(moment) => db.seen_at(moment.parse::<At>()?),
    }
}

/// The header by which web servers say so.
pub(crate) const FORWARDED_PREFIX: &str = "x-forwarded-prefix";

/// The longest path that a server is put below.
const BASE_BYTES_MAX: usize = 200;

/// What stands before the paths of this server, as its client sees it: what the gateway said, or the web server's
/// `X-Forwarded-Prefix`. It is empty, or begins with `/` and does not end with it.
pub(crate) fn base(head: &Parts) -> &str {
    let told = head.extensions.get::<Mount>().map(|Mount(path)| path.as_str());
    let header = || head.headers.get(FORWARDED_PREFIX).and_then(|value| value.to_str().ok());
    let path = told.or_else(header).unwrap_or_default().trim_end_matches('/');
    let is_path = path.starts_with('/') && !path.starts_with("//") && path.len() <= BASE_BYTES_MAX;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%".contains(&byte);
    if is_path && path.bytes().all(is_plain) { path } else { "" }
}

/// A path of this server as a URL. Clients expect it in `Location`.
pub(crate) fn absolute(request: &Request, path: &str) -> String {
    let path = format!("{}{path}", base(&request.head));
    match request.header(HOST).or_else(|| request.head.uri.authority().map(Authority::as_str)) {
        Some(host) => {
            let scheme = if is_secure(request) { "https" } else { "http" };
            format!("{scheme}://{host}{path}")
        }
        None => path,
    }
}

/// Whether the client speaks TLS: to this server, or to the web server before it.
pub(crate) fn is_secure(request: &Request) -> bool {
    request.app.config.tls_certificate.is_some() || request.head.extensions.get::<Secure>().is_some()
}

/// Refuses methods other than those of an endpoint, listed as CouchDB does.
pub(crate) fn only(request: &Request, methods: &'static str) -> Result<()> {
    let method = request.method().as_str();
    if methods.split(',').any(|own| own == method) { Ok(()) } else { Err(ApiError::method_not_allowed(methods)) }
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
