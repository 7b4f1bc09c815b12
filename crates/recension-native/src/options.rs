//! How a native store is opened. Every field has a default that suits a person's own machine.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::machine;
use crate::disk::Key;
use recension_engine::{Clock, Durability, SystemClock};

/// The fraction of this process's memory that is the most for the index, and for the cache, by default.
const MEMORY_PART: u64 = 8;

/// Options of [`NativeEngine::open`](super::NativeEngine::open).
///
/// On a small machine, some defaults are smaller: an eighth of the memory that the process may have. This is the
/// machine's memory, or the limit of its control group (a container's).
#[derive(Clone)]
pub struct NativeOptions {
    /// The durability of a commit that does not ask for another one.
    pub durability: Durability,
    /// Size of a log segment, in bytes (a commit that is larger gets a segment of its own size).
    /// Default 64 MiB.
    pub segment_bytes: u64,
    /// Bytes of memory for the parts of the index that are not in runs yet: the part that commits are added to and up
    /// to three that wait to be written. Commits wait rather than exceed it. Writing a run takes up to about 16 MiB
    /// more. Fences and tables of runs (about 17 bytes a key) are mapped, not held. Default 64 MiB, less with under 512
    /// MiB of memory.
    pub index_memory_bytes: u64,
    /// Bytes of log after which a checkpoint is made. This bounds the replay at the next open. Default 8 MiB.
    pub checkpoint_log_bytes: u64,
    /// Runs of about one size that are merged into one. Default 4.
    pub merge_fan_in: usize,
    /// Bytes of log, beyond the settled part, after which it is settled: moved into files in key order.
    /// `None`: only [`NativeEngine::settle`](recension_engine::Engine::settle) does so. Default 128 MiB.
    pub settle_log_bytes: Option<u64>,
    /// Most bytes a second that settling writes while commits are made. If four times `settle_log_bytes` wait, settling
    /// goes as fast as it can. Default 32 MiB.
    pub settle_bytes_per_second: u64,
    /// How long a store must be open before it settles what an earlier process has left, if nothing is written. A
    /// process that only looks something up has ended by then. Default 10 s.
    pub settle_after_opening: Duration,
    /// How long a store must have made no commit before it settles what it has in runs, whatever its size. Reads of
    /// settled rows are faster. Default 5 s.
    pub settle_at_rest: Duration,
    /// The longest time from a commit's sync to the mark that records it. If an older commit is missing, opening the
    /// store is an error. Default 0.9 s.
    pub mark_every: Duration,
    /// Bytes of memory for decompressed blocks of settled files. Default 256 MiB, less with under 2 GiB of memory.
    pub block_cache_bytes: u64,
    /// The thread that writes and merges index runs.
    pub maintenance: Maintenance,
    /// The clock of commit times.
    pub clock: Arc<dyn Clock>,
    /// Whether a store is made if there is none. Default true.
    pub create: bool,
    /// The key of an encrypted store: one that is made with it is encrypted, and opens with it only. Default none.
    pub key: Option<Key>,
    /// The file of the keys of an encrypted store's collections. Default `COLLECTION-KEYS` in the store's folder.
    pub collection_keys: Option<PathBuf>,
}

/// The thread that writes and merges index runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maintenance {
    /// A thread of the engine's own.
    Background,
    /// The committing thread, right after the commit that made it necessary. This is deterministic, for simulations.
    Inline,
}

impl Default for NativeOptions {
    fn default() -> Self {
        let most = machine::memory_bytes().map_or(u64::MAX, |bytes| bytes / MEMORY_PART);
        NativeOptions {
            durability: Durability::Disk,
            segment_bytes: 64 << 20,
            index_memory_bytes: most.min(64 << 20),
            checkpoint_log_bytes: 8 << 20,
            merge_fan_in: 4,
            settle_log_bytes: Some(128 << 20),
            settle_bytes_per_second: 32 << 20,
            settle_after_opening: Duration::from_secs(10),
            settle_at_rest: Duration::from_secs(5),
            mark_every: Duration::from_millis(900),
            block_cache_bytes: most.min(256 << 20),
            maintenance: Maintenance::Background,
            clock: Arc::new(SystemClock),
            create: true,
            key: None,
            collection_keys: None,
        }
    }
}
