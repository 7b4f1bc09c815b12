//! Every bound of the command line in one place. What is beyond one is refused with a message that
//! names it; nothing is cut short silently but the display of a table, which says so.

/// Bytes read from an input at once.
pub const BLOCK_BYTES: usize = 256 * 1024;

/// How deep JSON may nest.
pub const DEPTH_MAX: usize = 128;

/// Longest document or CSV record of an import, in bytes.
pub const RECORD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Most columns of a CSV file.
pub const COLUMNS_MAX: usize = 4096;

/// Documents that an import commits at once: few enough that an interrupted import has lost nothing
/// worth naming, and enough that the sync of a commit is a small part of its cost.
pub const BATCH_DOCUMENTS: usize = 1000;

/// Bytes after which an import commits, whatever the number of documents.
pub const BATCH_BYTES: usize = 4 * 1024 * 1024;

/// Widest cell of a table, in characters, where the terminal does not say.
pub const CELL_WIDTH_MAX: usize = 40;

/// Most columns of a table: the members that the most documents have.
pub const TABLE_COLUMNS_MAX: usize = 8;
