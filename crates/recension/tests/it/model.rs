//! Random histories of one collection against a plain model: documents, revisions, every past commit,
//! and indexes that must always say what a scan says. Failures print their seed; set `SEED` to replay one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use recension::disk::FsDisk;
use recension::engine::{Direction, Durability, Engine, MemoryEngine, NativeEngine, NativeOptions, Seq};
use recension::{
    At, Collection, Document, Error, Expect, IndexSpec, ListOptions, Literal, Query, Result, RevId, Store, ValueRange,
    Write,
};

/// A small generator (xorshift*): the tests need chance that can be replayed, not quality.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len() as u64) as usize]
    }
}

/// A document of the model: every revision, oldest first.
type Revisions = Vec<(Seq, RevId, bool, String)>;

/// The documents that are not deleted: id to revision and body.
type Live = BTreeMap<String, (RevId, String)>;

#[derive(Default)]
struct Model {
    documents: BTreeMap<String, Revisions>,
    /// What there was at each commit: id to revision and body.
    past: Vec<(Seq, Live)>,
}

impl Model {
    fn live(&self) -> Live {
        let last = |(id, revisions): (&String, &Revisions)| {
            let (_, rev, deleted, body) = revisions.last()?;
            (!deleted).then(|| (id.clone(), (*rev, body.clone())))
        };
        self.documents.iter().filter_map(last).collect()
    }

    fn write(&mut self, id: &str, seq: Seq, rev: RevId, deleted: bool, body: &str) {
        let revisions = self.documents.entry(id.to_owned()).or_default();
        let parent = revisions.last().map_or(0, |(_, rev, ..)| rev.generation());
        assert_eq!(rev.generation(), parent + 1);
        revisions.push((seq, rev, deleted, body.to_owned()));
        let live = self.live();
        match self.past.last_mut() {
            Some((last, state)) if *last == seq => *state = live,
            _ => self.past.push((seq, live)),
        }
    }
}

const VALUES: [&str; 12] =
    ["1", "1.0", "2", "-7", "9007199254740993", "9007199254740992.0", "\"a\"", "\"b\"", "true", "null", "[1]", "{}"];

fn body(chance: &mut Chance) -> String {
    let mut members = Vec::new();
    if chance.below(5) > 0 {
        members.push(format!("\"v\":{}", chance.pick(&VALUES)));
    }
    if chance.below(3) > 0 {
        members.push(format!("\"in\":{{\"u\":{}}}", chance.below(30)));
    }
    members.push(format!("\"n\":{}", chance.below(1000)));
    format!("{{{}}}", members.join(","))
}

fn collect(found: impl Iterator<Item = Result<Document<'static>>>) -> Live {
    found.map(|d| d.unwrap()).map(|d| (d.id.into_owned(), (d.rev, d.body.into_owned()))).collect()
}

fn run(engine: Arc<dyn Engine>, seed: u64, steps: u64) {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let store = Store::on(engine).unwrap();
    let things = store.collection("things").unwrap();
    // A second handle, whose knowledge of the catalogue must never mislead it.
    let other = Store::on(store.engine().clone()).unwrap().collection("things").unwrap();
    let mut model = Model::default();
    for _ in 0..steps {
        let collection = if chance.below(2) == 0 { &things } else { &other };
        step(collection, &mut model, &mut chance);
        if chance.below(8) == 0 {
            check_now(collection, &model, &mut chance);
        }
    }
    check_now(&other, &model, &mut chance);
    check_past(&things, &model);
    check_history(&things, &model);
}

fn step(collection: &Collection, model: &mut Model, chance: &mut Chance) {
    let id = format!("d{}", chance.below(25));
    let live = model.live();
    let current = live.get(&id).map(|(rev, _)| *rev);
    let text = body(chance);
    match chance.below(12) {
        0..=4 => match collection.put(&id, &text) {
            Ok(written) => model.write(&id, written.seq, written.rev, false, &text),
            Err(error) => assert!(matches!(error, Error::NotUnique { .. }), "{error}"),
        },
        5 => match collection.create(Some(&id), &text) {
            Ok(written) => {
                assert_eq!(current, None);
                model.write(&id, written.seq, written.rev, false, &text);
            }
            Err(Error::Conflict { .. }) => assert!(current.is_some()),
            Err(error) => assert!(matches!(error, Error::NotUnique { .. }), "{error}"),
        },
        6 | 7 => {
            let Some(rev) = current else { return };
            let written = collection.delete(&id, &rev).unwrap();
            model.write(&id, written.seq, written.rev, true, "{}");
        }
        8 => {
            let Some(revisions) = model.documents.get(&id) else { return };
            let (_, rev, deleted, body) = chance.pick(revisions).clone();
            match collection.restore(&id, &rev) {
                Ok(written) => model.write(&id, written.seq, written.rev, false, &body),
                Err(Error::RevisionIsDeletion { .. }) => assert!(deleted),
                Err(error) => assert!(matches!(error, Error::NotUnique { .. }), "{error}"),
            }
        }
        9 => {
            let mut writes = Vec::new();
            for _ in 0..chance.below(6) {
                let id = format!("d{}", chance.below(25));
                let mut write = Write::put(&id, body(chance)).unwrap();
                if chance.below(3) == 0
                    && let Some((rev, _)) = live.get(&id)
                {
                    write = Write::delete(&id, rev).unwrap();
                } else if chance.below(3) == 0 {
                    write = write.expecting(Expect::Absent);
                }
                writes.push(write);
            }
            let results = collection.bulk(writes.clone()).unwrap();
            for (write, result) in writes.iter().zip(results) {
                if let Ok(written) = result {
                    model.write(write.id().unwrap(), written.seq, written.rev, write.is_deletion(), write.body());
                }
            }
        }
        10 => {
            let spec = match chance.below(3) {
                0 => IndexSpec::new("v", "v"),
                1 => IndexSpec::unique("u", "in.u"),
                _ => IndexSpec::new("n", "n"),
            };
            match collection.create_index(spec, |_| {}) {
                Ok(()) => {}
                Err(error) => assert!(matches!(error, Error::NotUnique { .. }), "{error}"),
            }
        }
        _ => {
            if chance.below(3) == 0 {
                let name = *chance.pick(&["v", "u", "n"]);
                let had = collection.indexes().unwrap().iter().any(|index| index.spec.name == name);
                assert_eq!(collection.drop_index(name).is_ok(), had);
            }
        }
    }
}

fn check_now(collection: &Collection, model: &Model, chance: &mut Chance) {
    let live = model.live();
    assert_eq!(collect(collection.list(&ListOptions::default()).unwrap()), live);
    assert_eq!(collection.count().unwrap(), live.len() as u64);
    for (id, (rev, body)) in &live {
        let read = collection.get(id).unwrap().unwrap();
        assert_eq!((&read.rev, &*read.body), (rev, body.as_str()));
    }
    let values: Vec<Literal> = VALUES.iter().map(|text| Literal::json(text).unwrap()).collect();
    for (name, path) in [("v", "v"), ("u", "in.u"), ("n", "n")] {
        let a = chance.pick(&values).clone();
        let b = Literal::from(chance.below(1000));
        let ranges = [
            ValueRange::anything(),
            ValueRange::equal(a.clone()),
            ValueRange::at_least(a.clone()),
            ValueRange::below(b.clone()),
            ValueRange::above(a.clone()).and(ValueRange::at_most(b)),
        ];
        for range in ranges {
            check_query(collection, name, path, &range);
        }
    }
}

/// The query through the index, where there is one, and on a collection of the same documents without indexes.
fn check_query(collection: &Collection, name: &str, path: &str, range: &ValueRange) {
    let plain = Store::memory().unwrap().collection("plain").unwrap();
    let documents = collection.list(&ListOptions::default()).unwrap();
    plain.bulk(documents.map(|d| d.unwrap()).map(|d| Write::put(&d.id, &*d.body).unwrap())).unwrap();
    for direction in [Direction::Forward, Direction::Backward] {
        let query = Query::new().matching(path, range.clone()).sort(path, direction);
        let found = collection.find(&query).unwrap();
        let indexed = collection.indexes().unwrap().iter().any(|index| index.spec.name == name);
        assert_eq!(found.plan().index.is_some(), indexed);
        let bodies = |found: recension::Found| -> Vec<(String, String)> {
            found.map(|d| d.unwrap()).map(|d| (d.id.into_owned(), d.body.into_owned())).collect()
        };
        assert_eq!(bodies(found), bodies(plain.find(&query).unwrap()), "{path} {range:?}");
    }
}

fn check_past(collection: &Collection, model: &Model) {
    assert_eq!(collection.store().check(At::Now).unwrap().problems, []);
    for (seq, state) in &model.past {
        let past = collection.at(At::Seq(*seq)).unwrap();
        assert_eq!(&collect(past.list(&ListOptions::default()).unwrap()), state, "as of {seq}");
        assert_eq!(past.get("d3").unwrap().map(|d| d.rev), state.get("d3").map(|(rev, _)| *rev));
        let range = ValueRange::anything();
        let query = Query::new().matching("in.u", range);
        let expected = state.values().filter(|(_, body)| body.contains("\"u\":")).count();
        assert_eq!(collect(past.find(&query).unwrap()).len(), expected, "as of {seq}");
    }
}

fn check_history(collection: &Collection, model: &Model) {
    for (id, revisions) in &model.documents {
        let told: Revisions =
            collection.history(id).unwrap().map(|r| r.unwrap()).map(|r| (r.seq, r.rev, r.deleted, r.body)).collect();
        let expected: Revisions = revisions.iter().rev().cloned().collect();
        assert_eq!(told, expected, "{id}");
        let heads: Vec<_> = collection.history(id).unwrap().map(|revision| revision.unwrap().head()).collect();
        let told: Vec<_> = collection.revisions(id).unwrap().map(|revision| revision.unwrap()).collect();
        assert_eq!(told, heads, "{id}");
    }
}

/// Runs seeds up to `last`, or the one that `SEED` names.
fn run_seeds(last: u64, engine: impl Fn() -> Arc<dyn Engine> + std::panic::RefUnwindSafe) {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (1..=last).collect::<Vec<u64>>(),
    };
    for seed in seeds {
        if let Err(panic) = std::panic::catch_unwind(|| run(engine(), seed, 120)) {
            eprintln!("replay with SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn random_histories_agree_with_the_model_now_and_at_every_past_commit() {
    run_seeds(60, || Arc::new(MemoryEngine::new()));
}

#[test]
fn random_histories_on_the_native_engine_agree_with_the_model_too() {
    let dir = tempfile::tempdir().unwrap();
    let opened = AtomicU64::new(0);
    run_seeds(10, || {
        let place = dir.path().join(opened.fetch_add(1, Ordering::Relaxed).to_string());
        // Small parts, so that rows are read from runs as well.
        let options = NativeOptions {
            durability: Durability::Memory,
            segment_bytes: 64 << 10,
            index_memory_bytes: 16 << 10,
            checkpoint_log_bytes: 16 << 10,
            ..NativeOptions::default()
        };
        Arc::new(NativeEngine::open(Arc::new(FsDisk::new(place)), options).unwrap())
    });
}
