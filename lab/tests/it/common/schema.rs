//! Compares a report with `report.schema.json`: as much of JSON Schema as that file uses, and whatever else it might
//! use is a panic. Every object there is closed, so that a field that is added and not described is found.

use serde_json::Value;

/// What is wrong with a report, and where; nothing where it is as described.
pub(crate) fn faults(report: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(include_str!("../../../report.schema.json")).unwrap();
    let mut found = Vec::new();
    check(&schema, &schema, report, "report", &mut found);
    found
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let rules = schema.as_object().unwrap();
    for (rule, said) in rules {
        match rule.as_str() {
            "$ref" => {
                let path = said.as_str().unwrap().trim_start_matches('#');
                check(root, root.pointer(path).unwrap(), value, at, found);
            }
            "type" => {
                let fits = |name: &Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "number" => value.is_number(),
                    "integer" => value.is_i64() || value.is_u64(),
                    other => panic!("the schema has the type {other}"),
                };
                let one = std::slice::from_ref(said);
                if !said.as_array().map_or(one, Vec::as_slice).iter().any(fits) {
                    found.push(format!("{at}: {value} is no {said}"));
                }
            }
            "enum" if !said.as_array().unwrap().contains(value) => {
                found.push(format!("{at}: {value} is none of {said}"));
            }
            "minimum" if value.as_f64() < said.as_f64() => found.push(format!("{at}: {value} is below {said}")),
            "$schema" | "title" | "description" | "$defs" | "additionalProperties" | "enum" | "minimum" => {}
            "required" => {
                for name in said.as_array().unwrap() {
                    if value.get(name.as_str().unwrap()).is_none() {
                        found.push(format!("{at}: {name} is missing"));
                    }
                }
            }
            "properties" => {
                for (name, member) in value.as_object().into_iter().flatten() {
                    match said.get(name) {
                        Some(schema) => check(root, schema, member, &format!("{at}.{name}"), found),
                        None => found.push(format!("{at}: {name} is not described")),
                    }
                }
            }
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, said, item, &format!("{at}[{n}]"), found);
                }
            }
            "anyOf" => {
                let fits = |schema: &Value| {
                    let mut own = Vec::new();
                    check(root, schema, value, at, &mut own);
                    own.is_empty()
                };
                if !said.as_array().unwrap().iter().any(fits) {
                    found.push(format!("{at}: {value} is none of {said}"));
                }
            }
            other => panic!("the schema has the rule {other}, of which this test knows nothing"),
        }
    }
}
