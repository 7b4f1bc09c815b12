//! `Authorization: Basic`: a name and a password with every request.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::throttle::Address;
use super::{Identity, credentials};
use crate::error::Result;
use crate::state::App;

/// Who the header says it is; `None` where there is none.
pub(super) async fn identify(app: &App, address: Address, headers: &HeaderMap) -> Result<Option<Identity>> {
    let Some((name, password)) = pair(headers) else { return Ok(None) };
    Ok(Some(credentials::check(app, address, &name, &password).await?.identity))
}

/// Both of them empty is nobody, as for CouchDB.
fn pair(headers: &HeaderMap) -> Option<(String, String)> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
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
