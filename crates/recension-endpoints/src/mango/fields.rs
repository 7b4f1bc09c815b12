//! Projection: an answer has only the fields that were asked for, with the objects around them. Pure; values are copied
//! as they are.

use recension::Path;
use recension::json::{quote, quote_into};
use serde_json::value::RawValue;

use super::definition::segments;
use super::options::bad;
use crate::body::elements;
use crate::format::cell_of;
use recension_wire::error::Result;

/// The fields of an answer.
#[derive(Debug)]
pub(crate) struct Fields(Vec<(Vec<String>, Path)>);

/// A value, or an object's members.
enum Tree<'t> {
    Value(&'t str),
    Object(Vec<(&'t str, Tree<'t>)>),
}

impl Fields {
    pub(super) fn of(fields: &[String]) -> Self {
        let path = |field: &String| {
            let names = segments(field);
            let path = Path::from_segments(names.clone()).ok()?;
            Some((names, path))
        };
        Fields(fields.iter().filter_map(path).collect())
    }

    /// The fields that a document has, as cells of a table.
    pub(super) fn cells(&self, document: &str) -> Vec<String> {
        self.0.iter().map(|(_, path)| cell_of(path.find(document))).collect()
    }

    /// Their paths.
    pub(super) fn paths(&self) -> impl Iterator<Item = Path> {
        self.0.iter().map(|(_, path)| path.clone())
    }

    /// From a JSON array of their names. `None`: all of them.
    pub(crate) fn from_json(value: &RawValue) -> Result<Option<Self>> {
        Ok(names(value)?.as_deref().map(Self::of))
    }

    /// The fields that the document has.
    pub(crate) fn of_document(&self, document: &str) -> String {
        self.gathered(|number| self.0.get(number).and_then(|(_, path)| path.find(document)))
    }

    /// The same of the values at the paths.
    pub(super) fn of_values(&self, values: &[Option<String>]) -> String {
        self.gathered(|number| values.get(number)?.as_deref())
    }

    fn gathered<'t>(&'t self, value: impl Fn(usize) -> Option<&'t str>) -> String {
        let mut top = Vec::new();
        for (number, (names, _)) in self.0.iter().enumerate() {
            if let Some(value) = value(number) {
                put(&mut top, names, value);
            }
        }
        let mut out = String::new();
        write(&Tree::Object(top), &mut out);
        out
    }
}

/// The names in a JSON array. `None`: all fields.
pub(super) fn names(value: &RawValue) -> Result<Option<Vec<String>>> {
    if value.get() == "\"all_fields\"" {
        return Ok(None);
    }
    let wrong = || bad("invalid_fields", format!("Fields must be an array of strings, not: {}", value.get()));
    let read = |field: &RawValue| {
        let wrong = |_| bad("invalid_field", format!("Invalid JSON for field spec: {}", field.get()));
        let name: String = serde_json::from_str(field.get()).map_err(wrong)?;
        if segments(&name).iter().any(String::is_empty) {
            return Err(bad("invalid_field_name", format!("Invalid field name: {name}")));
        }
        Ok(name)
    };
    let fields = elements(value)?.ok_or_else(wrong)?.into_iter().map(read).collect::<Result<Vec<String>>>()?;
    Ok(Some(fields).filter(|fields| !fields.is_empty()))
}

fn put<'t>(members: &mut Vec<(&'t str, Tree<'t>)>, names: &'t [String], value: &'t str) {
    let Some((name, rest)) = names.split_first() else { return };
    let known = members.iter().position(|(own, _)| own == name);
    let at = known.unwrap_or_else(|| {
        members.push((name, Tree::Object(Vec::new())));
        members.len() - 1
    });
    let Some((_, tree)) = members.get_mut(at) else { return };
    match tree {
        // An enclosing field was asked for as well.
        Tree::Value(_) => {}
        tree if rest.is_empty() => *tree = Tree::Value(value),
        Tree::Object(below) => put(below, rest, value),
    }
}

fn write(tree: &Tree<'_>, out: &mut String) {
    match tree {
        Tree::Value(text) => out.push_str(text),
        Tree::Object(members) => {
            out.push('{');
            for (number, (name, tree)) in members.iter().enumerate() {
                out.push_str(if number == 0 { "" } else { "," });
                quote_into(name, out);
                out.push(':');
                write(tree, out);
            }
            out.push('}');
        }
    }
}

/// Fields as JSON; all of them are `[]`, as in CouchDB.
pub(super) fn to_json(fields: Option<&[String]>) -> String {
    let fields = fields.unwrap_or_default();
    format!("[{}]", fields.iter().map(|field| quote(field)).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_answered_in_the_objects_that_they_stand_in() {
        let document = r#"{"_id":"a","name":"Ann","addr":{"city":"Oslo","zip":10},"d.t":1.0,"l":[{"x":1}]}"#;
        for (fields, expected) in [
            (&["name", "addr.city"][..], r#"{"name":"Ann","addr":{"city":"Oslo"}}"#),
            (&["addr.zip", "addr.city", "_id"], r#"{"addr":{"zip":10,"city":"Oslo"},"_id":"a"}"#),
            (&["addr", "addr.city"], r#"{"addr":{"city":"Oslo","zip":10}}"#),
            (&["addr.city", "addr"], r#"{"addr":{"city":"Oslo","zip":10}}"#),
            (&[r"d\.t", "nope", "name.x", ""], r#"{"d.t":1.0}"#),
        ] {
            let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
            assert_eq!(Fields::of(&fields).of_document(document), expected);
        }
    }
}
