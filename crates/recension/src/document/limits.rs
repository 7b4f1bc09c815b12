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

/// Longest encoded values of an entry of an index, in bytes: with the longest id they are a longest key of a row.
pub const INDEX_VALUE_BYTES_MAX: usize = 6144;

/// Most indexes of one collection.
pub const INDEXES_MAX: usize = 256;

/// Most paths of one index.
pub const INDEX_PARTS_MAX: usize = 16;

/// Most entries that one document has in one index.
pub const INDEX_ENTRIES_MAX: usize = 1000;

/// Longest filter of an index, in bytes of its paths and values.
pub const INDEX_FILTER_BYTES_MAX: usize = 16 * 1024;

/// Bytes of values' texts that a row of an index holds, where its key does not give them.
pub const INDEX_TEXTS_BYTES_MAX: usize = 4096;

/// Most ranges of one condition, and of keys that one query reads of an index.
pub const RANGES_MAX: usize = 1000;

/// Most conditions of a query, and most paths that it sorts by or selects.
pub const QUERY_PATHS_MAX: usize = 256;

/// Rows of a range of an index that are counted for a choice between indexes.
pub const SAMPLED_ROWS_MAX: usize = 200;

/// How often a write is tried again because others wrote what it had read.
pub const WRITE_ATTEMPTS_MAX: u32 = 1000;

/// Keys and ranges of one tree whose reading a transaction remembers one by one; beyond, it depends on the
/// whole tree.
pub const READS_REMEMBERED_MAX: usize = 65_536;

/// Commits whose collections are remembered in memory, for feeds of the whole store.
pub const RECENT_COMMITS_MAX: usize = 4096;

/// Findings that a check of the store lists.
pub const CHECK_PROBLEMS_MAX: usize = 1000;

/// Changes that a feed reads at a time.
pub const CHANGES_PAGE: usize = 256;

/// Changes that a feed with a filter reads and tests at a time. Where more lie ahead, an index is looked for.
pub const CHANGES_FILTERED_PAGE: usize = 1024;

/// Most documents that a feed takes from an index at once. Where more match, every change is read.
pub const CHANGES_BY_INDEX_MAX: usize = 10_000;

/// Most values of an index that are listed as had by several documents, and most documents of each.
pub const DUPLICATES_MAX: usize = 1000;

/// Most ids that a feed can be of.
pub const CHANGES_IDS_MAX: usize = 100_000;

/// Documents that one step of an index build indexes at most; one step is one commit.
pub const BUILD_STEP_DOCUMENTS: usize = 1000;

/// Bytes of documents that one step of an index build reads at most, about.
pub const BUILD_STEP_BYTES: usize = 8 * 1024 * 1024;

/// Documents that a [`Loader`](super::Loader) commits together.
pub const LOAD_BATCH_DOCUMENTS: usize = 1000;

/// Bytes of bodies that a [`Loader`](super::Loader) commits together, about.
pub const LOAD_BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Bytes of values and ids that a sort without an index may hold in memory.
pub const SORT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Collections whose catalogue entries are kept in memory.
pub const CACHED_COLLECTIONS_MAX: usize = 4096;

/// Most operations of a JSON patch.
pub const PATCH_OPERATIONS_MAX: usize = 10_000;

/// Longest JSON pointer, in bytes.
pub const POINTER_BYTES_MAX: usize = 64 * 1024;

/// Cells of the table in which the elements of two arrays are aligned, at most; beyond it an array is
/// compared element by element where the lengths are equal, and as a whole where they are not.
pub const DIFF_CELLS_MAX: usize = 1024 * 1024;

/// Bytes that the changes between two texts hold at most, about; where it would be more, they are one change
/// of the whole text.
pub const DIFF_BYTES_MAX: usize = 128 * 1024 * 1024;

/// Most revisions in the tree of one document, ancestors included.
pub const REVISIONS_PER_DOCUMENT_MAX: usize = 50_000;

/// Revisions of a document that its tree keeps, from each leaf downwards, where a collection says nothing else.
pub const REVS_LIMIT_DEFAULT: u32 = 1000;

/// The greatest number of those that a collection can ask for.
pub const REVS_LIMIT_MAX: u32 = 10_000;

/// Purges that a collection's log of purges keeps where it says nothing else.
pub const PURGES_LIMIT_DEFAULT: u32 = 1000;

/// The greatest number of those that a collection can ask for.
pub const PURGES_LIMIT_MAX: u32 = 1_000_000;

/// Old entries of the log of purges that one purge takes away at most.
pub const PURGES_TAKEN_AT_ONCE: usize = 16;

/// Most attachments of one document.
pub const ATTACHMENTS_MAX: usize = 1000;

/// Longest name of an attachment, in bytes.
pub const ATTACHMENT_NAME_BYTES_MAX: usize = 1024;

/// Longest media type of an attachment, in bytes.
pub const ATTACHMENT_TYPE_BYTES_MAX: usize = 255;

/// Longest attachment as it is stored, in bytes: deleting it is one commit, with a row for each 64 KiB.
pub const ATTACHMENT_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;

/// Bytes that one commit of an upload writes, about. Smaller uploads wait in memory for their document.
pub const UPLOAD_STEP_BYTES: usize = 1024 * 1024;

/// Age in microseconds at which an upload that no document was given is taken away: a day.
pub const UPLOAD_AGE_MICROS_MAX: u64 = 24 * 3600 * 1_000_000;

/// Microseconds between two looks for such uploads in a collection: an hour.
pub const SWEEP_PAUSE_MICROS: u64 = 3600 * 1_000_000;

/// Uploads that one look takes away at most.
pub const SWEEP_UPLOADS_MAX: usize = 100;

/// Chunks that one commit takes away of them.
pub const SWEEP_STEP_CHUNKS: usize = 256;

/// Longest cursor of a query, in characters. The longest is of a sort by many long values in memory.
pub const CURSOR_CHARS_MAX: usize = 1024 * 1024;

/// Items that a stream reads at once, ahead of the task that polls it.
pub const ASYNC_BATCH_ITEMS: usize = 64;

/// Longest body, in bytes, of a write that [`write_in_place`](super::asynchronous::AsyncCollection::write_in_place) decides
/// where the task runs.
pub const SHORT_BODY_BYTES_MAX: usize = 64 * 1024;

/// Commits of tasks that wait for the thread that makes them, at most; more wait as tasks.
pub const COMMITTER_QUEUE_MAX: usize = 1024;

/// Bytes of batches that it commits together, about.
pub const COMMITTER_GROUP_BYTES: usize = 4 * 1024 * 1024;

/// How often a write of a task is decided again, because others wrote what it had read, before it is given a thread, on which
/// later tries leave the others some time.
pub const COMMITTER_ATTEMPTS: u32 = 8;

/// Longest setting of a collection, in bytes.
pub const SETTING_BYTES_MAX: usize = 64 * 1024;
