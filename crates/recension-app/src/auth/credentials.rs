//! What checking passwords needs. Passwords are slow to check on purpose: a few are checked at a time, on
//! threads that may be busy. Those that were right lately are remembered by a keyed hash of the password and of the
//! verifier that it was checked against. A changed user document is therefore checked anew at once, without any notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use quick_cache::sync::Cache;
use ring::hmac;
use tokio::sync::Semaphore;

use super::failed_log_ins::FailedLogIns;
use super::throttle::Throttle;
use crate::identity::password::Verifier;
use crate::identity::random::new_secret;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{HASHING_MAX, HASHING_WAITING_MAX, REMEMBERED_MAX};

/// What checking passwords needs.
pub struct Credentials {
    pub(super) remembered: Cache<Box<[u8]>, Instant>,
    key: hmac::Key,
    pub(super) throttle: Throttle,
    pub(super) failed: FailedLogIns,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// Passwords that were known from the last time.
    pub(super) known: AtomicU64,
    hashed: AtomicU64,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    /// With nobody remembered, and a random key that lives as long as the process.
    pub(crate) fn new() -> Result<Self> {
        let secret = new_secret()?;
        Ok(Credentials {
            remembered: Cache::new(REMEMBERED_MAX),
            key: hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()),
            throttle: Throttle::default(),
            failed: FailedLogIns::default(),
            places: Arc::new(Semaphore::new(HASHING_MAX)),
            waiting: AtomicUsize::new(0),
            known: AtomicU64::new(0),
            hashed: AtomicU64::new(0),
        })
    }

    /// Runs slow work on passwords, a few at a time.
    pub async fn hash<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let _waiting = Waiting::among(&self.waiting)?;
        self.hashed.fetch_add(1, Ordering::Relaxed);
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| ApiError::stopping())?;
        let done = tokio::task::spawn_blocking(move || {
            let made = work();
            drop(place);
            made
        });
        done.await.map_err(|_| ApiError::stopping())
    }

    /// How many passwords were known from the last time, and how many were hashed.
    pub(crate) fn counted(&self) -> [u64; 2] {
        [&self.known, &self.hashed].map(|counter| counter.load(Ordering::Relaxed))
    }

    /// One number for the name, the password and its verifier; it tells nothing of them.
    pub(super) fn digest(&self, name: &str, password: &str, verifier: &Verifier) -> Box<[u8]> {
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
