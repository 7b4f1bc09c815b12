//! What `recension doctor` says of folders: who may read a store, the room on its disk, its format, and backups.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use recension::Key;
use recension::disk::{Disk, ReadOnlyDisk};
use recension::engine::EngineError;
use recension::engine::native::{NEWEST_FORMAT, format_version};
use rustix::fs::{Access, access, statvfs};
use rustix::process::geteuid;

use super::{Finding, span};
use crate::output::bytes;

/// Less than this part of a disk is little.
const FREE_PART: u64 = 20;
/// A backup that is older than this is old, whatever the interval is.
const BACKUP_OLD: Duration = Duration::from_hours(48);
/// Files that are looked at, at most.
const FILES_MAX: usize = 10_000;

/// What helps where a store does not open.
pub(super) const LOOK: &str = "nothing was changed; `recension verify` reads all of a store that opens, `recension \
                               salvage` copies what is readable of one that does not";
const RUN_AS_OWNER: &str = "run this as the user that the store belongs to";

/// Whether others than the store's owner may read it, and whether this user may write to it.
pub(super) fn rights(store: &Path) -> Finding {
    let mut open = Vec::new();
    let mut others = Vec::new();
    for path in all_below(store) {
        let Ok(about) = fs::symlink_metadata(&path) else { continue };
        if about.permissions().mode() & 0o077 != 0 {
            open.push(path.clone());
        }
        if about.uid() != geteuid().as_raw() && !geteuid().is_root() {
            others.push(path);
        }
    }
    if let Some(path) = others.first() {
        let found = format!("{} is another user's ({} such files)", path.display(), others.len());
        return Finding::warning("permissions", found, RUN_AS_OWNER);
    }
    if access(store, Access::WRITE_OK).is_err() {
        let found = format!("nothing can be written to {}", store.display());
        return Finding::warning(
            "permissions",
            found,
            "give this user the right, or mount the file system for writing",
        );
    }
    match open.first() {
        None => Finding::fine("permissions", "the store is its owner's alone"),
        Some(path) => Finding::warning(
            "permissions",
            format!("others may read {} ({} such files)", path.display(), open.len()),
            format!("chmod -R go= {}", store.display()),
        ),
    }
}

/// The folder and all below it.
fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut all = vec![folder.to_owned()];
    let mut at = 0;
    while let Some(path) = all.get(at).cloned().filter(|_| all.len() < FILES_MAX) {
        at += 1;
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
        if let Some(entries) = is_folder.then(|| fs::read_dir(&path).ok()).flatten() {
            all.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    all
}

/// The room on the disk.
pub(super) fn room(store: &Path) -> Finding {
    let Ok(found) = statvfs(store) else {
        return Finding::warning("disk", "the system does not say how full it is", "look by `df`");
    };
    let (all, free) = (found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize);
    let text = format!("{} of {} are free", bytes(free), bytes(all));
    if free < 64 << 20 {
        return Finding::fault("disk", text, "make room: a store on a full disk takes no writes, and loses none");
    }
    if free < all / FREE_PART {
        return Finding::warning(
            "disk",
            text,
            "make room, or give back what retention does not keep: `recension compact`",
        );
    }
    Finding::fine("disk", text)
}

/// Whether this program can use the store's format.
pub(super) fn format(store: &Path, key: Option<&Key>) -> Finding {
    let disk: Arc<dyn Disk> = Arc::new(ReadOnlyDisk::new(store));
    match format_version(&disk, key) {
        Ok(Some(version)) if version == NEWEST_FORMAT => {
            Finding::fine("format", format!("{version}, the newest that this program knows: nothing to upgrade"))
        }
        Ok(Some(version)) => Finding::warning(
            "format",
            format!("{version}; the newest is {NEWEST_FORMAT}"),
            "it works as it is, and new files get the newest format, which older programs do not read: make a backup \
             first",
        ),
        Ok(None) => Finding::fine("format", "there is no store yet"),
        Err(error @ EngineError::NewerFormat { .. }) => {
            Finding::fault("format", error.to_string(), "use the newer program; nothing was changed")
        }
        Err(EngineError::Key { .. }) => {
            Finding::warning("format", "the store is encrypted", "give its key (--key-file), to look further")
        }
        Err(error) if error.is_forbidden() => Finding::fault("format", error.to_string(), RUN_AS_OWNER),
        Err(error) => Finding::fault("format", error.to_string(), LOOK),
    }
}

/// The age of the newest backup.
pub(super) fn backups(folder: &Path, now: SystemTime) -> Finding {
    let advice = "see the server's log, and `recension backup`";
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return Finding::fault("backups", format!("{}: {error}", folder.display()), advice),
    };
    let names = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("backup-"));
    let made: Vec<SystemTime> = names.filter_map(|entry| entry.metadata().ok()?.modified().ok()).collect();
    let Some(newest) = made.iter().max() else {
        return Finding::fault("backups", format!("there is none in {}", folder.display()), advice);
    };
    let age = now.duration_since(*newest).unwrap_or_default();
    let found = format!("{}; the newest is {} old", made.len(), span(age));
    if age > BACKUP_OLD { Finding::warning("backups", found, advice) } else { Finding::fine("backups", found) }
}
