//! A request as endpoints see it: its head, and its body on demand, within bounds of size and time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, Method};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use recension::At;
use recension::engine::budget::{Arrival, FREE_BYTES, NoRoom, Share};

use crate::arriving::{Arriving, Mount, Secure};
use crate::auth::connection::Connection;
use crate::databases::Database;
use crate::encoding::gunzipped;
use crate::error::{ApiError, Result};
use crate::limits::{BODY_WEIGHT, GZIP_RATIO_MAX};
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
    /// Room for what is made of the body while the request is worked on.
    room: Option<Share>,
}

impl Request {
    /// From a head that was read, and the body behind it.
    pub(crate) fn new(app: Arc<App>, connection: Arc<Connection>, head: Parts, query: Query, body: Arriving) -> Self {
        Request { app, connection, head, query, rewrites: 0, body, replaced: None, room: None }
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
            None | Some("" | "identity") => {
                let (whole, room) = self.collected(max, None).await?;
                Ok(self.kept(whole, room))
            }
            Some("gzip") => {
                let (packed, room) = self.collected(max, Some(GZIP_RATIO_MAX)).await?;
                let unpacked = move || gunzipped(&packed, max).map_err(|_| ApiError::bad_gzip());
                let unpacked = self.app.blocking(unpacked).await?.ok_or_else(ApiError::too_large)?;
                Ok(self.kept(unpacked, room))
            }
            Some(_) => Err(ApiError::bad_content_encoding()),
        }
    }

    /// The whole body as it comes, of at most `max` bytes, and the room that it was given. If it is packed, one byte of
    /// it may become so many.
    async fn collected(&mut self, max: usize, packed: Option<usize>) -> Result<(Vec<u8>, Option<Share>)> {
        let announced = self.header(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        let announced = announced.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        if announced.is_some_and(|length| length > max) {
            return Err(ApiError::too_large());
        }
        let needs = |length: usize| {
            let unpacked = packed.map_or(0, |ratio| length.saturating_mul(ratio).min(max));
            length.saturating_add(unpacked).saturating_mul(BODY_WEIGHT)
        };
        let mut coming = Coming::new(self);
        if let Some(length) = announced {
            coming.room_for(needs(length)).await?;
        }
        let mut whole: Vec<u8> = Vec::new();
        while let Some(piece) = self.next_of(&coming, whole.len()).await? {
            let length = whole.len() + piece.len();
            if length > max {
                return Err(ApiError::too_large());
            }
            if length > whole.capacity() {
                let most = announced.unwrap_or(max).max(length);
                let capacity = length.max(2 * whole.capacity()).min(most);
                coming.room_for(needs(capacity)).await?;
                whole.reserve_exact(capacity - whole.len());
            }
            whole.extend_from_slice(&piece);
        }
        Ok((whole, coming.arrival.into_share()))
    }

    /// The body, which holds the part of the room that it takes for itself. The rest is held while the request is.
    fn kept(&mut self, whole: Vec<u8>, room: Option<Share>) -> Bytes {
        let Some(mut room) = room else { return whole.into() };
        let rest = whole.len().saturating_mul(BODY_WEIGHT - 1).min(room.bytes().saturating_sub(whole.capacity()));
        self.room = room.split(rest);
        Paid::bytes(whole, room)
    }

    /// The next piece of a body that is collected, of which so many bytes have come.
    pub(crate) async fn next_of(&mut self, coming: &Coming, came: usize) -> Result<Option<Bytes>> {
        coming.arrival.came(came).map_err(|NoRoom| ApiError::body_too_slow())?;
        let mut waited = Duration::ZERO;
        loop {
            let look = coming.arrival.next_look(coming.idle.saturating_sub(waited));
            match tokio::time::timeout(look, self.piece()).await {
                Ok(piece) => return piece,
                Err(_) => waited += look,
            }
            coming.arrival.came(came).map_err(|NoRoom| ApiError::body_too_slow())?;
            if waited >= coming.idle {
                return Err(ApiError::body_too_slow());
            }
        }
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
            let mut frame = self.body.frame();
            let came = poll_fn(|context| Poll::Ready(Pin::new(&mut frame).poll(context))).await;
            let came = match came {
                Poll::Ready(frame) => Ok(frame),
                Poll::Pending => {
                    let _coming = self.connection.coming();
                    tokio::time::timeout(idle, frame).await
                }
            };
            match came {
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

/// A body that is collected in memory, and the room that it has.
#[derive(Debug)]
pub(crate) struct Coming {
    arrival: Arrival,
    idle: Duration,
}

impl Coming {
    /// The body of a request.
    pub(crate) fn new(request: &Request) -> Self {
        let idle = Duration::from_secs(request.app.config.body_idle_seconds);
        Coming { arrival: Arrival::new(&request.app.bodies), idle }
    }

    /// Takes the memory that so many bytes need, before they are kept.
    pub(crate) async fn room_for(&mut self, bytes: usize) -> Result<()> {
        let bytes = if bytes <= FREE_BYTES * BODY_WEIGHT { bytes.min(FREE_BYTES) } else { bytes };
        let room = self.arrival.room_for(bytes, tokio::time::sleep(self.idle)).await;
        room.map_err(|NoRoom| ApiError::too_many_bodies())
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
