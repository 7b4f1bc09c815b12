//! Every bound of Apocrypha. Input beyond one is refused with an error that names it.

/// Longest request, in bytes, if the configuration says nothing else. A document cannot be much longer.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of requests longer than [`READ_BYTES`] that all connections together may hold, with what is made of them, if
/// the door has no budget from its server.
pub const LONG_FRAMES_BYTES_MAX: usize = 256 * 1024 * 1024;

/// How many bytes a byte of a long request takes in all, with what is made of it: values, rows, a commit.
pub const REQUEST_WEIGHT: usize = 4;

/// Bytes of replies longer than [`REPLIES_BYTES`] that all connections together may hold, if the configuration says
/// nothing else.
pub const LONG_REPLIES_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes that are read of a connection at a time, and that wait there as requests not yet answered.
pub const READ_BYTES: usize = 64 * 1024;

/// Bytes of its buffers that an idle connection keeps.
pub const IDLE_BYTES: usize = 4 * 1024;

/// Bytes of replies that are collected before they are sent.
pub const REPLIES_BYTES: usize = 64 * 1024;

/// How many occasions pass without a moment's wait, for others' writes or for the next request, after a wait in vain.
pub const PASSES_MAX: u32 = 64;

/// Requests that a session answers one after the other without waiting before its connection goes back to an event
/// loop.
pub const AT_ONCE_TO_RETURN: u32 = 32;

/// Most connections whose requests an event loop reads before it answers them.
pub const EVENTS_MAX: usize = 64;

/// Microseconds for which an event loop polls for the next request before it sleeps, unless that was in vain lately.
pub const LOOK_MICROS: u64 = 50;

/// Longest reply, in bytes, and the most that a command on the whole database reads into memory.
pub const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Commands on the whole database, or on its past, that run at a time.
pub const LARGE_COMMANDS_MAX: usize = 4;

/// Commands that wait for the disk at a time. Further ones wait without a thread.
pub const WAITING_COMMANDS_MAX: usize = 128;

/// Writes of event loops that are committed together, with one wait for the disk.
pub const WRITES_TOGETHER_MAX: usize = 128;

/// Writes of one event loop's connections that wait for the disk. Beyond it, a connection waits as a session.
pub const WRITES_UNDER_WAY_MAX: usize = 1024;

/// Turns for writers of members; members whose names have the same hash share one.
pub const TURNS: usize = 256;

/// Connections at a time.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Most words of a command.
pub const WORDS_MAX: usize = 100_000;

/// Most words of a path.
pub const PATH_WORDS_MAX: usize = 500;

/// Most places that one command reads or writes through references.
pub const PLACES_MAX: usize = 10_000;

/// Most symlinks that are followed one after the other.
pub const LINKS_MAX: usize = 32;

/// Most members that a command on the top level replaces at once.
pub const MEMBERS_SET_MAX: usize = 100_000;

/// Most lines of a history.
pub const HISTORY_LINES_MAX: usize = 1000;

/// Longest token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 1024;

/// Bytes of a body from which on its parsed value is cached.
pub const LARGE_BYTES_MIN: usize = 4 * 1024;

/// Bytes of memory of all cached members.
pub const LARGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most cached members.
pub const LARGE_MEMBERS_MAX: usize = 1024;

/// Seconds in which the rest of a request has to go on arriving, and a reply to be taken.
pub const PATIENCE_SECONDS: u64 = 30;

/// Milliseconds in which the rest of a request has to come when the server stops.
pub const REST_MILLIS: u64 = 500;

/// Longest database file of the originals, unpacked, in bytes.
pub const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;
