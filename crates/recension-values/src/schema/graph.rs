//! The cost of testing a value against a schema: which parts of the schema refer to which, how many tests that makes if
//! each part is tested as often as it is referred to, and whether there are circles. Pure.
//!
//! The validator remembers results only within circles of references. Definitions that each refer to the next one twice
//! would otherwise be tested 2^n times.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The cost of testing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Cost {
    /// Most tests of one value and everything below it, if circles are followed once.
    pub(super) tests: u64,
    /// The factor by which the number of tests may grow with each level of a value, because of circles. 1: there are
    /// none.
    pub(super) per_level: u64,
}

/// Members that hold one schema; some may also hold a list.
const ONE: [&str; 13] = [
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "items",
    "additionalItems",
    "contains",
    "contentSchema",
    "extends",
];
/// Members that hold schemas in a list.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Members that hold schemas by names.
const MAPS: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Members that refer to schemas elsewhere.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

struct Graph<'s> {
    root: &'s Value,
    places: HashMap<*const Value, usize>,
    edges: Vec<Vec<usize>>,
    waiting: Vec<&'s Value>,
}

/// The cost of testing against a schema, or the reason for which it cannot be told.
pub(super) fn cost(schema: &Value) -> Result<Cost, String> {
    let mut graph = Graph { root: schema, places: HashMap::new(), edges: Vec::new(), waiting: Vec::new() };
    graph.place(schema);
    while let Some(next) = graph.waiting.pop() {
        let from = graph.place(next);
        let edges = graph.edges_of(next)?;
        if let Some(own) = graph.edges.get_mut(from) {
            *own = edges;
        }
    }
    Ok(costs(&graph.edges))
}

impl<'s> Graph<'s> {
    /// The number of a schema. A new one is looked into later.
    fn place(&mut self, schema: &'s Value) -> usize {
        if let Some(place) = self.places.get(&std::ptr::from_ref(schema)) {
            return *place;
        }
        self.places.insert(schema, self.edges.len());
        self.edges.push(Vec::new());
        self.waiting.push(schema);
        self.edges.len() - 1
    }

    fn edges_of(&mut self, schema: &'s Value) -> Result<Vec<usize>, String> {
        let Value::Object(members) = schema else { return Ok(Vec::new()) };
        let is_root = std::ptr::eq(schema, self.root);
        if !is_root && ["$id", "id"].iter().any(|name| members.get(*name).is_some_and(Value::is_string)) {
            return Err("a schema within it has an $id of its own; only the whole may have one".to_owned());
        }
        let mut edges = Vec::new();
        for (name, value) in members {
            let name = name.as_str();
            match value {
                Value::String(to) if REFERENCES.contains(&name) => self.follow(to, &mut edges)?,
                Value::Object(_) | Value::Bool(_) if ONE.contains(&name) => edges.push(self.place(value)),
                Value::Array(values) if ONE.contains(&name) || LISTS.contains(&name) => {
                    edges.extend(values.iter().map(|value| self.place(value)));
                }
                Value::Object(values) if MAPS.contains(&name) => {
                    edges.extend(values.values().map(|value| self.place(value)));
                }
                _ => {}
            }
        }
        if members.keys().any(|name| name.starts_with("unevaluated")) {
            // All others are walked twice: to test, and to see which members were looked at.
            edges.extend(edges.clone());
        }
        Ok(edges)
    }

    fn follow(&mut self, reference: &str, edges: &mut Vec<usize>) -> Result<(), String> {
        let refused = |why: &str| Err(format!("the reference {reference} {why}"));
        let Some(fragment) = reference.strip_prefix('#') else {
            return refused("leads out of it; references begin with #");
        };
        if fragment.is_empty() || fragment.starts_with('/') {
            let Some(pointer) = percent_decoded(fragment) else { return refused("does not read") };
            let Some(target) = self.root.pointer(&pointer) else { return refused("leads nowhere") };
            edges.push(self.place(target));
            return Ok(());
        }
        let mut named = Vec::new();
        anchored(self.root, fragment, &mut named);
        if named.is_empty() {
            return refused("leads nowhere");
        }
        edges.extend(named.into_iter().map(|target| self.place(target)));
        Ok(())
    }
}

/// Finds every value with that anchor.
fn anchored<'s>(value: &'s Value, name: &str, found: &mut Vec<&'s Value>) {
    let is_it = |members: &Map<String, Value>, key: &str| members.get(key).and_then(Value::as_str) == Some(name);
    match value {
        Value::Object(members) => {
            if is_it(members, "$anchor") || is_it(members, "$dynamicAnchor") {
                found.push(value);
            }
            members.values().for_each(|member| anchored(member, name, found));
        }
        Value::Array(values) => values.iter().for_each(|value| anchored(value, name, found)),
        _ => {}
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                (digit(rest.next())? << 4 | digit(rest.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn costs(edges: &[Vec<usize>]) -> Cost {
    let (circle_of, circles) = circles(edges);
    // Circles are numbered so that an edge between two leads to the greater number.
    let mut tests = vec![0_u64; circles];
    let mut per_level = vec![1_u64; circles];
    let mut members = vec![Vec::new(); circles];
    for (place, circle) in circle_of.iter().enumerate() {
        members[*circle].push(place);
    }
    for circle in (0..circles).rev() {
        for place in &members[circle] {
            let within = edges[*place].iter().filter(|to| circle_of[**to] == circle).count() as u64;
            per_level[circle] = per_level[circle].saturating_mul(within.max(1));
            let beyond = edges[*place].iter().filter(|to| circle_of[**to] != circle);
            let beyond = beyond.fold(1_u64, |sum, to| sum.saturating_add(tests[circle_of[*to]]));
            tests[circle] = tests[circle].saturating_add(beyond).saturating_add(within);
        }
    }
    let first = circle_of.first().copied().unwrap_or(0);
    Cost { tests: tests.get(first).copied().unwrap_or(0), per_level: per_level.into_iter().max().unwrap_or(1) }
}

/// For each place the circle (strongly connected component) that it is in, and how many there are: Kosaraju's
/// algorithm, without recursion.
fn circles(edges: &[Vec<usize>]) -> (Vec<usize>, usize) {
    let mut ended = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((place, at)) = stack.last_mut() {
            match edges[*place].get(*at) {
                Some(to) => {
                    *at += 1;
                    if !std::mem::replace(&mut seen[*to], true) {
                        stack.push((*to, 0));
                    }
                }
                None => {
                    ended.push(*place);
                    stack.pop();
                }
            }
        }
    }
    let mut back = vec![Vec::new(); edges.len()];
    for (from, to) in edges.iter().enumerate().flat_map(|(from, tos)| tos.iter().map(move |to| (from, *to))) {
        back[to].push(from);
    }
    let mut circle_of = vec![usize::MAX; edges.len()];
    let mut circles = 0;
    for start in ended.into_iter().rev() {
        if circle_of[start] != usize::MAX {
            continue;
        }
        let mut stack = vec![start];
        while let Some(place) = stack.pop() {
            if std::mem::replace(&mut circle_of[place], circles) == usize::MAX {
                stack.extend(back[place].iter().filter(|from| circle_of[**from] == usize::MAX));
            }
        }
        circles += 1;
    }
    (circle_of, circles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_as_often_as_they_are_led_to_and_circles_once() {
        let cost = |text: &str| cost(&serde_json::from_str(text).unwrap());
        let twice = r##"{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{}}}}"##;
        assert_eq!(cost(twice), Ok(Cost { tests: 7, per_level: 1 }));
        let list = r##"{"properties":{"next":{"$ref":"#"}}}"##;
        assert_eq!(cost(list), Ok(Cost { tests: 4, per_level: 1 }));
        let tree = r##"{"properties":{"a":{"$ref":"#top"},"b":{"$ref":"#top"}},"$anchor":"top"}"##;
        assert_eq!(cost(tree).unwrap().per_level, 2);
        for outside in [r#"{"$ref":"other.json"}"#, r##"{"$ref":"#/$defs/none"}"##, r##"{"$ref":"#none"}"##] {
            assert!(cost(outside).is_err(), "{outside}");
        }
        assert!(cost(r#"{"properties":{"a":{"$id":"x"}}}"#).is_err());
        assert!(cost(r#"{"properties":{"$id":{"type":"string"}}}"#).is_ok());
    }
}
