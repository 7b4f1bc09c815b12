//! `@ value`: the places of a string, as a key or as a value. Objects within arrays are not searched.

use super::resolve::{self, Place};
use super::root::{Fault, Root};
use crate::dialect::Dialect;
use crate::limits::REPLY_BYTES_MAX;
use crate::value::Value;

/// Looks for `wanted` in the value at a place, and below it.
pub(super) fn search(
    place: &Place,
    wanted: &str,
    dialect: &Dialect,
    root: &mut dyn Root,
    lines: &mut Vec<String>,
) -> Result<(), Fault> {
    let mut found = Found { wanted, lines, bytes: 0 };
    let mut path: Vec<String> = place.clone();
    if path.is_empty() {
        return root.each(&mut |name, value| found.member(&mut path, name, &value));
    }
    if let Some(Value::Object(members)) = resolve::read(place, dialect, root)? {
        for (name, value) in &members {
            found.member(&mut path, name, value)?;
        }
    }
    Ok(())
}

struct Found<'f> {
    wanted: &'f str,
    lines: &'f mut Vec<String>,
    bytes: usize,
}

impl Found<'_> {
    fn member(&mut self, path: &mut Vec<String>, name: &str, value: &Value) -> Result<(), Fault> {
        let is_it = |value: &Value| value.as_str() == Some(self.wanted);
        if is_it(value) {
            return self.note(path, Some(name));
        }
        if name == self.wanted {
            return self.note(path, None);
        }
        match value {
            Value::Object(members) => {
                path.push(name.to_owned());
                for (name, value) in members {
                    self.member(path, name, value)?;
                }
                path.pop();
                Ok(())
            }
            Value::Array(elements) if elements.iter().any(is_it) => self.note(path, Some(name)),
            _ => Ok(()),
        }
    }

    fn note(&mut self, path: &[String], name: Option<&str>) -> Result<(), Fault> {
        let mut words: Vec<&str> = path.iter().map(String::as_str).collect();
        words.extend(name);
        let place = words.join(" ");
        let line = if place.is_empty() { self.wanted.to_owned() } else { format!("{place} = {}", self.wanted) };
        self.bytes += line.len() + 1;
        if self.bytes > REPLY_BYTES_MAX {
            return Fault::refused(format!("more than {REPLY_BYTES_MAX} bytes were found; look for something rarer"));
        }
        self.lines.push(line);
        Ok(())
    }
}
