//! Sockets: TCP, TCP with TLS, unix. What comes out of each is a stream of bytes; nothing here knows HTTP.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::auth::Peer;
use crate::config::Config;
use crate::serve::ServeError;

/// A connection's bytes.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// What is listened on.
pub(crate) struct Listeners {
    tcp: TcpListener,
    pub(crate) address: SocketAddr,
    tls: Option<TlsAcceptor>,
    unix: Option<UnixSocket>,
    patience: Duration,
}

/// A connection that was taken, before its handshake.
pub(crate) struct Taken {
    stream: Raw,
    patience: Duration,
}

enum Raw {
    Tcp(tokio::net::TcpStream),
    Tls(tokio::net::TcpStream, TlsAcceptor),
    Unix(tokio::net::UnixStream),
}

impl Listeners {
    /// Listens where the configuration says.
    pub(crate) async fn bind(config: &Config) -> Result<Self, ServeError> {
        let tls = match (&config.tls_certificate, &config.tls_key) {
            (Some(certificate), Some(key)) => Some(acceptor(certificate, key)?),
            _ => None,
        };
        let listen = config.listen;
        let failed = |source| ServeError::Io { what: format!("listening on {listen}"), source };
        let tcp = TcpListener::bind(listen).await.map_err(failed)?;
        let address = tcp.local_addr().map_err(failed)?;
        let unix = config.unix_socket.as_deref().map(UnixSocket::bind).transpose()?;
        Ok(Listeners { tcp, address, tls, unix, patience: Duration::from_secs(config.head_seconds) })
    }

    /// The next connection.
    pub(crate) async fn accept(&self) -> io::Result<Taken> {
        let unix = async {
            match &self.unix {
                Some(unix) => unix.listener.accept().await,
                None => std::future::pending().await,
            }
        };
        let stream = tokio::select! {
            accepted = self.tcp.accept() => {
                let (stream, _) = accepted?;
                // Answers are small and waited for.
                let _ = stream.set_nodelay(true);
                match &self.tls {
                    Some(acceptor) => Raw::Tls(stream, acceptor.clone()),
                    None => Raw::Tcp(stream),
                }
            }
            accepted = unix => Raw::Unix(accepted?.0),
        };
        Ok(Taken { stream, patience: self.patience })
    }
}

impl Taken {
    /// Where it comes from. A unix socket's comes from this machine.
    pub(crate) fn peer(&self) -> Option<Peer> {
        match &self.stream {
            Raw::Tcp(stream) | Raw::Tls(stream, _) => stream.peer_addr().ok().map(|address| Peer(address.ip())),
            Raw::Unix(_) => None,
        }
    }

    /// The connection's bytes, after its handshake.
    pub(crate) async fn open(self) -> io::Result<Box<dyn Duplex>> {
        match self.stream {
            Raw::Tcp(stream) => Ok(Box::new(stream)),
            Raw::Unix(stream) => Ok(Box::new(stream)),
            Raw::Tls(stream, acceptor) => {
                let handshake = tokio::time::timeout(self.patience, acceptor.accept(stream));
                Ok(Box::new(handshake.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??))
            }
        }
    }
}

/// A unix socket, whose file goes with it.
#[derive(Debug)]
struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl UnixSocket {
    fn bind(path: &Path) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Io { what: format!("listening on {}", path.display()), source };
        // A file that nobody answers on is left from a server that was killed.
        if std::os::unix::net::UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        Ok(UnixSocket { listener, path: path.to_owned() })
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        // A file that stays is removed by the next server.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, ServeError> {
    let wrong = |path: &Path, why: String| ServeError::Io {
        what: format!("{}: {why}", path.display()),
        source: io::Error::from(io::ErrorKind::InvalidData),
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(certificate, error.to_string()))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, error.to_string()))?;
    let mut config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong(certificate, error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
