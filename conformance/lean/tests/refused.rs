//! A build of `recension` without any feature, on stores and words that need one: each is refused with the feature's
//! name, and the store stays as it is.

use std::fmt::Debug;
use std::path::Path;

use recension::engine::Direction;
use recension::{Expect, IndexSpec, Key, Language, OpenOptions, Query, Schema, Selector, Store, TextQuery, ValueRange};
use recension_lean::{KEY, thawed};

fn open(folder: &Path) -> recension::Result<Store> {
    recension::open(&folder.display().to_string())
}

#[track_caller]
fn names<T: Debug>(feature: &str, found: recension::Result<T>) {
    let error = found.expect_err(feature).to_string();
    assert!(error.contains(&format!("`{feature}`")), "{feature}: {error}");
}

#[test]
fn a_collection_with_an_index_that_cannot_be_kept_is_neither_read_nor_written() {
    for feature in ["unicode-collation", "words"] {
        let folder = thawed(feature).unwrap();
        let store = open(folder.path()).unwrap();
        let cities = store.collection("cities").unwrap();
        names(feature, cities.put("b", r#"{"name":"Évora"}"#));
        names(feature, cities.get("a"));
        names(feature, cities.find(&Query::new()).map(Iterator::count));
        names(feature, cities.indexes());
        let others = store.collection("others").unwrap();
        others.put("b", "{}").unwrap();
        assert!(others.get("b").unwrap().is_some());
    }
}

#[test]
fn a_collection_with_a_schema_is_read_and_not_written() {
    let folder = thawed("schema").unwrap();
    let cities = open(folder.path()).unwrap().collection("cities").unwrap();
    let kept = cities.get("a").unwrap().unwrap();
    names("schema", cities.put("b", r#"{"name":"Porto"}"#));
    names("schema", cities.replace("a", &kept.rev, r#"{"name":5}"#));
    assert!(cities.settings().schema().unwrap().is_some());
    assert_eq!(cities.get("a").unwrap().unwrap().rev, kept.rev);
    names("schema", Schema::from_json("{}"));
}

#[test]
fn an_encrypted_store_is_not_opened_and_none_is_made() {
    let folder = thawed("encryption").unwrap();
    let key = Key::parse(KEY).unwrap();
    let new = tempfile::tempdir().unwrap();
    for at in [folder.path(), &new.path().join("store")] {
        names("encryption", OpenOptions::new().key(Some(key.clone())).open(&at.display().to_string()).map(|_| ()));
    }
    names("encryption", open(folder.path()).map(|_| ()));
    assert!(!new.path().join("store/KEYS").exists());
}

#[test]
fn compressed_attachments_are_not_read_and_none_is_stored_otherwise() {
    let feature = "attachments-compression";
    let folder = thawed(feature).unwrap();
    let cities = open(folder.path()).unwrap().collection("cities").unwrap();
    let read = |name| {
        let mut bytes = Vec::new();
        let mut reader = cities.attachment("a", name).unwrap().unwrap();
        std::io::Read::read_to_end(&mut reader, &mut bytes).map(|_| bytes)
    };
    assert!(read("notes.txt").unwrap_err().to_string().contains(feature));
    assert_eq!(read("dot.png").unwrap(), b"no picture");
    names(feature, cities.attach("a", Expect::Anything, "more.txt", "text/plain", &b"words"[..]));
    names(feature, cities.attach("a", Expect::Anything, "none.txt", "text/plain", &b""[..]));
    cities.attach("a", Expect::Anything, "more.png", "image/png", &b"no picture either"[..]).unwrap();
    assert_eq!(read("more.png").unwrap(), b"no picture either");
}

#[test]
fn words_of_queries_that_need_a_feature_are_refused() {
    let texts = IndexSpec::words("texts", ["name"], Language::English);
    names("words", Store::memory().unwrap().collection("cities").unwrap().create_index(texts, |_| {}));
    names("words", TextQuery::new("soup", Language::Plain));
    names("words", Selector::from_json(r#"{"$text":{"$search":"soup"}}"#));
    for operator in ["$aieq", "$aibeginsWith", "$aicontains"] {
        names("unicode-collation", Selector::from_json(format!(r#"{{"name":{{"{operator}":"a"}}}}"#)));
    }
    names(
        "remote",
        OpenOptions::new().share(true).open(&tempfile::tempdir().unwrap().path().display().to_string()).map(|_| ()),
    );
}

#[test]
fn what_needs_no_feature_works_and_strings_are_ordered_by_bytes() {
    let cities = Store::memory().unwrap().collection("cities").unwrap();
    for (id, name) in [("1", "évora"), ("2", "Porto"), ("3", "aveiro")] {
        cities.put(id, format!(r#"{{"name":"{name}"}}"#)).unwrap();
    }
    cities.create_index(IndexSpec::new("by-name", "name"), |_| {}).unwrap();
    let ids = |query: &Query| -> Vec<String> {
        cities.find(query).unwrap().map(|found| found.unwrap().id.into_owned()).collect()
    };
    assert_eq!(ids(&Query::new().sort("name", Direction::Forward)), ["2", "3", "1"]);
    assert_eq!(ids(&Query::new().matching("name", ValueRange::at_least("a"))).len(), 2);
}
