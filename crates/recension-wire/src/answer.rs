//! An answer: a status, headers, and a body that is whole or comes in pieces. A body in pieces goes through a channel
//! with few places, so that a slow reader slows down its maker and nothing grows.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HeaderValue, LOCATION, SERVER, VARY};
use http::{HeaderMap, HeaderName, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use hyper::ext::ReasonPhrase;
use recension::json::quote;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::limits::{CHUNK_BYTES, CHUNKS_WAITING_MAX};
use crate::request_body::Asked;
use recension::engine::budget::Patience;

/// CouchDB's phrase for 404 over HTTP/1: Fauxton looks for it.
const NOT_FOUND: &[u8] = b"Object Not Found";

/// An answer that is not sent yet.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: AnswerBody,
    /// It is not to be compressed.
    pub as_it_is: bool,
}

impl Answer {
    /// A JSON text, which gets the line's end that CouchDB gives it.
    pub fn json(status: StatusCode, mut text: String) -> Self {
        text.push('\n');
        Self::of(status, "application/json", text)
    }

    /// 200 and a JSON text.
    pub fn ok(text: impl Into<String>) -> Self {
        Self::json(StatusCode::OK, text.into())
    }

    /// Any body.
    pub fn of(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Self {
        let mut headers = HeaderMap::with_capacity(6);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("must-revalidate"));
        Answer { status, headers, body: AnswerBody::Whole(Some(body.into())), as_it_is: false }
    }

    /// A body that comes in pieces.
    pub fn streamed(content_type: &'static str, pieces: Pieces) -> Self {
        let mut answer = Self::of(StatusCode::OK, content_type, "");
        answer.body = AnswerBody::Pieces(pieces);
        answer
    }

    /// Has something asked with each piece that is sent from now on: an error breaks the answer off. Feeds ask
    /// themselves.
    #[must_use]
    pub fn asking(mut self, asked: impl FnOnce() -> Asked) -> Self {
        if let AnswerBody::Pieces(pieces) = &mut self.body
            && !pieces.asks_itself
        {
            pieces.asked = Some(asked());
        }
        self
    }

    /// Without a body.
    pub fn empty(status: StatusCode) -> Self {
        Answer { status, headers: HeaderMap::new(), body: AnswerBody::Whole(None), as_it_is: false }
    }

    /// With a header. A value that no header can have is left out.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.headers.insert(name, value);
        }
        self
    }

    /// It depends on a header of the request.
    #[must_use]
    pub fn varying(self, header: &str) -> Self {
        let before = self.headers.get(VARY).and_then(|value| value.to_str().ok()).map(str::to_owned);
        match before {
            Some(before) if before.split(',').any(|own| own.trim().eq_ignore_ascii_case(header)) => self,
            Some(before) => self.with(VARY, format!("{before}, {header}")),
            None => self.with(VARY, header),
        }
    }

    /// With `ETag`, quoted.
    #[must_use]
    pub fn etag(self, tag: impl std::fmt::Display) -> Self {
        self.with(ETAG, format!("\"{tag}\""))
    }

    /// With `Location`.
    #[must_use]
    pub fn location(self, to: &str) -> Self {
        self.with(LOCATION, to)
    }

    /// The length of the body, if it is whole and longer than one piece.
    pub fn long_body(&self) -> Option<usize> {
        match &self.body {
            AnswerBody::Whole(Some(bytes)) => Some(bytes.len()).filter(|length| *length > CHUNK_BYTES),
            _ => None,
        }
    }

    /// With another body in the place of a whole one.
    #[must_use]
    pub fn with_body(mut self, other: impl FnOnce(Bytes) -> Bytes) -> Self {
        if let AnswerBody::Whole(body) = &mut self.body {
            *body = body.take().map(other);
        }
        self
    }

    /// As it is sent. The answer to a HEAD says how long the body would be, and has none.
    pub fn into_response(self, head: bool) -> Response<AnswerBody> {
        let Answer { status, mut headers, mut body, .. } = self;
        headers.insert(SERVER, HeaderValue::from_static(concat!("Recension/", env!("CARGO_PKG_VERSION"))));
        let mut response = Response::new(AnswerBody::Whole(None));
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        if status == StatusCode::NOT_FOUND {
            response.extensions_mut().insert(ReasonPhrase::from_static(NOT_FOUND));
        }
        if head {
            if let AnswerBody::Whole(Some(bytes)) = &body {
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            }
            body = AnswerBody::Whole(None);
        }
        *response.body_mut() = body;
        response
    }
}

impl From<ApiError> for Answer {
    fn from(error: ApiError) -> Self {
        let text = format!("{{\"error\":{},\"reason\":{}}}", quote(error.error), quote(&error.reason));
        let mut answer = Answer::json(error.status, text);
        if let Some(methods) = error.allow {
            answer.headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        answer
    }
}

/// The body of an answer.
#[derive(Debug)]
pub enum AnswerBody {
    /// All of it.
    Whole(Option<Bytes>),
    /// It comes through a channel.
    Pieces(Pieces),
    /// It is made from another body while it is sent.
    Made(Box<dyn Made>),
}

/// A body that is made of another one while it is sent: a page, a compressed body.
pub trait Made: Send + std::fmt::Debug {
    /// The next piece.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>>;
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match &mut *self {
            AnswerBody::Whole(bytes) => {
                Poll::Ready(bytes.take().filter(|bytes| !bytes.is_empty()).map(|bytes| Ok(Frame::data(bytes))))
            }
            AnswerBody::Pieces(pieces) => pieces.poll(context),
            AnswerBody::Made(made) => made.poll(context).map(|piece| piece.map(|piece| piece.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, AnswerBody::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            AnswerBody::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            AnswerBody::Pieces(_) | AnswerBody::Made(_) => SizeHint::default(),
        }
    }
}

/// The answer cannot be continued. The connection is closed, so that no client takes the answer for whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the answer could not be finished")]
pub struct BrokenOff;

/// The receiving end of a body that comes in pieces.
pub struct Pieces {
    receiver: mpsc::Receiver<Piece>,
    ended: bool,
    asked: Option<Asked>,
    asks_itself: bool,
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pieces").field("ended", &self.ended).finish_non_exhaustive()
    }
}

#[derive(Debug)]
enum Piece {
    Data(Bytes),
    End,
}

impl Pieces {
    /// Its maker asks whether the reader still may, and ends it in order.
    #[must_use]
    pub fn that_ask(mut self) -> Self {
        self.asks_itself = true;
        self
    }

    /// The next piece. If the sender is dropped without [`Sink::finish`], the body is broken off: its maker failed, or
    /// gave up a reader that does not read.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.receiver.poll_recv(context).map(|piece| match piece {
            Some(Piece::Data(data)) => match self.asked.as_mut().map_or(Ok(()), |asked| asked()) {
                Ok(()) => Some(Ok(Frame::data(data))),
                Err(error) => {
                    tracing::info!(reason = %error.reason, "an answer was broken off: its reader may not read on");
                    self.receiver.close();
                    self.ended = true;
                    Some(Err(BrokenOff))
                }
            },
            Some(Piece::End) => {
                self.ended = true;
                None
            }
            None => {
                self.ended = true;
                Some(Err(BrokenOff))
            }
        })
    }
}

/// The sending end. Only what waits in the channel is held, and a waiting sender holds no thread. If it is dropped
/// without [`Sink::finish`], the answer is broken off.
#[derive(Debug)]
pub struct Sink {
    sender: mpsc::Sender<Piece>,
    patience: Patience,
}

/// A body in pieces: the pieces sent into the [`Sink`] come out of the [`Pieces`].
pub fn pieces(patience: Patience) -> (Sink, Pieces) {
    let (sender, receiver) = mpsc::channel(CHUNKS_WAITING_MAX);
    (Sink { sender, patience }, Pieces { receiver, ended: false, asked: None, asks_itself: false })
}

/// The reader of an answer has gone.
#[derive(Debug)]
pub struct Gone;

impl Sink {
    /// Sends a piece, as soon as the reader has taken what was sent before.
    pub async fn send(&self, text: impl Into<Bytes>) -> Result<(), Gone> {
        self.push(Piece::Data(text.into())).await
    }

    /// Completes when a piece could be sent at once, so that it is time to make one. A reader that takes nothing for as
    /// long as its [`Patience`] lasts counts as gone.
    pub async fn ready(&self) -> Result<(), Gone> {
        self.place().await.map(drop)
    }

    /// Ends the body: it is whole.
    pub async fn finish(self) {
        let _ = self.push(Piece::End).await;
    }

    async fn push(&self, piece: Piece) -> Result<(), Gone> {
        self.place().await?.send(piece);
        Ok(())
    }

    async fn place(&self) -> Result<mpsc::Permit<'_, Piece>, Gone> {
        let mut place = std::pin::pin!(self.sender.reserve());
        let began = Instant::now();
        while let Some(left) = self.patience.left(began.elapsed()) {
            if let Ok(place) = tokio::time::timeout(left, place.as_mut()).await {
                return place.map_err(|_| Gone);
            }
        }
        Err(Gone)
    }

    /// Completes when the reader has gone.
    pub async fn closed(&self) {
        self.sender.closed().await;
    }
}

/// `{"ok":true,"id":…,"rev":…}`
pub fn receipt(id: &str, rev: impl std::fmt::Display) -> String {
    format!("{{\"ok\":true,\"id\":{},\"rev\":\"{rev}\"}}", quote(id))
}
