//! The misspelt words of a schema. JSON Schema takes a keyword that it does not know for a note, so that a schema with
//! `"requird"` would let everything through. Pure.

use serde_json::Value;

use crate::conditions::similar;

/// Keywords of all drafts, and notes that look like one.
const KEYWORDS: [&str; 79] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "comment",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "disallow",
    "divisibleBy",
    "else",
    "enum",
    "enumDescriptions",
    "enumNames",
    "errorMessage",
    "errorMessages",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "extends",
    "format",
    "formatMaximum",
    "formatMinimum",
    "id",
    "if",
    "items",
    "markdownDescription",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "name",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "version",
    "writeOnly",
    "xml",
];

/// Keywords whose members are names of the schema's own, with a schema each.
const MAPS: [&str; 6] = ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

/// Keywords whose value is no schema.
const VALUES: [&str; 8] =
    ["const", "default", "dependentRequired", "enum", "errorMessage", "errorMessages", "example", "examples"];

/// What is wrong with the first misspelt keyword.
pub(super) fn misspelt(schema: &Value) -> Option<String> {
    match schema {
        Value::Array(schemas) => schemas.iter().find_map(misspelt),
        Value::Object(members) => members.iter().find_map(|(name, value)| of_keyword(name, value)),
        _ => None,
    }
}

fn of_keyword(name: &str, value: &Value) -> Option<String> {
    if VALUES.contains(&name) {
        return None;
    }
    if MAPS.contains(&name) {
        return value.as_object()?.values().find_map(misspelt);
    }
    if !KEYWORDS.contains(&name) {
        let meant = similar(name, KEYWORDS.into_iter())?;
        return Some(format!("it has no keyword \"{name}\"; perhaps \"{meant}\" is meant"));
    }
    misspelt(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_are_refused_if_they_are_misspelt_and_notes_are_not() {
        for (schema, word) in [
            (json!({ "propertis": {} }), "properties"),
            (json!({ "properties": { "a": { "maxlength": 3 } } }), "maxLength"),
            (json!({ "allOf": [{ "requird": ["a"] }] }), "required"),
            (json!({ "$defs": { "x": { "ref": "#" } } }), "$ref"),
            (json!({ "items": { "not": { "types": "string" } } }), "type"),
        ] {
            assert!(misspelt(&schema).unwrap_or_default().contains(&format!("perhaps \"{word}\"")), "{schema}");
        }
        for schema in [
            json!({ "properties": { "requird": { "type": "string" } }, "required": ["requird"] }),
            json!({ "x-unit": "m", "label": "Length", "example": { "typ": 1 }, "default": { "item": 1 } }),
            json!({ "enum": [{ "item": 1 }], "const": { "maxlength": 1 } }),
            json!(true),
        ] {
            assert_eq!(misspelt(&schema), None, "{schema}");
        }
    }
}
