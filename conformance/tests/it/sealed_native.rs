//! Encrypted stores: no word of what they hold is in any file at any moment, what is exchanged or flipped is an error
//! with file and offset, keys that do not fit change nothing, and no nonce is used twice.
#![allow(
    clippy::needless_pass_by_value,
    clippy::ref_option,
    clippy::case_sensitive_file_extension_comparisons,
    reason = "a case is called with its key; the engine names its files in small letters"
)]

use std::collections::BTreeSet;
use std::sync::Arc;

use recension::Key;
use recension::disk::Disk;
use recension::engine::native::{Maintenance, NativeEngine, NativeOptions, add_key, change_key, key_status};
use recension::engine::{Batch, Engine, EngineError, Seq, TreeId};
use recension_conformance::crash::{
    Answer, History, Shape, answer_after_damage, native, random_workload, run, test_clock,
};
use recension_conformance::sim::{CrashPolicy, OpKind, Rng, SimDisk};

/// A file: its name and its bytes.
type Named = (String, Vec<u8>);

fn with(key: Option<Key>) -> NativeOptions {
    NativeOptions { key, ..native::settling_options(test_clock()) }
}

fn open(disk: &SimDisk, key: Option<Key>) -> Result<NativeEngine, EngineError> {
    NativeEngine::open(disk.arc(), with(key))
}

/// A store with settled files, runs and log, and what it holds.
fn store() -> (SimDisk, History) {
    let disk = SimDisk::new();
    let shape = Shape { steps: 45, large_percent: 4, ..Shape::default() };
    let opener = native::opener(native::settling_apart_options, Some(native::key()));
    let history = run(&disk, &*opener, &random_workload(5, shape)).unwrap();
    disk.settle();
    (disk, history)
}

fn all_files(disk: &SimDisk) -> Vec<(String, Vec<u8>)> {
    let names = disk.files().into_iter().map(|(name, _)| name);
    names.map(|name| (disk.content(&name).unwrap(), name)).map(|(bytes, name)| (name, bytes)).collect()
}

/// Words in keys and values of rows, short and long, and in the address to which a store has moved.
static WORDS: [&str; 4] = ["pangolin", "aardvark", "wombat", "echidna"];

fn find_words(disk: &SimDisk, when: &str) {
    for (name, bytes) in all_files(disk) {
        for word in WORDS {
            let found = bytes.windows(word.len()).position(|window| window == word.as_bytes());
            assert_eq!(found, None, "{when}: {word} is in {name}");
        }
    }
}

/// Does everything that writes files, of all kinds.
fn work(disk: &SimDisk, options: &NativeOptions, to: &SimDisk) {
    let engine = NativeEngine::open(disk.arc(), options.clone()).unwrap();
    let put = |n: usize| {
        let mut batch = Batch::new();
        batch.put(TreeId(1), format!("aardvark-{n:03}").as_bytes(), "pangolin ".repeat(20 + n % 7).as_bytes());
        engine.commit(batch).unwrap();
    };
    (0..30).for_each(put);
    engine.checkpoint().unwrap();
    let mut large = Batch::new();
    large.put(TreeId(2), b"wombat", "wombat ".repeat(3000).as_bytes()).delete(TreeId(1), b"aardvark-003");
    engine.commit(large).unwrap();
    engine.settle().unwrap();
    (0..9).for_each(put);
    engine.backup_to(&to.arc()).unwrap();
    engine.seal("postgres://echidna").unwrap();
    engine.backup_to(&to.arc()).unwrap();
    engine.unseal().unwrap();
}

#[test]
fn no_word_of_what_a_store_holds_is_in_any_file_after_any_call_or_crash() {
    let options = |key| NativeOptions { key, ..native::marking_options(test_clock()) };
    // The search finds them all without a key.
    let (open, backup) = (SimDisk::new(), SimDisk::new());
    open.record();
    work(&open, &options(None), &backup);
    let mut seen: BTreeSet<&&str> = BTreeSet::new();
    for moment in open.take_moments() {
        let bytes = moment.process_crash().content(&moment.call.name).unwrap_or_default();
        let is_in = |word: &&&str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        seen.extend(WORDS.iter().filter(is_in));
    }
    assert_eq!(seen.len(), WORDS.len(), "{seen:?}");

    let (sealed, backup) = (SimDisk::new(), SimDisk::new());
    sealed.record();
    backup.record();
    work(&sealed, &options(Some(native::key())), &backup);
    let mut rng = Rng::new(7);
    let moments = [sealed.take_moments(), backup.take_moments()].concat();
    let mut kinds = BTreeSet::new();
    for moment in &moments {
        let when = format!("after {}", moment.call);
        let disk = moment.process_crash();
        kinds.extend(disk.files().into_iter().map(|(name, _)| name.replace(|c: char| c.is_ascii_digit(), "")));
        // Nothing else has changed since the call before.
        let changed: Vec<_> = all_files(&disk).into_iter().filter(|(name, _)| *name == moment.call.name).collect();
        for (name, bytes) in changed {
            for word in WORDS {
                assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{when}: {word} in {name}");
            }
        }
        if rng.percent(4) {
            find_words(&moment.crash(rng.next(), CrashPolicy::Random), &when);
        }
    }
    for disk in [sealed, backup] {
        find_words(&disk, "at the end");
    }
    for kind in ["KEYS", "STORE", "MARK", "MOVED", "log/.log", "index/.run", "index/MANIFEST", "settled/.rows"] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
    assert!(kinds.contains("BACKUP-UNFINISHED") && kinds.iter().any(|kind| kind.ends_with(".spool")), "{kinds:?}");
}

/// What a store with other bytes answers. If it is refused, that is said of a file at an offset.
fn answer(disk: &SimDisk, history: &History) -> Answer {
    let opener = native::opener(native::settling_apart_options, Some(native::key()));
    answer_after_damage(disk, &*opener, &history.model).unwrap()
}

#[test]
fn exchanged_pages_openings_and_files_are_refused() {
    let (disk, history) = store();
    let files = |start: &str| -> Vec<String> {
        disk.files().into_iter().map(|(name, _)| name).filter(|name| name.starts_with(start)).collect()
    };
    let refused = |what: &str, change: &dyn Fn(&SimDisk)| {
        let damaged = disk.process_crash();
        change(&damaged);
        let answer = answer(&damaged, &history);
        assert!(matches!(answer, Answer::Refused | Answer::SomeRefused), "{what}: {answer:?}");
    };
    let rows: Vec<_> = files("settled/").into_iter().filter(|name| name.ends_with(".rows")).collect();
    assert!(rows.len() > 2, "{rows:?}");
    let content = |name: &str| disk.content(name).unwrap();
    let exchange = |(a, b): (&str, &str), (from, to): (usize, usize)| {
        let (one, other) = (content(a), content(b));
        let to = to.min(one.len()).min(other.len());
        let (one, other) = (one[from..to].to_vec(), other[from..to].to_vec());
        let (a, b) = (a.to_owned(), b.to_owned());
        move |disk: &SimDisk| {
            disk.overwrite(&a, from as u64, &other);
            disk.overwrite(&b, from as u64, &one);
        }
    };
    refused("files", &|disk| {
        disk.put(&rows[0], &content(&rows[1]));
        disk.put(&rows[1], &content(&rows[0]));
    });
    refused("openings of files", &exchange((&rows[0], &rows[1]), (0, 4096)));
    refused("pages of two files at one place", &exchange((&rows[0], &rows[1]), (4096, 8192)));
    refused("two manifests", &|disk| disk.put("settled/MANIFEST", &content("index/MANIFEST")));
    // A file of another store that has the same key.
    let (other, _) = store();
    refused("a file of another store", &|disk| disk.put(&rows[0], &other.content(&rows[0]).unwrap()));
    refused("the keys of another store", &|disk| disk.put("KEYS", &other.content("KEYS").unwrap()));
}

#[test]
fn exchanged_openings_of_segments_are_refused() {
    let disk = SimDisk::new();
    let opener = native::opener(native::small_options, Some(native::key()));
    let history = run(&disk, &*opener, &random_workload(5, Shape { steps: 40, ..Shape::default() })).unwrap();
    disk.settle();
    let log: Vec<_> = disk.files().into_iter().map(|(name, _)| name).filter(|name| name.starts_with("log/")).collect();
    assert!(log.len() > 2, "{log:?}");
    for (to, from) in [(0, 1), (1, 0), (log.len() - 1, 0)] {
        let damaged = disk.process_crash();
        damaged.overwrite(&log[to], 0, &disk.content(&log[from]).unwrap()[..512]);
        let answer = answer_after_damage(&damaged, &*opener, &history.model).unwrap();
        assert!(matches!(answer, Answer::Refused | Answer::SomeRefused), "{to} has that of {from}: {answer:?}");
    }
}

#[test]
fn exchanged_pages_of_a_file_are_refused_with_file_and_offset() {
    let disk = SimDisk::new();
    let engine = open(&disk, Some(native::key())).unwrap();
    let mut rng = Rng::new(2);
    let mut batch = Batch::new();
    for n in 0..40_u8 {
        batch.put(TreeId(1), &[n], &rng.bytes(1000));
    }
    engine.commit(batch).unwrap();
    engine.settle().unwrap();
    engine.close().unwrap();
    let (name, len) = disk.files().into_iter().find(|(name, _)| name.ends_with(".rows")).unwrap();
    assert!(len > 40_000);
    let bytes = disk.content(&name).unwrap();
    for page in (4096..36_000).step_by(4096) {
        let damaged = disk.process_crash();
        damaged.overwrite(&name, page, &bytes[page as usize + 4096..][..4096]);
        damaged.overwrite(&name, page + 4096, &bytes[page as usize..][..4096]);
        let found = match open(&damaged, Some(native::key())) {
            Err(EngineError::Damaged { file, .. }) => file,
            Err(other) => panic!("{other}"),
            Ok(engine) => engine.verify().unwrap().problems.first().map_or(String::new(), |found| found.file.clone()),
        };
        assert_eq!(found, name, "page at {page}");
    }
}

#[test]
fn exchanged_frames_are_refused_with_file_and_offset() {
    let disk = SimDisk::new();
    let options = NativeOptions {
        segment_bytes: 64 << 10,
        maintenance: Maintenance::Inline,
        key: Some(native::key()),
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(disk.arc(), options.clone()).unwrap();
    for n in 0..20_u8 {
        let mut batch = Batch::new();
        batch.put(TreeId(1), &[n], &[n; 300]);
        engine.commit(batch).unwrap();
    }
    let crashed = disk.process_crash();
    drop(engine);
    crashed.settle();
    let name = "log/0000000001.log";
    let bytes = crashed.content(name).unwrap();
    let frames: Vec<_> = (0..bytes.len()).step_by(512).filter(|&at| bytes[at..].starts_with(b"RcSF")).collect();
    assert_eq!(frames.len(), 21, "the header's, and one for each commit");
    for (a, b) in [(1, 2), (4, 9), (7, 8)] {
        let damaged = crashed.process_crash();
        for (to, from) in [(frames[a], frames[b]), (frames[b], frames[a])] {
            damaged.overwrite(name, to as u64, &bytes[from..from + 512]);
        }
        let error = NativeEngine::open(damaged.arc(), options.clone()).err().unwrap();
        assert!(matches!(&error, EngineError::Damaged { file, offset, .. } if file == name && *offset > 0), "{error}");
    }
    // The opening lost: no commit is taken for one that never was.
    let damaged = crashed.process_crash();
    damaged.flip(name, 20, 1);
    let error = NativeEngine::open(damaged.arc(), options).err().unwrap();
    assert!(matches!(&error, EngineError::Damaged { file, offset: 512, .. } if file == name), "{error}");
}

#[test]
fn keys_that_do_not_fit_are_refused_and_nothing_is_changed() {
    let (disk, history) = store();
    let plain = SimDisk::new();
    drop(open(&plain, None).unwrap());
    let other = || Some(Key::generate().unwrap());
    let check = |what: &str, disk: &SimDisk, key: Option<Key>, wanted: &str| {
        let before = all_files(disk);
        let read = NativeEngine::open(disk.arc(), NativeOptions { create: false, ..with(key.clone()) }).err();
        for error in [read, open(disk, key).err()] {
            let error = error.unwrap_or_else(|| panic!("{what}: it was opened")).to_string();
            assert!(error.contains(wanted), "{what}: {error}");
        }
        let same = |(a, b): (&Named, &Named)| a == b || a.0 == "lock";
        let after = all_files(disk);
        assert!(before.len() == after.len() && before.iter().zip(&after).all(same), "{what}: files have changed");
    };
    check("no key", &disk, None, "give its key");
    check("another key", &disk, other(), "not the one it was encrypted with");
    check("a passphrase", &disk, Some(Key::passphrase("words").unwrap()), "with a key, not with a passphrase");
    check("a key for an open store", &plain, other(), "is not encrypted");
    let whole = disk.content("KEYS").unwrap();
    for cut in [0, 3, 40, whole.len() - 1] {
        let damaged = disk.process_crash();
        damaged.cut("KEYS", cut as u64);
        check("half a file of keys", &damaged, Some(native::key()), "restore KEYS from a backup");
    }
    let lost = disk.process_crash();
    lost.lose("KEYS");
    check("lost keys, with the key", &lost, Some(native::key()), "restore KEYS from a backup");
    check("lost keys, without a key", &lost, None, "restore KEYS from a backup");
    let foreign = SimDisk::new();
    foreign.put("notes.txt", b"mine");
    check("a folder of something else", &foreign, Some(native::key()), "holds other files");
    // All that was tried has harmed nobody.
    assert_eq!(answer(&disk, &history), Answer::Right);
}

#[test]
fn a_store_whose_making_was_cut_short_is_made_by_the_next_open() {
    let disk = SimDisk::new();
    disk.record();
    drop(open(&disk, Some(native::key())).unwrap());
    let mut rng = Rng::new(3);
    for moment in disk.take_moments() {
        for policy in CrashPolicy::ALL {
            let found = moment.crash(rng.next(), policy);
            let engine = open(&found, Some(native::key()));
            let engine = engine.unwrap_or_else(|error| panic!("after {} ({policy:?}): {error}", moment.call));
            assert_eq!(engine.head(), Seq::ZERO);
        }
    }
    // Without a key too, as long as nothing says that there was one.
    let begun = SimDisk::new();
    begun.put("KEYS.tmp", b"half");
    open(&begun, None).unwrap();
}

#[test]
fn no_two_seals_have_the_same_key_and_nonce_however_often_a_segment_is_opened() {
    let disk = SimDisk::new();
    let options = NativeOptions { settle_log_bytes: None, ..with(Some(native::key())) };
    let mut rng = Rng::new(11);
    let mut seals = BTreeSet::new();
    let mut salts = BTreeSet::new();
    let mut found = disk.clone();
    for life in 0..300_u64 {
        found.record();
        let engine = NativeEngine::open(found.arc(), options.clone()).unwrap();
        for _ in 0..=rng.index(3) {
            let mut batch = Batch::new();
            batch.put(TreeId(1), &life.to_be_bytes(), &rng.bytes(200));
            engine.commit(batch).unwrap();
        }
        // The power fails, and what was torn is written again at the same places.
        let moments = found.take_moments();
        let crashed = found.crash(rng.next(), CrashPolicy::Random);
        drop(engine);
        for moment in moments.iter().filter(|moment| moment.call.kind == OpKind::Write) {
            let (name, from) = (&moment.call.name, moment.call.offset as usize);
            let written = moment.process_crash().content(name).unwrap();
            let written = &written[from..from + moment.call.len as usize];
            if !name.starts_with("log/") {
                continue;
            }
            let whole = moment.process_crash().content(name).unwrap();
            for at in (0..written.len()).step_by(512) {
                if written[at..].starts_with(b"RcSO") {
                    assert!(salts.insert(written[at + 8..at + 40].to_vec()), "a salt came twice");
                } else if written[at..].starts_with(b"RcSF") {
                    let opening = &written[at + 24..at + 28];
                    let is_its = |bytes: &&[u8]| bytes.starts_with(b"RcSO") && bytes[40..44] == *opening;
                    let salt = whole.chunks(512).rfind(is_its).unwrap()[8..40].to_vec();
                    assert!(seals.insert((salt, written[at + 16..at + 24].to_vec())), "a nonce was used twice");
                }
            }
        }
        found = crashed;
    }
    assert!(salts.len() > 250 && seals.len() > 500, "{} openings, {} seals", salts.len(), seals.len());
}

#[test]
fn a_key_is_changed_and_added_and_backups_open_with_the_key_of_their_time() {
    let (disk, history) = store();
    let (old, new) = (native::key(), Key::generate().unwrap());
    let engine = open(&disk, Some(old.clone())).unwrap();
    let backup = SimDisk::new();
    engine.backup_to(&backup.arc()).unwrap();
    assert!(matches!(change_key(&disk.arc(), &old, &new), Err(EngineError::Locked { .. })));
    engine.close().unwrap();
    let arc: Arc<dyn Disk> = disk.arc();
    assert!(change_key(&arc, &new, &new).is_err());
    let before = all_files(&disk);
    change_key(&arc, &old, &new).unwrap();
    let changed: Vec<_> = all_files(&disk).into_iter().zip(before).filter(|(a, b)| a != b).map(|(a, _)| a.0).collect();
    assert!(changed.iter().all(|name| name == "KEYS" || name == "lock"), "{changed:?}");
    assert!(open(&disk, Some(old.clone())).is_err());

    let status = add_key(&arc, &new).unwrap();
    assert_eq!(status.keys, [1, 2]);
    let engine = open(&disk, Some(new.clone())).unwrap();
    let refused = engine.backup_to(&backup.arc()).unwrap_err().to_string();
    assert!(refused.contains("another key"), "{refused}");
    change_key(&backup.arc(), &old, &new).unwrap();
    engine.renew().unwrap();
    engine.backup_to(&backup.arc()).unwrap();
    engine.close().unwrap();
    let status = key_status(&arc, &new).unwrap();
    let settled: u64 = disk.files().iter().filter(|(name, _)| name.ends_with(".rows")).map(|(_, len)| len).sum();
    assert!(status.bytes[&2] > settled && status.bytes.get(&1).is_none_or(|left| *left < 40_000), "{status:?}");
    for disk in [&disk, &backup] {
        let engine = open(disk, Some(new.clone())).unwrap();
        recension_conformance::crash::check_rows_at_head(&engine, history.model.engine()).unwrap();
        assert_eq!(engine.verify().unwrap().problems, []);
    }
    let status = add_key(&arc, &new).unwrap();
    assert!(status.keys.contains(&3) && status.keys.len() <= 3, "{status:?}");
}

#[test]
fn a_backup_of_another_store_or_without_keys_is_not_written_to() {
    let (disk, _) = store();
    let (other, _) = store();
    let engine = open(&disk, Some(native::key())).unwrap();
    let refused = |to: &SimDisk| {
        let before = all_files(to);
        let error = engine.backup_to(&to.arc()).unwrap_err();
        assert!(matches!(error, EngineError::NotAStore { .. }), "{error}");
        assert_eq!(all_files(to), before);
    };
    let of_other = SimDisk::new();
    open(&other, Some(native::key())).unwrap().backup_to(&of_other.arc()).unwrap();
    refused(&of_other);
    let plain = SimDisk::new();
    drop(open(&plain, None).unwrap());
    refused(&plain);
    let open_engine = open(&plain, None).unwrap();
    let error = open_engine.backup_to(&of_other.arc()).unwrap_err();
    assert!(matches!(error, EngineError::NotAStore { .. }), "{error}");
}
