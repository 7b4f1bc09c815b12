//! The transports of messages: a unix socket, or TCP with or without TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

#[cfg(feature = "network")]
use rustls::{ClientConnection, ServerConnection, StreamOwned};

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
impl Wire for StreamOwned<ClientConnection, TcpStream> {
    fn socket(&self) -> BorrowedFd<'_> {
        self.sock.as_fd()
    }
}

#[cfg(feature = "network")]
impl Wire for StreamOwned<ServerConnection, TcpStream> {
    fn socket(&self) -> BorrowedFd<'_> {
        self.sock.as_fd()
    }
}

/// Makes new connections.
pub(crate) trait Connector: Send + Sync {
    /// Connects.
    fn connect(&self) -> io::Result<Box<dyn Wire>>;

    /// The token, which is sent first.
    fn token(&self) -> Option<&str> {
        None
    }
}
