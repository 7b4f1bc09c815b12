//! Fetching a server's backup into a folder: only new files are sent, and an interrupted fetch is continued.
//!
//! Files come into `FOLDER.part`, each under a temporary name until it is whole. Then that folder replaces the former
//! one, if the server finds that this is an earlier backup of its store: those files of it that say so are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recension::disk::{Disk as _, DiskLock, FsDisk};
use recension::engine::EngineError;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::control::Control;
use crate::error::{Error, Result};
use crate::http::{HttpOptions, Poster};

/// The suffix of a file that is not whole.
const UNFINISHED: &str = ".tmp";

/// The files of an earlier backup that say of which store it is, and how far it goes. Those that there are, are sent.
const TELLING: [&str; 3] = ["STORE", "MARK", "KEYS"];

/// Most bytes of a line before a file.
const LINE_BYTES_MAX: u64 = 64 * 1024;

/// The result of fetching a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchedBackup {
    /// The newest commit that the backup holds.
    pub seq: u64,
    /// Files that were sent.
    pub files_sent: u64,
    /// Bytes of these files.
    pub bytes_sent: u64,
    /// Files that were there already.
    pub files_kept: u64,
}

#[derive(Deserialize)]
struct Line {
    name: Option<String>,
    bytes: Option<u64>,
    #[serde(default)]
    kept: bool,
    seq: Option<u64>,
}

/// Makes `folder` a backup of the store of the server at `url`, or brings an earlier one there up to date.
///
/// # Errors
/// A store of that server that is not the one of the earlier backup, or was put back to a state before it: the backup
/// is left as it is. Errors of the other side and of the disk. Complete files are kept in `FOLDER.part`, for the next
/// time.
pub fn fetch_backup(url: &str, options: HttpOptions, folder: &Path, control: &Control) -> Result<FetchedBackup> {
    let poster = Poster::new(&format!("{}/_backup", url.trim_end_matches('/')), options)?;
    let part = beside(folder, "part");
    let disk = |doing: &'static str| move |error| Error::Store(EngineError::io(doing, error).into());
    own_folder(&part).map_err(disk("making the folder of a backup"))?;
    go_back(folder).map_err(disk("bringing back the former backup"))?;
    let _not_in_use = not_in_use(folder)?;
    let mut have = Vec::new();
    for root in [folder, &part] {
        for name in names(root).map_err(disk("reading the folder of a backup"))? {
            if name.ends_with(UNFINISHED) {
                continue;
            }
            let (bytes, sha256) = sum(&root.join(&name)).map_err(disk("reading a file of a backup"))?;
            have.push((name, bytes, sha256));
        }
    }
    // If a file is in both folders, the one in the part is newer: it comes last, and counts.
    let earlier = telling(folder).map_err(disk("reading a file of a backup"))?;
    let asked = serde_json::json!({ "have": have, "earlier": earlier }).to_string();
    let mut from = BufReader::with_capacity(64 * 1024, poster.post(&asked, control)?);
    let broken = |why: String| Error::Unreachable { end: poster.end().to_owned(), why };
    let mut done = FetchedBackup::default();
    let mut wanted = BTreeSet::new();
    loop {
        if control.is_stopped() {
            return Err(Error::Stopped);
        }
        let mut line = String::new();
        let read = from.by_ref().take(LINE_BYTES_MAX).read_line(&mut line);
        read.map_err(|error| broken(error.to_string()))?;
        let line: Line = serde_json::from_str(&line).map_err(|_| {
            broken("the backup broke off; run the same command again, which goes on with it".to_owned())
        })?;
        let name = match (line.name, line.seq) {
            (Some(name), _) => name,
            (None, Some(seq)) => {
                done.seq = seq;
                break;
            }
            (None, None) => return Err(broken("the answer of the server is not a backup".to_owned())),
        };
        if !is_below(&name) {
            return Err(broken(format!("the server sent a file that would not be in the folder: {name:?}")));
        }
        if line.kept {
            keep(folder, &part, &name).map_err(disk("keeping a file of a backup"))?;
            done.files_kept += 1;
        } else {
            let bytes = line.bytes.unwrap_or_default();
            take(&mut from, &part, &name, bytes).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => broken("the backup broke off".to_owned()),
                _ => disk("writing a file of a backup")(error),
            })?;
            done.files_sent += 1;
            done.bytes_sent += bytes;
        }
        wanted.insert(name);
    }
    put_in_place(folder, &part, &wanted).map_err(disk("putting a backup in its place"))?;
    Ok(done)
}

/// Brings a former backup back to its place that the end of a fetch had moved away when it was broken off.
fn go_back(folder: &Path) -> io::Result<()> {
    let old = beside(folder, "old");
    if old.is_dir() && !folder.exists() { fs::rename(old, folder) } else { Ok(()) }
}

/// Keeps others from opening what is at the place of the backup, which is going to be replaced.
fn not_in_use(folder: &Path) -> Result<Option<DiskLock>> {
    let at_place = |error: EngineError| Error::Store(error.into());
    if !folder.join("STORE").exists() {
        return Ok(None);
    }
    let locked = FsDisk::new(folder).lock("lock");
    match locked.map_err(|error| at_place(EngineError::io(format!("locking {}", folder.display()), error)))? {
        Ok(lock) => Ok(Some(lock)),
        Err(holder) => Err(at_place(EngineError::Locked { store: folder.display().to_string(), holder })),
    }
}

/// What the earlier backup says of itself: files, in base64.
fn telling(folder: &Path) -> io::Result<BTreeMap<&'static str, String>> {
    let mut told = BTreeMap::new();
    for name in TELLING {
        match fs::read(folder.join(name)) {
            Ok(bytes) => _ = told.insert(name, STANDARD.encode(bytes)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(told)
}

fn beside(folder: &Path, what: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(format!(".{what}"));
    PathBuf::from(name)
}

/// Whether a name leads to a file below the folder that it is joined to.
fn is_below(name: &str) -> bool {
    !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

fn names(root: &Path) -> io::Result<Vec<String>> {
    fn below(root: &Path, at: &str, names: &mut Vec<String>) -> io::Result<()> {
        for entry in fs::read_dir(root.join(at))? {
            let entry = entry?;
            let Ok(own) = entry.file_name().into_string() else { continue };
            let name = if at.is_empty() { own } else { format!("{at}/{own}") };
            if entry.file_type()?.is_dir() {
                below(root, &name, names)?;
            } else if name != "lock" {
                names.push(name);
            }
        }
        Ok(())
    }
    let mut found = Vec::new();
    match below(root, "", &mut found) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        done => done.map(|()| found),
    }
}

fn sum(file: &Path) -> io::Result<(u64, String)> {
    let (mut file, mut hash, mut bytes) = (File::open(file)?, Sha256::new(), 0);
    let mut piece = vec![0; 64 * 1024];
    loop {
        let read = file.read(&mut piece)?;
        let Some(part) = piece.get(..read).filter(|part| !part.is_empty()) else { break };
        hash.update(part);
        bytes += read as u64;
    }
    Ok((bytes, hex(&hash.finalize())))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Makes a folder that nobody but its owner reads.
fn own_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Puts a file that was there already into the part, too.
fn keep(folder: &Path, part: &Path, name: &str) -> io::Result<()> {
    let (from, to) = (folder.join(name), part.join(name));
    if to.exists() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        own_folder(parent)?;
    }
    // It is a copy, not a link: the earlier backup may be opened, and written to.
    let temporary = beside(&to, "tmp");
    let mut copy = File::options().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    io::copy(&mut File::open(&from)?, &mut copy)?;
    copy.sync_all()?;
    fs::rename(&temporary, &to)
}

fn take(from: &mut impl Read, part: &Path, name: &str, bytes: u64) -> io::Result<()> {
    let to = part.join(name);
    if let Some(parent) = to.parent() {
        own_folder(parent)?;
    }
    let temporary = beside(&to, "tmp");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    if io::copy(&mut from.take(bytes), &mut file)? < bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    file.sync_all()?;
    fs::rename(&temporary, &to)
}

fn put_in_place(folder: &Path, part: &Path, wanted: &BTreeSet<String>) -> io::Result<()> {
    for name in names(part)? {
        if !wanted.contains(&name) {
            fs::remove_file(part.join(name))?;
        }
    }
    let folders = wanted.iter().filter_map(|name| Path::new(name).parent()).collect::<BTreeSet<_>>();
    for below in folders {
        File::open(part.join(below))?.sync_all()?;
    }
    File::open(part)?.sync_all()?;
    let old = beside(folder, "old");
    if folder.exists() {
        // That of a fetch that was broken off here.
        remove_folder(&old)?;
        fs::rename(folder, &old)?;
    }
    fs::rename(part, folder)?;
    if let Some(parent) = folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        File::open(parent)?.sync_all()?;
    }
    remove_folder(&old)
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_written_elsewhere() {
        for name in ["", "/etc/passwd", "../x", "a/../../x", "./x"] {
            assert!(!is_below(name), "{name}");
        }
        assert!(is_below("log/00000001.log"));
    }
}
