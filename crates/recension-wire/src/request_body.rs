//! The body of a request: read on demand, within bounds of size, time and memory.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use recension::engine::budget::{Arrival, Budget, FREE_BYTES, NoRoom, Share};

use crate::arriving::Arriving;
use crate::connections::Line;
use crate::encoding::gunzipped;
use crate::error::{ApiError, Result};
use crate::limits::{BODY_WEIGHT, GZIP_RATIO_MAX};
use crate::streams::Paid;
use crate::threads::Threads;

/// What all bodies are read within.
#[derive(Debug)]
pub struct Bounds {
    /// How long a body may send nothing.
    pub idle: Duration,
    /// Bodies that are in memory.
    pub memory: Arc<Budget>,
    /// The threads that unpack bodies.
    pub threads: Arc<Threads>,
}

/// Asks whether a request may still be carried out.
pub type Asked = Box<dyn FnMut() -> Result<()> + Send + Sync>;

/// The body of a request.
pub struct RequestBody {
    arriving: Arriving,
    bounds: Arc<Bounds>,
    /// The connection, which may be closed for another while the body does not come.
    line: Option<Arc<Line>>,
    replaced: Option<Bytes>,
    /// Room for what is made of the body while the request is worked on.
    room: Option<Share>,
    /// Asked with each piece that has come, and at the end.
    asked: Option<Asked>,
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBody").field("arriving", &self.arriving).finish_non_exhaustive()
    }
}

impl RequestBody {
    /// A body that arrives, on a connection.
    pub fn new(arriving: Arriving, bounds: &Arc<Bounds>, line: Option<&Arc<Line>>) -> Self {
        let (bounds, line) = (Arc::clone(bounds), line.cloned());
        RequestBody { arriving, bounds, line, replaced: None, room: None, asked: None }
    }

    /// Whether all of it has come; there may have been none.
    pub fn has_ended(&self) -> bool {
        self.arriving.is_end_stream()
    }

    /// Has something asked with each piece that comes from now on: an error ends the request.
    pub fn asking(&mut self, asked: Asked) {
        self.asked = Some(asked);
    }

    /// What is asked with each piece, for work that goes on long after all of them have come.
    pub fn take_asked(&mut self) -> Asked {
        self.asked.take().unwrap_or_else(|| Box::new(|| Ok(())))
    }

    /// Begins to collect it.
    pub fn coming(&self) -> Coming {
        Coming { arrival: Arrival::new(&self.bounds.memory), idle: self.bounds.idle }
    }

    /// The whole body, of at most `max` bytes. Its memory grows with the bytes that have arrived, not with the
    /// announced length. A gzip body is unpacked.
    pub async fn bytes_up_to(&mut self, headers: &HeaderMap, max: usize) -> Result<Bytes> {
        let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let coding = if self.replaced.is_some() { None } else { text(CONTENT_ENCODING) };
        let announced = text(CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
        let announced = announced.map(|length| usize::try_from(length).unwrap_or(usize::MAX));
        match coding.map(str::to_ascii_lowercase).as_deref() {
            None | Some("" | "identity") => {
                let (whole, room) = self.collected(max, announced, None).await?;
                Ok(self.kept(whole, room))
            }
            Some("gzip") => {
                let (packed, room) = self.collected(max, announced, Some(GZIP_RATIO_MAX)).await?;
                let unpacked = move || gunzipped(&packed, max).map_err(|_| ApiError::bad_gzip());
                let unpacked = self.bounds.threads.run(unpacked).await?.ok_or_else(ApiError::too_large)?;
                Ok(self.kept(unpacked, room))
            }
            Some(_) => Err(ApiError::bad_content_encoding()),
        }
    }

    /// The whole body as it comes, of at most `max` bytes, and the room that it was given. If it is packed, one byte of
    /// it may become this many.
    async fn collected(
        &mut self,
        max: usize,
        announced: Option<usize>,
        packed: Option<usize>,
    ) -> Result<(Vec<u8>, Option<Share>)> {
        if announced.is_some_and(|length| length > max) {
            return Err(ApiError::too_large());
        }
        let needs = |length: usize| {
            let unpacked = packed.map_or(0, |ratio| length.saturating_mul(ratio).min(max));
            length.saturating_add(unpacked).saturating_mul(BODY_WEIGHT)
        };
        let mut coming = self.coming();
        if let Some(length) = announced {
            coming.room_for(needs(length)).await?;
        }
        let mut whole: Vec<u8> = Vec::new();
        while let Some(piece) = self.next_of(&coming, whole.len()).await? {
            let length = whole.len() + piece.len();
            if length > max {
                return Err(ApiError::too_large());
            }
            if length > whole.capacity() {
                let most = announced.unwrap_or(max).max(length);
                let capacity = length.max(2 * whole.capacity()).min(most);
                coming.room_for(needs(capacity)).await?;
                whole.reserve_exact(capacity - whole.len());
            }
            whole.extend_from_slice(&piece);
        }
        Ok((whole, coming.arrival.into_share()))
    }

    /// The body, which holds the part of the room that it takes for itself. The rest is held while the request is.
    fn kept(&mut self, whole: Vec<u8>, room: Option<Share>) -> Bytes {
        let Some(mut room) = room else { return whole.into() };
        let rest = whole.len().saturating_mul(BODY_WEIGHT - 1).min(room.bytes().saturating_sub(whole.capacity()));
        self.room = room.split(rest);
        Paid::bytes(whole, room)
    }

    /// The next piece of a body that is collected, of which this many bytes have come.
    async fn next_of(&mut self, coming: &Coming, came: usize) -> Result<Option<Bytes>> {
        coming.arrival.came(came).map_err(|NoRoom| ApiError::body_too_slow())?;
        let mut waited = Duration::ZERO;
        loop {
            let look = coming.arrival.next_look(coming.idle.saturating_sub(waited));
            match tokio::time::timeout(look, self.piece()).await {
                Ok(piece) => return piece,
                Err(_) => waited += look,
            }
            coming.arrival.came(came).map_err(|NoRoom| ApiError::body_too_slow())?;
            if waited >= coming.idle {
                return Err(ApiError::body_too_slow());
            }
        }
    }

    /// Puts another body in place of the one that was read.
    pub fn replace(&mut self, body: Bytes) {
        self.replaced = Some(body);
    }

    /// The next piece of the body; `None` at its end. For bodies that are not held in memory.
    pub async fn piece(&mut self) -> Result<Option<Bytes>> {
        if let Some(body) = self.replaced.take() {
            return Ok(Some(body));
        }
        let piece = self.arrived().await?;
        if let Some(asked) = &mut self.asked {
            asked()?;
        }
        Ok(piece)
    }

    async fn arrived(&mut self) -> Result<Option<Bytes>> {
        let idle = self.bounds.idle;
        loop {
            if self.arriving.is_end_stream() {
                return Ok(None);
            }
            let mut frame = self.arriving.frame();
            let came = poll_fn(|context| Poll::Ready(Pin::new(&mut frame).poll(context))).await;
            let came = match came {
                Poll::Ready(frame) => Ok(frame),
                Poll::Pending => {
                    let _awaited = self.line.as_ref().map(Line::coming);
                    tokio::time::timeout(idle, frame).await
                }
            };
            match came {
                Err(_) => return Err(ApiError::body_too_slow()),
                Ok(None) => return Ok(None),
                Ok(Some(Err(_))) => return Err(ApiError::bad_request("The request's body broke off.")),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }
}

/// A body that is collected in memory, and the room that it has.
#[derive(Debug)]
pub struct Coming {
    arrival: Arrival,
    idle: Duration,
}

impl Coming {
    /// Takes the memory that this many bytes need, before they are kept.
    pub async fn room_for(&mut self, bytes: usize) -> Result<()> {
        let bytes = if bytes <= FREE_BYTES * BODY_WEIGHT { bytes.min(FREE_BYTES) } else { bytes };
        let room = self.arrival.room_for(bytes, tokio::time::sleep(self.idle)).await;
        room.map_err(|NoRoom| ApiError::too_many_bodies())
    }
}
