//! Answers that are made while they are sent. A piece is made on a thread of the pool, and while the reader takes it no
//! thread is held: readers that are slow, or read nothing, take memory for three pieces and no more.

use std::sync::Arc;

use crate::answer::{Answer, pieces};
use crate::error::{ApiError, Result};
use crate::limits::CHUNK_BYTES;
use crate::state::App;

/// A JSON answer: what comes before the rows, the rows with all that stands between them, and what comes after.
///
/// A short answer is sent as a whole. An error in the first piece is the answer; later ones break the answer off, so that
/// nobody takes it for whole.
pub(crate) async fn json(
    app: &Arc<App>,
    before: String,
    rows: impl Iterator<Item = Result<String>> + Send + 'static,
    after: String,
) -> Result<Answer> {
    bytes(app, "application/json", before.into_bytes(), rows.chain(std::iter::once(Ok(after)))).await
}

/// The same of any content type.
pub(crate) async fn bytes<R: AsRef<[u8]>>(
    app: &Arc<App>,
    content_type: &'static str,
    before: Vec<u8>,
    mut rows: impl Iterator<Item = Result<R>> + Send + 'static,
) -> Result<Answer> {
    let (first, rest) = app.blocking(move || Ok((fill(before, &mut rows)?, rows))).await?;
    let (text, more) = first;
    if !more {
        return Ok(Answer::of(http::StatusCode::OK, content_type, text));
    }
    let (sink, answer) = pieces();
    let app = Arc::clone(app);
    tokio::spawn(async move {
        let mut next = Ok((text, true, rest));
        loop {
            match next {
                Ok((text, more, mut rows)) => {
                    if sink.send(text).await.is_err() {
                        return;
                    }
                    if !more {
                        return sink.finish().await;
                    }
                    next = app
                        .blocking(move || {
                            let (text, more) = fill(Vec::new(), &mut rows)?;
                            Ok((text, more, rows))
                        })
                        .await;
                }
                Err(error) => {
                    let error: ApiError = error;
                    tracing::error!(reason = %error.reason, "an answer was broken off");
                    return;
                }
            }
        }
    });
    Ok(Answer::streamed(content_type, answer))
}

/// Rows until there is enough for a piece; answers whether there may be more.
fn fill<R: AsRef<[u8]>>(mut text: Vec<u8>, rows: &mut impl Iterator<Item = Result<R>>) -> Result<(Vec<u8>, bool)> {
    for row in rows {
        text.extend_from_slice(row?.as_ref());
        if text.len() >= CHUNK_BYTES {
            return Ok((text, true));
        }
    }
    Ok((text, false))
}
