//! Patches, merge patches and differences: the examples of their RFCs, and what must hold of any texts.

use proptest::prelude::*;
use recension::Error;
use recension::json::{JsonPatch, Operation, PatchProblem, Pointer, diff, merge_patch, minify};
use recension::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX};
use serde_json::{Value, json};

/// Section, document, patch; the result, or a part of the message.
type PatchExample = (&'static str, &'static str, &'static str, Result<&'static str, &'static str>);

/// RFC 6902, appendix A.
const RFC_6902: [PatchExample; 16] = [
    ("A.1", r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz","value":"qux"}]"#, Ok(r#"{"baz":"qux","foo":"bar"}"#)),
    (
        "A.2",
        r#"{"foo":["bar","baz"]}"#,
        r#"[{"op":"add","path":"/foo/1","value":"qux"}]"#,
        Ok(r#"{"foo":["bar","qux","baz"]}"#),
    ),
    ("A.3", r#"{"baz":"qux","foo":"bar"}"#, r#"[{"op":"remove","path":"/baz"}]"#, Ok(r#"{"foo":"bar"}"#)),
    ("A.4", r#"{"foo":["bar","qux","baz"]}"#, r#"[{"op":"remove","path":"/foo/1"}]"#, Ok(r#"{"foo":["bar","baz"]}"#)),
    (
        "A.5",
        r#"{"baz":"qux","foo":"bar"}"#,
        r#"[{"op":"replace","path":"/baz","value":"boo"}]"#,
        Ok(r#"{"baz":"boo","foo":"bar"}"#),
    ),
    (
        "A.6",
        r#"{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}"#,
        r#"[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]"#,
        Ok(r#"{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"#),
    ),
    (
        "A.7",
        r#"{"foo":["all","grass","cows","eat"]}"#,
        r#"[{"op":"move","from":"/foo/1","path":"/foo/3"}]"#,
        Ok(r#"{"foo":["all","cows","eat","grass"]}"#),
    ),
    (
        "A.8",
        r#"{"baz":"qux","foo":["a",2,"c"]}"#,
        r#"[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]"#,
        Ok(r#"{"baz":"qux","foo":["a",2,"c"]}"#),
    ),
    (
        "A.9",
        r#"{"baz":"qux"}"#,
        r#"[{"op":"test","path":"/baz","value":"bar"}]"#,
        Err(r#"operation 0 (test) of the JSON patch, at "/baz": the value there is "qux", and another was expected"#),
    ),
    (
        "A.10",
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/child","value":{"grandchild":{}}}]"#,
        Ok(r#"{"foo":"bar","child":{"grandchild":{}}}"#),
    ),
    (
        "A.11",
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz","value":"qux","xyz":123}]"#,
        Ok(r#"{"foo":"bar","baz":"qux"}"#),
    ),
    (
        "A.12",
        r#"{"foo":"bar"}"#,
        r#"[{"op":"add","path":"/baz/bat","value":"qux"}]"#,
        Err(r#"operation 0 (add) of the JSON patch, at "/baz/bat": there is no array or object"#),
    ),
    ("A.13", r#"{"foo":"bar"}"#, r#"[{"op":"add","path":"/baz","value":"qux","op":"remove"}]"#, Err("a member twice")),
    ("A.14", r#"{"/":9,"~1":10}"#, r#"[{"op":"test","path":"/~01","value":10}]"#, Ok(r#"{"/":9,"~1":10}"#)),
    (
        "A.15",
        r#"{"/":9,"~1":10}"#,
        r#"[{"op":"test","path":"/~01","value":"10"}]"#,
        Err("the value there is 10, and another was expected"),
    ),
    (
        "A.16",
        r#"{"foo":["bar"]}"#,
        r#"[{"op":"add","path":"/foo/-","value":["abc","def"]}]"#,
        Ok(r#"{"foo":["bar",["abc","def"]]}"#),
    ),
];

#[test]
fn the_examples_of_rfc_6902() {
    for (section, document, patch, expected) in RFC_6902 {
        match (JsonPatch::from_json(patch).and_then(|patch| patch.apply(document)), expected) {
            (Ok(text), Ok(expected)) => assert_eq!(parsed(&text), parsed(expected), "{section}"),
            (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{section}: {error}"),
            (answer, expected) => panic!("{section}: {answer:?}, and {expected:?} was expected"),
        }
    }
}

/// RFC 7396, appendix A: target, patch, result.
#[test]
fn the_examples_of_rfc_7396() {
    for (target, patch, expected) in [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, r"{}"),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
        (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, "null", "null"),
        (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
        ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
    ] {
        assert_eq!(merge_patch(target, patch).unwrap(), expected, "{target} with {patch}");
    }
}

/// What is stored stays as it was written: numbers of any size, escapes, the order of members.
#[test]
fn what_is_not_changed_keeps_its_text() {
    let text = r#"{"price":1.0,"big":123456789012345678901234567890,"e":1E+2,"s":"\u0065\/","z":{"b":1.50,"a":[1.0]}}"#;
    let patch = r#"[{"op":"add","path":"/z/a/-","value":2.00},{"op":"remove","path":"/e"},
        {"op":"copy","from":"/z/b","path":"/new"}]"#;
    assert_eq!(
        JsonPatch::from_json(patch).unwrap().apply(text).unwrap(),
        r#"{"price":1.0,"big":123456789012345678901234567890,"s":"\u0065\/","z":{"b":1.50,"a":[1.0,2.00]},"new":1.50}"#
    );
    assert_eq!(
        merge_patch(text, r#"{"e":null,"z":{"\u0061":null},"s2":"\n"}"#).unwrap(),
        r#"{"price":1.0,"big":123456789012345678901234567890,"s":"\u0065\/","z":{"b":1.50},"s2":"\n"}"#
    );
}

#[test]
fn an_operation_that_cannot_be_carried_out_is_named_and_nothing_is_changed() {
    let document = r#"{"a":{"b":[1,2]},"c":"text"}"#;
    for (patch, part) in [
        (r#"[{"op":"remove","path":"/x"}]"#, "operation 0 (remove) of the JSON patch, at \"/x\": there is no value"),
        (r#"[{"op":"add","path":"/x","value":1},{"op":"replace","path":"/a/y","value":1}]"#, "operation 1 (replace)"),
        (r#"[{"op":"move","from":"/nowhere","path":"/x"}]"#, "at \"/nowhere\": there is no value"),
        (r#"[{"op":"move","from":"/a","path":"/a/b/0"}]"#, "into itself"),
        (r#"[{"op":"remove","path":""}]"#, "the whole document cannot be removed"),
        (r#"[{"op":"add","path":"/a/b/3","value":1}]"#, "the array has 2 elements"),
        (r#"[{"op":"add","path":"/a/b/01","value":1}]"#, "without leading zeros"),
        (r#"[{"op":"remove","path":"/a/b/-"}]"#, "the array has 2 elements"),
        (r#"[{"op":"remove","path":"/a/b/+1"}]"#, "the array has 2 elements"),
        (r#"[{"op":"add","path":"/c/0","value":1}]"#, "no array or object"),
        (r#"[{"op":"test","path":"/a/b","value":[2,1]}]"#, "the value there is [1,2]"),
        (r#"{"op":"test"}"#, "an array of operations"),
        ("[1]", "an operation is an object"),
        (r#"[{"path":""}]"#, "operation 0 of the JSON patch: it has no op"),
        (r#"[{"op":"add","path":"/x"}]"#, "it has no value"),
        (r#"[{"op":"copy","path":"/x"}]"#, "it has no from"),
        (r#"[{"op":"add","value":1}]"#, "it has no path"),
        (r#"[{"op":"spam","path":""}]"#, "its op is none of"),
        (r#"[{"op":"remove","path":"x"}]"#, "begins with a slash"),
        (r#"[{"op":"remove","path":"/~2"}]"#, "behind a tilde"),
        ("[", "line 1, column 2"),
    ] {
        let error = JsonPatch::from_json(patch).and_then(|patch| patch.apply(document)).unwrap_err();
        assert!(error.to_string().contains(part), "{patch}: {error}");
    }
}

#[test]
fn a_test_compares_values_and_not_texts() {
    for (document, value, same) in [
        ("1", "1.0", true),
        ("100", "1e2", true),
        (r#"{"a":1,"b":[]}"#, r#"{"b":[],"a":1e0}"#, true),
        (r#""e""#, r#""\u0065""#, true),
        ("12345678901234567890", "12345678901234567891", false),
        ("null", "false", false),
    ] {
        let patch = format!(r#"[{{"op":"test","path":"","value":{value}}}]"#);
        assert_eq!(JsonPatch::from_json(patch).unwrap().apply(document).is_ok(), same, "{document} and {value}");
    }
}

#[test]
fn patches_do_not_grow_beyond_their_bounds() {
    let problem = |error: Error| match error {
        Error::Patch(error) => error.problem,
        other => panic!("{other}"),
    };
    // Copies of copies: each operation doubles the text.
    let doubling = (0..40).map(|i| format!(r#"{{"op":"copy","from":"","path":"/x{i}"}}"#)).collect::<Vec<_>>();
    let patch = JsonPatch::from_json(format!("[{}]", doubling.join(","))).unwrap();
    assert_eq!(problem(patch.apply(r#"{"x":"abc"}"#).unwrap_err()), PatchProblem::TooLong { max: JSON_BYTES_MAX });
    // Each copy puts the whole into itself.
    let deeper = r#"{"op":"copy","from":"","path":"/x"}"#;
    let patch = JsonPatch::from_json(format!("[{}]", [deeper; 12].join(","))).unwrap();
    assert!(patch.apply(r#"{"x":1}"#).is_ok(), "twelve levels");
    let nested = format!("{}{}", "[".repeat(JSON_DEPTH_MAX - 1), "]".repeat(JSON_DEPTH_MAX - 1));
    let patch = JsonPatch::from_json(r#"[{"op":"copy","from":"/a","path":"/b/c"}]"#).unwrap();
    let error = patch.apply(format!(r#"{{"a":{nested},"b":{{}}}}"#)).unwrap_err();
    assert_eq!(problem(error), PatchProblem::TooDeep { max: JSON_DEPTH_MAX });
    let many = vec![Operation::Remove { path: Pointer::root() }; 10_001];
    assert!(matches!(problem(JsonPatch::new(many).apply("{}").unwrap_err()), PatchProblem::TooManyOperations { .. }));
}

/// Place, before, after; empty where there is no value.
type Differences = &'static [(&'static str, &'static str, &'static str)];

#[test]
fn differences_are_as_few_as_they_can_be() {
    let cases: [(&str, &str, Differences); 13] = [
        ("{}", "{}", &[]),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &[]),
        (r#"{"a":"e"}"#, r#"{"a":"\u0065"}"#, &[]),
        (r#"{"a":1}"#, r#"{"a":1.0}"#, &[("/a", "1", "1.0")]),
        (r#"{"a":1}"#, r#"{"b":1}"#, &[("/a", "1", ""), ("/b", "", "1")]),
        (r#"{"a":{"b":[1]}}"#, r#"{"a":{"b":{}}}"#, &[("/a/b", "[1]", "{}")]),
        ("[1,2,3]", "[1,3]", &[("/1", "2", "")]),
        ("[1,3]", "[0,1,2,3,4]", &[("/0", "", "0"), ("/2", "", "2"), ("/4", "", "4")]),
        (r#"[{"a":1,"b":2},{"a":3}]"#, r#"[{"a":1,"b":5},{"a":3}]"#, &[("/0/b", "2", "5")]),
        // One element goes, and in the next one a member changes: its place is the one that it had.
        (r#"[0,9,{"a":1}]"#, r#"[9,{"a":2}]"#, &[("/0", "0", ""), ("/2/a", "1", "2")]),
        ("1", "2", &[("", "1", "2")]),
        (r#"{"a/b":{"~":1}}"#, r#"{"a/b":{"~":2}}"#, &[("/a~1b/~0", "1", "2")]),
        (r#"{"":{"":1}}"#, r#"{"":{"":2}}"#, &[("//", "1", "2")]),
    ];
    for (before, after, expected) in cases {
        let changes = diff(before, after).unwrap();
        let shown: Vec<_> = changes
            .iter()
            .map(|change| {
                let text = |side: &Option<String>| side.clone().unwrap_or_default();
                (change.path.to_string(), text(&change.before), text(&change.after))
            })
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(path, a, b)| ((*path).to_owned(), (*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(shown, expected, "{before} to {after}");
    }
}

#[test]
fn the_cost_of_a_difference_is_bounded() {
    let array = |numbers: &mut dyn Iterator<Item = u32>| {
        format!("[{}]", numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(","))
    };
    let forward = array(&mut (0..20_000));
    let backward = array(&mut (0..20_000).rev());
    let shorter = array(&mut (0..19_999).rev());
    // Too large to be aligned: element by element, or as one.
    assert_eq!(diff(&forward, &backward).unwrap().len(), 20_000);
    assert_eq!(diff(&forward, &shorter).unwrap().len(), 1);
    // More operations than a patch has: it replaces the whole.
    let patch = JsonPatch::between(&forward, &backward).unwrap();
    assert_eq!(patch.operations().len(), 1);
    assert_eq!(patch.apply(&forward).unwrap(), backward);
    // Long names over many changes would make more text than both documents have.
    let text = |value: u32| {
        let values: Vec<_> = (0..20_000).map(|i| format!("\"{i}\":{value}")).collect();
        format!("{{\"{}\":{{{}}}}}", "n".repeat(20_000), values.join(","))
    };
    assert_eq!(diff(text(1), text(2)).unwrap().len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1.0)].prop_map(Value::from),
        "[a-b]{0,2}|\\PC{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec(("[a-c/~\"]{0,2}", inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// RFC 7396, section 2, word for word.
fn merged(target: Value, patch: &Value) -> Value {
    let Value::Object(patch) = patch else { return patch.clone() };
    let mut target = if let Value::Object(target) = target { target } else { serde_json::Map::new() };
    for (name, value) in patch {
        if value.is_null() {
            target.remove(name);
        } else {
            let before = target.get(name).cloned().unwrap_or(Value::Null);
            target.insert(name.clone(), merged(before, value));
        }
    }
    Value::Object(target)
}

/// RFC 6902, section 4.6: numbers are equal where their values are, however they are written.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_patch_between_two_texts_makes_one_into_the_other(a in any_json(), b in any_json()) {
        let (a, b) = (a.to_string(), b.to_string());
        let patch = JsonPatch::between(&a, &b).unwrap();
        let made = patch.apply(&a).unwrap();
        prop_assert_eq!(parsed(&made), parsed(&b), "{}", patch.to_json());
        prop_assert!(diff(&made, &b).unwrap().is_empty());
        // A patch reads back from its text, and there is one exactly where there are differences.
        prop_assert_eq!(&JsonPatch::from_json(patch.to_json()).unwrap(), &patch);
        prop_assert_eq!(diff(&a, &b).unwrap().is_empty(), parsed(&a) == parsed(&b));
        prop_assert_eq!(diff(&a, &b).unwrap().len(), patch.operations().len());
    }

    #[test]
    fn differences_say_what_was_and_what_is(a in any_json(), b in any_json()) {
        let (a, b) = (parsed(&a.to_string()), parsed(&b.to_string()));
        for change in diff(a.to_string(), b.to_string()).unwrap() {
            if let Some(before) = &change.before {
                prop_assert_eq!(a.pointer(&change.path.to_string()), Some(&parsed(before)));
            } else {
                prop_assert_eq!(b.pointer(&change.path.to_string()), Some(&parsed(change.after.as_ref().unwrap())));
            }
        }
    }

    #[test]
    fn a_merge_patch_does_what_the_rfc_says(target in any_json(), patch in any_json()) {
        let made = merge_patch(target.to_string(), patch.to_string()).unwrap();
        prop_assert_eq!(parsed(&made), merged(target, &patch));
        prop_assert_eq!(minify(made.as_bytes()).unwrap(), made);
    }

    #[test]
    fn operations_do_what_a_tree_of_values_does(
        document in any_json(),
        place in "(/([a-c]|[0-3]|-|~1|~0)){0,3}",
        value in any_json(),
    ) {
        let run = |op: &str| {
            JsonPatch::from_json(json!([{"op": op, "path": place, "value": value}]).to_string())
                .unwrap()
                .apply(document.to_string())
        };
        let there = document.pointer(&place).cloned();
        match run("replace") {
            Ok(text) => {
                let mut expected = document.clone();
                *expected.pointer_mut(&place).unwrap() = value.clone();
                prop_assert_eq!(parsed(&text), expected);
            }
            Err(_) => prop_assert_eq!(&there, &None),
        }
        prop_assert_eq!(run("test").is_ok(), there.as_ref().is_some_and(|there| equal(there, &value)));
        prop_assert_eq!(run("remove").is_ok(), there.is_some() && !place.is_empty());
        if let Ok(text) = run("add") && !place.ends_with("/-") {
            prop_assert_eq!(parsed(&text).pointer(&place).cloned(), Some(value));
        }
    }

    #[test]
    fn senseless_bytes_are_refused_and_never_a_panic(
        document in any_json(),
        mut bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..40),
            any_json().prop_map(|json| json.to_string().into_bytes()),
            any_json().prop_map(|value| {
                json!([{"op": "add", "path": "/a/0", "value": value}, {"op": "move", "from": "/a", "path": "/b"}])
                    .to_string()
                    .into_bytes()
            }),
        ],
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
    ) {
        for (at, byte) in edits {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        if let Ok(patch) = JsonPatch::from_json(&bytes) {
            let _ = patch.apply(document.to_string());
        }
        let _ = merge_patch(document.to_string(), &bytes);
        let _ = merge_patch(&bytes, document.to_string());
        let _ = diff(&bytes, document.to_string());
        let _ = String::from_utf8_lossy(&bytes).parse::<Pointer>();
    }
}
