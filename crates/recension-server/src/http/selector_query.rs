//! What a selector asks for that an index can answer: conditions that every document meets which it selects, and maybe
//! others. Whoever reads by them tests with the selector itself. Pure.
//!
//! Left out is what a query means otherwise: `_id` and the like, numbers in paths (elements of arrays), `$in` (of arrays it
//! is met by an element), alternatives over several paths.

use recension::document::{Collation, JsonType, Literal, Path, Query, ValueRange, ValueSet};
use serde_json::Value;

use super::selector::{Comparison, Test};
use crate::limits::SELECTOR_CONDITIONS_MAX;

/// The conditions of a selector; `None` where there are none that a query has.
pub(super) fn query_of(selector: &Test) -> Option<Query> {
    let mut conditions = Vec::new();
    collect(&mut Vec::new(), selector, &mut conditions);
    conditions.truncate(SELECTOR_CONDITIONS_MAX);
    // Strings are compared by their bytes in selectors.
    let query = Query::new().collated(Collation::Binary);
    let one = !conditions.is_empty();
    one.then(|| conditions.into_iter().fold(query, |query, (path, values)| query.matching(path, values)))
}

fn collect(path: &mut Vec<String>, test: &Test, conditions: &mut Vec<(Path, ValueSet)>) {
    match test {
        Test::All(tests) => tests.iter().for_each(|test| collect(path, test, conditions)),
        Test::At(names, test) => {
            let before = path.len();
            path.extend(names.iter().cloned());
            collect(path, test, conditions);
            path.truncate(before);
        }
        Test::Compare(comparison, value) => conditions.extend(path_of(path).zip(compared(*comparison, value))),
        Test::Begins(text) => {
            conditions.extend(path_of(path).map(|path| (path, ValueRange::prefix(text.as_str()).into())));
        }
        Test::Exists(true) => conditions.extend(path_of(path).map(|path| (path, ValueRange::anything().into()))),
        _ => {}
    }
}

fn path_of(names: &[String]) -> Option<Path> {
    let plain = |name: &String| !name.is_empty() && !name.bytes().all(|byte| byte.is_ascii_digit());
    let inside = names.first().is_some_and(|first| !first.starts_with('_'));
    if inside && names.iter().all(plain) { Path::from_segments(names).ok() } else { None }
}

/// Values that compare so with a scalar; `None` for others.
fn compared(comparison: Comparison, value: &Value) -> Option<ValueSet> {
    let (least, greatest) = around(value)?;
    let (rank, _) = TYPES.iter().enumerate().find(|(_, of_type)| **of_type == type_of(value))?;
    let of_types = |types: &[JsonType], range: ValueRange| {
        types.iter().fold(ValueSet::from(range), |set, of_type| set.or(ValueRange::of_type(*of_type)))
    };
    Some(match comparison {
        Comparison::Equal => ValueRange::between(least, greatest).into(),
        Comparison::Greater | Comparison::AtLeast => of_types(&TYPES[rank + 1..], ValueRange::at_least(least)),
        Comparison::Less | Comparison::AtMost => of_types(&TYPES[..rank], ValueRange::at_most(greatest)),
        Comparison::NotEqual => return None,
    })
}

/// In the order in which selectors compare values of several types.
const TYPES: [JsonType; 6] =
    [JsonType::Null, JsonType::Bool, JsonType::Number, JsonType::String, JsonType::Array, JsonType::Object];

fn type_of(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Bool,
        Value::Number(_) => JsonType::Number,
        Value::String(_) => JsonType::String,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    }
}

/// Everything that a selector takes for equal to a scalar lies between these two. Selectors compare doubles, queries
/// what is written: a number that reads as the same double may be a little less or more.
fn around(value: &Value) -> Option<(Literal, Literal)> {
    let literal = |text: String| Literal::json(text).ok();
    match value {
        Value::Number(number) => {
            let near = number.as_f64()?;
            let finite = |near: f64| near.is_finite().then(|| Literal::from(near));
            Some((finite(near.next_down())?, finite(near.next_up())?))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {
            let literal = literal(value.to_string())?;
            Some((literal.clone(), literal))
        }
        Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recension::document::{ChangeFilter, Store};
    use recension::engine::Seq;

    use super::super::selector::Selector;

    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|value| value.to_string()),
            (-3_i32..4).prop_map(|value| value.to_string()),
            (-3_i32..4).prop_map(|value| format!("{value}.0")),
            Just("0.1000000000000000055".to_owned()),
            Just("0.1".to_owned()),
            Just("9007199254740993".to_owned()),
            Just("9007199254740992.0".to_owned()),
            Just("1e400".to_owned()),
            "[abAé]{0,2}".prop_map(|text| format!("\"{text}\"")),
            Just("[1,\"a\"]".to_owned()),
            Just("{\"b\":1}".to_owned()),
        ]
    }

    fn document() -> impl Strategy<Value = String> {
        (value(), value(), "[ab]").prop_map(|(a, c, name)| format!("{{\"a\":{a},\"b\":{{\"{name}\":{c}}}}}"))
    }

    fn selector() -> impl Strategy<Value = String> {
        let operator = prop_oneof!["\\$eq", "\\$gt", "\\$gte", "\\$lt", "\\$lte", "\\$ne"];
        let test = prop_oneof![
            value(),
            (operator, value()).prop_map(|(operator, value)| format!("{{\"{operator}\":{value}}}")),
            any::<bool>().prop_map(|value| format!("{{\"$exists\":{value}}}")),
            "[abA]{0,2}".prop_map(|text| format!("{{\"$beginsWith\":\"{text}\"}}")),
            value().prop_map(|value| format!("{{\"$in\":[{value}]}}")),
        ];
        let path = prop_oneof!["a", "b", "b\\.a", "b\\.b", "a\\.0", "c", "_id"];
        prop::collection::vec((path, test), 0..3).prop_map(|members| {
            let members: Vec<String> = members.iter().map(|(path, test)| format!("\"{path}\":{test}")).collect();
            format!("{{{}}}", members.join(","))
        })
    }

    proptest! {
        #[test]
        fn no_document_that_is_selected_is_left_out(documents in prop::collection::vec(document(), 1..8), selector in selector()) {
            let Ok(selector) = Selector::parse(&selector) else { return Ok(()) };
            let Some(query) = selector.query() else { return Ok(()) };
            let collection = Store::memory().unwrap().collection("c").unwrap();
            for (number, body) in documents.iter().enumerate() {
                // What the library has no number for is no document.
                let _ = collection.put(&number.to_string(), body);
            }
            let filter = ChangeFilter::matching(query).unwrap();
            let changes = || collection.changes(Seq::ZERO).unwrap();
            let found: Vec<String> = changes().filtered(&filter).map(|change| change.unwrap().id).collect();
            for change in changes() {
                let id = change.unwrap().id;
                let body = collection.get(&id).unwrap().unwrap().body.into_owned();
                if selector.matches(&id, "1-a", false, &body) {
                    prop_assert!(found.contains(&id), "{body} is not found");
                }
            }
        }
    }
}
