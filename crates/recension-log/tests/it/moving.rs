//! Moving a store: the old place is closed before the new one begins, and a move that is broken off is gone on with.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use recension_conformance::sim::Rng;
use recension_engine::{Engine, EngineError, Seq};
use recension_engines::into_log;
use recension_log::{Appended, Blobs, LogError, LogProfile, MemoryLog, Position, Result, SharedLog};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};

use crate::support::{node, row, value};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("the_old_place_is_closed_before_the_new_one_begins", the_old_place_is_closed_before_the_new_one_begins),
    ("a_move_that_fails_leaves_the_old_place_open", a_move_that_fails_leaves_the_old_place_open),
    ("a_move_that_is_broken_off_is_gone_on_with", a_move_that_is_broken_off_is_gone_on_with),
    ("what_is_copied_under_the_seal_does_not_grow", what_is_copied_under_the_seal_does_not_grow),
    ("a_log_with_a_store_is_no_place_to_move_to", a_log_with_a_store_is_no_place_to_move_to),
];

const TO: &str = "postgres://db/app?log=x";

/// What is about to be done to a log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Record,
    Read,
    /// So many bytes of a blob.
    Blob(usize),
}

/// A log that looks at the world before something is done, and says what becomes of it.
struct Watched<F>(MemoryLog, F);

impl<F: Fn(Doing) -> Option<LogError> + Send + Sync + 'static> SharedLog for Watched<F> {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        match (self.1)(Doing::Record) {
            None => self.0.append(position, record),
            Some(error @ LogError::Unknown(_)) => {
                // It is written, and nobody is told.
                let _ = self.0.append(position, record)?;
                Err(error)
            }
            Some(error) => Err(error),
        }
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        match (self.1)(Doing::Read) {
            Some(LogError::Unknown(why)) => Err(LogError::Unavailable(why)),
            _ => self.0.read(from, bytes_max),
        }
    }

    fn tail(&self, known: Position) -> Result<Position> {
        self.0.tail(known)
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.0.wait_for(position, timeout);
    }

    fn wake(&self) {
        self.0.wake();
    }

    fn trim(&self, before: Position) -> Result<()> {
        self.0.trim(before)
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        self.0.profile()
    }
}

impl<F: Fn(Doing) -> Option<LogError> + Send + Sync + 'static> Blobs for Watched<F> {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        (self.1)(Doing::Blob(bytes.len())).map_or_else(|| self.0.put(name, bytes), Err)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.0.get(name)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.0.list(prefix)
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.0.delete(name)
    }
}

fn native(folder: &Path) -> recension_engine::Result<NativeEngine> {
    NativeEngine::open(Arc::new(FsDisk::new(folder)), NativeOptions::default())
}

fn moved<T>(answer: recension_engine::Result<T>) -> bool {
    matches!(answer, Err(EngineError::Moved { to }) if to == TO)
}

fn the_old_place_is_closed_before_the_new_one_begins() {
    let folder = tempfile::tempdir().unwrap();
    let (old, copy, cache) = (folder.path().join("old"), folder.path().join("copy"), folder.path().join("cache"));
    let engine = Arc::new(native(&old).unwrap());
    engine.commit(row(b"a", b"1")).unwrap();
    let looked = {
        let (engine, old) = (engine.clone(), old.clone());
        move |doing| {
            if doing != Doing::Record {
                return None;
            }
            // Whatever comes now would not be in the new place.
            assert!(old.join("MOVED").is_file(), "whoever opens it next is told, also if this process dies now");
            assert!(moved(engine.commit(row(b"late", b"1"))));
            assert!(moved(engine.erase(&[])) && moved(engine.set_retention(&[])));
            None
        }
    };
    let memory = MemoryLog::new();
    assert_eq!(into_log(&*engine, &copy, &Watched(memory.clone(), looked), TO).unwrap(), Seq(1));
    assert_eq!(value(&*engine, b"a").as_deref(), Some(&b"1"[..]), "reads go on");
    drop(engine);
    assert!(moved(native(&old)));
    let new = node(Arc::new(memory), &cache);
    assert_eq!(value(&new, b"a").as_deref(), Some(&b"1"[..]));
    assert_eq!(new.commit(row(b"b", b"2")).unwrap().seq, Seq(2));
}

fn a_move_that_fails_leaves_the_old_place_open() {
    let folder = tempfile::tempdir().unwrap();
    let (old, copy) = (folder.path().join("old"), folder.path().join("copy"));
    let engine = native(&old).unwrap();
    engine.commit(row(b"a", b"1")).unwrap();
    let full_for = |what: fn(Doing) -> bool| {
        move |doing| what(doing).then(|| LogError::Refused { system: "test", why: "the disk is full".to_owned() })
    };
    let is_blob = |doing| matches!(doing, Doing::Blob(_));
    for (n, what) in [(1, full_for(|doing| doing == Doing::Record)), (2, full_for(is_blob))] {
        let failed = into_log(&engine, &copy, &Watched(MemoryLog::new(), what), TO).unwrap_err();
        assert!(failed.to_string().contains("full"), "{failed}");
        engine.commit(row(b"b", &[n])).unwrap();
    }
    drop(engine);
    native(&old).unwrap().commit(row(b"c", b"3")).unwrap();
}

fn a_move_that_is_broken_off_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let (old, copy) = (folder.path().join("old"), folder.path().join("copy"));
    let memory = MemoryLog::new();
    let engine = native(&old).unwrap();
    engine.commit(row(b"a", b"1")).unwrap();
    // The new place has begun, and nobody knows: the old one must not go on.
    let silent =
        |doing| (!matches!(doing, Doing::Blob(_))).then(|| LogError::Unknown("the network is gone".to_owned()));
    let unknown = into_log(&engine, &copy, &Watched(memory.clone(), silent), TO).unwrap_err();
    assert!(matches!(unknown, EngineError::Unknown { .. }) && unknown.to_string().contains("repeat"), "{unknown}");
    assert!(moved(engine.commit(row(b"b", b"2"))));
    drop(engine);
    let new = node(Arc::new(memory.clone()), &folder.path().join("cache"));
    new.commit(row(b"c", b"3")).unwrap();
    assert!(moved(native(&old)));
    let again = || NativeEngine::open_moved(Arc::new(FsDisk::new(&old)), NativeOptions::default()).unwrap();
    assert_eq!(into_log(&again(), &copy, &memory, TO).unwrap(), Seq(1), "there is nothing left to be done");
    let elsewhere = into_log(&again(), &copy, &MemoryLog::new(), "etcd://h/x");
    assert!(moved(elsewhere.map(drop)), "and it goes nowhere else");
    // Broken off before the new place has begun.
    assert_eq!(into_log(&again(), &copy, &MemoryLog::new(), TO).unwrap(), Seq(1));
}

/// Moves a store of this many MiB, to which commits come while it is copied. Returns the bytes that were written to the
/// new place before the old one was sealed, and then.
fn bytes_of_a_move(mib: u64) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let (old, copy) = (folder.path().join("old"), folder.path().join("copy"));
    let engine = Arc::new(native(&old).unwrap());
    let mut rng = Rng::new(mib);
    for n in 0..mib {
        engine.commit(row(&n.to_le_bytes(), &rng.bytes(1 << 20))).unwrap();
    }
    let written = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let looks = {
        let (engine, old, written) = (engine.clone(), old.clone(), written.clone());
        move |doing| {
            if let Doing::Blob(len) = doing {
                let sealed = old.join("MOVED").is_file();
                let count = if sealed { &written.1 } else { &written.0 };
                count.fetch_add(len, Ordering::Relaxed);
                if !sealed && engine.head().0 < mib + 1000 {
                    engine.commit(row(b"late", &engine.head().0.to_le_bytes())).unwrap();
                }
            }
            None
        }
    };
    let memory = MemoryLog::new();
    let head = into_log(&*engine, &copy, &Watched(memory.clone(), looks), TO).unwrap();
    let new = node(Arc::new(memory), &folder.path().join("cache"));
    assert!(head.0 > mib && new.head() == head, "{head}");
    assert_eq!(value(&new, b"late"), Some((head.0 - 1).to_le_bytes().to_vec()), "the last commit is there");
    assert_eq!(new.verify().unwrap().problems, []);
    (written.0.load(Ordering::Relaxed), written.1.load(Ordering::Relaxed))
}

fn what_is_copied_under_the_seal_does_not_grow() {
    let bound = 2 * recension_log::limits::PIECE_BYTES;
    for mib in [6, 60] {
        let (before, sealed) = bytes_of_a_move(mib);
        assert!(before >= (mib as usize) << 20, "{mib} MiB: {before} while it was open");
        assert!(sealed > 0 && sealed <= bound, "{mib} MiB: {sealed} under the seal");
    }
}

fn a_log_with_a_store_is_no_place_to_move_to() {
    let folder = tempfile::tempdir().unwrap();
    let taken = MemoryLog::new();
    node(Arc::new(taken.clone()), &folder.path().join("taken")).commit(row(b"x", b"y")).unwrap();
    let from_directory = native(&folder.path().join("old")).unwrap();
    let from_log = node(Arc::new(MemoryLog::new()), &folder.path().join("cache"));
    for (n, engine) in [&from_directory as &dyn Engine, &from_log].into_iter().enumerate() {
        engine.commit(row(b"a", b"1")).unwrap();
        let refused = into_log(engine, &folder.path().join(format!("copy{n}")), &taken, TO).unwrap_err();
        assert!(matches!(refused, EngineError::NotAStore { .. }), "{refused}");
        engine.commit(row(b"b", b"2")).unwrap();
    }
}
