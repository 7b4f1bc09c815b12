//! Backups that the server makes by itself, at an interval, into a folder. The newest ones are kept.
//!
//! A backup is made under the name `next` and renamed to `backup-TIME` once it is whole. If one was interrupted, the
//! next run continues it. Nothing else in the folder is touched.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use recension::engine::native::is_same_store;
use recension::engine::{EngineError, Timestamp};
use recension::{Store, format_time};

use crate::config::BackupsSection;
use crate::config::schedule::{Kept, Schedule};

const PREFIX: &str = "backup-";
const NEXT: &str = "next";

/// Held while one is made.
static MAKING: Mutex<()> = Mutex::new(());

/// The thread that makes them, until this is dropped. One that is being made is made to its end.
pub struct Backups {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Backups {
    /// Begins, if it is configured. The first backup is made when the newest existing one is old enough.
    pub fn begin(
        config: &BackupsSection,
        store: &Store,
        failed: impl Fn() + Send + 'static,
    ) -> io::Result<Option<Self>> {
        let Some(folder) = config.folder.clone() else { return Ok(None) };
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let Schedule { every, kept } = config.schedule().map_err(io::Error::other)?;
        let store = store.clone();
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::Builder::new().name("recension-backups".to_owned()).spawn(move || {
            let mut wait = first_wait(&folder, every);
            let mut told = String::new();
            // If the sender is gone, the thread stops too.
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(wait) {
                match make(&store, &folder, kept) {
                    Ok(made) => {
                        told.clear();
                        tracing::info!(backup = %made.display(), "a backup was made");
                    }
                    Err(error) => {
                        failed();
                        // The same error is told once, not in every round.
                        let error = advised(&error, &folder);
                        if error != told {
                            tracing::error!(error, "a backup failed; the next one is tried in time");
                            told = error;
                        }
                    }
                }
                wait = every;
            }
        })?;
        Ok(Some(Backups { stop: Some(stop), thread: Some(thread) }))
    }
}

impl Drop for Backups {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // An error means that the thread panicked, which was printed.
            let _ = thread.join();
        }
    }
}

/// An error, and what to do about it if it would come in every round.
fn advised(error: &EngineError, folder: &Path) -> String {
    let next = folder.join(NEXT);
    match error {
        EngineError::NotAStore { .. } => {
            format!("{error}. Move {} away, or give this server a folder of its own ([backups] folder)", next.display())
        }
        _ => error.to_string(),
    }
}

/// The time until the newest existing backup is old enough.
fn first_wait(folder: &Path, every: Duration) -> Duration {
    let age = newest(folder).and_then(|made| SystemTime::now().duration_since(made).ok());
    age.map_or(Duration::ZERO, |age| every.saturating_sub(age))
}

/// How old a backup is; `None` if the clock does not say.
fn age(backup: &Path) -> Option<Duration> {
    let made = fs::metadata(backup).and_then(|found| found.modified()).ok()?;
    SystemTime::now().duration_since(made).ok()
}

/// When the newest backup was made.
pub fn newest(folder: &Path) -> Option<SystemTime> {
    let name = names(folder).ok()?.pop()?;
    fs::metadata(folder.join(name)).and_then(|found| found.modified()).ok()
}

/// Makes one, and removes those that are too many. One is made at a time.
pub fn make(store: &Store, folder: &Path, kept: Kept) -> Result<PathBuf, EngineError> {
    let _alone = MAKING.lock();
    let io = |doing: &'static str| move |error| EngineError::io(doing, error);
    let next = folder.join(NEXT);
    store.engine().backup(&next)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_micros() as u64);
    let time: String = format_time(Timestamp(now)).chars().filter(|c| *c != ':' && *c != '-').collect();
    let made = folder.join(format!("{PREFIX}{time}"));
    fs::rename(&next, &made).map_err(io("naming a backup"))?;
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io("syncing the folder of backups"))?;
    let names = names(folder).map_err(io("listing the backups"))?;
    // Those of another store stay: they may be all that is left of what was at this server's place. And the newest one,
    // whatever its age.
    let own = names.iter().rev().map(|name| folder.join(name)).filter(|backup| is_same_store(&made, backup));
    for (number, old) in own.enumerate().skip(1) {
        let goes = match kept {
            Kept::Newest(most) => number >= most,
            Kept::For(time) => age(&old).is_some_and(|age| age > time),
        };
        if goes {
            fs::remove_dir_all(old).map_err(io("removing an old backup"))?;
        }
    }
    Ok(made)
}

/// The backups that are there, oldest first.
pub fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if is_name(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| name.trim_end_matches('Z').to_owned());
    Ok(names)
}

/// Whether a backup is called so: nothing else has such a name, and it leads nowhere else.
pub fn is_name(name: &str) -> bool {
    let time = name.strip_prefix(PREFIX).unwrap_or_default();
    time.len() >= "20261121T100000Z".len() && time.chars().all(|c| c.is_ascii_digit() || "TZ.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_what_was_broken_off_goes_on_and_others_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let store = recension::open(&dir.path().join("store").display().to_string()).unwrap();
        let notes = store.collection("notes").unwrap();
        let folder = dir.path().join("backups");
        fs::create_dir_all(folder.join("backup-of-somebody")).unwrap();
        // One that was begun and not ended.
        store.engine().backup(&folder.join(NEXT)).unwrap();
        let mut made = Vec::new();
        for n in 0..4 {
            notes.put(&format!("n{n}"), "{}").unwrap();
            made.push(make(&store, &folder, Kept::Newest(2)).unwrap());
        }
        let kept: Vec<_> = names(&folder).unwrap().iter().map(|name| folder.join(name)).collect();
        assert_eq!(kept, made[2..]);
        assert!(folder.join("backup-of-somebody").exists() && !folder.join(NEXT).exists());
        let copy = recension::open_read_only(&made[2]).unwrap();
        assert_eq!(copy.collection("notes").unwrap().count().unwrap(), 3);
        assert!(first_wait(&folder, Duration::from_hours(1)) > Duration::from_mins(50));
        // By age: one that is two days old goes, and the newest one never does.
        let set = |backup: &Path, days: u64| {
            File::open(backup).unwrap().set_modified(SystemTime::now() - Duration::from_hours(24 * days)).unwrap();
        };
        set(&made[2], 2);
        set(&made[3], 0);
        made.push(make(&store, &folder, Kept::For(Duration::from_hours(24))).unwrap());
        let kept: Vec<_> = names(&folder).unwrap().iter().map(|name| folder.join(name)).collect();
        assert_eq!(kept, made[3..]);
        set(&made[4], 9);
        made.push(make(&store, &folder, Kept::For(Duration::from_nanos(1))).unwrap());
        assert!(made[5].exists() && !made[4].exists());
        assert_eq!(first_wait(&dir.path().join("none"), Duration::from_hours(1)), Duration::ZERO);
        // A server that was started on another store, such as an empty one, removes none of the former one's.
        let other = recension::open(&dir.path().join("other").display().to_string()).unwrap();
        for _ in 0..3 {
            made.push(make(&other, &folder, Kept::Newest(1)).unwrap());
        }
        assert!(made[5].exists() && !made[6].exists() && !made[7].exists() && made[8].exists());
    }

    #[test]
    fn what_another_store_has_begun_stays_and_the_error_says_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let [store, other] =
            ["store", "other"].map(|name| recension::open(&dir.path().join(name).display().to_string()).unwrap());
        let next = dir.path().join(NEXT);
        other.engine().backup(&next).unwrap();
        let error = make(&store, dir.path(), Kept::Newest(1)).unwrap_err();
        let said = advised(&error, dir.path());
        let advice = format!("a backup of another store. Move {} away, or give this server a folder", next.display());
        assert!(said.contains(&advice) && next.exists(), "{said}");
    }

    #[test]
    fn they_are_made_in_time() {
        let dir = tempfile::tempdir().unwrap();
        let store = recension::open(&dir.path().join("store").display().to_string()).unwrap();
        let folder = dir.path().join("backups");
        let config = BackupsSection {
            folder: Some(folder.clone()),
            schedule: Some("every hour, 1 kept".to_owned()),
            ..Default::default()
        };
        let backups = Backups::begin(&config, &store, || ()).unwrap();
        let deadline = std::time::Instant::now() + Duration::from_mins(1);
        while names(&folder).unwrap().is_empty() {
            assert!(std::time::Instant::now() < deadline, "no backup was made");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(backups);
        assert_eq!(names(&folder).unwrap().len(), 1);
        assert!(Backups::begin(&BackupsSection::default(), &store, || ()).unwrap().is_none());
    }
}
