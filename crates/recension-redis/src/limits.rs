//! Every bound of the door for Redis. Input beyond one is refused with an error that names it.

/// Longest argument, in bytes, like the longest value of a key.
pub const ARGUMENT_BYTES_MAX: usize = 63 * 1024 * 1024;

/// Longest request, in bytes.
pub const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most arguments of a request.
pub const ARGUMENTS_MAX: usize = 128 * 1024;

/// Most arguments of a request of somebody who has to log in first: Redis's.
pub const UNKNOWN_ARGUMENTS_MAX: usize = 10;

/// Longest argument of such a request, in bytes: Redis's.
pub const UNKNOWN_ARGUMENT_BYTES_MAX: usize = 16 * 1024;

/// How many bytes a byte of a request takes in all, with what is made of it: arguments, rows, a commit.
pub const REQUEST_WEIGHT: usize = 4;

/// Bytes of all requests that are coming in together, if the door has no budget from its server.
pub const RECEIVED_BYTES: usize = 256 * 1024 * 1024;

/// Bytes of all replies that wait to be sent together, if the door has no budget from its server.
pub const SENT_BYTES: usize = 64 * 1024 * 1024;

/// Longest line: an inline command, or the head of an argument.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Bytes that are read at a time.
pub const READ_BYTES: usize = 64 * 1024;

/// Bytes of its buffers that an idle connection keeps.
pub const IDLE_BYTES: usize = 16 * 1024;

/// Bytes of replies that are collected before they are sent.
pub const REPLIES_BYTES: usize = 256 * 1024;

/// Bytes that are written at a time. Others go between them.
pub const PIECE_BYTES: usize = 128 * 1024;

/// Connections that begin to send something long at a time: a request waits behind these.
pub const SENDING_MAX: usize = 2;

/// Bytes of a reply from which on one connection at a time makes such replies.
pub const LONG_BYTES: usize = 256 * 1024;

/// About the longest reply of many items, in bytes.
pub const REPLY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Writes of one connection that wait for the disk together.
pub const WRITES_TOGETHER_MAX: usize = 128;

/// Most commands between MULTI and EXEC.
pub const QUEUED_MAX: usize = 10_000;

/// Bytes of those commands.
pub const QUEUED_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most keys that a connection watches.
pub const WATCHED_MAX: usize = 10_000;

/// Bytes of what all callers keep from one request to the next, beyond a little of each: commands between MULTI and
/// EXEC, watched keys, requests that wait for an element.
pub const KEPT_BYTES: usize = 64 * 1024 * 1024;

/// Bytes that an argument takes besides its own, while it is kept.
pub const ARGUMENT_BYTES: usize = 24;

/// How often the name of a watched key is in memory.
pub const WATCHED_KEY_COPIES: usize = 3;

/// Bytes that a watched key takes besides its name.
pub const WATCHED_BYTES: usize = 256;

/// Numbered databases.
pub const DATABASES: usize = 16;

/// Scans that can be continued, of all connections together.
pub const SCANS_MAX: usize = 10_000;

/// Most keys that one SCAN reads.
pub const SCAN_COUNT_MAX: usize = 10_000;

/// Keys that are read at a time for KEYS and DBSIZE.
pub const PAGE_KEYS: usize = 1000;

/// Longest member of a set or sorted set, and longest field of a hash, in bytes.
pub const MEMBER_BYTES_MAX: usize = 8000;

/// Most digits of a number on either side of its point, about as many as a long double of C has.
pub const DECIMAL_DIGITS_MAX: usize = 4932;

/// Places behind the point to which INCRBYFLOAT rounds.
pub const DECIMAL_PLACES: usize = 17;

/// Most keys that FLUSHDB and FLUSHALL delete between MULTI and EXEC.
pub const FLUSHED_IN_MULTI_MAX: usize = 100_000;

/// Most members that SRANDMEMBER, ZRANDMEMBER and HRANDFIELD pick if one may come twice.
pub const PICKED_MAX: usize = 1_000_000;

/// Scripts that are remembered by their hash.
pub const SCRIPTS_MAX: usize = 1000;

/// Longest script, in bytes. When read, it takes about thirty times as much.
pub const SCRIPT_BYTES_MAX: usize = 256 * 1024;

/// Bytes of the texts of all scripts that are remembered.
pub const SCRIPTS_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Steps of one script: statements, expressions, turns of loops, calls; and a share of the bytes that functions read.
pub const SCRIPT_STEPS_MAX: usize = 1_000_000;

/// How deeply statements and expressions of a script, and tables of its reply, may be nested.
pub const SCRIPT_DEPTH_MAX: usize = 50;

/// How deeply functions, blocks and expressions of a script that runs may stand in one another.
pub const SCRIPT_CALLS_MAX: usize = 180;

/// How deeply the parts of a pattern may stand in one another.
pub const SCRIPT_PATTERN_DEPTH_MAX: usize = 200;

/// How deeply a script's JSON may be nested.
pub const SCRIPT_JSON_DEPTH_MAX: usize = 100;

/// Seconds after which a command that waits for an element is tried again.
pub const TRIED_AGAIN_SECONDS: u64 = 1;

/// Bytes that a connection reads ahead while a command of its waits.
pub const AHEAD_BYTES_MAX: usize = 16 * 1024;

/// Seconds for a request to arrive once it has begun, and for a reply to be taken.
pub const PATIENCE_SECONDS: u64 = 30;
