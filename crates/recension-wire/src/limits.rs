//! Every bound of the server. Those that an operator may want to move are the defaults of [`recension_app::config`].

use std::time::Duration;

/// Longest document body, in bytes, if the configuration says nothing else: CouchDB's.
pub const DOCUMENT_BYTES_MAX: usize = 8_000_000;

/// Longest request body that is read into memory (`_bulk_docs` and others), in bytes, by default.
pub const REQUEST_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Requests in memory, with what is made of them, of all doors and all of them together, in bytes, by default.
pub const BODY_MEMORY_BYTES: usize = 256 * 1024 * 1024;

/// How many bytes a byte of a body takes in all, with what is made of it: documents, rows, a commit.
pub const BODY_WEIGHT: usize = 4;

/// Most members of an object, and elements of an array, of a request that is read as a whole.
pub const BODY_PARTS_MAX: usize = 200_000;

/// The most bytes that one byte of gzip can unpack to.
pub const GZIP_RATIO_MAX: usize = 1032;

/// Longest request target (path and query), in bytes.
pub const TARGET_BYTES_MAX: usize = 64 * 1024;

/// Longest header section of a request, in bytes. (hyper's read buffer; beyond it: 431.)
pub const HEAD_BYTES_MAX: usize = 128 * 1024;

/// Most headers of a request.
pub const HEADERS_MAX: usize = 100;

/// Seconds in which the head of a request has to arrive.
pub const HEAD_SECONDS_MAX: u64 = 30;

/// Seconds without a byte of a body after which the request is given up.
pub const BODY_IDLE_SECONDS_MAX: u64 = 30;

/// Connections at a time, by default.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Threads that wait for syncs or for long reads of a single answer. Requests beyond wait without a thread.
pub const BLOCKING_THREADS_MAX: usize = 128;

/// Threads that answer requests if reads of the store may wait. Otherwise the threads of connections answer.
pub const REQUEST_THREADS: usize = 16;

/// Threads that make the pieces of streamed answers, by default: a few more than small machines have processors,
/// since some may wait for the disk.
pub const LIST_THREADS: usize = 4;

/// Most threads for lists that can be configured.
pub const LIST_THREADS_MAX: usize = 256;

/// Seconds after which a thread that has nothing to do ends.
pub const THREAD_IDLE_SECONDS: u64 = 10;

/// Bytes of pieces of streamed answers that were made and not sent yet, of all answers together, by default.
pub const LIST_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Requests that one connection of HTTP/2 may have under way.
pub const HTTP2_STREAMS_MAX: u32 = 100;

/// Bytes of an answer that are collected before they are sent.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of the longest piece of a list, for a reader that takes what it gets within [`PROMPT_MILLIS`].
pub const PIECE_BYTES_MAX: usize = 4 * CHUNK_BYTES;

/// Milliseconds within which a prompt reader takes a piece.
pub const PROMPT_MILLIS: u64 = 20;

/// Shortest answer that is compressed, in bytes: about what one packet takes.
pub const COMPRESSED_BYTES_MIN: usize = 1400;

/// Chunks of an answer that wait for a slow reader. The next one is made when it has taken one.
pub const CHUNKS_WAITING_MAX: usize = 1;

/// Chunks of an attachment on its way in that wait for the store.
pub const CHUNKS_COMING_MAX: usize = 2;

/// Identifiers that one `/_uuids` gives at most: CouchDB's.
pub const UUIDS_MAX: usize = 1000;

/// Longest name of a database, in bytes: CouchDB's.
pub const DATABASE_NAME_BYTES_MAX: usize = 238;

/// Documents whose purge one `_purge` asks for at most: CouchDB's.
pub const PURGED_DOCUMENTS_MAX: usize = 100;

/// Revisions whose purge one `_purge` asks for at most: CouchDB's.
pub const PURGED_REVISIONS_MAX: usize = 1000;

/// Documents that one `_erase` asks for at most.
pub const ERASED_DOCUMENTS_MAX: usize = recension::limits::ERASED_IDS_MAX;

/// The limit of a feed that names none, from which `seq_interval` counts: CouchDB's.
pub const CHANGES_LIMIT_DEFAULT: u64 = 1_000_000_000_000_000;

/// Changes behind a page that are counted one by one for `pending`; beyond, it is an upper bound.
pub const PENDING_COUNTED_MAX: usize = 20_000;

/// Milliseconds between heartbeats, and until a waiting feed answers, if the request sets nothing: CouchDB's.
pub const FEED_MILLIS_DEFAULT: u64 = 60_000;

/// Seconds after which a feed checks its rights again, if it was told of no change.
pub const RIGHTS_ASKED_SECONDS: u64 = 60;

/// Least milliseconds between two such checks.
pub const RIGHTS_ASKED_MILLIS_MIN: u64 = 20;

/// Seconds that requests have to finish after the server was told to stop.
pub const SHUTDOWN_SECONDS_MAX: u64 = 30;

/// Rows before a list's first that are counted one by one for `offset`; beyond, it is `null`.
pub const OFFSET_COUNTED_MAX: u64 = 10_000;

/// Rounds of PBKDF2 for new passwords: CouchDB's.
pub const PASSWORD_ITERATIONS: u32 = 600_000;

/// Most rounds of PBKDF2 that a stored password may ask for.
pub const PASSWORD_ITERATIONS_MAX: u32 = 2_000_000;

/// Longest password, in bytes.
pub const PASSWORD_BYTES_MAX: usize = 4096;

/// Passwords that are checked or hashed at a time.
pub const HASHING_MAX: usize = 2;

/// Most requests that wait for a password to be checked or hashed.
pub const HASHING_WAITING_MAX: usize = 256;

/// Passwords that were right and are remembered.
pub const REMEMBERED_MAX: usize = 4096;

/// Seconds for which they are remembered.
pub const REMEMBERED_SECONDS: u64 = 600;

/// Attempts to log in with one name from one address that nothing slows down.
pub const LOG_IN_NAME_FREE: u32 = 5;

/// Attempts from one address that nothing slows down.
pub const LOG_IN_ADDRESS_FREE: u32 = 50;

/// Milliseconds between further attempts.
pub const LOG_IN_INTERVAL_MS: u64 = 1000;

/// Milliseconds that an attempt waits at most for its turn; beyond, it is refused.
pub const LOG_IN_WAIT_MS_MAX: u64 = 5000;

/// Seconds after which attempts are forgotten.
pub const LOG_IN_FORGET_SECONDS: u64 = 300;

/// Names, and addresses, whose attempts are counted.
pub const LOG_IN_TRACKED_MAX: usize = 10_000;

/// Seconds that a session lasts without a request: CouchDB's.
pub const SESSION_SECONDS: u64 = 600;

/// Most seconds that a session may be set to last: a year.
pub const SESSION_SECONDS_MAX: u64 = 366 * 24 * 3600;

/// Lines of failed log-ins that may come at once.
pub const FAILED_LOG_INS_AT_ONCE: u32 = 20;

/// Milliseconds between further lines.
pub const FAILED_LOG_INS_INTERVAL_MS: u64 = 1000;

/// Characters of a name that such a line shows.
pub const LOGGED_NAME_CHARS_MAX: usize = 64;

/// Longest path, name or header in the log of requests, in bytes.
pub const LOGGED_TEXT_BYTES_MAX: usize = 1024;

/// Lines of the log of requests that wait to be written.
pub const REQUEST_LINES_WAITING_MAX: usize = 4096;

/// Seconds that the last lines have to be written when the server stops.
pub const REQUEST_LINES_SECONDS_MAX: u64 = 5;

/// Longest JSON web token, in bytes.
pub const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Longest body of a request to log in, in bytes.
pub const SESSION_BODY_BYTES_MAX: usize = 64 * 1024;

/// Longest id of a user document that is looked for, in bytes.
pub const USER_ID_BYTES_MAX: usize = 512;

/// Longest setting, in bytes.
pub const SETTING_BYTES_MAX: usize = 64 * 1024;

/// Longest name of a setting or of a section, in bytes.
pub const SETTING_NAME_BYTES_MAX: usize = 256;

/// All settings that were changed, in bytes.
pub const SETTINGS_BYTES_MAX: usize = 1024 * 1024;

/// Most bytes that the longest document, and the longest request body, may be set to.
pub const REQUEST_BYTES_CEILING: usize = 4 * 1024 * 1024 * 1024;

/// Most queries of one request to `_all_docs/queries`.
pub const QUERIES_MAX: usize = 100;

/// Documents that one `_changes` with `_doc_ids` asks for at most.
pub const DOC_IDS_MAX: usize = 10_000;

/// Bytes that the filters of all open feeds take together, beyond a little of each.
pub const FILTERS_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Bytes that the selectors of all queries take together that run or wait.
pub const SELECTORS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Changes that a feed looks at between two sends.
pub const FEED_PAGE: usize = 256;

/// Documents that `_update_by_query` and `_delete_by_query` write in one commit.
pub const BY_QUERY_BATCH_DOCUMENTS: usize = 500;

/// Bytes of the bodies of these documents, about.
pub const BY_QUERY_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Most documents that were left alone of which `_update_by_query` and `_delete_by_query` tell.
pub const BY_QUERY_LEFT_MAX: usize = 1000;

/// Bytes of values and ids that a `_find` whose order no index gives may hold in memory.
pub const FIND_SORT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Most design documents that one `_index/_bulk_delete` takes.
pub const INDEXES_DELETED_MAX: usize = 1000;

/// Events of databases that one commit notes at most, when the server starts.
pub const NOTES_AT_ONCE_MAX: usize = 1000;

/// Seconds in which the reader of an answer in pieces must take one; otherwise the answer is broken off.
pub const READER_SECONDS_MAX: u64 = 120;

/// Bytes of an attachment that are collected before a thread takes it in; shorter ones need none while they arrive.
pub const UPLOAD_HELD_BYTES: usize = 128 * 1024;

/// Longer attachments that are taken in at a time. Further ones wait without a thread.
pub const UPLOADS_MAX: usize = 64;

/// Bytes of an attachment that are put into JSON at a time. A multiple of three.
pub const INLINE_CHUNK_BYTES: usize = 48 * 1024;

/// Longest boundary of a multipart body, in bytes. (RFC 2046: 70.)
pub const BOUNDARY_BYTES_MAX: usize = 200;

/// Longest headers of a part of a multipart body, in bytes; so much may also stand before the first part.
pub const PART_HEAD_BYTES_MAX: usize = 16 * 1024;

/// Most parts of a multipart body: a document and its attachments.
pub const PARTS_MAX: usize = 1 + 1000;

/// Databases that one `_dbs_info` asks for at most; CouchDB's is 100.
pub const DATABASES_ASKED_MAX: usize = 1000;

/// Replications that run at a time; each has a thread. Further documents of `_replicator` wait for their turn.
pub const REPLICATIONS_MAX: usize = 64;

/// Documents of `_replicator` that are looked at.
pub const REPLICATOR_DOCUMENTS_MAX: usize = 10_000;

/// Longest request for a replication, in bytes.
pub const REPLICATION_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Events of a replication that `_scheduler/jobs` remembers.
pub const REPLICATION_EVENTS: usize = 20;

/// Processes that run functions of design documents.
pub const SCRIPT_WORKERS_MAX: usize = 8;

/// Bytes of a view's rows that a list function is given.
pub const LIST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How often a request is rewritten.
pub const REWRITES_MAX: u8 = 10;

/// Keys that a view is asked for at once.
pub const VIEW_KEYS_MAX: usize = 100_000;

/// Milliseconds that a request to a function of a design document may run.
pub const FUNCTION_MILLIS: u64 = 5000;

/// Most milliseconds that can be configured.
pub const FUNCTION_MILLIS_MAX: u64 = 300_000;

/// Rows of a view that are counted for `offset`. Beyond, there is no `offset`.
pub const VIEW_OFFSET_COUNTED_MAX: u64 = 1_000_000;

/// Changes between two lines of a stream of leaves that say how far it has come.
pub const LEAVES_BETWEEN_POSITIONS: usize = 250;

/// Most bytes of what a client says over a WebSocket: it listens, and says good-bye.
pub const SOCKET_MESSAGE_BYTES_MAX: usize = 4096;

/// Bytes of answers to pings that wait for a client of a WebSocket.
pub const SOCKET_ANSWERS_BYTES_MAX: usize = 16 * 1024;

/// Most consumers of a database that are kept over HTTP.
pub const CONSUMERS_MAX: usize = 1000;

/// Longest that a request waits for messages of a consumer, in seconds.
pub const CONSUMER_WAIT_SECONDS_MAX: u64 = 60;

/// Most bytes of a request to a consumer.
pub const CONSUMER_REQUEST_BYTES_MAX: usize = 1 << 20;

/// Bytes that the system keeps for a connection beyond those that are under way to its client.
pub const UNSENT_BYTES: u32 = 128 * 1024;

/// How long a request waits for the commit that it asks for.
pub const SEQ_WAIT: Duration = Duration::from_secs(5);

/// Listeners of topics that begin to send at a time: a request waits behind these.
pub const SPEAKING_MAX: usize = 2;

/// Branches of the store that are kept open.
pub const OPEN_BRANCHES_MAX: usize = 64;
