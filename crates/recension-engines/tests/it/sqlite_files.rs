//! What a file must be to be opened as a store over SQLite, and what is left as it was if it is not.

use std::fs;
use std::path::Path;

use crate::support::{get, open, put};
use recension::engine::{Engine, EngineError, Seq};
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};
use rusqlite::Connection;

/// Every file of a directory, with its bytes.
fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Opens `name` in `dir`, which must be refused as not being a store, with no file changed or added.
fn refused(dir: &Path, name: &str) -> String {
    let before = files(dir);
    let error = open(&dir.join(name)).err().expect("it is refused");
    assert!(matches!(error, EngineError::NotAStore { .. }), "{error}");
    assert!(files(dir) == before, "{name} was refused, but something was changed");
    error.to_string()
}

#[test]
fn what_is_not_a_store_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("notes.txt"), "dear diary").unwrap();
    assert!(refused(dir, "notes.txt").contains("not an SQLite database"));
    fs::write(dir.join("short"), &b"SQLite format 3\0"[..]).unwrap();
    assert!(refused(dir, "short").contains("ends within the header"));
    fs::create_dir(dir.join("directory")).unwrap();
    assert!(refused(dir, "directory").contains("directory"));
    fs::write(dir.join("zeros"), [0; 8192]).unwrap();
    refused(dir, "zeros");
}

#[test]
fn another_applications_database_is_refused_before_its_log_is_touched() {
    let elsewhere = tempfile::tempdir().unwrap();
    let theirs = Connection::open(elsewhere.path().join("theirs.db")).unwrap();
    theirs.pragma_update(None, "journal_mode", "WAL").unwrap();
    theirs.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    // Copied while it is open: as after a crash, with what was committed still in the log.
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files(elsewhere.path()).into_iter().filter(|(name, _)| !name.ends_with("-shm")) {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    assert!(fs::metadata(dir.path().join("theirs.db-wal")).unwrap().len() > 0);
    assert!(refused(dir.path(), "theirs.db").contains("another application"));
}

#[test]
fn a_log_without_its_database_is_not_replayed_into_a_new_one() {
    for suffix in ["-wal", "-journal"] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(format!("store.db{suffix}")), "frames").unwrap();
        assert!(refused(dir.path(), "store.db").contains(suffix));
        // A database of no bytes has lost as much.
        fs::write(dir.path().join("store.db"), "").unwrap();
        assert!(refused(dir.path(), "store.db").contains(suffix));
    }
}

#[test]
fn a_missing_or_empty_file_becomes_a_store_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let never = SqliteOptions { create: false, ..SqliteOptions::default() };
    for empty in [false, true] {
        if empty {
            fs::write(&path, "").unwrap();
        }
        let before = files(dir.path());
        assert!(matches!(SqliteEngine::open(&path, never.clone()), Err(EngineError::NotAStore { .. })));
        assert_eq!(files(dir.path()), before, "nothing was made");
    }
    assert_eq!(open(&path).unwrap().head(), Seq::ZERO);
    assert_eq!(SqliteEngine::open(&path, never).unwrap().head(), Seq::ZERO);
    let missing = dir.path().join("no such directory").join("store.db");
    assert!(matches!(open(&missing), Err(EngineError::Io { .. })), "a directory is not made on the way");
}

#[test]
fn a_store_that_was_half_made_is_made_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    fs::write(dir.path().join("store.db.new"), "the first bytes of a database").unwrap();
    fs::write(dir.path().join("store.db.new-journal"), "and its journal").unwrap();
    let engine = open(&path).unwrap();
    put(&engine, b"k", b"v");
    drop(engine);
    assert_eq!(get(&open(&path).unwrap(), b"k").as_deref(), Some(&b"v"[..]));
    assert!(!dir.path().join("store.db.new").exists());
}

#[test]
fn a_newer_format_is_refused_even_when_only_the_log_says_so() {
    for in_log in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        put(&open(&path).unwrap(), b"k", b"v");
        let newer = Connection::open(&path).unwrap();
        newer.pragma_update(None, "user_version", 2).unwrap();
        if !in_log {
            newer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        }
        let header = fs::read(&path).unwrap();
        assert_eq!(header[63], if in_log { 1 } else { 2 }, "the version in the file itself");
        match open(&path) {
            Err(EngineError::NewerFormat { found: 2, supported: 1, .. }) => {}
            other => panic!("{:?}", other.map(|engine| engine.head())),
        }
    }
}

#[test]
fn one_handle_owns_a_store_by_whatever_name_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let link = dir.path().join("link.db");
    let first = open(&path).unwrap();
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for name in [&path, &link, &dir.path().join(".").join("store.db")] {
        match open(name) {
            Err(EngineError::Locked { holder, .. }) => assert!(holder.contains("this process"), "{holder}"),
            other => panic!("{:?}", other.map(|engine| engine.head())),
        }
    }
    let snapshot = first.snapshot().unwrap();
    drop(first);
    assert!(matches!(open(&path), Err(EngineError::Locked { .. })), "a snapshot keeps the store open");
    drop(snapshot);
    put(&open(&link).unwrap(), b"k", b"v");
    assert_eq!(get(&open(&path).unwrap(), b"k").as_deref(), Some(&b"v"[..]));
}

#[test]
fn a_closed_store_is_one_file_and_its_lock() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir.path().join("store.db")).unwrap();
    put(&engine, b"k", b"v");
    get(&engine, b"k");
    drop(engine);
    let names: Vec<_> = files(dir.path()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["store.db", "store.db.lock"]);
}
