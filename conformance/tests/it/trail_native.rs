//! A store whose process was killed, and whose log was then damaged: whatever is missing of what was synced more than a
//! second ago is an error that names the place. Never fewer commits without a word, but for the last second's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use recension::engine::native::{NativeEngine, NativeOptions, salvage};
use recension::engine::{Batch, Clock, Durability, Engine, EngineError, ManualClock, Seq, Timestamp, TreeId};
use recension_conformance::crash::{Model, Shape, batch_of, check_answers, native, random_changes, test_clock};
use recension_conformance::sim::{Rng, SimDisk};

/// Commits before the last checkpoint, behind it up to the mark, and behind the mark.
const INDEXED: u64 = 40;
const MARKED: u64 = 300;
const TAIL: u64 = 12;
const ALL: u64 = INDEXED + MARKED + TAIL;

fn options(clock: Arc<dyn Clock>) -> NativeOptions {
    NativeOptions {
        segment_bytes: 16 << 10,
        index_memory_bytes: 4 << 20,
        checkpoint_log_bytes: 4 << 20,
        settle_log_bytes: None,
        ..native::small_options(clock)
    }
}

fn open(disk: &SimDisk) -> Result<NativeEngine, EngineError> {
    NativeEngine::open(disk.arc(), options(test_clock()))
}

/// Where a commit lies.
#[derive(Clone)]
struct Place {
    file: String,
    at: u64,
    len: u64,
}

/// A killed store: its disk, what it held, where its commits lie, and the disk at earlier moments.
struct Victim {
    disk: SimDisk,
    model: Model,
    places: Vec<Place>,
    earlier: Vec<SimDisk>,
    /// How often it was refused when it was damaged.
    refused: AtomicUsize,
    /// Another copy of the store, which went its own way after the checkpoint.
    fork: SimDisk,
}

fn commit(engine: &NativeEngine, clock: &ManualClock, model: &mut Model, rng: &mut Rng) {
    let shape = Shape { large_percent: 2, large_bytes: 900, ..Shape::default() };
    let changes = random_changes(rng, shape);
    let info = engine.commit(batch_of(&changes, Durability::Disk)).unwrap();
    assert_eq!(model.apply(&changes, info.time), info.seq);
    clock.advance(100);
}

fn victim(seed: u64) -> Victim {
    let disk = SimDisk::new();
    let clock = test_clock();
    let engine = NativeEngine::open(disk.arc(), options(clock.clone())).unwrap();
    let (mut model, mut rng) = (Model::default(), Rng::new(seed));
    for _ in 0..INDEXED {
        commit(&engine, &clock, &mut model, &mut rng);
    }
    engine.checkpoint().unwrap();
    let mut earlier = Vec::new();
    let fork = disk.process_crash();
    for nth in 0..MARKED + TAIL {
        if nth % 40 == 7 {
            earlier.push(disk.process_crash());
        }
        // A second goes by; the mark is written with the commit that comes then.
        if nth == MARKED - 1 {
            clock.advance(1_000_000);
        }
        commit(&engine, &clock, &mut model, &mut rng);
    }
    let killed = disk.process_crash();
    killed.settle();
    let places = places(&killed);
    assert_eq!(places.len() as u64, ALL);
    let clock = test_clock();
    let other = NativeEngine::open(fork.arc(), options(clock.clone())).unwrap();
    let mut same = model.prefix(INDEXED);
    // The same commits at the same places, but for their values.
    for (changes, _) in model.after(INDEXED) {
        let mut changes = changes.clone();
        for value in changes.iter_mut().filter_map(|change| change.value.as_mut()) {
            for byte in value {
                *byte ^= 1;
            }
        }
        // A second goes by with each: every one comes to the mark.
        clock.advance(1_000_000);
        let info = other.commit(batch_of(&changes, Durability::Disk)).unwrap();
        same.apply(&changes, info.time);
    }
    let fork = fork.process_crash();
    Victim { disk: killed, model, places, earlier, fork, refused: AtomicUsize::new(0) }
}

fn segments(disk: &SimDisk) -> Vec<String> {
    disk.files().into_iter().map(|(name, _)| name).filter(|name| name.starts_with("log/")).collect()
}

/// Where the commits of a log lie, as docs/format.md describes their records.
fn places(disk: &SimDisk) -> Vec<Place> {
    let mut places = Vec::new();
    for file in segments(disk) {
        let bytes = disk.content(&file).unwrap();
        let mut at = 4096;
        while bytes.get(at..at + 4) == Some(b"RcC2") {
            let len = u32::from_le_bytes(bytes[at + 16..at + 20].try_into().unwrap()) as usize;
            places.push(Place { file: file.clone(), at: at as u64, len: len as u64 });
            at += len;
        }
    }
    places
}

type Damage<'d> = &'d dyn Fn(&SimDisk);

/// What came of a damaged store.
#[derive(Debug)]
enum Outcome {
    /// Refused; the file, the place in it, and the words.
    Refused(String, u64, String),
    /// It opened with this many commits, and all of its answers are right.
    Opened(u64),
}

impl Victim {
    fn place(&self, seq: u64) -> &Place {
        &self.places[seq as usize - 1]
    }

    fn after(&self, what: &str, damage: impl FnOnce(&SimDisk)) -> Outcome {
        let disk = self.disk.process_crash();
        damage(&disk);
        let before = disk.files();
        match open(&disk) {
            Err(EngineError::Damaged { file, offset, what: words }) => {
                // Nothing was changed, and what is whole can be had (every seventh time: it takes a while).
                assert_eq!(disk.files(), before, "{what}");
                if !self.refused.fetch_add(1, Ordering::Relaxed).is_multiple_of(7) {
                    return Outcome::Refused(file, offset, words);
                }
                let report = salvage(&disk.arc(), SimDisk::new().arc(), options(test_clock()), |_, _| ()).unwrap();
                assert!(
                    !report.problems.is_empty(),
                    "{what}: salvage found nothing, and the open was refused: {words}"
                );
                Outcome::Refused(file, offset, words)
            }
            Err(error) => panic!("{what}: {error}"),
            Ok(engine) => {
                let head = engine.head().0;
                let model = self.model.prefix(head);
                check_answers(&engine, model.engine(), Seq(head)).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert_eq!(engine.verify().unwrap().problems, [], "{what}");
                Outcome::Opened(head)
            }
        }
    }

    /// Damage from commit `from` on: an error that names the place where the log ends or breaks off, unless only what
    /// is behind the mark is hit. Returns whether it was refused.
    fn must_be_noticed(&self, what: &str, from: u64, damage: impl FnOnce(&SimDisk)) -> bool {
        match self.after(what, damage) {
            Outcome::Refused(file, offset, words) => {
                let place = self.place(from);
                // If it begins a segment, the one before may be what ended too early.
                let before = self.place(from.max(2) - 1);
                let named = file == place.file && (place.at..=place.at + place.len).contains(&offset);
                let ended = file == before.file && offset == before.at + before.len;
                let missing = file.starts_with("log/") && offset == 0;
                let wanted = format!("{} at {}", place.file, place.at);
                assert!(named || ended || missing, "{what}: {file} at {offset}: {words}; expected {wanted}");
                assert!(words.contains("commit") || words.contains("segment"), "{what}: {words}");
                true
            }
            Outcome::Opened(head) => {
                assert!(head >= INDEXED + MARKED, "{what}: {head} of {ALL} commits, and not a word");
                assert!(from > INDEXED + MARKED || head == ALL, "{what}: the damage was not noticed");
                false
            }
        }
    }
}

#[test]
fn a_log_that_is_cut_or_overwritten_anywhere_before_the_last_second_is_refused_with_the_place() {
    let victim = victim(1);
    assert!(segments(&victim.disk).len() > 4);
    assert_eq!(victim.after("nothing", |_| ()).opened(), Some(ALL));
    let mut rng = Rng::new(11);
    let (mut refused, mut prefixes) = (0, 0);
    for seq in INDEXED + 1..=ALL {
        let Place { file, at, len } = victim.place(seq);
        for at in [*at, at + 1 + rng.below(len - 8)] {
            let end = victim.disk.content(file).unwrap().len() as u64;
            let cut = |disk: &SimDisk| disk.cut(file, at);
            let zeros = |disk: &SimDisk| {
                disk.cut(file, at);
                disk.cut(file, end);
            };
            let later = |disk: &SimDisk| {
                // Nothing at all behind it.
                zeros(disk);
                segments(disk).iter().filter(|name| *name > file).for_each(|name| disk.lose(name));
            };
            let garbage = rng.bytes((end - at).min(3000) as usize);
            let over = |disk: &SimDisk| disk.overwrite(file, at, &garbage);
            let damages: [(&str, Damage<'_>); 4] =
                [("cut", &cut), ("zeros", &zeros), ("nothing from there on", &later), ("garbage", &over)];
            for (kind, damage) in damages {
                let what = format!("{kind} at {at} of {file}, in commit {seq}");
                if victim.must_be_noticed(&what, seq, damage) { refused += 1 } else { prefixes += 1 }
            }
        }
    }
    println!("{refused} refused, {prefixes} opened with what was before the damage");
    // Of the last second's commits, those are missed behind which others have come.
    assert_eq!(refused + prefixes, 8 * (MARKED + TAIL));
    assert!(refused >= 8 * MARKED && prefixes > 0);
}

impl Outcome {
    fn opened(&self) -> Option<u64> {
        match self {
            Outcome::Opened(head) => Some(*head),
            Outcome::Refused(..) => None,
        }
    }

    fn refused(&self) -> Option<(&str, u64, &str)> {
        match self {
            Outcome::Opened(_) => None,
            Outcome::Refused(file, offset, what) => Some((file, *offset, what)),
        }
    }
}

#[test]
fn a_cut_log_says_which_commits_are_missing() {
    let victim = victim(2);
    let marked = INDEXED + MARKED;
    for seq in [INDEXED + 1, 200, marked] {
        let Place { file, at, .. } = victim.place(seq).clone();
        let outcome = victim.after("cut", |disk| {
            disk.cut(&file, at);
            segments(disk).iter().filter(|name| **name > file).for_each(|name| disk.lose(name));
        });
        let (found, offset, what) = outcome.refused().unwrap();
        // Where a segment began with it, the one before has ended there.
        assert!(found == file && offset == at, "{found} at {offset}, and it was cut at {at} of {file}");
        let commits =
            if seq == marked { format!("commit {marked} is") } else { format!("commits {seq} to {marked} are") };
        assert!(what.starts_with(&commits), "{what}");
        assert!(what.contains(&victim.place(marked).file), "{what}");
    }
}

#[test]
fn flipped_bits_exchanged_records_and_exchanged_blocks_are_refused() {
    for seed in 1..4 {
        let victim = victim(seed);
        let mut rng = Rng::for_part(seed, 0xb17);
        let mut refused = 0;
        for _ in 0..150 {
            let seq = INDEXED + 1 + rng.below(MARKED);
            let Place { file, at, len } = victim.place(seq);
            let byte = at + rng.below(len - 8);
            let mask = 1 << rng.below(8);
            let what = format!("seed {seed}: bit {mask:#x} of byte {byte} of {file}, in commit {seq}");
            refused += u64::from(victim.must_be_noticed(&what, seq, |disk| _ = disk.flip(file, byte, mask)));
        }
        assert_eq!(refused, 150);
        for _ in 0..60 {
            // Two commits anywhere; of equal length so that all others stay where they are.
            let a = INDEXED + 1 + rng.below(MARKED);
            let same = |seq: &u64| *seq != a && victim.place(*seq).len == victim.place(a).len;
            let others: Vec<u64> = (INDEXED + 1..=INDEXED + MARKED).filter(same).collect();
            let Some(b) = others.get(rng.index(others.len().max(1))).copied() else { continue };
            let what = format!("seed {seed}: commits {a} and {b} exchanged");
            assert!(victim.must_be_noticed(&what, a.min(b), |disk| {
                let bytes = |seq: u64| {
                    let Place { file, at, len } = victim.place(seq);
                    victim.disk.content(file).unwrap()[*at as usize..][..*len as usize].to_vec()
                };
                for (to, from) in [(a, b), (b, a)] {
                    disk.overwrite(&victim.place(to).file, victim.place(to).at, &bytes(from));
                }
            }));
        }
        for _ in 0..60 {
            let block = [512, 4096][rng.index(2)];
            let blocks: Vec<(String, u64)> = segments(&victim.disk)
                .into_iter()
                .flat_map(|file| {
                    let len = victim.disk.content(&file).unwrap().len() as u64;
                    (4096..len)
                        .step_by(block as usize)
                        .filter(move |at| at + block <= len)
                        .map(move |at| (file.clone(), at))
                })
                .collect();
            let (a, b) = (&blocks[rng.index(blocks.len())], &blocks[rng.index(blocks.len())]);
            let bytes = |(file, at): &(String, u64)| {
                victim.disk.content(file).unwrap()[*at as usize..][..block as usize].to_vec()
            };
            let (of_a, of_b) = (bytes(a), bytes(b));
            let hit = |(file, at): &(String, u64)| {
                let seq = 1 + victim.places.iter().position(|p| p.file == *file && p.at + p.len > *at)? as u64;
                (victim.place(seq).at < at + block).then_some(seq)
            };
            let Some(first) = [hit(a), hit(b)].into_iter().flatten().min() else { continue };
            if of_a == of_b || first <= INDEXED {
                continue;
            }
            let what = format!("seed {seed}: blocks {a:?} and {b:?} of {block} bytes exchanged");
            victim.must_be_noticed(&what, first, |disk| {
                disk.overwrite(&a.0, a.1, &of_b);
                disk.overwrite(&b.0, b.1, &of_a);
            });
        }
    }
}

#[test]
fn segments_that_are_missing_or_old_or_of_another_copy_are_refused() {
    let victim = victim(5);
    let first_of = |file: &str| 1 + victim.places.iter().position(|place| place.file == file).unwrap() as u64;
    for file in segments(&victim.disk) {
        let first = first_of(&file);
        // What is indexed is not read by an open.
        let read = first.max(INDEXED + 1);
        let noticed = victim.must_be_noticed(&format!("{file} missing"), first, |disk| disk.lose(&file));
        assert_eq!(noticed, first <= INDEXED + MARKED, "{file} missing");
        for (nth, earlier) in victim.earlier.iter().enumerate() {
            let Some(old) = earlier.content(&file).filter(|old| *old != victim.disk.content(&file).unwrap()) else {
                continue;
            };
            let now = victim.disk.content(&file).unwrap();
            let same = old.iter().zip(&now).take_while(|(old, now)| old == now).count() as u64;
            let last = victim
                .places
                .iter()
                .rposition(|p| p.file == file && p.at + p.len <= same)
                .map_or(read, |n| n as u64 + 2);
            assert!(
                victim
                    .must_be_noticed(&format!("{file} of moment {nth}"), last.max(read), |disk| disk.put(&file, &old))
            );
        }
        let Some(other) = victim.fork.content(&file) else { continue };
        if other != victim.disk.content(&file).unwrap() {
            // What the fork has there goes on from the same commit: the break is where ours goes on from its last one.
            let outcome = victim.after(&format!("{file} of the fork"), |disk| disk.put(&file, &other));
            let words = outcome.refused().map(|(.., words)| words.to_owned()).unwrap_or_default();
            let broken =
                words.contains("does not go on") || words.contains("MARK knows") || words.contains("found none");
            assert!(broken || first > INDEXED + MARKED, "{file} of the fork: {outcome:?}");
        }
    }
}

#[test]
fn one_record_of_another_copy_at_its_own_place_breaks_the_chain() {
    let victim = victim(6);
    let theirs = places(&victim.fork);
    let mut tried = 0;
    for seq in INDEXED + 1..INDEXED + MARKED {
        let (ours, theirs) = (victim.place(seq), &theirs[seq as usize - 1]);
        if (&ours.file, ours.at, ours.len) != (&theirs.file, theirs.at, theirs.len) {
            break;
        }
        let bytes = &victim.fork.content(&ours.file).unwrap()[ours.at as usize..][..ours.len as usize];
        if victim.disk.content(&ours.file).unwrap()[ours.at as usize..].starts_with(bytes) {
            continue;
        }
        let outcome =
            victim.after(&format!("commit {seq} of the fork"), |disk| disk.overwrite(&ours.file, ours.at, bytes));
        let (file, offset, what) = outcome.refused().unwrap();
        // The first one of the fork goes on from the same commit; then it is the one behind it that does not fit.
        let next = victim.place(seq + 1);
        let places = [(&ours.file, ours.at), (&next.file, next.at)];
        assert!(places.iter().any(|(name, at)| *name == file && *at == offset), "{seq}: {file} at {offset}: {what}");
        assert!(what.contains("does not go on"), "{what}");
        tried += 1;
    }
    assert!(tried > 200, "{tried}");
}

#[test]
fn a_mark_that_is_lost_or_damaged_twice_is_refused_and_one_damaged_slot_is_mended() {
    let victim = victim(7);
    let mark = |outcome: &Outcome| outcome.refused().map(|(file, ..)| file.to_owned());
    assert_eq!(mark(&victim.after("lost", |disk| disk.lose("MARK"))).as_deref(), Some("MARK"));
    let both = victim.after("both", |disk| {
        disk.flip("MARK", 40, 1);
        disk.flip("MARK", 4096 + 40, 1);
    });
    assert_eq!(mark(&both).as_deref(), Some("MARK"));
    let old = victim.earlier[0].content("MARK").unwrap();
    assert_eq!(victim.after("an older mark", |disk| disk.put("MARK", &old)).opened(), Some(ALL));
    let of_fork = victim.fork.content("MARK").unwrap();
    let of_fork = victim.after("the fork's", |disk| disk.put("MARK", &of_fork));
    assert!(of_fork.refused().is_some_and(|(_, _, what)| what.contains("MARK knows another commit")), "{of_fork:?}");
    for at in [0, 4096] {
        let disk = victim.disk.process_crash();
        disk.flip("MARK", at + 40, 1);
        let engine = open(&disk).unwrap();
        assert_eq!((engine.head().0, engine.verify().unwrap().problems), (ALL, vec![]));
        // At rest in an open store it is a finding, and an open of what a crash leaves mends it.
        disk.flip("MARK", at + 40, 1);
        let problems = engine.verify().unwrap().problems;
        assert!(problems.iter().any(|problem| problem.file == "MARK"), "{problems:?}");
    }
}

#[test]
fn a_mark_claims_nothing_that_was_not_synced() {
    let disk = SimDisk::new();
    let clock = test_clock();
    let engine = NativeEngine::open(disk.arc(), options(clock.clone())).unwrap();
    let put = |durability: Durability, len: usize| {
        let mut batch = Batch::new();
        batch.put(TreeId(1), b"key", &vec![7; len]).durability(durability);
        clock.advance(1_000_000);
        engine.commit(batch).unwrap().seq
    };
    let marked = || {
        let bytes = disk.content("MARK").unwrap();
        let slot = |at: usize| {
            let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            (number(at + 28), number(at + 36))
        };
        slot(0).max(slot(4096)).1
    };
    for durability in [Durability::Process, Durability::Memory] {
        put(durability, 10);
        assert_eq!(marked(), 0, "{durability:?}");
    }
    let synced = put(Durability::Disk, 10);
    assert_eq!(marked(), synced.0);
    put(Durability::Process, 10);
    assert_eq!(marked(), synced.0);
    // A segment is synced when the next one begins.
    let mut last = synced;
    for _ in 0..40 {
        last = put(Durability::Process, 900);
    }
    assert!(marked() > synced.0 && marked() < last.0, "{} of {last}", marked());
    engine.checkpoint().unwrap();
    assert_eq!(marked(), last.0);
    let more = put(Durability::Memory, 10);
    engine.close().unwrap();
    let engine = open(&disk).unwrap();
    assert_eq!(engine.head(), more);
}

#[test]
fn a_mark_is_written_when_a_second_has_gone_by_or_the_clock_was_set() {
    let disk = SimDisk::new();
    let clock = test_clock();
    let engine = NativeEngine::open(disk.arc(), options(clock.clone())).unwrap();
    let written_by_commit = |time: u64| {
        let before = disk.content("MARK").unwrap();
        let mut batch = Batch::new();
        batch.put(TreeId(1), b"key", b"value");
        clock.set(Timestamp(time));
        engine.commit(batch).unwrap();
        disk.content("MARK").unwrap() != before
    };
    let hour = 3_600_000_000;
    let times = [hour, hour + 1, 2 * hour, hour, hour + 800_000, hour + 900_000, 0, 0, 899_999];
    let written = times.map(written_by_commit);
    assert_eq!(written, [false, false, true, true, false, true, true, false, false]);
}

#[test]
fn copies_of_one_log_have_the_same_chain_and_others_differ_from_where_they_went_apart() {
    let victim = victim(8);
    let ours = open(&victim.disk).unwrap();
    let theirs = open(&victim.fork).unwrap();
    let backup = SimDisk::new();
    ours.backup_to(&backup.arc()).unwrap();
    let backup = open(&backup).unwrap();
    let chain = |engine: &NativeEngine, seq| engine.chain_at(Seq(seq)).unwrap();
    let all: Vec<_> = (0..=ALL).map(|seq| chain(&ours, seq).unwrap()).collect();
    let mut distinct = all.clone();
    distinct.sort_unstable_by_key(|chain| chain.to_bytes());
    distinct.dedup();
    assert_eq!(distinct.len(), all.len());
    for seq in 0..=ALL {
        assert_eq!(chain(&backup, seq), Some(all[seq as usize]), "the backup at {seq}");
        assert_eq!(chain(&theirs, seq) == Some(all[seq as usize]), seq <= INDEXED, "the fork at {seq}");
    }
    assert!(matches!(ours.chain_at(Seq(ALL + 1)), Err(EngineError::NotYet { .. })));
    // What is settled is anchored at its end.
    ours.settle().unwrap();
    let mut batch = Batch::new();
    batch.put(TreeId(1), b"key", b"value");
    ours.commit(batch).unwrap();
    assert_eq!((chain(&ours, ALL), chain(&ours, ALL - 1)), (Some(all[ALL as usize]), None));
    drop(ours);
    let ours = open(&victim.disk).unwrap();
    assert_eq!((chain(&ours, ALL), chain(&ours, 3)), (Some(all[ALL as usize]), None));
    assert_eq!(ours.verify().unwrap().problems, []);
}

#[test]
fn a_backup_of_a_log_that_breaks_off_is_refused_and_an_earlier_one_stays() {
    let victim = victim(9);
    let engine = open(&victim.disk).unwrap();
    let to = SimDisk::new();
    engine.backup_to(&to.arc()).unwrap();
    let before = to.files();
    let Place { file, at, .. } = victim.place(100).clone();
    victim.disk.flip(&file, at + 70, 4);
    let refused = engine.backup_to(&to.arc());
    assert!(matches!(&refused, Err(EngineError::Damaged { file: found, .. }) if *found == file), "{refused:?}");
    assert!(engine.verify().unwrap().problems.iter().any(|problem| problem.file == file));
    assert_eq!(to.files(), before);
    assert_eq!(open(&to).unwrap().head().0, ALL);
}

/// With the thread that users have.
#[test]
fn the_mark_follows_commits_within_a_second_and_is_left_alone_without_any() {
    let disk = SimDisk::new();
    let background = NativeOptions { mark_every: Duration::from_millis(40), ..NativeOptions::default() };
    let engine = NativeEngine::open(disk.arc(), background).unwrap();
    let content = || disk.content("MARK").unwrap();
    let reaches = |seq: u64| {
        let bytes = content();
        [36, 4096 + 36].iter().any(|&at| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) == seq)
    };
    for seq in 1..4 {
        let mut batch = Batch::new();
        batch.put(TreeId(1), b"key", b"value");
        engine.commit(batch).unwrap();
        let began = std::time::Instant::now();
        while !reaches(seq) {
            assert!(began.elapsed() < Duration::from_secs(30), "no mark of commit {seq}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let (calls, marks) = (disk.counters().total(), content());
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(content(), marks);
    assert_eq!(disk.counters().total(), calls, "nothing is written while nothing is committed");
}
