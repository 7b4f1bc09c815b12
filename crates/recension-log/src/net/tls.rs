//! TLS as a client: the trusted certificates.

use std::path::{Path, PathBuf};

use crate::{LogError, Result};

/// The places where systems have their trusted certificates, all in one file.
const SYSTEM_BUNDLES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

fn refused(why: String) -> LogError {
    LogError::Refused { system: "TLS", why }
}

/// The file that is named, or the system's.
fn bundle(named: Option<&Path>) -> Result<PathBuf> {
    let by_environment = || std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = || SYSTEM_BUNDLES.iter().map(PathBuf::from).find(|file| file.is_file());
    named.map(Path::to_owned).or_else(by_environment).or_else(usual).ok_or_else(|| {
        refused(format!(
            "this system has its certificates in none of {}; name a file with ?ca=",
            SYSTEM_BUNDLES.join(", ")
        ))
    })
}

/// The trusted certificates, in PEM.
#[cfg(any(feature = "etcd", feature = "mysql", feature = "s3"))]
pub(crate) fn certificates(named: Option<&Path>) -> Result<Vec<u8>> {
    let file = bundle(named)?;
    std::fs::read(&file).map_err(|error| refused(format!("reading {}: {error}", file.display())))
}

/// The configuration for servers that the certificates in a file, or the system's, vouch for.
#[cfg(any(feature = "postgres", feature = "mongodb"))]
pub(crate) fn config(named: Option<&Path>) -> Result<std::sync::Arc<rustls::ClientConfig>> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let file = bundle(named)?;
    let certificates = CertificateDer::pem_file_iter(&file)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| refused(format!("{}: no certificates can be read from it: {error}", file.display())))?;
    let mut roots = rustls::RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(certificates);
    if added == 0 {
        return Err(refused(format!("{}: there is no certificate in it", file.display())));
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(error.to_string()))?;
    Ok(std::sync::Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
