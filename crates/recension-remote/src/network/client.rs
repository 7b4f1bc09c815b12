//! The client's side: connecting to a server, and verifying its identity.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recension_engine::{Engine, EngineError, Result};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::address::NetworkAddress;
use crate::engine::RemoteEngine;
use crate::request::Request;
use crate::wire::{Connector, Halves, Patient};

/// How long a server is waited for, to connect and to reconnect.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where systems have the certificates that they trust, all in one file.
const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Opens the store of a server. TLS is spoken unless all of the host's addresses are loopback and no certificate is
/// named.
///
/// # Errors
/// [`EngineError::Unavailable`] if it does not answer, is not trusted, or does not let in who asks;
/// [`EngineError::Io`] for certificates that cannot be read.
pub fn open(address: &NetworkAddress) -> Result<Arc<dyn Engine>> {
    let tls = Arc::new(trusting(address.ca.as_deref())?);
    let server = Server { address: address.clone(), tls };
    Ok(Arc::new(RemoteEngine::with(Arc::new(server), PATIENCE, None)?))
}

struct Server {
    address: NetworkAddress,
    tls: Arc<ClientConfig>,
}

impl Connector for Server {
    fn connect(&self) -> io::Result<Halves> {
        let NetworkAddress { host, port, ca, .. } = &self.address;
        let places: Vec<_> = (host.as_str(), *port).to_socket_addrs()?.collect();
        let plain = ca.is_none() && places.iter().all(|place| place.ip().is_loopback());
        let mut last = io::Error::new(io::ErrorKind::NotFound, format!("{host} has no address"));
        for place in places {
            match TcpStream::connect_timeout(&place, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    if !plain {
                        return self.encrypted(stream);
                    }
                    let (from, waiting) = (stream.try_clone()?, stream.try_clone()?);
                    let greeted = Box::new(move || waiting.set_read_timeout(None));
                    let read = Box::new(Patient { from, process: None });
                    return Ok(Halves { read, write: Box::new(stream), greeted });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn introduction(&self) -> Option<Request> {
        let NetworkAddress { user, secret, .. } = &self.address;
        Some(match user {
            Some(name) => Request::Login { name: name.clone(), password: secret.clone() },
            None => Request::Token { token: secret.clone() },
        })
    }
}

impl Server {
    fn encrypted(&self, mut stream: TcpStream) -> io::Result<Halves> {
        let host = &self.address.host;
        let failed = |error: rustls::Error| io::Error::other(format!("no TLS with {host}: {error}"));
        let name = ServerName::try_from(host.clone())
            .map_err(|_| io::Error::other(format!("{host:?} is no name that a certificate can be for")))?;
        let mut connection = ClientConnection::new(Arc::clone(&self.tls), name).map_err(failed)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut stream).map_err(|error| {
                io::Error::other(format!("no TLS with {host}: {error}; ?ca=FILE names certificates to trust"))
            })?;
        }
        super::secret::halves(connection, stream)
    }
}

fn trusting(ca: Option<&Path>) -> Result<ClientConfig> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = SYSTEM_BUNDLES.iter().map(PathBuf::from).find(|file| file.is_file());
    let mut roots = RootCertStore::empty();
    if let Some(file) = ca.map(Path::to_owned).or(named).or(usual) {
        let wrong = |why: String| {
            EngineError::io(format!("reading certificates from {}", file.display()), io::Error::other(why))
        };
        let certificates = CertificateDer::pem_file_iter(&file)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| wrong(error.to_string()))?;
        if roots.add_parsable_certificates(certificates).0 == 0 {
            return Err(wrong("there is none in it; it has to be a file of certificates in PEM".to_owned()));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| EngineError::io("preparing TLS", io::Error::other(error.to_string())))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
