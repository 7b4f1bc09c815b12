//! Every bound of the engines over other databases, in one place.

use std::time::Duration;

/// Connections that read at the same time, at most. Further readers wait for a free one, never for a writer.
pub const READ_CONNECTIONS: usize = 8;

/// Rows of a range or of a history that are fetched at once, at most.
pub const PAGE_ROWS: usize = 256;

/// Rows fetched at first; each further page is twice as large, so that a short range costs little.
pub const FIRST_PAGE_ROWS: usize = 16;

/// A page ends early once it holds this many bytes of keys and values.
pub const PAGE_BYTES: usize = 1 << 20;

/// How long it waits for another program's lock on a database.
pub const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Page cache of one `SQLite` connection, in KiB.
pub const CACHE_KIB: u64 = 4 * 1024;

/// If a `SQLite` write-ahead log has grown beyond this many bytes, it is cut back to them when it starts anew.
pub const WAL_BYTES_KEPT: i64 = 64 << 20;

/// Problems that `verify` lists, at most. The last one says that there are more.
pub const PROBLEMS_LISTED: usize = 100;
