//! What users do with a store, on the memory engine: writes and their expectations, the past, indexes,
//! queries, and the words of the refusals.

use std::sync::Arc;
use std::time::Duration;

use recension::engine::{Direction, Engine, ManualClock, MemoryEngine, Seq, Timestamp};
use recension::{
    At, Collection, Error, Expect, IndexSpec, IndexState, ListOptions, Literal, Path, Query, Store, ValueRange, Write,
};

fn collection() -> Collection {
    Store::memory().unwrap().collection("things").unwrap()
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn ids(found: impl Iterator<Item = recension::Result<recension::Document<'static>>>) -> Vec<String> {
    found.map(|document| document.unwrap().id.into_owned()).collect()
}

#[test]
fn a_document_is_read_as_it_was_written_with_couchdbs_revision() {
    let things = collection();
    assert_eq!(things.get("a").unwrap(), None);
    let written = things.put("a", r#"{ "v": 1, "name": "chain" }"#).unwrap();
    assert_eq!(written.rev.to_string(), "1-2acd761025146c0b82c9379337fe4386");
    let read = things.get("a").unwrap().unwrap();
    assert_eq!((read.rev, read.seq, &*read.body), (written.rev, written.seq, r#"{"v":1,"name":"chain"}"#));
    assert_eq!(read.to_json(), format!(r#"{{"_id":"a","_rev":"{}","v":1,"name":"chain"}}"#, written.rev));
    let empty = things.put("e", "{}").unwrap();
    assert_eq!(things.get("e").unwrap().unwrap().to_json(), format!(r#"{{"_id":"e","_rev":"{}"}}"#, empty.rev));
}

#[test]
fn documents_that_are_fetched_ahead_are_read_as_ever() {
    let dir = tempfile::tempdir().unwrap();
    let things = recension::open(dir.path().to_str().unwrap()).unwrap().collection("things").unwrap();
    let ids: Vec<String> = (0..200).map(|n| format!("a{n}")).collect();
    let asked: Vec<&str> = ids.iter().map(String::as_str).chain(["", "nobody"]).collect();
    things.at(At::Now).unwrap().prefetch(&asked);
    for (n, id) in ids.iter().enumerate() {
        things.put(id, format!(r#"{{"n":{n}}}"#)).unwrap();
    }
    let now = things.at(At::Now).unwrap();
    now.prefetch(&asked);
    now.prefetch(&[]);
    for (n, id) in ids.iter().enumerate() {
        assert_eq!(now.get(id).unwrap().unwrap().body, format!(r#"{{"n":{n}}}"#));
    }
    assert_eq!(now.get("nobody").unwrap(), None);
}

#[test]
fn a_write_is_refused_where_its_expectation_does_not_hold() {
    let things = collection();
    let first = things.create(Some("a"), "{}").unwrap();
    assert!(matches!(things.create(Some("a"), "{}"), Err(Error::Conflict { expected: None, .. })));
    let second = things.replace("a", &first.rev, r#"{"v":2}"#).unwrap();
    assert_eq!(second.rev.generation(), 2);
    for refused in [
        things.replace("a", &first.rev, "{}"),
        things.delete("a", &first.rev),
        things.put("a", format!(r#"{{"_rev":"{}"}}"#, first.rev)),
        things.replace("b", &first.rev, "{}"),
        things.delete("b", &first.rev),
    ] {
        assert!(refused.unwrap_err().is_conflict());
    }
    let third = things.delete("a", &second.rev).unwrap();
    assert_eq!(things.get("a").unwrap(), None);
    // A deletion is no revision to build on, but the document can be written anew and goes on from there.
    assert!(things.replace("a", &third.rev, "{}").unwrap_err().is_conflict());
    assert!(things.delete("a", &third.rev).unwrap_err().is_conflict());
    let fourth = things.create(Some("a"), "{}").unwrap();
    assert_eq!(fourth.rev.generation(), 4);
    let gone = Write::from_json(r#"{"_id":"nobody","_deleted":true}"#).unwrap();
    assert!(things.write(gone).unwrap_err().is_not_found());
}

#[test]
fn a_document_without_an_id_is_given_one() {
    let things = collection();
    let written: Vec<String> = (0..100).map(|_| things.create(None, "{}").unwrap().id).collect();
    assert!(written.iter().all(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())));
    assert_eq!(things.count().unwrap(), 100);
}

#[test]
fn history_tells_every_revision_and_an_old_one_can_be_restored() {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000_000)));
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::with_clock(clock.clone()));
    let store = Store::with_clock(engine, clock.clone()).unwrap();
    let things = store.collection("things").unwrap();
    let first = things.put("a", r#"{"v":1}"#).unwrap();
    clock.advance(60_000_000);
    let second = things.put("a", r#"{"v":2}"#).unwrap();
    clock.advance(60_000_000);
    let third = things.delete("a", &second.rev).unwrap();
    clock.advance(60_000_000);
    let fourth = things.restore("a", &first.rev).unwrap();

    let history: Vec<_> = things.history("a").unwrap().map(Result::unwrap).collect();
    let told: Vec<_> = history.iter().map(|r| (r.rev, r.seq, r.time, r.deleted, r.body.as_str())).collect();
    let expected = [
        (&fourth, false, r#"{"v":1}"#),
        (&third, true, "{}"),
        (&second, false, r#"{"v":2}"#),
        (&first, false, r#"{"v":1}"#),
    ];
    assert_eq!(told, expected.map(|(w, deleted, body)| (w.rev, w.seq, w.time, deleted, body)));
    assert_eq!(fourth.rev.generation(), 4);

    for (at, expected) in [
        (At::Seq(Seq(0)), None),
        (At::Seq(first.seq), Some(r#"{"v":1}"#)),
        (At::Seq(second.seq), Some(r#"{"v":2}"#)),
        (At::Seq(third.seq), None),
        (At::Time(Timestamp(999_999)), None),
        (At::Time(Timestamp(61_000_000)), Some(r#"{"v":2}"#)),
        (At::Time(Timestamp(60_999_999)), Some(r#"{"v":1}"#)),
        (At::Ago(Duration::from_secs(61)), Some(r#"{"v":2}"#)),
        (At::Ago(Duration::from_mins(1)), None),
        (At::Ago(Duration::MAX), None),
        (At::Now, Some(r#"{"v":1}"#)),
    ] {
        let past = things.at(at).unwrap();
        assert_eq!(past.get("a").unwrap().map(|document| document.body.into_owned()).as_deref(), expected, "{at}");
    }
    assert_eq!(things.revision("a", &second.rev).unwrap().unwrap().body, r#"{"v":2}"#);
    assert!(matches!(things.restore("a", &third.rev), Err(Error::RevisionIsDeletion { .. })));
    assert!(things.restore("b", &first.rev).unwrap_err().is_not_found());
    assert!(things.at(At::Seq(Seq(99))).is_err());
}

#[test]
fn documents_are_listed_in_both_directions_and_within_bounds() {
    let things = collection();
    for id in ["b", "a", "ab", "c", "aé", "a\u{10ffff}"] {
        things.put(id, "{}").unwrap();
    }
    let c = things.get("c").unwrap().unwrap();
    things.delete("c", &c.rev).unwrap();
    assert_eq!(ids(things.list(&ListOptions::default()).unwrap()), ["a", "ab", "aé", "a\u{10ffff}", "b"]);
    let backward = ListOptions { direction: Direction::Backward, limit: Some(2), ..ListOptions::default() };
    assert_eq!(ids(things.list(&backward).unwrap()), ["b", "a\u{10ffff}"]);
    assert_eq!(ids(things.list(&ListOptions::prefix("a")).unwrap()), ["a", "ab", "aé", "a\u{10ffff}"]);
    assert_eq!(ids(things.list(&ListOptions::prefix("a\u{10ffff}")).unwrap()), ["a\u{10ffff}"]);
    let deleted = ListOptions { deleted: true, ..ListOptions::prefix("c") };
    assert!(things.list(&deleted).unwrap().next().unwrap().unwrap().deleted);
    assert_eq!(things.count().unwrap(), 5);
}

#[test]
fn a_bulk_is_one_commit_with_a_result_for_each_document() {
    let things = collection();
    things.put("taken", "{}").unwrap();
    let results = things
        .bulk([
            Write::create(Some("a"), "{}").unwrap(),
            Write::create(Some("taken"), "{}").unwrap(),
            Write::create(Some("a"), "{}").unwrap(),
            Write::create(None, "{}").unwrap(),
        ])
        .unwrap();
    assert!(results[0].is_ok() && results[3].is_ok());
    assert!(results[1].as_ref().unwrap_err().is_conflict() && results[2].as_ref().unwrap_err().is_conflict());
    assert_eq!(results[0].as_ref().unwrap().seq, results[3].as_ref().unwrap().seq);
    assert_eq!(things.bulk([]).unwrap().len(), 0);
}

#[test]
fn a_loader_commits_by_the_thousand_and_reports_what_failed() {
    let things = collection();
    things.create_index(IndexSpec::unique("n", path("n")), |_| {}).unwrap();
    let mut loader = things.loader();
    let mut failures = Vec::new();
    for i in 0..2500 {
        let write =
            Write::put(&format!("d{}", i % 2400), format!(r#"{{"n":{}}}"#, if i == 1700 { 3 } else { i })).unwrap();
        failures.extend(loader.push(write).unwrap());
    }
    failures.extend(loader.flush().unwrap());
    assert_eq!(loader.written(), 2499);
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].number, failures[0].id.as_deref()), (1700, Some("d1700")));
    assert!(matches!(failures[0].error, Error::NotUnique { .. }));
    assert_eq!(things.count().unwrap(), 2399);
    assert_eq!(things.history("d7").unwrap().count(), 2);
    assert!(things.store().engine().head().0 < 10, "a commit holds many documents");
}

#[test]
fn a_collection_is_made_by_its_first_write_and_dropping_it_leaves_the_past() {
    let store = Store::memory().unwrap();
    let things = store.collection("things").unwrap();
    assert_eq!(store.collections(At::Now).unwrap(), []);
    assert!(!store.drop_collection("things").unwrap());
    let first = things.put("a", "{}").unwrap();
    store.collection("others").unwrap().put("a", "{}").unwrap();
    let names = |at| store.collections(at).unwrap().into_iter().map(|c| c.name).collect::<Vec<_>>();
    assert_eq!(names(At::Now), ["others", "things"]);
    assert_eq!(names(At::Seq(first.seq)), ["things"]);

    // Another handle over the same engine drops it; this one must see that.
    let other = Store::on(store.engine().clone()).unwrap();
    assert!(other.drop_collection("things").unwrap());
    assert_eq!(things.get("a").unwrap(), None);
    assert_eq!(names(At::Now), ["others"]);
    assert!(things.at(At::Seq(first.seq)).unwrap().get("a").unwrap().is_some());
    things.put("b", "{}").unwrap();
    assert_eq!(ids(things.list(&ListOptions::default()).unwrap()), ["b"]);
    assert_eq!(ids(other.collection("things").unwrap().list(&ListOptions::default()).unwrap()), ["b"]);
    assert_eq!(things.history("a").unwrap().count(), 0);
}

#[test]
fn a_collection_has_no_past_before_it_was_made_and_dropped_ones_are_read_by_their_numbers() {
    let store = Store::memory().unwrap();
    let things = store.collection("things").unwrap();
    let mut lives = Vec::new();
    for life in ["first", "second"] {
        let made = things.put("a", format!(r#"{{"of":"{life}"}}"#)).unwrap();
        things.create_index(IndexSpec::new("of", path("of")), |_| {}).unwrap();
        lives.push((made.seq, store.engine().head()));
        assert_eq!(things.settings().made().unwrap().map(|made| made.seq), Some(made.seq));
        store.drop_collection("things").unwrap();
        assert_eq!(things.settings().made().unwrap(), None);
    }
    // Nobody has the name: who had it then is read.
    let first_then = things.at(At::Seq(lives[0].0)).unwrap();
    assert!(first_then.get("a").unwrap().unwrap().body.contains("first"));
    let third = things.put("b", "{}").unwrap();
    assert_eq!(things.settings().made().unwrap().map(|made| made.seq), Some(third.seq));
    for seq in 0..third.seq.0 {
        let then = things.at(At::Seq(Seq(seq))).unwrap();
        assert!(!then.exists() && then.get("a").unwrap().is_none() && then.indexes().is_empty(), "as of {seq}");
        assert_eq!(ids(then.list(&ListOptions::default()).unwrap()), [""; 0]);
    }
    assert!(things.at(At::Seq(third.seq)).unwrap().exists());
    let dropped = store.dropped_collections().unwrap();
    let found: Vec<_> = dropped.iter().map(|one| (&*one.name, one.made.seq, one.dropped.seq)).collect();
    let expected: Vec<_> = lives.iter().rev().map(|(made, last)| ("things", *made, last.next())).collect();
    assert_eq!(found, expected);
    for (one, life) in dropped.iter().zip(["second", "first"]) {
        for at in [At::Now, At::Seq(one.made.seq)] {
            let then = store.dropped_collection(one.number, at).unwrap();
            assert!(then.get("a").unwrap().unwrap().body.contains(life), "{at}");
        }
        for at in [one.dropped.seq, Seq(one.made.seq.0 - 1)] {
            assert!(matches!(store.dropped_collection(one.number, At::Seq(at)), Err(Error::NoSuchCollection { .. })));
        }
    }
    assert!(store.dropped_collection(999, At::Now).is_err());
    // Who looks after the store can say that the name is meant.
    assert!(store.collection_as_of("things", At::Seq(lives[0].0)).unwrap().get("a").unwrap().is_some());
    assert!(store.restore_to(At::Seq(lives[0].0)).is_ok());
    assert!(things.get("a").unwrap().unwrap().body.contains("first"));
}

#[test]
fn many_collections_keep_apart_though_few_are_remembered() {
    let store = Store::memory().unwrap();
    for i in 0..5000 {
        store.collection(&format!("c{i}")).unwrap().put("x", format!(r#"{{"i":{i}}}"#)).unwrap();
    }
    for i in (0..5000).step_by(37) {
        let document = store.collection(&format!("c{i}")).unwrap().get("x").unwrap().unwrap();
        assert_eq!(document.body, format!(r#"{{"i":{i}}}"#));
    }
}

#[test]
fn an_index_made_by_another_handle_is_kept_by_writers_that_did_not_know_it() {
    let things = collection();
    things.put("a", r#"{"n":1}"#).unwrap();
    let other = Store::on(things.store().engine().clone()).unwrap().collection("things").unwrap();
    other.create_index(IndexSpec::new("n", path("n")), |_| {}).unwrap();
    things.put("b", r#"{"n":1}"#).unwrap();
    let found = other.find(&Query::new().matching(path("n"), ValueRange::equal(1))).unwrap();
    assert!(found.plan().index.is_some());
    assert_eq!(ids(found), ["a", "b"]);
}

#[test]
fn an_index_is_built_over_what_is_there_and_used_from_then_on() {
    let things = collection();
    let writes = (0..2500).map(|i| Write::put(&format!("d{i:04}"), format!(r#"{{"n":{}}}"#, i % 100)).unwrap());
    things.bulk(writes).unwrap();
    let before = things.store().engine().head();
    let query =
        Query::new().matching(path("n"), ValueRange::between(98, 99)).sort(path("n"), Direction::Backward).limit(26);
    let scanned = things.find(&query).unwrap();
    assert_eq!(scanned.plan().summary(), "scan of every document, then sorted in memory");
    let scanned = ids(scanned);
    let mut steps = Vec::new();
    things
        .create_index(IndexSpec::new("by-n", path("n")), |progress| steps.push((progress.done, progress.total)))
        .unwrap();
    assert_eq!(steps, [(1000, 2500), (2000, 2500), (2500, 2500)]);
    let found = things.find(&query).unwrap();
    assert_eq!(found.plan().summary(), "index by-n");
    assert_eq!(ids(found), scanned);
    assert_eq!(scanned.len(), 26);
    let past = things.at(At::Seq(before)).unwrap().find(&query).unwrap();
    assert_eq!(past.plan().summary(), "scan of every document, then sorted in memory");
    assert_eq!(ids(past), scanned);
    // The same again is nothing to do; another of that name is refused.
    things.create_index(IndexSpec::new("by-n", path("n")), |_| panic!("it is ready")).unwrap();
    assert!(matches!(
        things.create_index(IndexSpec::unique("by-n", path("n")), |_| {}),
        Err(Error::IndexExists { .. })
    ));
    assert_eq!(things.indexes().unwrap()[0].state, IndexState::Ready);
    things.drop_index("by-n").unwrap();
    assert!(things.drop_index("by-n").unwrap_err().is_not_found());
    assert_eq!(things.find(&query).unwrap().plan().index, None);
}

#[test]
fn a_unique_index_refuses_a_second_document_with_its_value_and_names_the_first() {
    let users = collection();
    users.create_index(IndexSpec::unique("email", path("email")), |_| {}).unwrap();
    let ada = users.put("ada", r#"{"email":"a@x"}"#).unwrap();
    let error = users.put("eve", r#"{"email":"a@x"}"#).unwrap_err();
    assert!(matches!(&error, Error::NotUnique { holder: Some(holder), .. } if holder == "ada"));
    assert_eq!(
        error.to_string(),
        r#"document "eve" cannot have "a@x": index email is unique, and document "ada" has that value"#
    );
    users.put("nobody", "{}").unwrap();
    users.put("noone", "{}").unwrap();
    users.put("ada", r#"{"email":"a@x","v":2}"#).unwrap();
    // In one commit the value changes hands, and comes back to neither.
    let now = users.get("ada").unwrap().unwrap().rev;
    let results = users
        .bulk([
            Write::delete("ada", &now).unwrap(),
            Write::put("eve", r#"{"email":"a@x"}"#).unwrap(),
            Write::put("bob", r#"{"email":"a@x"}"#).unwrap(),
        ])
        .unwrap();
    assert!(results[0].is_ok() && results[1].is_ok());
    assert!(matches!(&results[2], Err(Error::NotUnique { holder: Some(holder), .. }) if holder == "eve"));
    assert!(matches!(users.restore("ada", &ada.rev), Err(Error::NotUnique { .. })));
}

#[test]
fn a_build_that_meets_a_duplicate_fails_and_leaves_no_index() {
    let users = collection();
    users.put("ada", r#"{"email":"a@x"}"#).unwrap();
    users.put("eve", r#"{"email":"a@x"}"#).unwrap();
    let error = users.create_index(IndexSpec::unique("email", path("email")), |_| {}).unwrap_err();
    assert!(
        matches!(&error, Error::NotUnique { id, holder: Some(holder), .. } if id == "eve" && holder == "ada"),
        "{error}"
    );
    assert_eq!(users.indexes().unwrap(), []);
    users.put("bob", r#"{"email":"a@x"}"#).unwrap();
}

#[test]
fn a_value_too_long_for_an_index_is_refused_with_its_document() {
    let things = collection();
    things.put("a", format!(r#"{{"t":"{}"}}"#, "x".repeat(5000))).unwrap();
    let error = things.create_index(IndexSpec::new("t", path("t")), |_| {}).unwrap_err();
    assert!(matches!(error, Error::ValueTooLong { .. }));
    assert_eq!(things.indexes().unwrap(), []);
}

#[test]
fn queries_answer_the_same_through_an_index_and_by_a_scan() {
    let things = collection();
    let bodies = [
        ("a", r#"{"v":1,"w":"x"}"#),
        ("b", r#"{"v":1.0,"w":"y"}"#),
        ("c", r#"{"v":20}"#),
        ("d", r#"{"v":"30","w":"x"}"#),
        ("e", r#"{"v":null}"#),
        ("f", r#"{"v":true,"w":"x"}"#),
        ("g", r#"{"v":[1,2]}"#),
        ("h", r#"{"w":"x"}"#),
        ("i", r#"{"v":-3.5,"w":"z"}"#),
        ("j", r#"{"v":{"a":1}}"#),
    ];
    for (id, body) in bodies {
        things.put(id, body).unwrap();
    }
    let v = || path("v");
    let cases: [(&str, Query, &[&str]); 13] = [
        ("equal", Query::new().matching(v(), ValueRange::equal(1)), &["a", "b"]),
        ("equal array", Query::new().matching(v(), ValueRange::equal(Literal::json("[1, 2]").unwrap())), &["g"]),
        ("at least", Query::new().matching(v(), ValueRange::at_least(1)), &["a", "b", "c"]),
        ("above", Query::new().matching(v(), ValueRange::above(1)), &["c"]),
        ("below", Query::new().matching(v(), ValueRange::below(1)), &["i"]),
        ("at most", Query::new().matching(v(), ValueRange::at_most(1.0)), &["a", "b", "i"]),
        ("text", Query::new().matching(v(), ValueRange::at_least("2")), &["d"]),
        ("bool", Query::new().matching(v(), ValueRange::above(false)), &["f"]),
        ("across types", Query::new().matching(v(), ValueRange::between(5, "z")), &["c", "d"]),
        (
            "two",
            Query::new().matching(v(), ValueRange::anything()).matching(path("w"), ValueRange::equal("x")),
            &["a", "d", "f"],
        ),
        (
            "narrowed",
            Query::new().matching(v(), ValueRange::at_least(1)).matching(v(), ValueRange::below(20)),
            &["a", "b"],
        ),
        ("nothing", Query::new().matching(v(), ValueRange::between(2, 1)), &[]),
        ("all", Query::new(), &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]),
    ];
    let sorted = Query::new().sort(v(), Direction::Forward);
    let order = ["e", "f", "i", "a", "b", "c", "d", "g", "j"];
    let check = |indexed: bool| {
        for (name, query, expected) in &cases {
            let found = things.find(query).unwrap();
            let by_index = found.plan().index.is_some();
            // Nothing narrows the values of v in these: every document is read.
            assert_eq!(by_index, indexed && !matches!(*name, "all" | "two"), "{name}");
            let mut found = ids(found);
            found.sort();
            assert_eq!(found, *expected, "{name}");
        }
        assert_eq!(ids(things.find(&sorted).unwrap()), order);
        assert_eq!(ids(things.find(&sorted.clone().skip(2).limit(3)).unwrap()), &order[2..5]);
        let backward: Vec<&str> = order.iter().rev().copied().collect();
        assert_eq!(ids(things.find(&Query::new().sort(v(), Direction::Backward)).unwrap()), backward);
        let by_other = Query::new().matching(v(), ValueRange::at_most(20)).sort(path("w"), Direction::Backward);
        assert_eq!(ids(things.find(&by_other).unwrap()), ["i", "b", "a"]);
    };
    check(false);
    things.create_index(IndexSpec::new("v", v()), |_| {}).unwrap();
    check(true);
}

#[test]
fn expectations_can_be_set_on_any_write() {
    let things = collection();
    let write = Write::from_json(r#"{"_id":"a","v":1}"#).unwrap();
    let first = things.write(write.clone().expecting(Expect::Absent)).unwrap();
    assert!(things.write(write.clone().expecting(Expect::Absent)).unwrap_err().is_conflict());
    things.write(write.clone().expecting(Expect::Revision(first.rev))).unwrap();
    assert_eq!(things.write(write).unwrap().rev.generation(), 3);
}

#[test]
fn a_store_opens_by_address_and_keeps_its_documents() {
    let dir = tempfile::tempdir().unwrap();
    let address = dir.path().join("store").to_str().unwrap().to_owned();
    let rev = {
        let store = recension::open(&address).unwrap();
        let things = store.collection("things").unwrap();
        things.create_index(IndexSpec::unique("n", path("n")), |_| {}).unwrap();
        things.put("a", r#"{"n":1}"#).unwrap().rev
    };
    let things = recension::open(&address).unwrap().collection("things").unwrap();
    assert_eq!(things.get("a").unwrap().unwrap().rev, rev);
    assert!(matches!(things.put("b", r#"{"n":1}"#), Err(Error::NotUnique { .. })));
    for address in ["", "sqlite:x", "http://x"] {
        assert!(recension::open(address).is_err(), "{address}");
    }
}
