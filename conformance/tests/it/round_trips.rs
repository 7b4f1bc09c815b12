//! How many round trips each operation makes when another process owns the store: a table, which is exact, so that one
//! more is noticed and one fewer is written down.

use std::sync::Arc;
use std::time::Duration;

use recension::engine::{Direction, Seq};
use recension::{At, Document, IndexSpec, ListOptions, Pipeline, Query, Result, Store, ValueRange, Write};
use recension_remote::RemoteEngine;

const LONG: Duration = Duration::from_mins(1);

/// What is done, and the round trips that it makes.
type Operation = (&'static str, u64, fn(&Store));

const OPERATIONS: &[Operation] = &[
    ("get", 1, |store| assert!(notes(store).get("n7").unwrap().is_some())),
    ("get of a document that is not there", 1, |store| assert!(notes(store).get("nobody").unwrap().is_none())),
    ("get as of a commit", 3, |store| {
        let then = store.collection("notes").unwrap().at(At::Seq(Seq(2))).unwrap();
        let _ = then.get("n7").unwrap();
    }),
    ("put of a new document", 2, |store| _ = notes(store).put("new", r#"{"n":-1}"#).unwrap()),
    ("put of a document that is there", 2, |store| _ = notes(store).put("new", r#"{"n":-2}"#).unwrap()),
    ("update", 2, |store| _ = notes(store).update("new", |_| Ok(r#"{"n":-3}"#.to_owned())).unwrap()),
    ("bulk of 100", 2, |store| {
        let writes = (0..100).map(|n| Write::put(&format!("n{n}"), r#"{"n":5000}"#)).collect::<Result<Vec<_>>>();
        assert!(notes(store).bulk(writes.unwrap()).unwrap().iter().all(Result::is_ok));
    }),
    ("count", 1, |store| assert!(notes(store).count().unwrap() > 900)),
    ("list of 50", 2, |store| assert_eq!(taken(notes(store).list(&limited(50)).unwrap()), 50)),
    ("list of 1000", 2, |store| assert_eq!(taken(notes(store).list(&limited(1000)).unwrap()), 1000)),
    ("query page of 50 by an index", 3, |store| {
        let query = Query::new().matching("n", ValueRange::at_least(300)).sort("n", Direction::Forward).limit(50);
        assert_eq!(notes(store).page(&query).unwrap().documents.len(), 50);
    }),
    ("query page of 50 without an index", 3, |store| {
        let query = Query::new().matching("even", ValueRange::equal(true)).limit(50);
        assert_eq!(notes(store).page(&query).unwrap().documents.len(), 50);
    }),
    ("query of one by an index", 3, |store| {
        let query = Query::new().matching("n", ValueRange::equal(700));
        assert_eq!(taken(notes(store).find(&query).unwrap()), 1);
    }),
    ("aggregate of 900", 7, |store| {
        let pipeline = Pipeline::from_json(r#"[{"$group":{"_id":"$even","n":{"$sum":"$n"}}}]"#).unwrap();
        let query = Query::new().matching("n", ValueRange::below(4000));
        assert_eq!(notes(store).aggregate(&query, &pipeline).unwrap().len(), 3);
    }),
    ("changes of 100 documents", 3, |store| {
        let changes = notes(store).changes(Seq(0)).unwrap();
        assert_eq!(changes.take(100).map(Result::unwrap).count(), 100);
    }),
    ("history", 2, |store| assert!(notes(store).history("new").unwrap().count() > 1)),
    ("transaction that writes one", 3, |store| {
        store.transaction(|tx| tx.collection("notes")?.put("n502", "{}")).unwrap();
    }),
    ("transaction that reads two and writes them", 4, |store| {
        let moved = store.transaction(|tx| {
            let notes = tx.collection("notes")?;
            let (from, to) = (notes.get("n500")?, notes.get("n501")?);
            assert!(from.is_some() && to.is_some());
            notes.put("n500", "{}")?;
            notes.put("n501", "{}")
        });
        moved.unwrap();
    }),
];

fn taken(documents: impl Iterator<Item = Result<Document<'static>>>) -> usize {
    documents.map(Result::unwrap).count()
}

fn limited(limit: usize) -> ListOptions {
    ListOptions { limit: Some(limit), ..ListOptions::default() }
}

fn notes(store: &Store) -> recension::Collection {
    store.collection("notes").unwrap()
}

#[test]
fn each_operation_makes_the_round_trips_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let owner = recension::OpenOptions::new().share(true).open(&folder.path().display().to_string()).unwrap();
    let there = notes(&owner);
    there.create_index(IndexSpec::new("by-n", "n"), |_| {}).unwrap();
    let writes = (0..1000).map(|n| Write::put(&format!("n{n}"), format!(r#"{{"n":{n},"even":{}}}"#, n % 2 == 0)));
    there.bulk(writes.collect::<Result<Vec<_>>>().unwrap()).unwrap();
    let remote = Arc::new(RemoteEngine::connect(folder.path(), LONG).unwrap());
    let store = Store::on(remote.clone()).unwrap();
    let mut wrong = Vec::new();
    for (name, expected, operation) in OPERATIONS {
        // What is known of the collection once is not asked again.
        let _ = notes(&store).get("n1").unwrap();
        let before = remote.round_trips();
        operation(&store);
        let made = remote.round_trips() - before;
        println!("{made:>4}  {name}");
        if made != *expected {
            wrong.push(format!("{name}: {made}, and the table says {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
