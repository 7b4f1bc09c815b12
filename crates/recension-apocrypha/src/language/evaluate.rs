//! Carrying out a command: places are found, read, written and printed. It happens wholly or not at all.

use super::operate::{self, Outcome};
use super::resolve::{self, Place};
use super::root::{Fault, Root};
use super::search::search;
use super::{Command, Operator};
use crate::dialect::{Dialect, Normal};
use crate::limits::{MEMBERS_SET_MAX, REPLY_BYTES_MAX};
use crate::normalise;
use crate::print;
use crate::value::{Members, Value};

/// The refusal if a place does not have the value that `--if` expects.
pub const CHANGED: &str = "changed meanwhile";

/// The effect of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// The lines of its reply.
    pub lines: Vec<String>,
}

/// Carries out a command. `--flush`, `--at`, `--history` and `--timing` are left to the caller, which has the store and
/// the clock.
///
/// # Errors
/// [`Fault`]; everything that was put into `root` must then be dropped.
pub fn evaluate(command: &Command, dialect: &Dialect, root: &mut dyn Root) -> Result<Effect, Fault> {
    let mut effect = Effect::default();
    if let Operator::Search(value) = &command.operator {
        let Some(value) = value else { return Fault::refused("@ needs the value to look for") };
        for place in resolve::places(command, dialect, root)? {
            search(&place, value, dialect, root, &mut effect.lines)?;
        }
        return Ok(effect);
    }
    for place in resolve::places(command, dialect, root)? {
        if place.is_empty() {
            at_the_top(command, dialect, root, &mut effect)?;
        } else if command.operator.writes() {
            write(command, dialect, &place, root, &mut effect)?;
        } else {
            read(command, dialect, &place, root, &mut effect)?;
        }
        if effect.lines.iter().map(String::len).sum::<usize>() > REPLY_BYTES_MAX {
            return too_long();
        }
    }
    Ok(effect)
}

fn too_long<T>() -> Result<T, Fault> {
    Fault::refused(format!("the reply is longer than {REPLY_BYTES_MAX} bytes; ask for a part"))
}

fn read(
    command: &Command,
    dialect: &Dialect,
    place: &Place,
    root: &mut dyn Root,
    effect: &mut Effect,
) -> Result<(), Fault> {
    let found = resolve::read(place, dialect, root)?;
    if command.strict && found.is_none() {
        return Err(not_found(place, dialect, root));
    }
    let value = found.unwrap_or_else(|| Value::Object(Members::new()));
    match command.operator {
        Operator::Keys => effect.lines.extend(operate::keys(&value, place, dialect)?),
        Operator::Edit => {
            let value = if value == Value::Null { Value::Object(Members::new()) } else { value };
            effect.lines.push(print::json(dialect.print, &value));
        }
        _ => {
            let value = if dialect.symlinks { followed(value, dialect, root)? } else { value };
            let prefix = command.context && (dialect.context_on_objects || !matches!(value, Value::Object(_)));
            show(&value, if prefix { place } else { &[] }, dialect, effect);
        }
    }
    Ok(())
}

/// Prints a value. With `-c`, all words of its path but the last come before each line.
fn show(value: &Value, place: &[String], dialect: &Dialect, effect: &mut Effect) {
    let before = effect.lines.len();
    print::lines(dialect.print, value, &mut effect.lines);
    let words = place.split_last().map_or(&[][..], |(_, words)| words);
    if !words.is_empty() {
        for line in effect.lines.iter_mut().skip(before) {
            *line = format!("{} = {line}", words.join(" = "));
        }
    }
}

/// The value to print, with symlinks followed: a string that is one, or the elements of an array.
fn followed(value: Value, dialect: &Dialect, root: &mut dyn Root) -> Result<Value, Fault> {
    let follow = |value: Value, root: &mut dyn Root| -> Result<Value, Fault> {
        let Some(name) = value.as_str().and_then(|text| text.strip_prefix('!')).filter(|name| !name.is_empty()) else {
            return Ok(value);
        };
        let place = resolve::target(name.to_owned(), dialect, root)?;
        let place = resolve::through_link(place, root)?;
        Ok(resolve::read(&place, dialect, root)?.unwrap_or(Value::Null))
    };
    match value {
        Value::Array(elements) => {
            let mut all = Vec::with_capacity(elements.len());
            for element in elements {
                match (element.as_str().is_some_and(|text| text.starts_with('!')), follow(element, root)?) {
                    // A linked list is replaced by its elements.
                    (true, Value::Array(several)) => all.extend(several),
                    (true, Value::Null) => {}
                    (_, one) => all.push(one),
                }
                if all.len() > MEMBERS_SET_MAX {
                    return too_long();
                }
            }
            Ok(Value::Array(all))
        }
        other => follow(other, root),
    }
}

fn not_found(place: &[String], dialect: &Dialect, root: &mut dyn Root) -> Fault {
    let missing = (1..=place.len())
        .find(|words| place.get(..*words).is_none_or(|part| matches!(resolve::read(part, dialect, root), Ok(None))));
    let word = missing.and_then(|words| place.get(words - 1)).map_or("", String::as_str);
    Fault::Refused(format!("{word} not found"))
}

fn write(
    command: &Command,
    dialect: &Dialect,
    place: &Place,
    root: &mut dyn Root,
    effect: &mut Effect,
) -> Result<(), Fault> {
    if command.strict && resolve::read(place, dialect, root)?.is_none() {
        return Err(not_found(place, dialect, root));
    }
    let Some((name, rest)) = place.split_first() else { return Ok(()) };
    if rest.is_empty()
        && let Some(text) = whatever_is_there(command)
    {
        return root.put(name, Some(Value::from(text)));
    }
    let before = root.shared(name)?;
    let old = match (&before, rest) {
        (Some(whole), []) => Some(Value::clone(whole)),
        (Some(_), _) => resolve::read(place, dialect, root)?,
        (None, _) => None,
    };
    if let Some(expected) = &command.expected {
        let found = old.as_ref().filter(|value| **value != Value::Null);
        let holds = found.map_or(expected.is_empty(), |found| found.means(expected));
        if !holds {
            return Fault::refused(CHANGED);
        }
    }
    let there = if rest.is_empty() { None } else { old.clone() };
    let (new, popped) = match operate::write(&command.operator, old, place, dialect)? {
        Outcome::Unchanged => return Ok(()),
        Outcome::Becomes(value) => (Some(value), None),
        Outcome::Vanishes => (None, None),
        Outcome::Popped { popped, left } => (left, Some(popped)),
    };
    if let Some(popped) = popped {
        let prefix = command.context && dialect.context_on_pop;
        show(&popped, if prefix { place } else { &[] }, dialect, effect);
    }
    // A part that differs makes the whole different, except where it is normalised: then the same is written again,
    // which the store leaves out. To compare the whole would take as long as to copy it.
    let differs = !rest.is_empty() && before.is_some() && there != new;
    let mut after = match (rest, new) {
        ([], new) => new,
        (_, new) => {
            let whole = before.as_deref().filter(|value| **value != Value::Null);
            let mut whole = whole.cloned().unwrap_or_else(|| Value::Object(Members::new()));
            replace(&mut whole, name, rest, new, dialect)?;
            Some(whole)
        }
    };
    if dialect.normal == Normal::Everywhere
        && let Some(value) = &mut after
    {
        normalise::everywhere(value);
    }
    after = after.filter(|value| !normalise::vanishes(dialect.normal, value));
    if differs || after.as_ref() != before.as_deref() {
        root.put(name, after)?;
    }
    Ok(())
}

/// The new string at a place, if the command does not depend on the old value. Nothing needs normalising then.
fn whatever_is_there(command: &Command) -> Option<&str> {
    match &command.operator {
        Operator::Assign(values) if command.expected.is_none() => match values.as_slice() {
            [only] if !only.is_empty() => Some(only),
            _ => None,
        },
        _ => None,
    }
}

/// Puts a value at a path within another, or removes the value there. Missing objects on the way are made, and all are
/// normalised.
fn replace(
    within: &mut Value,
    parent: &str,
    path: &[String],
    new: Option<Value>,
    dialect: &Dialect,
) -> Result<(), Fault> {
    let Some((word, rest)) = path.split_first() else { return Ok(()) };
    let Value::Object(members) = within else { return resolve::cannot_index(within, parent, word, dialect) };
    match (rest, new) {
        ([], Some(value)) => {
            members.insert(word.clone(), value);
        }
        ([], None) => {
            members.shift_remove(word);
        }
        (_, new) => {
            let inner = members.entry(word.clone()).or_insert(Value::Null);
            if *inner == Value::Null {
                *inner = Value::Object(Members::new());
            }
            replace(inner, word, rest, new, dialect)?;
        }
    }
    if dialect.normal == Normal::AlongThePath {
        normalise::along(members);
    }
    Ok(())
}

/// The whole database.
fn all_of(root: &mut dyn Root) -> Result<Value, Fault> {
    let mut members = Members::new();
    let mut bytes = 0;
    root.each(&mut |name, value| {
        bytes += name.len() + operate::size(&value);
        if bytes > REPLY_BYTES_MAX {
            return too_long();
        }
        members.insert(name.to_owned(), value);
        Ok(())
    })?;
    Ok(Value::Object(members))
}

/// Commands on the whole database.
fn at_the_top(command: &Command, dialect: &Dialect, root: &mut dyn Root, effect: &mut Effect) -> Result<(), Fault> {
    match &command.operator {
        Operator::Keys => {
            let mut bytes = 0;
            root.each(&mut |name, _| {
                bytes += name.len() + 1;
                if bytes > REPLY_BYTES_MAX {
                    return too_long();
                }
                effect.lines.push(name.to_owned());
                Ok(())
            })?;
            effect.lines.sort_unstable();
            Ok(())
        }
        Operator::Get | Operator::Edit => {
            let whole = all_of(root)?;
            match command.operator {
                Operator::Edit => effect.lines.push(print::json(dialect.print, &whole)),
                _ => print::lines(dialect.print, &whole, &mut effect.lines),
            }
            Ok(())
        }
        Operator::Set(text) => {
            let Value::Object(members) = operate::json(text.as_deref(), dialect)? else {
                return Fault::refused("top level must be of type dict");
            };
            if members.len() > MEMBERS_SET_MAX {
                return Fault::refused(format!(
                    "--set replaces at most {MEMBERS_SET_MAX} members at the top level; import the file instead"
                ));
            }
            if let Some(expected) = &command.expected
                && !all_of(root)?.means(expected)
            {
                return Fault::refused(CHANGED);
            }
            let mut gone = Vec::new();
            root.each(&mut |name, _| {
                if !members.contains_key(name) {
                    gone.push(name.to_owned());
                }
                if gone.len() > MEMBERS_SET_MAX {
                    return Fault::refused(format!("--set takes at most {MEMBERS_SET_MAX} members away"));
                }
                Ok(())
            })?;
            for name in gone {
                root.put(&name, None)?;
            }
            for (name, mut value) in members {
                if dialect.normal == Normal::Everywhere {
                    normalise::everywhere(&mut value);
                }
                let value = Some(value).filter(|value| !normalise::vanishes(dialect.normal, value));
                if root.member(&name)? != value {
                    root.put(&name, value)?;
                }
            }
            Ok(())
        }
        Operator::Remove(names) if dialect.remove_members => {
            for name in names {
                if root.member(name)?.is_none() {
                    return Fault::refused(format!("{name} not in top level."));
                }
                root.put(name, None)?;
            }
            Ok(())
        }
        Operator::Remove(_) => Fault::refused("this type does not support subtraction"),
        Operator::Pop => Fault::refused("this type does not support pop"),
        Operator::Append(_) => Fault::refused("cannot append to a dictionary"),
        Operator::Assign(values) if values.is_empty() && !dialect.assign_nothing_deletes => Ok(()),
        Operator::Assign(_) => Fault::refused("the top level is an object and stays one: name a key before ="),
        Operator::Delete => Fault::refused("the top level cannot be deleted; delete its keys"),
        Operator::Search(_) | Operator::Flush => Ok(()),
    }
}
