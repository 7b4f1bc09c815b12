//! Requests to the members of an etcd cluster: to the one that answered last; if it does not answer, to the next.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::{Value, json};
use ureq::Agent;

use crate::address::TlsMode;
use crate::net::ANSWER_TIMEOUT;
use crate::net::http::{BODY_BYTES_MAX, agent, was_not_sent};
use crate::{LogAddress, LogError, Result};

const PORT: u16 = 2379;

/// The reason for which a request failed.
pub(super) enum Failure {
    /// No member was reached.
    NotSent(String),
    /// It may have been done.
    Unknown(String),
    /// It will fail again in the same way.
    Lasting(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NotSent(why) | Failure::Unknown(why) | Failure::Lasting(why) => why.fmt(f),
        }
    }
}

/// A cluster.
pub(super) struct Client {
    agent: Agent,
    members: Vec<String>,
    /// The member that is asked first.
    member: AtomicUsize,
    user: Option<(String, String)>,
    token: Mutex<Option<String>>,
}

impl Client {
    pub(super) fn new(address: &LogAddress) -> Result<Self> {
        let tls = address.tls();
        let scheme = if tls == TlsMode::Off { "http" } else { "https" };
        let member = |(host, port): &(String, Option<u16>)| {
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            format!("{scheme}://{host}:{}/v3/", port.unwrap_or(PORT))
        };
        let user = match &address.user {
            None => None,
            Some(user) => Some((
                user.clone(),
                address.password()?.ok_or_else(|| LogError::Refused {
                    system: super::SYSTEM,
                    why: "a user needs a password: set RECENSION_LOG_PASSWORD, or name a file with ?password-file="
                        .to_owned(),
                })?,
            )),
        };
        Ok(Client {
            agent: agent(&tls)?,
            members: address.hosts.iter().map(member).collect(),
            member: AtomicUsize::new(0),
            user,
            token: Mutex::new(None),
        })
    }

    /// The address of a path at the member that is asked first.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.members[self.member.load(Ordering::Relaxed) % self.members.len()])
    }

    /// A request whose answer is an endless stream.
    pub(super) fn stream(&self, path: &str, body: &Value) -> std::result::Result<ureq::Body, Failure> {
        let answer = self.send(&self.url(path), body).map_err(|error| Failure::Unknown(error.to_string()));
        answer.map(ureq::http::Response::into_body).inspect_err(|_| self.turn())
    }

    fn turn(&self) {
        self.member.fetch_add(1, Ordering::Relaxed);
    }

    fn send(&self, url: &str, body: &Value) -> std::result::Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let mut request = self.agent.post(url);
        if let Some(token) = &*self.token.lock() {
            request = request.header("Authorization", token);
        }
        request.send(body.to_string())
    }

    /// A request and its answer.
    pub(super) fn ask(&self, path: &str, body: &Value) -> std::result::Result<Value, Failure> {
        if self.user.is_some() && self.token.lock().is_none() {
            self.log_in()?;
        }
        let answer = self.ask_members(path, body);
        match (&answer, &self.user) {
            // The token has expired.
            (Err(Failure::Lasting(why)), Some(_)) if why.contains("invalid auth token") => {
                self.log_in()?;
                self.ask_members(path, body)
            }
            _ => answer,
        }
    }

    fn ask_members(&self, path: &str, body: &Value) -> std::result::Result<Value, Failure> {
        let (began, mut failures) = (Instant::now(), Vec::new());
        for _ in (0..self.members.len()).take_while(|_| began.elapsed() < ANSWER_TIMEOUT) {
            match self.send(&self.url(path), body) {
                Ok(answer) => return read(answer).inspect_err(|_| self.turn()),
                Err(error) => {
                    self.turn();
                    failures.push(error.to_string());
                    if !was_not_sent(&error) {
                        return Err(Failure::Unknown(failures.join("; ")));
                    }
                }
            }
        }
        Err(Failure::NotSent(failures.join("; ")))
    }

    fn log_in(&self) -> std::result::Result<(), Failure> {
        let Some((name, password)) = &self.user else { return Ok(()) };
        *self.token.lock() = None;
        let answer = self.ask_members("auth/authenticate", &json!({"name": name, "password": password}))?;
        *self.token.lock() = answer["token"].as_str().map(str::to_owned);
        Ok(())
    }
}

fn read(answer: ureq::http::Response<ureq::Body>) -> std::result::Result<Value, Failure> {
    let status = answer.status();
    let mut body = answer.into_body();
    let text =
        body.with_config().limit(BODY_BYTES_MAX).read_to_vec().map_err(|error| Failure::Unknown(error.to_string()))?;
    let value: Value = serde_json::from_slice(&text).unwrap_or_default();
    if status.is_success() && !value.is_null() {
        return Ok(value);
    }
    let words = value["message"].as_str().or(value["error"].as_str()).unwrap_or("an answer that is no etcd's");
    let why = format!("{words} (status {})", status.as_u16());
    // Codes of gRPC: unknown, a deadline, exhausted, aborted, internal, unavailable.
    match value["code"].as_u64() {
        Some(2 | 4 | 10 | 13 | 14) | None => Err(Failure::Unknown(why)),
        Some(_) => Err(Failure::Lasting(why)),
    }
}
