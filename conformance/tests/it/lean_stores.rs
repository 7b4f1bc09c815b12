//! The stores of conformance/lean, each of which needs a feature: they open and answer here, with every feature, for
//! ever. `RECENSION_WRITE_GOLDEN=1 cargo test -p recension-conformance-tests lean_stores` writes them anew.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use recension::disk::FsDisk;
use recension::engine::{Direction, NativeEngine, NativeOptions};
use recension::{Expect, IndexSpec, Key, Language, Query, Schema, Selector, Store, TextQuery};
use recension_lean::{FEATURES, KEY, copy, frozen, thawed};

fn open(folder: &Path, feature: &str, create: bool) -> Store {
    let key = (feature == "encryption").then(|| Key::parse(KEY).unwrap());
    let options = NativeOptions { create, key, segment_bytes: 8 << 10, ..NativeOptions::default() };
    Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(folder)), options).unwrap())).unwrap()
}

fn write(store: &Store, feature: &str) {
    let cities = store.collection("cities").unwrap();
    cities.put("a", r#"{"name":"Ávila"}"#).unwrap();
    match feature {
        "unicode-collation" => cities.create_index(IndexSpec::new("by-name", "name"), |_| {}).unwrap(),
        "words" => {
            cities.create_index(IndexSpec::words("words", ["name"], Language::Spanish), |_| {}).unwrap();
        }
        "schema" => {
            let schema = Schema::from_json(r#"{"properties":{"name":{"type":"string"}}}"#).unwrap();
            cities.settings().set_schema(Some(schema)).unwrap();
        }
        "attachments-compression" => {
            for (name, of_type, bytes) in
                [("notes.txt", "text/plain", "words, words"), ("dot.png", "image/png", "no picture")]
            {
                cities.attach("a", Expect::Anything, name, of_type, bytes.as_bytes()).unwrap();
            }
        }
        _ => {}
    }
}

#[test]
fn stores_that_need_a_feature_open_and_answer() {
    for feature in FEATURES {
        if std::env::var_os("RECENSION_WRITE_GOLDEN").is_some() {
            let folder = tempfile::tempdir().unwrap();
            write(&open(folder.path(), feature, true), feature);
            copy(folder.path(), &frozen(feature)).unwrap();
        }
        let folder = thawed(feature).unwrap();
        let store = open(folder.path(), feature, false);
        let cities = store.collection("cities").unwrap();
        assert!(cities.get("a").unwrap().unwrap().body.contains("Ávila"), "{feature}");
        match feature {
            "unicode-collation" => {
                cities.put("b", r#"{"name":"Braga"}"#).unwrap();
                let found = cities.find(&Query::new().sort("name", Direction::Forward)).unwrap();
                assert_eq!(found.map(|found| found.unwrap().id).collect::<Vec<_>>(), ["a", "b"]);
            }
            "words" => {
                let asked = TextQuery::new("ávila", Language::Spanish).unwrap();
                let asked = Query::new().selecting(Selector::contains_text("name", asked));
                assert_eq!(cities.find(&asked).unwrap().count(), 1);
            }
            "schema" => assert!(cities.put("b", r#"{"name":5}"#).is_err()),
            "attachments-compression" => {
                let mut text = String::new();
                cities.attachment("a", "notes.txt").unwrap().unwrap().read_to_string(&mut text).unwrap();
                assert_eq!(text, "words, words");
            }
            _ => assert!(recension::open(&folder.path().display().to_string()).is_err()),
        }
    }
}
