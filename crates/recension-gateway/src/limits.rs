//! The bounds of what a web server may send.

/// Bytes of a request's variables, with their names.
pub const ENVIRONMENT_BYTES_MAX: usize = 256 * 1024;

/// Variables of a request.
pub const VARIABLES_MAX: usize = 1000;

/// Requests that one connection of FastCGI may have under way. Further ones get the answer that it is overloaded.
pub const REQUESTS_MAX: usize = 64;

/// Digits of a length in SCGI.
pub const DIGITS_MAX: usize = 7;
