//! The text that is written at once is the text that the parser makes of serde's.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::ser::{SerializeMap, SerializeSeq};
use serde_json::{Value, json, value::RawValue};

use super::*;
use recension_values::json::quote;
use recension_values::rev_hash::revision_id;

const OWN: [&str; 3] = ["id", "rev", "v"];

/// Writes a value, with and without a version, and compares it with the parser's text. Returns whether the parser was
/// not needed.
fn is_written_at_once(value: &impl Serialize) -> bool {
    let text = serde_json::to_string(value).unwrap();
    [None, Some(("v", 3))].map(|version| match write(value, &OWN, version).unwrap() {
        Written::Text(found) => {
            assert_eq!(found, text);
            false
        }
        Written::Object(found, hashable) => {
            let (mut expected, mut hashed) = HashableBody::beside_minifying(text.as_bytes(), &OWN).unwrap();
            if let Some((name, version)) = version {
                let comma = if expected.text == "{}" { "" } else { "," };
                expected.text.insert_str(1, &format!("{}:{version}{comma}", quote(name)));
                hashed = HashableBody::of(&expected.text);
            }
            assert_eq!(found, expected);
            let revision = |hashable| revision_id(None, false, hashable, &[]);
            assert_eq!(revision(&hashable), revision(&hashed.unwrap()), "{text}");
            true
        }
    }) == [true; 2]
}

/// Members, maybe with duplicates; `.1` is the number that is announced.
struct Members(Vec<(String, Value)>, Option<usize>);

impl Serialize for Members {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(self.1)?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn members(names: &[&str]) -> Members {
    Members(names.iter().map(|name| ((*name).to_owned(), json!(1))).collect(), None)
}

/// Elements whose number is not announced.
struct Elements(Vec<Value>);

impl Serialize for Elements {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut elements = serializer.serialize_seq(Some(0))?;
        for element in &self.0 {
            elements.serialize_element(element)?;
        }
        elements.end()
    }
}

struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

#[derive(Serialize)]
enum Choice {
    Unit,
    New(Vec<u8>),
    Tuple(i8, char),
    Struct { id: f32, rev: () },
}

#[test]
fn what_serde_can_say_is_written_at_once() {
    let of = |value: Value| assert!(is_written_at_once(&value), "{value}");
    for integer in [0, 1, 255, 256, -1, 1 << 31, -(1 << 31) - 1, i64::MAX, i64::MIN] {
        of(json!({ "a": integer, "b": [integer], "c": [1, integer, 2] }));
    }
    of(json!({ "a": u64::MAX, "b": [i64::MAX as u64 + 1] }));
    for fraction in [0.0, -0.0, 0.1, 1.0, 1e16, 1e300, f64::MIN_POSITIVE, 5e-324, 2.5e-310, f64::MAX] {
        of(json!({ "a": fraction, "b": [fraction, 1], "c": [1, fraction] }));
    }
    for length in [0, 1, 2, 65_535, 65_536] {
        of(json!({ "a": vec![7; length], "b": [vec![0; length]], "c": "x".repeat(length) }));
    }
    of(json!({ "a": [1, "b"], "c": [[1], 2], "d": [1, null], "e": [1, {}], "f": [true], "g": [[], {}] }));
    of(json!({ "a": "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\"\\/\u{7f}é\u{2028}😀", "b": { "é\n\"": "\"" } }));
    of(json!({ "a": { "id": 1, "_id": 2, "rev": { "_x": [] } }, "_replication_id": "x" }));
    for only in [json!({}), json!({ "id": 1 }), json!({ "id": 1, "rev": [{ "a": 1 }], "_x": "y\n" })] {
        of(only);
    }
    for order in [["id", "a", "rev"], ["a", "id", "rev"], ["id", "rev", "a"], ["a", "v", "_x"], ["_", "id", "b"]] {
        assert!(is_written_at_once(&members(&order)), "{order:?}");
    }
    // Of several members that are cut out, the last one counts; duplicates are allowed.
    assert!(is_written_at_once(&members(&["id", "_x", "a", "id", "b", "_x", "id"])));

    assert!(is_written_at_once(&BTreeMap::from([(-1, 2), (1, 3)])));
    assert!(is_written_at_once(&BTreeMap::from([(1_u128 << 100, i128::MIN), (7, 1)])));
    assert!(is_written_at_once(&Some(BTreeMap::from([(true, [0.1_f32])]))));
    assert!(is_written_at_once(&BTreeMap::from([('a', Bytes(vec![0, 1, 255])), ('b', Bytes(vec![]))])));
    assert!(is_written_at_once(&BTreeMap::from([("a", f32::MAX), ("b", f32::NAN), ("c", 1e-45)])));
    let choices = [Choice::Unit, Choice::New(vec![1, 2]), Choice::Tuple(-1, 'é'), Choice::Struct { id: 0.1, rev: () }];
    assert!(is_written_at_once(&BTreeMap::from([("a", &choices)])));
    assert!(choices.iter().skip(1).all(is_written_at_once));
}

#[test]
fn what_only_the_parser_can_judge_is_left_to_it() {
    let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
    assert!(!is_written_at_once(&BTreeMap::from([("a", raw(" [1 , 2]"))])));
    assert!(!is_written_at_once(&raw("{\"a\":1}")));
    for value in [json!([]), json!([{ "id": 1 }]), json!(1), json!("{"), json!(null), json!({ "id\n": 1 })] {
        assert!(!is_written_at_once(&value), "{value}");
    }
    let nested = |levels| (0..levels).fold(json!(1), |inside, _| json!({ "a": inside }));
    assert!(is_written_at_once(&nested(JSON_DEPTH_MAX)));
    assert!(matches!(write(&nested(JSON_DEPTH_MAX + 1), &OWN, None).unwrap(), Written::Text(_)));

    assert!(!is_written_at_once(&members(&["a", "b", "a"])));
    // The names of the inner object are learned. The outer object must not continue with them.
    let around = [("id", json!({ "": 1 })), ("", json!({ "a": 1 })), ("", json!(1))];
    let around = around.map(|(name, value)| (name.to_owned(), value)).to_vec();
    assert!(!is_written_at_once(&Members(around, None)));
    let many: Vec<String> = (0..40).map(|i| format!("name {i}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(is_written_at_once(&members(&many)));
    assert!(!is_written_at_once(&members(&[&many[..], &many[7..8]].concat())));
    // As serde_json writes them they are in the object or the array around them, or nowhere.
    let lying = || Members(vec![("b".to_owned(), json!({ "c": 1 })), ("d".to_owned(), json!([]))], Some(0));
    let text = serde_json::to_string(&lying()).unwrap();
    assert!(matches!(write(&lying(), &OWN, None).unwrap(), Written::Text(found) if found == text));
    for name in ["a", "id"] {
        assert!(!is_written_at_once(&BTreeMap::from([(name, lying())])));
        assert!(!is_written_at_once(&BTreeMap::from([(name, [Elements(vec![json!(1)])])])));
    }
    let text = serde_json::to_string(&BTreeMap::from([("a", [lying()])])).unwrap();
    assert!(HashableBody::beside_minifying(text.as_bytes(), &OWN).is_err());
    let written = write(&BTreeMap::from([("a", [lying()])]), &OWN, None).unwrap();
    assert!(matches!(written, Written::Text(found) if found == text));
}

/// A map of names and values as its text says: `k` a name, `v` a value.
struct Halves(&'static str);

impl Serialize for Halves {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (at, half) in self.0.chars().enumerate() {
            if half == 'k' { map.serialize_key(&format!("k{at}"))? } else { map.serialize_value(&at)? }
        }
        map.end()
    }
}

#[test]
fn names_without_values_and_values_without_names_are_left_to_the_parser_which_refuses_them() {
    for halves in ["kkv", "kvv", "k", "v", "kvk", "vk", "vkv"] {
        let inside = BTreeMap::from([("a", Halves(halves))]);
        let texts = [serde_json::to_string(&Halves(halves)).unwrap(), serde_json::to_string(&inside).unwrap()];
        let written = [write(&Halves(halves), &OWN, None).unwrap(), write(&inside, &OWN, None).unwrap()];
        for (text, written) in texts.into_iter().zip(written) {
            assert!(matches!(written, Written::Text(found) if found == text), "{text}");
            assert!(HashableBody::beside_minifying(text.as_bytes(), &OWN).is_err(), "{text}");
        }
    }
    assert!(is_written_at_once(&Halves("kvkv")));
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,2}", "id|rev|v|_id|_x|_replication_id", "\\PC{0,9}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..300).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-z\"\\\\\n\u{1}é]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..6).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_written_as_the_parser_makes_it_of_its_text(
        members in prop::collection::vec((name(), value()), 0..6),
    ) {
        is_written_at_once(&Value::Object(members.clone().into_iter().collect()));
        is_written_at_once(&Members(members, None));
    }

    #[test]
    fn members_that_come_twice_are_found_whatever_the_objects_around(
        objects in prop::collection::vec(prop::collection::vec("[ab]{0,2}", 0..5), 1..9),
    ) {
        let twice = objects.iter().any(|names| (1..names.len()).any(|at| names[..at].contains(&names[at])));
        let all: Vec<Members> =
            objects.iter().map(|names| members(&names.iter().map(String::as_str).collect::<Vec<_>>())).collect();
        prop_assert_eq!(is_written_at_once(&BTreeMap::from([("a", &all)])), !twice);
    }
}
