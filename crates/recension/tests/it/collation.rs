//! The order of encoded values against a comparison function that is written the other way: on values, as
//! CouchDB's `couch_ejson_compare` does it.

use std::cmp::Ordering;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorPreferences};
use proptest::prelude::*;
use recension::Collation;
use recension::json::quote;

#[derive(Clone, Debug)]
enum V {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    Array(Vec<V>),
    Object(Vec<(String, V)>),
}

impl V {
    fn rank(&self) -> u8 {
        match self {
            V::Null => 0,
            V::Bool(_) => 1,
            V::Int(_) | V::Float(_) => 2,
            V::Text(_) => 3,
            V::Array(_) => 4,
            V::Object(_) => 5,
        }
    }

    fn json(&self) -> String {
        match self {
            V::Null => "null".to_owned(),
            V::Bool(value) => value.to_string(),
            V::Int(value) => value.to_string(),
            V::Float(value) => format!("{value:?}"),
            V::Text(text) => quote(text),
            V::Array(items) => format!("[{}]", items.iter().map(V::json).collect::<Vec<_>>().join(",")),
            V::Object(members) => {
                let members: Vec<String> = members.iter().map(|(k, v)| format!("{}:{}", quote(k), v.json())).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    fn key(&self, collation: Collation) -> Vec<u8> {
        collation.key(&self.json()).unwrap()
    }
}

fn compare_int_float(int: i128, float: f64) -> Ordering {
    // 2^127 is out of reach of i128; below it the whole part converts exactly.
    if float >= 1.7e38 {
        return Ordering::Less;
    }
    if float <= -1.7e38 {
        return Ordering::Greater;
    }
    let whole = float.floor();
    int.cmp(&(whole as i128)).then(if float > whole { Ordering::Less } else { Ordering::Equal })
}

fn compare_texts(collation: Collation, a: &str, b: &str) -> Ordering {
    let by_bytes = a.as_bytes().cmp(b.as_bytes());
    match collation {
        Collation::Binary | Collation::Raw => by_bytes,
        // ucol_open("") of ICU: the root, tertiary, and normalising as CouchDB has it switched on.
        Collation::Unicode => {
            let collator = Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).unwrap();
            collator.compare(a, b).then(by_bytes)
        }
    }
}

fn compare(collation: Collation, a: &V, b: &V) -> Ordering {
    let compare = |a, b| compare(collation, a, b);
    match (a, b) {
        (V::Bool(a), V::Bool(b)) => a.cmp(b),
        (V::Int(a), V::Int(b)) => a.cmp(b),
        (V::Float(a), V::Float(b)) => a.partial_cmp(b).unwrap(),
        (V::Int(a), V::Float(b)) => compare_int_float(*a, *b),
        (V::Float(a), V::Int(b)) => compare_int_float(*b, *a).reverse(),
        (V::Text(a), V::Text(b)) => compare_texts(collation, a, b),
        (V::Array(a), V::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (V::Object(a), V::Object(b)) => {
            let pairs =
                a.iter().zip(b).map(|(a, b)| compare_texts(collation, &a.0, &b.0).then_with(|| compare(&a.1, &b.1)));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        _ => a.rank().cmp(&b.rank()),
    }
}

fn number() -> impl Strategy<Value = V> {
    // Near powers of two, where doubles and integers meet and part.
    let near = (0_u32..126, -3_i128..4, any::<bool>()).prop_map(|(power, off, negative)| {
        let value = (1_i128 << power) + off;
        if negative { -value } else { value }
    });
    prop_oneof![
        near.clone().prop_map(V::Int),
        near.prop_map(|value| V::Float(value.to_string().parse().unwrap())),
        (-5_i128..5).prop_map(V::Int),
        (-10_i32..10).prop_map(|value| V::Float(f64::from(value) / 4.0)),
        any::<i64>().prop_map(|value| V::Int(value.into())),
        any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(V::Float),
    ]
}

fn value() -> impl Strategy<Value = V> {
    let text = prop_oneof!["[ab\u{0}\u{1}\u{ff}é]{0,4}", "[aAbBáÁeé\u{301} -]{0,4}", any::<String>()];
    let leaf = prop_oneof![
        1 => Just(V::Null),
        1 => any::<bool>().prop_map(V::Bool),
        4 => number(),
        2 => text.clone().prop_map(V::Text),
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(V::Array),
            prop::collection::vec((text.clone(), inner), 0..4).prop_map(V::Object),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]

    #[test]
    fn keys_are_ordered_as_their_values_are(a in value(), b in value()) {
        for collation in [Collation::Unicode, Collation::Binary] {
            let order = compare(collation, &a, &b);
            prop_assert_eq!(a.key(collation).cmp(&b.key(collation)), order, "{} {}", a.json(), b.json());
        }
    }

    #[test]
    fn keys_of_numbers_are_ordered_exactly(a in number(), b in number()) {
        for collation in [Collation::Unicode, Collation::Binary] {
            let order = compare(collation, &a, &b);
            prop_assert_eq!(a.key(collation).cmp(&b.key(collation)), order, "{} {}", a.json(), b.json());
        }
    }

    #[test]
    fn no_key_is_the_beginning_of_another(a in value(), b in value()) {
        for collation in [Collation::Unicode, Collation::Binary, Collation::Raw] {
            let (a, b) = (a.key(collation), b.key(collation));
            prop_assert!(a == b || !b.starts_with(&a));
        }
    }
}

#[test]
fn strings_are_in_the_order_of_couchdbs_documentation() {
    // From CouchDB's guide to views: case and accents come after letters, punctuation before them.
    let ordered = ["", " ", "_", "-", ",", "1", "2", "a", "A", "á", "aa", "b", "B", "ba", "bb", "é", "f"];
    let ordered: Vec<String> = ordered.iter().map(|text| quote(text)).collect();
    for pair in ordered.windows(2) {
        let key = |text: &str| Collation::Unicode.key(text).unwrap();
        assert!(key(&pair[0]) < key(&pair[1]), "{} {}", pair[0], pair[1]);
    }
}

#[test]
fn the_raw_collation_has_the_order_of_erlangs_terms() {
    let ordered = [
        "-1",
        "2",
        "2.5",
        "1e300",
        "false",
        "null",
        "true",
        "{}",
        r#"{"a":1}"#,
        r#"{"a":2}"#,
        r#"{"b":2}"#,
        r#"{"b":2,"a":1}"#,
        r#"{"b":2,"c":2}"#,
        "[]",
        "[9]",
        "[null]",
        "[{}]",
        "[[]]",
        r#"["a"]"#,
        r#"["b"]"#,
        r#"["b","c"]"#,
        r#"["b","d"]"#,
        r#""""#,
        r#""A""#,
        r#""B""#,
        r#""a""#,
        r#""aa""#,
        r#""b""#,
        r#""é""#,
    ];
    let key = |text: &str| Collation::Raw.key(text).unwrap();
    for pair in ordered.windows(2) {
        assert!(key(pair[0]) < key(pair[1]), "{} {}", pair[0], pair[1]);
    }
    for text in ordered {
        let mut again = String::new();
        assert_eq!(Collation::Raw.decode_value(&key(text), &mut again), Some(key(text).len()), "{text}");
        assert_eq!(key(&again), key(text), "{again}");
        assert_eq!(Collation::Raw.value_len(&key(text)), Some(key(text).len()), "{text}");
    }
}

#[test]
fn couchdbs_table_of_types_comes_out_in_order() {
    let ordered = [
        "null",
        "false",
        "true",
        "-1e300",
        "-1",
        "-0.5",
        "0",
        "5e-324",
        "1",
        "1.5",
        "2",
        "10",
        "1e300",
        r#""""#,
        r#"" ""#,
        r#""a""#,
        r#""a\u0000""#,
        r#""aa""#,
        r#""b""#,
        "[]",
        "[null]",
        r#"["a"]"#,
        r#"["b"]"#,
        r#"["b","c"]"#,
        r#"["b","c","a"]"#,
        r#"["b","d"]"#,
        "[[]]",
        "[{}]",
        "{}",
        r#"{"a":1}"#,
        r#"{"a":2}"#,
        r#"{"b":1}"#,
        r#"{"b":2}"#,
        r#"{"b":2,"a":1}"#,
        r#"{"b":2,"c":2}"#,
    ];
    let key = |text: &str| Collation::Unicode.key(text).unwrap();
    for pair in ordered.windows(2) {
        assert!(key(pair[0]) < key(pair[1]), "{} {}", pair[0], pair[1]);
        let binary = |text: &str| Collation::Binary.key(text).unwrap();
        assert!(binary(pair[0]) < binary(pair[1]), "{} {}", pair[0], pair[1]);
    }
    let huge = ["1".repeat(310), "1".repeat(400), format!("{}2", "1".repeat(399))];
    assert!(key(&huge[0]) > key("1.7976931348623157e308"));
    assert!(key(&huge[1]) > key(&huge[0]) && key(&huge[2]) > key(&huge[1]));
    assert!(key(&format!("-{}", huge[2])) < key(&format!("-{}", huge[1])));
    assert_eq!(key("-0"), key("0.0"));
    assert_eq!(key("100"), key("1e2"));
}

/// Short integers and strings without escapes have a way of their own to their keys.
#[test]
fn however_a_value_is_written_it_has_one_key_and_what_is_no_value_has_none() {
    for collation in [Collation::Binary, Collation::Raw, Collation::Unicode] {
        let key = |text: &str| collation.key(text).ok();
        for (plain, other) in [
            ("0", "-0"),
            ("7", "7.0"),
            ("999999999999999", "999999999999999e0"),
            ("9007199254740993", " 9007199254740993"),
            (r#""""#, r#" "" "#),
            (r#""a""#, r#""\u0061""#),
            (r#""zoë / tea""#, r#""zo\u00eb \/ tea""#),
        ] {
            assert!(key(plain).is_some() && key(plain) == key(other), "{plain} {other}");
        }
        for no_value in ["", "\"", "\"a", "a\"", "\"a\"b\"", "\"\\\"", "\"\t\"", "01", "00", "1a", "1 2", "-", "+1"] {
            assert_eq!(key(no_value), None, "{no_value:?}");
        }
    }
}
