//! Ways of queries beyond one index: documents without an index's later members, ids of several indexes put together,
//! kept statistics, sorts and groups that do not fit into memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::{Direction, Durability, KeyRange, NativeEngine, NativeOptions, TreeId};
use recension::{
    At, Collection, CollectionAt, Error, Fold, IndexSpec, Path, Pipeline, PlanSort, Query, Selector, Store, ValueRange,
    ValueSet,
};
use serde_json::{Value, json};

fn ids(at: &CollectionAt, query: &Query) -> Vec<String> {
    at.find(query).unwrap().map(|document| document.unwrap().id.into_owned()).collect()
}

fn selecting(selector: &Value) -> Query {
    Query::new().selecting(Selector::from_json(selector.to_string()).unwrap())
}

#[test]
fn an_index_serves_documents_without_its_later_members() {
    let orders = Store::memory().unwrap().collection("orders").unwrap();
    orders.create_index(IndexSpec::new("i", "state").then_descending("total").then("lines[]"), |_| {}).unwrap();
    for (id, body) in [
        ("a", r#"{"state":"open"}"#),
        ("b", r#"{"state":"open","total":7}"#),
        ("c", r#"{"state":"open","total":9,"lines":[2,1]}"#),
        ("d", r#"{"state":"open","total":null,"lines":[]}"#),
        ("e", r#"{"total":1}"#),
        ("f", r#"{"state":"shut","lines":[5]}"#),
    ] {
        orders.put(id, body).unwrap();
    }
    let at = orders.at(At::Now).unwrap();
    let open = Query::new().matching("state", ValueRange::equal("open")).through("i");
    let mut found = ids(&at, &open);
    found.sort_unstable();
    assert_eq!(found, ["a", "b", "c", "d"]);
    assert_eq!(at.count_matching(&open).unwrap(), 4);
    for (query, expected) in [
        (open.clone().matching("total", ValueRange::anything()), &["c", "b", "d"][..]),
        (open.clone().sort("total", Direction::Backward), &["c", "b", "d"]),
        (open.clone().sort("total", Direction::Forward), &["d", "b", "c"]),
        (open.clone().matching("total", ValueRange::at_most(8)), &["b"]),
        (open.clone().matching("lines[]", ValueRange::at_least(1)), &["c"]),
        (Query::new().matching("state", ValueRange::prefix("s")).through("i"), &["f"]),
        (open.clone().without("total"), &["a"]),
    ] {
        assert_eq!(ids(&at, &query), expected, "{}", at.explain(&query).unwrap());
        assert_eq!(at.count_matching(&query).unwrap(), expected.len() as u64);
    }
    let select: Path = "total".parse().unwrap();
    let rows = at.select(&open.clone().sort("total", Direction::Backward).select([select])).unwrap();
    let values: Vec<_> = rows.map(|row| row.unwrap().values).collect();
    assert_eq!(values, [[Some("9".to_owned())], [Some("7".to_owned())], [Some("null".to_owned())]]);
    // What begins, ends and changes in it.
    orders.put("a", r#"{"state":"open","total":8}"#).unwrap();
    orders.put("c", r#"{"state":"open"}"#).unwrap();
    let at = orders.at(At::Now).unwrap();
    assert_eq!(ids(&at, &open.sort("total", Direction::Backward)), ["a", "b", "d"]);
}

#[test]
fn a_unique_index_has_documents_with_all_of_its_values_only() {
    let store = Store::memory().unwrap();
    let things = store.collection("things").unwrap();
    let spec = IndexSpec { unique: true, ..IndexSpec::new("u", "a").then("b") };
    things.create_index(spec, |_| {}).unwrap();
    for (id, body) in [("1", r#"{"a":1}"#), ("2", r#"{"a":1}"#), ("3", r#"{"a":1,"b":1}"#)] {
        things.put(id, body).unwrap();
    }
    assert!(matches!(things.put("4", r#"{"a":1,"b":1}"#), Err(Error::NotUnique { .. })));
    let query = Query::new().matching("a", ValueRange::equal(1));
    assert_eq!(ids(&things.at(At::Now).unwrap(), &query), ["1", "2", "3"]);
    assert_eq!(store.check(At::Now).unwrap().problems, []);
}

/// What a naive evaluator says of a body.
type Wants<'w> = Box<dyn Fn(&Value) -> bool + 'w>;

/// Documents with few values each, so that no index of one path narrows much.
fn crowd(store: &Store, documents: u64) -> Collection {
    let crowd = store.collection("crowd").unwrap();
    let mut chance = 7_u64;
    let mut next = |n: u64| {
        chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (chance >> 33) % n
    };
    let body = |next: &mut dyn FnMut(u64) -> u64| {
        let mut body = json!({ "a": next(20), "t": [next(20), next(20)], "n": next(1000) });
        if next(4) > 0 {
            body["b"] = json!(next(20));
        }
        body.to_string()
    };
    let bodies: Vec<(String, String)> = (0..documents).map(|n| (format!("d{n:05}"), body(&mut next))).collect();
    for chunk in bodies.chunks(500) {
        let writes = chunk.iter().map(|(id, body)| recension::Write::put(id, body.clone()).unwrap());
        crowd.bulk(writes).unwrap().into_iter().for_each(|result| drop(result.unwrap()));
    }
    crowd
}

#[test]
fn several_indexes_at_once_find_what_a_scan_finds_then_and_now() {
    let store = Store::memory().unwrap();
    let crowd = crowd(&store, 4000);
    for (name, path) in [("a", "a"), ("b", "b"), ("t", "t[]"), ("n", "n")] {
        crowd.create_index(IndexSpec::new(name, path), |_| {}).unwrap();
    }
    let then = crowd.at(At::Now).unwrap();
    let before: Vec<(String, Value)> = all(&then);
    for number in 0..4000 {
        if number % 3 == 0 {
            let body = json!({ "a": number % 20, "b": number % 7, "t": [number % 11], "n": number % 1000 });
            crowd.put(&format!("d{number:05}"), body.to_string()).unwrap();
        }
    }
    let now = crowd.at(At::Now).unwrap();
    let after = all(&now);
    let (mut unions, mut intersections) = (0, 0);
    for n in 0..20_u64 {
        let is = |body: &Value, name: &str, value: u64| body.get(name) == Some(&json!(value));
        let in_t = |body: &Value, value: u64| body["t"].as_array().unwrap().contains(&json!(value));
        let cases: [(Value, Wants<'_>); 4] = [
            (json!({ "a": n, "b": 3 }), Box::new(move |body| is(body, "a", n) && is(body, "b", 3))),
            (
                json!({ "a": n, "t": { "$elemMatch": { "$eq": 5 } } }),
                Box::new(move |body| is(body, "a", n) && in_t(body, 5)),
            ),
            (
                json!({ "$or": [{ "n": n }, { "n": { "$gt": 995 }, "a": n }] }),
                Box::new(move |body| is(body, "n", n) || body["n"].as_u64() > Some(995) && is(body, "a", n)),
            ),
            (
                json!({ "$or": [{ "n": n }, { "t": { "$all": [n, 2] } }], "b": { "$exists": true } }),
                Box::new(move |body| (is(body, "n", n) || in_t(body, n) && in_t(body, 2)) && body.get("b").is_some()),
            ),
        ];
        for (selector, wants) in cases {
            let query = selecting(&selector);
            for (at, all) in [(&then, &before), (&now, &after)] {
                let expected: Vec<&String> = all.iter().filter(|(_, body)| wants(body)).map(|(id, _)| id).collect();
                let plan = at.explain(&query).unwrap();
                unions += usize::from(!plan.union.is_empty());
                intersections += usize::from(!plan.intersection.is_empty());
                let mut found = ids(at, &query);
                found.sort_unstable();
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{selector} {plan}");
                let backward = query.clone().sort("_id", Direction::Backward);
                let by_id = ids(at, &backward);
                assert!(by_id.iter().rev().eq(expected.iter().copied()), "{selector}");
                // Pages of it, the first ones passed over.
                let mut paged: Vec<String> = Vec::new();
                let mut page = at.page(&query.clone().skip(1).limit(3)).unwrap();
                loop {
                    paged.extend(page.documents.iter().map(|document| document.id.to_string()));
                    let Some(next) = page.next else { break };
                    page = at.page(&query.clone().after(next).limit(3)).unwrap();
                }
                paged.sort_unstable();
                assert_eq!(paged.len(), expected.len().saturating_sub(1), "{selector} {plan}");
                let sorted = query.clone().sort("n", Direction::Forward).limit(5);
                let found: Vec<u64> = ids(at, &sorted).iter().map(|id| number(all, id)).collect();
                let mut numbers: Vec<u64> = expected.iter().map(|id| number(all, id)).collect();
                numbers.sort_unstable();
                numbers.truncate(5);
                assert_eq!(found, numbers, "{selector}");
            }
        }
    }
    assert!(unions > 20 && intersections > 20, "{unions} unions, {intersections} intersections");
    // Several elements are looked up in the one index.
    let both = selecting(&json!({ "t": { "$all": [3, 4] } })).not_through(["a", "b", "n"]);
    assert_eq!(now.explain(&both).unwrap().intersection.len(), 2);
    assert_eq!(now.find(&both).unwrap().plan().intersection.len(), 2);
    let expected =
        after.iter().filter(|(_, body)| [3, 4].iter().all(|n| body["t"].as_array().unwrap().contains(&json!(n))));
    assert_eq!(ids(&now, &both).len(), expected.count());
    // In a transaction nothing is asked but what the query reads.
    let found = store.transaction(|transaction| {
        let crowd = transaction.collection("crowd")?;
        crowd.find(&selecting(&json!({ "a": 3, "b": 3 })))?.collect::<recension::Result<Vec<_>>>()
    });
    assert!(!found.unwrap().is_empty());
}

fn all(at: &CollectionAt) -> Vec<(String, Value)> {
    let documents = at.find(&Query::new().without_indexes()).unwrap().map(Result::unwrap);
    documents.map(|document| (document.id.to_string(), serde_json::from_str(&document.body).unwrap())).collect()
}

fn number(all: &[(String, Value)], id: &str) -> u64 {
    let at = all.binary_search_by(|(known, _)| known.as_str().cmp(id)).unwrap();
    all[at].1["n"].as_u64().unwrap()
}

#[test]
fn many_values_and_prefixes_go_by_ranges_and_a_scan_says_what_would_help() {
    let crowd = crowd(&Store::memory().unwrap(), 3000);
    let at = crowd.at(At::Now).unwrap();
    let scanned = at.explain(&selecting(&json!({ "a": 3, "n": { "$gt": 900 } }))).unwrap();
    assert_eq!((scanned.index, scanned.suggestion.as_deref()), (None, Some("a, n")));
    let sorted = at.explain(&selecting(&json!({ "a": 3 })).sort("b", Direction::Forward)).unwrap();
    assert_eq!(sorted.suggestion.as_deref(), Some("a, b"));
    assert!(sorted.to_string().contains("an index on a, b"), "{sorted}");
    crowd.create_index(IndexSpec::new("n", "n"), |_| {}).unwrap();
    let at = crowd.at(At::Now).unwrap();
    let values: Vec<u64> = (0..1000).map(|n| n * 3).collect();
    let query = selecting(&json!({ "n": { "$in": values } })).through("n");
    let plan = at.explain(&query).unwrap();
    // One range for each value, one for the arrays.
    assert_eq!((plan.index.as_deref(), plan.ranges, plan.suggestion), (Some("n"), 1001, None));
    let expected = all(&at).iter().filter(|(_, body)| body["n"].as_u64().unwrap() % 3 == 0).count();
    assert_eq!(ids(&at, &query).len(), expected);
    let too_many = Query::new().matching("n", ValueSet::one_of(0..2000));
    assert!(matches!(at.find(&too_many), Err(Error::BadQuery { .. })));
    // What is passed over is not read.
    let mut page = at
        .find(&Query::new().sort("n", Direction::Forward).matching("n", ValueRange::at_least(0)).skip(2000).limit(1))
        .unwrap();
    page.next().unwrap().unwrap();
    assert!(page.examined().0 > 2000);
}

#[test]
fn statistics_are_kept_go_back_in_time_and_are_erased_with_documents() {
    let store = Store::memory().unwrap();
    let crowd = crowd(&store, 4000);
    crowd.create_index(IndexSpec::new("n", "n"), |_| {}).unwrap();
    let query = Query::new().matching("n", ValueRange::between(100, 299));
    let rows = |at: At| crowd.at(at).unwrap().explain(&query.clone().through("n")).unwrap().rows.unwrap();
    let then = store.engine().head();
    let known = rows(At::Now);
    assert!((600.0..1000.0).contains(&known), "{known}");
    for number in 4000..9000 {
        crowd.put(&format!("d{number:05}"), json!({ "n": 5000 }).to_string()).unwrap();
    }
    crowd.refresh_statistics().unwrap();
    assert!((500.0..1100.0).contains(&rows(At::Now)));
    assert_eq!(rows(At::Seq(then)).to_string(), known.to_string());
    let beyond = crowd.explain(&Query::new().matching("n", ValueRange::at_least(5000)).through("n")).unwrap();
    assert!((4000.0..6000.0).contains(&beyond.rows.unwrap()), "{beyond}");
    crowd.refresh_statistics().unwrap();
    let head = store.engine().head();
    crowd.refresh_statistics().unwrap();
    assert_eq!(store.engine().head(), head);
    // As many documents as before, and other values: a tenth of them are no reason, a third are.
    let high = |collection: &Collection| {
        collection.explain(&Query::new().matching("n", ValueRange::at_least(9000)).through("n")).unwrap().rows.unwrap()
    };
    for (count, known) in [(900, 0.0..300.0), (2100, 2500.0..3500.0)] {
        for number in 0..count {
            let number = if count == 900 { number } else { number + 900 };
            crowd.put(&format!("d{number:05}"), json!({ "n": 9500 }).to_string()).unwrap();
        }
        crowd.refresh_statistics().unwrap();
        assert!(known.contains(&high(&crowd)), "{count}: {}", high(&crowd));
    }
    // They have values of documents: none are left when one is erased, then and now.
    let kept = |at: At| {
        let seq = crowd.at(at).unwrap().seq();
        let snapshot = store.engine().snapshot_at(seq).unwrap();
        snapshot.range(TreeId(0), &KeyRange::prefix([9]), Direction::Forward).count()
    };
    assert_eq!((kept(At::Now), kept(At::Seq(then))), (1, 1));
    crowd.erase(["d00007"]).unwrap();
    assert_eq!((kept(At::Now), kept(At::Seq(then))), (0, 0));
    assert_eq!(store.check(At::Now).unwrap().problems, []);
}

#[test]
fn sorts_and_groups_beyond_memory_go_to_the_disk_and_leave_nothing_there() {
    let folder = tempfile::tempdir().unwrap();
    let options = NativeOptions { durability: Durability::Process, ..NativeOptions::default() };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(folder.path())), options).unwrap();
    let store = Store::on(Arc::new(engine)).unwrap();
    let on_disk = crowd(&store, 3000);
    let in_memory = crowd_in_memory();
    let (at, other) = (on_disk.at(At::Now).unwrap(), in_memory.at(At::Now).unwrap());
    let query = Query::new().sort("a", Direction::Backward).sort("n", Direction::Forward);
    let expected = ids(&other, &query);
    // So many runs that they are merged on the way.
    for bytes in [500, 20_000] {
        let little = query.clone().sort_bytes_max(bytes);
        assert_eq!(ids(&at, &little), expected);
        assert_eq!(ids(&at, &little.clone().limit(100)), expected[..100]);
        let first = at.page(&little.clone().limit(700)).unwrap();
        let next = at.page(&little.clone().limit(700).after(first.next)).unwrap();
        let next: Vec<String> = next.documents.iter().map(|document| document.id.to_string()).collect();
        assert_eq!(next, expected[700..1400]);
        assert_eq!(at.explain(&little).unwrap().sort, PlanSort::InMemory);
        assert!(matches!(other.find(&little), Err(Error::SortTooLarge { .. })));
    }
    let folds = || {
        [
            ("count", Fold::Count),
            ("sum", Fold::sum("n")),
            ("avg", Fold::Average("b".parse().unwrap())),
            ("least", Fold::Min("b".parse().unwrap())),
            ("most", Fold::Max("n".parse().unwrap())),
            ("first", Fold::First("n".parse().unwrap())),
            ("last", Fold::Last("b".parse().unwrap())),
            ("values", Fold::Distinct("b".parse().unwrap())),
            ("all", Fold::Collect("t".parse().unwrap())),
        ]
    };
    for by in [&["n"][..], &["a", "b"]] {
        let pipeline = Pipeline::new().group(by.iter().copied(), folds());
        let little = pipeline.clone().bytes_max(100_000);
        let mut rows = Vec::new();
        let mut take = |row| {
            rows.push(row);
            Ok(())
        };
        at.aggregate_with(&Query::new(), &little, &mut take).unwrap();
        assert_eq!(rows, other.aggregate(&Query::new(), &pipeline).unwrap());
        let refused = other.aggregate_with(&Query::new(), &little, &mut |_| Ok(()));
        assert!(matches!(refused, Err(Error::AggregateTooLarge { .. })));
        // Rows that are sorted behind it.
        let sorted = |pipeline: Pipeline| pipeline.sort([("last", Direction::Backward), ("sum", Direction::Forward)]);
        let mut rows = Vec::new();
        let mut take = |row| {
            rows.push(row);
            Ok(())
        };
        at.aggregate_with(&Query::new(), &sorted(little), &mut take).unwrap();
        assert_eq!(rows, other.aggregate(&Query::new(), &sorted(pipeline)).unwrap());
    }
    // Bigger than what is allowed is one group alone.
    let one = Pipeline::new().group(["none"], folds()).bytes_max(10_000);
    let refused = at.aggregate_with(&Query::new(), &one, &mut |_| Ok(()));
    assert!(matches!(refused, Err(Error::AggregateTooLarge { .. })));
    let left: BTreeMap<String, u64> = std::fs::read_dir(folder.path().join("index"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
        .filter(|(name, _)| name.starts_with("query-"))
        .collect();
    assert_eq!(left, BTreeMap::new());
}

fn crowd_in_memory() -> Collection {
    crowd(&Store::memory().unwrap(), 3000)
}

/// Keys of prefixes in Unicode's order let others in, and a long text with escapes is only in its document.
#[test]
fn what_a_key_was_tested_for_is_right_whether_the_key_has_the_text_or_the_document() {
    let names = Store::memory().unwrap().collection("names").unwrap();
    let long = |begin: &str| format!("{begin}{}", "\\u0062".repeat(2000));
    let texts = ["ab", "AB", "áb", "aB", "a", "b", "ab c", "a\\u0301b", "ab\\u0000", "-ab", "a-b"].map(str::to_owned);
    for (number, text) in texts.into_iter().chain([long("ab"), long("AB"), long("á"), long("b")]).enumerate() {
        names.put(&format!("n{number:02}"), format!(r#"{{"name":"{text}","size":{}}}"#, number % 3)).unwrap();
    }
    names.put("other", r#"{"name":["ab"],"size":1}"#).unwrap();
    let (ids_of, plain) = (|query: &Query| ids(&names.at(At::Now).unwrap(), query), Query::new());
    let prefixes = ["a", "ab", "A", "á", "a\u{301}", "ab\u{0}", "-", "abbbbb", ""];
    let asked = || {
        prefixes.iter().flat_map(|prefix| {
            let begins = || plain.clone().matching("name", ValueRange::prefix(*prefix));
            [begins(), begins().matching("size", ValueRange::equal(1))]
        })
    };
    let scanned: Vec<_> = asked().map(|query| ids_of(&query)).collect();
    assert!(scanned.iter().filter(|found| !found.is_empty()).count() > 10, "{scanned:?}");
    for index in [IndexSpec::new("i", "name"), IndexSpec::new("i", "name").then("size")] {
        names.create_index(index, |_| {}).unwrap();
        for (query, scanned) in asked().zip(&scanned) {
            let query = query.through("i");
            let mut found = ids_of(&query);
            found.sort_unstable();
            assert_eq!(found, *scanned, "{query:?}");
            assert_eq!(names.at(At::Now).unwrap().count_matching(&query).unwrap(), scanned.len() as u64, "{query:?}");
        }
        names.drop_index("i").unwrap();
    }
}
