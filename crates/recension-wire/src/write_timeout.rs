//! A connection whose client has to read: it ends if bytes wait to be written for too long. Whole answers wait in hyper
//! and in the socket, and nothing else would notice that.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use recension::engine::budget::Patience;

/// A stream of bytes that is given up if it takes nothing for a time.
pub struct Patient<S> {
    stream: S,
    patience: Patience,
    /// Since when bytes wait to be written, and the timer for the next look.
    waits: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> Patient<S> {
    pub fn new(stream: S, patience: Patience) -> Self {
        Patient { stream, patience, waits: None }
    }

    /// The outcome of a write, or an error if the patience is over.
    fn bounded<T>(&mut self, wrote: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.waits = None;
            return wrote;
        }
        let given_up =
            || Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer")));
        let (since, look) = match &mut self.waits {
            Some(waits) => waits,
            none => {
                let Some(left) = self.patience.left(Duration::ZERO) else { return given_up() };
                none.insert((Instant::now(), Box::pin(sleep(left))))
            }
        };
        while look.as_mut().poll(context).is_ready() {
            let Some(left) = self.patience.left(since.elapsed()) else {
                // If it is polled again, it answers the same at once.
                look.as_mut().reset(Instant::now());
                return given_up();
            };
            look.as_mut().reset(Instant::now() + left);
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(wrote, context)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(shut, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(wrote, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
