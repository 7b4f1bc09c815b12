//! Resolving paths with references and symlinks into places: paths of members from the top.

use super::root::{Fault, Part, Root};
use super::{Command, Step};
use crate::dialect::{Dialect, Errors};
use crate::limits::{LINKS_MAX, PATH_WORDS_MAX, PLACES_MAX};
use crate::value::Value;

/// A place: the members on the way from the top.
pub(super) type Place = Vec<String>;

/// The places of a command.
pub(super) fn places(command: &Command, dialect: &Dialect, root: &mut dyn Root) -> Result<Vec<Place>, Fault> {
    let mut places = vec![Place::new()];
    for step in &command.steps {
        match step {
            Step::Key(key) => {
                for place in &mut places {
                    if dialect.symlinks {
                        *place = through_link(std::mem::take(place), root)?;
                    }
                    place.push(key.clone());
                }
            }
            Step::Reference(name) => {
                let mut targets = Vec::new();
                for place in places {
                    let place = if dialect.references_are_paths { place } else { Place::new() };
                    dereference(&place, name, command, dialect, root, &mut targets)?;
                    if targets.len() > PLACES_MAX {
                        return Fault::refused(format!("the references lead to more than {PLACES_MAX} places"));
                    }
                }
                places = targets;
            }
        }
        if places.iter().any(|place| place.len() > PATH_WORDS_MAX) {
            return Fault::refused(format!("a path has at most {PATH_WORDS_MAX} words"));
        }
    }
    Ok(places)
}

/// The places that the value of `name` names.
fn dereference(
    place: &[String],
    name: &str,
    command: &Command,
    dialect: &Dialect,
    root: &mut dyn Root,
    targets: &mut Vec<Place>,
) -> Result<(), Fault> {
    let at = [place, &[name.to_owned()]].concat();
    let found = read(&at, dialect, root)?;
    let names = match found {
        Some(Value::String(text)) if !text.is_empty() => vec![text],
        Some(Value::Array(elements)) if elements.iter().all(|element| element.as_str().is_some()) => {
            elements.into_iter().filter_map(|element| element.as_str().map(str::to_owned)).collect()
        }
        Some(Value::Object(members)) if dialect.references_are_paths => members.into_keys().collect(),
        Some(other) if dialect.references_are_paths && !other.is_empty() => {
            return Fault::refused(format!("{name} is no reference, {name} :: {}", other.python_type()));
        }
        // A read of a missing reference is empty; a write through it is impossible.
        _ if command.operator.writes() || command.strict => return Fault::refused(format!("{name} not found")),
        _ => Vec::new(),
    };
    for name in names {
        targets.push(target(name, dialect, root)?);
    }
    Ok(())
}

/// The place that a reference's text names.
pub(super) fn target(name: String, dialect: &Dialect, root: &mut dyn Root) -> Result<Place, Fault> {
    if dialect.references_are_paths && name.contains(' ') && root.shared(&name)?.is_none() {
        return Ok(name.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect());
    }
    Ok(vec![name])
}

/// The place that a symlink at `place` leads to; `place` itself if there is none.
pub(super) fn through_link(mut place: Place, root: &mut dyn Root) -> Result<Place, Fault> {
    for _ in 0..LINKS_MAX {
        let Some((first, rest)) = place.split_first() else { return Ok(place) };
        let member = root.shared(first)?;
        let value = member.as_ref().and_then(|member| member.at(rest));
        let Some(name) = value.and_then(Value::as_str).and_then(|text| text.strip_prefix('!')) else {
            return Ok(place);
        };
        place = target(name.to_owned(), &Dialect::PYTHON, root)?;
    }
    Fault::refused(format!("more than {LINKS_MAX} symlinks lead to each other"))
}

/// The value at a place; `None` if it is missing.
pub(super) fn read(place: &[String], dialect: &Dialect, root: &mut dyn Root) -> Result<Option<Value>, Fault> {
    let Some((first, rest)) = place.split_first() else { return Ok(None) };
    if !rest.is_empty()
        && let Part::Known(part) = root.part(first, rest)?
    {
        return Ok(part);
    }
    let Some(mut value) = root.member(first)? else { return Ok(None) };
    let mut parent = first;
    for word in rest {
        value = match value {
            Value::Object(mut members) => match members.swap_remove(word) {
                Some(member) => member,
                None => return Ok(None),
            },
            Value::Null => return Ok(None),
            other => return cannot_index(&other, parent, word, dialect),
        };
        parent = word;
    }
    Ok(Some(value))
}

/// The refusal to look for a member in a value without members.
pub(super) fn cannot_index<T>(value: &Value, parent: &str, word: &str, dialect: &Dialect) -> Result<T, Fault> {
    Fault::refused(match dialect.errors {
        Errors::Plain => "cannot index through non-dict".to_owned(),
        Errors::Detailed => {
            let of = value.python_type();
            format!("cannot index through non-dict. {parent} -> {word} -> ?, {parent} :: {of}")
        }
    })
}
