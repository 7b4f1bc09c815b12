//! API tokens: programs show them instead of a name and a password. A token is for some databases and a right, it may
//! end, and it can be revoked. The store has its SHA-256 only: a token is 32 random bytes, which nobody guesses.
//!
//! Tokens are keys of a namespace that keeps no history: the key is the hash, the value JSON. A token that has ended
//! expires by itself.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use recension::engine::{Seq, Timestamp};
use recension::{Error, Expiry, Glob, KeyEntry, SetOptions, Store, format_time};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::realm::Realm;
pub use super::scope::Rights;
use super::scope::Scope;
use crate::identity::Identity;
use recension_wire::error::{ApiError, Result};

/// The namespace of the tokens.
const NAMESPACE: &str = "_tokens";
/// The beginning of every token, so that people and tools recognise one.
const PREFIX: &str = "rec_";
/// Most tokens of a store.
const TOKENS_MAX: usize = 10_000;
/// Longest name, and longest pattern of databases, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// Most patterns of one token.
const DATABASES_MAX: usize = 100;

/// A token without its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiToken {
    /// The id by which it is revoked.
    pub id: String,
    /// Its purpose, in its maker's words.
    pub name: String,
    /// The databases: names, or patterns with `*`.
    pub databases: Vec<String>,
    /// What it lets its bearer do there.
    pub rights: Rights,
    /// When it was made.
    pub created: String,
    /// When it ends, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A token that is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// Its purpose.
    pub name: String,
    /// Names or patterns of databases.
    pub databases: Vec<String>,
    /// What it lets its bearer do.
    pub rights: Rights,
    /// The time after which it ends; `None`: never.
    pub ends_after: Option<Duration>,
}

impl Wanted {
    fn check(&self) -> recension::Result<()> {
        let bad = |expected| Err(Error::BadField { field: "token", expected });
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX || self.name.chars().any(char::is_control) {
            return bad("given a name of 1 to 256 bytes, without control characters");
        }
        let is_pattern = |pattern: &String| !pattern.is_empty() && pattern.len() <= NAME_BYTES_MAX;
        if self.databases.len() > DATABASES_MAX || !self.databases.iter().all(is_pattern) {
            return bad("for at most a hundred databases, each a name or a pattern");
        }
        if self.databases.iter().any(|name| name.contains('@')) {
            return bad("for databases of the main line: one for a database is for it on every branch");
        }
        let is_of_server = matches!(self.rights, Rights::Server | Rights::Metrics);
        if is_of_server && !self.databases.is_empty() {
            return bad("for no database in particular if its rights are server or metrics");
        }
        if !is_of_server && self.databases.is_empty() {
            return bad("for at least one database; * is all of them");
        }
        Ok(())
    }
}

fn chance(bytes: usize) -> recension::Result<Vec<u8>> {
    let mut chance = vec![0; bytes];
    getrandom::fill(&mut chance).map_err(|error| {
        Error::from(recension::engine::EngineError::io(
            "asking for random bytes",
            std::io::Error::other(error.to_string()),
        ))
    })?;
    Ok(chance)
}

/// An id that a command line takes (`token revoke`): one that began with `-` would be read as an option.
fn id() -> recension::Result<String> {
    loop {
        let id = BASE64_URL_SAFE_NO_PAD.encode(chance(9)?);
        if !id.starts_with('-') {
            return Ok(id);
        }
    }
}

/// Makes a token. Its text is returned this once, and kept nowhere.
///
/// # Errors
/// [`Error::BadField`] for a token that cannot be made, and if there are too many.
pub fn create(store: &Store, wanted: &Wanted) -> recension::Result<(String, ApiToken)> {
    wanted.check()?;
    if list(store)?.len() >= TOKENS_MAX {
        return Err(Error::BadField { field: "token", expected: "one of at most 10,000; revoke some" });
    }
    let text = format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(chance(32)?));
    let id = id()?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let ends = wanted.ends_after.map(|after| now.saturating_add(after));
    let micros = |since: Duration| Timestamp(u64::try_from(since.as_micros()).unwrap_or(u64::MAX));
    let token = ApiToken {
        id,
        name: wanted.name.clone(),
        databases: wanted.databases.clone(),
        rights: wanted.rights,
        created: format_time(micros(now)),
        expires: ends.map(|ends| format_time(micros(ends))),
    };
    let value =
        serde_json::to_string(&token).map_err(|_| Error::BadField { field: "token", expected: "what JSON can say" })?;
    let expiry = ends.map_or(Expiry::Never, |ends| Expiry::At(micros(ends)));
    store.keys(NAMESPACE)?.set_with(hash(&text), value, &SetOptions::new().expiry(expiry))?;
    Ok((text, token))
}

/// All tokens that have not ended.
///
/// # Errors
/// Those of the store.
pub fn list(store: &Store) -> recension::Result<Vec<ApiToken>> {
    Ok(kept(store)?.into_iter().map(|(_, token)| token).collect())
}

fn kept(store: &Store) -> recension::Result<Vec<(Vec<u8>, ApiToken)>> {
    let entries = store.keys(NAMESPACE)?.scan("", None, TOKENS_MAX + 1)?;
    entries.into_iter().map(|(key, entry)| Ok((key, read(entry)?))).collect()
}

fn read(entry: KeyEntry) -> recension::Result<ApiToken> {
    serde_json::from_slice(&entry.value.into_bytes())
        .map_err(|_| Error::DamagedRow { what: "an API token".to_owned(), why: "it does not read" })
}

/// Revokes a token; returns whether there was one. From now on it opens nothing.
///
/// # Errors
/// Those of the store.
pub fn revoke(store: &Store, id: &str) -> recension::Result<bool> {
    let keys = store.keys(NAMESPACE)?;
    let mut revoked = false;
    for (key, _) in kept(store)?.into_iter().filter(|(_, token)| token.id == id) {
        revoked |= keys.remove(key)?.is_some();
    }
    Ok(revoked)
}

fn hash(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

/// A token that was shown, by its hash.
#[derive(Clone)]
pub struct Shown(Arc<[u8]>);

/// Reads a bearer's text, if it is a token of ours.
pub(super) fn shown(text: &str) -> Option<Shown> {
    text.starts_with(PREFIX).then(|| Shown(hash(text).into()))
}

/// The holder of a token, now.
///
/// # Errors
/// 401 if there is none, or it has ended or was revoked.
pub(super) fn ask(realm: &Realm, shown: &Shown) -> Result<Option<Known>> {
    let entry = realm.databases.own_keys(NAMESPACE)?.entry(&shown.0)?;
    let Some(entry) = entry else { return Err(ApiError::bad_token()) };
    let until = entry.expires.map(|expires| expires.0.div_ceil(1_000_000));
    let token = read(entry)?;
    let name = format!("token:{}", token.name);
    if token.rights == Rights::Server {
        let identity = Arc::new(Identity::server_admin(&name));
        return Ok(Some(Known { until, ..Known::as_long_as_it_stands(identity) }));
    }
    let databases = token.databases.iter().map(Glob::new).collect();
    let scope = Arc::new(Scope { databases, rights: token.rights });
    let identity = Arc::new(Identity { name: Some(name), roles: Vec::new() });
    Ok(Some(Known { until, scope: Some(scope), ..Known::as_long_as_it_stands(identity) }))
}

/// The commit that made the token; `None` if it is gone.
pub(super) fn made_at(realm: &Realm, shown: &Shown) -> Result<Option<Seq>> {
    Ok(realm.databases.own_keys(NAMESPACE)?.entry(&shown.0)?.map(|entry| entry.seq))
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_id_can_be_typed_as_an_argument() {
        for _ in 0..2_000 {
            let id = super::id().unwrap();
            assert!(id.len() == 12 && !id.starts_with('-'), "{id}");
        }
    }
}
