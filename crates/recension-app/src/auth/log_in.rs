//! From a name and a password to an account, and the note of those who were not let in.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use http::StatusCode;

use super::realm::Realm;
use super::users::{self, Account};
use crate::identity::password::Verifier;
use recension_wire::arriving::Address;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::REMEMBERED_SECONDS;

/// The account of a name and a password.
///
/// # Errors
/// 401 if there is no such user, or the password is another; 429 after too many attempts.
pub async fn check(realm: &Realm, address: Address, name: &str, password: &str) -> Result<Account> {
    let checked = check_quietly(realm, address, name, password).await;
    if let Err(refusal) = &checked {
        note_failure(realm, address, Some(name), refusal);
    }
    checked
}

/// Notes that somebody was not let in, for the operator.
pub(super) fn note_failure(realm: &Realm, address: Address, name: Option<&str>, refusal: &ApiError) {
    if matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS) {
        realm.failed_log_ins.inc();
        realm.credentials.failed.note(address, name, refusal);
    }
}

async fn check_quietly(realm: &Realm, address: Address, name: &str, password: &str) -> Result<Account> {
    let own = &realm.credentials;
    let account = users::find(realm, name)?;
    let digest = account.as_ref().map(|account| own.digest(name, password, &account.verifier));
    let fresh = Duration::from_secs(REMEMBERED_SECONDS);
    if let (Some(account), Some(digest)) = (&account, &digest)
        && own.remembered.get(digest).is_some_and(|since| since.elapsed() < fresh)
    {
        own.known.fetch_add(1, Ordering::Relaxed);
        return Ok(account.clone());
    }
    let wait = own.throttle.admit(address, name, Instant::now()).ok_or_else(ApiError::too_many_attempts)?;
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    // A name that does not exist takes as long to refuse as one that does.
    let nobody = || Verifier::nobody(realm.settings.live().password_iterations);
    let verifier = account.as_ref().map_or_else(nobody, |account| account.verifier.clone());
    let password = password.to_owned();
    let fits = own.hash(move || verifier.verify(&password)).await?;
    match (account.filter(|_| fits), digest) {
        (Some(account), Some(digest)) => {
            own.throttle.succeeded(address, name);
            own.remembered.insert(digest, Instant::now());
            Ok(account)
        }
        _ => Err(ApiError::bad_password()),
    }
}
