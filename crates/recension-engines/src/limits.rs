//! Every bound of the engines over other databases, in one place.

use std::time::Duration;

/// Connections that read at once, at most; further readers wait for one to come free, never for a writer.
pub const READ_CONNECTIONS: usize = 8;

/// Rows of a range or of a history that are fetched at once, at most.
pub const PAGE_ROWS: usize = 256;

/// Rows fetched at first; each further page is twice as large, so that a short range costs little.
pub const FIRST_PAGE_ROWS: usize = 16;

/// A page ends early once it holds this many bytes of keys and values.
pub const PAGE_BYTES: usize = 1 << 20;

/// How long another program's lock on a database is waited for.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of one `SQLite` connection, in KiB.
pub const CACHE_KIB: u64 = 4 * 1024;

/// A `SQLite` write-ahead log that grew beyond this many bytes is cut back to it when it is started anew.
pub const WAL_BYTES_KEPT: i64 = 64 << 20;

/// Problems that `verify` lists, at most; the last one says that there are more.
pub const PROBLEMS_LISTED: usize = 100;
