//! `recension backup`: copies the store while it is as it is. Brought up to date, a backup copies what is new.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::output::bytes;

/// Copy the store to another place, or bring an earlier copy up to date
///
/// A backup is a store of its own: every command works on it with --store. Into the place of an earlier backup only what is
/// new is copied. Only stores of the native engine can be copied so.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension backup backup.store\n  recension find cities --store backup.store")]
pub struct Backup {
    /// Where to: a directory that is empty, not there yet, or an earlier backup of this store
    to: PathBuf,
}

impl Backup {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let started = context.started();
        let report = context.engine(Missing::IsAnError)?.backup(&self.to)?;
        if context.out.for_people() {
            context.out.line(&format!(
                "{} holds everything up to seq {}: {} copied, {} were there",
                self.to.display(),
                report.head,
                bytes(report.bytes_copied),
                bytes(report.bytes_kept)
            ))?;
        } else {
            let report = json!({
                "seq": report.head.0,
                "files_copied": report.files_copied,
                "bytes_copied": report.bytes_copied,
                "bytes_kept": report.bytes_kept,
            });
            context.out.line(&report.to_string())?;
        }
        context.remark_time(started)
    }
}
