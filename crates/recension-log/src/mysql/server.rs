//! The servers that an address names: connecting to one, and the meaning of its errors.

use std::time::Instant;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, OptsBuilder, SslOpts};
use parking_lot::Mutex;

use super::SYSTEM;
use crate::address::TlsMode;
use crate::net::{ANSWER_TIMEOUT, CONNECT_TIMEOUT, Driver, certificates};
use crate::{LogAddress, LogError, Result};

const PORT: u16 = 3306;

/// Servers, any of which will do.
pub(super) struct Server {
    pub(super) driver: Driver,
    hosts: Vec<(String, u16)>,
    /// The host that answered last.
    host: Mutex<usize>,
    options: OptsBuilder,
    pub(super) place: String,
}

/// The reason for which a statement failed.
pub(super) enum Failure {
    /// The connection broke, or there was no answer in time.
    Broken(String),
    /// The server refused, with its number.
    Server(u16, String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Server(error) => Failure::Server(error.code, error.message),
            error => Failure::Broken(error.to_string()),
        }
    }
}

impl Server {
    pub(super) fn of(address: &LogAddress) -> Result<Self> {
        let tls = match address.tls() {
            TlsMode::Off => None,
            TlsMode::Required(ca) => {
                let roots = SslOpts::default().with_root_certs(vec![certificates(ca.as_deref())?.into()]);
                // The driver's built-in certificates were not named by the user.
                Some(roots.with_disable_built_in_roots(true))
            }
        };
        let options = OptsBuilder::default()
            .user(address.user.clone())
            .pass(address.password()?)
            .db_name(Some(address.path.clone()))
            .prefer_socket(false)
            .ssl_opts(tls);
        Ok(Server {
            driver: Driver::start()?,
            hosts: address.hosts.iter().map(|(host, port)| (host.clone(), port.unwrap_or(PORT))).collect(),
            host: Mutex::new(0),
            options,
            place: address.place(),
        })
    }

    pub(super) fn connect(&self) -> Result<Conn> {
        let mut host = self.host.lock();
        let (began, mut failures) = (Instant::now(), Vec::new());
        for turn in (0..self.hosts.len()).take_while(|_| began.elapsed() < ANSWER_TIMEOUT) {
            let at = (*host + turn) % self.hosts.len();
            let (name, port) = self.hosts[at].clone();
            let options = self.options.clone().ip_or_hostname(name.clone()).tcp_port(port);
            let connected = self.driver.run(CONNECT_TIMEOUT, async move {
                let mut conn = Conn::new(options).await?;
                // On Galera, a read then sees everything that any node acknowledged before. Other servers have no such
                // setting.
                let _ = conn.query_drop("set session wsrep_sync_wait = 7").await;
                Ok::<_, Error>(conn)
            });
            match connected {
                Some(Ok(conn)) => {
                    *host = at;
                    return Ok(conn);
                }
                Some(Err(error)) => match error.into() {
                    failure @ Failure::Server(..) if is_lasting(&failure) => return Err(self.error(failure)),
                    Failure::Server(_, why) | Failure::Broken(why) => failures.push(format!("{name}:{port}: {why}")),
                },
                None => failures.push(format!("{name}:{port} does not answer")),
            }
        }
        Err(LogError::Unavailable(format!("{}: {}", self.place, failures.join("; "))))
    }

    pub(super) fn error(&self, failure: Failure) -> LogError {
        let is_lasting = is_lasting(&failure);
        let why = match failure {
            Failure::Broken(why) => format!("{}: {why}", self.place),
            Failure::Server(code, why) => format!("{}: {why} ({code})", self.place),
        };
        if is_lasting { LogError::Refused { system: SYSTEM, why } } else { LogError::Unavailable(why) }
    }
}

/// Whether the server will refuse this until somebody changes something.
pub(super) fn is_lasting(failure: &Failure) -> bool {
    // Conflicts, timeouts, too many connections, shutdown, a node outside of its cluster, read-only.
    const PASSING: [u16; 14] = [1020, 1040, 1047, 1053, 1152, 1158, 1159, 1160, 1161, 1205, 1213, 1290, 1836, 1927];
    matches!(failure, Failure::Server(code, _) if !PASSING.contains(code))
}
