//! A request as endpoints see it: its head, and its body on demand, within bounds of size and time.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::HOST;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderName, Method};
use recension::At;

use crate::auth::connection::Connection;
use crate::auth::databases::Database;
use crate::state::App;
use recension_wire::arriving::{Arriving, Secure};
use recension_wire::error::{ApiError, Result};
use recension_wire::format::Format;
use recension_wire::head::{self, base};
use recension_wire::query::Query;
use recension_wire::request_body::RequestBody;

/// A request.
#[derive(Debug)]
pub struct Request {
    pub app: Arc<App>,
    pub connection: Arc<Connection>,
    pub head: Parts,
    pub query: Query,
    /// How often it was rewritten.
    pub rewrites: u8,
    pub body: RequestBody,
}

impl Request {
    /// From a head that was read, and the body behind it.
    pub fn new(app: Arc<App>, connection: Arc<Connection>, head: Parts, query: Query, body: Arriving) -> Self {
        let body = RequestBody::new(body, &app.bounds, connection.line());
        Request { app, connection, head, query, rewrites: 0, body }
    }

    /// The method.
    pub fn method(&self) -> &Method {
        &self.head.method
    }

    /// A header, if it is text.
    pub fn header(&self, name: HeaderName) -> Option<&str> {
        head::header(&self.head, name)
    }

    /// The form that its sender likes best: [`Format::of`].
    pub fn format(&self, others: &[Format]) -> Format {
        Format::of((&self.query, &self.head.headers), others)
    }

    /// Refuses a body whose content type is not JSON: CouchDB does so for POST, not for PUT.
    pub fn require_json(&self) -> Result<()> {
        head::require_json(&self.head)
    }

    /// The whole body, as long as the configuration allows.
    pub async fn bytes(&mut self) -> Result<Bytes> {
        let max = self.app.settings.live().max_request_size;
        self.bytes_up_to(max).await
    }

    /// The body of a POST, which is JSON; of other methods none.
    pub async fn posted_json(&mut self) -> Result<Bytes> {
        if *self.method() != Method::POST {
            return Ok(Bytes::new());
        }
        self.require_json()?;
        self.bytes().await
    }

    /// The whole body, of at most `max` bytes: [`RequestBody::bytes_up_to`].
    pub async fn bytes_up_to(&mut self, max: usize) -> Result<Bytes> {
        self.body.bytes_up_to(&self.head.headers, max).await
    }

    /// The next piece of the body; `None` at its end. For bodies that are not held in memory.
    pub async fn piece(&mut self) -> Result<Option<Bytes>> {
        self.body.piece().await
    }
}

/// The database as of the moment in the query's `at`: a commit, a time or an age. The present `_security` decides
/// whether the user may read it.
pub fn at_its_moment(request: &Request, db: Database) -> Result<Database> {
    match request.query.get("at") {
        None => Ok(db),
        Some(text) => db.seen_at(moment(text)?),
    }
}

/// A moment. One that is still to come would be read as now, and as something else later.
pub fn moment(text: &str) -> Result<At> {
    let at: At = text.parse()?;
    // Clocks differ a little.
    let latest = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + Duration::from_mins(1);
    match at {
        At::Time(time) if u128::from(time.0) > latest.as_micros() => {
            Err(ApiError::query_parse(format!("The moment {text} is still to come.")))
        }
        at => Ok(at),
    }
}

/// A path of this server as a URL. Clients expect it in `Location`.
pub fn absolute(request: &Request, path: &str) -> String {
    let path = format!("{}{path}", base(&request.head));
    let forwarded = proxy_said(request, &FORWARDED_HOST).filter(|host| is_host(host));
    let asked = || request.header(HOST).or_else(|| request.head.uri.authority().map(Authority::as_str));
    match forwarded.or_else(asked) {
        Some(host) => {
            let scheme = if is_secure(request) { "https" } else { "http" };
            format!("{scheme}://{host}{path}")
        }
        None => path,
    }
}

/// Whether the client speaks TLS: to this server, or to the web server before it.
pub fn is_secure(request: &Request) -> bool {
    request.app.config.tls_certificate.is_some()
        || request.head.extensions.get::<Secure>().is_some()
        || proxy_said(request, &FORWARDED_PROTO) == Some("https")
        || proxy_said(request, &FORWARDED_SSL) == Some("on")
}

const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_SSL: HeaderName = HeaderName::from_static("x-forwarded-ssl");

/// A header of a web server before this one. It is believed if it comes from this machine or its private network: from
/// elsewhere anybody may send it.
fn proxy_said<'r>(request: &'r Request, header: &HeaderName) -> Option<&'r str> {
    let is_near = match request.connection.address() {
        None => true,
        Some(IpAddr::V4(address)) => address.is_loopback() || address.is_private(),
        Some(IpAddr::V6(address)) => {
            let v4 = address.to_ipv4_mapped();
            v4.map_or_else(
                || address.is_loopback() || address.is_unique_local(),
                |v4| v4.is_loopback() || v4.is_private(),
            )
        }
    };
    request.head.headers.get(header).filter(|_| is_near).and_then(|value| value.to_str().ok())
}

/// Whether a text is the name of a host, maybe with a port.
pub fn is_host(host: &str) -> bool {
    host.parse::<Authority>().is_ok() && !host.contains('@')
}

/// Refuses methods other than those of an endpoint, listed as CouchDB does: where there is GET, there is HEAD.
pub fn only(request: &Request, methods: &'static str) -> Result<()> {
    let method = request.method().as_str();
    let method = if method == "HEAD" && !methods.contains("HEAD") { "GET" } else { method };
    if methods.split(',').any(|own| own == method) { Ok(()) } else { Err(ApiError::method_not_allowed(methods)) }
}
