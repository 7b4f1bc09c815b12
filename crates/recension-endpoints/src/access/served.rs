//! Which values a document must have that a rule lets through, if the rule's form says: equality of a member with a
//! name, with roles or with a constant, of it or of an element of it, and alternatives of such. Then an index of access
//! finds the documents. Pure.

use recension::Path;
use serde_json::{Map, Value};

/// Values, as JSON texts, of which a document has one at the path, for each path.
pub(super) type Served = Vec<(Path, Vec<String>)>;

/// The values of a selector in which the variables have been filled in; `None`: its form does not say.
pub(super) fn served(selector: &Value) -> Option<Served> {
    // Of several conditions any one does.
    selector.as_object()?.iter().find_map(|(name, test)| match (name.as_str(), test) {
        ("$or", Value::Array(alternatives)) if !alternatives.is_empty() => {
            let all = alternatives.iter().map(served).collect::<Option<Vec<_>>>()?;
            Some(all.into_iter().flatten().collect())
        }
        ("$and", Value::Array(parts)) => parts.iter().find_map(served),
        _ => Some(vec![(path(name)?, values(test)?)]),
    })
}

/// The path of a plain member; others are not served.
fn path(name: &str) -> Option<Path> {
    let plain = |c: char| !matches!(c, '\\' | '[' | ']' | '$');
    let is_plain = !name.starts_with('_') && name.chars().all(plain) && name.split('.').all(|part| !part.is_empty());
    // An index takes a path to the elements as well.
    (is_plain && name.len() <= PATH_BYTES_MAX).then(|| name.parse().ok()).flatten()
}

/// Bytes of a path that is served.
const PATH_BYTES_MAX: usize = 256;

fn values(test: &Value) -> Option<Vec<String>> {
    match test {
        Value::Object(tests) => tests.iter().find_map(of_operator),
        scalar => Some(vec![text(scalar)?]),
    }
}

fn of_operator((operator, operand): (&String, &Value)) -> Option<Vec<String>> {
    match (operator.as_str(), operand) {
        ("$eq", scalar) => Some(vec![text(scalar)?]),
        ("$in", Value::Array(elements)) => elements.iter().map(text).collect(),
        // An element that all of have: one of them is enough.
        ("$all", Value::Array(elements)) => Some(vec![text(elements.first()?)?]),
        ("$elemMatch", Value::Object(tests)) => one_operator(tests),
        _ => None,
    }
}

fn one_operator(tests: &Map<String, Value>) -> Option<Vec<String>> {
    tests.iter().filter(|(name, _)| matches!(name.as_str(), "$eq" | "$in")).find_map(of_operator)
}

/// A value that an index of access has.
fn text(value: &Value) -> Option<String> {
    (!value.is_array() && !value.is_object()).then(|| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(selector: &Value) -> Option<Vec<(String, Vec<String>)>> {
        Some(served(selector)?.into_iter().map(|(path, values)| (path.to_string(), values)).collect())
    }

    #[test]
    fn forms_of_equality_are_served_and_others_are_not() {
        let own = |path: &str, values: &[&str]| (path.to_owned(), values.iter().map(ToString::to_string).collect());
        for (selector, expected) in [
            (json!({"owner": "ada"}), vec![own("owner", &["\"ada\""])]),
            (json!({"a.b": {"$eq": 1}, "x": {"$gt": 1}}), vec![own("a.b", &["1"])]),
            (json!({"team": {"$in": ["x", "y"]}}), vec![own("team", &["\"x\"", "\"y\""])]),
            (json!({"team": {"$in": []}}), vec![own("team", &[])]),
            (json!({"t": {"$elemMatch": {"$eq": "x"}}}), vec![own("t", &["\"x\""])]),
            (json!({"t": {"$all": ["x", "y"]}}), vec![own("t", &["\"x\""])]),
            (
                json!({"$or": [{"owner": "ada"}, {"public": true}]}),
                vec![own("owner", &["\"ada\""]), own("public", &["true"])],
            ),
            (json!({"$and": [{"n": {"$lt": 1}}, {"owner": "ada"}]}), vec![own("owner", &["\"ada\""])]),
        ] {
            assert_eq!(found(&selector), Some(expected), "{selector}");
        }
        for selector in [
            json!({}),
            json!({"n": {"$lt": 10}}),
            json!({"$or": [{"owner": "ada"}, {"n": {"$gt": 1}}]}),
            json!({"$or": []}),
            json!({"$nor": [{"owner": "ada"}]}),
            json!({"owner": {"$ne": "ada"}}),
            json!({"owner": ["x"]}),
            json!({"team": {"$in": [["x"]]}}),
            json!({"_id": "a"}),
            json!({"a\\.b": "x"}),
            json!({"owner": {"name": "ada"}}),
            json!({"t": {"$elemMatch": {"name": "x"}}}),
        ] {
            assert_eq!(found(&selector), None, "{selector}");
        }
    }
}
