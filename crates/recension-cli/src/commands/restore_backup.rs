//! `recension restore-backup`: makes a new store from a backup, as it is or as it was at a moment.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use recension::At;
use recension::disk::FsDisk;
use recension::engine::{Branches, Clock, Engine, NativeEngine, NativeOptions, Seq, SystemClock, Timestamp};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::files::{check_new, folder};
use crate::moments::{check_begun, check_not_ahead};

const EXAMPLES: &str = "\
Examples:
  recension restore-backup backup.store new.store
  recension restore-backup backup.store new.store --at '2 hours ago'
  recension restore-backup recension.store yesterday.store --at 1234

It works on any store of the native engine, not only on backups. The new store has the history up to that moment \
and none of what came later.";

/// Make a new store from a backup, as of its newest commit or of a moment
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RestoreBackup {
    /// The backup: a directory
    from: PathBuf,
    /// The new store: an empty or new directory
    to: PathBuf,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl RestoreBackup {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let from = folder(&self.from, "a backup")?;
        let to = folder(&self.to, "the new store")?;
        check_new(&self.to)?;
        let started = context.started();
        let new = context.native_options()?;
        let options = NativeOptions { create: false, ..new.clone() };
        let backup = match NativeEngine::open(Arc::new(FsDisk::new(from)), options.clone()) {
            // A backup may be on a medium that nobody can write to, or another user's.
            Err(error) if error.is_forbidden() => NativeEngine::open_read_only(from, options)?,
            backup => backup?,
        };
        let backup = Arc::new(backup);
        check_not_ahead(&*backup, self.at)?;
        let before = |time| backup.commit_at(time).map(|commit| commit.map_or(Seq::ZERO, |commit| commit.seq));
        let at = match self.at {
            At::Now => backup.head(),
            At::Seq(seq) => seq,
            At::Tag(name) => {
                let whole: Arc<dyn Engine> = backup.clone();
                let tag = Branches::of(&whole).tag_of(name.as_str())?;
                tag.ok_or_else(|| CliError::NotFound(format!("there is no tag {}", name.as_str())))?.seq
            }
            At::Time(time) => before(time)?,
            At::Ago(age) => {
                let age = u64::try_from(age.as_micros()).unwrap_or(u64::MAX);
                before(Timestamp(SystemClock.now().0.saturating_sub(age)))?
            }
        };
        if self.at != At::Now {
            check_begun(&*backup, self.at, at)?;
        }
        backup.copy_as_of(Arc::new(FsDisk::new(to)), at, new)?;
        if context.out.for_people() {
            context.out.line(&format!("{} is the store as of seq {at}", self.to.display()))?;
        } else {
            context.out.line(&json!({ "seq": at.0 }).to_string())?;
        }
        context.remark_time(started)
    }
}
