//! Requests over HTTP: an agent that keeps its connections, and the meaning of its errors.

use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, parse_pem};

use super::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, certificates};
use crate::address::TlsMode;
use crate::{LogError, Result};

/// Longest answer, in bytes.
pub(crate) const BODY_BYTES_MAX: u64 = 512 << 20;

/// An agent that trusts the certificates that the address names.
pub(crate) fn agent(tls: &TlsMode) -> Result<Agent> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_global(Some(ANSWER_TIMEOUT))
        .max_idle_connections_per_host(crate::limits::AHEAD_MAX)
        .max_idle_connections(crate::limits::AHEAD_MAX)
        .max_idle_age(Duration::from_secs(30));
    if let TlsMode::Required(ca) = tls {
        let pem = certificates(ca.as_deref())?;
        let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
            .filter_map(|item| match item {
                Ok(ureq::tls::PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        if certificates.is_empty() {
            return Err(LogError::Refused {
                system: "TLS",
                why: "there is no certificate in the file of ?ca=".to_owned(),
            });
        }
        let roots = RootCerts::new_with_certs(&certificates);
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    Ok(config.build().new_agent())
}

/// Whether a failed request certainly did not reach its server.
pub(crate) fn was_not_sent(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable};
    match error {
        ureq::Error::ConnectionFailed | ureq::Error::HostNotFound | ureq::Error::Tls(_) => true,
        ureq::Error::Timeout(timeout) => {
            matches!(timeout, ureq::Timeout::Connect | ureq::Timeout::Resolve)
        }
        ureq::Error::Io(error) => {
            matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable | AddrNotAvailable)
        }
        _ => false,
    }
}
