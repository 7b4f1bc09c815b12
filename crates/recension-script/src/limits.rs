//! Every bound of scripts in one place.

use std::time::Duration;

/// Bytes that the JavaScript of one worker may hold.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of its stack.
pub const SCRIPT_STACK_BYTES_MAX: usize = 512 * 1024;

/// Bytes of a worker's address space: the memory above, frames, and the program itself.
pub const WORKER_ADDRESS_BYTES_MAX: u64 = 2 * 1024 * 1024 * 1024;

/// Design documents that a worker keeps loaded.
pub const WORLDS_PER_WORKER_MAX: usize = 16;

/// How long a request may run by default, as CouchDB's `os_process_timeout`.
pub const DEADLINE_DEFAULT: Duration = Duration::from_secs(5);

/// How long a request waits for a free worker.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How long a function that ran past its deadline is not run again; each time twice as long as before.
pub const OVERRUN_REST: Duration = Duration::from_secs(5);

/// The longest of these times.
pub const OVERRUN_REST_MAX: Duration = Duration::from_mins(5);

/// Functions of which it is remembered that they ran past their deadline.
pub const OVERRUNS_MAX: usize = 1000;

/// How often a worker checks whether the server is still there.
pub const PARENT_WATCHED_EVERY: Duration = Duration::from_secs(1);
