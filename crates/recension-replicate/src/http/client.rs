//! Requests to the other side. They are repeated with growing pauses while it cannot be reached or asks for patience.
//! No error contains credentials.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use http::{Method, Request, Response};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, AsSendBody, Body, SendBody};

use super::url::Address;
use crate::certificates::with_advice;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::limits::{BACKOFF, BACKOFF_MAX, CONNECT, REASON_CHARS_MAX, RETRIES, SILENCE, ZSTD_WINDOW_LOG_MAX};

/// What a feed of changes is called in errors.
pub(crate) const FEED: &str = "its feed of changes";

/// Where systems have the certificates that they trust, all in one file.
const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The endpoint that sends all leaves in one stream.
pub(crate) const LEAVES: &str = "_leaves";

/// Options for a database at a URL.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// More headers, such as `Authorization`.
    pub headers: Vec<(String, String)>,
    /// A file of certificates (PEM) that vouch for servers; else the system's.
    pub certificates: Option<PathBuf>,
    /// How often a failed request is repeated.
    pub retries: u32,
    /// The first pause before a repetition; each further one is twice as long.
    pub backoff: Duration,
    /// Time in which the other side has to answer.
    pub silence: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions { headers: Vec::new(), certificates: None, retries: RETRIES, backoff: BACKOFF, silence: SILENCE }
    }
}

/// A request.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) method: &'a Method,
    /// The path after the database's URL.
    pub(crate) path: &'a str,
    pub(crate) body: Option<&'a str>,
    /// Most bytes of the answer.
    pub(crate) most: u64,
    /// How much longer than usual the answer may take.
    pub(crate) wait: Duration,
}

impl<'a> Question<'a> {
    pub(crate) fn get(path: &'a str, most: u64) -> Self {
        Question { method: &Method::GET, path, body: None, most, wait: Duration::ZERO }
    }

    pub(crate) fn post(path: &'a str, body: &'a str, most: u64) -> Self {
        Question { method: &Method::POST, path, body: Some(body), most, wait: Duration::ZERO }
    }
}

/// A status and a body.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// A client of one database.
pub(crate) struct Client {
    agent: Agent,
    pub(crate) address: Address,
    options: HttpOptions,
}

/// A failed attempt: the reason, and when the other side wants to be asked again.
pub(crate) struct Failed {
    error: Error,
    after: Option<Duration>,
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed { error, after: None }
    }
}

impl Client {
    pub(crate) fn new(address: Address, options: HttpOptions) -> Result<Self> {
        let mut tls = TlsConfig::builder();
        let system = SYSTEM_BUNDLES.iter().map(PathBuf::from).find(|file| file.is_file());
        if let Some(file) = options.certificates.clone().or(system).filter(|_| address.url.starts_with("https")) {
            let failed =
                |why: String| Error::Tls { end: address.url.clone(), why: format!("{}: {why}", file.display()) };
            let bytes = std::fs::read(&file).map_err(|error| failed(error.to_string()))?;
            let certificates: Vec<_> = parse_pem(&bytes)
                .filter_map(|item| match item {
                    Ok(PemItem::Certificate(certificate)) => Some(certificate),
                    _ => None,
                })
                .collect();
            if certificates.is_empty() {
                return Err(failed(
                    "there is no certificate in it; it has to be a file of certificates in PEM".to_owned(),
                ));
            }
            tls = tls.root_certs(RootCerts::new_with_certs(&certificates));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .user_agent(concat!("Recension/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT))
            .timeout_per_write(Some(options.silence))
            .max_redirects(5)
            .tls_config(tls.build())
            .build();
        Ok(Client { agent: config.new_agent(), address, options })
    }

    /// The answer to a request, whatever its status, after as many attempts as it takes.
    pub(crate) fn ask(&self, question: Question<'_>, control: &Control) -> Result<Answered> {
        self.again(control, || {
            let mut response = match question.body {
                Some(body) => self.send(question.method, question.path, "application/json", question.wait, None, body),
                None => self.send(question.method, question.path, "", question.wait, None, SendBody::none()),
            }?;
            let status = response.status().as_u16();
            let (most, mut body) = (question.most, Vec::new());
            let mut reader = response.body_mut().with_config().limit(u64::MAX).reader().take(most.saturating_add(1));
            reader.read_to_end(&mut body).map_err(|error| self.failed(&error.to_string()))?;
            if body.len() as u64 > most {
                return Err(Error::TooLong { end: self.address.url.clone(), max: most }.into());
            }
            Ok(Answered { status, body })
        })
    }

    /// The bytes of an answer as they come.
    pub(crate) fn open(&self, path: &str, control: &Control) -> Result<Box<dyn Read + Send>> {
        let response =
            self.again(control, || self.send(&Method::GET, path, "", Duration::ZERO, None, SendBody::none()))?;
        let status = response.status().as_u16();
        if status != 200 {
            let body = response.into_body().with_config().limit(4096).read_to_vec().unwrap_or_default();
            return Err(self.refused("for an attachment", &Answered { status, body }));
        }
        Ok(Box::new(response.into_body().into_with_config().limit(u64::MAX).reader()))
    }

    /// The answer to a POST, as its bytes come.
    pub(crate) fn open_post(&self, body: &str, control: &Control) -> Result<Box<dyn Read + Send>> {
        let response = self.again(control, || {
            self.send(&Method::POST, "", "application/json", self.options.silence * 9, None, body)
        })?;
        let status = response.status().as_u16();
        if status != 200 {
            let body = response.into_body().with_config().limit(4096).read_to_vec().unwrap_or_default();
            return Err(self.refused("for a backup", &Answered { status, body }));
        }
        Ok(Box::new(response.into_body().into_with_config().limit(u64::MAX).reader()))
    }

    /// The lines of a stream of leaves; `None` if the server has none.
    pub(crate) fn open_leaves(&self, path: &str, control: &Control) -> Result<Option<Box<dyn Read + Send>>> {
        let response =
            self.again(control, || self.send(&Method::GET, path, "", Duration::ZERO, None, SendBody::none()))?;
        let has = |name: &str, value: &str| {
            response.headers().get(name).and_then(|own| own.to_str().ok()).is_some_and(|own| own.starts_with(value))
        };
        // Other servers have no such endpoint, or something else under that name.
        if response.status().as_u16() != 200 || !has("content-type", "application/x-ndjson") {
            return Ok(None);
        }
        let zstd = has("content-encoding", "zstd");
        let reader = response.into_body().into_with_config().limit(u64::MAX).reader();
        if !zstd {
            return Ok(Some(Box::new(reader)));
        }
        let decoder = zstd::stream::read::Decoder::new(reader).and_then(|mut decoder| {
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Ok(decoder)
        });
        let failed =
            |error: std::io::Error| Error::Unreachable { end: self.address.url.clone(), why: error.to_string() };
        Ok(Some(Box::new(decoder.map_err(failed)?)))
    }

    /// Sends the bytes of a reader, once.
    pub(crate) fn put(
        &self,
        path: &str,
        content_type: &str,
        length: u64,
        body: &mut dyn Read,
    ) -> std::result::Result<Answered, Failed> {
        let body = SendBody::from_reader(body);
        let mut response = self.send(&Method::PUT, path, content_type, Duration::ZERO, Some(length), body)?;
        let body = response.body_mut().with_config().limit(64 * 1024).read_to_vec();
        let body = body.map_err(|error| self.failed(&error.to_string()))?;
        Ok(Answered { status: response.status().as_u16(), body })
    }

    /// Repeats `attempt` until it succeeds or fails for good.
    pub(crate) fn again<T>(
        &self,
        control: &Control,
        attempt: impl Fn() -> std::result::Result<T, Failed>,
    ) -> Result<T> {
        let mut pause = self.options.backoff;
        for left in (0..=self.options.retries).rev() {
            if control.is_stopped() {
                return Err(Error::Stopped);
            }
            match attempt() {
                Ok(done) => return Ok(done),
                Err(Failed { error, .. }) if left == 0 || !error.is_temporary() => return Err(error),
                Err(Failed { after, .. }) => {
                    if !control.pause(after.unwrap_or(pause).min(BACKOFF_MAX)) {
                        return Err(Error::Stopped);
                    }
                    pause = (pause * 2).min(BACKOFF_MAX);
                }
            }
        }
        Err(Error::Stopped)
    }

    fn send(
        &self,
        method: &Method,
        path: &str,
        content_type: &str,
        wait: Duration,
        length: Option<u64>,
        body: impl AsSendBody,
    ) -> std::result::Result<Response<Body>, Failed> {
        let slash = if path.is_empty() || path.starts_with('?') { "" } else { "/" };
        let mut request = Request::builder().method(method).uri(format!("{}{slash}{path}", self.address.url));
        let is_attachment = method == Method::GET && content_type.is_empty() && path.contains("?rev=");
        request = if path.starts_with(LEAVES) {
            request.header(ACCEPT_ENCODING, "zstd").header(ACCEPT, "application/x-ndjson")
        } else if is_attachment {
            request.header(ACCEPT_ENCODING, "identity")
        } else {
            request.header(ACCEPT, "application/json")
        };
        if let Some(authorization) = &self.address.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        for (name, value) in &self.options.headers {
            request = request.header(name, value);
        }
        if !content_type.is_empty() {
            request = request.header(CONTENT_TYPE, content_type);
        }
        if let Some(length) = length {
            request = request.header(CONTENT_LENGTH, length);
        }
        let request = request.body(body).map_err(|_| {
            let why = "a header of the request cannot be".to_owned();
            Failed { error: Error::BadOptions(why), after: None }
        })?;
        let silence = Some(self.options.silence + wait);
        let configured =
            self.agent.configure_request(request).timeout_recv_response(silence).timeout_per_read(silence).build();
        let response = self.agent.run(configured).map_err(|error| self.failed_by(error))?;
        let status = response.status().as_u16();
        if matches!(status, 408 | 429 | 500 | 502 | 503 | 504) {
            let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            let body = response.into_body().with_config().limit(4096).read_to_vec().unwrap_or_default();
            let error = self.refused("a request", &Answered { status, body });
            return Err(Failed { error, after: after.map(Duration::from_secs) });
        }
        Ok(response)
    }

    fn failed(&self, why: &str) -> Failed {
        Failed { error: Error::Unreachable { end: self.address.url.clone(), why: why.to_owned() }, after: None }
    }

    fn failed_by(&self, error: ureq::Error) -> Failed {
        let end = self.address.url.clone();
        // Errors of a handshake come in this form.
        let is_tls = |error: &std::io::Error| {
            error.kind() == std::io::ErrorKind::InvalidData && self.address.url.starts_with("https:")
        };
        let error = match error {
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => {
                Error::Tls { end, why: with_advice(&error.to_string()) }
            }
            ureq::Error::Io(inner) if is_tls(&inner) => Error::Tls { end, why: with_advice(&inner.to_string()) },
            error => Error::Unreachable { end, why: error.to_string() },
        };
        Failed { error, after: None }
    }

    /// The error for an answer without success.
    pub(crate) fn refused(&self, what: &'static str, answer: &Answered) -> Error {
        #[derive(serde::Deserialize)]
        struct Words {
            error: String,
            #[serde(default)]
            reason: Option<String>,
        }
        let end = self.address.url.clone();
        let Answered { status, body } = answer;
        let Ok(Words { error, reason }) = serde_json::from_slice::<Words>(body) else {
            if *status == 404 || *status < 400 {
                return Error::NotADatabase { end, found: format!("{status} and no JSON") };
            }
            return Error::Answer { end, what, status: *status, reason: "no JSON".to_owned() };
        };
        let reason: String = reason.unwrap_or(error).chars().take(REASON_CHARS_MAX).collect();
        match status {
            401 | 403 => Error::Denied { end, status: *status, reason },
            // The database is there, and the filter of its feed is not: its design document, or the function.
            404 if what == FEED && !reason.to_ascii_lowercase().contains("database") => {
                let reason = format!("{reason}; it has no such filter");
                Error::Answer { end, what, status: *status, reason }
            }
            404 => Error::NoDatabase { end },
            status => Error::Answer { end, what, status: *status, reason },
        }
    }
}
