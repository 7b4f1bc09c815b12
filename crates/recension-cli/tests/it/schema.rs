//! `recension schema` and `recension drop`.

use crate::common::Place;

const SCHEMA: &str = r#"{"required":["name"],"properties":{"name":{"type":"string"},"n":{"maximum":5}}}"#;

#[test]
fn a_schema_is_set_after_what_is_there_was_tested_and_refuses_what_does_not_fit() {
    let place = Place::new();
    place.file("s.json", SCHEMA);
    place.ok(&["put", "menu", "a", r#"{"name":"soup"}"#]);
    place.ok(&["put", "menu", "b", r#"{"name":"rice","n":7}"#]);
    place.fails(1, &["schema", "show", "menu"]);
    let ended = place.run(&["schema", "set", "menu", "s.json", "--check"]);
    assert_eq!(ended.code, 5);
    let row: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!((row["document"].as_str(), row["at"].as_str()), (Some("b"), Some("/n")));
    assert!(ended.err.contains("1 document of menu do not fit") || ended.err.contains("1 document"), "{}", ended.err);
    assert_eq!(place.run(&["schema", "set", "menu", "s.json"]).code, 5);
    place.fails(1, &["schema", "show", "menu"]);
    place.ok(&["put", "menu", "b", r#"{"name":"rice","n":3}"#]);
    place.ok_with(&["schema", "set", "menu"], SCHEMA.as_bytes());
    assert_eq!(place.ok(&["schema", "show", "menu"]).trim(), SCHEMA);
    let refused = place.fails(5, &["put", "menu", "c", r#"{"name":7}"#]);
    assert!(refused.contains("at /name: 7 is not of type"), "{refused}");
    let refused = place.fails_with(5, &["import", "menu", "-"], b"{\"n\":1}\n");
    assert!(refused.contains("does not fit the schema"), "{refused}");
    place.ok(&["schema", "remove", "menu"]);
    place.ok(&["put", "menu", "c", r#"{"name":7}"#]);
    place.fails(1, &["schema", "remove", "menu"]);
    assert_eq!(place.ok(&["schema", "show", "menu", "--history"]).lines().count(), 2);
    assert_eq!(place.run(&["schema", "set", "menu", "s.json"]).code, 5);
    place.ok(&["schema", "set", "menu", "s.json", "--force"]);
    let unread = place.fails_with(5, &["schema", "set", "menu"], br#"{"$ref":"https://example.com/x"}"#);
    assert!(unread.contains("references begin with #"), "{unread}");
}

#[test]
fn a_collection_is_dropped_by_who_says_yes_and_its_past_is_read() {
    let place = Place::new();
    place.ok(&["put", "menu", "a", "{}"]);
    place.ok(&["index", "create", "menu", "n"]);
    let asked = place.fails(2, &["drop", "menu"]);
    assert!(asked.contains("--yes"), "{asked}");
    place.ok(&["get", "menu", "a"]);
    place.ok(&["drop", "menu", "--yes"]);
    place.fails(1, &["get", "menu", "a"]);
    place.fails(1, &["drop", "menu", "--yes"]);
    let dropped = place.ok(&["collections", "--dropped"]);
    let number = serde_json::from_str::<serde_json::Value>(dropped.lines().next().unwrap()).unwrap();
    place.ok(&["get", number["collection"].as_str().unwrap(), "a"]);
}
