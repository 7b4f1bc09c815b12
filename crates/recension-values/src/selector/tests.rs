//! Selectors that are built are those that Mango's operators read as, and select the same.

use super::*;
use crate::condition::ValueRange;

#[test]
fn what_is_built_is_what_the_operator_reads_as_and_selects_the_same() {
    for (built, operator, selected, not) in [
        (Selector::exists("a"), r#"{"a":{"$exists":true}}"#, r#"{"a":null}"#, r#"{"b":1}"#),
        (Selector::absent("a"), r#"{"a":{"$exists":false}}"#, r#"{"b":1}"#, r#"{"a":null}"#),
        (Selector::contains("a", "ort"), r#"{"a":{"$contains":"ort"}}"#, r#"{"a":"Porto"}"#, r#"{"a":"PORTO"}"#),
        (Selector::contains_ignoring_case("a", "OR"), r#"{"a":{"$icontains":"or"}}"#, r#"{"a":"Porto"}"#, r#"{"a":1}"#),
        (
            Selector::equals_ignoring_case("a", "PORTO"),
            r#"{"a":{"$ieq":"porto"}}"#,
            r#"{"a":"Porto"}"#,
            r#"{"a":"Por"}"#,
        ),
        (Selector::of_size("a", 2), r#"{"a":{"$size":2}}"#, r#"{"a":[1,2]}"#, r#"{"a":[1]}"#),
        (Selector::has_all("a", [1, 2]), r#"{"a":{"$all":[1,2]}}"#, r#"{"a":[2,3,1]}"#, r#"{"a":[1,3]}"#),
        (
            Selector::some_element("a", Selector::exists("n")),
            r#"{"a":{"$elemMatch":{"n":{"$exists":true}}}}"#,
            r#"{"a":[{"m":1},{"n":6}]}"#,
            r#"{"a":[{"m":1}]}"#,
        ),
        (
            Selector::every_element("a", Selector::exists("n")),
            r#"{"a":{"$allMatch":{"n":{"$exists":true}}}}"#,
            r#"{"a":[{"n":7},{"n":6}]}"#,
            r#"{"a":[{"m":1},{"n":6}]}"#,
        ),
        (
            Selector::at("a", ValueRange::at_least(1).and(ValueRange::below(5)).or(ValueRange::prefix("x"))),
            r#"{"a":{"$within":[{"at_least":1,"type":"number","below":5},{"prefix":"x","type":"string"}]}}"#,
            r#"{"a":"xy"}"#,
            r#"{"a":5}"#,
        ),
        (
            Selector::not(Selector::at("a", ValueRange::above("m").or(ValueRange::equal(false)))),
            r#"{"a":{"$not":{"$within":[{"above":"m","type":"string"},{"equal":false}]}}}"#,
            r#"{"a":1}"#,
            r#"{"a":"n"}"#,
        ),
    ] {
        assert_eq!(Selector::from_json(operator).unwrap(), built, "{operator}");
        assert_eq!(Selector::from_json(built.to_json()).unwrap(), built, "{}", built.to_json());
        let test = SelectorTest::of_texts(&built, Collation::default());
        assert_eq!((test.selects_text(selected), test.selects_text(not)), (true, false), "{operator}");
    }
}

#[test]
fn regular_expressions_of_a_selector_are_bounded_together() {
    let any = |count: usize, pattern: &str| {
        let one = |n: usize| format!(r#"{{"a":{{"$regex":"{pattern}{n}"}}}}"#);
        Selector::from_json(format!(r#"{{"$or":[{}]}}"#, (0..count).map(one).collect::<Vec<_>>().join(",")))
    };
    let small = any(100, "^Port.*x").unwrap();
    assert!(small.check().is_ok() && small.weight() < 8 << 20, "{}", small.weight());
    for (count, pattern) in [(3000, "a{1,500}"), (40, "\\\\w{20}")] {
        let refused = any(count, pattern).unwrap_err().to_string();
        assert!(refused.contains("regular expressions of 2 MiB"), "{refused}");
    }
    let built = (0..40).map(|n| Selector::matches("a", &format!("\\w{{20}}{n}")).unwrap());
    assert!(Selector::any(built).check().is_err());
}

#[test]
fn a_selector_without_a_member_selects_what_the_whole_does_and_maybe_more() {
    for (whole, selected) in [
        (r#"{"a":1,"b":2}"#, None),
        (r#"{"a":1,"_conflicts":{"$exists":true}}"#, Some([true, false])),
        (r#"{"_conflicts.0":{"$gt":"2-"},"$or":[{"a":1},{"b":1}]}"#, Some([true, false])),
        (r#"{"$or":[{"a":1},{"_conflicts":{"$size":1}}]}"#, Some([true, true])),
        (r#"{"_conflicts":{"$elemMatch":{"$regex":"^1-"}}}"#, Some([true, true])),
        (r#"{"$not":{"$or":[{"_conflicts":{"$exists":true}},{"a":2}]}}"#, Some([true, false])),
    ] {
        let rest = Selector::from_json(whole).unwrap().without("_conflicts");
        let test = rest.map(|rest| SelectorTest::of_texts(&rest, Collation::Binary));
        let found = test.map(|test| [r#"{"a":1}"#, r#"{"a":2}"#].map(|text| test.selects_text(text)));
        assert_eq!(found, selected, "{whole}");
    }
}
