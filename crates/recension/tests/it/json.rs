//! The JSON layer against serde_json, on good, broken and hostile texts.

use proptest::prelude::*;
use recension::json::{JsonProblem, minify, quote};
use recension::{At, Path, RevId};
use serde_json::Value;

fn any_json() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|f| if f.is_finite() { Value::from(f) } else { Value::Null }),
    ];
    let text = prop_oneof![any::<String>(), "[a-c]{0,2}", "[\"\\\\/\n\u{1}\u{7f}é😀]{0,6}"];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number, text.prop_map(Value::from)];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-d]{0,2}|\\PC{0,4}", inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// What serde_json says of a text; `None` where it refuses only the size of a number.
fn oracle(bytes: &[u8]) -> Option<Result<Value, String>> {
    match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => Some(Ok(value)),
        Err(error) if error.to_string().contains("number out of range") => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

fn check(bytes: &[u8]) {
    let ours = minify(bytes);
    match oracle(bytes) {
        Some(Ok(value)) => {
            let text = ours.unwrap_or_else(|error| panic!("{}: {error}", bytes.escape_ascii()));
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value, "{}", bytes.escape_ascii());
            assert_eq!(minify(text.as_bytes()).unwrap(), text, "minified twice");
        }
        Some(Err(error)) => assert!(ours.is_err(), "{} is refused by the oracle: {error}", bytes.escape_ascii()),
        None => {}
    }
    if let Err(error) = minify(bytes) {
        assert!(error.offset <= bytes.len() && error.line >= 1 && error.column >= 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_json_text_keeps_its_meaning_when_it_is_minified(value in any_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        check(text.as_bytes());
    }

    #[test]
    fn a_broken_text_is_refused_exactly_where_the_oracle_refuses_it(
        value in any_json(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..4, prop::sample::select(
            b" \n\t{}[]:,\"\\/bfnrtu0123456789.-+eE\x00\x1f\x7f\x80\xc3\xed\xff'aDd8Cc".to_vec())), 1..4),
    ) {
        let mut bytes = serde_json::to_vec(&value).unwrap();
        for (at, kind, byte) in edits {
            if bytes.is_empty() { break; }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        check(&bytes);
    }

    #[test]
    fn a_quoted_string_reads_back(text in any::<String>()) {
        prop_assert_eq!(serde_json::from_str::<String>(&quote(&text)).unwrap(), text.clone());
        check(quote(&text).as_bytes());
    }

    #[test]
    fn a_path_finds_what_a_tree_of_values_finds(value in any_json(), names in prop::collection::vec("[a-d]{1,2}|[0-3]", 1..4)) {
        let text = minify(&serde_json::to_vec(&value).unwrap()).unwrap();
        let found = Path::from_segments(names.clone()).unwrap().find(&text).map(|text| serde_json::from_str::<Value>(text).unwrap());
        let mut expected = Some(&value);
        for name in &names {
            expected = expected.and_then(|value| match value {
                Value::Array(items) => items.get(name.parse::<usize>().ok()?),
                Value::Object(members) => members.get(name),
                _ => None,
            });
        }
        // Both are read from text: serde_json's reading of doubles is off by a bit here and there.
        let expected = expected.map(|value| serde_json::from_slice::<Value>(&serde_json::to_vec(value).unwrap()).unwrap());
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn arguments_are_read_or_refused_and_read_back_what_they_print(text in prop_oneof![
        any::<String>(), "[a-c0-9.\\[\\]\\\\]{0,8}", "[0-9TtZz:+. -]{0,25}", "(seq:)?[0-9]{0,22}[smhdw]?( ago)?",
        "20[0-9]{2}-[01][0-9]-[0-3][0-9]([Tt ][0-2][0-9]:[0-5][0-9](:[0-6][0-9])?(Z|[+-][01][0-9]:[0-5][0-9])?)?",
    ]) {
        if let Ok(path) = text.parse::<Path>() {
            prop_assert_eq!(path.to_string().parse::<Path>().unwrap(), path);
        }
        if let Ok(at) = text.parse::<At>() {
            prop_assert_eq!(at.to_string().parse::<At>().unwrap(), at);
        }
        if let Ok(rev) = text.parse::<RevId>() {
            prop_assert_eq!(rev.to_string().parse::<RevId>().unwrap(), rev);
        }
    }

    #[test]
    fn no_bytes_make_the_parser_panic(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        check(&bytes);
    }
}

#[test]
fn texts_that_are_not_json_are_refused_and_the_place_is_named() {
    let cases: [(&[u8], usize, usize, usize); 24] = [
        (b"", 0, 1, 1),
        (b" ", 1, 1, 2),
        (b"{", 1, 1, 2),
        (b"[1,]", 3, 1, 4),
        (b"{\"a\":1,}", 7, 1, 8),
        (b"[1 2]", 3, 1, 4),
        (b"{\"a\" 1}", 5, 1, 6),
        (b"{a:1}", 1, 1, 2),
        (b"{'a':1}", 1, 1, 2),
        (b"[01]", 2, 1, 3),
        (b"[1.]", 3, 1, 4),
        (b"[.5]", 1, 1, 2),
        (b"[1e]", 3, 1, 4),
        (b"[+1]", 1, 1, 2),
        (b"[-]", 2, 1, 3),
        (b"[NaN]", 1, 1, 2),
        (b"[tru]", 1, 1, 2),
        (b"\"\\x\"", 1, 1, 2),
        (b"\"\\u12G4\"", 5, 1, 6),
        (b"\"\\ud800\"", 1, 1, 2),
        (b"\"\\udc00\\ud800\"", 1, 1, 2),
        (b"{}\n{}", 3, 2, 1),
        ("[\"é\",\n \"é\u{1}\"]".as_bytes(), 11, 2, 4),
        (b"\xef\xbb\xbf{}", 0, 1, 1),
    ];
    for (bytes, offset, line, column) in cases {
        let error = minify(bytes).unwrap_err();
        assert_eq!(
            (error.offset, error.line, error.column),
            (offset, line, column),
            "{}: {error}",
            bytes.escape_ascii()
        );
    }
}

#[test]
fn invalid_utf8_is_refused() {
    for bytes in [&b"\"\xff\""[..], b"\"\xc3\"", b"\"\xed\xa0\x80\"", b"\"\xc0\xaf\"", b"\"\xf4\x90\x80\x80\""] {
        assert_eq!(minify(bytes).unwrap_err().problem, JsonProblem::NotUtf8, "{}", bytes.escape_ascii());
    }
}

#[test]
fn depth_is_bounded_and_the_deepest_text_is_read() {
    let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    assert!(minify(&nested(512)).is_ok());
    assert_eq!(minify(&nested(513)).unwrap_err().problem, JsonProblem::TooDeep(512));
    assert_eq!(minify(&b"[".repeat(1_000_000)).unwrap_err().problem, JsonProblem::TooDeep(512));
    let objects = "{\"a\":".repeat(1_000_000);
    assert_eq!(minify(objects.as_bytes()).unwrap_err().problem, JsonProblem::TooDeep(512));
}

#[test]
fn of_members_with_one_name_the_last_stays_at_its_own_place() {
    for (text, expected) in [
        (r#"{"a":1,"b":2,"a":3}"#, r#"{"b":2,"a":3}"#),
        (r#"{"a":1,"\u0061":[{"x":1,"x":{"y":1,"y":2}}],"c":0}"#, r#"{"\u0061":[{"x":{"y":2}}],"c":0}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"[{"":1,"":2},{"":3}]"#, r#"[{"":2},{"":3}]"#),
    ] {
        assert_eq!(minify(text.as_bytes()).unwrap(), expected);
    }
    let many: Vec<String> = (0..5000).map(|i| format!("\"k{}\":{i}", i % 2500)).collect();
    let expected: Vec<String> = (2500..5000).map(|i| format!("\"k{}\":{i}", i - 2500)).collect();
    assert_eq!(minify(format!("{{{}}}", many.join(",")).as_bytes()).unwrap(), format!("{{{}}}", expected.join(",")));
}

#[test]
fn numbers_and_strings_keep_their_text() {
    let text = r#"{"a":1.0,"b":-0,"c":1E+2,"d":12345678901234567890123,"e":"\u00e9\/","f":"é/"}"#;
    assert_eq!(minify(text.as_bytes()).unwrap(), text);
}
