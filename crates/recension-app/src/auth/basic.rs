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
use recension_wire::error::Result;

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
    let Some((name, password)) = pair(header) else { return Ok(None) };
    // This runs once a connection and is slow: its future need not be a part of every request's.
    let account = Arc::new(Box::pin(log_in::check(realm, connection.address(), &name, &password)).await?);
    connection.remember(header, &account);
    Ok(Some(account))
}

/// If both are empty, it is nobody, as for CouchDB.
fn pair(header: &HeaderValue) -> Option<(String, String)> {
    let text = header.to_str().ok()?;
    let (scheme, encoded) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (name, password) = decoded.split_once(':').unwrap_or((&decoded, ""));
    if name.is_empty() && password.is_empty() {
        return None;
    }
    Some((name.to_owned(), password.to_owned()))
}
