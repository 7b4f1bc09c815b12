//! What every command has at hand: the store that was named, where results go, and whether the user has
//! asked to stop.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use recension::document::Store;
use recension::engine::Engine;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::Common;
use crate::error::{CliError, Result};
use crate::output::{Audience, Output};

/// What to do where the store is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A command that writes makes it.
    Create,
    /// A command that only reads says so: a mistyped name must not make an empty store.
    IsAnError,
}

/// The surroundings of a command.
pub struct Context {
    /// Where results go.
    pub out: Output,
    address: String,
    quiet: bool,
    interrupted: Option<Arc<AtomicBool>>,
}

impl Context {
    /// As the command line says.
    pub fn new(common: &Common) -> Self {
        let out = Output::new(Audience::new(common.json, common.table), common.quiet);
        Context { out, address: common.store.clone(), quiet: common.quiet, interrupted: None }
    }

    /// The store's address, as it was given.
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// Whether remarks and progress are to be left out.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// From here on the first Ctrl-C is for [`Context::interrupted`] to tell; the second one ends the
    /// process where it stands, which loses nothing that was acknowledged. Without this, the first does.
    pub fn watch_for_interrupts(&mut self) -> Result<()> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
                .map_err(|error| CliError::io("watching for Ctrl-C", &error))?;
        }
        self.interrupted = Some(flag);
        Ok(())
    }

    /// Whether the user has pressed Ctrl-C.
    pub fn interrupted(&self) -> bool {
        self.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Opens the store as documents.
    pub fn store(&self, missing: Missing) -> Result<Store> {
        Ok(Store::on(self.engine(missing)?)?)
    }

    /// Opens the store.
    pub fn engine(&self, missing: Missing) -> Result<Arc<dyn Engine>> {
        let path = Path::new(self.address.strip_prefix("sqlite:").unwrap_or(&self.address));
        let empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        if missing == Missing::IsAnError && self.address != "memory:" && (!path.exists() || empty()) {
            return Err(CliError::Io(format!(
                "there is no store at {}; `recension import` makes one, --store or RECENSION_STORE names another",
                self.address
            )));
        }
        Ok(recension_engines::open(&self.address)?)
    }

    /// The time, to say later how long something took.
    pub fn started(&self) -> Instant {
        Instant::now()
    }

    /// Says how long it took, where people read.
    pub fn remark_time(&mut self, started: Instant) -> Result<()> {
        if self.out.for_people() {
            let text = format!("({})", took(started.elapsed()));
            self.out.remark(&text)?;
        }
        Ok(())
    }
}

/// A duration for people.
pub fn took(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}
