//! `recension backup`: copies the store as of one commit. An update of a backup copies only what is new.

use std::path::{Path, PathBuf};

use clap::Args;
use recension_replicate::{Control, HttpOptions, fetch_backup};
use serde_json::json;

use crate::commands::sync::failed;
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::files::folder;
use crate::output::bytes;

/// Copy the store to another place, or bring an earlier copy up to date
///
/// A backup is a complete store: every command works on it with --store. Into the place of an earlier backup only new
/// data is copied. Only stores in directories can be backed up like this.
///
/// With a URL it copies the store of that server, as a server admin. If it is interrupted, the same command continues
/// it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension backup backup.store\n  recension find cities --store backup.store\n  \
    recension backup https://ada:secret@db.example:5984 backup.store")]
pub struct Backup {
    /// The directory of the copy: empty, new, or an earlier backup of this store; or the URL of a server, and then
    /// the directory
    #[arg(value_name = "TO", num_args = 1..=2, required = true)]
    to: Vec<PathBuf>,
    /// A file of certificates (PEM) to trust
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl Backup {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let place = match self.to.as_slice() {
            [url, place] => return self.fetch(context, &url.to_string_lossy(), place),
            [place] => place,
            _ => return Err(CliError::Usage("name the place of the copy".to_owned())),
        };
        let to = folder(place, "a backup")?;
        let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if same(to, Path::new(&context.address())) {
            return Err(CliError::Usage("a store cannot be a backup of itself; name another folder".to_owned()));
        }
        let started = context.started();
        let report = context.engine(Missing::IsAnError)?.backup(to)?;
        if context.out.for_people() {
            context.out.line(&format!(
                "{} holds everything up to seq {}: {} copied, {} were there",
                place.display(),
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

    fn fetch(&self, context: &mut Context, url: &str, place: &Path) -> Result<()> {
        if !(url.starts_with("http://") || url.starts_with("https://")) {
            return Err(CliError::Usage(
                "of two, the first is the URL of a server, and the second the place".to_owned(),
            ));
        }
        let to = folder(place, "a backup")?;
        if to.exists() && !to.join("STORE").exists() && to.read_dir().is_ok_and(|mut found| found.next().is_some()) {
            let why = format!("{} holds other files; name a new folder, or an earlier backup", to.display());
            return Err(CliError::Usage(why));
        }
        let started = context.started();
        let options = HttpOptions { certificates: self.ca.clone(), ..HttpOptions::default() };
        let fetched = fetch_backup(url, options, to, &Control::default()).map_err(failed)?;
        if context.out.for_people() {
            context.out.line(&format!(
                "{} holds everything up to seq {}: {} came, {} files were there",
                to.display(),
                fetched.seq,
                bytes(fetched.bytes_sent),
                fetched.files_kept
            ))?;
        } else {
            let report = json!({
                "seq": fetched.seq,
                "files_copied": fetched.files_sent,
                "bytes_copied": fetched.bytes_sent,
                "files_kept": fetched.files_kept,
            });
            context.out.line(&report.to_string())?;
        }
        context.remark_time(started)
    }
}
