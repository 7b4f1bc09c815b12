//! Trying a write until no other writer has changed what it read.

use recension_values::error::{Error, Result};
use recension_values::limits::WRITE_ATTEMPTS_MAX;

/// The outcome of one try of a write.
pub(crate) enum Attempt<T> {
    Done(T),
    Again,
}

impl<T> Attempt<T> {
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Attempt<U> {
        match self {
            Attempt::Done(value) => Attempt::Done(f(value)),
            Attempt::Again => Attempt::Again,
        }
    }
}

/// Tries until it is done. Each failed try means that another writer has succeeded.
pub(crate) fn retry<T>(mut attempt: impl FnMut() -> Result<Attempt<T>>) -> Result<T> {
    for attempts in 0..WRITE_ATTEMPTS_MAX {
        if let Attempt::Done(value) = attempt()? {
            return Ok(value);
        }
        // The first tries follow at once; later ones pause for 2 us to 4 ms.
        if attempts >= 3 {
            std::thread::sleep(std::time::Duration::from_micros(1 << attempts.min(14).saturating_sub(2)));
        }
    }
    Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX })
}
