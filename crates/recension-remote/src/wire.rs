//! What messages come over: a unix socket, or TCP with TLS or without. The owner has a connection whole, a client in
//! halves.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

#[cfg(feature = "network")]
use rustls::{ServerConnection, StreamOwned};

use crate::request::Request;

/// A connection.
pub(crate) trait Wire: Read + Write + Send {
    /// The socket, for polling and shutting down.
    fn socket(&self) -> BorrowedFd<'_>;

    /// Whether the other side is reached over a network.
    fn is_network(&self) -> bool {
        true
    }
}

impl Wire for UnixStream {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn is_network(&self) -> bool {
        false
    }
}

impl Wire for TcpStream {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }
}

#[cfg(feature = "network")]
impl Wire for StreamOwned<ServerConnection, TcpStream> {
    fn socket(&self) -> BorrowedFd<'_> {
        self.sock.as_fd()
    }
}

/// A client's connection in two: one thread reads answers while another writes a request.
pub(crate) struct Halves {
    pub(crate) read: Box<dyn Read + Send>,
    pub(crate) write: Box<dyn Write + Send>,
}

/// Makes a connection anew each time.
pub(crate) trait Connector: Send + Sync {
    /// Connects.
    fn connect(&self) -> io::Result<Halves>;

    /// What is said before all else: who asks.
    fn introduction(&self) -> Option<Request> {
        None
    }
}
