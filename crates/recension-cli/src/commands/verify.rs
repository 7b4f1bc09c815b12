//! `recension verify`: reads the whole store and checks every checksum. Changes nothing.

use clap::Args;
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::{bytes, count};
use crate::problems::{tabulated, to_json};

/// Read the whole store and check every checksum
///
/// Prints what was read and each damaged place. Nothing is changed. The exit code is 4 where something is
/// damaged; `recension salvage` then copies what is readable.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension verify\n  recension verify --store sqlite:notes.sqlite --json")]
pub struct Verify {}

impl Verify {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let started = context.started();
        let report = context.engine(Missing::IsAnError)?.verify()?;
        if context.out.for_people() {
            if let Some(table) = tabulated(&report.problems) {
                context.out.line(&table)?;
            }
            context.out.line(&format!(
                "{}: {} commits, {} row versions, {} in {} files",
                if report.problems.is_empty() { "sound" } else { "DAMAGED" },
                count(report.commits),
                count(report.rows),
                bytes(report.bytes),
                report.files
            ))?;
        } else {
            context.out.line(
                &json!({
                    "sound": report.problems.is_empty(),
                    "commits": report.commits,
                    "row_versions": report.rows,
                    "bytes": report.bytes,
                    "files": report.files,
                    "problems": to_json(&report.problems),
                })
                .to_string(),
            )?;
        }
        context.remark_time(started)?;
        match report.problems.len() {
            0 => Ok(()),
            found => Err(CliError::Damaged(format!(
                "{found} damaged {}; restore a backup, or copy what is readable with: recension salvage {} NEW_STORE",
                if found == 1 { "place" } else { "places" },
                context.address()
            ))),
        }
    }
}
