//! What CouchDB's planner sees in a selector: the fields on which an index could help, and the range of each. It looks
//! through `$and` only. `_explain` tells it; queries go the library's own way. Pure.

use std::collections::{BTreeMap, BTreeSet};

use recension::Collation;
use serde_json::Value;

/// The highest character of CouchDB's order.
const HIGHEST: char = '\u{ffff}';

/// What stands for the end of all values.
const MAX: &str = "<MAX>";

/// The values that a field may have.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Range {
    low: Option<Value>,
    high: Option<Value>,
    /// No value lies in it.
    empty: bool,
}

/// A selector, every operator written out.
pub(super) struct Seen {
    /// Indexable fields.
    ranges: BTreeMap<String, Range>,
    /// All fields at its top.
    fields: BTreeSet<String>,
}

impl Seen {
    /// Reads a selector as the library writes it.
    pub(super) fn of(selector: &Value) -> Self {
        let mut seen = Seen { ranges: BTreeMap::new(), fields: BTreeSet::new() };
        seen.look(selector, true);
        seen
    }

    fn look(&mut self, selector: &Value, through: bool) {
        for (name, condition) in selector.as_object().into_iter().flatten() {
            if name.starts_with('$') {
                let parts = condition.as_array().map_or(std::slice::from_ref(condition), Vec::as_slice);
                for part in parts {
                    self.look(part, through && name == "$and");
                }
                continue;
            }
            self.fields.insert(name.clone());
            for (operator, argument) in condition.as_object().into_iter().flatten() {
                let known = self.ranges.get(name).cloned().unwrap_or_default();
                if let (true, Some(range)) = (through, known.narrowed(operator, argument)) {
                    self.ranges.insert(name.clone(), range);
                }
            }
        }
    }

    /// Whether a field is one that an index helps with.
    pub(super) fn has(&self, field: &str) -> bool {
        self.ranges.contains_key(field)
    }

    /// The bounds of the rows that are read of an index on fields: the values of the first of them, as far as they are
    /// known.
    pub(super) fn bounds(&self, fields: &[&str]) -> (Value, Value) {
        let (mut start, mut end) = (Vec::new(), Vec::new());
        let (mut open, mut closed) = (true, true);
        for field in fields {
            let Some(range) = self.ranges.get(*field) else { break };
            if range.empty {
                return (Value::Null, Value::Null);
            }
            open = open && range.low.is_some();
            start.extend(range.low.clone().filter(|_| open));
            closed = closed && range.high.is_some();
            end.extend(range.high.clone().filter(|_| closed));
        }
        end.push(MAX.into());
        (start.into(), end.into())
    }

    /// The same for the list of all documents, whose keys are no lists.
    pub(super) fn bounds_of_ids(&self) -> (Value, Value) {
        match self.ranges.get("_id") {
            Some(Range { empty: true, .. }) => (Value::Null, Value::Null),
            Some(Range { low, high, .. }) => {
                (low.clone().unwrap_or(Value::Null), high.clone().unwrap_or_else(|| MAX.into()))
            }
            None => (Value::Null, MAX.into()),
        }
    }

    /// `selector_hints`.
    pub(super) fn hints(&self) -> Value {
        let indexable: Vec<&String> = self.ranges.keys().collect();
        let others: Vec<&String> = self.fields.iter().filter(|field| !self.has(field)).collect();
        serde_json::json!([{ "type": "json", "indexable_fields": indexable, "unindexable_fields": others }])
    }
}

impl Range {
    /// The range with another condition; `None`: an index does not help with it.
    fn narrowed(self, operator: &str, argument: &Value) -> Option<Range> {
        let own = || Some(argument.clone());
        let (low, high) = match operator {
            "$eq" => (own(), own()),
            "$lt" | "$lte" => (None, own()),
            "$gt" | "$gte" => (own(), None),
            "$beginsWith" => (own(), argument.as_str().map(|text| format!("{text}{HIGHEST}").into())),
            "$exists" => (None, None),
            _ => return None,
        };
        let (low, high) = (later(self.low, low, true), later(self.high, high, false));
        let crossed = matches!((&low, &high), (Some(low), Some(high)) if key(low) > key(high));
        Some(Range { low, high, empty: self.empty || crossed })
    }
}

/// The narrower of two bounds.
fn later(one: Option<Value>, other: Option<Value>, low: bool) -> Option<Value> {
    match (one, other) {
        (Some(one), Some(other)) if (key(&other) > key(&one)) == low => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}

fn key(value: &Value) -> Vec<u8> {
    Collation::Unicode.key(&value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bounds_are_those_of_the_first_fields() {
        for (selector, bounds) in [
            (json!({"a": {"$gt": 0}}), (json!([0]), json!(["<MAX>"]))),
            (json!({"$and": [{"a": {"$eq": 1}}, {"b": {"$lt": 5}}]}), (json!([1]), json!([1, 5, "<MAX>"]))),
            (
                json!({"$and": [{"a": {"$gt": 1}}, {"a": {"$gte": 3}}, {"a": {"$lt": 9}}]}),
                (json!([3]), json!([9, "<MAX>"])),
            ),
            (json!({"$and": [{"a": {"$gt": 5}}, {"a": {"$lt": 3}}]}), (json!(null), json!(null))),
            (json!({"a": {"$beginsWith": "x"}}), (json!(["x"]), json!(["x\u{ffff}", "<MAX>"]))),
            (json!({"$or": [{"a": {"$eq": 1}}]}), (json!([]), json!(["<MAX>"]))),
            (json!({"b": {"$eq": 1}}), (json!([]), json!(["<MAX>"]))),
        ] {
            assert_eq!(Seen::of(&selector).bounds(&["a", "b"]), bounds, "{selector}");
        }
        assert_eq!(Seen::of(&json!({"_id": {"$beginsWith": "a"}})).bounds_of_ids(), (json!("a"), json!("a\u{ffff}")));
        assert_eq!(Seen::of(&json!({})).bounds_of_ids(), (json!(null), json!("<MAX>")));
        let hints = Seen::of(&json!({"$and": [{"a": {"$eq": 1}}, {"b": {"$in": [1]}}]})).hints();
        assert_eq!(hints, json!([{"type": "json", "indexable_fields": ["a"], "unindexable_fields": ["b"]}]));
    }
}
