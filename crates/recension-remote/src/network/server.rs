//! The server's side: a port, TLS, and the token that has to be sent first.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use recension_engine::{Engine, EngineError, Result};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::answer::Answer;
use crate::door::{Arrival, Door};
use crate::limits::{TOKEN_BYTES_MIN, TOKEN_MESSAGE_BYTES_MAX};
use crate::request::Request;
use crate::serve::Listening;
use crate::wire::Wire;
use crate::{bytes, frame};

/// How long a client has for the TLS handshake and its token.
const TOKEN_WITHIN: Duration = Duration::from_secs(10);

/// How long a client with a wrong token waits for the answer.
const WRONG_TOKEN_WAITS: Duration = Duration::from_secs(1);

/// The token that clients of a store on a network have to send.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// A token; `None` if it is shorter than [`TOKEN_BYTES_MIN`] or longer than a message may be.
    pub fn new(text: &str) -> Option<Self> {
        let fits = (TOKEN_BYTES_MIN..=TOKEN_MESSAGE_BYTES_MAX / 2).contains(&text.len());
        fits.then(|| Token(Arc::from(text)))
    }

    /// Whether the token is `other`. The time does not tell how much of it is right.
    fn is(&self, other: &str) -> bool {
        let differ = self.0.bytes().zip(other.bytes()).fold(0, |differ, (a, b)| differ | (a ^ b));
        self.0.len() == other.len() && std::hint::black_box(differ) == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Lets clients with the token use an engine over a network, until the returned value is dropped. Answers the address,
/// too.
///
/// # Errors
/// [`EngineError::BadAddress`] for an address that is not loopback without TLS; [`EngineError::Io`].
pub fn listen(
    engine: Arc<dyn Engine>,
    at: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    token: Token,
) -> Result<(Listening, SocketAddr)> {
    if tls.is_none() && !at.ip().is_loopback() {
        return Err(EngineError::BadAddress {
            address: at.to_string(),
            why: "it is not loopback, and the token would be read on its way: give a certificate".to_owned(),
        });
    }
    let failed = |error| EngineError::io(format!("listening on {at}"), error);
    let listener = TcpListener::bind(at).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let listening = Listening::at(engine, Box::new(Port { listener, tls, token }))?;
    Ok((listening, address))
}

/// A port for clients.
struct Port {
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    token: Token,
}

impl Door for Port {
    fn socket(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn accept(&self) -> io::Result<Box<dyn Arrival>> {
        let (stream, _) = self.listener.accept()?;
        Ok(Box::new(Guest { stream, tls: self.tls.clone(), token: self.token.clone() }))
    }
}

/// A client that has connected, and has sent nothing yet.
struct Guest {
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    token: Token,
}

impl Arrival for Guest {
    fn socket(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    fn open(self: Box<Self>, answer_taken_within: Duration) -> io::Result<Box<dyn Wire>> {
        let Guest { mut stream, tls, token } = *self;
        let socket = stream.try_clone()?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(TOKEN_WITHIN))?;
        socket.set_write_timeout(Some(answer_taken_within))?;
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
        let Some(message) = frame::read_at_most(&mut wire, TOKEN_MESSAGE_BYTES_MAX)? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let right = matches!(Request::decode(&message.payload), Ok(Request::Token { token: said }) if token.is(&said));
        let answer = if right {
            Answer::Done
        } else {
            std::thread::sleep(WRONG_TOKEN_WAITS);
            let why = "the server does not take that token: it is in its configuration, under [engine]";
            Answer::Failed(EngineError::Unavailable { why: why.to_owned() })
        };
        frame::write(&mut wire, message.request, &answer.encode())?;
        wire.flush()?;
        if !right {
            return Err(io::Error::other(bytes::malformed("a wrong token").to_string()));
        }
        socket.set_read_timeout(None)?;
        Ok(wire)
    }
}
