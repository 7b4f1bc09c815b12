//! Ids and secrets of random bits.

use http::StatusCode;

use super::password::hex;
use recension_wire::error::{ApiError, Result};

/// A UUID: 32 random hexadecimal digits.
pub fn new_uuid() -> String {
    let mut bytes = [0; 16];
    // If the system has no randomness, nothing else works either; the store then refuses equal ids.
    let _ = getrandom::fill(&mut bytes);
    hex(&bytes)
}

/// A secret: 256 random bits as 64 hexadecimal digits.
///
/// # Errors
/// 500 if the system gives no randomness.
pub(crate) fn new_secret() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        let reason = format!("the system gives no random numbers: {error}");
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", reason)
    })?;
    Ok(hex(&bytes))
}
