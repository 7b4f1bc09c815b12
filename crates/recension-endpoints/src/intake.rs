//! Attachments on their way in. The connection is asynchronous, the library reads from a blocking reader. A short
//! attachment is collected and taken in at once. A longer one goes through a channel with few places to a thread, so
//! that the connection is read no faster than the store takes it.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::Bytes;
use recension::{Collection, Upload};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use recension_app::state::App;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{CHUNKS_COMING_MAX, UPLOAD_HELD_BYTES};

/// An attachment that is being taken in.
pub(crate) struct Intake {
    app: Arc<App>,
    collection: Collection,
    content_type: String,
    gzip: bool,
    held: Vec<u8>,
    running: Option<Running>,
}

struct Running {
    sender: mpsc::Sender<Option<Bytes>>,
    upload: JoinHandle<Result<Upload>>,
}

impl Intake {
    /// An attachment for a database; `gzip`: its bytes come compressed.
    pub(crate) fn new(app: Arc<App>, collection: Collection, content_type: String, gzip: bool) -> Self {
        Intake { app, collection, content_type, gzip, held: Vec::new(), running: None }
    }

    /// Takes some bytes; waits while the store has not taken the bytes before.
    pub(crate) async fn push(&mut self, piece: Bytes) -> Result<()> {
        if let Some(running) = &self.running {
            if running.sender.send(Some(piece)).await.is_err() {
                return Err(self.failed().await);
            }
            return Ok(());
        }
        self.held.extend_from_slice(&piece);
        if self.held.len() > UPLOAD_HELD_BYTES { self.start().await } else { Ok(()) }
    }

    /// The attachment, once all of its bytes were pushed.
    pub(crate) async fn finish(mut self) -> Result<Upload> {
        if let Some(Running { sender, upload }) = self.running.take() {
            // If nobody receives it, the upload has failed and says why.
            let _ = sender.send(None).await;
            return ended(upload).await;
        }
        let Intake { app, collection, content_type, gzip, held, .. } = self;
        app.blocking(move || take(&collection, held.as_slice(), &content_type, gzip)).await
    }

    /// Moves the rest to a thread. Its places are few and are not shared with other requests: slow uploads make only
    /// other long uploads wait.
    async fn start(&mut self) -> Result<()> {
        let place = Arc::clone(&self.app.uploads).acquire_owned().await.map_err(|_| ApiError::stopping())?;
        let (sender, receiver) = mpsc::channel(CHUNKS_COMING_MAX);
        let (collection, content_type, gzip) = (self.collection.clone(), self.content_type.clone(), self.gzip);
        let pieces = Arriving { receiver, piece: Bytes::from(std::mem::take(&mut self.held)), ended: false };
        let upload = tokio::task::spawn_blocking(move || {
            let upload = take(&collection, pieces, &content_type, gzip);
            drop(place);
            upload
        });
        self.running = Some(Running { sender, upload });
        Ok(())
    }

    /// The error for which the store takes no more.
    async fn failed(&mut self) -> ApiError {
        match self.running.take() {
            Some(Running { upload, .. }) => ended(upload).await.err().unwrap_or_else(ApiError::stopping),
            None => ApiError::stopping(),
        }
    }
}

async fn ended(upload: JoinHandle<Result<Upload>>) -> Result<Upload> {
    upload.await.unwrap_or_else(|error| {
        tracing::error!(%error, "taking in an attachment panicked");
        Err(ApiError::new(http::StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", "see the server's log"))
    })
}

fn take(collection: &Collection, bytes: impl Read, content_type: &str, gzip: bool) -> Result<Upload> {
    let upload = if gzip {
        collection.uploads().add_gzip(bytes, content_type)
    } else {
        collection.uploads().add(bytes, content_type)
    };
    upload.map_err(|error| match error {
        // The bytes are not gzip, or the body broke off.
        recension::Error::Input { source } => ApiError::bad_request(source.to_string()),
        error => error.into(),
    })
}

/// A reader of the channel. If the channel closes without its end, reading fails.
struct Arriving {
    receiver: mpsc::Receiver<Option<Bytes>>,
    piece: Bytes,
    ended: bool,
}

impl Read for Arriving {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.ended {
            match self.receiver.blocking_recv() {
                Some(Some(piece)) => self.piece = piece,
                Some(None) => self.ended = true,
                None => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the request's body broke off")),
            }
        }
        let count = self.piece.len().min(out.len());
        let taken = self.piece.split_to(count);
        out.get_mut(..count).unwrap_or_default().copy_from_slice(&taken);
        Ok(count)
    }
}
