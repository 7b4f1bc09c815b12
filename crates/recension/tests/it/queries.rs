//! Indexes of every kind, plans, cursors, covering reads, and the words of their refusals.

use std::sync::Arc;

use recension::engine::{Batch, Direction, Engine, MemoryEngine, TreeId};
use recension::{
    At, Collation, Collection, Condition, Cursor, Document, Error, IndexSpec, Path, Query, Store, ValueRange, ValueSet,
    Write,
};

fn collection() -> Collection {
    Store::memory().unwrap().collection("things").unwrap()
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn ids(found: impl Iterator<Item = recension::Result<Document<'static>>>) -> Vec<String> {
    found.map(|document| document.unwrap().id.into_owned()).collect()
}

fn orders() -> Collection {
    let orders = collection();
    let customers = ["ada", "bob", "Ada", "åsa"];
    let write = |n: usize| {
        let (customer, state) = (customers[n % 4], if n.is_multiple_of(5) { "open" } else { "shut" });
        let body = format!(r#"{{"customer":"{customer}","placed":{n},"state":"{state}","tags":["t{}","all"]}}"#, n % 7);
        Write::put(&format!("o{n:04}"), body).unwrap()
    };
    orders.bulk((0..1000).map(write)).unwrap();
    orders
}

fn create(collection: &Collection, spec: IndexSpec) {
    collection.create_index(spec, |_| {}).unwrap();
}

#[test]
fn a_compound_index_serves_a_value_and_an_order_without_sorting() {
    let orders = orders();
    create(&orders, IndexSpec::new("by-customer", path("customer")).then_descending(path("placed")));
    let query = Query::new()
        .matching(path("customer"), ValueRange::equal("ada"))
        .sort(path("placed"), Direction::Backward)
        .limit(3);
    let found = orders.find(&query).unwrap();
    assert_eq!(found.plan().summary(), "index by-customer");
    assert_eq!(found.plan().direction, Direction::Forward);
    assert_eq!(ids(found), ["o0996", "o0992", "o0988"]);
    let upwards = query.clone().matching(path("placed"), ValueRange::between(10, 20));
    assert_eq!(ids(orders.find(&upwards).unwrap()), ["o0020", "o0016", "o0012"]);
    // Ada and ada are different values; the order of strings is Unicode's.
    let all = Query::new().sort(path("customer"), Direction::Forward).sort(path("placed"), Direction::Backward);
    let found = orders.find(&all).unwrap();
    assert!(!found.plan().sorts_in_memory());
    let firsts = ids(found).into_iter().step_by(250).collect::<Vec<_>>();
    assert_eq!(firsts, ["o0996", "o0998", "o0999", "o0997"]);
}

#[test]
fn a_document_without_the_first_path_is_not_in_a_compound_index() {
    let things = collection();
    create(&things, IndexSpec::new("ab", path("a")).then(path("b")));
    things.put("both", r#"{"a":1,"b":1}"#).unwrap();
    things.put("one", r#"{"a":1}"#).unwrap();
    let by_a = Query::new().matching(path("a"), ValueRange::equal(1));
    let found = things.find(&by_a).unwrap();
    assert_eq!(found.plan().index.as_deref(), Some("ab"));
    assert_eq!(ids(found), ["one", "both"]);
    let by_b = Query::new().matching(path("b"), ValueRange::equal(1));
    assert_eq!(ids(things.find(&by_b).unwrap()), ["both"]);
    let refused = things.find(&by_b.through("ab")).err().unwrap();
    assert!(refused.to_string().contains("documents without a are not in it"), "{refused}");
}

#[test]
fn an_index_over_an_array_finds_each_document_once() {
    let things = collection();
    create(&things, IndexSpec::new("tags", path("tags[]")));
    things.put("a", r#"{"tags":["x","y","x"]}"#).unwrap();
    things.put("b", r#"{"tags":["y","z"]}"#).unwrap();
    things.put("c", r#"{"tags":[]}"#).unwrap();
    things.put("d", r#"{"tags":"x"}"#).unwrap();
    let find = |values: ValueSet| {
        let found = things.find(&Query::new().matching(path("tags[]"), values).through("tags")).unwrap();
        ids(found)
    };
    assert_eq!(find(ValueRange::equal("x").into()), ["a"]);
    assert_eq!(find(ValueRange::equal("y").into()), ["a", "b"]);
    assert_eq!(find(ValueSet::one_of(["x", "y", "z"])), ["a", "b"]);
    assert_eq!(find(ValueRange::at_least("y").into()), ["a", "b"]);
    assert_eq!(find(ValueRange::prefix("z").into()), ["b"]);
    let both =
        Query::new().matching(path("tags[]"), ValueRange::equal("y")).matching(path("tags[]"), ValueRange::equal("z"));
    assert_eq!(ids(things.find(&both).unwrap()), ["b"]);
    things.put("a", r#"{"tags":["y"]}"#).unwrap();
    assert_eq!(find(ValueRange::equal("x").into()), [""; 0]);
    assert_eq!(things.store().check(At::Now).unwrap().problems, []);
}

#[test]
fn an_array_may_have_a_thousand_different_values_and_no_more() {
    let things = collection();
    create(&things, IndexSpec::new("tags", path("tags[]")));
    let body = |count: usize| format!(r#"{{"tags":{:?}}}"#, (0..count).collect::<Vec<_>>());
    things.put("a", body(1000)).unwrap();
    let error = things.put("b", body(1001)).unwrap_err();
    assert!(matches!(error, Error::TooManyEntries { entries: 1001, .. }), "{error}");
    let entries = |name, most| things.at(At::Now).unwrap().index_entries(name, most).unwrap();
    assert_eq!((entries("tags", 5000), entries("tags", 7), entries("none", 7)), (Some(1000), Some(7), None));
    things.drop_index("tags").unwrap();
    things.put("b", body(1001)).unwrap();
    assert!(things.create_index(IndexSpec::new("tags", path("tags[]")), |_| {}).is_err());
    assert_eq!(things.indexes().unwrap(), []);
}

#[test]
fn a_unique_index_may_be_over_arrays_over_two_paths_or_over_some_documents() {
    let things = collection();
    let live = Condition::new(path("live"), ValueRange::equal(true));
    create(&things, IndexSpec::unique("mail", path("mails[]")));
    create(&things, IndexSpec::unique("place", path("row")).then(path("seat")));
    create(&things, IndexSpec::unique("name", path("name")).only_where(live));
    things.put("a", r#"{"mails":["a@x","b@x","a@x"],"row":1,"seat":1,"name":"n","live":true}"#).unwrap();
    things.put("a", r#"{"mails":["b@x","c@x"],"row":1,"seat":1,"name":"n","live":true}"#).unwrap();
    for (body, value) in [
        (r#"{"mails":["d@x","c@x"]}"#, r#""c@x""#),
        (r#"{"row":1.0,"seat":1}"#, "1.0, 1"),
        (r#"{"name":"n","live":true}"#, r#""n""#),
    ] {
        match things.put("b", body) {
            Err(Error::NotUnique { value: shown, holder, .. }) => {
                assert_eq!((&*shown, holder.as_deref()), (value, Some("a")));
            }
            other => panic!("{other:?}"),
        }
    }
    things.put("b", r#"{"mails":["a@x"],"row":1,"seat":2,"name":"n","live":false}"#).unwrap();
    things.put("c", r#"{"row":1}"#).unwrap();
    things.put("d", r#"{"row":1}"#).unwrap();
    assert_eq!(things.store().check(At::Now).unwrap().problems, []);
}

#[test]
fn a_partial_index_is_used_where_the_query_wants_nothing_else() {
    let orders = orders();
    let open = || Condition::new(path("state"), ValueRange::equal("open").or(ValueRange::equal("late")));
    create(&orders, IndexSpec::new("open", path("placed")).only_where(open()));
    let query = |state: &str| {
        Query::new().matching(path("state"), ValueRange::equal(state)).sort(path("placed"), Direction::Forward).limit(2)
    };
    let found = orders.find(&query("open")).unwrap();
    assert_eq!(found.plan().index.as_deref(), Some("open"));
    assert_eq!(ids(found), ["o0000", "o0005"]);
    let found = orders.find(&query("shut")).unwrap();
    assert_eq!(found.plan().index, None);
    assert_eq!(ids(found), ["o0001", "o0002"]);
    let explained = orders.explain(&query("shut")).unwrap().to_string();
    assert!(explained.contains("cannot: it has only documents where state = \"open\" or = \"late\""), "{explained}");
}

#[test]
fn the_more_selective_index_is_chosen_and_explain_says_what_else_was_weighed() {
    let orders = orders();
    create(&orders, IndexSpec::new("by-state", path("state")));
    create(&orders, IndexSpec::new("by-placed", path("placed")));
    let query = Query::new()
        .matching(path("state"), ValueRange::equal("shut"))
        .matching(path("placed"), ValueRange::between(500, 520));
    let plan = orders.explain(&query).unwrap();
    assert_eq!(plan.index.as_deref(), Some("by-placed"));
    assert_eq!(plan.rows, Some(21.0));
    assert_eq!(plan.alternatives.len(), 2);
    assert!(plan.alternatives.iter().all(|other| other.cost > plan.cost));
    assert_eq!(
        plan.to_string().lines().take(3).collect::<Vec<_>>(),
        [
            "index by-placed on placed: about 21 rows, cost 42",
            "  reads    placed >= 500 and <= 520 (1 range of keys)",
            "  tests    state = \"shut\" (on documents)",
        ]
    );
    let json: serde_json::Value = serde_json::from_str(&plan.to_json()).unwrap();
    assert_eq!(json["bounds"][0]["in"][0]["at_least"], 500);
    assert_eq!(orders.find(&query).unwrap().plan().index, plan.index);
    // All of the collection: reading it in order of the documents is cheaper than by an index.
    let all = Query::new().matching(path("placed"), ValueRange::anything());
    assert_eq!(orders.find(&all).unwrap().plan().index, None);
    assert_eq!(ids(orders.find(&all.through("by-placed")).unwrap()).len(), 1000);
    let few = Query::new().matching(path("placed"), ValueRange::at_least(5)).limit(5);
    assert_eq!(orders.find(&few).unwrap().plan().index.as_deref(), Some("by-placed"));
}

#[test]
fn a_covering_read_reads_no_document() {
    let engine = Arc::new(MemoryEngine::new());
    let things = Store::on(engine.clone()).unwrap().collection("things").unwrap();
    things.put("a", r#"{"n":1.0,"name":"x","more":1}"#).unwrap();
    things.put("b", r#"{"n":2,"name":"y"}"#).unwrap();
    create(&things, IndexSpec::new("n", path("n")).then(path("name")));
    // What is not read is not missed.
    let mut batch = Batch::new();
    batch.delete(TreeId(1), b"a");
    engine.commit(batch).unwrap();
    let query = Query::new()
        .matching(path("n"), ValueRange::at_most(2))
        .matching(path("name"), ValueRange::prefix("x"))
        .through("n");
    let selected = things.select(&query.clone().select([path("name"), path("n")])).unwrap();
    assert!(selected.plan().covering);
    let selected: Vec<String> = selected.map(|row| row.unwrap().to_json()).collect();
    assert_eq!(selected, [r#"{"_id":"a","name":"x","n":1.0}"#]);
    assert_eq!(things.count_matching(&query).unwrap(), 1);
    let with_more = things.select(&query.clone().select([path("more")])).unwrap();
    assert!(!with_more.plan().covering);
    assert!(matches!(with_more.last().unwrap(), Err(Error::DamagedRow { .. })));
    assert!(matches!(things.find(&query).unwrap().last().unwrap(), Err(Error::DamagedRow { .. })));
}

#[test]
fn a_sort_in_memory_is_bounded_and_a_limit_keeps_it_within() {
    let orders = orders();
    let query = Query::new().sort(path("placed"), Direction::Backward).sort_bytes_max(20_000);
    let error = orders.find(&query).err().unwrap();
    assert!(matches!(error, Error::SortTooLarge { max: 20_000, .. }), "{error}");
    assert_eq!(ids(orders.find(&query.limit(2)).unwrap()), ["o0999", "o0998"]);
}

#[test]
fn pages_go_on_where_they_were_while_others_write() {
    for indexed in [false, true] {
        let orders = orders();
        if indexed {
            create(&orders, IndexSpec::new("placed", path("placed")));
        }
        let query = Query::new().sort(path("placed"), Direction::Forward).limit(10);
        let mut found = orders.find(&query).unwrap();
        assert_eq!(found.plan().index.is_some(), indexed);
        assert_eq!(ids(found.by_ref()).len(), 10);
        let cursor = found.cursor().unwrap();
        orders.put("early", r#"{"placed":3.5}"#).unwrap();
        orders.put("late", r#"{"placed":10.5}"#).unwrap();
        let rev = orders.get("o0009").unwrap().unwrap().rev;
        orders.delete("o0009", &rev).unwrap();
        let next = query.clone().after(cursor.clone());
        assert_eq!(ids(orders.find(&next).unwrap())[..3], ["o0010", "late", "o0011"]);
        // As of the same commit nothing has changed.
        let then = orders.at(At::Seq(cursor.seq())).unwrap();
        assert_eq!(ids(then.find(&next).unwrap())[..2], ["o0010", "o0011"]);
        // A page behind the last one is empty, and says so again.
        let mut end = orders.find(&query.clone().after(cursor.clone()).skip(5000)).unwrap();
        assert!(end.next().is_none());
        assert_eq!(end.cursor(), Some(cursor));
    }
}

#[test]
fn a_cursor_is_good_for_its_query_and_its_index_only() {
    let orders = orders();
    create(&orders, IndexSpec::new("placed", path("placed")));
    let query = Query::new().sort(path("placed"), Direction::Forward).limit(10);
    let mut found = orders.find(&query).unwrap();
    found.by_ref().for_each(drop);
    let cursor: Cursor = found.cursor().unwrap().to_string().parse().unwrap();
    let other = Query::new().sort(path("placed"), Direction::Backward).after(cursor.clone());
    assert!(matches!(orders.find(&other), Err(Error::BadCursor { .. })));
    orders.drop_index("placed").unwrap();
    let error = orders.find(&query.clone().after(cursor.clone())).err().unwrap();
    assert!(error.to_string().contains("begin anew"), "{error}");
    // The moment of the page still has the index.
    let then = orders.at(At::Seq(cursor.seq())).unwrap();
    assert_eq!(ids(then.find(&query.after(cursor)).unwrap())[0], "o0010");
}

#[test]
fn strings_are_ordered_as_the_query_says_and_indexes_of_the_other_order_help_where_it_is_the_same() {
    let things = collection();
    for name in ["b", "a", "B", "A", "á"] {
        things.put(name, format!(r#"{{"name":"{name}"}}"#)).unwrap();
    }
    let by_name = Query::new().sort(path("name"), Direction::Forward);
    let check = || {
        assert_eq!(ids(things.find(&by_name).unwrap()), ["a", "A", "á", "b", "B"]);
        let binary = by_name.clone().collated(Collation::Binary);
        assert_eq!(ids(things.find(&binary).unwrap()), ["A", "B", "a", "b", "á"]);
        let above = Query::new().matching(path("name"), ValueRange::above("A"));
        assert_eq!(ids(things.find(&above.clone()).unwrap()).len(), 3);
        assert_eq!(ids(things.find(&above.collated(Collation::Binary)).unwrap()).len(), 4);
    };
    check();
    create(&things, IndexSpec::new("binary", path("name")).collated(Collation::Binary));
    check();
    assert_eq!(things.find(&by_name).unwrap().plan().index, None);
    let equal = Query::new().matching(path("name"), ValueRange::equal("á"));
    assert_eq!(things.find(&equal).unwrap().plan().index.as_deref(), Some("binary"));
    create(&things, IndexSpec::new("unicode", path("name")));
    check();
    assert_eq!(things.find(&by_name).unwrap().plan().index.as_deref(), Some("unicode"));
}

#[test]
fn what_cannot_be_an_index_or_a_query_is_refused_with_the_reason() {
    let things = collection();
    things.put("a", "{}").unwrap();
    let many = (0..17).fold(IndexSpec::new("x", path("p")), |spec, n| spec.then(path(&format!("p{n}"))));
    let long = Condition::new(path("a"), ValueRange::equal("x".repeat(20_000)));
    for (spec, part) in [
        (many, "1 to 16 paths"),
        (IndexSpec::new("x", path("a")).then(path("a")), "twice"),
        (IndexSpec::new("x", path("a[]")).then(path("b[]")), "of one array"),
        (IndexSpec::new("x", path("a[].b")).then(path("a[].c[]")), "of one array"),
        (IndexSpec::unique("x", path("a[].b")).then(path("a[].c")), "not unique"),
        (IndexSpec::new("x", path("a")).only_where(long), "16 KiB"),
    ] {
        let error = things.create_index(spec, |_| {}).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    for (query, part) in [
        (Query::new().sort(path("a[]"), Direction::Forward), "gives no order"),
        (Query::new().matching(path("a"), ValueSet::one_of(0..2000)), "more than 1024 ranges"),
        (Query::new().through("nothing"), "no such index"),
    ] {
        let error = things.find(&query).err().unwrap().to_string();
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_selected_path_with_empty_brackets_has_all_values_that_it_leads_to() {
    let things = collection();
    things
        .put("a", r#"{"n":1,"items":[{"sku":"x","of":[1]},{"no":1},{"sku":null,"of":[2,3]}],"tags":["s","t"]}"#)
        .unwrap();
    things.put("b", r#"{"n":2,"items":{"sku":"y"},"tags":[]}"#).unwrap();
    things.create_index(IndexSpec::new("tags", path("tags[]")), |_| {}).unwrap();
    let paths = [path("items[].sku"), path("items[].of[]"), path("tags[]"), path("n")];
    for query in [Query::new(), Query::new().matching(path("tags[]"), ValueRange::equal("t"))] {
        let found: Vec<_> = things.select(&query.clone().select(paths.clone())).unwrap().map(Result::unwrap).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found[0].values, [some(r#"["x",null]"#), some("[1,2,3]"), some(r#"["s","t"]"#), some("1")]);
        if let Some(b) = found.get(1) {
            assert_eq!(b.values, [None, None, None, some("2")]);
        }
    }
}

#[test]
fn a_transaction_finds_what_it_wrote_and_weighing_makes_no_conflicts() {
    let orders = orders();
    create(&orders, IndexSpec::new("tags", path("tags[]")));
    create(&orders, IndexSpec::new("placed", path("placed")));
    let query = Query::new()
        .matching(path("tags[]"), ValueRange::equal("t3"))
        .matching(path("placed"), ValueRange::between(2000, 3000));
    let mut first = true;
    let tries = std::cell::Cell::new(0);
    let found = orders
        .store()
        .transaction(|transaction| {
            tries.set(tries.get() + 1);
            let inside = transaction.collection("things")?;
            inside.put("new", r#"{"tags":["t3"],"placed":2500}"#)?;
            let found = ids(inside.find(&query)?);
            if std::mem::take(&mut first) {
                // Another writes what an estimate would have counted, and the query did not read.
                orders.put("other", r#"{"tags":["t5"],"placed":1}"#)?;
            }
            Ok(found)
        })
        .unwrap();
    drop(found);
    assert_eq!(tries.get(), 1);
    assert_eq!(ids(orders.find(&query).unwrap()), ["new"]);
}

#[test]
fn a_path_is_given_as_its_text_and_a_text_that_is_none_is_refused_where_it_is_used() {
    let orders = orders();
    create(&orders, IndexSpec::new("by-state", "state").then("placed"));
    let query = |at: &str| {
        Query::new().matching("state", ValueRange::equal("open")).without(at).sort("placed", Direction::Forward)
    };
    let found = orders.find(&query("nowhere.at[0]").limit(2)).unwrap();
    assert_eq!(found.plan().index.as_deref(), Some("by-state"));
    assert_eq!(ids(found), ["o0000", "o0005"]);
    assert_eq!(Query::new().without("a.b"), Query::new().without(path("a.b")));

    let bad = "a..b";
    let sorted = Query::new().sort(bad, Direction::Forward);
    let selected = Query::new().select([bad]);
    for query in [query(bad), Query::new().matching(bad, ValueRange::equal(1)), sorted, selected] {
        let refused = |error: Error| assert_eq!(error.to_string(), bad.parse::<Path>().unwrap_err().to_string());
        refused(orders.find(&query).err().unwrap());
        refused(orders.select(&query).err().unwrap());
        refused(orders.count_matching(&query).unwrap_err());
        refused(orders.explain(&query).unwrap_err());
        refused(collection().find(&query).err().unwrap());
        refused(orders.delete_matching(&query).unwrap_err());
    }
    let only = Condition::new(bad, ValueRange::equal(1));
    for spec in
        [IndexSpec::new("x", bad), IndexSpec::unique("x", "a").then(bad), IndexSpec::new("x", "a").only_where(only)]
    {
        assert!(matches!(orders.create_index(spec, |_| {}), Err(Error::BadName { what: "path", .. })));
    }
    assert_eq!(orders.count().unwrap(), 1000);
}

#[test]
fn a_page_says_whether_there_is_a_next_one() {
    for indexed in [false, true] {
        let orders = orders();
        if indexed {
            create(&orders, IndexSpec::new("placed", "placed"));
        }
        let sorted = Query::new().matching("placed", ValueRange::below(25)).sort("placed", Direction::Forward);
        let (mut query, mut pages) = (sorted.clone().limit(10), Vec::new());
        loop {
            let page = orders.page(&query).unwrap();
            pages.push(page.documents.len());
            let Some(next) = page.next else { break };
            query = query.after(next);
        }
        assert_eq!(pages, [10, 10, 5]);
        let last = orders.page(&sorted.clone().limit(25)).unwrap();
        assert_eq!((last.documents.len(), last.next), (25, None));
        let all = orders.page(&sorted).unwrap();
        assert_eq!((all.documents.len(), all.next), (25, None));
    }
}
