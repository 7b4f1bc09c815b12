//! What a request shows about its sender: a cookie, a token, a name with its password, or nothing. [`Evidence::ask`]
//! finds out what it is worth. Requests ask once, feeds again and again, by the same code.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use recension::engine::Seq;

use super::sessions::Claim;
use super::users::Account;
use super::{Identity, jwt, sessions, tokens, users};
use crate::error::{ApiError, Result};
use crate::state::App;

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

/// What it is worth at the moment.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) identity: Arc<Identity>,
    /// A new cookie that prolongs the session.
    pub(super) renewed: Option<String>,
    /// The second since 1970 from which on the evidence is worth nothing.
    pub(super) until: Option<u64>,
    /// What an API token confines its bearer to.
    pub(super) scope: Option<Arc<tokens::Scope>>,
}

impl Known {
    /// Knowledge without an end of its own.
    pub(super) fn as_long_as_it_stands(identity: Arc<Identity>) -> Self {
        Known { identity, renewed: None, until: None, scope: None }
    }
}

impl Evidence {
    /// The identity, now; `None` if the evidence counts as nothing. It reads a row, or none.
    ///
    /// # Errors
    /// 401 if it does not hold.
    pub(super) fn ask(&self, app: &App) -> Result<Option<Known>> {
        match self {
            Evidence::Cookie(claim) => sessions::ask(app, claim),
            Evidence::Token(token) => jwt::ask(app, token),
            Evidence::ApiToken(token) => tokens::ask(app, token),
            Evidence::Password(account) => {
                let identity = users::still(app, account)?.ok_or_else(ApiError::bad_password)?;
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
    pub(super) fn written_at(&self, app: &App) -> Result<Option<Seq>> {
        match self {
            Evidence::ApiToken(token) => tokens::made_at(app, token),
            _ => self.user().map_or(Ok(None), |name| users::written_at(app, name)),
        }
    }
}

/// Seconds since the beginning of 1970.
pub(super) fn unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
