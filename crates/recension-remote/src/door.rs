//! The entrance of an owner: the socket in the store's folder here, a port of a network in `network`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use crate::room::LOOKS_EVERY;
use crate::socket;
use crate::wire::Wire;

/// Where connections come in.
pub(crate) trait Door: Send + Sync {
    fn socket(&self) -> BorrowedFd<'_>;

    fn accept(&self) -> io::Result<Box<dyn Arrival>>;

    /// Is called before the owner stops: nobody must find it any more.
    fn close(&self) {}
}

/// A connection whose other side may use the store.
pub(crate) struct Opened {
    pub(crate) wire: Box<dyn Wire>,
    /// Whether it still may; `None`: as long as the connection lasts.
    pub(crate) still: Option<Still>,
}

/// Whether somebody who was let in would be still.
#[allow(unreachable_pub, reason = "it is public with the feature of the network only")]
pub type Still = Box<dyn Fn() -> bool + Send>;

/// A connection that has come in. Who it is may not be known yet.
pub(crate) trait Arrival: Send {
    fn socket(&self) -> BorrowedFd<'_>;

    /// The connection, once it is known that its other side may use the store. It may wait for that.
    fn open(self: Box<Self>) -> io::Result<Opened>;
}

/// The socket in the store's folder.
pub(crate) struct InFolder {
    folder: PathBuf,
    listener: UnixListener,
}

impl InFolder {
    pub(crate) fn new(folder: PathBuf, listener: UnixListener) -> Self {
        InFolder { folder, listener }
    }
}

impl Door for InFolder {
    fn socket(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    fn accept(&self) -> io::Result<Box<dyn Arrival>> {
        let (stream, _) = self.listener.accept()?;
        Ok(Box::new(stream))
    }

    fn close(&self) {
        socket::remove(&self.folder, socket::SOCKET_FILE);
    }
}

impl Arrival for UnixStream {
    fn socket(&self) -> BorrowedFd<'_> {
        self.as_fd()
    }

    fn open(self: Box<Self>) -> io::Result<Opened> {
        socket::check_peer(&self)?;
        self.set_read_timeout(Some(LOOKS_EVERY))?;
        self.set_write_timeout(Some(LOOKS_EVERY))?;
        Ok(Opened { wire: self, still: None })
    }
}
