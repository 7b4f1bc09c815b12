//! Stores that are only read, and the disk that a small one takes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use recension::disk::FsDisk;
use recension::engine::{Batch, Engine, EngineError, NativeEngine, NativeOptions, TreeId};
use recension::{At, Error};

/// Every file with its bytes and the time of its last change.
fn files(folder: &Path) -> BTreeMap<String, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            let name = entry.file_name().into_string().unwrap();
            found.insert(format!("{name}/"), (Vec::new(), entry.metadata().unwrap().modified().unwrap()));
            found.extend(files(&entry.path()).into_iter().map(|(file, what)| (format!("{name}/{file}"), what)));
        } else {
            let bytes = fs::read(entry.path()).unwrap();
            found.insert(
                entry.file_name().into_string().unwrap(),
                (bytes, entry.metadata().unwrap().modified().unwrap()),
            );
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            _ = fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_store_that_is_only_read_stays_as_it_is_to_the_byte() {
    let dir = tempfile::tempdir().unwrap();
    let (path, killed, bare) = (dir.path().join("closed"), dir.path().join("killed"), dir.path().join("bare"));
    let store = recension::open(path.to_str().unwrap()).unwrap();
    let notes = store.collection("notes").unwrap();
    for n in 0..50 {
        notes.put(&format!("d{n}"), format!("{{\"n\":{n}}}")).unwrap();
    }
    store.engine().settle().unwrap();
    for n in 0..50 {
        notes.put(&format!("d{n}"), format!("{{\"n\":{}}}", n + 100)).unwrap();
    }
    let refused = recension::open_read_only(&path);
    assert!(matches!(refused, Err(Error::Engine(EngineError::Locked { .. }))), "somebody writes to it");
    copy(&path, &killed);
    drop((notes, store));
    copy(&path, &bare);
    fs::remove_dir_all(bare.join("index")).unwrap();
    fs::remove_file(bare.join("lock")).unwrap();
    for path in [&path, &killed, &bare] {
        let before = files(path);
        {
            let store = recension::open_read_only(path).unwrap();
            let second = recension::open_read_only(path).unwrap();
            let notes = store.collection("notes").unwrap();
            assert_eq!(second.collection("notes").unwrap().get("d7").unwrap().unwrap().body, r#"{"n":107}"#);
            assert_eq!(
                notes.at(At::Seq(notes.get("d7").unwrap().unwrap().seq)).unwrap().get("d3").unwrap().unwrap().body,
                r#"{"n":103}"#
            );
            assert_eq!(store.engine().verify().unwrap().problems, []);
            let refused = notes.put("x", "{}");
            assert!(matches!(refused, Err(Error::Engine(EngineError::ReadOnly))), "{refused:?}");
            assert!(matches!(store.engine().settle(), Err(EngineError::ReadOnly)));
            let backup = path.with_extension("backup");
            store.engine().backup(&backup).unwrap();
            let backup = recension::open(backup.to_str().unwrap()).unwrap();
            assert!(backup.collection("notes").unwrap().get("d49").unwrap().is_some());
        }
        assert_eq!(files(path).keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
        assert!(files(path) == before, "{} was changed", path.display());
    }
    let nothing = dir.path().join("nothing");
    assert!(recension::open_read_only(&nothing).is_err() && !nothing.exists());
}

#[test]
fn what_is_set_apart_for_a_store_grows_with_what_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), NativeOptions::default()).unwrap();
    let taken = || -> u64 {
        let logs = fs::read_dir(dir.path().join("log")).unwrap();
        logs.map(|entry| entry.unwrap().metadata().unwrap().blocks() * 512).sum()
    };
    let mut written = 0;
    for n in 0..200_u64 {
        let mut batch = Batch::new();
        batch.put(TreeId(1), &n.to_be_bytes(), &vec![n as u8; 40_000]);
        engine.commit(batch).unwrap();
        written += 40_000;
        assert!(taken() <= 4 * written + (1 << 20) + (64 << 10), "{} bytes of disk for {written}", taken());
    }
    let snapshot = engine.snapshot().unwrap();
    for n in 0..200_u64 {
        assert_eq!(*snapshot.get(TreeId(1), &n.to_be_bytes()).unwrap().unwrap(), vec![n as u8; 40_000][..]);
    }
}
