//! The body of a request while it arrives: from hyper, or from a web server through a gateway. Endpoints see pieces.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::sync::mpsc;

/// The address that a request comes from; unix sockets have none.
pub type Address = Option<std::net::IpAddr>;

/// The body of a request.
#[derive(Debug)]
pub enum Arriving {
    /// Over HTTP.
    Http(Incoming),
    /// Through a gateway.
    Handed(Handed),
}

/// The client speaks TLS to the web server before this one: an extension of a request's head.
#[derive(Clone, Copy, Debug)]
pub struct Secure;

/// The path that the web server has put this server below: an extension of a request's head.
#[derive(Clone, Debug)]
pub struct Mount(pub String);

/// The body breaks off: its sender has gone.
#[derive(Debug)]
pub struct Cut;

/// The sending end of a body, a piece at a time. If it is dropped without [`Hander::end`], the body breaks off.
#[derive(Debug)]
pub struct Hander(mpsc::Sender<Option<Bytes>>);

/// The receiving end of a body that is handed on.
#[derive(Debug)]
pub struct Handed {
    pieces: mpsc::Receiver<Option<Bytes>>,
    /// Bytes that are still to come, if the length was announced. A body that ends before is not whole.
    left: Option<u64>,
    ended: bool,
}

/// What waits to be read: a piece, which is as long as a record or as what was read at once, and the word that it was
/// the last.
const PIECES_WAITING_MAX: usize = 2;

/// A body that a gateway hands on.
pub fn handed(length: Option<u64>) -> (Hander, Handed) {
    let (sender, pieces) = mpsc::channel(PIECES_WAITING_MAX);
    (Hander(sender), Handed { pieces, left: length, ended: false })
}

impl Arriving {
    /// A body without a byte.
    pub fn empty() -> Self {
        Arriving::Handed(Handed { pieces: mpsc::channel(1).1, left: Some(0), ended: true })
    }
}

impl Hander {
    /// Hands a piece on, as soon as there is room; returns whether anybody reads.
    pub async fn send(&self, piece: Bytes) -> bool {
        self.0.send(Some(piece)).await.is_ok()
    }

    /// The body is whole.
    pub async fn end(&self) {
        // An error means that the body is no longer read.
        let _ = self.0.send(None).await;
    }
}

impl Handed {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let Poll::Ready(piece) = self.pieces.poll_recv(context) else { return Poll::Pending };
        Poll::Ready(match piece {
            Some(Some(piece)) => {
                if let Some(left) = &mut self.left {
                    *left = left.saturating_sub(piece.len() as u64);
                }
                Some(Ok(Frame::data(piece)))
            }
            end => {
                self.ended = true;
                (end.is_none() || self.left.is_some_and(|left| left > 0)).then_some(Err(Cut))
            }
        })
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match &mut *self {
            Arriving::Http(body) => {
                Pin::new(body).poll_frame(context).map(|frame| frame.map(|frame| frame.map_err(|_| Cut)))
            }
            Arriving::Handed(body) => body.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Arriving::Http(body) => body.is_end_stream(),
            Arriving::Handed(body) => body.ended || body.left == Some(0),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Arriving::Http(body) => body.size_hint(),
            Arriving::Handed(body) => body.left.map(SizeHint::with_exact).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[tokio::test]
    async fn a_body_is_whole_when_its_sender_says_so_and_all_of_it_came() {
        for (announced, ends, whole) in
            [(Some(4), true, true), (None, true, true), (Some(5), true, false), (None, false, false)]
        {
            let (hander, handed) = handed(announced);
            assert!(hander.send(Bytes::from_static(b"body")).await);
            if ends {
                hander.end().await;
            }
            drop(hander);
            let collected = Arriving::Handed(handed).collect().await;
            assert_eq!(collected.is_ok(), whole, "{announced:?} {ends}");
        }
    }
}
