//! This reader gives the same values as `serde_json` with exact numbers.

use std::collections::BTreeMap;
use std::fmt::Debug;

use proptest::prelude::*;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;

fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    T::deserialize(&mut Body::of(text))
}

/// Checks that both read the same value, or neither reads one.
fn alike<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> Option<T> {
    let (found, expected) = (read::<T>(text), serde_json::from_str::<T>(text));
    match (&found, &expected) {
        (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
        (Err(_), Err(_)) => {}
        _ => panic!("{text}: {found:?}, {expected:?}"),
    }
    found.ok()
}

#[derive(Deserialize, PartialEq, Debug)]
enum Choice {
    Unit,
    New(Vec<u8>),
    Tuple(i8, char),
    Struct { id: f32, rev: () },
}

#[derive(Deserialize, PartialEq, Debug)]
struct Wrapped(Option<Choice>);

#[derive(Deserialize, PartialEq, Debug)]
struct All {
    a: Option<i32>,
    #[serde(default)]
    b: Vec<Wrapped>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: u8,
    b: (i64, String),
}

#[derive(Deserialize, PartialEq, Debug)]
struct Last {
    h: BTreeMap<String, u8>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(untagged)]
enum Untagged {
    Number(f64),
    Text(String),
    Both { a: u64, b: Box<Untagged> },
}

#[test]
fn numbers_are_as_exact_as_their_types() {
    for text in [
        "0",
        "-0",
        "-0.0",
        "1",
        "-1",
        "255",
        "256",
        "-129",
        "65535",
        "2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "340282366920938463463374607431768211455",
        "1e2",
        "1.0",
        "0.1",
        "5e-324",
        "2.5e-310",
        "1.7976931348623157e308",
        "8.41e21",
        "9007199254740993",
        "16777217",
        "7.038531e-26",
        "3.4028236e38",
        "1.2345678901234567890123",
        "3.92571e-310",
        "\"1\"",
        "null",
        "true",
    ] {
        alike::<u8>(text);
        alike::<i16>(text);
        alike::<i64>(text);
        alike::<u64>(text);
        alike::<i128>(text);
        alike::<u128>(text);
        alike::<f32>(text);
        alike::<Option<f64>>(text);
        alike::<Value>(text);
        alike::<Untagged>(text);
        if let Some(double) = alike::<f64>(text) {
            assert_eq!(double.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }
}

#[test]
fn what_types_ask_for_is_read_and_what_does_not_fit_is_refused() {
    for text in [
        "{}",
        "[]",
        "null",
        "\"\"",
        "\"é\\n\"",
        "{\"a\":1}",
        "{\"a\":null,\"b\":[null,\"Unit\"],\"c\":[{}]}",
        "{\"a\":1,\"b\":[1,\"x\"]}",
        "{\"a\":1,\"b\":[1,\"x\",2]}",
        "{\"a\":1,\"b\":[1]}",
        "{\"a\":1,\"b\":[1,\"x\"],\"c\":2}",
        "[1,[2,\"x\"]]",
        "{\"a\":\"1\"}",
        "{\"a\":7,\"b\":{\"a\":8,\"b\":\"\\u00e9\"}}",
        "{\"b\":[{\"New\":[1,2]},{\"Tuple\":[-1,\"é\"]},{\"Struct\":{\"id\":0.1,\"rev\":null}},{\"Unit\":null}]}",
        "{\"b\":[{\"New\":[256]}]}",
        "{\"b\":[{\"New\":[1],\"Unit\":null}]}",
        "{\"b\":[{}]}",
        "{\"b\":[\"None\"]}",
        "{\"b\":[7]}",
    ] {
        alike::<Value>(text);
        alike::<All>(text);
        alike::<Strict>(text);
        alike::<Untagged>(text);
        alike::<Vec<Value>>(text);
        alike::<String>(text);
        alike::<char>(text);
        alike::<()>(text);
        alike::<Option<bool>>(text);
        alike::<BTreeMap<String, Value>>(text);
    }
    assert!(alike::<All>("{\"b\":[null,{\"Tuple\":[-1,\"é\"]}]}").is_some());
}

#[test]
fn names_of_members_are_numbers_truths_and_variants_if_the_type_asks_for_them() {
    alike::<BTreeMap<i8, u8>>("{\"-1\":2,\"7\":3}").unwrap();
    alike::<BTreeMap<u128, u8>>("{\"340282366920938463463374607431768211455\":3}").unwrap();
    alike::<BTreeMap<bool, u8>>("{\"true\":1,\"false\":2}").unwrap();
    alike::<BTreeMap<char, u8>>("{\"\\u00e9\":1}").unwrap();
    alike::<BTreeMap<Option<String>, u8>>("{\"a\":1}").unwrap();
    assert_eq!(alike::<BTreeMap<i8, u8>>("{\"x\":2}"), None);
    assert_eq!(alike::<BTreeMap<bool, u8>>("{\"1\":2}"), None);
}

#[test]
fn raw_values_and_what_is_ignored_are_passed_over_whole() {
    let text = "{\"a\":[1,{\"b\":\"x\\ny\"}],\"c\":-1.50,\"d\":\"e\",\"f\":true,\"g\":null,\"h\":{}}";
    let raw = read::<BTreeMap<String, Box<RawValue>>>(text).unwrap();
    let raw: Vec<&str> = raw.values().map(|value| value.get()).collect();
    assert_eq!(raw, ["[1,{\"b\":\"x\\ny\"}]", "-1.50", "\"e\"", "true", "null", "{}"]);
    assert_eq!(alike::<Last>(text), Some(Last { h: BTreeMap::new() }));
}

#[test]
fn what_is_nested_too_deep_is_an_error_and_what_is_passed_over_may_be() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    alike::<Value>(&nested(127)).unwrap();
    assert!(read::<Value>(&nested(DEPTH_MAX + 1)).is_err());
    read::<IgnoredAny>(&nested(512)).unwrap();
}

#[test]
fn an_error_says_where() {
    let message = read::<Strict>("{\"a\":1,\"b\":[2,3]}").unwrap_err().to_string();
    assert_eq!(message, "invalid type: integer `3`, expected a string at line 1 column 15");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z\"\\\\\n\u{1}é]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[ab]{0,2}", inner), 0..6).prop_map(|all| Value::Object(all.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_read_as_it_was_written(value in value()) {
        prop_assert_eq!(alike::<Value>(&value.to_string()), Some(value));
    }

    #[test]
    fn any_double_comes_back_bit_by_bit(bits in any::<u64>()) {
        let double = f64::from_bits(bits);
        if double.is_finite() {
            let text = serde_json::to_string(&double).unwrap();
            prop_assert_eq!(read::<f64>(&text).unwrap().to_bits(), bits);
        }
    }
}
