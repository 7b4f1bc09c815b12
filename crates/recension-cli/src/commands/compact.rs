//! `recension compact`: gives up history that retention does not keep, and gives the disk back, now.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use recension::{Error, Store};
use serde_json::json;

use super::retention::check_exists;
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::bytes;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  recension compact
  recension retention cities head && recension compact cities

A store compacts itself in time, as it is written to. This command does it now. It takes time in proportion to \
the size of the store, and up to the same disk space again while it runs. Files contain rows of all collections, \
so all are compacted whichever is named.";

/// Remove history that is not kept, and free disk space, now
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Compact {
    /// A collection; if it does not exist, the command fails
    collection: Option<String>,
}

impl Compact {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let started = context.started();
        let store = context.store(Missing::IsAnError)?;
        if let Some(name) = &self.collection {
            check_exists(&store, name)?;
        }
        let compacted = compact(&store, context.quiet())?;
        if context.out.for_people() {
            let (before, after) = (bytes(compacted.before), bytes(compacted.after));
            context.out.line(&format!("{before} on disk before, {after} now"))?;
        } else {
            let line = json!({ "bytes_before": compacted.before, "bytes_after": compacted.after });
            context.out.line(&line.to_string())?;
        }
        context.remark_time(started)
    }
}

/// Compacts. Shows meanwhile how much disk is taken.
pub(super) fn compact(store: &Store, quiet: bool) -> Result<recension::Compacted> {
    let progress = Progress::of_disk(quiet);
    let (done, waiting) = channel();
    thread::scope(|scope| {
        scope.spawn(move || done.send(store.compact()));
        loop {
            match waiting.recv_timeout(Duration::from_millis(200)) {
                Ok(answer) => return answer.map_err(CliError::from),
                Err(RecvTimeoutError::Timeout) => {
                    progress.show_disk(store.engine().stats().map_err(Error::from)?.disk_bytes);
                }
                // The thread has panicked; the scope passes that on.
                Err(RecvTimeoutError::Disconnected) => return Err(CliError::Io("compacting broke off".to_owned())),
            }
        }
    })
}
