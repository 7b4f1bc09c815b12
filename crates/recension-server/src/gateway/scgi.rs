//! A connection of SCGI: one request, and its answer. The answer ends with the connection, so that the web server
//! cannot tell a broken answer from a whole one. If its length is known, `Content-Length` tells.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use recension_gateway::{Environment, Malformed, answer, scgi};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};

use super::refusal;
use crate::ready::Ready;
use recension_app::state::App;
use recension_wire::arriving::Hander;
use recension_wire::limits::CHUNK_BYTES;
use recension_wire::parts::Parts;

/// Answers the request of a connection. If the web server goes away before, the request is given up.
pub(super) async fn connection<S: AsyncRead + AsyncWrite>(app: &Arc<App>, stream: S) -> io::Result<()> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let patience = Duration::from_secs(app.config.head_seconds);
    let head = tokio::time::timeout(patience, head(&mut reader)).await;
    let ready = match head.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
        Ok((environment, body)) => Ready::of(&environment).map(|(ready, hander)| (ready, hander, body)),
        Err(malformed) => Err(malformed),
    };
    let (ready, hander, body) = match ready {
        Ok(ready) => ready,
        Err(malformed) => {
            writer.write_all(&refusal(StatusCode::BAD_REQUEST, malformed.0)).await?;
            return writer.shutdown().await;
        }
    };
    let length = ready.length.unwrap_or(0);
    tokio::select! {
        sent = send(app, ready, &mut writer) => sent?,
        gone = hand_on(&mut reader, hander, body, length) => return gone,
    }
    writer.shutdown().await
}

/// Reads the head of the request, with what came behind it.
async fn head<S: AsyncRead>(reader: &mut ReadHalf<S>) -> io::Result<Result<(Environment, Bytes), Malformed>> {
    let mut held = Vec::new();
    let mut bytes = vec![0; 8192];
    loop {
        let length = reader.read(&mut bytes).await?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        held.extend_from_slice(&bytes[..length]);
        match scgi::head(&held) {
            Ok(None) => {}
            Ok(Some((environment, taken))) => {
                return Ok(Ok((environment, Bytes::from(held).slice(taken..))));
            }
            Err(malformed) => return Ok(Err(malformed)),
        }
    }
}

/// Hands the body on, then waits for the web server to go.
async fn hand_on<S: AsyncRead>(
    reader: &mut ReadHalf<S>,
    hander: Hander,
    first: Bytes,
    mut left: u64,
) -> io::Result<()> {
    let mut piece = first;
    loop {
        let own = usize::try_from(left).unwrap_or(usize::MAX).min(piece.len());
        piece.truncate(own);
        left -= own as u64;
        if !piece.is_empty() {
            // An error means that the request is answered already.
            let _ = hander.send(piece).await;
        }
        if left == 0 {
            hander.end().await;
        }
        let mut bytes = vec![0; if left == 0 { 64 } else { CHUNK_BYTES }];
        let length = reader.read(&mut bytes).await?;
        if length == 0 {
            return Ok(());
        }
        bytes.truncate(length);
        piece = bytes.into();
    }
}

/// Sends the answer.
pub(super) async fn send<S: AsyncWrite>(app: &Arc<App>, ready: Ready, to: &mut WriteHalf<S>) -> io::Result<()> {
    let (head, mut body) = ready.answered(app).await.into_parts();
    let mut out = Vec::new();
    answer::push_head(head.status, &head.headers, &mut out);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
        to.write_all_buf(&mut Parts::of(std::mem::take(&mut out), data)).await?;
    }
    to.write_all(&out).await?;
    to.flush().await
}
