//! Writing result files. A file is replaced as a whole or not at all, and is on the disk when the command reports it.
//! It is written under a temporary name in the same folder and synced, then renamed, and then the folder is synced.
//! Half a file must never be left under the name that was asked for.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{CliError, Result};

/// How often it tries to open a temporary file that other processes remove meanwhile.
const OPEN_ATTEMPTS_MAX: u32 = 100;
const BUFFER_BYTES: usize = 64 * 1024;

/// The calls to the system. A test replaces them, to check the order and to fail at any step.
trait Calls {
    /// Hands written bytes to the system.
    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
        file.write(bytes)
    }
    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
    fn sync_folder(&self, folder: &File) -> io::Result<()> {
        folder.sync_all()
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

struct System;

impl Calls for System {}

/// Writes a result file. When it returns, the file is on the disk under its name. After an error the older file is as
/// it was. A command that is killed leaves `NAME.part`, which the next one writes anew.
///
/// A device or a named pipe is written to and never replaced.
pub fn replace<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    replace_with(&System, path, write)
}

fn replace_with<T>(calls: &dyn Calls, path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let failed = |error: &io::Error| CliError::io(format!("writing {}", path.display()), error);
    // If the path is a symbolic link, the file behind it is replaced, and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let older = fs::metadata(&target).ok();
    if older.as_ref().is_some_and(|metadata| !metadata.is_file()) {
        let file = OpenOptions::new().write(true).open(&target).map_err(|error| failed(&error))?;
        return written(calls, file, write, failed).map(|(done, _)| done);
    }
    // A folder that cannot be synced is an error before anything is written.
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent),
        _ => File::open("."),
    };
    let folder = folder.map_err(|error| failed(&error))?;
    let mut part = target.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let file = open_part(&part)?;
    let outcome = written(calls, file, write, failed).and_then(|(done, file)| {
        if let Some(older) = &older {
            file.set_permissions(older.permissions()).map_err(|error| failed(&error))?;
        }
        calls.sync_file(&file).and_then(|()| calls.rename(&part, &target)).map_err(|error| failed(&error))?;
        Ok(done)
    });
    match outcome {
        Ok(done) => calls.sync_folder(&folder).map(|()| done).map_err(|error| failed(&error)),
        Err(error) => {
            // The first error is the one that is reported.
            let _ = calls.remove(&part);
            Err(error)
        }
    }
}

/// Returns what `write` returns, and the file with all that it wrote.
fn written<T>(
    calls: &dyn Calls,
    file: File,
    write: impl FnOnce(&mut dyn Write) -> Result<T>,
    failed: impl Fn(&io::Error) -> CliError,
) -> Result<(T, File)> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, Watched { calls, file, error: None });
    let done = write(&mut out);
    let flushed = out.flush();
    let (out, _) = out.into_parts();
    match (out.error, done, flushed) {
        // The system's own error wins over what the writer makes of it.
        (Some(error), ..) | (None, Ok(_), Err(error)) => Err(failed(&error)),
        (None, Err(error), _) => Err(error),
        (None, Ok(done), Ok(())) => Ok((done, out.file)),
    }
}

/// A file that remembers why it could not be written.
struct Watched<'c> {
    calls: &'c dyn Calls,
    file: File,
    error: Option<io::Error>,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls.write(&mut self.file, bytes).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.error = Some(io::Error::new(error.kind(), error.to_string()));
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The temporary file, empty and locked. If two commands write the same file, the second one is refused.
fn open_part(part: &Path) -> Result<File> {
    let failed = |error: &io::Error| CliError::io(format!("writing {}", part.display()), error);
    for _ in 0..OPEN_ATTEMPTS_MAX {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(part).map_err(|e| failed(&e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(CliError::Io(format!(
                    "{} is being written by another process; wait for it, or name another file",
                    part.display()
                )));
            }
            // Some file systems have no locks.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(failed(&error)),
        }
        // Another process may have renamed or removed it before it was locked.
        let opened = file.metadata().map_err(|error| failed(&error))?;
        let same = |named: &fs::Metadata| named.ino() == opened.ino() && named.dev() == opened.dev();
        if fs::symlink_metadata(part).is_ok_and(|named| named.is_file() && same(&named)) {
            file.set_len(0).map_err(|error| failed(&error))?;
            return Ok(file);
        }
    }
    Err(CliError::Io(format!("{} is a link, or others keep removing it; remove it", part.display())))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use tempfile::TempDir;

    use super::*;

    /// Writes down what was asked of the system, and refuses the call of one number.
    #[derive(Default)]
    struct Recorded {
        seen: RefCell<Vec<String>>,
        fails_at: Option<usize>,
    }

    impl Recorded {
        fn note(&self, what: String) -> io::Result<()> {
            let mut seen = self.seen.borrow_mut();
            seen.push(what);
            if self.fails_at == Some(seen.len() - 1) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }
    }

    fn name(path: &Path) -> String {
        path.file_name().unwrap().to_string_lossy().into_owned()
    }

    impl Calls for Recorded {
        fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<usize> {
            self.note(format!("write {} bytes", bytes.len()))?;
            System.write(file, bytes)
        }
        fn sync_file(&self, file: &File) -> io::Result<()> {
            self.note("sync file".to_owned())?;
            System.sync_file(file)
        }
        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.note(format!("rename {} to {}", name(from), name(to)))?;
            System.rename(from, to)
        }
        fn sync_folder(&self, folder: &File) -> io::Result<()> {
            assert!(folder.metadata().unwrap().is_dir());
            self.note("sync folder".to_owned())?;
            System.sync_folder(folder)
        }
        fn remove(&self, path: &Path) -> io::Result<()> {
            System.remove(path)
        }
    }

    fn twice(out: &mut dyn Write) -> Result<u8> {
        out.write_all(&vec![b'n'; BUFFER_BYTES])?;
        out.write_all(b"ew")?;
        Ok(7)
    }

    #[test]
    fn a_file_is_synced_before_it_gets_its_name_and_the_folder_after() {
        let dir = TempDir::new().unwrap();
        let calls = Recorded::default();
        assert_eq!(replace_with(&calls, &dir.path().join("a"), twice).unwrap(), 7);
        let order = ["write 65536 bytes", "write 2 bytes", "sync file", "rename a.part to a", "sync folder"];
        assert_eq!(*calls.seen.borrow(), order);
        assert_eq!(fs::read(dir.path().join("a")).unwrap().len(), BUFFER_BYTES + 2);
    }

    #[test]
    fn whatever_call_fails_the_older_file_stays_and_nothing_lies_beside_it() {
        for fails_at in 0..5 {
            let dir = TempDir::new().unwrap();
            let path = dir.path().join("a");
            fs::write(&path, "old").unwrap();
            let calls = Recorded { fails_at: Some(fails_at), ..Recorded::default() };
            let error = replace_with(&calls, &path, twice).unwrap_err();
            assert!(error.to_string().starts_with(&format!("writing {}: ", path.display())), "{error}");
            // After the rename the new file is there; whether it stays after a loss of power is not known.
            let expected = if fails_at == 4 { BUFFER_BYTES + 2 } else { 3 };
            assert_eq!(fs::read(&path).unwrap().len(), expected, "{fails_at}");
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{fails_at}");
        }
    }

    #[test]
    fn what_a_killed_command_left_is_written_anew_and_a_living_one_is_not_disturbed() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("a");
        fs::write(dir.path().join("a.part"), "a long rest of a killed command").unwrap();
        replace(&path, |out| {
            out.write_all(b"x")?;
            let error = replace(&path, |out| Ok(out.write_all(b"y")?)).unwrap_err().to_string();
            assert!(error.contains("a.part is being written by another process"), "{error}");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_followed_to_the_file_and_its_rights_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = TempDir::new().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("real"), "old").unwrap();
        fs::set_permissions(at("real"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("real", at("link")).unwrap();
        replace(&at("link"), |out| Ok(out.write_all(b"new")?)).unwrap();
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read(at("real")).unwrap(), b"new");
        assert_eq!(fs::metadata(at("real")).unwrap().permissions().mode() & 0o777, 0o640);
        // A temporary file that is a link leads to another's file.
        symlink("real", at("other.part")).unwrap();
        assert!(replace(&at("other"), |out| Ok(out.write_all(b"x")?)).is_err());
        assert_eq!(fs::read(at("real")).unwrap(), b"new");
    }

    #[test]
    fn a_device_is_written_to_and_stays_what_it_is() {
        replace(Path::new("/dev/null"), |out| Ok(out.write_all(b"x")?)).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
