//! Python's ways of writing values: `repr`, `pprint`, ASCII JSON. Pure. (The interpreter's own module `pprint` has the
//! rules by which lines are broken at 80 columns.)

use std::fmt::Write as _;

use crate::value::{Number, Value};

/// Columns at which `pprint` breaks lines.
const WIDTH: usize = 80;

/// `repr(value)`, with the members of objects sorted.
pub(crate) fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_repr(value, &mut out);
    out
}

fn write_repr(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(value) => out.push_str(&number(value)),
        Value::String(text) => out.push_str(&string(text)),
        Value::Array(elements) => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                write_repr(element, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, member)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                out.push_str(&string(name));
                out.push_str(": ");
                write_repr(member, out);
            }
            out.push('}');
        }
    }
}

/// `repr` of a number: integers plain, floats with the fewest digits.
pub(crate) fn number(number: &Number) -> String {
    if number.is_integer() {
        return number.text().to_owned();
    }
    let Some((sign, digits, exponent)) = shortest(number) else { return format!("{:?}", number.to_f64()) };
    if (-4..16).contains(&exponent) {
        return point(sign, &digits, exponent);
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let (sign_of, size) = if exponent < 0 { ('-', -exponent) } else { ('+', exponent) };
    format!("{sign}{first}{dot}{rest}e{sign_of}{size:02}")
}

/// Digits with a point, and at least one digit on each side of it.
pub(crate) fn point(sign: &str, digits: &str, exponent: i32) -> String {
    let Ok(whole) = usize::try_from(exponent + 1) else {
        return format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    };
    match digits.split_at_checked(whole) {
        Some(("", rest)) => format!("{sign}0.{rest}"),
        Some((whole, "")) => format!("{sign}{whole}.0"),
        Some((whole, rest)) => format!("{sign}{whole}.{rest}"),
        None => format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len())),
    }
}

/// `repr` of a string.
fn string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        // Writing to a String cannot fail.
        let _ = match c {
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            '\r' => out.write_str("\\r"),
            '\t' => out.write_str("\\t"),
            c if c == quote => write!(out, "\\{c}"),
            c if c < ' ' || ('\x7f'..='\u{a0}').contains(&c) || c == '\u{ad}' => write!(out, "\\x{:02x}", u32::from(c)),
            '\u{2028}'..='\u{202f}' | '\u{2000}'..='\u{200f}' | '\u{3000}' | '\u{feff}' | '\u{e000}'..='\u{f8ff}' => {
                write!(out, "\\u{:04x}", u32::from(c))
            }
            c => out.write_char(c),
        };
    }
    out.push(quote);
    out
}

/// JSON with everything beyond ASCII escaped.
pub(crate) fn ascii(json: &str) -> String {
    if json.is_ascii() && !json.contains('\x7f') {
        return json.to_owned();
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// `pprint.pformat(value)`.
pub(crate) fn pretty(value: &Value) -> String {
    let mut out = String::new();
    write_pretty(value, 0, 0, 1, &mut out);
    out
}

fn write_pretty(value: &Value, indent: usize, allowance: usize, level: usize, out: &mut String) {
    let whole = repr(value);
    if indent + allowance + whole.chars().count() <= WIDTH {
        out.push_str(&whole);
        return;
    }
    let separator = format!(",\n{}", " ".repeat(indent + 1));
    match value {
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            let last = sorted.len().saturating_sub(1);
            out.push('{');
            for (at, (name, member)) in sorted.into_iter().enumerate() {
                let name = string(name);
                out.push_str(&name);
                out.push_str(": ");
                let behind = if at == last { allowance + 1 } else { 1 };
                write_pretty(member, indent + 1 + name.chars().count() + 2, behind, level + 1, out);
                if at < last {
                    out.push_str(&separator);
                }
            }
            out.push('}');
        }
        Value::Array(elements) => {
            let last = elements.len().saturating_sub(1);
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                write_pretty(element, indent + 1, if at == last { allowance + 1 } else { 1 }, level + 1, out);
                if at < last {
                    out.push_str(&separator);
                }
            }
            out.push(']');
        }
        Value::String(text) => write_long_string(text, indent, allowance, level, out),
        _ => out.push_str(&whole),
    }
}

/// A string that is too long for its line: pieces that end at blanks, below each other.
fn write_long_string(text: &str, indent: usize, allowance: usize, level: usize, out: &mut String) {
    let (indent, allowance) = if level == 1 { (indent + 1, allowance + 1) } else { (indent, allowance) };
    let width = WIDTH.saturating_sub(indent);
    let fits = |text: &str, width: usize| string(text).chars().count() <= width;
    let mut pieces: Vec<String> = Vec::new();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for (nth, line) in lines.iter().enumerate() {
        let is_last = nth + 1 == lines.len();
        let narrow = width.saturating_sub(allowance);
        if fits(line, if is_last { narrow } else { width }) {
            pieces.push(string(line));
            continue;
        }
        let parts = words_with_blanks(line);
        let mut current = String::new();
        for (at, part) in parts.iter().enumerate() {
            let width = if is_last && at + 1 == parts.len() { narrow } else { width };
            let longer = format!("{current}{part}");
            if fits(&longer, width) {
                current = longer;
            } else {
                if !current.is_empty() {
                    pieces.push(string(&current));
                }
                (*part).clone_into(&mut current);
            }
        }
        if !current.is_empty() {
            pieces.push(string(&current));
        }
    }
    let parentheses = level == 1 && pieces.len() > 1;
    if parentheses {
        out.push('(');
    }
    out.push_str(&pieces.join(&format!("\n{}", " ".repeat(indent))));
    if parentheses {
        out.push(')');
    }
}

/// Each word with the blanks after it.
fn words_with_blanks(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut blank) = (0, false);
    for (at, c) in line.char_indices() {
        if blank && !c.is_whitespace() {
            parts.extend(line.get(start..at));
            start = at;
        }
        blank = c.is_whitespace();
    }
    parts.extend(line.get(start..).filter(|rest| !rest.is_empty()));
    parts
}

/// The fewest digits that identify a double, and the power of ten of the first of them; `None` if the number is no
/// double.
pub(crate) fn shortest(number: &Number) -> Option<(&'static str, String, i32)> {
    let value = number.to_f64();
    if !value.is_finite() {
        return None;
    }
    let text = format!("{:e}", value.abs());
    let (digits, exponent) = text.split_once('e')?;
    let sign = if number.text().starts_with('-') { "-" } else { "" };
    Some((sign, digits.replace('.', ""), exponent.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by Python 3.11: `pprint.pformat(json.loads(text))`.
    #[test]
    fn values_are_written_as_python_writes_them() {
        for (text, written) in [
            (r#"{"b":"it's","a":["x",1,1.5,true,null,{}]}"#, r#"{'a': ['x', 1, 1.5, True, None, {}], 'b': "it's"}"#),
            (r#""both ' and \"""#, r#"'both \' and "'"#),
            ("[1e16,1e15,0.0001,0.00001,-0.0,1.25e22]", "[1e+16, 1000000000000000.0, 0.0001, 1e-05, -0.0, 1.25e+22]"),
            (
                r#"{"first":["aaaaaaaaaaaaaaaaaaaaaaaa","bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","cccccccccccccccccccccccc"],"second":1}"#,
                "{'first': ['aaaaaaaaaaaaaaaaaaaaaaaa',\n           'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',\n           'cccccccccccccccccccccccc'],\n 'second': 1}",
            ),
            (
                r#"{"text":"the quick brown fox jumps over the lazy dog and then it does so again and again"}"#,
                "{'text': 'the quick brown fox jumps over the lazy dog and then it does so '\n         'again and \
                 again'}",
            ),
        ] {
            assert_eq!(pretty(&Value::parse(text).unwrap()), written);
        }
    }
}
