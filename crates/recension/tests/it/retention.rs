//! Retention of collections: what a rule keeps can be read, what it gives up is refused with what to do instead,
//! and disk comes back.

use std::num::NonZeroU32;
use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::{EngineError, MemoryEngine, NativeEngine, NativeOptions, Retention, Seq};
use recension::{At, Collection, Condition, IndexSpec, Query, Store, ValueRange};
use tempfile::TempDir;

/// Stores on the engines of this crate.
fn stores() -> Vec<(Store, Option<TempDir>)> {
    let dir = tempfile::tempdir().unwrap();
    let options = NativeOptions { segment_bytes: 64 << 10, ..NativeOptions::default() };
    let native = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
    vec![(Store::on(Arc::new(MemoryEngine::new())).unwrap(), None), (Store::on(Arc::new(native)).unwrap(), Some(dir))]
}

fn newest(count: u32) -> Retention {
    Retention::Versions(NonZeroU32::new(count).unwrap())
}

/// The commits of four versions of a document, beside one that is written once.
fn written(menu: &Collection) -> [Seq; 4] {
    menu.create_index(IndexSpec::new("price", "price"), |_| ()).unwrap();
    menu.put("slug", r#"{"price":1}"#).unwrap();
    [10, 20, 30, 40].map(|price| menu.put("pizza", format!(r#"{{"price":{price}}}"#)).unwrap().seq)
}

fn price_at(menu: &Collection, seq: Seq) -> Result<Option<String>, recension::Error> {
    Ok(menu.at(At::Seq(seq))?.get("pizza")?.map(|document| document.body.into_owned()))
}

#[track_caller]
fn assert_given_up<T: std::fmt::Debug>(answer: Result<T, recension::Error>) {
    let error = answer.expect_err("it is refused");
    assert!(matches!(error, recension::Error::Engine(EngineError::Forgotten { .. })), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("given up by retention") && text.contains("backup"), "{text}");
}

#[test]
fn the_newest_versions_of_each_document_stay() {
    for (store, _dir) in stores() {
        let menu = store.collection("menu").unwrap();
        let [first, second, third, fourth] = written(&menu);
        menu.settings().set_retention(newest(2)).unwrap();
        assert_eq!(menu.settings().retention().unwrap(), newest(2));
        assert_eq!(store.collections(At::Now).unwrap()[0].retention, newest(2));
        store.compact().unwrap();
        assert_given_up(price_at(&menu, first));
        assert_given_up(price_at(&menu, second));
        assert_eq!(price_at(&menu, third).unwrap().unwrap(), r#"{"price":30}"#);
        let history: Vec<_> = menu.history("pizza").unwrap().map(|revision| revision.unwrap().seq).collect();
        assert_eq!(history, [fourth, third]);
        assert_given_up(menu.at(At::Seq(second)).unwrap().history("pizza").unwrap().next().unwrap());
        let then = menu.at(At::Seq(first)).unwrap();
        assert_eq!(then.get("slug").unwrap().unwrap().body, r#"{"price":1}"#, "it was written once, and is whole");
        // Its index is of now. A query as of then does without.
        let query = Query::new().matching("price", ValueRange::at_least(20));
        assert_eq!(menu.explain(&query).unwrap().index.as_deref(), Some("price"));
        let then = menu.at(At::Seq(third)).unwrap();
        assert_eq!(then.explain(&query).unwrap().index, None);
        let ids: Vec<_> = then.find(&query).unwrap().map(|document| document.unwrap().id.into_owned()).collect();
        assert_eq!(ids, ["pizza"]);
        assert_given_up(menu.at(At::Seq(first)).unwrap().find(&query).unwrap().collect::<Result<Vec<_>, _>>());
        assert_eq!(store.check(At::Now).unwrap().problems, []);
    }
}

#[test]
fn only_what_is_there_now_stays_and_the_store_goes_on() {
    for (store, _dir) in stores() {
        let menu = store.collection("menu").unwrap();
        let [first, .., last] = written(&menu);
        let other = store.collection("other").unwrap();
        other.put("a", "{}").unwrap();
        menu.settings().set_retention(Retention::HeadOnly).unwrap();
        store.compact().unwrap();
        let now = store.engine().head();
        assert_given_up(price_at(&menu, last));
        assert_eq!(price_at(&menu, now).unwrap().unwrap(), r#"{"price":40}"#);
        assert_eq!(menu.history("pizza").unwrap().count(), 1);
        assert_eq!(other.at(At::Seq(first)).unwrap().get("a").unwrap(), None, "another collection keeps everything");
        // Made later, an index gets the rule that its collection has.
        menu.create_index(IndexSpec::new("name", "name"), |_| ()).unwrap();
        menu.put("pizza", r#"{"price":50,"name":"x"}"#).unwrap();
        let rules = store.engine().retention().unwrap();
        assert!(rules.iter().all(|rule| rule.retention == Retention::HeadOnly), "{rules:?}");
        assert_eq!(rules.len(), 6, "documents, changes, side, two indexes, counts");
        store.compact().unwrap();
        let query = Query::new().matching("name", ValueRange::equal("x"));
        assert_eq!(menu.count_matching(&query).unwrap(), 1);
        assert_eq!(menu.changes(Seq::ZERO).unwrap().count(), 2);
        menu.settings().set_retention(Retention::Everything).unwrap();
        assert_eq!(store.engine().retention().unwrap(), []);
        assert_given_up(price_at(&menu, last));
        assert_eq!(store.check(At::Now).unwrap().problems, []);
    }
}

#[test]
fn a_rule_brings_its_collection_into_being_and_an_index_on_a_part_too() {
    for (store, _dir) in stores() {
        let menu = store.collection("menu").unwrap();
        assert_eq!(menu.settings().retention().unwrap(), Retention::Everything);
        menu.settings().set_retention(newest(3)).unwrap();
        let filter = Condition::new("price", ValueRange::above(5));
        menu.create_index(IndexSpec::new("dear", "price").only_where(filter), |_| ()).unwrap();
        menu.settings().set_retention(newest(3)).unwrap();
        assert_eq!(menu.settings().retention().unwrap(), newest(3));
        assert_eq!(store.engine().retention().unwrap().len(), 4);
    }
}

#[test]
fn overwriting_under_head_only_takes_the_disk_of_the_live_data() {
    let dir = tempfile::tempdir().unwrap();
    let options = NativeOptions {
        segment_bytes: 256 << 10,
        index_memory_bytes: 256 << 10,
        checkpoint_log_bytes: 256 << 10,
        settle_log_bytes: Some(512 << 10),
        ..NativeOptions::default()
    };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options).unwrap();
    let store = Store::on(Arc::new(engine)).unwrap();
    let people = store.collection("people").unwrap();
    people.settings().set_retention(Retention::HeadOnly).unwrap();
    let write = |version: u64| {
        let mut loader = people.loader();
        for n in 0..2000_u64 {
            let token = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ version;
            let body = format!(r#"{{"n":{n},"version":{version},"token":"{token:016x}","name":"a person's name"}}"#);
            loader.push(recension::Write::put(&format!("{n:05}"), body).unwrap()).unwrap();
        }
        loader.finish().unwrap();
    };
    write(0);
    let once = store.compact().unwrap().after;
    for version in 1..=3 {
        write(version);
    }
    let past = || {
        let stats = store.engine().stats().unwrap();
        stats.details.iter().find(|(name, ..)| *name == "past keys and values, at least").unwrap().1
    };
    let compacted = store.compact().unwrap();
    assert!(compacted.before > 2 * compacted.after, "{compacted:?}");
    assert_eq!(past(), 0, "of documents, indexes, changes and counts nothing but the newest is there");
    // A document's row also has the ids of the revisions before it, which stay: 17 bytes each and some for the tree.
    let revisions = 3 * 2000 * (17 + 10);
    assert!(compacted.after <= once * 11 / 10 + revisions, "{compacted:?}, {once} once");
    let dropped = store.drop_collection("people").unwrap();
    assert!(dropped && store.engine().retention().unwrap().iter().all(|rule| rule.tree.0 != 0));
}
