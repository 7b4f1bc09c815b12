//! Views that are kept in the commits of documents: they are never behind, at every moment what their documents emit,
//! and whoever cannot keep them says so.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use recension::{
    At, BuiltIn, Collection, CollectionAt, Emitted, Error, Grouping, ListOptions, MapInput, Mapper, ReducedBlocks,
    Reduction, Result, Store, View, ViewAt, ViewOptions, ViewRange,
};
use serde_json::Value;

/// Each tag with the number; a document whose tags are `"fail"` fails the mapper.
#[derive(Default)]
struct Quick(AtomicUsize);

fn by_tag(input: &MapInput) -> Vec<Emitted> {
    let body: Value = serde_json::from_str(&input.document.body).unwrap();
    let tags = body["tags"].as_array().cloned().unwrap_or_default();
    let conflicts = input.conflicts.len();
    let row = |tag: Value| Emitted { key: tag.to_string(), value: format!("[{},{conflicts}]", body["n"]) };
    tags.into_iter().map(row).collect()
}

impl Mapper for Quick {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        self.0.fetch_add(documents.len(), Ordering::Relaxed);
        if documents.iter().any(|input| input.document.body.contains("\"fail\"")) {
            return Err(Error::Function { error: "map".into(), reason: "it fails".into() });
        }
        Ok(documents.iter().map(by_tag).collect())
    }

    fn in_commit(&self) -> bool {
        true
    }
}

fn quick() -> View {
    View::new("quick, 1", ViewOptions::default(), Arc::new(Quick::default()))
}

fn rows(view: &ViewAt) -> Vec<(String, String, String)> {
    let rows = view.rows(&ViewRange::default()).unwrap().map(|row| row.unwrap());
    rows.map(|row| (row.key, row.id, row.value)).collect()
}

fn naive(at: &CollectionAt) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for document in at.list(&ListOptions::default()).unwrap() {
        let document = document.unwrap();
        let id = document.id.to_string();
        let conflicts = at.conflicts(&id).unwrap();
        let input = MapInput { document, conflicts, deleted_conflicts: Vec::new() };
        for (number, row) in by_tag(&input).into_iter().enumerate() {
            let collated = recension::Collation::Unicode.key(&row.key).unwrap();
            all.push(((collated, id.clone(), number), (row.key, id.clone(), row.value)));
        }
    }
    all.sort();
    all.into_iter().map(|(_, row)| row).collect()
}

/// The kept rows, and what is counted of them, are what the documents emit.
fn agrees(at: &CollectionAt, view: &View) {
    let expected = naive(at);
    for seen in [at.view(view).unwrap(), at.view_as_kept(view).unwrap()] {
        assert_eq!(rows(&seen), expected, "as of {}", at.seq());
        assert_eq!(seen.total_rows(), expected.len() as u64, "as of {}", at.seq());
        assert_eq!(seen.count(&ViewRange::default(), u64::MAX).unwrap(), Some(expected.len() as u64));
        assert_eq!(seen.seq(), at.seq());
    }
}

fn in_commit(collection: &Collection) -> bool {
    collection.views().list().unwrap().iter().all(|view| view.in_commit)
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Vec<u8>),
    Bulk(u8, u8),
    Conflict(u8),
    Delete(u8),
    Purge(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..12_u8, prop::collection::vec(0..4_u8, 0..4)).prop_map(|(id, tags)| Step::Put(id, tags)),
        2 => (0..12_u8, 1..6_u8).prop_map(|(first, count)| Step::Bulk(first, count)),
        2 => (0..12_u8).prop_map(Step::Conflict),
        2 => (0..12_u8).prop_map(Step::Delete),
        1 => (0..12_u8).prop_map(Step::Purge),
    ]
}

fn body(n: usize, tags: &[u8]) -> String {
    let tags: Vec<String> = tags.iter().map(|tag| format!("t{tag}")).collect();
    serde_json::json!({ "n": n, "tags": tags }).to_string()
}

fn take(store: &Store, collection: &Collection, n: usize, step: Step) {
    let id = |id: u8| format!("d{id}");
    let rev = |id: &str| collection.get(id).unwrap().map(|document| document.rev);
    match step {
        Step::Put(own, tags) => drop(collection.put(&id(own), body(n, &tags)).unwrap()),
        Step::Bulk(first, count) => store
            .transaction(|transaction| {
                let own = transaction.collection("c")?;
                for at in first..first + count {
                    own.put(&id(at), body(n, &[at % 4, 9]))?;
                }
                Ok(())
            })
            .unwrap(),
        Step::Conflict(own) => {
            let rev = format!("2-{n:032x}");
            let revisions = serde_json::json!({ "start": 2, "ids": [&rev[2..], "00000000000000000000000000000001"] });
            let document = serde_json::json!({
                "_id": id(own), "_rev": rev, "_revisions": revisions, "n": n, "tags": ["conflict"],
            });
            let write = recension::ReplicatedWrite::from_json(document.to_string()).unwrap();
            collection.replication().merge_revisions(vec![write]).unwrap();
        }
        Step::Delete(own) => {
            if let Some(rev) = rev(&id(own)) {
                collection.delete(&id(own), &rev).unwrap();
            }
        }
        Step::Purge(own) => {
            if let Some(rev) = rev(&id(own)) {
                collection.replication().purge(&id(own), &[rev]).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn the_rows_are_what_documents_emit_after_every_commit(
        before in prop::collection::vec(step(), 0..6),
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let store = Store::memory().unwrap();
        let collection = store.collection("c").unwrap();
        collection.make(&[]).unwrap();
        for (n, step) in before.into_iter().enumerate() {
            take(&store, &collection, n, step);
        }
        let view = quick();
        let _ = collection.views().get(&view).unwrap();
        prop_assert!(in_commit(&collection));
        let mut moments = vec![store.engine().head()];
        for (n, step) in steps.into_iter().enumerate() {
            take(&store, &collection, n + 100, step);
            prop_assert!(in_commit(&collection));
            agrees(&collection.at(At::Now).unwrap(), &view);
            moments.push(store.engine().head());
        }
        for moment in moments {
            agrees(&collection.at(At::Seq(moment)).unwrap(), &view);
        }
    }
}

#[test]
fn blocks_are_counted_and_cut_in_commits_and_reductions_hold() {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    collection.make(&[]).unwrap();
    let view = quick();
    let _ = collection.views().get(&view).unwrap();
    let remembered = Arc::new(ReducedBlocks::default());
    for n in 0..2500_usize {
        collection.put(&format!("d{:04}", n * 7919 % 2500), body(n, &[(n % 5) as u8, 7])).unwrap();
        if n % 3 == 0 {
            collection.put(&format!("d{:04}", n / 2), body(n, &[3])).unwrap();
        }
        if n % 500 != 499 {
            continue;
        }
        let at = collection.at(At::Now).unwrap();
        agrees(&at, &view);
        let seen = at.view(&view).unwrap();
        let counts = |groups: recension::ViewGroups| -> Vec<(String, String)> {
            groups.map(|group| group.unwrap()).map(|group| (group.key, group.value)).collect()
        };
        let count = Reduction::BuiltIn(BuiltIn::Count);
        let plain = counts(seen.reduced(&ViewRange::default(), Grouping::Exact, &count).unwrap());
        for _ in 0..2 {
            let with = seen.reduced_with(&ViewRange::default(), Grouping::Exact, &count, &remembered).unwrap();
            assert_eq!(counts(with), plain);
        }
    }
    assert!(in_commit(&collection));
}

#[test]
fn writers_of_different_documents_keep_it_together() {
    let folder = tempfile::tempdir().unwrap();
    let store = recension::open(&folder.path().join("s").display().to_string()).unwrap();
    let collection = store.collection("c").unwrap();
    collection.make(&[]).unwrap();
    let view = quick();
    let _ = collection.views().get(&view).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let collection = &collection;
            scope.spawn(move || {
                for n in 0..400_usize {
                    let id = format!("d{thread}-{:03}", n % 250);
                    collection.put(&id, body(n, &[(n % 3) as u8, 5, 6])).unwrap();
                }
            });
        }
    });
    assert!(in_commit(&collection));
    agrees(&collection.at(At::Now).unwrap(), &view);
}

#[test]
fn who_cannot_keep_a_view_leaves_it_behind_and_it_comes_up_again() {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    collection.put("a", body(1, &[1, 2])).unwrap();
    let view = quick();
    let _ = collection.views().get(&view).unwrap();
    let kept = store.engine().head();
    // Another process, which has not heard of the mapper.
    let other = Store::on(Arc::clone(store.engine())).unwrap().collection("c").unwrap();
    other.put("b", body(2, &[1])).unwrap();
    assert!(!in_commit(&collection));
    let left = store.engine().head();
    collection.put("c", body(3, &[3])).unwrap();
    for (at, whole) in [(At::Seq(kept), 2), (At::Seq(left), 3), (At::Now, 4)] {
        let at = collection.at(at).unwrap();
        assert_eq!(rows(&at.view(&view).unwrap()), naive(&at));
        assert_eq!(naive(&at).len(), whole);
    }
    assert_eq!(collection.at(At::Now).unwrap().view_as_kept(&view).unwrap().total_rows(), 2);
    let _ = collection.views().get(&view).unwrap();
    assert!(in_commit(&collection));
    agrees(&collection.at(At::Now).unwrap(), &view);
}

#[test]
fn a_mapper_that_fails_does_not_fail_the_write() {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    collection.put("a", body(1, &[1, 2])).unwrap();
    let view = quick();
    let _ = collection.views().get(&view).unwrap();
    collection.put("b", r#"{"tags":["fail"]}"#).unwrap();
    assert!(matches!(collection.views().get(&view), Err(Error::Function { .. })));
    assert_eq!(collection.at(At::Now).unwrap().view_as_kept(&view).unwrap().total_rows(), 2);
    collection.put("b", body(2, &[3])).unwrap();
    let _ = collection.views().get(&view).unwrap();
    assert!(in_commit(&collection));
    agrees(&collection.at(At::Now).unwrap(), &view);
}

#[test]
fn dropping_erasing_and_making_again_leave_nothing_to_keep() {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    let view = quick();
    collection.put("a", body(1, &[1])).unwrap();
    let _ = collection.views().get(&view).unwrap();
    collection.erase(["a"]).unwrap();
    collection.put("b", body(2, &[2])).unwrap();
    assert_eq!(rows(&collection.views().get(&view).unwrap()).len(), 1);
    agrees(&collection.at(At::Now).unwrap(), &view);
    collection.views().drop_others(&std::collections::BTreeSet::new(), &std::collections::BTreeSet::new()).unwrap();
    collection.put("c", body(3, &[3])).unwrap();
    assert!(collection.views().list().unwrap().is_empty());
    let _ = collection.views().get(&view).unwrap();
    store.drop_collection("c").unwrap();
    collection.put("d", body(4, &[4])).unwrap();
    assert_eq!(rows(&collection.views().get(&view).unwrap()).len(), 1);
    agrees(&collection.at(At::Now).unwrap(), &view);
}
