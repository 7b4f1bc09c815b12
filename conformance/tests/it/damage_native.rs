//! The native engine's files, damaged at rest in every place: the answer is right, or refused with file
//! and offset, or (a torn end) the state before the newest commit. It is never wrong.
#![allow(clippy::needless_pass_by_value, clippy::ref_option, reason = "a case is called with its key")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recension::Key;
use recension::engine::{Direction, Durability, Engine, KeyRange, NativeEngine, NativeOptions, TreeId};
use recension_conformance::crash::{
    Answer, Finding, History, Opener, Shape, Step, answer_after_damage, native, random_changes, random_workload, run,
    test_clock,
};
use recension_conformance::sim::{OpKind, Rng, SimDisk};

struct Store {
    disk: SimDisk,
    history: History,
    opener: Box<Opener>,
    sealed: bool,
}

/// The same without a key and with one.
fn both(make: fn(Option<Key>) -> Store) -> [Store; 2] {
    [make(None), make(Some(native::key()))]
}

/// A store of a few segments and runs that has been closed.
fn closed_store(key: Option<Key>) -> Store {
    let disk = SimDisk::new();
    let mut steps = random_workload(5, Shape { steps: 20, ..Shape::default() });
    let opens = 1 + steps.iter().filter(|step| **step == Step::Reopen).count();
    steps.push(Step::Reopen);
    let small = Shape { large_percent: 0, ..Shape::default() };
    let mut rng = Rng::new(5);
    steps.extend((0..6).map(|_| Step::Commit(random_changes(&mut rng, small), Durability::Disk)));
    // Nothing is written to the index after the last open: the newest commits are in the log only,
    // until the store is closed.
    let opened = AtomicUsize::new(0);
    let with = key.clone();
    let open = move |disk, clock| {
        let mut options = NativeOptions { key: with.clone(), ..native::small_options(clock) };
        if opened.fetch_add(1, Ordering::Relaxed) == opens {
            options.index_memory_bytes = 1 << 20;
            options.checkpoint_log_bytes = 1 << 20;
        }
        Ok(Arc::new(NativeEngine::open(disk, options)?) as Arc<dyn Engine>)
    };
    let history = run(&disk, &open, &steps).unwrap();
    disk.settle();
    Store { disk, history, sealed: key.is_some(), opener: native::opener(native::small_options, key) }
}

/// A store most of whose commits are settled, in several files; it has been closed.
fn settled_store(key: Option<Key>) -> Store {
    let opener = native::opener(native::settling_apart_options, key.clone());
    let disk = SimDisk::new();
    let shape = Shape { steps: 45, large_percent: 4, ..Shape::default() };
    let steps: Vec<_> = random_workload(5, shape).into_iter().filter(|step| *step != Step::Checkpoint).collect();
    let history = run(&disk, &*opener, &steps).unwrap();
    disk.settle();
    let store = Store { disk, history, sealed: key.is_some(), opener };
    let files = store.files("settled/");
    assert!(files.len() > 2, "{files:?}");
    store
}

/// The same when its process died: the newest commits are in the log only.
fn unclosed_store(key: Option<Key>) -> Store {
    let Store { history, .. } = closed_store(key.clone());
    let end = history.attempts.last().unwrap().acknowledged;
    let last = history.moments.iter().rfind(|moment| moment.call.number <= end).unwrap();
    let disk = last.process_crash();
    disk.settle();
    Store { disk, history, sealed: key.is_some(), opener: native::opener(native::small_options, key) }
}

impl Store {
    /// Where each commit lies: its file, start and length.
    fn places(&self) -> Vec<(String, u64, u64)> {
        // A sealed segment has an opening of 64 bytes and its header before the commits.
        let in_log = |call: &recension_conformance::sim::Call| {
            let is_commit = if self.sealed { call.offset > 512 && call.len > 64 } else { call.offset > 0 };
            call.kind == OpKind::Write && call.name.starts_with("log/") && is_commit
        };
        let place = |attempt: &recension_conformance::crash::Attempt| {
            let calls = self.history.moments.iter().map(|moment| &moment.call);
            let own = |call: &&recension_conformance::sim::Call| call.number > attempt.begun && in_log(call);
            let call = calls.clone().find(own).unwrap();
            (call.name.clone(), call.offset, call.len)
        };
        self.history.attempts.iter().map(place).collect()
    }

    fn commits(&self) -> u64 {
        self.history.model.head()
    }

    fn answer(&self, damage: impl FnOnce(&SimDisk)) -> Result<Answer, Finding> {
        let disk = self.disk.process_crash();
        damage(&disk);
        answer_after_damage(&disk, &*self.opener, &self.history.model)
    }

    fn answer_after(&self, what: &str, damage: impl FnOnce(&SimDisk)) -> Answer {
        self.answer(damage).unwrap_or_else(|finding| panic!("{what}: {finding}"))
    }

    fn newest_segment(&self) -> (String, u64) {
        self.disk.files().into_iter().rfind(|(name, _)| name.starts_with("log/")).unwrap()
    }

    /// Whether nothing is there that is looked at: what follows a file's opening in its first page.
    fn is_unused(&self, name: &str, offset: u64) -> bool {
        self.sealed && !name.starts_with("log/") && (64..4096).contains(&offset)
    }

    fn files(&self, start: &str) -> Vec<(String, u64)> {
        self.disk.files().into_iter().filter(|(name, _)| name.starts_with(start)).collect()
    }
}

/// Runs `test` for each of `0..count`, on all processors.
fn in_parallel(count: usize, test: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    if nth >= count {
                        return;
                    }
                    test(nth);
                }
            });
        }
    });
}

/// Flips bits at every byte of every file whose name starts with `start`; returns how often each answer came.
fn flip_everywhere(store: &Store, start: &str, allowed: impl Fn(&str, u64, Answer) -> bool + Sync) {
    let mut places = Vec::new();
    for (name, len) in store.files(start) {
        // Most of a segment's first 4096 bytes are zeros that nobody reads.
        // Every byte of a sealed piece is as good as the other.
        let quiet = |offset: u64| {
            if store.sealed {
                offset >= 96 && !offset.is_multiple_of(13)
            } else {
                name.starts_with("log/") && (64..4096).contains(&offset) && !offset.is_multiple_of(101)
            }
        };
        places.extend((0..len).filter(|&offset| !quiet(offset)).map(|offset| (name.clone(), offset)));
    }
    let seen = parking_lot::Mutex::new(BTreeMap::new());
    in_parallel(places.len(), |nth| {
        let (name, offset) = &places[nth];
        let mask = if nth % 3 == 0 { 0xff } else { 1 << (offset % 8) };
        let what = format!("{name}, byte {offset}, mask {mask:#x}");
        let answer = store.answer_after(&what, |disk| assert!(disk.flip(name, *offset, mask)));
        assert!(allowed(name, *offset, answer), "{what}: {answer:?}");
        *seen.lock().entry(answer).or_insert(0) += 1;
    });
    println!("{start}: {} places: {:?}", places.len(), seen.into_inner());
}

#[test]
fn every_flipped_byte_of_the_log_of_a_closed_store_is_refused_or_harmless() {
    for store in both(closed_store) {
        flip_everywhere(&store, "log/", |_, _, answer| !matches!(answer, Answer::Shorter(_)));
    }
}

#[test]
fn every_flipped_byte_of_the_log_of_a_store_that_was_not_closed_costs_at_most_the_newest_commit() {
    for store in both(unclosed_store) {
        let (file, start, _) = store.places().pop().unwrap();
        flip_everywhere(&store, "log/", |name, offset, answer| match answer {
            Answer::Shorter(commits) => commits == 1 && name == file && offset >= start,
            _ => true,
        });
    }
}

#[test]
fn the_room_behind_the_newest_commit_is_kept_by_an_open_unless_something_lies_there() {
    let store = unclosed_store(None);
    let (file, start, len) = store.places().pop().unwrap();
    let (newest, file_len) = store.newest_segment();
    assert!(newest == file && start + len + 8 < file_len, "there is room behind {start} + {len} of {file_len}");
    let cuts = |damage: &dyn Fn(&SimDisk)| {
        let disk = store.disk.process_crash();
        damage(&disk);
        let before = disk.counters();
        let engine = (store.opener)(disk.arc(), test_clock()).unwrap();
        assert_eq!(engine.head().0, store.commits());
        disk.counters().since(&before).of(OpKind::SetLen)
    };
    assert_eq!(cuts(&|_| {}), 0);
    assert_eq!(cuts(&|disk| disk.overwrite(&newest, file_len - 1, &[1])), 1);
    assert_eq!(cuts(&|disk| disk.overwrite(&newest, start + len, &[1])), 1);
}

#[test]
fn a_segment_that_is_cut_to_what_is_used_while_it_is_mapped_is_read() {
    let store = unclosed_store(None);
    let (_, start, len) = store.places().pop().unwrap();
    let (newest, file_len) = store.newest_segment();
    assert!(start + len < file_len);
    let disk = store.disk.process_crash();
    // Between the question how long it is and the mapping of so much.
    let cut = disk.clone();
    disk.before(OpKind::Map, move |name| {
        if name == newest {
            cut.cut(name, start + len);
        }
    });
    let engine = (store.opener)(disk.arc(), test_clock()).unwrap();
    let model = store.history.model.engine().snapshot().unwrap();
    let found = engine.snapshot().unwrap();
    let mut rows = 0;
    for tree in (0..20).map(TreeId) {
        for row in model.range(tree, &KeyRange::all(), Direction::Forward).map(Result::unwrap) {
            let value = found.get(tree, &row.key).unwrap();
            assert_eq!(value.map(|value| value.bytes.into_owned()), Some(row.value.bytes.into_owned()));
            rows += 1;
        }
    }
    assert!(rows > 0);
}

#[test]
fn an_index_that_verify_has_found_damaged_is_rebuilt_by_the_next_open() {
    for store in both(closed_store) {
        an_index_is_rebuilt_by_the_second_open(&store);
    }
}

fn an_index_is_rebuilt_by_the_second_open(store: &Store) {
    for (name, len) in store.files("index/") {
        for offset in (0..len).step_by(97) {
            let disk = store.disk.process_crash();
            disk.flip(&name, offset, 0x10);
            let answer = || answer_after_damage(&disk, &*store.opener, &store.history.model);
            // The first look may be refused; it ends with a verify.
            answer().unwrap();
            assert_eq!(answer().unwrap(), Answer::Right, "{name}, byte {offset}, opened again");
        }
    }
}

#[test]
fn every_flipped_byte_of_the_index_is_mended_or_refused() {
    for store in [both(closed_store), both(unclosed_store)].into_iter().flatten() {
        flip_everywhere(&store, "index/", |_, _, answer| matches!(answer, Answer::Right | Answer::SomeRefused));
    }
}

#[test]
fn every_flipped_byte_of_a_settled_file_or_its_manifest_is_refused_or_harmless() {
    for store in both(settled_store) {
        flip_everywhere(&store, "settled/", |name, offset, answer| match answer {
            // Zeros between the parts of a file.
            Answer::Right => name.contains(".rows") || store.is_unused(name, offset),
            Answer::Refused | Answer::SomeRefused => true,
            Answer::Shorter(_) => false,
        });
    }
}

#[test]
fn every_flipped_byte_of_the_rest_of_a_settled_store_is_refused_or_mended() {
    for store in both(settled_store) {
        flip_everywhere(&store, "log/", |_, _, answer| !matches!(answer, Answer::Shorter(_)));
        flip_everywhere(&store, "index/", |_, _, answer| matches!(answer, Answer::Right | Answer::SomeRefused));
    }
}

#[test]
fn a_settled_file_or_its_manifest_that_is_lost_cut_or_zeroed_is_refused() {
    both(settled_store).iter().for_each(a_settled_file_that_is_not_whole_is_refused);
}

fn a_settled_file_that_is_not_whole_is_refused(store: &Store) {
    for (name, len) in store.files("settled/") {
        let refused = |what: &str, damage: &dyn Fn(&SimDisk)| {
            let answer = store.answer_after(&format!("{name} {what}"), damage);
            assert_eq!(answer, Answer::Refused, "{name} {what}");
        };
        refused("lost", &|disk| disk.lose(&name));
        refused("zeroed", &|disk| disk.put(&name, &vec![0; len as usize]));
        for cut in (0..len).step_by(if store.sealed { 293 } else { 37 }) {
            refused(&format!("cut at {cut}"), &|disk| disk.cut(&name, cut));
        }
        refused("with more behind it", &|disk| disk.overwrite(&name, len, &[7; 100]));
    }
    let answer = store.answer_after("the index lost", |disk| {
        store.files("index/").iter().for_each(|(name, _)| disk.lose(name));
    });
    assert_eq!(answer, Answer::Right);
    let answer = store.answer_after("everything settled lost", |disk| {
        store.files("settled/").iter().for_each(|(name, _)| disk.lose(name));
    });
    assert_eq!(answer, Answer::Refused);
}

#[test]
fn every_flipped_byte_of_the_identity_file_is_refused() {
    for store in both(closed_store) {
        flip_everywhere(&store, "STORE", |name, offset, answer| {
            answer == Answer::Refused || (store.is_unused(name, offset) && answer == Answer::Right)
        });
        flip_everywhere(&store, "KEYS", |_, _, answer| answer == Answer::Refused);
    }
}

#[test]
fn the_log_cut_anywhere_in_the_last_commits_holds_the_commits_before_the_cut() {
    both(unclosed_store).iter().for_each(the_log_holds_the_commits_before_a_cut);
}

fn the_log_holds_the_commits_before_a_cut(store: &Store) {
    let places = store.places();
    let (file, ..) = places.last().unwrap();
    let in_newest: Vec<_> = places.iter().filter(|(name, ..)| name == file).collect();
    let (_, first_start, _) = in_newest[in_newest.len().saturating_sub(4)];
    let (_, last_start, last_len) = places.last().unwrap();
    for cut in *first_start..=last_start + last_len {
        let lost = in_newest.iter().filter(|(_, start, len)| start + len > cut).count() as u64;
        // The padding of a record is not looked at; a cut in it loses nothing that is needed.
        let answer = store.answer_after(&format!("cut at {cut}"), |disk| disk.cut(file, cut));
        let expected = if lost == 0 { Answer::Right } else { Answer::Shorter(lost) };
        assert_eq!(answer, expected, "{file} cut at {cut}");
    }
}

#[test]
fn the_log_of_a_closed_store_cut_anywhere_is_refused() {
    for store in both(closed_store) {
        let (file, len) = store.newest_segment();
        for cut in (0..4096).step_by(61).chain(4096..len).filter(|&cut| cut < len) {
            let answer = store.answer_after(&format!("cut at {cut}"), |disk| disk.cut(&file, cut));
            assert_eq!(answer, Answer::Refused, "{file} cut at {cut}, sealed: {}", store.sealed);
        }
    }
}

#[test]
fn an_older_segment_cut_anywhere_is_refused_when_what_is_missing_is_read() {
    for store in [both(closed_store), both(unclosed_store)].into_iter().flatten() {
        let segments = store.files("log/");
        for (file, len) in &segments[..segments.len() - 1] {
            let end =
                store.places().iter().filter(|(name, ..)| name == file).map(|(_, at, len)| at + len).max().unwrap();
            for cut in (0..4096).step_by(300).chain((4096..*len).step_by(7)).filter(|&cut| cut < end) {
                for zeros in [false, true] {
                    let what = format!("{file} cut at {cut}, zeros in its place: {zeros}");
                    let answer = store.answer_after(&what, |disk| {
                        disk.cut(file, cut);
                        if zeros {
                            disk.cut(file, *len);
                        }
                    });
                    // The last bytes of a segment are padding, which is not read once it is indexed.
                    let padding = if store.sealed { 64 } else { 8 };
                    let harmless = cut + padding > end && answer == Answer::Right;
                    assert!(harmless || matches!(answer, Answer::Refused | Answer::SomeRefused), "{what}: {answer:?}");
                }
            }
        }
    }
}

#[test]
fn whatever_follows_the_last_commit_changes_nothing() {
    for store in [both(closed_store), both(unclosed_store)].into_iter().flatten() {
        let (file, _) = store.newest_segment();
        let (_, start, len) = store.places().pop().unwrap();
        let end = start + len;
        let segment = store.disk.content(&file).unwrap();
        let mut rng = Rng::new(7);
        let mut tails: Vec<Vec<u8>> = [1, 7, 8, 9, 48, 511, 4096, 20_000].map(|len| rng.bytes(len)).into();
        tails.extend([1, 8, 48, 4096, 70_000].map(|len| vec![0; len]));
        tails.push(vec![0xff; 5000]);
        // Commits of another place, which are whole but do not belong here: the last one again, the
        // whole segment, and the last commit's head alone.
        tails.push(segment[start as usize..end as usize].to_vec());
        tails.push(segment.clone());
        tails.push(segment[(end as usize).min(4096)..end as usize].to_vec());
        tails.push(segment[start as usize..start as usize + 48].to_vec());
        for (nth, tail) in tails.iter().enumerate() {
            let answer = store.answer_after(&format!("tail {nth}"), |disk| disk.overwrite(&file, end, tail));
            assert_eq!(answer, Answer::Right, "tail {nth} of {} bytes", tail.len());
        }
    }
}

#[test]
fn a_lost_file_is_rebuilt_if_it_is_of_the_index_and_refused_otherwise() {
    let stores = both(closed_store).map(|store| (true, store)).into_iter();
    for (closed, store) in stores.chain(both(unclosed_store).map(|store| (false, store))) {
        let (newest, _) = store.newest_segment();
        for (name, _) in store.disk.files() {
            let answer = store.answer_after(&format!("{name} lost"), |disk| disk.lose(&name));
            let expected = match name.as_str() {
                name if name.starts_with("index/") || name == "lock" => Answer::Right,
                // Nothing tells that it was there, if no manifest reaches into it.
                name if name == newest && !closed => continue,
                _ => Answer::Refused,
            };
            assert_eq!(answer, expected, "{name} lost, closed: {closed}");
        }
        let answer = store.answer_after("the index lost", |disk| {
            store.files("index/").iter().for_each(|(name, _)| disk.lose(name));
        });
        assert_eq!(answer, Answer::Right);
    }
}

#[test]
fn a_file_of_zeros_or_without_bytes_is_never_taken_for_a_whole_one() {
    both(closed_store).iter().for_each(zeros_are_no_file);
}

fn zeros_are_no_file(store: &Store) {
    for (name, len) in store.disk.files() {
        for zeros in [0, len] {
            let what = format!("{name} replaced by {zeros} zeros");
            let answer = store.answer_after(&what, |disk| disk.put(&name, &vec![0; zeros as usize]));
            let index = name.starts_with("index/") || name == "lock";
            let refused = matches!(answer, Answer::Refused | Answer::SomeRefused);
            assert!(if index { answer == Answer::Right } else { refused }, "{what}: {answer:?}");
        }
    }
}

#[test]
fn files_exchanged_with_each_other_are_noticed() {
    both(closed_store).iter().for_each(exchanged_segments_are_noticed);
}

fn exchanged_segments_are_noticed(store: &Store) {
    let segments = store.files("log/");
    assert!(segments.len() > 2 && store.commits() > 10);
    let content = |nth: usize| store.disk.content(&segments[nth].0).unwrap();
    let answer = store.answer_after("segments exchanged", |disk| {
        disk.put(&segments[0].0, &content(1));
        disk.put(&segments[1].0, &content(0));
    });
    assert!(matches!(answer, Answer::Refused | Answer::SomeRefused), "{answer:?}");
}
