//! Snapshots: a backup of a node's cache as blobs, with its place in the log, so that a new node need not read
//! everything. The list of its files is written last: an interrupted snapshot does not exist.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use recension_engine::{EngineError, Result};

use crate::bytes_reader::{BytesReader, Short};
use crate::engine::{Head, decode_head, encode_head};
use crate::large::{self, Elsewhere};
use crate::limits::{PIECES_MAX, SNAPSHOTS_KEPT};
use crate::record::Id;
use crate::{Blobs, Position, SharedLog};

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
    let (blobs, piece_bytes) = (log.blobs(), log.profile().blob_bytes_max);
    let io = |path: &Path, error| EngineError::io(format!("reading {}", path.display()), error);
    let mut list = MAGIC.to_vec();
    list.extend_from_slice(&VERSION.to_le_bytes());
    list.extend_from_slice(&encode_head(head));
    // The name is unique: another node may write a snapshot of the same position.
    let unique = Id::random()?;
    for (number, path) in files(folder)?.iter().filter(|path| !path.ends_with("lock")).enumerate() {
        let bytes = fs::read(path).map_err(|error| io(path, error))?;
        let at = large::put(blobs, &format!("{PIECES}{unique}/{number}"), &bytes, piece_bytes)?;
        let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned();
        crate::bytes_reader::put_sized(&mut list, name.as_bytes());
        list.extend_from_slice(&at.encode());
    }
    list.extend_from_slice(&crc32c::crc32c(&list).to_le_bytes());
    blobs.put(&list_name(head.position), &list)?;
    let all = positions(blobs)?;
    for old in all.iter().rev().skip(SNAPSHOTS_KEPT) {
        remove(blobs, *old)?;
    }
    Ok(())
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

/// Fetches the newest undamaged snapshot into the new folder `to`; `None` if there is none.
pub(crate) fn fetch(log: &dyn SharedLog, id: Id, to: &Path) -> Result<Option<Head>> {
    let blobs = log.blobs();
    let mut newer = None;
    for position in positions(blobs)?.into_iter().rev() {
        let Some(list) = blobs.get(&list_name(position))? else { continue };
        newer = newer.or_else(|| newer_version(&list));
        let Ok((head, files)) = decode(&list) else { continue };
        if head.log != id {
            continue;
        }
        for (name, at) in files {
            let path = to.join(safe(&name)?);
            let bytes = large::get(blobs, &at)?;
            let parent = path.parent().unwrap_or(to);
            fs::create_dir_all(parent)
                .and_then(|()| {
                    let mut file = File::create_new(&path)?;
                    file.write_all(&bytes)?;
                    file.sync_all()
                })
                .map_err(|error| EngineError::io(format!("writing {}", path.display()), error))?;
        }
        return Ok(Some(head));
    }
    match newer {
        None => Ok(None),
        Some(found) => {
            let file = "the newest snapshot of the shared log".to_owned();
            Err(EngineError::NewerFormat { file, found, supported: VERSION })
        }
    }
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
