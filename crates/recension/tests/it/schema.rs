//! The JSON Schema of a collection: what it refuses, whoever writes, and from which commit on.

use std::sync::Barrier;

use recension::engine::Seq;
use recension::{At, Collection, Error, Expect, ReplicatedWrite, Schema, Store, Write};

const ITEMS: &str = r#"{"type":"object","required":["total"],
    "properties":{"total":{"type":"number","minimum":0},"items":{"items":{"required":["sku"]}}}}"#;

fn orders(schema: &str) -> (Store, Collection) {
    let store = Store::memory().unwrap();
    let orders = store.collection("orders").unwrap();
    orders.settings().set_schema(Some(Schema::from_json(schema).unwrap())).unwrap();
    (store, orders)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, Error>, at: &str) {
    match result {
        Err(Error::NotOfSchema { path, .. }) => assert_eq!(path, at),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_way_of_writing_is_tested_and_the_error_names_the_place() {
    let (store, orders) = orders(ITEMS);
    let good = orders.put("a", r#"{"total":1}"#).unwrap();
    refused(orders.put("a", r#"{"total":-1}"#), "/total");
    refused(orders.put("b", r#"{"total":1,"items":[{"sku":1},{}]}"#), "/items/1");
    refused(orders.create(None, "{}"), "");
    refused(orders.replace("a", &good.rev, r#"{"total":"1"}"#), "/total");
    refused(orders.update("a", |_| Ok(r#"{"total":-2}"#.to_owned())), "/total");
    refused(orders.merge_patch("a", Expect::Anything, r#"{"total":null}"#), "");
    let bulk = [Write::put("c", r#"{"total":1}"#).unwrap(), Write::put("d", "{}").unwrap()];
    let results = orders.bulk(bulk).unwrap();
    assert!(results[0].is_ok());
    refused(results.into_iter().nth(1).unwrap(), "");
    let mut loader = orders.loader();
    loader.push(Write::put("e", "{}").unwrap()).unwrap();
    loader.push(Write::put("f", r#"{"total":2}"#).unwrap()).unwrap();
    let failures = loader.finish().unwrap();
    assert_eq!(failures.len(), 1);
    assert!(matches!(failures[0].error, Error::NotOfSchema { .. }));
    let tried = store.transaction(|tx| {
        tx.collection("orders")?.put("g", r#"{"total":3}"#)?;
        tx.collection("orders")?.put("h", "{}")
    });
    refused(tried, "");
    assert!(orders.get("g").unwrap().is_none());
    // What it is not of: deletions, design documents, local documents.
    orders.put("_design/x", "{}").unwrap();
    orders.locals().put("x", "{}").unwrap();
    orders.delete("a", &good.rev).unwrap();
    assert_eq!(orders.count().unwrap(), 3);
}

#[test]
fn a_replica_is_refused_a_revision_that_does_not_fit_and_told_nothing_of_what_is_here_already() {
    let (_, orders) = orders(ITEMS);
    let write = |text: &str| ReplicatedWrite::from_json(text).unwrap();
    let good = r#"{"_id":"a","_rev":"1-a","total":1}"#;
    let bad = r#"{"_id":"a","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},"total":-1}"#;
    let other = r#"{"_id":"b","_rev":"1-c","total":-1}"#;
    let gone = r#"{"_id":"c","_rev":"1-d","_deleted":true}"#;
    let results = orders.replication().merge_revisions([good, bad, other, gone].map(write)).unwrap();
    let [first, second, third, fourth] = <[_; 4]>::try_from(results).unwrap();
    first.unwrap();
    refused(second, "/total");
    refused(third, "/total");
    fourth.unwrap();
    assert_eq!(orders.get("a").unwrap().unwrap().rev.to_string(), "1-a");
    // Many revisions of one document together, and one that is known already though it does not fit any more.
    orders
        .settings()
        .set_schema(Some(Schema::from_json(r#"{"properties":{"total":{"minimum":5}}}"#).unwrap()))
        .unwrap();
    let fits = r#"{"_id":"a","_rev":"1-e","total":7}"#;
    let results = orders.replication().merge_revisions([good, other, fits].map(write)).unwrap();
    assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
    refused(results.into_iter().nth(1).unwrap(), "/total");
    assert!(orders.store().check(At::Now).unwrap().problems.is_empty());
}

#[test]
fn what_is_there_already_stays_is_found_by_a_check_and_the_schema_has_a_past() {
    let store = Store::memory().unwrap();
    let orders = store.collection("orders").unwrap();
    assert!(matches!(orders.settings().set_schema(None), Err(Error::NoSuchCollection { .. })));
    orders.put("a", r#"{"n":1}"#).unwrap();
    let old = orders.put("b", r#"{"n":"two"}"#).unwrap();
    let schema = || Schema::from_json(r#"{ "properties": {"n": {"type": "integer"}} }"#).unwrap();
    let check = orders.at(At::Now).unwrap().check_schema(&schema(), Seq::ZERO, |_| true).unwrap();
    assert_eq!((check.documents, check.refused, check.problems.len()), (2, 1, 1));
    let since = orders.at(At::Now).unwrap().check_schema(&schema(), old.seq, |_| true).unwrap();
    assert_eq!(since.documents, 0);
    let set = orders.settings().set_schema(Some(schema())).unwrap();
    assert_eq!(orders.settings().set_schema(Some(schema())).unwrap().seq, set.seq, "nothing changes");
    assert_eq!(orders.get("b").unwrap().unwrap().rev, old.rev);
    refused(orders.put("b", r#"{"n":"three"}"#), "/n");
    let removed = orders.settings().set_schema(None).unwrap();
    orders.put("b", r#"{"n":"three"}"#).unwrap();
    let text = r#"{"properties":{"n":{"type":"integer"}}}"#;
    assert_eq!(orders.at(At::Seq(set.seq)).unwrap().schema(), Some(text));
    assert_eq!(orders.at(At::Seq(old.seq)).unwrap().schema(), None);
    assert_eq!(orders.settings().schema().unwrap(), None);
    let history = orders.settings().schema_history().unwrap();
    let versions: Vec<_> = history.iter().map(|version| (version.since.seq, version.schema.as_deref())).collect();
    assert_eq!(versions, [(removed.seq, None), (set.seq, Some(text))]);
}

#[test]
fn a_writer_that_did_not_see_the_schema_is_turned_back() {
    let store = Store::memory().unwrap();
    for round in 0..50 {
        let orders = store.collection(&format!("orders-{round}")).unwrap();
        orders.put("first", "{}").unwrap();
        let start = Barrier::new(2);
        let set = std::thread::scope(|scope| {
            let (orders, start) = (&orders, &start);
            let writer = scope.spawn(move || {
                start.wait();
                for n in 0..50 {
                    if orders.put(&format!("d{n}"), "{}").is_err() {
                        break;
                    }
                }
            });
            start.wait();
            let set = orders.settings().set_schema(Some(Schema::from_json(r#"{"required":["n"]}"#).unwrap())).unwrap();
            writer.join().unwrap();
            set
        });
        assert!(orders.counts().unwrap().changed < set.seq, "a document was written behind the schema");
    }
}

proptest::proptest! {
    #[test]
    fn any_schema_is_refused_or_tests_any_document(
        keywords in proptest::collection::vec(proptest::sample::select(KEYWORDS.to_vec()), 0..4),
        noise in "\\PC{0,30}",
        body in proptest::sample::select(BODIES.to_vec()),
    ) {
        let _ = Schema::from_json(&noise);
        let text = keywords.iter().rev().fold("{}".to_owned(), |inner, keyword| keyword.replace('@', &inner));
        if let Ok(schema) = Schema::from_json(text) {
            let _ = schema.check("d", body);
        }
    }
}

const KEYWORDS: [&str; 12] = [
    r#"{"not":@}"#,
    r#"{"allOf":[@,@]}"#,
    r##"{"anyOf":[@,{"$ref":"#"}]}"##,
    r##"{"properties":{"a":@,"b":{"$ref":"#/properties/a"}}}"##,
    r#"{"items":@,"uniqueItems":true}"#,
    r#"{"prefixItems":[@],"unevaluatedItems":false}"#,
    r#"{"if":@,"then":@,"else":false}"#,
    r#"{"type":["object",5]}"#,
    r#"{"patternProperties":{"^a+$":@},"additionalProperties":false}"#,
    r#"{"required":["a"],"dependentSchemas":{"a":@}}"#,
    r##"{"$dynamicRef":"#x","$dynamicAnchor":"x","contains":@}"##,
    r#"{"multipleOf":0.1,"const":@}"#,
];

const BODIES: [&str; 4] =
    ["{}", r#"{"a":{"a":{"b":[1,1]}},"b":null}"#, r#"{"a":[[],{"a":1e300}],"b":"x"}"#, r#"{"b":-0.3}"#];
