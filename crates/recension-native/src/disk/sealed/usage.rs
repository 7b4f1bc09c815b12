//! How many bytes of a store's files each of its keys has sealed: how far a rotation has come.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};

use super::Disk;
use super::frame::SECTOR;
use super::names::{Form, form_of};
use super::opening::{OPENING_BYTES, Opening};
use super::pages::PAGE_BYTES;

/// Bytes of files by the id of the newest key that is named in them, in the folders of a store.
pub(crate) fn bytes_per_key(disk: &dyn Disk) -> io::Result<BTreeMap<u32, u64>> {
    let mut bytes = BTreeMap::new();
    for folder in ["", "log", "index", "settled"] {
        let names = match disk.list(folder) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for name in names {
            let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            for key in keys_of(disk, &name)? {
                let len = disk.open(&name)?.len()?;
                bytes.entry(key).and_modify(|sum| *sum += len).or_insert(len);
            }
        }
    }
    Ok(bytes)
}

/// The ids of the keys that a file's openings name.
fn keys_of(disk: &dyn Disk, name: &str) -> io::Result<Vec<u32>> {
    let (step, whole) = match form_of(name) {
        Form::Pages(_) => (OPENING_BYTES as u64, false),
        Form::Slots(_) => (PAGE_BYTES as u64, true),
        Form::Frames(_) => (SECTOR, true),
        Form::Open | Form::Spool => return Ok(Vec::new()),
    };
    let file = match disk.open(name) {
        Ok(file) => file,
        // It has gone meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let len = file.len()?;
    let end = if whole { len } else { len.min(PAGE_BYTES as u64) };
    let (mut keys, mut window) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at + OPENING_BYTES as u64 <= end {
        if at % (1 << 20) == 0 {
            window.resize((end - at).min(1 << 20) as usize, 0);
            file.read_at(at, &mut window)?;
        }
        let found = window.get((at % (1 << 20)) as usize..).and_then(Opening::key_id);
        keys.extend(found.filter(|id| !keys.contains(id)));
        at += step;
    }
    Ok(keys)
}
