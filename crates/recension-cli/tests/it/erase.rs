//! Erasing documents and reading the past of dropped collections, as users type it.

use crate::common::Place;
use serde_json::Value;

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn an_erased_document_is_at_no_moment_and_its_bytes_go_with_settling() {
    let place = Place::new();
    place.ok(&["put", "people", "ada", r#"{"name":"Lovelace-7f3a9c1e"}"#]);
    place.ok(&["put", "people", "bob", r#"{"name":"Bob"}"#]);
    place.ok(&["put", "people", "ada", r#"{"name":"Lovelace-7f3a9c1e","born":1815}"#]);
    place.ok(&["purge", "people", "ada", "--yes"]);
    assert!(place.ok(&["get", "people", "ada", "--at", "1"]).contains("Lovelace"), "a purge leaves the past");
    let erased = value(&place.ok(&["erase", "people", "ada", "nobody", "--yes", "--settle"]));
    assert_eq!((&erased["erased"], &erased["settled"]), (&Value::from(1), &Value::from(true)));
    for args in [&["get", "people", "ada"][..], &["get", "people", "ada", "--at", "1"]] {
        assert!(place.fails(1, args).contains("no document"), "{args:?}");
    }
    assert_eq!(place.ok(&["find", "people", "--at", "3"]).lines().count(), 1);
    assert!(place.ok(&["get", "people", "bob", "--at", "2"]).contains("Bob"));
    let listed = place.ok(&["erase", "people", "--list"]);
    assert_eq!((listed.lines().count(), &value(&listed)["documents"]), (1, &Value::from(1)), "{listed}");
    assert!(place.fails(1, &["erase", "nope", "x", "--yes"]).contains("no collection nope"));
    let again = place.run(&["erase", "people", "adda", "--yes"]);
    assert_eq!((again.code, &value(&again.out)["erased"]), (0, &Value::from(0)));
    assert!(again.err.contains("people has no document \"adda\" at any moment"), "{again:?}");
    place.fails(2, &["erase", "people"]);
}

#[test]
fn a_collection_has_no_past_before_it_was_made_and_dropped_ones_are_read_by_their_numbers() {
    let place = Place::new();
    place.ok(&["put", "people", "ada", r#"{"of":"the first"}"#]);
    assert!(place.ok(&["collections", "--dropped"]).is_empty());
    let store = place.path().join("recension.store");
    assert!(recension::open(store.to_str().unwrap()).unwrap().drop_collection("people").unwrap());
    place.ok(&["put", "people", "bob", r#"{"of":"the second"}"#]);
    for args in [
        &["get", "people", "ada", "--at", "1"][..],
        &["find", "people", "--at", "1"],
        &["export", "people", "--at", "1"],
        &["history", "people", "ada", "--at", "1"],
        &["explain", "people", "--at", "1"],
    ] {
        let said = place.fails(1, args);
        assert!(said.contains("was made by commit 3") && said.contains("collections --dropped"), "{args:?}: {said}");
    }
    assert!(place.fails(1, &["history", "people", "ada"]).contains("no document"));
    let dropped = value(&place.ok(&["collections", "--dropped"]));
    let name = dropped["collection"].as_str().unwrap_or_else(|| panic!("{dropped}"));
    assert_eq!(
        (name.split('#').next(), &dropped["made_in"], &dropped["dropped_in"]),
        (Some("people"), &1.into(), &2.into())
    );
    for at in [&[][..], &["--at", "1"]] {
        for command in [&["get", name, "ada"][..], &["find", name], &["export", name], &["history", name, "ada"]] {
            let args = [command, at].concat();
            assert!(!place.ok(&args).is_empty(), "{args:?}");
        }
    }
    assert!(place.ok(&["get", name, "ada"]).contains("the first"));
    assert!(place.fails(1, &["get", name, "ada", "--at", "3"]).contains("was there from"), "not at that moment");
    assert!(place.fails(1, &["get", "people#99", "ada"]).contains("no collection people#99 was dropped"));
    assert!(place.fails(2, &["get", "people#x", "ada"]).contains("a number"));
    assert!(place.fails(1, &["get", "other#1", "ada"]).contains("no collection other#1"));
}
