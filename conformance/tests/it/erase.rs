//! Erasing a document on every engine: no read finds it at any moment, and after settling no byte of it is in any
//! file, free page, journal or backup.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use recension::Store;
use recension::disk::FsDisk;
use recension::engine::native::NativeOptions;
use recension::engine::{Engine, MemoryEngine, NativeEngine};
use recension_conformance::crash::native;
use recension_conformance::erase::{ID, all_marks, build, marks_in, people, wholly_gone, wholly_there};
use recension_conformance::sim::SimDisk;
use recension_engines::sqlite::{SqliteEngine, SqliteOptions};

fn test_clock() -> Arc<dyn recension::engine::Clock> {
    recension_conformance::crash::test_clock()
}

/// The files below a folder, and their bytes.
fn files_below(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    files
}

fn copy_folder(from: &Path, to: &Path) {
    for (path, bytes) in files_below(from) {
        let place = to.join(Path::new(&path).strip_prefix(from).unwrap());
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, bytes).unwrap();
    }
}

fn files_on(disk: &SimDisk) -> Vec<(String, Vec<u8>)> {
    disk.files().into_iter().map(|(name, _)| (name.clone(), disk.content(&name).unwrap_or_default())).collect()
}

/// Builds, erases, settles; `files` are all there are, `again` opens the store anew.
fn erase_everywhere(engine: Arc<dyn Engine>, files: impl Fn() -> Vec<(String, Vec<u8>)>, settled_first: bool) -> Store {
    let store = Store::on(engine).unwrap();
    let there = build(&store).unwrap();
    if settled_first {
        store.compact().unwrap();
    }
    wholly_there(&store, there).unwrap();
    let kinds: Vec<String> = marks_in(files()).into_iter().flat_map(|(_, marks)| marks).collect();
    if !files().is_empty() {
        assert!(
            all_marks().iter().all(|mark| kinds.contains(mark)),
            "what is searched for is not there before: {kinds:?}"
        );
    }
    let erased = people(&store).unwrap().erase([ID, "nobody"]).unwrap();
    assert_eq!(erased.documents, 1);
    wholly_gone(&store).unwrap();
    assert_eq!(people(&store).unwrap().erasures().unwrap(), [erased]);
    store.compact().unwrap();
    assert_eq!(marks_in(files()), [], "after settling");
    wholly_gone(&store).unwrap();
    // Once more, there is nothing to be found; the id can be used again.
    assert_eq!(people(&store).unwrap().erase([ID]).unwrap().documents, 0);
    let rev = people(&store).unwrap().put(ID, "{}").unwrap().rev;
    assert_eq!(rev.generation(), 1);
    assert_eq!(people(&store).unwrap().history(ID).unwrap().count(), 1);
    assert_eq!(people(&store).unwrap().erase([ID]).unwrap().documents, 1);
    wholly_gone(&store).unwrap();
    store.compact().unwrap();
    assert_eq!(marks_in(files()), [], "after settling again");
    store
}

#[test]
fn in_memory() {
    erase_everywhere(Arc::new(MemoryEngine::new()), Vec::new, false);
}

#[test]
fn on_the_native_engine_whether_it_was_settled_before_or_not() {
    for settled_first in [false, true] {
        // With the last, all but the newest commit is settled at once, in segments that go on.
        let at_once = NativeOptions {
            settle_log_bytes: Some(1),
            index_memory_bytes: 1,
            checkpoint_log_bytes: 1,
            segment_bytes: 1 << 20,
            ..native::small_options(test_clock())
        };
        for options in [native::small_options(test_clock()), native::settling_options(test_clock()), at_once] {
            let disk = SimDisk::new();
            let engine = Arc::new(NativeEngine::open(disk.arc(), options.clone()).unwrap());
            let store = erase_everywhere(engine, || files_on(&disk), settled_first);
            drop(store);
            assert_eq!(marks_in(files_on(&disk)), [], "when it is closed");
            let store = Store::on(Arc::new(NativeEngine::open(disk.arc(), options).unwrap())).unwrap();
            wholly_gone(&store).unwrap();
        }
    }
}

#[test]
fn on_the_native_engine_as_users_have_it_with_backups_that_are_brought_up_to_date() {
    let (folder, backup) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let to = backup.path().join("backup");
    let open = |path: &Path| NativeEngine::open(Arc::new(FsDisk::new(path)), NativeOptions::default()).unwrap();
    let store = Store::on(Arc::new(open(folder.path()))).unwrap();
    build(&store).unwrap();
    store.engine().backup(&to).unwrap();
    assert_eq!(marks_in(files_below(&to)).len(), 1, "the log has it all");
    people(&store).unwrap().erase([ID]).unwrap();
    store.engine().backup(&to).unwrap();
    // It is looked at in a copy: a backup that was written to is not brought up to date.
    let looked_at = backup.path().join("looked at");
    copy_folder(&to, &looked_at);
    wholly_gone(&Store::on(Arc::new(open(&looked_at))).unwrap()).unwrap();
    store.compact().unwrap();
    store.engine().backup(&to).unwrap();
    for place in [folder.path(), &to] {
        assert_eq!(marks_in(files_below(place)), [], "{}", place.display());
    }
    // The present, copied out: what is kept of consumers has no past once it is settled.
    let past = backup.path().join("past");
    let engine = open(&to);
    engine.copy_as_of(Arc::new(FsDisk::new(&past)), engine.head(), NativeOptions::default()).unwrap();
    assert_eq!(marks_in(files_below(&past)), []);
}

#[test]
fn a_copy_of_a_past_moment_leaves_out_what_is_erased_and_not_settled() {
    let (disk, past) = (SimDisk::new(), SimDisk::new());
    let engine = Arc::new(NativeEngine::open(disk.arc(), native::small_options(test_clock())).unwrap());
    let store = Store::on(engine.clone()).unwrap();
    let there = build(&store).unwrap();
    people(&store).unwrap().erase([ID]).unwrap();
    engine.copy_as_of(past.arc(), there, native::small_options(test_clock())).unwrap();
    let copy =
        Store::on(Arc::new(NativeEngine::open(past.arc(), native::small_options(test_clock())).unwrap())).unwrap();
    assert!(people(&copy).unwrap().get(ID).unwrap().is_none());
    assert_eq!(marks_in(files_on(&past)), []);
    // Commits of the copy have numbers that were erased in the store that it was made of.
    for n in 0..5 {
        people(&copy).unwrap().put(ID, format!("{{\"n\":{n}}}")).unwrap();
        assert!(people(&copy).unwrap().get(ID).unwrap().is_some());
    }
}

#[test]
fn over_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let open = || Arc::new(SqliteEngine::open(&path, SqliteOptions::default()).unwrap());
    drop(erase_everywhere(open(), || files_below(folder.path()), false));
    assert_eq!(marks_in(files_below(folder.path())), [], "when it is closed");
    wholly_gone(&Store::on(open()).unwrap()).unwrap();
}

#[test]
fn while_others_write() {
    let disk = SimDisk::new();
    let engine = Arc::new(NativeEngine::open(disk.arc(), native::small_options(test_clock())).unwrap());
    let store = Store::on(engine).unwrap();
    build(&store).unwrap();
    let (stop, started) = (AtomicBool::new(false), Barrier::new(3));
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (store, stop, started) = (&store, &stop, &started);
            scope.spawn(move || {
                let people = people(store).unwrap();
                let put = |n| people.put(&format!("writer {writer}"), format!("{{\"name\":\"{n}\"}}")).unwrap();
                put(0);
                started.wait();
                let mut n = 1;
                while !stop.load(Ordering::Relaxed) {
                    put(n);
                    n += 1;
                }
            });
        }
        // Both have written once and go on while the document is erased.
        started.wait();
        people(&store).unwrap().erase([ID]).unwrap();
        store.compact().unwrap();
        stop.store(true, Ordering::Relaxed);
    });
    wholly_gone(&store).unwrap();
    store.compact().unwrap();
    assert_eq!(marks_in(files_on(&disk)), []);
}
