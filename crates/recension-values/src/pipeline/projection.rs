//! `$project`: which members of a row stay, or go. Reading it, and making a row by it. Pure.

use super::parse::{bad, reference};
use super::{Field, Projection};
use crate::error::{Error, Result};
use crate::json::{Kind, Outline, Path, Step, View, quote_into};

/// Members by name, as they are read.
#[derive(Default)]
struct Reading {
    /// `_id: 0`, which goes with either kind.
    without_id: bool,
    kept: Vec<(String, Field)>,
    gone: Vec<(String, Field)>,
}

pub(super) fn projection(view: View<'_>) -> Result<Projection> {
    if view.kind() != Kind::Object {
        return Err(bad("$project takes an object of fields."));
    }
    let mut reading = Reading::default();
    members(view, &mut Vec::new(), &mut reading)?;
    let Reading { without_id, kept, mut gone } = reading;
    if !kept.is_empty() && !gone.is_empty() {
        return Err(bad("$project names what stays (1) or what goes (0), not both; only _id may go with the others."));
    }
    if kept.is_empty() && without_id {
        gone.push(("_id".to_owned(), Field::Whole));
    }
    match (kept.is_empty(), gone.is_empty()) {
        (true, true) => Err(bad("$project takes an object of fields, with one at least.")),
        (true, false) => Ok(Projection::Without(gone)),
        (false, _) => Ok(Projection::Only(kept)),
    }
}

fn members(view: View<'_>, before: &mut Vec<String>, reading: &mut Reading) -> Result<()> {
    for member in view.children() {
        let text = member.name().decode();
        let wrong = || bad(format!("$project takes 1, 0 or a path such as \"$a.b\" for {text}."));
        if text.starts_with('$') {
            return Err(bad(format!("{text} is no word of $project: a field is 1, 0 or a path such as \"$a.b\".")));
        }
        let depth = before.len();
        for step in text.parse::<Path>()?.steps() {
            let Step::Name(name) = step else { return Err(wrong()) };
            before.push(name.clone());
        }
        match member.kind() {
            Kind::Object if member.text() != "{}" => members(member, before, reading)?,
            Kind::Number | Kind::Word if member.text() != "null" => {
                let stays = member.text() == "true" || member.text().parse::<f64>().is_ok_and(|number| number != 0.0);
                if stays {
                    put(&mut reading.kept, before, Field::Whole)?;
                } else if *before == ["_id"] {
                    reading.without_id = true;
                } else {
                    put(&mut reading.gone, before, Field::Whole)?;
                }
            }
            _ => put(&mut reading.kept, before, Field::Value(reference(member)?.ok_or_else(wrong)?))?,
        }
        before.truncate(depth);
    }
    Ok(())
}

/// Puts a field at its place; the error says which two collide.
fn put(fields: &mut Vec<(String, Field)>, path: &[String], field: Field) -> Result<()> {
    let collides = || bad(format!("$project names {} twice, or something within it.", path.join(".")));
    let Some((name, rest)) = path.split_first() else { return Ok(()) };
    let known = fields.iter_mut().find(|(known, _)| known == name);
    match (known, rest.is_empty()) {
        (None, true) => fields.push((name.clone(), field)),
        (None, false) => {
            let mut inner = Vec::new();
            put(&mut inner, rest, field)?;
            fields.push((name.clone(), Field::Inner(inner)));
        }
        (Some((_, Field::Inner(inner))), false) => put(inner, rest, field)?,
        (Some(_), _) => return Err(collides()),
    }
    Ok(())
}

impl Projection {
    /// The row by a projection. `value` finds what is at a path of the row.
    ///
    /// # Errors
    /// `Error::Json`.
    pub fn of_row(&self, row: &str, value: &dyn Fn(&Path) -> Option<String>) -> Result<String> {
        let outline = Outline::of(row).map_err(Error::from)?;
        let mut out = String::with_capacity(row.len());
        match self {
            Projection::Only(fields) => only(Some(outline.root()), fields, value, &mut out),
            Projection::Without(fields) => without(outline.root(), fields, &mut out),
        }
        Ok(out)
    }
}

/// Writes members of an object; of an array, those of its objects. It recurses as deep as a projection is written.
fn only(view: Option<View<'_>>, fields: &[(String, Field)], value: &dyn Fn(&Path) -> Option<String>, out: &mut String) {
    if let Some(array) = view.filter(|view| view.kind() == Kind::Array) {
        let objects = array.children().filter(|element| element.kind() == Kind::Object);
        return list(objects, out, |element, out| only(Some(element), fields, value, out));
    }
    out.push('{');
    let mut comma = "";
    for (name, field) in fields {
        let own = view.and_then(|view| view.children().find(|member| member.name().is(name)));
        let start = out.len();
        out.push_str(comma);
        quote_into(name, out);
        out.push(':');
        let head = out.len();
        match (field, own) {
            (Field::Whole, Some(own)) => out.push_str(own.text()),
            (Field::Inner(inner), Some(own)) if matches!(own.kind(), Kind::Object | Kind::Array) => {
                only(Some(own), inner, value, out);
            }
            (Field::Inner(inner), _) if !Field::paths(inner).is_empty() => only(None, inner, value, out),
            (Field::Value(path), _) => out.push_str(&value(path).unwrap_or_default()),
            _ => {}
        }
        // What is not there is no member.
        if out.len() == head {
            out.truncate(start);
        } else {
            comma = ",";
        }
    }
    out.push('}');
}

fn without(view: View<'_>, fields: &[(String, Field)], out: &mut String) {
    match view.kind() {
        Kind::Array => list(view.children(), out, |element, out| without(element, fields, out)),
        Kind::Object => {
            out.push('{');
            let mut comma = "";
            for member in view.children() {
                let field = fields.iter().find(|(name, _)| member.name().is(name)).map(|(_, field)| field);
                if field == Some(&Field::Whole) {
                    continue;
                }
                out.push_str(std::mem::replace(&mut comma, ","));
                out.push('"');
                out.push_str(member.name().raw);
                out.push_str("\":");
                match field {
                    Some(Field::Inner(inner)) => without(member, inner, out),
                    _ => out.push_str(member.text()),
                }
            }
            out.push('}');
        }
        _ => out.push_str(view.text()),
    }
}

fn list<'o>(elements: impl Iterator<Item = View<'o>>, out: &mut String, mut write: impl FnMut(View<'o>, &mut String)) {
    out.push('[');
    for (at, element) in elements.enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        write(element, out);
    }
    out.push(']');
}
