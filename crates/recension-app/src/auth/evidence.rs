//! What a request shows about its sender: a cookie, a token, a name with its password, or nothing. [`Evidence::ask`]
//! finds out what it is worth. Requests ask once, feeds again and again, by the same code.

use std::sync::Arc;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use recension::engine::Seq;

use super::known::{Known, unix_seconds};
use super::realm::Realm;
use super::sessions::{self, Claim};
use super::tokens;
use super::users::{self, Account};
use crate::identity::jwt::Holder;
use recension_wire::error::{ApiError, Result};

/// What was shown. It holds no password.
#[derive(Clone)]
pub(super) enum Evidence {
    Cookie(Arc<Claim>),
    Token(Arc<str>),
    ApiToken(tokens::Shown),
    /// An account whose password was right.
    Password(Arc<Account>),
    Nothing,
}

impl std::fmt::Debug for Evidence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The cookie or the token is left out: its holder is let in.
        write!(f, "Evidence({:?})", self.handler())
    }
}

impl Evidence {
    /// The identity, now; `None` if the evidence counts as nothing. It reads a row, or none.
    ///
    /// # Errors
    /// 401 if it does not hold.
    pub(super) fn ask(&self, realm: &Realm) -> Result<Option<Known>> {
        self.ask_at(realm, unix_seconds())
    }

    /// The same, for a cookie as of a second.
    pub(super) fn ask_at(&self, realm: &Realm, seconds: u64) -> Result<Option<Known>> {
        match self {
            Evidence::Cookie(claim) => sessions::ask(realm, claim, seconds),
            Evidence::Token(token) => token_holder(realm, token),
            Evidence::ApiToken(token) => tokens::ask(realm, token),
            Evidence::Password(account) => {
                let identity = users::still(realm, account)?.ok_or_else(ApiError::bad_password)?;
                Ok(Some(Known::as_long_as_it_stands(identity)))
            }
            Evidence::Nothing => Ok(None),
        }
    }

    /// The kind of evidence, in CouchDB's words.
    pub(super) fn handler(&self) -> Option<&'static str> {
        match self {
            Evidence::Cookie(_) => Some("cookie"),
            Evidence::Token(_) => Some("jwt"),
            Evidence::ApiToken(_) => Some("token"),
            Evidence::Password(_) => Some("default"),
            Evidence::Nothing => None,
        }
    }

    /// The name that is looked up.
    pub(super) fn user(&self) -> Option<&str> {
        match self {
            Evidence::Cookie(claim) => Some(&claim.name),
            Evidence::Password(account) => account.identity.name.as_deref(),
            Evidence::Token(_) | Evidence::ApiToken(_) | Evidence::Nothing => None,
        }
    }

    /// The commit of the row that is looked up, if one is.
    pub(super) fn written_at(&self, realm: &Realm) -> Result<Option<Seq>> {
        match self {
            Evidence::ApiToken(token) => tokens::made_at(realm, token),
            _ => self.user().map_or(Ok(None), |name| users::written_at(realm, name)),
        }
    }
}

/// What a request shows, in the order in which it counts: the cookie, then the token.
///
/// # Errors
/// 400 for a cookie that cannot be read.
pub(super) fn shown(headers: &HeaderMap) -> Result<impl Iterator<Item = Evidence>> {
    let cookie = sessions::shown(headers)?.map(|claim| Evidence::Cookie(Arc::new(claim)));
    Ok(cookie.into_iter().chain(bearer(headers)))
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<Evidence> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let bearer = |text: &str| tokens::shown(text).map_or_else(|| Evidence::Token(text.into()), Evidence::ApiToken);
    scheme.eq_ignore_ascii_case("bearer").then(|| bearer(token.trim()))
}

/// The identity of a JSON web token; `None` if no keys are set.
fn token_holder(realm: &Realm, token: &str) -> Result<Option<Known>> {
    let live = realm.settings.live();
    if live.jwt.is_empty() {
        return Ok(None);
    }
    let Holder { identity, until } = live.jwt.holder(token, unix_seconds())?;
    Ok(Some(Known { identity: identity.into(), renewed: None, until, scope: None }))
}
