//! TLS as a client: which certificates it trusts, and the error for a server that it does not trust.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::error::{CliError, Result};

/// The files that systems keep their trusted certificates in.
const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// TLS over a connection to `host`. Its certificate has to bear that name, and be vouched for by one in `trusted`, or
/// otherwise by one of the system's. The handshake is complete when this returns.
pub fn over(mut stream: TcpStream, host: &str, trusted: Option<&Path>) -> Result<impl Read + Write + use<>> {
    let file = match trusted {
        Some(file) => file.to_owned(),
        None => system_bundle()?,
    };
    let wrong = |why: String| CliError::Input(format!("{}: {why}", file.display()));
    let certificates = CertificateDer::pem_file_iter(&file)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| wrong(format!("no certificates can be read from it: {error}")))?;
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        return Err(wrong("there is no certificate in it; it has to be a file of certificates in PEM".to_owned()));
    }
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| CliError::Usage(format!("{host:?} is not a name that a certificate can have")))?;
    let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let failed = |why: String| {
        CliError::Io(format!(
            "no TLS with {host}: {}; --ca names the file of the certificate that vouches for the server, and without \
             --tls and --ca none is spoken",
            recension_replicate::with_advice(&why)
        ))
    };
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| failed(error.to_string()))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream).map_err(|error| failed(error.to_string()))?;
    }
    Ok(StreamOwned::new(connection, stream))
}

fn system_bundle() -> Result<PathBuf> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = SYSTEM_BUNDLES.iter().map(PathBuf::from).find(|file| file.is_file());
    named.or(usual).ok_or_else(|| {
        CliError::Usage(format!(
            "this system has its certificates in none of {}; name a file with --ca",
            SYSTEM_BUNDLES.join(", ")
        ))
    })
}
