//! `Authorization: Basic`: a name and a password with every request.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::connection::Connection;
use super::log_in;
use super::realm::Realm;
use super::users::Account;
use recension_wire::error::{ApiError, Result};

/// The account of the header; `None` if there is no header.
pub(super) async fn identify(
    realm: &Realm,
    connection: &Connection,
    headers: &HeaderMap,
) -> Result<Option<Arc<Account>>> {
    let Some(header) = headers.get(AUTHORIZATION) else { return Ok(None) };
    if let Some(account) = connection.recall(realm, header)? {
        return Ok(Some(account));
    }
    let Some((name, password)) = pair(header)? else { return Ok(None) };
    // This runs once a connection and is slow: its future need not be a part of every request's.
    let account = Arc::new(Box::pin(log_in::check(realm, connection.address(), &name, &password)).await?);
    connection.remember(header, &account);
    Ok(Some(account))
}

/// The name and the password. If both are empty, or the scheme is another one, it is nobody, as for CouchDB.
///
/// # Errors
/// 400 for what is not base64: who sends a password is never taken for nobody.
fn pair(header: &HeaderValue) -> Result<Option<(String, String)>> {
    let Some((scheme, encoded)) = header.to_str().ok().and_then(|text| text.split_once(' ')) else { return Ok(None) };
    if !scheme.eq_ignore_ascii_case("basic") {
        return Ok(None);
    }
    let wrong = |_| ApiError::bad_request("Authorization header has invalid base64 value");
    let bytes = BASE64_STANDARD.decode(encoded.trim()).map_err(wrong)?;
    // No user has a name or password that is not UTF-8.
    let decoded = String::from_utf8_lossy(&bytes);
    let (name, password) = decoded.split_once(':').unwrap_or((&decoded, ""));
    Ok(Some((name.to_owned(), password.to_owned()))
        .filter(|(name, password)| !(name.is_empty() && password.is_empty())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_that_does_not_read_is_not_taken_for_nobody() {
        let read = |text: &'static str| pair(&HeaderValue::from_static(text));
        assert_eq!(read("Basic YW5uOnNlY3JldA==").unwrap(), Some(("ann".to_owned(), "secret".to_owned())));
        assert_eq!(read("basic /w==").unwrap(), Some(("\u{fffd}".to_owned(), String::new())));
        for nobody in ["Basic Og==", "Bearer x", "Foo x", "x"] {
            assert_eq!(read(nobody).unwrap(), None, "{nobody}");
        }
        for wrong in ["Basic !!", "Basic YW5u:", "Basic YQ=x"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
