//! Rules of retention and compacting, as users type them.

use crate::common::Place;
use serde_json::Value;

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_rule_is_shown_set_and_kept_to_by_compacting() {
    let place = Place::new();
    for n in 1..=4 {
        place.ok(&["put", "menu", "pizza", &format!(r#"{{"price":{n}}}"#)]);
    }
    place.ok(&["put", "other", "a", "{}"]);
    let both = "{\"collection\":\"menu\",\"retention\":\"everything\"}\n{\"collection\":\"other\",\"retention\":\"everything\"}\n";
    assert_eq!(place.ok(&["retention"]), both);
    let set = place.ok(&["retention", "menu", "versions=2"]);
    assert_eq!(set, "{\"collection\":\"menu\",\"retention\":\"versions=2\"}\n");
    assert_eq!(place.ok(&["retention", "menu"]), set);
    assert!(place.ok(&["retention", "--table"]).contains("versions=2"));
    let compacted = value(&place.ok(&["compact", "menu"]));
    assert!(compacted["bytes_before"].as_u64() > Some(0) && compacted["bytes_after"].as_u64() > Some(0));
    assert_eq!(place.ok(&["history", "menu", "pizza"]).lines().count(), 2);
    assert!(place.ok(&["get", "menu", "pizza", "--at", "3"]).contains("\"price\":3"));
    let refused = place.fails(1, &["get", "menu", "pizza", "--at", "2"]);
    assert!(refused.contains("given up by retention") && refused.contains("backup"), "{refused}");
    assert!(place.ok(&["compact", "--table"]).contains(" on disk before, "));
    place.ok(&["retention", "menu", "everything"]);
    assert_eq!(place.ok(&["retention"]), both);
    let stats = value(&place.ok(&["stats"]));
    for name in ["live keys and values, at most", "past keys and values, at least", "reclaimable by settling, about"] {
        assert!(stats["details"][name].is_u64(), "{name}: {stats}");
    }
}

#[test]
fn what_is_no_rule_or_no_collection_is_refused() {
    let place = Place::new();
    place.ok(&["put", "menu", "pizza", "{}"]);
    for (code, args, message) in [
        (2, &["retention", "menu", "versions=0"][..], "expected everything, versions=N"),
        (2, &["retention", "menu", "12h"], "duration=12h"),
        (1, &["retention", "menue", "head"], "no collection menue"),
        (1, &["compact", "menue"], "no collection menue"),
    ] {
        let said = place.fails(code, args);
        assert!(said.contains(message), "{args:?}: {said}");
    }
    assert_eq!(place.ok(&["collections"]).lines().count(), 1, "a mistyped name makes no collection");
}
