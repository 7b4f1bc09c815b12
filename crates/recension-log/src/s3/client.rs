//! Requests to an object store: signed, one after the other.

use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};
use ureq::Agent;
use ureq::http::Request;

use super::SYSTEM;
use super::sign::{self, Credentials, Signed};
use crate::address::TlsMode;
use crate::net::http::{BODY_BYTES_MAX, agent, was_not_sent};
use crate::record::hex;
use crate::{LogAddress, LogError, Result};

/// A server's answer.
pub(super) struct Answer {
    pub(super) status: u16,
    /// The object's length, according to the answer.
    pub(super) length: u64,
    pub(super) body: Vec<u8>,
}

/// The reason for which there is no answer.
pub(super) struct Failure {
    pub(super) why: String,
    /// It certainly did not reach the server.
    pub(super) was_not_sent: bool,
}

pub(super) struct Client {
    agent: Agent,
    endpoint: String,
    host: String,
    bucket: String,
    region: String,
    credentials: Credentials,
}

impl Client {
    pub(super) fn new(address: &LogAddress) -> Result<Self> {
        let refused = |why: &str| LogError::Refused { system: SYSTEM, why: why.to_owned() };
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let bucket = address.hosts.first().map(|(bucket, _)| bucket.clone()).unwrap_or_default();
        let region = address.parameter("region").map(str::to_owned).or_else(|| variable("AWS_REGION"));
        let region = region.unwrap_or_else(|| "us-east-1".to_owned());
        let endpoint = address.parameter("endpoint").map(str::to_owned).or_else(|| variable("AWS_ENDPOINT_URL"));
        let endpoint = endpoint.unwrap_or_else(|| format!("https://s3.{region}.amazonaws.com"));
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let (scheme, host) =
            endpoint.split_once("://").ok_or_else(|| refused("?endpoint= is http://HOST or https://HOST"))?;
        let tls =
            if scheme == "https" { TlsMode::Required(address.parameter("ca").map(Into::into)) } else { TlsMode::Off };
        let key = address.user.clone().or_else(|| variable("AWS_ACCESS_KEY_ID"));
        let secret = match address.user {
            Some(_) => address.password()?,
            None => variable("AWS_SECRET_ACCESS_KEY"),
        };
        let (Some(key), Some(secret)) = (key, secret) else {
            return Err(refused("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"));
        };
        let credentials = Credentials { key, secret, token: variable("AWS_SESSION_TOKEN") };
        let host = host.to_owned();
        Ok(Client { agent: agent(&tls)?, endpoint, host, bucket, region, credentials })
    }

    pub(super) fn send(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::result::Result<Answer, Failure> {
        let failure = |why: String| Failure { why, was_not_sent: true };
        let path = match key {
            "" => format!("/{}", self.bucket),
            key => format!("/{}/{}", self.bucket, sign::encoded(key, true)),
        };
        let mut query: Vec<_> = query
            .iter()
            .map(|(name, value)| format!("{}={}", sign::encoded(name, false), sign::encoded(value, false)))
            .collect();
        query.sort();
        let query = query.join("&");
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let hash = hex(&Sha256::digest(body));
        let signed = sign::sign(&Signed {
            credentials: &self.credentials,
            region: &self.region,
            method,
            host: &self.host,
            path: &path,
            query: &query,
            headers,
            hash: &hash,
            seconds,
        });
        let url = match query.as_str() {
            "" => format!("{}{path}", self.endpoint),
            query => format!("{}{path}?{query}", self.endpoint),
        };
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in
            signed.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(headers.iter().copied())
        {
            request = request.header(name, value);
        }
        let sent = match method {
            "PUT" => {
                request.body(body).map_err(|error| failure(error.to_string())).map(|request| self.agent.run(request))
            }
            _ => request.body(()).map_err(|error| failure(error.to_string())).map(|request| self.agent.run(request)),
        };
        let broken = |error: &ureq::Error| Failure { why: error.to_string(), was_not_sent: was_not_sent(error) };
        let answer = sent?.map_err(|error| broken(&error))?;
        let status = answer.status().as_u16();
        let length = answer.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
        let body = if method == "HEAD" {
            Vec::new()
        } else {
            let read = answer.into_body().with_config().limit(BODY_BYTES_MAX).read_to_vec();
            read.map_err(|error| Failure { why: error.to_string(), was_not_sent: false })?
        };
        Ok(Answer { status, length: length.unwrap_or(0), body })
    }
}
