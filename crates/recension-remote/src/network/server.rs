//! The server's side: a port, TLS, and the token or the name and password that have to be said first.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use recension_engine::{Engine, EngineError, Result};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::answer::Answer;
use crate::door::{Arrival, Door, Opened, Still};
use crate::frame::{self, Anything};
use crate::limits::{TOKEN_BYTES_MIN, TOKEN_MESSAGE_BYTES_MAX};
use crate::request::Request;
use crate::room::{Bounds, LOOKS_EVERY};
use crate::serve::Listening;
use crate::wire::Wire;

/// Bytes that the system keeps for a client beyond those that are under way to it. Otherwise it keeps megabytes for one
/// that does not read, copied at once while others wait.
#[cfg(target_os = "linux")]
const UNSENT_BYTES: u32 = 128 * 1024;

/// How long a guest has to speak TLS and to say who asks.
const TOKEN_WITHIN: Duration = Duration::from_secs(10);

/// How long one who is not let in waits for the answer.
const REFUSED_WAITS: Duration = Duration::from_secs(1);

/// The token that clients of a store on a network have to send.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// A token; `None` if it is shorter than [`TOKEN_BYTES_MIN`] or longer than a message may be.
    pub fn new(text: &str) -> Option<Self> {
        let fits = (TOKEN_BYTES_MIN..=TOKEN_MESSAGE_BYTES_MAX / 2).contains(&text.len());
        fits.then(|| Token(Arc::from(text)))
    }

    /// Whether it is that one, in a time that does not tell how much of it is.
    pub fn is(&self, other: &str) -> bool {
        let differ = self.0.bytes().zip(other.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
        self.0.len() == other.len() && std::hint::black_box(differ) == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What somebody says who wants to use the store.
#[derive(Clone, Copy)]
pub enum Said<'a> {
    /// A token.
    Token(&'a str),
    /// A user's name and password.
    Password {
        /// The name.
        name: &'a str,
        /// The password.
        password: &'a str,
    },
}

impl std::fmt::Debug for Said<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Said(..)")
    }
}

/// Who decides about those who want to use the store.
pub trait Gate: Send + Sync {
    /// Lets somebody in; what is answered tells before each of their requests whether that holds.
    ///
    /// # Errors
    /// Why not, for them to read.
    fn admit(&self, from: IpAddr, said: Said<'_>) -> std::result::Result<Still, String>;
}

impl Gate for Token {
    fn admit(&self, _: IpAddr, said: Said<'_>) -> std::result::Result<Still, String> {
        match said {
            Said::Token(token) if self.is(token) => Ok(Box::new(|| true)),
            _ => Err("the server does not take that token: it is in its configuration, under [engine]".to_owned()),
        }
    }
}

/// Lets those whom the gate admits use an engine over a network, within these bounds, until what is returned is
/// dropped; and where it listens.
///
/// # Errors
/// [`EngineError::BadAddress`] for an address that is not loopback without TLS; [`EngineError::Io`].
pub fn listen(
    engine: Arc<dyn Engine>,
    at: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    gate: Arc<dyn Gate>,
    bounds: Bounds,
) -> Result<(Listening, SocketAddr)> {
    if tls.is_none() && !at.ip().is_loopback() {
        return Err(EngineError::BadAddress {
            address: at.to_string(),
            why: "it is not loopback, and a password would be read on its way: give a certificate".to_owned(),
        });
    }
    let failed = |error| EngineError::io(format!("listening on {at}"), error);
    let listener = TcpListener::bind(at).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let listening = Listening::at(engine, Box::new(Port { listener, tls, gate }), bounds)?;
    Ok((listening, address))
}

/// A port for clients.
struct Port {
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    gate: Arc<dyn Gate>,
}

impl Door for Port {
    fn socket(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn accept(&self) -> io::Result<Box<dyn Arrival>> {
        let (stream, from) = self.listener.accept()?;
        Ok(Box::new(Guest { stream, from: from.ip(), tls: self.tls.clone(), gate: Arc::clone(&self.gate) }))
    }
}

/// A client that has connected, and has sent nothing yet.
struct Guest {
    stream: TcpStream,
    from: IpAddr,
    tls: Option<Arc<ServerConfig>>,
    gate: Arc<dyn Gate>,
}

impl Arrival for Guest {
    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn open(self: Box<Self>) -> io::Result<Opened> {
        let Guest { mut stream, from, tls, gate } = *self;
        let socket = stream.try_clone()?;
        socket.set_nodelay(true)?;
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT_BYTES);
        socket.set_read_timeout(Some(TOKEN_WITHIN))?;
        socket.set_write_timeout(Some(LOOKS_EVERY))?;
        let mut wire: Box<dyn Wire> = match tls {
            None => Box::new(stream),
            Some(config) => {
                let mut connection = ServerConnection::new(config).map_err(io::Error::other)?;
                while connection.is_handshaking() {
                    connection.complete_io(&mut stream)?;
                }
                Box::new(StreamOwned::new(connection, stream))
            }
        };
        let Some(message) = frame::read_at_most(&mut wire, TOKEN_MESSAGE_BYTES_MAX, &mut Anything)? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let admitted = match Request::decode(&message.payload) {
            Ok(Request::Token { token }) => gate.admit(from, Said::Token(&token)),
            Ok(Request::Login { name, password }) => {
                gate.admit(from, Said::Password { name: &name, password: &password })
            }
            _ => Err("a token, or a name and a password, have to be said first".to_owned()),
        };
        let answer = match &admitted {
            Ok(_) => Answer::Done,
            Err(why) => {
                std::thread::sleep(REFUSED_WAITS);
                Answer::Failed(EngineError::Unavailable { why: why.clone() })
            }
        };
        frame::write(&mut wire, message.request, &answer.encode())?;
        wire.flush()?;
        let still = admitted.map_err(io::Error::other)?;
        socket.set_read_timeout(Some(LOOKS_EVERY))?;
        Ok(Opened { wire, still: Some(still) })
    }
}
