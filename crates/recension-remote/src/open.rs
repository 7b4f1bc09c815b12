//! Opening a native store that may be in use: the first process owns it, and later ones reach it through the owner.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension_engine::{Engine, EngineError, Result};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};

use crate::engine::RemoteEngine;
use crate::link::TakeOver;
use crate::owner::Owner;
use crate::socket::{self, GREETED_WITHIN, InFolder};

/// How long a new owner is waited for: the recovery of a large store takes time.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long an owner that has no socket yet may need to make one, having just taken the lock, on a machine that has
/// much else to do.
const SOCKET_MADE_WITHIN: Duration = Duration::from_secs(3);

/// Opens the store in `folder`, or reaches it through the process that has it open, if that shares it. If `share` is
/// set, other processes can reach it through this one.
///
/// If the owner dies, a process that has reached the store through it takes its place, unless another was faster.
///
/// # Errors
/// [`EngineError::Locked`] if the owner does not share the store, and those of [`NativeEngine::open`].
pub fn open(folder: &Path, options: &NativeOptions, share: bool) -> Result<Arc<dyn Engine>> {
    let started = Instant::now();
    // Where somebody answers, nothing else has to be looked at. A dead process's socket refuses.
    if socket::is_there(folder) {
        match RemoteEngine::with(InFolder::of(folder), PATIENCE, Some(take_over(folder, options))) {
            Ok(remote) => return Ok(Arc::new(remote)),
            // It was waited for as long as anybody waits.
            Err(error) if started.elapsed() >= GREETED_WITHIN => return Err(error),
            Err(_) => {}
        }
    }
    loop {
        let locked = match NativeEngine::open(Arc::new(FsDisk::new(folder)), options.clone()) {
            Ok(engine) => return shared(engine, folder, share),
            Err(error @ EngineError::Locked { .. }) => error,
            Err(error) => return Err(error),
        };
        let patience = if socket::is_there(folder) {
            match RemoteEngine::with(InFolder::of(folder), PATIENCE, Some(take_over(folder, options))) {
                Ok(remote) => return Ok(Arc::new(remote)),
                // Its owner has ended, or is starting; or the store is another user's.
                Err(error) if started.elapsed() > PATIENCE || socket::is_foreign(folder) => return Err(error),
                Err(_) => PATIENCE,
            }
        } else {
            SOCKET_MADE_WITHIN
        };
        if started.elapsed() > patience {
            return Err(locked);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn shared(engine: NativeEngine, folder: &Path, share: bool) -> Result<Arc<dyn Engine>> {
    let engine = Arc::new(engine);
    if share { Ok(Arc::new(Owner::of(engine, folder)?)) } else { Ok(engine) }
}

/// If the owner dies, its former client keeps the store open for the others.
fn take_over(folder: &Path, options: &NativeOptions) -> TakeOver {
    let (folder, options) = (folder.to_owned(), NativeOptions { create: false, ..options.clone() });
    Box::new(move || match NativeEngine::open(Arc::new(FsDisk::new(&folder)), options.clone()) {
        Ok(engine) => shared(engine, &folder, true).map(Some),
        Err(EngineError::Locked { .. }) => Ok(None),
        Err(error) => Err(error),
    })
}
