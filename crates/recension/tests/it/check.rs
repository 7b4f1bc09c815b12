//! The check of a store: silent where all agrees, and not where a row is missing, too many or wrong.

use std::collections::BTreeMap;
use std::sync::Arc;

use recension::engine::{Batch, Direction, Engine, KeyRange, MemoryEngine, TreeId};
use recension::{At, Expect, IndexSpec, ReplicatedWrite, RevId, Store};

const TREES: u32 = 8;

/// Those beside the documents.
const SIDE_TREES: [u32; 2] = [3, 7];

fn filled() -> (Store, Arc<MemoryEngine>) {
    let engine = Arc::new(MemoryEngine::new());
    let store = Store::on(engine.clone()).unwrap();
    for name in ["menu", "users"] {
        let collection = store.collection(name).unwrap();
        let spec = if name == "users" { IndexSpec::unique } else { IndexSpec::new };
        collection.create_index(spec("n", "n"), |_| {}).unwrap();
        // Texts that do not follow from the keys stand in the rows of the index.
        let fraction = if name == "users" { ".0" } else { "" };
        for n in 0..5 {
            collection.put(&format!("d{n}"), format!("{{\"n\":{n}{fraction}}}")).unwrap();
        }
        let d1 = collection.get("d1").unwrap().unwrap();
        collection.delete("d1", &d1.rev).unwrap();
        for id in ["d2", "d3"] {
            collection.attach(id, Expect::Anything, "x", "image/png", &vec![7; 70_000][..]).unwrap();
        }
        let loser =
            ReplicatedWrite::new("d4", RevId::with_suffix(1, &"0".repeat(32)).unwrap(), &[], false, "{}").unwrap();
        collection.replication().merge_revisions([loser]).unwrap();
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

/// What happens to a row.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Lost,
    /// There is one like it that nobody calls for.
    Surplus,
    /// Its last byte is another one.
    Changed,
}

/// Every row of every collection: its tree, key and value.
fn rows(engine: &MemoryEngine) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let snapshot = engine.snapshot().unwrap();
    let of_tree = |tree: u32| {
        let rows = snapshot.range(TreeId(tree), &KeyRange::all(), Direction::Forward);
        rows.map(|row| row.unwrap()).map(|row| (tree, row.key.to_vec(), row.value.bytes.to_vec())).collect::<Vec<_>>()
    };
    (1..=TREES).flat_map(of_tree).collect()
}

#[test]
fn every_row_that_is_lost_or_changed_behind_the_writers_backs_is_found() {
    // How many rows of which kind were changed: trees of documents, of changes and of indexes have but one.
    let mut kinds: BTreeMap<u8, usize> = BTreeMap::new();
    let mut tried = 0;
    for number in 0..rows(&filled().1).len() {
        for fault in [Fault::Lost, Fault::Surplus, Fault::Changed] {
            // A store of its own for each fault: putting a row back gives it another commit.
            let (store, engine) = filled();
            let (tree, key, mut value) = rows(&engine).swap_remove(number);
            let mut batch = Batch::new();
            match (fault, value.last_mut()) {
                (Fault::Lost, _) => drop(batch.delete(TreeId(tree), &key)),
                (Fault::Surplus, _) => drop(batch.put(TreeId(tree), &[&key, &b"\x01"[..]].concat(), &value)),
                (Fault::Changed, None) => continue,
                (Fault::Changed, Some(last)) => {
                    *last ^= 0x40;
                    batch.put(TreeId(tree), &key, &value);
                    *kinds.entry(if SIDE_TREES.contains(&tree) { key[0] } else { 0 }).or_default() += 1;
                }
            }
            engine.commit(batch).unwrap();
            assert_ne!(store.check(At::Now).unwrap().problems, [], "{fault:?}: tree {tree}, {}", key.escape_ascii());
            tried += 1;
        }
    }
    // Of two collections: documents and changes; leaves, contents and chunks. References are empty, and entries of the
    // index that is not unique.
    let unique = 4;
    assert_eq!(kinds, BTreeMap::from([(0, 2 * (5 + 5) + unique), (0x01, 2), (0x04, 2), (0x05, 2 * 2)]));
    assert_eq!(tried, 2 * (2 * (5 + 5 + 4 + 1 + 1 + 2 + 2) + (5 + 5 + 1 + 1 + 2)) + unique);
}
