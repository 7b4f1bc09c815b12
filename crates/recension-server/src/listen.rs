//! Sockets: TCP, TCP with TLS, unix. Each gives a stream of bytes; nothing here knows HTTP.

use std::fs::Permissions;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::OwnedSemaphorePermit;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error as TlsError, ServerConfig};

use crate::serve_error::ServeError;
use recension_app::config::Config;
use recension_wire::arriving::Address;
use recension_wire::connections::Connections;
#[cfg(target_os = "linux")]
use recension_wire::limits::UNSENT_BYTES;

/// A connection's bytes.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// Where to listen, and how.
pub(crate) struct Listening<'c> {
    pub(crate) listen: SocketAddr,
    pub(crate) unix_socket: Option<&'c Path>,
    /// A certificate chain and its key.
    pub(crate) tls: Option<(&'c Path, &'c Path)>,
    /// The protocols that TLS offers.
    pub(crate) protocols: &'c [&'c str],
    /// Time for handshakes.
    pub(crate) patience: Duration,
}

impl<'c> Listening<'c> {
    /// The listening of the HTTP server.
    pub(crate) fn http(config: &'c Config) -> Self {
        Listening {
            listen: config.listen,
            unix_socket: config.unix_socket.as_deref(),
            tls: config.tls_certificate.as_deref().zip(config.tls_key.as_deref()),
            protocols: &["h2", "http/1.1"],
            patience: Duration::from_secs(config.head_seconds),
        }
    }
}

/// The sockets that are listened on.
pub(crate) struct Listeners {
    tcp: TcpListener,
    pub(crate) address: SocketAddr,
    tls: Option<Arc<Tls>>,
    unix: Option<UnixSocket>,
    patience: Duration,
}

/// An accepted connection, before its handshake.
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
    /// Listens.
    pub(crate) async fn bind(listening: &Listening<'_>) -> Result<Self, ServeError> {
        let tls = match listening.tls {
            Some((certificate, key)) => Some(Arc::new(Tls::of(certificate, key, listening.protocols)?)),
            None => None,
        };
        let listen = listening.listen;
        let failed = |source| ServeError::Io { what: format!("listening on {listen}"), source };
        let tcp = TcpListener::bind(listen).await.map_err(failed)?;
        let address = tcp.local_addr().map_err(failed)?;
        let unix = listening.unix_socket.map(UnixSocket::bind).transpose()?;
        Ok(Listeners { tcp, address, tls, unix, patience: listening.patience })
    }

    /// The certificate, to be replaced; `None` if TLS is not spoken.
    pub(crate) fn tls(&self) -> Option<Arc<Tls>> {
        self.tls.clone()
    }

    /// Accepts connections until `until` completes, no more at a time than there are places. `serve` gets each
    /// connection with its place, which it holds while the connection lasts. If there is no place or no descriptor for
    /// one, another is closed that waits for its client.
    pub(crate) async fn accept_until(
        &self,
        connections: &Connections,
        until: impl Future<Output = ()>,
        mut serve: impl FnMut(Taken, OwnedSemaphorePermit),
    ) {
        tokio::pin!(until);
        loop {
            let next = async {
                let taken = self.accept().await?;
                Ok::<_, io::Error>((taken, connections.place().await))
            };
            let taken = tokio::select! {
                taken = next => taken,
                () = &mut until => break,
            };
            match taken {
                Ok((taken, place)) => serve(taken, place),
                Err(error) => {
                    // No file descriptors are left: connections that end free some.
                    tracing::warn!(%error, "a connection could not be taken");
                    connections.relieve();
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// The next connection.
    async fn accept(&self) -> io::Result<Taken> {
        let unix = async {
            match &self.unix {
                Some(unix) => unix.listener.accept().await,
                None => std::future::pending().await,
            }
        };
        let stream = tokio::select! {
            accepted = self.tcp.accept() => {
                let (stream, _) = accepted?;
                // Answers are small, and clients wait for them.
                let _ = stream.set_nodelay(true);
                unsent_is_bounded(&stream);
                match &self.tls {
                    Some(tls) => Raw::Tls(stream, tls.acceptor()),
                    None => Raw::Tcp(stream),
                }
            }
            accepted = unix => Raw::Unix(accepted?.0),
        };
        Ok(Taken { stream, patience: self.patience })
    }
}

impl Taken {
    /// The client's address; `None` for a unix socket.
    pub(crate) fn peer(&self) -> Address {
        match &self.stream {
            Raw::Tcp(stream) | Raw::Tls(stream, _) => stream.peer_addr().ok().map(|address| address.ip()),
            Raw::Unix(_) => None,
        }
    }

    /// The connection's socket, if it is TCP without TLS.
    #[cfg(any(feature = "apocrypha", feature = "redis"))]
    pub(crate) fn open_plain(self) -> Result<tokio::net::TcpStream, Self> {
        match self.stream {
            Raw::Tcp(stream) => Ok(stream),
            stream => Err(Taken { stream, ..self }),
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

/// Bounds what the system keeps for a client that does not read: otherwise megabytes for each, all copied at once.
/// What is under way to the client is not bounded by it, so that distant clients are as fast.
pub(crate) fn unsent_is_bounded(stream: &tokio::net::TcpStream) {
    #[cfg(target_os = "linux")]
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_BYTES);
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}

/// A unix socket, whose file is removed with it.
#[derive(Debug)]
pub(crate) struct UnixSocket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
}

impl UnixSocket {
    /// Listens there.
    pub(crate) fn bind(path: &Path) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Io { what: format!("listening on {}", path.display()), source };
        // If nobody answers on the file, a server that was killed left it.
        if std::os::unix::net::UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let listener = listen_for_own_user(path).map_err(failed)?;
        Ok(UnixSocket { listener, path: path.to_owned() })
    }
}

/// Listens there for processes of this one's user, whatever the umask. Nobody can connect before the file's mode is
/// set.
fn listen_for_own_user(path: &Path) -> io::Result<UnixListener> {
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    net::listen(&socket, WAITING_MAX)?;
    let listener = std::os::unix::net::UnixListener::from(socket);
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// Connections that the system keeps for a unix socket until they are taken.
const WAITING_MAX: i32 = 1024;

impl Drop for UnixSocket {
    fn drop(&mut self) {
        // If the file stays, the next server removes it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The certificate of a listener. It can be replaced: later connections use the new one.
pub(crate) struct Tls {
    current: ArcSwap<ServerConfig>,
    protocols: Vec<Vec<u8>>,
}

impl Tls {
    fn of(certificate: &Path, key: &Path, protocols: &[&str]) -> Result<Self, ServeError> {
        let protocols: Vec<_> = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        Ok(Tls { current: ArcSwap::new(read_tls(certificate, key, &protocols)?), protocols })
    }

    /// Reads another certificate, which is not used yet. It reads files.
    pub(crate) fn read(&self, certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, ServeError> {
        read_tls(certificate, key, &self.protocols)
    }

    /// Uses it from now on.
    pub(crate) fn put(&self, config: Arc<ServerConfig>) {
        self.current.store(config);
    }

    fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.load_full())
    }
}

pub(crate) fn read_tls(certificate: &Path, key: &Path, protocols: &[Vec<u8>]) -> Result<Arc<ServerConfig>, ServeError> {
    let wrong = |path: &Path, why: String| ServeError::Io {
        what: format!("{}: {why}", path.display()),
        source: io::Error::from(io::ErrorKind::InvalidData),
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(certificate, format!("no certificate can be read from it: {error}")))?;
    if chain.is_empty() {
        let why =
            "there is no certificate in it; it has to be in PEM, the server's own first, then those that vouch for it";
        return Err(wrong(certificate, why.to_owned()));
    }
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| wrong(key, format!("no private key in PEM can be read from it: {error}")))?;
    let mut config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, private).map_err(
        |error| match error {
            TlsError::InconsistentKeys(_) => {
                wrong(certificate, format!("the key in {} is not that of this certificate", key.display()))
            }
            error => wrong(certificate, error.to_string()),
        },
    )?;
    config.alpn_protocols = protocols.to_vec();
    Ok(Arc::new(config))
}
