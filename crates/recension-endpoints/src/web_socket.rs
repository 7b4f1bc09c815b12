//! WebSocket: the handshake of a request that asks for one, and a socket on which the server speaks and its client
//! listens. Frames are `tungstenite`'s.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::{SinkExt as _, StreamExt as _};
use http::StatusCode;
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use recension::engine::budget::{FREE_BYTES, Patience};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use tokio::io::{AsyncWrite as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use recension_app::auth::Session;
use recension_app::auth::connection::Connection;
use recension_app::cors;
use recension_app::request::Request;
use recension_app::spoken::Text;
use recension_wire::answer::{Answer, Gone};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{SOCKET_ANSWERS_BYTES_MAX, SOCKET_MESSAGE_BYTES_MAX};

/// What RFC 6455 has hashed with the client's key.
const ACCEPTS: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The version of the protocol.
const VERSION: &str = "13";
/// How long a client may need to say good-bye.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// Whether a request asks for a WebSocket.
pub(crate) fn is_asked(request: &Request) -> bool {
    request.header(UPGRADE).is_some_and(|what| what.trim().eq_ignore_ascii_case("websocket"))
}

/// A socket that is there once the answer was sent.
pub(crate) struct ToBe {
    upgrade: OnUpgrade,
    patience: Patience,
    /// It has the connection's place among those that there may be.
    connection: Arc<Connection>,
}

/// Takes the request for a WebSocket, and answers it. Browsers let the pages of any site ask, with what they know of
/// their reader: those of others are refused unless the configuration lets them in, or they show a token.
///
/// # Errors
/// 403 for a page of another site; 426 and 400 if it is not asked for as it has to be.
pub(crate) fn taken(request: &mut Request, session: &Session) -> Result<(ToBe, Answer)> {
    let by_token = matches!(session.handler(), Some("jwt" | "token"));
    if !by_token && cors::is_foreign(&request.app.settings.live().cors, &request.head) {
        return Err(ApiError::forged());
    }
    let header = |name| request.header(name).map(str::trim);
    if header(SEC_WEBSOCKET_VERSION) != Some(VERSION) {
        return Err(ApiError::new(
            StatusCode::UPGRADE_REQUIRED,
            "upgrade_required",
            "WebSocket is spoken in version 13.",
        ));
    }
    let key = header(SEC_WEBSOCKET_KEY).filter(|key| BASE64_STANDARD.decode(key).is_ok_and(|key| key.len() == 16));
    let key = key.ok_or_else(|| ApiError::bad_request("Sec-WebSocket-Key has to be 16 bytes in Base64."))?;
    let accepted = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{ACCEPTS}").as_bytes());
    let answer = Answer::empty(StatusCode::SWITCHING_PROTOCOLS)
        .with(CONNECTION, "Upgrade")
        .with(UPGRADE, "websocket")
        .with(SEC_WEBSOCKET_ACCEPT, BASE64_STANDARD.encode(accepted));
    let upgrade = request.head.extensions.remove::<OnUpgrade>().ok_or_else(|| {
        ApiError::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", "A WebSocket needs HTTP/1.1 to this server.")
    })?;
    let patience = request.app.streams.patience();
    Ok((ToBe { upgrade, patience, connection: Arc::clone(&request.connection) }, answer))
}

impl ToBe {
    /// The socket.
    ///
    /// # Errors
    /// The client has gone.
    pub(crate) async fn opened(self) -> std::result::Result<Socket, Gone> {
        let upgraded = self.upgrade.await.map_err(|_| Gone)?;
        let mut config = WebSocketConfig::default();
        config.max_message_size = Some(SOCKET_MESSAGE_BYTES_MAX);
        config.max_frame_size = Some(SOCKET_MESSAGE_BYTES_MAX);
        // Answers to pings wait here for a client that does not read: beyond, only the last one waits.
        config.max_write_buffer_size = SOCKET_ANSWERS_BYTES_MAX;
        config.write_buffer_size = SOCKET_MESSAGE_BYTES_MAX;
        let stream = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
        let now = Instant::now();
        Ok(Socket { stream, patience: self.patience, heard: now, _connection: self.connection })
    }
}

/// A socket to who listens.
pub(crate) struct Socket {
    stream: WebSocketStream<TokioIo<Upgraded>>,
    patience: Patience,
    heard: Instant,
    _connection: Arc<Connection>,
}

impl Socket {
    /// Sends texts. Their bytes are those that all listeners share: none are copied for this one. A few listeners at a
    /// time begin to send, so that requests of others do not wait behind all of them.
    pub(crate) async fn send(&mut self, texts: &[Arc<Text>], turns: &Semaphore) -> std::result::Result<(), Gone> {
        let (stream, patience) = (&mut self.stream, &self.patience);
        let mut sent = std::pin::pin!(async {
            // What the protocol itself has to say.
            stream.flush().await.map_err(|_| Gone)?;
            let to = stream.get_mut();
            let mut first = Vec::new();
            for text in texts {
                push_head(text.len(), &mut first);
                if text.len() <= FREE_BYTES {
                    first.extend_from_slice(text.as_bytes());
                    continue;
                }
                write(to, &first, turns).await?;
                first.clear();
                write(to, text.as_bytes(), turns).await?;
            }
            write(to, &first, turns).await?;
            to.flush().await.map_err(|_| Gone)
        });
        // A reader that takes nothing for as long as one has patience with it has gone.
        let began = Instant::now();
        while let Some(left) = patience.left(began.elapsed()) {
            if let Ok(sent) = timeout(left, sent.as_mut()).await {
                return sent;
            }
        }
        Err(Gone)
    }

    /// Asks whether the client is there.
    pub(crate) async fn ping(&mut self) -> std::result::Result<(), Gone> {
        let sent = self.stream.send(Message::Ping(bytes::Bytes::new()));
        timeout(self.patience.most(), sent).await.map_err(|_| Gone)?.map_err(|_| Gone)
    }

    /// When something came from the client last.
    pub(crate) fn heard(&self) -> Instant {
        self.heard
    }

    /// Completes when the client has said something that ends the socket, or has gone. To be polled while nothing is
    /// sent.
    pub(crate) async fn ended(&mut self) -> End {
        loop {
            match self.stream.next().await {
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => self.heard = Instant::now(),
                Some(Ok(Message::Text(_) | Message::Binary(_))) => return End::Spoke,
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return End::Gone,
            }
        }
    }

    /// Says why it ends, and waits a moment for the client to have heard it.
    pub(crate) async fn close(mut self, end: End) {
        let (code, reason) = match end {
            End::Gone => return,
            End::Spoke => (CloseCode::Unsupported, "messages are said by POST"),
            End::Rights => (CloseCode::Policy, "the rights of who listens have ended"),
            End::Stopping => (CloseCode::Away, "the server stops"),
        };
        let close = CloseFrame { code, reason: reason.into() };
        let closed = async {
            let _ = self.stream.close(Some(close)).await;
            while let Some(Ok(_)) = self.stream.next().await {}
        };
        // Who does not answer is cut off.
        let _ = timeout(CLOSED_WITHIN, closed).await;
    }
}

/// A turn among those that have something long to do for a listener. A message wakes a thousand of them, and each
/// thread would carry out one after the other: whoever has a turn lets what waits go first, others' requests above
/// all.
pub(crate) async fn turn(turns: &Semaphore) -> std::result::Result<SemaphorePermit<'_>, Gone> {
    let turn = turns.acquire().await.map_err(|_| Gone)?;
    tokio::task::yield_now().await;
    Ok(turn)
}

/// Writes bytes. It waits for its turn to begin, and for its client without one.
async fn write(to: &mut TokioIo<Upgraded>, mut bytes: &[u8], turns: &Semaphore) -> std::result::Result<(), Gone> {
    while !bytes.is_empty() {
        let turn = turn(turns).await?;
        let began = poll_fn(|context| Poll::Ready(Pin::new(&mut *to).poll_write(context, bytes))).await;
        drop(turn);
        let wrote = match began {
            Poll::Ready(wrote) => wrote,
            Poll::Pending => poll_fn(|context| Pin::new(&mut *to).poll_write(context, bytes)).await,
        };
        match wrote {
            Ok(0) | Err(_) => return Err(Gone),
            Ok(wrote) => bytes = bytes.get(wrote..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// The head of a frame with a whole text (RFC 6455, 5.2).
fn push_head(length: usize, out: &mut Vec<u8>) {
    out.push(0x81);
    match (u8::try_from(length), u16::try_from(length)) {
        (Ok(short), _) if short < 126 => out.push(short),
        (_, Ok(medium)) => {
            out.push(126);
            out.extend_from_slice(&medium.to_be_bytes());
        }
        _ => {
            out.push(127);
            out.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
}

/// Why a socket ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The client has gone, or sends what is no WebSocket.
    Gone,
    /// The client has said something.
    Spoke,
    /// Who listens may not any more.
    Rights,
    /// The server stops.
    Stopping,
}
