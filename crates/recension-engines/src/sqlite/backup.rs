//! Backups: a copy of the database as of one moment, by `SQLite`'s online backup, while commits go on. The copy is made
//! beside its place, and renamed when it is whole and synced. At any moment the place has the old backup or the new
//! one.

use std::fs::{self, File};
use std::path::Path;

use recension::disk::Disk;
use recension::engine::{BackupReport, CommitInfo, EngineError, Result};
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::error::ErrorContext;
use super::file::{self, Found};
use super::{Shared, read};

pub(super) fn backup(shared: &Shared, to: &Path) -> Result<BackupReport> {
    let to = file::real_path(to)?;
    let there = file::find(&to)?;
    let _lock = file::lock(&to)?;
    if there == Found::Store {
        check_earlier(shared, &to)?;
    }
    let draft = file::beside(&to, ".new");
    let doing = |what: &str| {
        let what = format!("{what} {}", draft.display());
        move |error| EngineError::io(what, error)
    };
    for leftover in [draft.clone(), file::beside(&draft, "-journal")] {
        match fs::remove_file(&leftover) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(doing("removing")(error)),
            _ => {}
        }
    }
    let errors = ErrorContext::new(draft.display().to_string());
    let (disk, name) = file::split(&to)?;
    disk.create(&format!("{name}.new")).map_err(doing("making"))?;
    let head = copy(shared, &draft, &errors)?;
    let copied = File::open(&draft).and_then(|file| {
        file.sync_all()?;
        file.metadata()
    });
    let len = copied.map_err(doing("syncing"))?.len();
    disk.rename(&format!("{name}.new"), &name).map_err(doing("renaming"))?;
    disk.sync_dir("").map_err(doing("syncing the name of"))?;
    Ok(BackupReport { head: head.seq, files_copied: 1, bytes_copied: len, bytes_kept: 0 })
}

fn copy(shared: &Shared, draft: &Path, errors: &ErrorContext) -> Result<CommitInfo> {
    let source = file::connect_reader(&shared.path, shared.options.busy_timeout).map_err(|e| shared.errors.map(e))?;
    let map = |error| errors.map(error);
    let mut target = Connection::open(draft).map_err(map)?;
    {
        let backup = Backup::new(&source, &mut target).map_err(map)?;
        // It copies in one step: it reads from one snapshot, and in WAL mode no writer waits for that.
        if backup.step(-1).map_err(map)? != StepResult::Done {
            return Err(errors.backend("SQLite could not copy it in one step; is another program writing to it?"));
        }
    }
    let head = file::read_head(&target, errors)?;
    target.close().map_err(|(_, error)| map(error))?;
    Ok(head)
}

/// Refuses a store that is not an earlier backup of this one. Also folds that store's log into it, since the log would
/// otherwise be taken for the new one's.
fn check_earlier(shared: &Shared, to: &Path) -> Result<()> {
    let errors = ErrorContext::new(to.display().to_string());
    let map = |error| errors.map(error);
    let earlier = Connection::open(to).map_err(map)?;
    let head = file::read_head(&earlier, &errors)?;
    let same = head.seq <= shared.head.lock().seq
        && shared.readers.with(|connection| read::time_of(connection, head.seq, &shared.errors))? == head.time;
    if !same {
        let found = "a store that is no earlier backup of this one".to_owned();
        return Err(EngineError::NotAStore { path: to.display().to_string(), found });
    }
    let busy: bool = earlier.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).map_err(map)?;
    earlier.close().map_err(|(_, error)| map(error))?;
    if busy { Err(errors.backend("another program is reading it; end it there and retry")) } else { Ok(()) }
}
