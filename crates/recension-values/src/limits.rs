//! Every bound of the documents layer. Input beyond a bound is refused with an error that names it.

/// Longest JSON text that is parsed, in bytes. Room is left in a row for the revision beside it.
pub const JSON_BYTES_MAX: usize = 63 * 1024 * 1024;

/// Deepest nesting of arrays and objects.
pub const JSON_DEPTH_MAX: usize = 512;

/// Most digits of an integer; CouchDB fails beyond about this size too.
pub const INTEGER_DIGITS_MAX: usize = 614;

/// Longest document id, in bytes.
pub const DOCUMENT_ID_BYTES_MAX: usize = 2048;

/// Longest name of a collection or an index, in bytes.
pub const NAME_BYTES_MAX: usize = 238;

/// Longest JSON path, in bytes.
pub const PATH_BYTES_MAX: usize = 1024;

/// Longest encoded values in an entry of an index, in bytes: with the longest id they make the longest key of a row.
pub const INDEX_VALUE_BYTES_MAX: usize = 6144;

/// Most indexes of one collection.
pub const INDEXES_MAX: usize = 256;

/// Most paths of one index.
pub const INDEX_PARTS_MAX: usize = 16;

/// Most texts at one path in which words are marked.
pub const HIGHLIGHTS_MAX: usize = 3;

/// Most marks that one document has in an index of access; beyond, it has the mark of any.
pub const ACCESS_MARKS_MAX: usize = 1000;

/// Longest mark of an index of access, in bytes.
pub const ACCESS_MARK_BYTES_MAX: usize = 512;

/// Most values that an index of access is asked for at once.
pub const ACCESS_ASKED_MAX: usize = 256;

/// Most entries that one document has in one index.
pub const INDEX_ENTRIES_MAX: usize = 1000;

/// Longest filter of an index, in bytes of its paths and values.
pub const INDEX_FILTER_BYTES_MAX: usize = 16 * 1024;

/// Bytes of values' texts in a row of an index, if they cannot be decoded from its key.
pub const INDEX_TEXTS_BYTES_MAX: usize = 4096;

/// Most ranges of one condition, and most ranges of keys that one query reads in an index.
pub const RANGES_MAX: usize = 1024;

/// Most conditions of a query, and most paths that it sorts by or selects.
pub const QUERY_PATHS_MAX: usize = 256;

/// Longest text of a selector, in bytes.
pub const SELECTOR_BYTES_MAX: usize = 1024 * 1024;

/// Deepest nesting of a selector.
pub const SELECTOR_DEPTH_MAX: usize = 64;

/// Most tests of a selector.
pub const SELECTOR_TERMS_MAX: usize = 10_000;

/// Most values in all lists of a selector.
pub const SELECTOR_VALUES_MAX: usize = 100_000;

/// Longest regular expression, in bytes.
pub const PATTERN_BYTES_MAX: usize = 4096;

/// Bytes that a compiled regular expression takes, and that its automaton may grow to.
pub const PATTERN_PROGRAM_BYTES_MAX: usize = 1024 * 1024;

/// Bytes that the compiled regular expressions of a selector take together; each counts as [`PATTERN_PROGRAM_BYTES`].
pub const SELECTOR_PROGRAMS_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The sizes at which a regular expression counts: the smallest in which it can be compiled.
pub const PATTERN_PROGRAM_BYTES: [usize; 4] = [16 * 1024, 64 * 1024, 256 * 1024, PATTERN_PROGRAM_BYTES_MAX];

/// About how many bytes a test of a selector takes.
pub const SELECTOR_TERM_BYTES: usize = 512;

/// Most conditions that are derived from one selector.
pub const NARROWED_CONDITIONS_MAX: usize = 64;

/// Longest JSON Schema of a collection, in bytes.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// Most regular expressions of a JSON Schema.
pub const SCHEMA_PATTERNS_MAX: usize = 256;

/// Most tests of one value by a JSON Schema.
pub const SCHEMA_TESTS_MAX: u64 = 100_000;

/// Characters of a document's problem, or of its place, that an error quotes.
pub const VIOLATION_CHARS_MAX: usize = 300;

/// Longest query of words, in bytes.
pub const TEXT_QUERY_BYTES_MAX: usize = 4096;

/// Most words and phrases of a query of words.
pub const TEXT_QUERY_CLAUSES_MAX: usize = 64;

/// Most different words that one document has in an index of words.
pub const TEXT_WORDS_MAX: usize = 50_000;

/// Bytes of a word that count; the rest of a longer one is ignored.
pub const TEXT_WORD_BYTES_MAX: usize = 64;

/// Most stages of a pipeline.
pub const PIPELINE_STAGES_MAX: usize = 32;

/// Bytes that the groups, the sorted rows and the answer of a pipeline may each hold in memory. Groups and rows beyond
/// it go to a temporary file of the store.
pub const PIPELINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most alternatives of a selector that are read through indexes one by one.
pub const ALTERNATIVES_MAX: usize = 64;

/// Most index rows whose ids may be combined by estimate; beyond, one index or every document is read.
pub const ID_SET_ROWS_MAX: u32 = 100_000;

/// Most bytes of ids that are combined; if there are more, every document is read.
pub const ID_SET_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Documents of a collection from which on statistics of its indexes are kept. In a smaller one, rows are counted.
pub const STATISTICS_DOCUMENTS_MIN: u64 = 2000;

/// If more than one in this many documents was changed since, statistics are gathered anew.
pub const STATISTICS_CHANGED_PART: u64 = 5;

/// Keys that the statistics of an index have, at least if there are this many; at most twice as many.
pub const STATISTICS_KEYS_MAX: usize = 128;

/// Bytes of each of these keys.
pub const STATISTICS_KEY_BYTES_MAX: usize = 64;

/// Rows of a range of an index without statistics that are counted for a choice between indexes.
pub const SAMPLED_ROWS_MAX: usize = 200;

/// Longest collated key of a row of a view, in bytes: with the longest id it makes the longest key of a row.
pub const VIEW_KEY_BYTES_MAX: usize = 5632;

/// Most rows that one document has in a view.
pub const VIEW_ROWS_PER_DOCUMENT_MAX: usize = 65_536;

/// Bytes of the rows that one document has in a view.
pub const VIEW_ROW_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Documents that one step of keeping a view maps at most.
pub const VIEW_STEP_DOCUMENTS: usize = 4000;

/// Documents that are worth a thread of their own.
pub const VIEW_DOCUMENTS_PER_THREAD_MIN: usize = 200;

/// About how many bytes of documents one step of keeping a view maps, on each thread of its mapper.
pub const VIEW_STEP_BYTES: usize = 1024 * 1024;

/// Bytes of rows that a read of a view adds to the kept ones.
pub const VIEW_OVERLAY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Rows of a view that are reduced at once.
pub const REDUCED_AT_ONCE_ROWS: usize = 1000;

/// About how many bytes of rows are reduced at once.
pub const REDUCED_AT_ONCE_BYTES: usize = 1024 * 1024;

/// How often a write is tried again because others wrote what it had read.
pub const WRITE_ATTEMPTS_MAX: u32 = 1000;

/// Keys and ranges of one tree whose reads a transaction remembers one by one; beyond, it depends on the whole tree.
pub const READS_REMEMBERED_MAX: usize = 65_536;

/// How far a time may be ahead of a clock and still be of another clock's past.
pub const CLOCKS_DIFFER_MICROS_MAX: u64 = 60_000_000;

/// Most documents that are fetched ahead for a write of many.
pub const IDS_AHEAD_MAX: usize = 16_384;

/// Rows of an index that are read ahead at first, so that their documents are fetched together. Each further read takes
/// four times as many.
pub const ROWS_AHEAD_FIRST: usize = 64;

/// Most rows of an index that are read ahead.
pub const ROWS_AHEAD_MAX: usize = 1024;

/// The same if the engine is in this process: what is fetched has to fit into the processor's nearest cache.
pub const ROWS_AHEAD_NEAR_FIRST: usize = 8;

/// Most of these.
pub const ROWS_AHEAD_NEAR_MAX: usize = 32;

/// Commits whose collections are remembered in memory, for feeds of the whole store.
pub const RECENT_COMMITS_MAX: usize = 4096;

/// Most documents that are erased at once.
pub const ERASED_IDS_MAX: usize = 1000;

/// Keys that the engine erases at once; further ones come in several steps.
pub const ERASED_KEYS_AT_ONCE: usize = 1 << 18;

/// Findings that a check of the store lists.
pub const CHECK_PROBLEMS_MAX: usize = 1000;

/// Changes that a feed reads at a time.
pub const CHANGES_PAGE: usize = 256;

/// Changes that a feed with a filter reads and tests at a time. If more lie ahead, an index is looked for.
pub const CHANGES_FILTERED_PAGE: usize = 1024;

/// Most documents that a feed takes from an index at once. If more match, every change is read.
pub const CHANGES_BY_INDEX_MAX: usize = 10_000;

/// Most duplicate values of an index that are listed, and most documents of each.
pub const DUPLICATES_MAX: usize = 1000;

/// Most ids in a feed's filter.
pub const CHANGES_IDS_MAX: usize = 100_000;

/// Documents that one step of an index build indexes at most; one step is one commit.
pub const BUILD_STEP_DOCUMENTS: usize = 1000;

/// About how many bytes of documents one step of an index build reads at most.
pub const BUILD_STEP_BYTES: usize = 8 * 1024 * 1024;

/// Documents that a `Loader` commits together.
pub const LOAD_BATCH_DOCUMENTS: usize = 1000;

/// About how many bytes of bodies a `Loader` commits together.
pub const LOAD_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of values and ids that a sort without an index holds in memory. The rest goes to a temporary file of the
/// store; a store without a disk refuses the query.
pub const SORT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes that one sort, or the groups of one aggregation, write to a temporary file.
pub const SPILL_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// Sorted runs of a temporary file that are merged at once. If there are more, these are first merged into one.
pub const SPILL_RUNS_MAX: usize = 64;

/// Bytes that are written to a temporary file at once, and read at once from each of its runs.
pub const SPILL_BUFFER_BYTES: usize = 64 * 1024;

/// Collections whose catalogue entries are kept in memory.
pub const CACHED_COLLECTIONS_MAX: usize = 4096;

/// Most operations of a JSON patch.
pub const PATCH_OPERATIONS_MAX: usize = 10_000;

/// Longest JSON pointer, in bytes.
pub const POINTER_BYTES_MAX: usize = 64 * 1024;

/// Most cells of the table in which the elements of two arrays are aligned. Larger arrays are compared element by
/// element if the lengths are equal, and as a whole if they are not.
pub const DIFF_CELLS_MAX: usize = 1024 * 1024;

/// About how many bytes the changes between two texts hold at most. If they would be more, they become one change of
/// the whole text.
pub const DIFF_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Most revisions in the tree of one document, ancestors included.
pub const REVISIONS_PER_DOCUMENT_MAX: usize = 50_000;

/// Most branches of one document: revisions that no other stands on, deletions included. Each write of the document
/// takes time in proportion to them.
pub const BRANCHES_PER_DOCUMENT_MAX: usize = 10_000;

/// Revisions of a document that its tree keeps, from each leaf downwards, unless the collection has another limit.
pub const REVS_LIMIT_DEFAULT: u32 = 1000;

/// The greatest limit that a collection can set.
pub const REVS_LIMIT_MAX: u32 = 10_000;

/// Purges that a collection's log of purges keeps, unless it has another limit.
pub const PURGES_LIMIT_DEFAULT: u32 = 1000;

/// The greatest limit that a collection can set.
pub const PURGES_LIMIT_MAX: u32 = 1_000_000;

/// Old entries of the log of purges that one purge deletes at most.
pub const PURGES_TAKEN_AT_ONCE: usize = 16;

/// Most attachments of one document.
pub const ATTACHMENTS_MAX: usize = 1000;

/// Longest name of an attachment, in bytes.
pub const ATTACHMENT_NAME_BYTES_MAX: usize = 1024;

/// Longest media type of an attachment, in bytes.
pub const ATTACHMENT_TYPE_BYTES_MAX: usize = 255;

/// Longest attachment as it is stored, in bytes: deleting it is one commit, with a row for each 64 KiB.
pub const ATTACHMENT_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// About how many bytes one commit of an upload writes. Smaller uploads wait in memory for their document.
pub const UPLOAD_STEP_BYTES: usize = 1024 * 1024;

/// Age in microseconds at which an upload that no document took is deleted: a day.
pub const UPLOAD_AGE_MICROS_MAX: u64 = 24 * 3600 * 1_000_000;

/// Microseconds between two looks for such uploads in a collection: an hour.
pub const SWEEP_PAUSE_MICROS: u64 = 3600 * 1_000_000;

/// Uploads that one look deletes at most.
pub const SWEEP_UPLOADS_MAX: usize = 100;

/// Chunks of them that one commit deletes.
pub const SWEEP_STEP_CHUNKS: usize = 256;

/// Longest cursor of a query, in characters: that of a sort in memory by many long values.
pub const CURSOR_CHARS_MAX: usize = 1024 * 1024;

/// Items that a stream reads at once, ahead of the task that polls it.
pub const ASYNC_BATCH_ITEMS: usize = 64;

/// Longest body, in bytes, of a write that
/// `write_in_place` decides on the task's
/// thread.
pub const SHORT_BODY_BYTES_MAX: usize = 64 * 1024;

/// Most commits of tasks that wait for the committer's thread; further ones wait as tasks.
pub const COMMITTER_QUEUE_MAX: usize = 1024;

/// About how many bytes of batches it commits together.
pub const COMMITTER_GROUP_BYTES: usize = 4 * 1024 * 1024;

/// How often a task's write is decided again, because others wrote what it had read, before it moves to a thread of the
/// pool, where later tries pause.
pub const COMMITTER_ATTEMPTS: u32 = 8;

/// Longest key of a namespace of keys, in bytes.
pub const KEY_BYTES_MAX: usize = 8000;

/// Bytes that a key whose value is rows says about them.
pub const ABOUT_ROWS_BYTES_MAX: usize = 64;

/// Longest key of one of these rows, in bytes.
pub const KEY_ROW_BYTES_MAX: usize = 8020;

/// Longest value of a key, in bytes.
pub const KEY_VALUE_BYTES_MAX: usize = 63 * 1024 * 1024;

/// Expired keys or documents that one commit deletes at most.
pub const EXPIRED_AT_ONCE: usize = 1000;

/// Microseconds before the last sweep at which the next one begins: a minute.
pub const SWEPT_AGAIN_MICROS: u64 = 60 * 1_000_000;

/// Keys that one commit of `Keys::clear` deletes at most.
pub const CLEARED_AT_ONCE: usize = 10_000;

/// Most unacknowledged messages of a consumer's group.
pub const UNACKNOWLEDGED_MAX: usize = 1000;

/// Bytes of documents from which on a consumer's further messages are handed out the next time.
pub const DELIVERED_BYTES_MAX: usize = 1024 * 1024;

/// Most documents in the result of a watched query.
pub const WATCHED_MAX: usize = 100_000;

/// Longest name of a topic, in bytes.
pub const TOPIC_BYTES_MAX: usize = 8000;

/// Longest message that is published, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most topics and patterns of one subscriber.
pub const SUBSCRIPTIONS_MAX: usize = 10_000;

/// Most messages that wait for one subscriber; it is told how many more there were.
pub const QUEUED_MESSAGES_MAX: usize = 1000;

/// Most bytes of messages that wait for one subscriber; a single message may be longer.
pub const QUEUED_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Most bytes of messages that wait for all subscribers of a store together. Beyond, those with the longest queues lose
/// theirs, and are told so.
pub const QUEUED_OF_ALL_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Most bytes of the names and patterns that one subscriber subscribes to.
pub const SUBSCRIPTION_BYTES_MAX: usize = 1024 * 1024;

/// Bytes that a subscription takes besides its name.
pub const SUBSCRIPTION_BYTES: usize = 256;

/// Most bytes that the subscriptions of all subscribers of a store take together, beyond a few of each.
pub const SUBSCRIPTIONS_OF_ALL_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest setting of a collection, in bytes.
pub const SETTING_BYTES_MAX: usize = 64 * 1024;

/// Rows of a block of a view after it was cut.
pub const VIEW_BLOCK_ROWS: usize = 256;

/// Most rows of a block of a view; beyond, it is cut.
pub const VIEW_BLOCK_ROWS_MAX: u64 = 768;

/// Bytes of reduced blocks that are remembered for one store.
pub const REDUCED_BLOCKS_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Views of a collection that are kept in the commits of its documents; others are kept behind them.
pub const VIEWS_IN_COMMIT_MAX: usize = 16;

/// Mappers of views that a store remembers for its commits.
pub const KNOWN_VIEWS_MAX: usize = 1024;

/// Rows that one commit writes into one view. A commit that would write more leaves the view behind.
pub const VIEW_ROWS_PER_COMMIT_MAX: usize = 100_000;

/// Versions of a setting that are read.
pub const SETTING_VERSIONS_MAX: usize = 1000;
