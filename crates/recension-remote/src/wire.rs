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
    /// Waits for answers without a bound from now on: until the owner has greeted there is one.
    pub(crate) greeted: Box<dyn FnOnce() -> io::Result<()> + Send>,
}

/// What is read from an owner. One that says nothing within the bound is named, with what can be done.
pub(crate) struct Patient<R> {
    pub(crate) from: R,
    /// The process that is waited for, if it is known.
    pub(crate) process: Option<i32>,
}

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.from.read(into).map_err(|error| {
            if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
                return error;
            }
            let who = self.process.map_or("that serves the store".to_owned(), |id| format!("{id}, which has it open,"));
            let what = format!(
                "process {who} does not answer. It may be stopped, or hang: let it go on (kill -CONT), or end it"
            );
            // Of another kind than a pause, which readers of messages wait through.
            io::Error::other(what)
        })
    }
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
