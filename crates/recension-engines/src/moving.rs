//! Moving a store: from a directory to a shared log, back, and from log to log. The old place is sealed before the last
//! of it is copied, and the new one begins after that. No commit is therefore acknowledged by the old place after the
//! copy.
//!
//! If a move is broken off, the same call continues it. Until then neither place takes commits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use recension::Key;
use recension::disk::FsDisk;
use recension::engine::{
    Batch, CommitInfo, Engine, EngineError, NativeEngine, NativeOptions, Result, Seq, open_native,
};
use recension_log::{Founding, LogAddress, Position, SharedLog};

use tempfile::TempDir;

use crate::Address;

/// Times that a store is copied while it takes commits, at most.
const ROUNDS_MAX: usize = 8;
/// So much may be left to be copied when it takes no more.
const LITTLE_BYTES: u64 = 8 << 20;

/// Moves the store at the address `from` to `to`, and answers its newest commit. A directory that is encrypted is
/// opened with `key`; a log is not encrypted, and neither is a directory that is made of one.
///
/// # Errors
/// [`EngineError::BadAddress`] if stores do not move so; [`EngineError::NotAStore`] if there is none, or one at the new
/// place: nothing was changed. [`EngineError::Locked`] if a process has the directory open and does not share it.
/// [`EngineError::Unknown`] if the move was broken off with the old place sealed: move it again.
pub fn move_store(from: &str, to: &str, key: Option<&Key>) -> Result<Seq> {
    match (Address::parse(from)?, Address::parse(to)?) {
        (Address::Native(from), Address::Log(to)) => directory_to_log(&from, &to, key),
        (Address::Log(_), Address::Native(to)) => log_to_directory(&recension_log::open(from)?, &to),
        (Address::Log(_), Address::Log(to)) => {
            let log = recension_log::open_log(&to)?;
            let copy = folder_for_copy(Path::new("copy"))?;
            into_log(&recension_log::open(from)?, &copy.path().join("store"), &*log, &to.told())
        }
        _ => Err(EngineError::BadAddress {
            address: recension_log::without_password(from),
            why: "a store moves from a directory to a shared log, back, or from log to log; `recension backup` copies \
                  directories"
                .to_owned(),
        }),
    }
}

fn directory_to_log(from: &Path, to: &LogAddress, key: Option<&Key>) -> Result<Seq> {
    if !from.join("STORE").is_file() {
        return Err(not_a_store(from, "there is no store at this place"));
    }
    let log = recension_log::open_log(to)?;
    let options = NativeOptions { create: false, key: key.cloned(), ..NativeOptions::default() };
    let engine = match open_native(from, &options, false) {
        // An earlier move was broken off.
        Err(EngineError::Moved { .. }) => {
            Arc::new(NativeEngine::open_moved(Arc::new(FsDisk::new(from)), options)?) as Arc<dyn Engine>
        }
        Err(EngineError::Locked { store, holder }) => {
            return Err(EngineError::Locked {
                store,
                holder: format!("{holder}, which does not share it: end that process, and move it then"),
            });
        }
        opened => opened?,
    };
    // The process that has the store open writes the copy, so it must be a folder that that process can write to.
    let copy = folder_for_copy(from)?;
    into_log(&*engine, &copy.path().join("store"), &*log, &to.told())
}

/// Moves the store of `engine` to a log, which has to be empty, by way of a copy in the folder `copy`. `to` is the
/// address that the old place then names in its errors.
///
/// # Errors
/// As [`move_store`].
pub fn into_log(engine: &dyn Engine, copy: &Path, log: &dyn SharedLog, to: &str) -> Result<Seq> {
    let again = is_sealed(engine, to)?;
    if !again && log.tail(Position(0))? > Position::FIRST {
        // This is checked before anything is sealed.
        return Err(EngineError::NotAStore {
            path: log.profile().place,
            found: "there is a store already; name another log".to_owned(),
        });
    }
    let mut founding = Founding::new(log)?;
    if !again {
        in_rounds(|| {
            engine.backup(copy)?;
            founding.copy(copy)
        })?;
    }
    engine.seal(to)?;
    let begun = last_of_it(engine, copy, founding, log, again);
    begun.map_err(|error| {
        let certainly_not = !again && !matches!(error, EngineError::Unknown { .. });
        if certainly_not && engine.unseal().is_ok() {
            return error;
        }
        EngineError::Unknown {
            why: format!(
                "{error}; the old place takes no more commits: repeat the move to {to}, which goes on with it"
            ),
        }
    })
}

/// Copies what is left when there are no more commits, and begins the new place.
fn last_of_it(
    engine: &dyn Engine,
    copy: &Path,
    mut founding: Founding<'_>,
    log: &dyn SharedLog,
    again: bool,
) -> Result<Seq> {
    let newest = engine.snapshot()?;
    let newest = CommitInfo { seq: newest.seq(), time: newest.time()? };
    if again && Founding::has_begun(log, newest)? {
        return Ok(newest.seq);
    }
    let found = engine.backup(copy)?.head;
    if found != newest.seq {
        let what = format!("the copy holds commit {found} where the store holds {}", newest.seq);
        return Err(EngineError::damaged(copy.display().to_string(), 0, what));
    }
    founding.copy(copy)?;
    founding.begin(newest)
}

/// Copies while commits go on: again and again, each time what is new, until that is little. Each answers its bytes.
fn in_rounds(mut copy: impl FnMut() -> Result<u64>) -> Result<()> {
    for _ in 0..ROUNDS_MAX {
        if copy()? <= LITTLE_BYTES {
            break;
        }
    }
    Ok(())
}

/// Whether the store has been sealed for a move to `to`.
fn is_sealed(engine: &dyn Engine, to: &str) -> Result<bool> {
    // An empty commit writes nothing.
    match engine.commit(Batch::new()) {
        Err(EngineError::Moved { to: known }) if known == to => Ok(true),
        answer => answer.map(|_| false),
    }
}

fn log_to_directory(engine: &dyn Engine, to: &Path) -> Result<Seq> {
    let told = std::path::absolute(to).map_err(|error| EngineError::io("finding the folder", error))?;
    let told = told.display().to_string();
    let is_there = to.join("STORE").is_file();
    if !is_there && to.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(not_a_store(to, "the directory holds other files; name one that is not there yet"));
    }
    match (is_there, is_sealed(engine, &told)?) {
        // An earlier move was broken off after everything was done.
        (true, true) => return Ok(engine.head()),
        (true, false) => return Err(not_a_store(to, "there is a store already; name another directory")),
        (false, _) => {}
    }
    // The copy has another name until the log is sealed, so that nobody takes it for the store before that.
    let mut copy = to.as_os_str().to_owned();
    copy.push(".moving");
    let copy = PathBuf::from(copy);
    in_rounds(|| Ok(engine.backup(&copy)?.bytes_copied))?;
    engine.seal(&told)?;
    let head = engine.backup(&copy)?.head;
    std::fs::rename(&copy, to).map_err(|error| EngineError::io(format!("renaming {}", copy.display()), error))?;
    let parent = to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::File::open(parent)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| EngineError::io(format!("syncing {}", parent.display()), error))?;
    Ok(head)
}

fn not_a_store(path: &Path, found: &str) -> EngineError {
    EngineError::NotAStore { path: path.display().to_string(), found: found.to_owned() }
}

/// A folder for a copy. It is removed when this is dropped.
fn folder_for_copy(beside: &Path) -> Result<TempDir> {
    let parent = beside.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = tempfile::Builder::new().prefix(".recension-move-").tempdir_in(parent).or_else(|_| tempfile::tempdir());
    made.map_err(|error| EngineError::io("making a folder for the copy", error))
}
