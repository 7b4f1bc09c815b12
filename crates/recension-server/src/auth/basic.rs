//! `Authorization: Basic`: a name and a password with every request.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::Identity;
use crate::error::{ApiError, Result};
use crate::state::App;

/// Who the header says it is; `None` where there is none.
pub(super) fn identify(app: &App, headers: &HeaderMap) -> Result<Option<Identity>> {
    let Some((name, password)) = credentials(headers) else { return Ok(None) };
    if app.admins.is_empty() {
        return Ok(None);
    }
    if app.admins.verify(&name, &password) {
        return Ok(Some(Identity::server_admin(&name)));
    }
    // `users.rs` comes here: names in _users.
    Err(ApiError::bad_password())
}

fn credentials(headers: &HeaderMap) -> Option<(String, String)> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(BASE64_STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}
