//! Answers that are made while they are sent. The threads of lists make the pieces, within one budget of memory
//! (`streams.rs`). The next piece is made when the reader has taken the last. Between two pieces no thread is held.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use recension_app::state::App;
use recension_wire::answer::{Answer, Gone, Sink, pieces};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{CHUNK_BYTES, PIECE_BYTES_MAX, PROMPT_MILLIS};

/// Room for the row with which a piece is long enough, if it is one of a usual length: without it every piece would be
/// copied into twice the memory.
const LAST_ROW_BYTES: usize = 8 * 1024;

/// The rows of an answer, with separators.
pub(crate) trait Rows: Send + 'static {
    /// Writes the next row; returns whether there was one.
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool>;

    /// The next row may be asked for minutes later. Gives up whatever is held for speed only.
    fn rest(&mut self) {}
}

impl<R: AsRef<[u8]>, I: Iterator<Item = Result<R>> + Send + 'static> Rows for I {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let Some(row) = self.next() else { return Ok(false) };
        out.extend_from_slice(row?.as_ref());
        Ok(true)
    }
}

/// A JSON answer: what comes before the rows, the rows, and what comes after.
///
/// A short answer is sent as a whole. An error in the first piece is the answer; a later error breaks the answer off,
/// so that
/// nobody takes it for whole.
pub(crate) async fn json(app: &Arc<App>, before: String, rows: impl Rows, after: &'static str) -> Result<Answer> {
    bytes(app, "application/json", before.into_bytes(), rows, after).await
}

/// The same for any content type.
pub(crate) async fn bytes(
    app: &Arc<App>,
    content_type: &'static str,
    before: Vec<u8>,
    rows: impl Rows,
    after: &'static str,
) -> Result<Answer> {
    opened(app, content_type, move || Ok((before, rows)), after).await
}

/// The same for rows that are opened by the thread that makes the first piece: a short list waits for one thread once.
pub(crate) async fn opened<R: Rows>(
    app: &Arc<App>,
    content_type: &'static str,
    open: impl FnOnce() -> Result<(Vec<u8>, R)> + Send + 'static,
    after: &'static str,
) -> Result<Answer> {
    let first = move || {
        let (before, rows) = open()?;
        List { rows, after }.piece(before, CHUNK_BYTES)
    };
    let (first, rest) = app.streams.make(first).await?;
    let Some(list) = rest else { return Ok(Answer::of(http::StatusCode::OK, content_type, first)) };
    let (sink, answer) = pieces(app.streams.patience());
    let app = Arc::clone(app);
    tokio::spawn(async move {
        if let Err(Gone) = send(&app, first, list, sink).await {
            app.metrics.lists_broken_off.inc();
        }
    });
    Ok(Answer::streamed(content_type, answer))
}

/// The rest of a list.
struct List<R> {
    rows: R,
    after: &'static str,
}

impl<R: Rows> List<R> {
    /// Rows for one piece, and the rest of the list, if there may be more.
    fn piece(mut self, before: Vec<u8>, bytes: usize) -> Result<(Vec<u8>, Option<Self>)> {
        let mut text = before;
        while self.rows.write_next(&mut text)? {
            if text.len() >= bytes {
                self.rows.rest();
                return Ok((text, Some(self)));
            }
        }
        text.extend_from_slice(self.after.as_bytes());
        Ok((text, None))
    }
}

/// Sends a list whose first piece is made.
async fn send(app: &App, first: Bytes, mut list: List<impl Rows>, sink: Sink) -> std::result::Result<(), Gone> {
    sink.send(first).await?;
    let mut wanted = CHUNK_BYTES;
    loop {
        let waits = Instant::now();
        sink.ready().await?;
        // Fewer pieces are less work; whoever reads slowly holds no more memory for that.
        let prompt = waits.elapsed() < Duration::from_millis(PROMPT_MILLIS);
        wanted = if prompt { (2 * wanted).min(PIECE_BYTES_MAX) } else { CHUNK_BYTES };
        let piece = move |bytes| list.piece(Vec::with_capacity(bytes + LAST_ROW_BYTES), bytes);
        let made = tokio::select! {
            made = app.streams.make_of(wanted, piece) => made,
            () = sink.closed() => return Err(Gone),
        };
        match made {
            Ok((piece, rest)) => {
                sink.send(piece).await?;
                let Some(rest) = rest else { break };
                list = rest;
            }
            Err(error) => {
                let error: ApiError = error;
                tracing::error!(reason = %error.reason, "an answer was broken off");
                return Err(Gone);
            }
        }
    }
    sink.finish().await;
    Ok(())
}
