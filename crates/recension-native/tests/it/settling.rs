//! Settling, forgetting and memory of the native engine on a real directory: what users see of files and sizes.

use std::ops::Bound;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use recension_engine::{
    Batch, Clock, Direction, Durability, Engine, EngineError, KeyRange, Retention, RetentionRule, Seq, Snapshot, Stats,
    SystemClock, Timestamp, TreeId,
};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};

const TREE: TreeId = TreeId(1);
const ROWS: u64 = 3000;

fn options() -> NativeOptions {
    NativeOptions {
        segment_bytes: 64 << 10,
        index_memory_bytes: 64 << 10,
        checkpoint_log_bytes: 64 << 10,
        durability: Durability::Process,
        ..NativeOptions::default()
    }
}

fn open(dir: &std::path::Path, options: NativeOptions) -> NativeEngine {
    NativeEngine::open(Arc::new(FsDisk::new(dir)), options).unwrap()
}

fn document(n: u64, version: u64) -> Vec<u8> {
    let text = format!(
        r#"{{"id":{n},"version":{version},"name":"a person's name","email":"{}@example.com","token":"{:016x}"}}"#,
        n.wrapping_mul(7919) % 100_000,
        n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ version
    );
    text.repeat(2).into_bytes()
}

fn write(engine: &NativeEngine, version: u64) -> u64 {
    let mut bytes = 0;
    for first in (0..ROWS).step_by(50) {
        let mut batch = Batch::new();
        for n in first..first + 50 {
            batch.put(TREE, &n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes(), &document(n, version));
        }
        bytes += batch.size_bytes() as u64;
        engine.commit(batch).unwrap();
    }
    bytes
}

/// A long line of versions is searched for at first and walked then, over blocks and over files.
#[test]
fn every_version_of_a_key_is_told_wherever_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), NativeOptions { settle_log_bytes: Some(128 << 10), ..options() });
    let keys: [&[u8]; 3] = [b"before", b"line", b"line2"];
    let mut expected = vec![Vec::new(); keys.len()];
    for round in 0..3 {
        for n in 0..1500_u64 {
            let mut batch = Batch::new();
            for (key, expected) in keys.iter().zip(&mut expected) {
                let value = (n % 50 != 49).then(|| document(n, round));
                match &value {
                    Some(value) => batch.put(TREE, key, value),
                    None => batch.delete(TREE, key),
                };
                expected.push(value);
            }
            engine.commit(batch).unwrap();
        }
        if round == 1 {
            engine.settle().unwrap();
        }
    }
    let check = || {
        for at in [4500, 4499, 3000, 1501, 4, 1] {
            let snapshot = engine.snapshot_at(Seq(at)).unwrap();
            for (key, expected) in keys.iter().zip(&expected) {
                let told: Vec<_> = snapshot.versions(TREE, key).map(Result::unwrap).collect();
                assert_eq!(told.len() as u64, at);
                for (version, seq) in told.iter().zip((1..=at).rev()) {
                    assert_eq!(
                        (version.seq, version.value.as_deref()),
                        (Seq(seq), expected[seq as usize - 1].as_deref())
                    );
                    assert_eq!(engine.commit_at(version.time).unwrap().unwrap().time, version.time);
                }
            }
        }
    };
    check();
    engine.settle().unwrap();
    check();
}

fn assert_rows(engine: &NativeEngine, at: Seq, version: u64) {
    let snapshot = engine.snapshot_at(at).unwrap();
    let rows: Vec<_> = snapshot.range(TREE, &KeyRange::all(), Direction::Forward).map(Result::unwrap).collect();
    assert_eq!(rows.len() as u64, ROWS);
    assert_lent(&*snapshot, &KeyRange::all());
    for row in [0, 1, ROWS / 2, ROWS - 1] {
        let key = rows[row as usize].key.to_vec();
        assert_lent(&*snapshot, &KeyRange { start: Bound::Excluded(key.clone()), end: Bound::Unbounded });
        assert_lent(&*snapshot, &KeyRange { start: Bound::Unbounded, end: Bound::Included(key) });
    }
    // A hint changes nothing, wherever rows lie, and whatever is asked for.
    let keys: Vec<&[u8]> = rows.iter().map(|row| &*row.key).chain([&[][..], &[7; 2000], b"nobody"]).collect();
    snapshot.prefetch(TREE, &keys);
    for n in 0..ROWS {
        let value = snapshot.get(TREE, &n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()).unwrap().unwrap();
        assert_eq!(value.to_vec(), document(n, version));
    }
}

/// The rows that are lent are those that are answered, in both directions, and as many as are wanted.
fn assert_lent(snapshot: &dyn Snapshot, range: &KeyRange) {
    for direction in [Direction::Forward, Direction::Backward] {
        let answered = snapshot.range(TREE, range, direction).map(Result::unwrap);
        let answered: Vec<_> = answered.map(|row| (row.key.to_vec(), row.value.to_vec())).collect();
        for wanted in [1, answered.len() / 2, usize::MAX] {
            let mut lent = Vec::new();
            let see = &mut |key: &[u8], value: &[u8]| {
                lent.push((key.to_vec(), value.to_vec()));
                lent.len() < wanted
            };
            snapshot.each_row(TREE, range, direction, see).unwrap();
            assert!(lent.iter().eq(answered.iter().take(wanted.max(1))), "{range:?} {direction:?} {wanted}");
        }
    }
}

#[test]
fn rows_of_settled_files_between_those_of_others_are_lent_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), options());
    let key = |n: u64| n.to_be_bytes().to_vec();
    let write = |numbers: &mut dyn Iterator<Item = u64>, version: u64| {
        let mut batch = Batch::new();
        for n in numbers {
            if n % 131 == version {
                batch.delete(TREE, &key(n))
            } else {
                batch.put(TREE, &key(n), &document(n, version))
            };
        }
        engine.commit(batch).unwrap()
    };
    let check = || {
        for at in 1..=engine.head().0 {
            let snapshot = engine.snapshot_at(Seq(at)).unwrap();
            for (start, end) in [(0, u64::MAX), (1, 2500), (97, 98), (1234, 1300), (2999, 3500), (970, 971)] {
                let (start, end) = (Bound::Included(key(start)), Bound::Excluded(key(end)));
                assert_lent(&*snapshot, &KeyRange { start, end });
            }
        }
    };
    write(&mut (0..3000), 1);
    engine.settle().unwrap();
    // Few keys of the next files, and then of the log, lie between many of the first one, at both ends of its blocks.
    for (version, step) in [(2, 970), (3, 97), (4, 9)] {
        write(&mut (0..3400).step_by(step), version);
        check();
        write(&mut (1500..1560), version);
        check();
        if version < 4 {
            engine.settle().unwrap();
            check();
        }
    }
}

fn detail(stats: &Stats, name: &str) -> u64 {
    stats.details.iter().find(|(found, ..)| *found == name).unwrap_or_else(|| panic!("no {name}")).1
}

#[test]
fn documents_that_are_settled_take_less_disk_than_they_have_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), options());
    let raw = write(&engine, 1);
    engine.settle().unwrap();
    let stats = engine.stats().unwrap();
    assert!(stats.disk_bytes < raw * 7 / 10, "{} of {raw}", stats.disk_bytes);
    assert_eq!((detail(&stats, "log segments"), detail(&stats, "settled files")), (1, 1));
    assert_eq!(detail(&stats, "live keys and values, at most"), raw);
    assert_rows(&engine, engine.head(), 1);
    engine.close().unwrap();
    let engine = open(dir.path(), options());
    assert_rows(&engine, engine.head(), 1);
    assert_eq!(engine.verify().unwrap().problems, []);
}

#[test]
fn a_forgotten_history_gives_its_disk_back_and_is_refused_ever_after() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), options());
    write(&engine, 1);
    let fresh = engine.stats().unwrap();
    let (log, less) = (detail(&fresh, "log not settled yet"), detail(&fresh, "reclaimable by settling, about"));
    assert!(less > 0 && less < log, "settling makes {log} bytes of log smaller, and nothing of them");
    engine.settle().unwrap();
    let once = engine.stats().unwrap().disk_bytes;
    let first = engine.head();
    for version in 2..5 {
        write(&engine, version);
    }
    engine.settle().unwrap();
    let all = engine.stats().unwrap();
    assert!(all.disk_bytes > once * 3 / 2, "{} and {once}", all.disk_bytes);
    assert_rows(&engine, first, 1);
    engine.forget(TREE, &KeyRange::all(), engine.head()).unwrap();
    assert!(detail(&engine.stats().unwrap(), "reclaimable by settling, about") > 0);
    // What is forgotten is refused at once, and after a reopening, settled or not.
    let refused = |engine: &NativeEngine| {
        let snapshot = engine.snapshot_at(first).unwrap();
        let get = snapshot.get(TREE, b"x").err();
        let range = snapshot.range(TREE, &KeyRange::all(), Direction::Backward).next().unwrap().err();
        let versions = snapshot.versions(TREE, b"x").next().unwrap().err();
        for error in [get, range, versions] {
            assert!(matches!(error, Some(EngineError::Forgotten { .. })), "{error:?}");
        }
        assert!(snapshot.get(TreeId(2), b"x").unwrap().is_none(), "another tree has forgotten nothing");
    };
    refused(&engine);
    drop(engine);
    let engine = open(dir.path(), options());
    refused(&engine);
    engine.settle().unwrap();
    refused(&engine);
    let kept = engine.stats().unwrap();
    assert!(kept.disk_bytes <= once * 11 / 10, "{} after forgetting, {once} before overwriting", kept.disk_bytes);
    assert_eq!(detail(&kept, "reclaimable by settling, about"), 0);
    assert_rows(&engine, engine.head(), 4);
    let snapshot = engine.snapshot().unwrap();
    assert_eq!(snapshot.versions(TREE, &0u64.to_be_bytes()).count(), 1);
}

#[test]
fn overwriting_everything_under_head_only_takes_the_disk_of_what_is_there_now() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), NativeOptions { settle_log_bytes: Some(300 << 10), ..options() });
    let rule = RetentionRule { tree: TREE, range: KeyRange::all(), retention: Retention::HeadOnly };
    engine.set_retention(&[rule]).unwrap();
    write(&engine, 1);
    engine.settle().unwrap();
    let once = engine.stats().unwrap().disk_bytes;
    for version in 2..5 {
        write(&engine, version);
    }
    engine.settle().unwrap();
    let stats = engine.stats().unwrap();
    println!("once {once} bytes, after three overwrites {}: {stats:?}", stats.disk_bytes);
    assert!(stats.disk_bytes <= once * 11 / 10, "{} after overwriting, {once} before", stats.disk_bytes);
    assert_eq!(detail(&stats, "past keys and values, at least"), 0);
    assert_eq!(detail(&stats, "reclaimable by settling, about"), 0);
    assert_rows(&engine, engine.head(), 4);
}

/// A clock by which something happens once, when it is next asked after `armed` was set.
struct Eventful {
    armed: AtomicBool,
    event: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Clock for Eventful {
    fn now(&self) -> Timestamp {
        if self.armed.swap(false, Ordering::SeqCst)
            && let Some(event) = self.event.get()
        {
            event();
        }
        SystemClock.now()
    }
}

#[test]
fn a_rule_that_is_replaced_while_settling_begins_gives_up_nothing_that_was_written_since() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Arc::new(Eventful { armed: AtomicBool::new(false), event: OnceLock::new() });
    let engine =
        Arc::new(open(dir.path(), NativeOptions { clock: clock.clone(), settle_log_bytes: None, ..options() }));
    let rule = |retention| RetentionRule { tree: TREE, range: KeyRange::all(), retention };
    engine.set_retention(&[rule(Retention::HeadOnly)]).unwrap();
    write(&engine, 1);
    // Settling asks for the time between the head and the rules.
    let (weak, head) = (Arc::downgrade(&engine), Arc::new(AtomicU64::new(0)));
    let kept = Arc::clone(&head);
    let event = move || {
        let engine = weak.upgrade().unwrap();
        engine.set_retention(&[rule(Retention::Everything)]).unwrap();
        write(&engine, 2);
        kept.store(engine.head().0, Ordering::SeqCst);
        write(&engine, 3);
    };
    assert!(clock.event.set(Box::new(event)).is_ok());
    clock.armed.store(true, Ordering::SeqCst);
    engine.settle().unwrap();
    let kept = Seq(head.load(Ordering::SeqCst));
    assert!(kept > Seq::ZERO, "it has happened");
    assert_rows(&engine, kept, 2);
    assert_rows(&engine, engine.head(), 3);
}

#[test]
fn a_snapshot_that_is_open_keeps_answering_and_its_files_go_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), options());
    write(&engine, 1);
    let snapshot = engine.snapshot().unwrap();
    let unread = engine.snapshot().unwrap();
    let mut rows = snapshot.range(TREE, &KeyRange::all(), Direction::Forward);
    let mut count = rows.by_ref().take(100).map(Result::unwrap).count() as u64;
    write(&engine, 2);
    engine.forget(TREE, &KeyRange::all(), engine.head()).unwrap();
    engine.settle().unwrap();
    write(&engine, 3);
    engine.settle().unwrap();
    count += rows.map(|row| row.unwrap().value.to_vec()).filter(|value| !value.is_empty()).count() as u64;
    assert_eq!(count, ROWS);
    for n in 0..ROWS {
        let value = unread.get(TREE, &n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()).unwrap().unwrap();
        assert_eq!(value.to_vec(), document(n, 1));
    }
    let segments = || std::fs::read_dir(dir.path().join("log")).unwrap().count();
    assert!(segments() > 10, "{}", segments());
    drop((snapshot, unread));
    assert_eq!(segments(), 1);
}

#[test]
fn files_of_many_steps_are_given_back_when_nobody_looks_into_them_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), NativeOptions { segment_bytes: 8 << 20, ..options() });
    for version in 1..=6 {
        write(&engine, version);
    }
    let head = engine.head();
    // It looks into a segment that is still written to; settling seals that, and is done with it at once.
    let snapshot = engine.snapshot().unwrap();
    assert!(snapshot.get(TREE, &0u64.to_be_bytes()).unwrap().is_some());
    engine.settle().unwrap();
    for n in 0..ROWS {
        let value = snapshot.get(TREE, &n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()).unwrap().unwrap();
        assert_eq!(value.to_vec(), document(n, 6));
    }
    drop(snapshot);
    // And a settled file of several steps, into which nobody looks.
    write(&engine, 7);
    engine.settle().unwrap();
    assert_rows(&engine, head, 6);
    assert_rows(&engine, engine.head(), 7);
    for folder in ["log", "settled"] {
        let files: Vec<_> = std::fs::read_dir(dir.path().join(folder)).unwrap().map(|file| file.unwrap()).collect();
        let names: Vec<_> = files.iter().map(|file| file.file_name().into_string().unwrap()).collect();
        assert_eq!(names.iter().filter(|name| *name != "MANIFEST").count(), 1, "{names:?}");
    }
    assert_eq!(engine.verify().unwrap().problems, []);
}

#[test]
fn a_commit_that_depends_on_a_forgotten_read_is_a_conflict() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), options());
    write(&engine, 1);
    let before = engine.head();
    write(&engine, 2);
    let mut batch = Batch::new();
    batch.delete(TREE, b"gone");
    engine.commit(batch).unwrap();
    engine.forget(TREE, &KeyRange::all(), engine.head()).unwrap();
    engine.settle().unwrap();
    let mut batch = Batch::new();
    batch.put(TREE, b"mine", b"1").depends_on(TREE, b"gone", before);
    let refused = engine.commit(batch);
    assert!(matches!(refused, Err(EngineError::Conflict { written_at: None, .. })), "{refused:?}");
    let mut batch = Batch::new();
    batch.put(TREE, b"mine", b"1").depends_on(TREE, b"gone", engine.head());
    engine.commit(batch).unwrap();
    let beyond = engine.forget(TREE, &KeyRange::all(), engine.head().next());
    assert!(matches!(beyond, Err(EngineError::NotYet { .. })), "{beyond:?}");
}

#[test]
fn what_an_earlier_process_has_left_is_settled_where_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), NativeOptions { settle_log_bytes: None, ..options() });
    write(&engine, 1);
    engine.close().unwrap();
    let open_for = |settle_after_opening| {
        open(dir.path(), NativeOptions { settle_log_bytes: Some(300 << 10), settle_after_opening, ..options() })
    };
    let engine = open_for(Duration::MAX);
    assert_rows(&engine, engine.head(), 1);
    assert_eq!(detail(&engine.stats().unwrap(), "settled files"), 0);
    engine.close().unwrap();
    let engine = open_for(Duration::ZERO);
    let until = Instant::now() + Duration::from_mins(1);
    while detail(&engine.stats().unwrap(), "settled files") == 0 {
        assert!(Instant::now() < until, "{:?}", engine.stats());
        std::thread::yield_now();
    }
    assert_rows(&engine, engine.head(), 1);
}

#[test]
fn a_store_at_rest_is_settled_whatever_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let at_rest = NativeOptions { settle_at_rest: Duration::from_millis(50), ..options() };
    assert!(at_rest.settle_log_bytes.is_some_and(|due| due > 64 << 20));
    let engine = open(dir.path(), at_rest);
    write(&engine, 1);
    let until = Instant::now() + Duration::from_mins(1);
    while detail(&engine.stats().unwrap(), "settled files") == 0 {
        assert!(Instant::now() < until, "{:?}", engine.stats());
        std::thread::yield_now();
    }
    assert_rows(&engine, engine.head(), 1);
}

#[test]
fn in_the_background_the_log_stays_small_however_much_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(dir.path(), NativeOptions { settle_log_bytes: Some(300 << 10), ..options() });
    for version in 1..8 {
        write(&engine, version);
    }
    // The background is behind by what is due and what is being worked on; closing waits for nothing but the index.
    engine.settle().unwrap();
    write(&engine, 8);
    let stats = engine.stats().unwrap();
    assert!(detail(&stats, "settled files") >= 1, "{stats:?}");
    assert_rows(&engine, engine.head(), 8);
    for version in 1..8 {
        assert_rows(&engine, Seq(ROWS / 50 * version), version);
    }
    engine.close().unwrap();
    let engine = open(dir.path(), options());
    assert_rows(&engine, engine.head(), 8);
    assert_eq!(engine.verify().unwrap().problems, []);
}
