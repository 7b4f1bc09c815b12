//! A connection whose client has to read: it ends if bytes wait to be written for too long. Whole answers wait in hyper
//! and in the socket, and nothing else would notice that. A long answer is written in pieces, and others go between
//! them: a thousand at once would keep a short one waiting.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use recension::engine::budget::Patience;

/// Bytes after which a connection lets others go first.
const PIECE_BYTES: usize = 128 << 10;

/// A stream of bytes that is given up if it takes nothing for a time.
pub struct Patient<S> {
    stream: S,
    patience: Patience,
    /// Since when bytes wait to be written, and the timer for the next look.
    waits: Option<(Instant, Pin<Box<Sleep>>)>,
    /// Bytes that were written since others could go first.
    wrote: usize,
}

impl<S> Patient<S> {
    pub fn new(stream: S, patience: Patience) -> Self {
        Patient { stream, patience, waits: None, wrote: 0 }
    }

    /// Whether others go first now. The task is polled again behind those that can run.
    fn yields(&mut self, context: &mut Context<'_>) -> bool {
        let yields = self.wrote >= PIECE_BYTES;
        if yields {
            self.wrote = 0;
            context.waker().wake_by_ref();
        }
        yields
    }

    /// The same for bytes, which are counted.
    fn counted(&mut self, wrote: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match wrote {
            Poll::Ready(Ok(bytes)) => self.wrote += bytes,
            // Others run while it waits.
            _ => self.wrote = 0,
        }
        self.bounded(wrote, context)
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
        if self.yields(context) {
            return Poll::Pending;
        }
        let piece = bytes.get(..PIECE_BYTES).unwrap_or(bytes);
        let wrote = Pin::new(&mut self.stream).poll_write(context, piece);
        self.counted(wrote, context)
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
        if self.yields(context) {
            return Poll::Pending;
        }
        let wrote = if slices.iter().map(|slice| slice.len()).sum::<usize>() <= PIECE_BYTES {
            Pin::new(&mut self.stream).poll_write_vectored(context, slices)
        } else {
            let mut room = PIECE_BYTES;
            let mut piece = Vec::new();
            for slice in slices {
                let part = slice.get(..room).unwrap_or(slice);
                room -= part.len();
                piece.push(io::IoSlice::new(part));
                if room == 0 {
                    break;
                }
            }
            Pin::new(&mut self.stream).poll_write_vectored(context, &piece)
        };
        self.counted(wrote, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes everything at once, and notes how much that was.
    struct Taken(Vec<usize>);

    impl AsyncWrite for Taken {
        fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            self.0.push(bytes.len());
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            slices: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let length = slices.iter().map(|slice| slice.len()).sum();
            self.0.push(length);
            Poll::Ready(Ok(length))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_long_answer_lets_others_go_between_its_pieces() {
        let mut context = Context::from_waker(std::task::Waker::noop());
        let patience = Patience::new(recension::engine::budget::Budget::new(1 << 20), Duration::from_secs(1));
        let mut to = Patient::new(Taken(Vec::new()), patience);
        let long = vec![0; 3 * PIECE_BYTES];
        let slices = [io::IoSlice::new(&long[..10]), io::IoSlice::new(&long)];
        let mut answers = Vec::new();
        for number in 0..6 {
            let wrote = match number % 4 {
                0 => Pin::new(&mut to).poll_write(&mut context, &long),
                2 => Pin::new(&mut to).poll_write_vectored(&mut context, &slices),
                _ => Pin::new(&mut to).poll_write(&mut context, &long[..10]),
            };
            answers.push(wrote.is_ready());
        }
        assert_eq!(answers, [true, false, true, false, true, false]);
        assert_eq!(to.stream.0, [PIECE_BYTES; 3]);
    }
}
