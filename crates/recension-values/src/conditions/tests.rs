//! Tests of the meaning of conditions, and of the places that refusals point at.

use super::*;

fn matches(path: &[&str], values: impl Into<ValueSet>) -> Clause {
    Clause::Matches(Condition::new(Path::from_segments(path.iter().copied()).unwrap(), values))
}

fn json(text: &str) -> Literal {
    Literal::json(text).unwrap()
}

#[test]
fn conditions_are_names_comparisons_and_values_joined_by_and() {
    for (text, conditions) in [
        ("", vec![]),
        (r#"name = "Porto""#, vec![matches(&["name"], ValueRange::equal("Porto"))]),
        ("name=Porto", vec![matches(&["name"], ValueRange::equal("Porto"))]),
        ("a.b>=-1.5e3", vec![matches(&["a", "b"], ValueRange::at_least(json("-1.5e3")))]),
        (r#""a.b".'c d' > null"#, vec![matches(&["a.b", "c d"], ValueRange::above(json("null")))]),
        (r#"x = "\"é\\""#, vec![matches(&["x"], ValueRange::equal("\"é\\"))]),
        ("x == [1, {\"a\": 2}] ", vec![matches(&["x"], ValueRange::equal(json("[1, {\"a\": 2}]")))]),
        (
            "10 <= 5 AND timezone < Europe/Lisbon and ok = true",
            vec![
                matches(&["10"], ValueRange::at_most(5)),
                matches(&["timezone"], ValueRange::below("Europe/Lisbon")),
                matches(&["ok"], ValueRange::equal(true)),
            ],
        ),
        ("n = 12345678901234567890123", vec![matches(&["n"], ValueRange::equal(json("12345678901234567890123")))]),
        ("at > 2026-11-21T10:00:00Z", vec![matches(&["at"], ValueRange::above("2026-11-21T10:00:00Z"))]),
        ("名 = 東京", vec![matches(&["名"], ValueRange::equal("東京"))]),
        ("c in [PT, 'E S',3]", vec![matches(&["c"], ValueSet::one_of([json("\"PT\""), "E S".into(), json("3")]))]),
        ("c in []", vec![matches(&["c"], ValueSet::one_of(Vec::<Literal>::new()))]),
        (
            "name prefix Por and x exists",
            vec![matches(&["name"], ValueRange::prefix("Por")), matches(&["x"], ValueRange::anything())],
        ),
        ("note missing", vec![Clause::Missing("note".parse().unwrap())]),
        ("in is number", vec![matches(&["in"], ValueRange::of_type(JsonType::Number))]),
        ("tags contains red", vec![Clause::Matches(Condition::new("tags[]", ValueRange::equal("red")))]),
        ("tags[] >= 3", vec![Clause::Matches(Condition::new("tags[]", ValueRange::at_least(3)))]),
    ] {
        assert_eq!(parse(text).as_ref(), Ok(&conditions), "{text}");
    }
}

#[test]
fn alternatives_negations_and_patterns_are_selectors() {
    let one = |text: &str| match parse(text).unwrap().as_slice() {
        [Clause::Selected(selector)] => selector.to_json(),
        other => panic!("{text}: {other:?}"),
    };
    let at = |path: &str, value: u32| Selector::at(path, ValueRange::equal(value));
    for (text, selector) in [
        ("a = 1 or b = 2", Selector::any([at("a", 1), at("b", 2)])),
        ("a = 1 and b = 2 OR c = 3", Selector::any([Selector::all([at("a", 1), at("b", 2)]), at("c", 3)])),
        ("not (a = 1 or b missing)", Selector::none([at("a", 1), Selector::absent("b")])),
        ("not not a = 1", at("a", 1)),
        ("not != 1", Selector::differs("not", 1)),
        ("a != x", Selector::differs("a", "x")),
        ("a not in [1]", Selector::not(Selector::at("a", ValueSet::one_of([1])))),
        ("a ~ '^x+'", Selector::matches("a", "^x+").unwrap()),
        ("a like 'Po_t%.'", Selector::matches("a", r"(?s)^Po.t.*\.$").unwrap()),
        (r#"a like "10\%_\_\\x""#, Selector::matches("a", r"(?s)^10\%.\_\\x$").unwrap()),
        (r"a like '10\%_\_\x'", Selector::matches("a", r"(?s)^10\%.\_\\x$").unwrap()),
        ("a ilike é", Selector::matches("a", "(?is)^é$").unwrap()),
    ] {
        assert_eq!(one(text), selector.to_json(), "{text}");
    }
    // Conditions that are joined by `and` stay separate, so that indexes can be used.
    let three = parse("a = 1 and (b = 2 and c missing) and (d = 1 or e = 1)").unwrap();
    assert!(matches!(
        three.as_slice(),
        [Clause::Matches(_), Clause::Matches(_), Clause::Missing(_), Clause::Selected(_)]
    ));
    let deep = format!("{}a = 1{}", "(".repeat(10_000), ")".repeat(10_000));
    assert!(parse(&deep).unwrap_err().what.contains("too deeply"));
}

#[test]
fn an_id_is_text_also_one_of_digits() {
    let text = |text: &str| Literal::from(text);
    for (condition, clause) in [
        ("_id = 2735943", matches(&["_id"], ValueRange::equal(text("2735943")))),
        ("_id in [1, true, a]", matches(&["_id"], ValueSet::one_of([text("1"), text("true"), text("a")]))),
        ("_rev = 1-0a", matches(&["_rev"], ValueRange::equal(text("1-0a")))),
        ("_id = 1E400", matches(&["_id"], ValueRange::equal(text("1E400")))),
        ("a._id = 5", matches(&["a", "_id"], ValueRange::equal(json("5")))),
    ] {
        assert_eq!(parse(condition).unwrap(), [clause], "{condition}");
    }
    let both = parse("_id >= 1 and n = 1").unwrap();
    assert_eq!(both[1], matches(&["n"], ValueRange::equal(json("1"))));
}

#[test]
fn a_refusal_points_at_the_place() {
    for (text, at, what) in [
        ("name", 4, "expected one of = != < <="),
        ("name =", 6, "expected a value"),
        ("a almost 3", 2, "expected one of = != < <="),
        ("a like 3", 8, "a pattern is text"),
        ("a ~ '['", 7, "not a regular expression"),
        ("(a = 1", 0, "never closed"),
        ("(a = 1 b", 7, "a closing parenthesis"),
        ("a = 1) and b = 2", 5, "expected 'and'"),
        ("not", 3, "expected one of"),
        ("= 3", 0, "expected the name"),
        ("a. = 3", 3, "expected the name"),
        ("é = \"x", 4, "never closed"),
        ("a = 1 nor b = 2", 6, "expected 'and'"),
        ("a = 1 and", 9, "expected the name"),
        ("a > 1,000,000 and b = 2", 5, "without commas"),
        ("a > -1E400", 4, "out of the range"),
        ("a >> 1", 3, "expected a value"),
        ("a = [1", 4, "no whole JSON value"),
        (r#"a = "\q""#, 4, "an escape"),
        ("a = %", 4, "expected a value"),
        ("x[1 = 2", 1, "never closed"),
        ("x[y] = 2", 0, "the number of an element"),
        ("c in PT", 5, "expected a list"),
        ("c in [PT", 8, "a comma or the end"),
        ("c in [PT ES]", 9, "a comma or the end"),
        ("c in [,]", 6, "expected a value"),
        ("c prefix 3", 10, "a prefix is text"),
        ("c is blue", 5, "expected a type"),
    ] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.at, at, "{text}: {error}");
        assert!(error.what.contains(what), "{text}: {error}");
    }
    assert_eq!(parse_path("items[0].sku").unwrap(), "items[0].sku".parse().unwrap());
    let shown = parse("é = \"x").unwrap_err().to_string();
    assert!(shown.ends_with("  é = \"x\n      ^"), "{shown}");
}
