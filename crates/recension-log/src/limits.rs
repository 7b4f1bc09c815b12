//! Every bound of the shared log, in one place.

use std::time::Duration;

/// About how many bytes of records are read at once.
pub const READ_BYTES: usize = 8 << 20;

/// Longest record for any log; longer ones are written beside the log, in pieces.
pub const RECORD_BYTES_MAX: usize = 16 << 20;

/// Most pieces of one large record or of one snapshot's file.
pub const PIECES_MAX: usize = 1 << 20;

/// Most entries of one record.
pub const ENTRIES_MAX: usize = 1 << 20;

/// Longest text in a record: a name or an address, in bytes.
pub const TEXT_BYTES_MAX: usize = 4096;

/// How long a commit waits for a log that does not answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// How long the leader of a group of commits waits, at most, for callers of the last group to come back; never longer
/// than half of the time that the last group took.
pub const GROUP_WAIT: Duration = Duration::from_millis(4);

/// The first and the longest pause between two tries of a log that does not answer.
pub const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(200));

/// How long a node waits for news before it asks again.
pub const FOLLOW_TIMEOUT: Duration = Duration::from_millis(500);

/// How often an idle node looks whether the log still has the newest record that it knows.
pub const PROOF_INTERVAL: Duration = Duration::from_secs(3);

/// If that was not seen for so long, a commit looks first.
pub const PROOF_MAX: Duration = Duration::from_secs(10);

/// Bytes of records after which a cache's note is renewed.
pub const NOTE_BYTES: u64 = 64 << 20;

/// Bytes of records since the last snapshot after which a node writes a new one.
pub const SNAPSHOT_BYTES: u64 = 256 << 20;

/// How often a node publishes its position.
pub const NODE_INTERVAL: Duration = Duration::from_secs(5);

/// A node that was not heard of for so long is not live.
pub const NODE_LIVE: Duration = Duration::from_secs(30);

/// A node that was not heard of for so long is no longer listed.
pub const NODE_LISTED: Duration = Duration::from_hours(1);

/// Snapshots that are kept.
pub const SNAPSHOTS_KEPT: usize = 2;

/// Longest piece of a snapshot's file: what is in memory at a time, and what a move writes anew if a byte of it
/// differs.
pub const PIECE_BYTES: usize = 4 << 20;

/// Pieces of something long that are fetched at once, and are in memory then.
pub const FETCHERS: usize = 4;

/// Most records that are asked for at once where each is a request.
pub const AHEAD_MAX: usize = 32;

/// Most records of a page.
pub const PAGE_RECORDS: usize = 4096;

/// Files of a snapshot that wait to be synced while the next one is fetched.
pub const SYNCS_AHEAD: usize = 2;

/// Files of a snapshot that are shorter are always looked at again when it is brought up to date.
pub const SMALL_FILE_BYTES: u64 = 1 << 20;

/// Tries of a node to fetch a snapshot that others remove for a newer one.
pub const FETCHES_MAX: usize = 8;

/// How long the old store of a cache that began anew stays for those that still read it.
pub const STORE_KEPT: Duration = Duration::from_mins(10);

/// Caches of one log in the user's folder of caches: as many processes share a log on one machine without naming
/// theirs.
pub const CACHES_MAX: usize = 64;
