//! What a store keeps when it is closed and opened again, and its information about itself.

use recension::engine::{Batch, Durability, Seq, TreeId};

use super::{EngineFactory, Store, T, all, at, delete, get, now, put, store, store_with_clock, versions, write};

type Everything = Vec<(Seq, u64, Vec<super::OwnedRow>, Vec<super::OwnedRow>, Vec<super::OwnedVersion>)>;

fn everything(store: &Store) -> Everything {
    let engine = store.engine();
    (0..=engine.head().0)
        .map(|seq| {
            let snapshot = at(engine, Seq(seq));
            let time = snapshot.time().unwrap().0;
            (Seq(seq), time, all(&*snapshot, T), all(&*snapshot, TreeId(8)), versions(&*snapshot, T, b"k"))
        })
        .collect()
}

pub(super) fn a_store_opened_again_has_all_it_had(factory: &dyn EngineFactory) {
    let (mut store, clock) = store_with_clock(factory);
    let persists = store.reopen();
    assert_eq!(persists, factory.persists(), "the factory says what it is");
    assert_eq!(store.engine().head(), Seq::ZERO, "an empty store stays empty");
    for round in 0..5_u8 {
        for n in 0..10_u8 {
            clock.advance(7);
            put(store.engine(), b"k", &[round, n]);
            write(store.engine(), &[(TreeId(8), &[n], Some(&[round; 1000])), (T, &[n, round], Some(b""))]);
            delete(store.engine(), &[n / 2, round]);
        }
        if round % 2 == 0 {
            store.engine().checkpoint().unwrap();
            put(store.engine(), b"k", b"after the checkpoint");
        }
        let before = everything(&store);
        store.reopen();
        assert_eq!(everything(&store), before, "after reopening number {round}");
        // It is opened again without a change: a second reopening is a different path in an engine.
        store.reopen();
        assert_eq!(everything(&store), before, "after two reopenings");
    }
    assert_eq!(store.engine().verify().unwrap().problems, []);
}

pub(super) fn every_durability_is_there_after_a_clean_closing(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    let asked = [Durability::Memory, Durability::Disk, Durability::Process, Durability::Memory];
    for (n, durability) in asked.into_iter().enumerate() {
        let mut batch = Batch::new();
        batch.put(T, &[n as u8], b"v").durability(durability);
        let seq = store.engine().commit(batch).unwrap().seq;
        store.reopen();
        assert_eq!(store.engine().head(), seq, "{durability:?}");
        assert_eq!(get(&*now(store.engine()), T, &[n as u8]), Some((seq, b"v".to_vec())), "{durability:?}");
    }
}

pub(super) fn checkpoints_change_nothing_that_can_be_read(factory: &dyn EngineFactory) {
    let store = store(factory);
    store.engine().checkpoint().expect("an empty store has a checkpoint too");
    for n in 0..30_u8 {
        put(store.engine(), b"k", &[n]);
        if n % 4 == 0 {
            delete(store.engine(), b"k");
        }
        let before = everything(&store);
        store.engine().checkpoint().unwrap();
        assert_eq!(everything(&store), before);
    }
}

pub(super) fn a_sound_store_verifies_clean(factory: &dyn EngineFactory) {
    let mut store = store(factory);
    assert_eq!(store.engine().verify().unwrap().problems, []);
    for n in 0..20_u8 {
        write(store.engine(), &[(T, &[n % 5], Some(&[n; 300])), (TreeId(8), &[n], None)]);
    }
    for checkpointed in [false, true] {
        let report = store.engine().verify().unwrap();
        assert_eq!(report.problems, []);
        // An engine that settles its log may have fewer commit records to look at, never more.
        assert!(report.commits <= 20, "{report:?}");
        assert!(report.rows >= 40, "each of the 40 versions was looked at: {report:?}");
        assert!(report.bytes > 0, "{report:?}");
        assert_eq!(report.files > 0, factory.persists(), "{report:?}");
        if !checkpointed {
            store.engine().checkpoint().unwrap();
            store.reopen();
        }
    }
}

pub(super) fn stats_are_sane(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let empty = engine.stats().unwrap();
    assert!(!empty.engine.is_empty());
    assert_eq!(empty.head, Seq::ZERO);
    // Bytes that no engine can compress.
    let mut rng = crate::sim::Rng::new(1);
    for n in 0..50_u8 {
        let value: Vec<u8> = (0..2500).flat_map(|_| rng.next().to_le_bytes()).collect();
        put(engine, &[n], &value);
    }
    engine.checkpoint().unwrap();
    let full = engine.stats().unwrap();
    assert_eq!(full.engine, empty.engine);
    assert_eq!(full.head, engine.head());
    if factory.persists() {
        assert!(full.disk_bytes >= 1_000_000, "a million bytes take at least as many on disk: {full:?}");
    } else {
        assert_eq!(full.disk_bytes, 0);
        assert!(full.memory_bytes >= 1_000_000, "{full:?}");
    }
    let mut names: Vec<_> = full.details.iter().map(|(name, ..)| *name).collect();
    names.sort_unstable();
    assert!(names.iter().all(|name| !name.is_empty()) && names.windows(2).all(|pair| pair[0] != pair[1]), "{full:?}");
}
