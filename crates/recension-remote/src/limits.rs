//! The bounds of the protocol. Anything beyond is refused, and the connection is closed.

/// Most bytes of payload in a frame.
pub const FRAME_BYTES_MAX: usize = 1 << 20;

/// Most bytes of a message, which comes in as many frames as it needs: the largest commit and what it has read.
pub const MESSAGE_BYTES_MAX: usize = 512 << 20;

/// Bytes of rows after which a piece of an answer ends; one row may be longer.
pub const PIECE_BYTES: usize = 256 << 10;

/// Rows of the first piece of a range. Each further one has four times as many, up to [`PIECE_ROWS_MAX`].
pub const PIECE_ROWS_FIRST: u32 = 64;

/// Most rows of a piece.
pub const PIECE_ROWS_MAX: u32 = 16_384;

/// Most connections that an owner serves at a time.
pub const CONNECTIONS_MAX: usize = 1024;

/// Most connections of one client. A thread that needs one more waits until another has its answer.
pub const CLIENT_CONNECTIONS_MAX: usize = 64;

/// Most connections that requests share which are answered at once.
pub const PIPES_MAX: usize = 4;

/// Requests under way on every shared connection from which on another one is opened.
pub const UNDER_WAY_MANY: usize = 16;

/// Most milliseconds that one request waits for a commit; to wait longer, a client asks again.
pub const WAIT_MILLISECONDS_MAX: u32 = 60_000;

/// How many bytes a byte of a request takes in all, with what is made of it: rows, a commit.
pub const REQUEST_WEIGHT: usize = 4;

/// Bytes of all requests that are coming in together, if an owner has no budget from elsewhere.
pub const RECEIVED_BYTES: usize = 256 << 20;

/// Bytes of all answers that wait to be sent together, if an owner has no budget from elsewhere.
pub const SENT_BYTES: usize = 64 << 20;

/// Most bytes of rows that were fetched ahead for one snapshot.
pub const AHEAD_BYTES_MAX: usize = 4 << 20;

/// Most beginnings of ranges that a snapshot keeps.
pub const BEGINNINGS_MAX: usize = 4;
/// Most bytes of a beginning of a range that a snapshot keeps.
pub const BEGINNING_BYTES_MAX: usize = 64 << 10;

/// Fewest bytes of the token of a store on a network.
pub const TOKEN_BYTES_MIN: usize = 16;

/// Most bytes of a password or a token that a client says; of a name half as many.
pub const SECRET_BYTES_MAX: usize = 2048;

/// Most bytes of the message with the token.
pub const TOKEN_MESSAGE_BYTES_MAX: usize = 4096;

/// Most names (of counters, of engines, of what is refused) that a client learns from owners.
pub const NAMES_MAX: usize = 4096;
