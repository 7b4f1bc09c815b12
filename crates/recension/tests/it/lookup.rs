//! A value of a unique index is looked up on a short way: it finds what a scan finds, at any moment, in any state of
//! the store, also where replication has brought the value several times.

use std::sync::Arc;

use proptest::prelude::*;
use recension::disk::FsDisk;
use recension::engine::{Batch, Direction, Engine, NativeEngine, NativeOptions, Seq, TreeId};
use recension::{
    At, Collection, CollectionAt, Cursor, Error, IndexSpec, Literal, Query, ReplicatedWrite, Store, ValueRange,
};

/// Equal in Unicode's order, some of them, and different all the same.
const EMAILS: [&str; 5] = ["x", "X", "x\u{0}", "é", "e\u{301}"];

#[derive(Clone, Debug)]
enum Step {
    Put { id: u8, email: usize },
    Delete { id: u8 },
    Replicate { id: u8, email: usize },
    Checkpoint,
    Settle,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (id, email) = (0..5_u8, 0..EMAILS.len());
    let put = (id.clone(), email.clone()).prop_map(|(id, email)| Step::Put { id, email });
    let delete = id.clone().prop_map(|id| Step::Delete { id });
    let replicate = (id, email).prop_map(|(id, email)| Step::Replicate { id, email });
    let step = prop_oneof![4 => put, 2 => delete, 4 => replicate, 1 => Just(Step::Checkpoint), 1 => Just(Step::Settle)];
    prop::collection::vec(step, 1..24)
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn by_email(email: &str) -> Query {
    Query::new().matching("email", ValueRange::equal(email))
}

fn ids(at: &CollectionAt, query: &Query) -> Vec<String> {
    at.find(query).unwrap().map(|document| document.unwrap().id.into_owned()).collect()
}

/// By pages of one document, each from the cursor of the one before.
fn by_pages(at: &CollectionAt, query: &Query) -> Vec<String> {
    let (mut found, mut after) = (Vec::new(), None::<Cursor>);
    loop {
        let mut page = at.find(&query.clone().limit(1).after(after)).unwrap();
        let Some(document) = page.next() else { return found };
        found.push(document.unwrap().id.into_owned());
        assert!(page.next().is_none());
        after = page.cursor();
    }
}

fn check(people: &Collection, at: At) {
    let at = people.at(at).unwrap();
    for email in EMAILS {
        let query = by_email(email);
        let mut scanned = ids(&at, &query.clone().without_indexes());
        let found = ids(&at, &query);
        assert_eq!(found.len(), scanned.len());
        assert_eq!(by_pages(&at, &query), found);
        for skip in 0..3 {
            let limited = ids(&at, &query.clone().skip(skip).limit(2));
            assert_eq!(limited, found.iter().skip(skip).take(2).cloned().collect::<Vec<_>>());
        }
        if at.exists() && !at.indexes().is_empty() {
            let plan = at.find(&query).unwrap().plan();
            assert_eq!(plan.index.as_deref(), Some("email"));
            assert_eq!((plan.index, plan.bounds), {
                let explained = at.explain(&query).unwrap();
                (explained.index, explained.bounds)
            });
        }
        scanned.sort();
        assert_eq!(found, scanned, "{email:?}: of equal values the ids decide the order");
        if at.exists() {
            let first = at.get_by("email", &[email.into()]).unwrap();
            assert_eq!(first, at.find(&query).unwrap().next().transpose().unwrap(), "{email:?}, by the index");
        }
        let mut backwards = ids(&at, &query.clone().sort("email", Direction::Backward));
        backwards.reverse();
        assert_eq!(backwards, scanned, "{email:?}, backwards");
    }
}

/// Makes the first index of a collection one as older versions made it: without rows at the values alone.
fn make_older(engine: &dyn Engine, collection: &str) {
    let key = [&[1], collection.as_bytes()].concat();
    let mut entry = engine.snapshot().unwrap().get(TreeId(0), &key).unwrap().unwrap().to_vec();
    assert_eq!((entry[0], entry[27]), (11, 1 | 2 | 4), "layout, and flags of the index");
    (entry[0], entry[27]) = (3, 1 | 2);
    let mut batch = Batch::new();
    batch.put(TreeId(0), &key, &entry);
    engine.commit(batch).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_look_up_finds_what_a_scan_finds_at_any_moment(steps in steps(), older in prop::bool::weighted(0.25)) {
        let dir = tempfile::tempdir().unwrap();
        let options = NativeOptions { settle_log_bytes: None, ..NativeOptions::default() };
        let engine = Arc::new(NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap());
        let store = Store::on(engine.clone()).unwrap();
        let people = store.collection("people").unwrap();
        people.create_index(IndexSpec::unique("email", "email"), |_| {}).unwrap();
        if older {
            make_older(&*engine, "people");
        }
        // Another way that the planner could go.
        people.create_index(IndexSpec::new("other", "email"), |_| {}).unwrap();
        let mut moments = Vec::<Seq>::new();
        for (number, step) in steps.iter().enumerate() {
            match *step {
                Step::Put { id, email } => {
                    let body = format!("{{\"email\":{},\"n\":{number}}}", json(EMAILS[email]));
                    match people.put(&format!("p{id}"), body) {
                        Ok(_) | Err(Error::NotUnique { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                Step::Delete { id } => {
                    let id = format!("p{id}");
                    let rev = people.get(&id).unwrap().map(|document| document.rev);
                    if let Some(rev) = rev {
                        people.delete(&id, &rev).unwrap();
                    }
                }
                Step::Replicate { id, email } => {
                    let rev = format!("{}-{number:032x}", 1 + number % 4).parse().unwrap();
                    let body = format!("{{\"email\":{}}}", json(EMAILS[email]));
                    let write = ReplicatedWrite::new(&format!("p{id}"), rev, &[], false, body).unwrap();
                    for merged in people.replication().merge_revisions(vec![write]).unwrap() {
                        merged.unwrap();
                    }
                }
                Step::Checkpoint => engine.checkpoint().unwrap(),
                Step::Settle => engine.settle().unwrap(),
            }
            check(&people, At::Now);
            moments.push(people.at(At::Now).unwrap().seq());
        }
        for moment in moments {
            check(&people, At::Seq(moment));
        }
        prop_assert_eq!(store.check(At::Now).unwrap().problems, []);
    }
}

#[test]
fn a_transaction_that_has_looked_a_value_up_in_vain_is_run_again_when_the_value_comes() {
    let people = Store::memory().unwrap().collection("people").unwrap();
    people.create_index(IndexSpec::unique("email", "email"), |_| {}).unwrap();
    let mut runs = 0;
    people
        .store()
        .transaction(|tx| {
            runs += 1;
            let inside = tx.collection("people")?;
            let there = inside.find(&by_email("x"))?.count();
            assert_eq!(there, runs - 1);
            if runs == 1 {
                people.put("holder", r#"{"email":"x"}"#)?;
            }
            inside.put("seen", format!("{{\"there\":{there}}}"))?;
            // What the transaction has written itself is found, too.
            inside.put("own", r#"{"email":"own"}"#)?;
            assert_eq!(inside.find(&by_email("own"))?.count(), 1);
            Ok(())
        })
        .unwrap();
    assert_eq!(runs, 2);
    assert_eq!(people.get("seen").unwrap().unwrap().body, r#"{"there":1}"#);
}

#[test]
fn a_transaction_that_has_asked_for_a_value_by_its_index_is_run_again_when_the_value_comes() {
    let people = Store::memory().unwrap().collection("people").unwrap();
    people.create_index(IndexSpec::unique("email", "email"), |_| {}).unwrap();
    let mut seen = Vec::new();
    people
        .store()
        .transaction(|tx| {
            let inside = tx.collection("people")?;
            seen.push(inside.get_by("email", &["x".into()])?.map(|document| document.id.into_owned()));
            if seen.len() == 1 {
                people.put("holder", r#"{"email":"x"}"#)?;
            }
            inside.put("own", r#"{"email":"own"}"#)?;
            assert_eq!(inside.get_by("email", &["own".into()])?.unwrap().id, "own");
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [None, Some("holder".to_owned())]);
}

#[test]
fn a_document_is_got_by_all_values_of_a_unique_index_and_by_nothing_less() {
    let seats = Store::memory().unwrap().collection("seats").unwrap();
    assert_eq!(seats.get_by("place", &["A".into(), 1.into()]).unwrap(), None, "there is no collection yet");
    let spec = IndexSpec::unique("place", "row").then_descending("number");
    seats.create_index(spec, |_| {}).unwrap();
    seats.create_index(IndexSpec::new("row", "row"), |_| {}).unwrap();
    seats.put("first", r#"{"row":"A","number":1}"#).unwrap();
    seats.put("second", r#"{"row":"A","number":2}"#).unwrap();
    let before = seats.at(At::Now).unwrap();
    let second = seats.get("second").unwrap().unwrap();
    seats.delete("second", &second.rev).unwrap();

    let id = |values: &[Literal]| seats.get_by("place", values).map(|found| found.map(|found| found.id.into_owned()));
    for (values, expected) in [
        (["A".into(), 1.into()], Some("first")),
        (["A".into(), Literal::json("1.0").unwrap()], Some("first")),
        (["A".into(), 2.into()], None),
        (["A".into(), "1".into()], None),
        ([1.into(), "A".into()], None),
    ] {
        assert_eq!(id(&values).unwrap().as_deref(), expected, "{values:?}");
    }
    assert_eq!(before.get_by("place", &["A".into(), 2.into()]).unwrap(), Some(second));

    for (index, values, expected) in [
        ("place", &["A".into()][..], "it is on 2 paths, and 1 values were given"),
        ("row", &["A".into()][..], "it is not unique"),
        ("seat", &["A".into()][..], "no index of that name"),
    ] {
        let error = seats.get_by(index, values).unwrap_err();
        assert!(matches!(&error, Error::IndexNotUsable { .. }), "{error:?}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}
