//! `recension salvage`: copies what is readable of a damaged store into a new one. It must never write
//! to the damaged one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use recension::disk::{Disk, FsDisk, ReadOnlyDisk};
use recension::engine::native::salvage;
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::files::{check_new, folder};
use crate::output::count;
use crate::problems::{tabulated, to_json};
use crate::progress::Progress;

/// Copy everything readable from a damaged store into a new one
///
/// The damaged store is only read. Every complete commit is copied with its number and time. If something could not
/// be read, it is listed, and the exit code is 4.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension salvage recension.store salvaged.store")]
pub struct Salvage {
    /// The damaged store: a directory
    from: PathBuf,
    /// The new store: an empty or new directory
    to: PathBuf,
}

impl Salvage {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        folder(&self.from, "the damaged store")?;
        folder(&self.to, "the new store")?;
        if !self.from.is_dir() {
            let what = format!("there is no store at {}: salvage reads a directory", self.from.display());
            return Err(CliError::Usage(what));
        }
        check_new(&self.to)?;
        let started = context.started();
        let to = Arc::new(FsDisk::new(&self.to));
        let progress = Progress::of_bytes(Some(0), context.quiet());
        let options = context.native_options()?;
        let copied = |from: Arc<dyn Disk>| {
            salvage(&from, to.clone(), options.clone(), |read, total| progress.show_copied(read, total))
        };
        // A store that somebody uses is refused by its lock, which takes the right to write there.
        let report = match copied(Arc::new(FsDisk::new(&self.from))) {
            Err(error) if error.is_forbidden() => copied(Arc::new(ReadOnlyDisk::new(&self.from))),
            report => report,
        }?;
        drop(progress);
        if context.out.for_people() {
            if let Some(table) = tabulated(&report.problems) {
                context.out.line(&table)?;
            }
            context.out.line(&format!(
                "{} commits with {} row versions copied to {}, up to seq {}; {} missing between them",
                count(report.commits),
                count(report.rows),
                self.to.display(),
                report.head,
                count(report.missing)
            ))?;
        } else {
            context.out.line(
                &json!({
                    "commits": report.commits,
                    "row_versions": report.rows,
                    "seq": report.head.0,
                    "missing": report.missing,
                    "problems": to_json(&report.problems),
                })
                .to_string(),
            )?;
        }
        context.remark_time(started)?;
        if report.problems.is_empty() && report.missing == 0 {
            return Ok(());
        }
        Err(CliError::Damaged("not everything could be read; what could is in the new store".to_owned()))
    }
}
