//! The files of keys: `KEYS` and `COLLECTION-KEYS`. The first byte of an input chooses the file, and whether its
//! checksum is made right again; the rest is edits, or the whole file.
//!
//! Oracle: no panic, and no key from a file that is not what was written. Every byte of both is sealed or bound to a
//! seal, so that any other file is refused, with a right checksum too, and stays as it was found.

use std::sync::{Arc, LazyLock};

use recension::CollectionKeyOptions;
use recension::Store;
use recension::engine::{NativeEngine, NativeOptions};

use super::edits::{Source, edited};
use crate::crash::{native, test_clock};
use crate::sim::SimDisk;

const NAMES: [&str; 2] = ["KEYS", "COLLECTION-KEYS"];
/// Longest file.
const FILE_BYTES_MAX: usize = 1 << 16;

type Files = Vec<(String, Vec<u8>)>;

static STORE: LazyLock<Files> = LazyLock::new(|| made().unwrap_or_else(|error| panic!("a store: {error}")));

fn options() -> NativeOptions {
    NativeOptions { key: Some(native::key()), ..native::small_options(test_clock()) }
}

fn open(disk: &SimDisk) -> recension::Result<Store> {
    Store::with_clock(Arc::new(NativeEngine::open(disk.arc(), options())?), test_clock())
}

fn made() -> recension::Result<Files> {
    let disk = SimDisk::new();
    let store = open(&disk)?;
    for name in ["a", "b"] {
        store.create_collection_key(name, CollectionKeyOptions::default())?;
        store.collection(name)?.put("x", r#"{"y":1}"#)?;
    }
    store.destroy_collection_key("a")?;
    drop(store);
    let files = disk.files().into_iter();
    Ok(files.map(|(name, _)| (name.clone(), disk.content(&name).unwrap_or_default())).collect())
}

/// A file of keys.
pub(super) fn keys(input: &[u8]) {
    let mut source = Source(input);
    let choice = source.byte();
    let name = NAMES[usize::from(choice >> 2) % NAMES.len()];
    let known = STORE.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.as_slice());
    let known = known.unwrap_or_default();
    let mut bytes = if choice & 2 == 2 { source.take(FILE_BYTES_MAX).to_vec() } else { edited(known, &mut source) };
    if choice & 1 == 1
        && let Some((body, crc)) = bytes.split_last_chunk_mut::<4>()
    {
        *crc = crc32c::crc32c(body).to_le_bytes();
    }
    let disk = SimDisk::new();
    STORE.iter().for_each(|(name, bytes)| disk.put(name, bytes));
    disk.put(name, &bytes);
    match open(&disk) {
        Ok(store) => {
            assert!(bytes == known, "{name} opens");
            let read = store.collection("b").and_then(|own| own.get("x"));
            assert!(read.is_ok_and(|found| found.is_some()), "what was sealed is there");
        }
        Err(error) => {
            assert!(bytes != known, "{name}: {error}");
            assert_eq!(disk.content(name).as_deref(), Some(bytes.as_slice()), "{name} was changed");
        }
    }
}
