//! Views: their rows are exact at any moment, however far they were kept, and equal functions share them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;
use recension::engine::Direction;
use recension::{
    At, BuiltIn, Collection, CollectionAt, Emitted, Error, Grouping, MapInput, Mapper, ReducedBlocks, Reducer,
    Reduction, Result, Store, View, ViewAt, ViewEdge, ViewGroups, ViewOptions, ViewRange,
};
use serde_json::Value;

fn emitted(key: impl Into<Value>, value: impl Into<Value>) -> Emitted {
    Emitted { key: key.into().to_string(), value: value.into().to_string() }
}

/// Each tag with the number; design documents and others without tags emit nothing.
fn by_tag(input: &MapInput) -> Vec<Emitted> {
    let body: Value = serde_json::from_str(&input.document.body).unwrap();
    let tags = body["tags"].as_array().cloned().unwrap_or_default();
    tags.into_iter().map(|tag| emitted(tag, body["n"].clone())).collect()
}

fn view(options: ViewOptions) -> View {
    View::new("by tag, 1", options, Arc::new(by_tag))
}

fn rows(view: &ViewAt, range: &ViewRange) -> Vec<(String, String, String)> {
    view.rows(range).unwrap().map(|row| row.unwrap()).map(|row| (row.key, row.id, row.value)).collect()
}

fn naive(at: &CollectionAt) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for document in at.list(&recension::ListOptions::default()).unwrap() {
        let document = document.unwrap();
        let id = document.id.to_string();
        let input = MapInput { document, conflicts: Vec::new(), deleted_conflicts: Vec::new() };
        for (number, row) in by_tag(&input).into_iter().enumerate() {
            let collated = recension::Collation::Unicode.key(&row.key).unwrap();
            all.push(((collated, id.clone(), number), (row.key, id.clone(), row.value)));
        }
    }
    all.sort();
    all.into_iter().map(|(_, row)| row).collect()
}

/// Reduced, with what was remembered and without.
fn groups(
    view: &ViewAt,
    range: &ViewRange,
    grouping: Grouping,
    by: BuiltIn,
    with: &Arc<ReducedBlocks>,
) -> Vec<[String; 2]> {
    let by = Reduction::BuiltIn(by);
    let read = |groups: ViewGroups| groups.map(|group| group.unwrap()).map(|group| [group.key, group.value]).collect();
    let plain: Vec<[String; 2]> = read(view.reduced(range, grouping, &by).unwrap());
    for round in 0..2 {
        let remembered: Vec<[String; 2]> = read(view.reduced_with(range, grouping, &by, with).unwrap());
        assert_eq!(remembered, plain, "round {round}: {grouping:?} {range:?}");
    }
    plain
}

#[test]
fn blocks_count_and_reduce_as_their_rows_do() {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    let view = view(ViewOptions::default());
    let remembered = Arc::new(ReducedBlocks::default());
    let mut moments = Vec::new();
    let mut seed = 7_u64;
    let mut chance = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..7 {
        for _ in 0..500 {
            let id = format!("d{:04}", chance(3000));
            let tags: Vec<String> = (0..chance(4)).map(|_| format!("t{}", chance(5))).collect();
            let body = serde_json::json!({ "n": chance(100), "tags": tags }).to_string();
            collection.put(&id, body).unwrap();
        }
        for _ in 0..100 {
            let id = format!("d{:04}", chance(3000));
            if let Some(rev) = collection.get(&id).unwrap().map(|document| document.rev) {
                collection.delete(&id, &rev).unwrap();
            }
        }
        if round % 3 != 2 {
            let _ = collection.views().get(&view).unwrap();
        }
        moments.push(store.engine().head());
        for moment in &moments {
            let seen = collection.at(At::Seq(*moment)).unwrap().view(&view).unwrap();
            let all = rows(&seen, &ViewRange::default());
            assert_eq!(seen.total_rows(), all.len() as u64);
            for (start, end) in
                [(None, None), (Some("\"t1\""), Some("\"t3\"")), (Some("\"t2\""), None), (None, Some("\"t0\""))]
            {
                let edge = |key: Option<&str>| key.map(ViewEdge::at);
                let range = ViewRange { start: edge(start), end: edge(end), ..ViewRange::default() };
                let counted = seen.count(&range, u64::MAX).unwrap();
                assert_eq!(counted, Some(rows(&seen, &range).len() as u64), "{range:?}");
                for by in [BuiltIn::Sum, BuiltIn::Count, BuiltIn::Stats, BuiltIn::Distinct] {
                    groups(&seen, &range, Grouping::All, by, &remembered);
                    groups(&seen, &range, Grouping::Exact, by, &remembered);
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(u8, Vec<u8>),
    Delete(u8),
    Purge(u8),
    Keep,
    Check,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_u8, prop::collection::vec(0..4_u8, 0..4)).prop_map(|(id, tags)| Step::Put(id, tags)),
        1 => (0..6_u8).prop_map(Step::Delete),
        1 => (0..6_u8).prop_map(Step::Purge),
        2 => Just(Step::Keep),
        1 => Just(Step::Check),
    ]
}

fn agrees(collection: &Collection, at: At, view: &View) {
    let at = collection.at(at).unwrap();
    let seen = at.view(view).unwrap();
    let expected = naive(&at);
    assert_eq!(rows(&seen, &ViewRange::default()), expected);
    assert_eq!(seen.total_rows(), expected.len() as u64);
    let down = ViewRange { direction: Direction::Backward, ..ViewRange::default() };
    assert_eq!(rows(&seen, &down), expected.iter().rev().cloned().collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn at_every_moment_a_view_is_what_its_documents_emit(steps in prop::collection::vec(step(), 1..40)) {
        let store = Store::memory().unwrap();
        let collection = store.collection("c").unwrap();
        collection.make(&[]).unwrap();
        let view = view(ViewOptions::default());
        let mut moments = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            match step {
                Step::Put(id, tags) => {
                    let tags: Vec<String> = tags.iter().map(|tag| format!("t{tag}")).collect();
                    let body = serde_json::json!({ "n": n, "tags": tags }).to_string();
                    moments.push(collection.put(&format!("d{id}"), body).unwrap().seq);
                }
                Step::Delete(id) => {
                    let id = format!("d{id}");
                    if let Some(rev) = collection.get(&id).unwrap().map(|document| document.rev) {
                        moments.push(collection.delete(&id, &rev).unwrap().seq);
                    }
                }
                Step::Purge(id) => {
                    let id = format!("d{id}");
                    if let Some(rev) = collection.get(&id).unwrap().map(|document| document.rev) {
                        collection.replication().purge(&id, &[rev]).unwrap();
                        moments.push(store.engine().head());
                    }
                }
                Step::Keep => collection.views().update(&view, &AtomicBool::new(false), |_| ()).unwrap(),
                Step::Check => agrees(&collection, At::Now, &view),
            }
        }
        agrees(&collection, At::Now, &view);
        for moment in moments {
            agrees(&collection, At::Seq(moment), &view);
        }
    }
}

fn filled() -> (Store, Collection) {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    for n in 0..20 {
        let tags = if n % 2 == 0 { r#"["even",{"a":1}]"# } else { r#"["odd"]"# };
        collection.put(&format!("p{}:d{n:02}", n % 3), format!(r#"{{"n":{n},"tags":{tags}}}"#)).unwrap();
    }
    (store, collection)
}

#[test]
fn ranges_of_keys_and_ids_are_read() {
    let (_store, collection) = filled();
    let seen = collection.views().get(&view(ViewOptions::default())).unwrap();
    let count = |range: &ViewRange| rows(&seen, range).len();
    assert_eq!(count(&ViewRange::key("\"even\"")), 10);
    assert_eq!(count(&ViewRange::key("\"eve\"")), 0);
    let edge = |id: &str, inclusive| Some(ViewEdge { key: "\"odd\"".into(), id: Some(id.into()), inclusive });
    let from = |start, end| ViewRange { start, end, ..ViewRange::default() };
    assert_eq!(count(&from(edge("p1:d13", true), Some(ViewEdge::at("\"odd\"")))), 5);
    assert_eq!(count(&from(edge("p1:d13", false), Some(ViewEdge::at("\"odd\"")))), 4);
    assert_eq!(count(&from(Some(ViewEdge::at("\"odd\"")), edge("p1:d13", true))), 6);
    assert_eq!(count(&from(Some(ViewEdge::at("\"odd\"")), edge("p1:d13", false))), 5);
    let range = from(edge("p1:d13", true), None);
    assert_eq!(count(&range) + count(&range.before().unwrap()), 30);
}

#[test]
fn the_rows_of_a_partition_stand_together() {
    let (_store, collection) = filled();
    let seen = collection.views().get(&view(ViewOptions { partitioned: true, ..ViewOptions::default() })).unwrap();
    let of = |partition: &str| ViewRange { partition: Some(partition.into()), ..ViewRange::key("\"even\"") };
    assert_eq!(rows(&seen, &of("p0")).len(), 4);
    assert!(rows(&seen, &of("p0")).iter().all(|(_, id, _)| id.starts_with("p0:")));
    assert_eq!(rows(&seen, &of("p")).len(), 0);
    assert_eq!(seen.total_rows(), 30);
}

#[test]
fn reductions_are_of_groups() {
    let (_store, collection) = filled();
    let seen = collection.views().get(&view(ViewOptions::default())).unwrap();
    let reduced = |grouping, own| -> Vec<(String, String)> {
        let groups = seen.reduced(&ViewRange::default(), grouping, &Reduction::BuiltIn(own)).unwrap();
        groups.map(|group| group.unwrap()).map(|group| (group.key, group.value)).collect()
    };
    assert_eq!(reduced(Grouping::All, BuiltIn::Count), [("null".into(), "30".into())]);
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let sums = [pair("\"even\"", "90"), pair("\"odd\"", "100"), pair("{\"a\":1}", "90")];
    assert_eq!(reduced(Grouping::Exact, BuiltIn::Sum), sums);
    assert_eq!(reduced(Grouping::All, BuiltIn::Distinct), [pair("null", "3")]);
    let stats = r#"{"sum":280,"count":30,"min":0,"max":19,"sumsqr":3610}"#;
    assert_eq!(reduced(Grouping::All, BuiltIn::Stats), [pair("null", stats)]);
}

/// Adds numbers, and notes how often it was asked and for how many rows. It fails for the key 77.
#[derive(Default)]
struct Adding {
    asked: AtomicUsize,
    rows: AtomicUsize,
}

impl Reducer for Adding {
    fn reduce(&self, rows: &[(String, String, String)]) -> Result<String> {
        self.reduce_groups(&[rows.to_vec()])?.pop().ok_or(Error::BadQuery { why: "no group" })
    }

    fn signature(&self) -> Option<String> {
        Some("adding".to_owned())
    }

    fn reduce_groups(&self, groups: &[Vec<(String, String, String)>]) -> Result<Vec<String>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let one = |rows: &Vec<(String, String, String)>| {
            self.rows.fetch_add(rows.len(), Ordering::Relaxed);
            if rows.iter().any(|(key, ..)| key == "77") {
                return Err(Error::Function { error: "bad".into(), reason: "77".into() });
            }
            Ok(rows.iter().map(|(_, _, value)| value.parse::<i64>().unwrap()).sum::<i64>().to_string())
        };
        groups.iter().map(one).collect()
    }

    fn rereduce(&self, values: &[String]) -> Result<String> {
        Ok(values.iter().map(|value| value.parse::<i64>().unwrap()).sum::<i64>().to_string())
    }
}

#[test]
fn a_custom_reduction_is_told_of_many_groups_at_once_and_of_no_row_twice() {
    let store = Store::memory().unwrap();
    let collection = store.collection("c").unwrap();
    let docs = (0..3000).map(|n| (format!("d{n:04}"), format!(r#"{{"tags":[{n},"t{}"],"n":1}}"#, n % 3)));
    docs.for_each(|(id, body)| drop(collection.put(&id, body).unwrap()));
    let seen = collection.views().get(&view(ViewOptions::default())).unwrap();
    let remembered = Arc::new(ReducedBlocks::default());
    let read = |range: &ViewRange, grouping| {
        let by = Arc::new(Adding::default());
        let reduction = Reduction::Own(Arc::clone(&by) as Arc<dyn Reducer>);
        let groups: Vec<_> = seen.reduced_with(range, grouping, &reduction, &remembered).unwrap().collect();
        (groups, by.asked.load(Ordering::Relaxed), by.rows.load(Ordering::Relaxed))
    };
    // Of the 3,000 numbers, each is a group; the one that fails ends the answer, and those before it are there.
    let (groups, ..) = read(&ViewRange::default(), Grouping::Exact);
    assert_eq!(groups.len(), 78);
    assert!(groups[..77].iter().all(|group| group.as_ref().unwrap().value == "1") && groups[77].is_err());
    let behind = ViewRange { start: Some(ViewEdge::at("78")), end: Some(ViewEdge::at("4000")), ..ViewRange::default() };
    let (groups, asked, rows) = read(&behind, Grouping::Exact);
    assert_eq!((groups.len(), rows), (2922, 2922));
    assert!(asked < 12, "{asked}");
    // Three groups of many blocks: the second time, only rows outside of whole blocks are read.
    let texts = ViewRange { start: Some(ViewEdge::at("\"t\"")), ..ViewRange::default() };
    let values = |groups: &[Result<recension::ReducedRow>]| -> Vec<String> {
        groups.iter().map(|group| group.as_ref().unwrap().value.clone()).collect()
    };
    for known in [false, true] {
        let (groups, _, rows) = read(&texts, Grouping::Exact);
        assert_eq!(values(&groups), ["1000", "1000", "1000"]);
        assert!(if known { rows < 1600 } else { rows == 3000 }, "{rows}");
    }
}

struct Counting(AtomicUsize);

impl Mapper for Counting {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        self.0.fetch_add(documents.len(), Ordering::Relaxed);
        Ok(documents.iter().map(by_tag).collect())
    }
}

#[test]
fn equal_functions_share_their_rows_and_only_changes_are_mapped() {
    let (_store, collection) = filled();
    let counting = Arc::new(Counting(AtomicUsize::new(0)));
    let view = |text| View::new(text, ViewOptions::default(), Arc::clone(&counting) as Arc<dyn Mapper>);
    let mapped = |text| {
        let before = counting.0.load(Ordering::Relaxed);
        let _ = collection.views().get(&view(text)).unwrap();
        counting.0.load(Ordering::Relaxed) - before
    };
    assert_eq!((mapped("one"), mapped("one"), mapped("two")), (20, 0, 20));
    collection.put("new", r#"{"tags":["x"],"n":1}"#).unwrap();
    assert_eq!((mapped("one"), mapped("two"), mapped("one")), (1, 1, 0));
    assert_eq!(collection.views().list().unwrap().len(), 2);
    assert_eq!(
        collection.views().drop_others(&BTreeSet::from([view("one").signature()]), &BTreeSet::new()).unwrap(),
        1
    );
    assert_eq!((mapped("one"), mapped("two")), (0, 21));
}

#[test]
fn what_a_name_had_before_is_read_until_the_new_rows_are_whole() {
    let (_store, collection) = filled();
    let old = view(ViewOptions::default()).named("d/v");
    let _ = collection.views().get(&old).unwrap();
    let new = View::new("another", ViewOptions::default(), Arc::new(by_tag)).named("d/v");
    let kept = |view: &View| collection.at(At::Now).unwrap().view_as_kept(view).unwrap().total_rows();
    assert_eq!(kept(&new), 30);
    let named = BTreeSet::from(["d/v".to_owned()]);
    assert_eq!(collection.views().drop_others(&BTreeSet::from([new.signature()]), &named).unwrap(), 0);
    assert_eq!(kept(&new), 30);
    let _ = collection.views().get(&new).unwrap();
    assert_eq!(collection.views().drop_others(&BTreeSet::from([new.signature()]), &named).unwrap(), 1);
    assert_eq!((kept(&new), kept(&old)), (30, 30));
}

struct Failing(AtomicBool);
impl Mapper for Failing {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Error::Function { error: "os_process_error".into(), reason: "died".into() });
        }
        Ok(documents.iter().map(by_tag).collect())
    }
}

#[test]
fn a_mapper_that_fails_leaves_what_was_committed() {
    let (_store, collection) = filled();
    let failing = Arc::new(Failing(AtomicBool::new(false)));
    let view = View::new("failing", ViewOptions::default(), Arc::clone(&failing) as Arc<dyn Mapper>);
    let _ = collection.views().get(&view).unwrap();
    collection.put("new", r#"{"tags":["x"],"n":1}"#).unwrap();
    failing.0.store(true, Ordering::Relaxed);
    assert!(matches!(collection.views().get(&view), Err(Error::Function { .. })));
    assert_eq!(collection.at(At::Now).unwrap().view_as_kept(&view).unwrap().total_rows(), 30);
    failing.0.store(false, Ordering::Relaxed);
    assert_eq!(collection.views().get(&view).unwrap().total_rows(), 31);
}

#[test]
fn rows_outlive_the_process_and_a_build_that_was_stopped_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s").display().to_string();
    let counting = Arc::new(Counting(AtomicUsize::new(0)));
    let view = View::new("one", ViewOptions::default(), Arc::clone(&counting) as Arc<dyn Mapper>);
    {
        let collection = recension::open(&path).unwrap().collection("c").unwrap();
        let mut loader = collection.loader();
        for n in 0..5000 {
            let body = format!(r#"{{"n":{n},"tags":["t"]}}"#);
            loader.push(recension::Write::put(&format!("d{n:05}"), body).unwrap()).unwrap();
        }
        loader.finish().unwrap();
        let stop = AtomicBool::new(false);
        collection.views().update(&view, &stop, |_| stop.store(true, Ordering::Relaxed)).unwrap();
        let mapped = counting.0.load(Ordering::Relaxed);
        assert!(mapped > 0 && mapped < 5000, "{mapped}");
    }
    let mapped = counting.0.load(Ordering::Relaxed) as u64;
    let collection = recension::open(&path).unwrap().collection("c").unwrap();
    let progress = || collection.views().progress(view.signature()).unwrap().unwrap();
    assert_eq!((progress().done, progress().total), (mapped, 5000));
    let mut told = Vec::new();
    collection.views().update(&view, &AtomicBool::new(false), |progress| told.push(progress.done)).unwrap();
    assert_eq!((told.first(), told.last(), told.is_sorted()), (Some(&mapped), Some(&5000), true), "{told:?}");
    assert_eq!((progress().done, progress().total), (5000, 5000));
    assert_eq!(collection.views().get(&view).unwrap().total_rows(), 5000);
    assert_eq!(counting.0.load(Ordering::Relaxed), 5000);
}

#[test]
fn what_was_erased_is_in_no_view_at_any_moment() {
    let (store, collection) = filled();
    let view = view(ViewOptions::default());
    let _ = collection.views().get(&view).unwrap();
    let before = store.engine().head();
    collection.put("p0:d00", r#"{"n":1,"tags":["secret"]}"#).unwrap();
    let _ = collection.views().get(&view).unwrap();
    let between = store.engine().head();
    collection.erase(["p0:d00"]).unwrap();
    for at in [At::Seq(before), At::Seq(between), At::Now] {
        let at = collection.at(at).unwrap();
        for seen in [at.view(&view).unwrap(), at.view_as_kept(&view).unwrap()] {
            let left = rows(&seen, &ViewRange::default());
            assert!(left.iter().all(|(_, id, _)| id != "p0:d00"), "{left:?}");
        }
    }
    assert_eq!(collection.views().get(&view).unwrap().total_rows(), 28);
}

#[test]
fn a_collection_that_is_made_again_has_no_rows_of_the_former() {
    let (store, collection) = filled();
    let view = view(ViewOptions::default());
    let _ = collection.views().get(&view).unwrap();
    let before = store.engine().head();
    store.drop_collection("c").unwrap();
    collection.put("x", r#"{"n":1,"tags":["t"]}"#).unwrap();
    assert_eq!(collection.views().get(&view).unwrap().total_rows(), 1);
    assert_eq!(store.collection_as_of("c", At::Seq(before)).unwrap().view(&view).unwrap().total_rows(), 30);
    let numbers: BTreeMap<_, _> = rows(&collection.views().get(&view).unwrap(), &ViewRange::default())
        .into_iter()
        .map(|(key, id, value)| (key, (id, value)))
        .collect();
    assert_eq!(numbers["\"t\""], ("x".to_owned(), "1".to_owned()));
}

mod typed {
    use recension::{At, Document, DocumentView, Store, ViewRange};
    use serde::{Deserialize, Serialize};

    #[derive(Document, Serialize, Deserialize)]
    #[recension(collection = "products")]
    struct Product {
        #[recension(id)]
        id: String,
        kind: String,
        price: u32,
    }

    struct ByKind;

    impl DocumentView for ByKind {
        type Document = Product;
        type Key = (String, u32);
        type Value = u64;
        const NAME: &'static str = "by kind";

        fn map(product: &Product, emit: &mut dyn FnMut((String, u32), u64)) {
            emit((product.kind.clone(), product.price), 1);
        }

        fn reduce(counts: &[u64]) -> Option<u64> {
            Some(counts.iter().sum())
        }
    }

    struct ByName;

    impl DocumentView for ByName {
        type Document = Product;
        type Key = String;
        type Value = ();
        const NAME: &'static str = "by name";

        fn map(product: &Product, emit: &mut dyn FnMut(String, ())) {
            emit(product.kind.clone(), ());
        }
    }

    #[test]
    fn a_typed_view_is_asked_by_key_range_prefix_and_group_and_at_a_moment() {
        let store = Store::memory().unwrap();
        let products = store.typed::<Product>().unwrap();
        for n in 0..3000_u32 {
            let kind = ["tea", "team", "Tee", "cake"][n as usize % 4].to_owned();
            products.put(&Product { id: format!("p{n:04}"), kind, price: n }).unwrap();
        }
        let view = products.view::<ByKind>().unwrap();
        assert_eq!(view.reduced().unwrap(), Some(3000));
        let tea = |price| ("tea".to_owned(), price);
        assert_eq!(view.range(tea(0)..tea(40)).unwrap().len(), 10);
        assert_eq!(view.range(tea(0)..=tea(40)).unwrap().len(), 11);
        assert_eq!(view.key(&tea(8)).unwrap()[0].id, "p0008");
        assert_eq!(view.prefix(&["tea"]).unwrap().len(), 750);
        let kinds: Vec<((String,), u64)> = view.grouped(1).unwrap();
        assert_eq!(
            kinds.iter().map(|((kind,), count)| (kind.as_str(), *count)).collect::<Vec<_>>(),
            [("cake", 750), ("tea", 750), ("team", 750), ("Tee", 750)]
        );
        let names = products.view::<ByName>().unwrap();
        assert_eq!(names.prefix(&"tea").unwrap().len(), 1500);
        assert!(names.reduced().is_err());
        let found = view.documents(&ViewRange::key("[\"cake\",7]")).unwrap();
        assert_eq!((found.len(), found[0].price), (1, 7));
        let before = store.engine().head();
        products.put(&Product { id: "new".into(), kind: "soup".into(), price: 1 }).unwrap();
        assert_eq!(products.view::<ByKind>().unwrap().reduced().unwrap(), Some(3001));
        assert_eq!(products.at(At::Seq(before)).unwrap().view::<ByKind>().unwrap().reduced().unwrap(), Some(3000));
    }
}
