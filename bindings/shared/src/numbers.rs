//! Numbers of documents that a language reads as doubles: which of them a double spells as they are, and what becomes
//! of the others when a document is written back.

use std::collections::HashMap;
use std::fmt::Write as _;

use recension::json::{Event, Number, Parser};
use recension::{At, Expect, Write};

use crate::{Place, Result};

/// Whether every language writes the double of a number as this text again, seen from the text alone: few digits, no
/// exponent, no zero at the end. `1.0` is not one: JavaScript writes 1.
pub fn is_plain(text: &str) -> bool {
    let few = text.len() <= 16;
    match text.split_once('.') {
        None => few && text != "-0" && !text.contains(['e', 'E']),
        Some((whole, fraction)) => {
            // Smaller ones may have exponents.
            let tiny = whole.trim_start_matches('-') == "0" && fraction.starts_with("000");
            few && !tiny && !fraction.ends_with('0') && fraction.bytes().all(|byte| byte.is_ascii_digit())
        }
    }
}

/// The integers beyond it are not all doubles.
const SAFE: f64 = 9_007_199_254_740_991.0;

/// Calls `each` with every number, and with its place: the path with and without the numbers of elements.
fn walk<'t>(text: &'t str, mut each: impl FnMut(&str, &str, Number<'t>)) {
    let mut parser = Parser::of_text(text);
    let (mut path, mut place) = (String::new(), String::new());
    let mut around: Vec<(usize, usize, Option<usize>)> = Vec::new();
    while let Ok(Some(event)) = parser.next_event() {
        if !matches!(event, Event::Key(_) | Event::ObjectEnd | Event::ArrayEnd)
            && let Some((of_path, of_place, Some(number))) = around.last_mut()
        {
            path.truncate(*of_path);
            place.truncate(*of_place);
            path.push_str("[]");
            _ = write!(place, "[{number}]");
            *number += 1;
        }
        match event {
            Event::ObjectStart => around.push((path.len(), place.len(), None)),
            Event::ArrayStart => around.push((path.len(), place.len(), Some(0))),
            Event::ObjectEnd | Event::ArrayEnd => _ = around.pop(),
            Event::Key(name) => {
                let Some((of_path, of_place, _)) = around.last() else { return };
                path.truncate(*of_path);
                place.truncate(*of_place);
                let name = name.decode();
                for to in [&mut path, &mut place] {
                    _ = write!(to, "/{}:{name}", name.len());
                }
            }
            Event::Number(number) => each(&path, &place, number),
            Event::String(_) | Event::Bool(_) | Event::Null => {}
        }
    }
}

fn bits(number: Number<'_>) -> u64 {
    // -0 and 0 are equal to a program.
    (number.to_f64() + 0.0).to_bits()
}

/// A document that was read as doubles and is written again: numbers that have not changed, as the document that it
/// replaces spells them. `None` if there are none. `exact`: integers beyond the doubles came as what they are.
///
/// Unchanged is the same double at the same place, or at another place of the same array if there is one spelling only.
pub fn respelled(old: &str, new: &str, exact: bool) -> Option<String> {
    let mut odd = false;
    walk(old, |_, _, number| odd |= !is_plain(number.text));
    if !odd {
        return None;
    }
    let mut known: HashMap<(String, u64), Vec<(String, &str)>> = HashMap::new();
    walk(old, |path, place, number| {
        if !(exact && number.integer && number.to_f64().abs() > SAFE) {
            known.entry((path.to_owned(), bits(number))).or_default().push((place.to_owned(), number.text));
        }
    });
    let (mut out, mut copied) = (String::with_capacity(new.len()), 0);
    walk(new, |path, place, number| {
        let Some(spellings) = known.get(&(path.to_owned(), bits(number))) else { return };
        // An integer that is no double's own text was not read as a double.
        if exact && number.integer && number.text != format!("{}", number.to_f64() + 0.0) {
            return;
        }
        let here = spellings.iter().find(|(own, _)| own == place);
        let only = || spellings.first().filter(|(_, first)| spellings.iter().all(|(_, other)| other == first));
        if let Some((_, text)) = here.or_else(only)
            && *text != number.text
        {
            let at = number.text.as_ptr().addr() - new.as_ptr().addr();
            out.push_str(&new[copied..at]);
            out.push_str(text);
            copied = at + number.text.len();
        }
    });
    if copied == 0 {
        return None;
    }
    out.push_str(&new[copied..]);
    Some(out)
}

impl Place {
    /// A write of a document that a program read as doubles: numbers that it has not changed stay as they are stored.
    /// `exact`: integers beyond the doubles came as what they are.
    pub fn unchanged_numbers(&self, name: &str, write: Write, exact: bool) -> Result<Write> {
        let Some(id) = write.id() else { return Ok(write) };
        let stored = match write.expectation() {
            Expect::Absent => None,
            Expect::Anything => self.get(name, id)?.map(|document| document.body.into_owned()),
            Expect::Revision(rev) | Expect::Leaf(rev) => {
                let found = self.read(name, At::Now, |collection| collection.get_revision(id, &rev))?;
                found.map(|revision| revision.body)
            }
        };
        match stored.and_then(|stored| respelled(&stored, write.body(), exact)) {
            Some(body) => Ok(write.hashed_as(&body)?.reworded(body)),
            None => Ok(write),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_have_not_changed_are_spelled_as_they_were() {
        let long = "0.1000000000000000055511151231257827";
        let old =
            format!(r#"{{"a":{long},"b":[1.10,2.0,{{"c":1e-310}}],"d":1E2,"e":-0,"f":12345678901234567890,"g":1.5}}"#);
        for (new, exact, expected) in [
            // As JavaScript writes it.
            (
                r#"{"g":2.5,"a":0.1,"b":[1.1,2,{"c":1e-310}],"d":100,"e":0,"f":12345678901234567890}"#,
                true,
                Some(format!(
                    r#"{{"g":2.5,"a":{long},"b":[1.10,2.0,{{"c":1e-310}}],"d":1E2,"e":-0,"f":12345678901234567890}}"#
                )),
            ),
            // An element was taken out before others.
            (r#"{"b":[2,{"c":1e-310}]}"#, true, Some(r#"{"b":[2.0,{"c":1e-310}]}"#.to_owned())),
            // Others, or elsewhere.
            (r#"{"a":0.2,"b":[1.2],"d":101,"h":0.1,"i":{"a":0.1},"f":12345678901234567891}"#, true, None),
            (r#"{"f":12345678901234567000}"#, true, None),
            (r#"{"f":12345678901234567000}"#, false, Some(r#"{"f":12345678901234567890}"#.to_owned())),
        ] {
            assert_eq!(respelled(&old, new, exact), expected, "{new}");
        }
        assert_eq!(
            respelled(r#"{"a":1e20}"#, r#"{"a":100000000000000000000}"#, true).as_deref(),
            Some(r#"{"a":1e20}"#)
        );
        assert_eq!(respelled(r#"{"a":1e20}"#, r#"{"a":100000000000000000001}"#, true), None);
        assert_eq!(
            respelled(r#"{"a":[1.1,1.10]}"#, r#"{"a":[1.1,1.1]}"#, true).as_deref(),
            Some(r#"{"a":[1.1,1.10]}"#)
        );
        assert_eq!(respelled(r#"{"a":1,"b":"1.10"}"#, r#"{"a":1,"b":1.1}"#, true), None);
    }
}
