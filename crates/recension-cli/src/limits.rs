//! Every bound of the command line in one place. Input beyond a bound is refused with a message that names the bound.
//! Only the display of a table is cut short, and it says so.

/// Number of documents that are looked at to guess what a condition meant, or which columns a table has.
pub const DOCUMENTS_LOOKED_AT: usize = 100;

/// Bytes read from an input at once.
pub const BLOCK_BYTES: usize = 256 * 1024;

/// How deep JSON may nest: the bound of the documents layer.
pub const DEPTH_MAX: usize = recension::limits::JSON_DEPTH_MAX;

/// Bytes of an input that is read twice that are kept in memory. The rest goes to a temporary file.
pub const SPOOL_MEMORY_BYTES: usize = 4 * 1024 * 1024;

/// Longest document or CSV record of an import, in bytes: the bound of the documents layer.
pub const RECORD_BYTES_MAX: usize = recension::limits::JSON_BYTES_MAX;

/// Most columns of a CSV file.
pub const COLUMNS_MAX: usize = 4096;

/// Widest cell of a table, in characters, if the terminal's width is not known.
pub const CELL_WIDTH_MAX: usize = 40;

/// Most columns of a table. It shows the members that the most documents have.
pub const TABLE_COLUMNS_MAX: usize = 8;

/// Rows of a table if no limit was asked for.
pub const TABLE_ROWS: usize = 25;

/// Most rows of a table. They are held in memory to find the widths.
pub const TABLE_ROWS_MAX: usize = 100_000;

/// How often a change is retried after another writer came between.
pub const RETRIES_MAX: u32 = 100;

/// Longest command of a shell's script, in bytes: the longest document and the words around it.
pub const LINE_BYTES_MAX: usize = RECORD_BYTES_MAX + 64 * 1024;

/// Lines that a shell remembers.
pub const HISTORY_LINES: usize = 10_000;

/// Most words that a shell offers to complete a line with.
pub const COMPLETIONS_MAX: usize = 200;

/// Documents whose members a shell offers as completions.
pub const COMPLETION_SAMPLE: usize = 20;

/// Bytes of the attachments of one document that an export writes inline. In base64 they are short enough to be
/// imported again.
pub const INLINE_BYTES_MAX: u64 = 40 * 1024 * 1024;

/// Characters of a text that are shown around words which were asked for, about.
pub const HIGHLIGHT_CHARS: usize = 100;
