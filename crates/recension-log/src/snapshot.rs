//! Snapshots: a backup of a node's cache as blobs, with its place in the log, so that a new node need not read
//! everything. The list of its files is written last: an interrupted snapshot does not exist.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::Builder;
use std::time::SystemTime;

use recension_engine::{EngineError, Result};

use crate::bytes_reader::{BytesReader, Short};
use crate::engine::{Head, decode_head, encode_head};
use crate::large::{self, Elsewhere, Pieces};
use crate::limits::{FETCHES_MAX, PIECE_BYTES, PIECES_MAX, SMALL_FILE_BYTES, SNAPSHOTS_KEPT, SYNCS_AHEAD};
use crate::record::Id;
use crate::{Blobs, LogError, Position, SharedLog};

/// The prefix of snapshots' lists; the position follows.
const LISTS: &str = "snapshot/";
/// The prefix of their pieces, which only lists name.
const PIECES: &str = "piece/";
const MAGIC: [u8; 8] = *b"RECSNAPS";
const VERSION: u32 = 1;

fn list_name(position: Position) -> String {
    format!("{LISTS}{:020}", position.0)
}

/// The positions of the snapshots, in order.
pub(crate) fn positions(blobs: &dyn Blobs) -> crate::Result<Vec<Position>> {
    let names = blobs.list(LISTS)?;
    Ok(names.iter().filter_map(|name| name.strip_prefix(LISTS)?.parse().ok().map(Position)).collect())
}

/// Writes the files of `folder` as the snapshot of a head, and removes older ones.
pub(crate) fn write(log: &dyn SharedLog, folder: &Path, head: &Head) -> Result<()> {
    let mut upload = Upload::new()?;
    upload.bring_up_to_date(log, folder)?;
    upload.end(log, head)
}

/// A snapshot that is being written. It can be brought up to date with its folder again and again, which writes what
/// has changed there, until its list is written.
pub(crate) struct Upload {
    /// The prefix of its pieces' names. It is unique, since another node may write a snapshot of the same position.
    name: String,
    next: u64,
    files: BTreeMap<String, Uploaded>,
}

struct Uploaded {
    /// The stamp that shows that the file was not touched: its number in the file system, its length, its time of
    /// writing.
    stamp: (u64, u64, SystemTime),
    at: Elsewhere,
    hashes: Vec<[u8; 32]>,
}

impl Upload {
    pub(crate) fn new() -> Result<Self> {
        Ok(Upload { name: format!("{PIECES}{}", Id::random()?), next: 0, files: BTreeMap::new() })
    }

    /// Writes what is new in `folder`; returns how many bytes.
    pub(crate) fn bring_up_to_date(&mut self, log: &dyn SharedLog, folder: &Path) -> Result<u64> {
        let blobs = log.blobs();
        let piece_bytes = log.profile().blob_bytes_max.clamp(1, PIECE_BYTES);
        let (mut before, mut written) = (std::mem::take(&mut self.files), 0);
        for path in files(folder)?.iter().filter(|path| !path.ends_with("lock")) {
            let io = |error| EngineError::io(format!("reading {}", path.display()), error);
            let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
            let file = File::open(path).map_err(io)?;
            let meta = file.metadata().map_err(io)?;
            let stamp = (meta.ino(), meta.len(), meta.modified().map_err(io)?);
            let known = before.remove(&name);
            let untouched = |known: &Uploaded| known.stamp == stamp && meta.len() >= SMALL_FILE_BYTES;
            if let Some(known) = known.as_ref().filter(|known| untouched(known)) {
                let Uploaded { at, hashes, .. } = known;
                self.files.insert(name, Uploaded { stamp, at: at.clone(), hashes: hashes.clone() });
                continue;
            }
            let (at, hashes) = match known {
                Some(known) => (known.at.name, known.hashes),
                None => (format!("{}/{}", self.name, self.next), Vec::new()),
            };
            self.next += 1;
            let mut pieces = Pieces::over(&at, &hashes);
            let mut piece = Vec::new();
            while (&file).take(piece_bytes as u64).read_to_end(&mut piece).map_err(io)? > 0 {
                pieces.put(blobs, &piece)?;
                piece.clear();
            }
            let (at, hashes, bytes) = pieces.end(blobs)?;
            written += bytes;
            self.files.insert(name, Uploaded { stamp, at, hashes });
        }
        for gone in before.into_values() {
            large::delete(blobs, &gone.at)?;
        }
        Ok(written)
    }

    /// The snapshot is there, as that of a head; older ones are removed.
    pub(crate) fn end(self, log: &dyn SharedLog, head: &Head) -> Result<()> {
        let blobs = log.blobs();
        let mut list = MAGIC.to_vec();
        list.extend_from_slice(&VERSION.to_le_bytes());
        list.extend_from_slice(&encode_head(head));
        for (name, file) in &self.files {
            crate::bytes_reader::put_sized(&mut list, name.as_bytes());
            list.extend_from_slice(&file.at.encode());
        }
        list.extend_from_slice(&crc32c::crc32c(&list).to_le_bytes());
        blobs.put(&list_name(head.position), &list)?;
        let all = positions(blobs)?;
        for old in all.iter().rev().skip(SNAPSHOTS_KEPT) {
            remove(blobs, *old)?;
        }
        Ok(())
    }
}

fn remove(blobs: &dyn Blobs, position: Position) -> Result<()> {
    let name = list_name(position);
    let list = blobs.get(&name)?;
    blobs.delete(&name)?;
    if let Some(Ok((_, files))) = list.map(|list| decode(&list)) {
        for (_, at) in files {
            large::delete(blobs, &at)?;
        }
    }
    Ok(())
}

/// Fetches the newest sound snapshot behind `after` into the new folder `to`; `None` if there is none.
pub(crate) fn fetch(log: &dyn SharedLog, id: Id, after: Position, to: &Path) -> Result<Option<Head>> {
    let blobs = log.blobs();
    for _ in 0..FETCHES_MAX {
        let mut newer = None;
        let mut found = None;
        for position in positions(blobs)?.into_iter().rev().take_while(|position| *position > after) {
            let Some(list) = blobs.get(&list_name(position))? else { continue };
            newer = newer.or_else(|| newer_version(&list));
            let Ok((head, files)) = decode(&list) else { continue };
            if head.log == id {
                found = Some((head, files));
                break;
            }
        }
        let Some((head, files)) = found else {
            let file = "the newest snapshot of the shared log".to_owned();
            return newer.map_or(Ok(None), |found| Err(EngineError::NewerFormat { file, found, supported: VERSION }));
        };
        match fetch_files(blobs, &files, to) {
            Ok(()) => return Ok(Some(head)),
            // It was removed meanwhile: there is a newer one.
            Err(EngineError::Damaged { .. }) if blobs.get(&list_name(head.position))?.is_none() => {
                fs::remove_dir_all(to)
                    .or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
                    .map_err(|error| EngineError::io(format!("removing {}", to.display()), error))?;
            }
            Err(error) => return Err(error),
        }
    }
    Err(LogError::Unavailable("snapshots are removed faster than this node reads them; try again".to_owned()).into())
}

fn fetch_files(blobs: &dyn Blobs, files: &[(String, Elsewhere)], to: &Path) -> Result<()> {
    let io = |path: &Path, error| EngineError::io(format!("writing {}", path.display()), error);
    std::thread::scope(|scope| {
        let (written, to_sync) = sync_channel::<(Arc<File>, PathBuf)>(SYNCS_AHEAD);
        let sync_all =
            move || to_sync.iter().try_for_each(|(file, path)| file.sync_all().map_err(|error| io(&path, error)));
        let syncing = Builder::new().name("recension-sync".to_owned()).spawn_scoped(scope, sync_all);
        let syncing = syncing.map_err(|error| EngineError::io("starting a thread that syncs files", error))?;
        let fetched = files.iter().try_for_each(|(name, at)| {
            let path = to.join(safe(name)?);
            crate::folder::own_folder(path.parent().unwrap_or(to)).map_err(|error| io(&path, error))?;
            let file = File::options().write(true).create_new(true).mode(0o600).open(&path);
            let file = Arc::new(file.map_err(|error| io(&path, error))?);
            large::each_piece(blobs, at, |piece| {
                (&*file).write_all(&piece).map_err(|error| io(&path, error))?;
                // The disk begins to work while the next piece is fetched. If it has enough to do, it does not matter.
                let _ = written.try_send((Arc::clone(&file), path.clone()));
                Ok::<_, EngineError>(())
            })?;
            // Who syncs takes no more after an error, which is told in the end.
            let _ = written.send((file, path));
            Ok(())
        });
        drop(written);
        let synced = syncing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        fetched.and(synced)
    })
}

/// The version of a list, if newer software has written it.
fn newer_version(list: &[u8]) -> Option<u32> {
    let mut reader = BytesReader(list);
    let (magic, version) = (reader.array::<8>().ok()?, reader.u32().ok()?);
    (magic == MAGIC && version > VERSION).then_some(version)
}

/// A name from a list as a path that stays in its folder.
fn safe(name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    let plain = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if plain && !name.is_empty() {
        return Ok(path);
    }
    Err(EngineError::damaged("a snapshot of the shared log", 0, format!("it has a file called {name:?}")))
}

type Files = Vec<(String, Elsewhere)>;

fn decode(list: &[u8]) -> std::result::Result<(Head, Files), Short> {
    let (body, crc) = list.split_last_chunk::<4>().ok_or(Short)?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*crc) {
        return Err(Short);
    }
    let mut reader = BytesReader(body);
    if reader.array()? != MAGIC || reader.u32()? != VERSION {
        return Err(Short);
    }
    let head = decode_head(&mut reader)?;
    let mut files = Vec::new();
    while !reader.is_empty() {
        if files.len() >= PIECES_MAX {
            return Err(Short);
        }
        files.push((reader.text()?, Elsewhere::decode(&mut reader)?));
    }
    Ok((head, files))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let io = |error| EngineError::io(format!("reading {}", folder.display()), error);
        for entry in fs::read_dir(&folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
