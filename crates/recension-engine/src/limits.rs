//! Every bound of the library in one place. Input beyond a bound is refused with an error that names
//! the bound; nothing is cut short silently.

/// Longest key of a row, in bytes.
pub const KEY_BYTES_MAX: usize = 8 * 1024;

/// Longest value of a row, in bytes.
pub const VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest key of a row as engines below a branch see it.
pub const STORED_KEY_BYTES_MAX: usize = KEY_BYTES_MAX + crate::branch_rows::PREFIX_BYTES;

/// Longest value of a row as engines below a branch see it.
pub const STORED_VALUE_BYTES_MAX: usize = VALUE_BYTES_MAX + crate::branch_rows::MARK_BYTES;

/// Largest batch, in bytes of keys and values.
pub const BATCH_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Most rows in one batch.
pub const BATCH_ROWS_MAX: usize = 4 * 1024 * 1024;

/// Most standing rules of retention in a store.
pub const RETENTION_RULES_MAX: usize = 4096;

/// Most keys that are erased and not settled yet.
pub const ERASED_KEYS_MAX: usize = 2 * 1024 * 1024;

/// Most bytes of these keys.
pub const ERASED_BYTES_MAX: usize = 96 * 1024 * 1024;
