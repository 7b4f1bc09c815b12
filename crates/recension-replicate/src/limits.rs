//! Every bound of a replication in one place.

use std::time::Duration;

/// Changes that are read at once.
pub(crate) const BATCH: usize = 500;
/// Revisions that are asked for at once.
pub(crate) const FETCH: usize = 500;
/// Bytes of documents that are written at once; one longer document is written alone.
pub(crate) const WRITE_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a document's attachments that are sent inside of it; more are streamed.
pub(crate) const INLINE_BYTES: u64 = 256 * 1024;
/// Bytes of attachments that are asked for inside of documents at once.
pub(crate) const INLINE_FETCH_BYTES: u64 = 8 * 1024 * 1024;
/// Longest answer to a request for many documents.
pub(crate) const ANSWER_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Longest answer to a request for one document.
pub(crate) const DOCUMENT_ANSWER_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Sessions that a checkpoint remembers.
pub(crate) const HISTORY: usize = 50;
/// Longest text of an error of the other side that is passed on.
pub(crate) const REASON_CHARS_MAX: usize = 300;
/// Time between two checkpoints while documents flow.
pub(crate) const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);
/// How long a live replication waits for a change in one request. Stopping it takes at most as long.
pub(crate) const WAIT: Duration = Duration::from_secs(5);
/// Time to connect.
pub(crate) const CONNECT: Duration = Duration::from_secs(15);
/// Time within which the other side has to send something.
pub(crate) const SILENCE: Duration = Duration::from_mins(1);
/// First pause before a request is made again; each further one is twice as long.
pub(crate) const BACKOFF: Duration = Duration::from_millis(250);
/// Longest such pause.
pub(crate) const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// How often a request is repeated.
pub(crate) const RETRIES: u32 = 6;
/// Largest window of a compressed stream: 2 to this power of bytes.
pub(crate) const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// Revisions of a stream of leaves that are written at once.
pub(crate) const LEAVES_AT_ONCE: usize = 2000;
/// How often a broken stream of leaves is requested again before the ordinary way is taken.
pub(crate) const LEAVES_ATTEMPTS: u32 = 5;
