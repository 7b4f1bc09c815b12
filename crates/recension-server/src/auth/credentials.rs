//! From a name and a password to an account. Passwords are slow to check on purpose: a few are checked at a time, on
//! threads that may be busy. Those that were right lately are remembered by a keyed hash of the password and of the
//! verifier that it was checked against. A changed user document is therefore checked anew at once, without any notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::StatusCode;
use quick_cache::sync::Cache;
use ring::hmac;
use tokio::sync::Semaphore;

use super::failed_log_ins::FailedLogIns;
use super::password::Verifier;
use super::throttle::{Address, Throttle};
use super::users::{self, Account};
use crate::error::{ApiError, Result};
use crate::limits::{HASHING_MAX, HASHING_WAITING_MAX, REMEMBERED_MAX, REMEMBERED_SECONDS};
use crate::state::App;

/// What checking passwords needs.
pub(crate) struct Credentials {
    remembered: Cache<Box<[u8]>, Instant>,
    key: hmac::Key,
    throttle: Throttle,
    failed: FailedLogIns,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    /// With nobody remembered, and a key of chance that lives as long as the process.
    pub(crate) fn new() -> Result<Self> {
        let secret = crate::databases::new_secret()?;
        Ok(Credentials {
            remembered: Cache::new(REMEMBERED_MAX),
            key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()),
            throttle: Throttle::default(),
            failed: FailedLogIns::default(),
            places: Arc::new(Semaphore::new(HASHING_MAX)),
            waiting: AtomicUsize::new(0),
        })
    }

    /// Who counts attempts.
    #[cfg(feature = "redis")]
    pub(super) fn throttle(&self) -> &Throttle {
        &self.throttle
    }

    /// Runs slow work on passwords, a few at a time.
    pub(crate) async fn hash<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _waiting = Waiting::among(&self.waiting)?;
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| ApiError::stopping())?;
        let done = tokio::task::spawn_blocking(move || {
            let made = work();
            drop(place);
            made
        });
        done.await.map_err(|_| ApiError::stopping())
    }

    /// One number for the name, the password and its verifier; it tells nothing of them.
    fn digest(&self, name: &str, password: &str, verifier: &Verifier) -> Box<[u8]> {
        let mut context = hmac::Context::with_key(&self.key);
        for part in [name.as_bytes(), password.as_bytes(), &verifier.bytes()] {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.sign().as_ref().into()
    }
}

/// A place among those that wait for a password to be checked.
struct Waiting<'c>(&'c AtomicUsize);

impl<'c> Waiting<'c> {
    fn among(count: &'c AtomicUsize) -> Result<Self> {
        let waiting = Waiting(count);
        if count.fetch_add(1, Ordering::Relaxed) >= HASHING_WAITING_MAX {
            Err(ApiError::too_busy())
        } else {
            Ok(waiting)
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The account of a name and a password.
///
/// # Errors
/// 401 if there is no such user, or the password is another; 429 after too many attempts.
pub(crate) async fn check(app: &App, address: Address, name: &str, password: &str) -> Result<Account> {
    let checked = check_quietly(app, address, name, password).await;
    if let Err(refusal) = &checked {
        note_failure(app, address, Some(name), refusal);
    }
    checked
}

/// Notes that somebody was not let in, for the operator.
pub(super) fn note_failure(app: &App, address: Address, name: Option<&str>, refusal: &ApiError) {
    if matches!(refusal.status, StatusCode::UNAUTHORIZED | StatusCode::TOO_MANY_REQUESTS) {
        app.metrics.failed_log_ins.inc();
        app.credentials.failed.note(address, name, refusal);
    }
}

async fn check_quietly(app: &App, address: Address, name: &str, password: &str) -> Result<Account> {
    let own = &app.credentials;
    let account = users::find(app, name)?;
    let digest = account.as_ref().map(|account| own.digest(name, password, &account.verifier));
    let fresh = Duration::from_secs(REMEMBERED_SECONDS);
    if let (Some(account), Some(digest)) = (&account, &digest)
        && own.remembered.get(digest).is_some_and(|since| since.elapsed() < fresh)
    {
        return Ok(account.clone());
    }
    let wait = own.throttle.admit(address, name, Instant::now()).ok_or_else(ApiError::too_many_attempts)?;
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    // A name that does not exist takes as long to refuse as one that does.
    let nobody = || Verifier::nobody(app.settings.live().password_iterations);
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
