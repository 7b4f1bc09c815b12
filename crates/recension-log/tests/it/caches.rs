//! Caches: deleted, old, damaged, another log's, in use; and the addresses that stores on logs have.

use std::sync::Arc;

use recension_engine::{Engine, EngineError, Seq};
use recension_log::{Cache, MemoryLog, Position, ReplicatedEngine, SharedLog};

use crate::support::{node, options, row, try_node, value};

/// Takes something from a cache whose store lies there.
type Loss = fn(&std::path::Path);

/// Each test by its name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_cache_of_another_log_is_refused", a_cache_of_another_log_is_refused),
    ("a_cache_in_use_is_refused", a_cache_in_use_is_refused),
    ("a_directory_of_something_else_is_no_cache", a_directory_of_something_else_is_no_cache),
    ("a_cache_of_newer_software_is_made_anew", a_cache_of_newer_software_is_made_anew),
    ("an_old_cache_begins_with_a_snapshot", an_old_cache_begins_with_a_snapshot),
    ("a_snapshot_comes_with_its_index_and_is_read_without", a_snapshot_comes_with_its_index_and_is_read_without),
    ("a_damaged_snapshot_is_told_and_the_next_opening_begins_anew", a_damaged_snapshot_is_told),
    ("a_snapshot_of_newer_software_is_told", a_snapshot_of_newer_software_is_told),
    ("a_cache_that_lost_something_reads_it_again", a_cache_that_lost_something_reads_it_again),
    ("a_cache_in_memory_reads_everything", a_cache_in_memory_reads_everything),
    ("batches_beyond_a_record_are_written_beside_the_log", batches_beyond_a_record_are_written_beside_the_log),
    ("a_store_is_opened_by_its_address", a_store_is_opened_by_its_address),
];

fn a_cache_of_another_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    node(Arc::new(MemoryLog::new()), &cache).commit(row(b"k", b"v")).unwrap();
    let other = MemoryLog::new();
    node(Arc::new(other.clone()), &folder.path().join("other")).commit(row(b"k", b"v")).unwrap();
    let refused = try_node(Arc::new(other), &cache).map(drop).unwrap_err();
    let says = refused.to_string();
    assert!(matches!(refused, EngineError::NotAStore { .. }) && says.contains("name another cache"), "{says}");
}

fn a_directory_of_something_else_is_no_cache() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("store")).unwrap();
    std::fs::write(folder.path().join("store/letters"), "mine").unwrap();
    let refused = try_node(Arc::new(MemoryLog::new()), folder.path()).map(drop).unwrap_err();
    let says = refused.to_string();
    assert!(matches!(refused, EngineError::NotAStore { .. }) && says.contains("directory of its own"), "{says}");
    assert_eq!(std::fs::read(folder.path().join("store/letters")).unwrap(), b"mine", "nothing is touched");
}

fn a_cache_of_newer_software_is_made_anew() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let cache = folder.path().join("cache");
    node(Arc::new(log.clone()), &cache).commit(row(b"k", b"v")).unwrap();
    let losses: [Loss; 3] = [
        // The version of the note, and of the store's format.
        |store| change(&store.with_file_name("position"), |bytes| bytes[8] = 9),
        |store| {
            change(&store.join("STORE"), |bytes| {
                bytes[8] = 99;
                let crc = crc32c::crc32c(&bytes[..28]);
                bytes[28..32].copy_from_slice(&crc.to_le_bytes());
            });
        },
        |store| std::fs::remove_dir_all(store.parent().unwrap()).unwrap(),
    ];
    for lose in losses {
        lose(&cache.join("store"));
        assert_eq!(value(&node(Arc::new(log.clone()), &cache), b"k").as_deref(), Some(&b"v"[..]));
    }
}

fn change(file: &std::path::Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = std::fs::read(file).unwrap();
    change(&mut bytes);
    std::fs::write(file, bytes).unwrap();
}

fn an_old_cache_begins_with_a_snapshot() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let old = folder.path().join("old");
    node(Arc::new(log.clone()), &old).commit(row(b"k", b"v")).unwrap();
    let other = node(Arc::new(log.clone()), &folder.path().join("other"));
    for n in 0..20 {
        other.commit(row(b"n", &[n])).unwrap();
    }
    other.write_snapshot().unwrap();
    assert!(log.read(Position(3), 1).is_err(), "what the old cache would need is gone");
    let old = node(Arc::new(log), &old);
    assert_eq!((old.position(), old.head()), (other.position(), other.head()));
    assert_eq!(value(&old, b"k").as_deref(), Some(&b"v"[..]));
}

/// A log whose snapshot has `count` rows, and nothing behind it but one.
fn with_a_snapshot(log: &MemoryLog, folder: &std::path::Path, count: u32) {
    let one = node(Arc::new(log.clone()), folder);
    for n in 0..count {
        one.commit(row(&n.to_be_bytes(), &[7; 500])).unwrap();
    }
    one.write_snapshot().unwrap();
    one.commit(row(b"behind", b"v")).unwrap();
}

fn a_snapshot_comes_with_its_index_and_is_read_without() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    with_a_snapshot(&log, &folder.path().join("one"), 200);
    // The second snapshot is as older software wrote it: its list has no files of the index.
    for (name, indexed) in [("new", true), ("old", false)] {
        if !indexed {
            without_index(&log);
        }
        let new = node(Arc::new(log.clone()), &folder.path().join(name));
        assert_eq!(value(&new, &150u32.to_be_bytes()).as_deref(), Some(&[7; 500][..]), "{name}");
        assert_eq!(value(&new, b"behind").as_deref(), Some(&b"v"[..]), "{name}");
        let details = new.stats().unwrap().details;
        let number = |of: &str| details.iter().find(|(known, ..)| *known == of).map(|(_, number, _)| *number);
        assert_eq!(number("versions in memory").unwrap() < 5, indexed, "{name}: {details:?}");
        assert!(new.verify().unwrap().problems.is_empty());
    }
}

/// Leaves the files of the index out of the lists of a log's snapshots.
fn without_index(log: &MemoryLog) {
    const HEAD: usize = 8 + 4 + 72;
    for name in log.blobs().list("snapshot/").unwrap() {
        let list = log.blobs().get(&name).unwrap().unwrap();
        let mut shorter = list[..HEAD].to_vec();
        let mut rest = &list[HEAD..list.len() - 4];
        let mut left_out = 0;
        while !rest.is_empty() {
            let sized = |at: usize| 4 + u32::from_le_bytes(rest[at..at + 4].try_into().unwrap()) as usize;
            let of_name = sized(0);
            let whole = of_name + sized(of_name) + 4 + 8 + 32;
            if rest[4..of_name].starts_with(b"index/") {
                left_out += 1;
            } else {
                shorter.extend_from_slice(&rest[..whole]);
            }
            rest = &rest[whole..];
        }
        assert!(left_out >= 2, "a manifest and a run");
        shorter.extend_from_slice(&crc32c::crc32c(&shorter).to_le_bytes());
        log.blobs().put(&name, &shorter).unwrap();
    }
}

fn a_damaged_snapshot_is_told() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    with_a_snapshot(&log, &folder.path().join("one"), 20);
    let new = folder.path().join("new");
    for piece in log.blobs().list("piece/").unwrap() {
        let sound = log.blobs().get(&piece).unwrap().unwrap();
        let mut flipped = sound.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 16;
        log.blobs().put(&piece, &flipped).unwrap();
        let refused = try_node(Arc::new(log.clone()), &new).map(drop).unwrap_err().to_string();
        let blob = piece.rsplit_once('/').unwrap().0;
        assert!(refused.contains(blob) && refused.contains("checksum"), "{piece}: {refused}");
        log.blobs().delete(&piece).unwrap();
        let refused = try_node(Arc::new(log.clone()), &new).map(drop).unwrap_err().to_string();
        assert!(refused.contains(blob) && refused.contains("missing"), "{piece}: {refused}");
        log.blobs().put(&piece, &sound).unwrap();
    }
    // What the tries have left is of no harm, and goes.
    assert!(new.join("store.new").exists());
    assert_eq!(value(&node(Arc::new(log), &new), b"behind").as_deref(), Some(&b"v"[..]));
    assert!(!new.join("store.new").exists());
}

fn a_snapshot_of_newer_software_is_told() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let one = node(Arc::new(log.clone()), &folder.path().join("one"));
    one.commit(row(b"k", b"v")).unwrap();
    one.write_snapshot().unwrap();
    for name in log.blobs().list("snapshot/").unwrap() {
        let mut list = log.blobs().get(&name).unwrap().unwrap();
        list[8] = 9;
        log.blobs().put(&name, &list).unwrap();
    }
    let refused = try_node(Arc::new(log), &folder.path().join("new")).map(drop).unwrap_err();
    assert!(matches!(refused, EngineError::NewerFormat { found: 9, .. }), "{refused}");
}

fn a_cache_in_use_is_refused() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let cache = folder.path().join("cache");
    let _held = node(Arc::new(log.clone()), &cache);
    let refused = try_node(Arc::new(log), &cache).map(drop).unwrap_err();
    assert!(matches!(refused, EngineError::Locked { .. }), "{refused}");
}

fn a_cache_that_lost_something_reads_it_again() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let cache = folder.path().join("cache");
    let engine = node(Arc::new(log.clone()), &cache);
    for n in 0..50_u8 {
        engine.commit(row(&[n], &[n; 100])).unwrap();
    }
    let position = engine.position();
    drop(engine);
    let store = cache.join("store");
    let losses: [Loss; 4] = [
        |store| std::fs::remove_dir_all(store).unwrap(),
        |store| std::fs::remove_file(store.with_file_name("position")).unwrap(),
        |store| std::fs::write(store.with_file_name("position"), b"nonsense").unwrap(),
        |store| std::fs::remove_file(store.join("STORE")).unwrap(),
    ];
    for lose in losses {
        lose(&store);
        let engine = node(Arc::new(log.clone()), &cache);
        assert_eq!(engine.position(), position);
        assert_eq!(value(&engine, &[49]), Some(vec![49; 100]));
        assert_eq!(engine.verify().unwrap().problems, []);
    }
}

fn a_cache_in_memory_reads_everything() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let one = node(Arc::new(log.clone()), &folder.path().join("one"));
    one.commit(row(b"k", b"v")).unwrap();
    let other = ReplicatedEngine::open(Arc::new(log), &Cache::Memory, options()).unwrap();
    assert_eq!(value(&other, b"k").as_deref(), Some(&b"v"[..]));
    assert_eq!(other.commit(row(b"k", b"w")).unwrap().seq, Seq(2));
    assert_eq!(other.position(), {
        one.refresh().unwrap();
        one.position()
    });
}

fn batches_beyond_a_record_are_written_beside_the_log() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let one = node(Arc::new(log.clone()), &folder.path().join("one"));
    let large = vec![7; 40 << 20];
    one.commit(row(b"large", &large)).unwrap();
    let other = node(Arc::new(log), &folder.path().join("other"));
    assert!(value(&other, b"large") == Some(large));
    assert_eq!(other.position(), one.position());
}

fn a_store_is_opened_by_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let (log, cache) = (folder.path().join("a log"), folder.path().join("cache"));
    let path = log.display().to_string().replace(' ', "%20");
    let address = format!("file://{path}?cache={}", cache.display());
    recension_log::open(&address).unwrap().commit(row(b"k", b"v")).unwrap();
    let again = recension_log::open(&format!("file://{path}?cache=memory:")).unwrap();
    assert_eq!(value(&again, b"k").as_deref(), Some(&b"v"[..]));
    assert!(log.is_dir() && cache.is_dir());
}
