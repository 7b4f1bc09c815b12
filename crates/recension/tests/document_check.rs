//! The check of a store: silent where all agrees, and not where a row is missing, too many or wrong.

use std::sync::Arc;

use recension::document::{At, IndexSpec, Store};
use recension::engine::{Batch, Direction, Engine, KeyRange, MemoryEngine, TreeId};

const TREES: u32 = 8;

fn filled() -> (Store, Arc<MemoryEngine>) {
    let engine = Arc::new(MemoryEngine::new());
    let store = Store::on(engine.clone()).unwrap();
    for name in ["menu", "users"] {
        let collection = store.collection(name).unwrap();
        collection.create_index(IndexSpec::new("n", "n".parse().unwrap()), |_| {}).unwrap();
        for n in 0..5 {
            collection.put(&format!("d{n}"), format!("{{\"n\":{n}}}")).unwrap();
        }
        let d1 = collection.get("d1").unwrap().unwrap();
        collection.delete("d1", &d1.rev).unwrap();
    }
    (store, engine)
}

#[test]
fn a_store_that_its_writers_left_agrees_at_every_moment() {
    let (store, engine) = filled();
    for seq in 0..=engine.head().0 {
        let report = store.check(At::Seq(recension::engine::Seq(seq))).unwrap();
        assert_eq!(report.problems, [], "at commit {seq}");
    }
    let report = store.check(At::Now).unwrap();
    assert_eq!((report.collections, report.documents, report.index_entries), (2, 10, 8));
}

#[test]
fn every_row_that_is_lost_or_changed_behind_the_writers_backs_is_found() {
    let (_, engine) = filled();
    let snapshot = engine.snapshot().unwrap();
    let mut tried = 0;
    for tree in 1..=TREES {
        for row in snapshot.range(TreeId(tree), &KeyRange::all(), Direction::Forward) {
            let row = row.unwrap();
            let mut damage = Batch::new();
            damage.delete(TreeId(tree), &row.key);
            let mut undo = Batch::new();
            undo.put(TreeId(tree), &row.key, &row.value);
            let mut surplus = Batch::new();
            surplus.put(TreeId(tree), &[&row.key, &b"\x01"[..]].concat(), &row.value);
            for batch in [damage, surplus] {
                // A store of its own for each fault: putting a row back gives it another commit.
                let (store, engine) = filled();
                engine.commit(batch).unwrap();
                assert_ne!(store.check(At::Now).unwrap().problems, [], "tree {tree}, {}", row.key.escape_ascii());
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 2 * 2 * (5 + 5 + 4), "documents, changes, entries of the index, of two collections");
}
