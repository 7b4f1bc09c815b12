//! Printing values in replies: lines of `get`, the JSON of `--edit`. Pure; both dialects' forms.

use recension::json::quote;

use crate::dialect::Print;
use crate::python;
use crate::value::{Number, Value};

/// The lines of a value, as `get` prints it.
pub(crate) fn lines(print: Print, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::String(text) if text.is_empty() => {}
        Value::Array(elements) => {
            for element in elements {
                match (print, element) {
                    // An array within an array is printed as a whole: lines of its own would not show where it belongs.
                    (Print::Python, Value::String(text)) => out.push(text.clone()),
                    (Print::Python, other) => out.push(python::repr(other)),
                    (Print::Json, other) => lines(print, other, out),
                }
            }
        }
        Value::Object(members) if members.is_empty() => {}
        Value::Object(_) => out.push(match print {
            Print::Json => json(print, value),
            Print::Python => python::pretty(value),
        }),
        Value::Bool(false) if print == Print::Python => {}
        other => out.push(scalar(print, other)),
    }
}

fn scalar(print: Print, value: &Value) -> String {
    match (print, value) {
        (_, Value::String(text)) => text.clone(),
        (Print::Json, Value::Number(number)) => haskell_number(number),
        (Print::Json, other) => other.to_json(),
        (Print::Python, other) => python::repr(other),
    }
}

/// Indented JSON with sorted members.
pub(crate) fn json(print: Print, value: &Value) -> String {
    let mut out = String::new();
    write_json(print, value, 0, &mut out);
    out
}

/// A string as JSON.
pub(crate) fn json_string(print: Print, text: &str) -> String {
    let quoted = quote(text);
    match print {
        Print::Json => quoted,
        Print::Python => python::ascii(&quoted),
    }
}

fn write_json(print: Print, value: &Value, depth: usize, out: &mut String) {
    let newline = |out: &mut String, depth: usize| {
        out.push('\n');
        for _ in 0..depth {
            out.push_str("    ");
        }
    };
    match value {
        Value::String(text) => out.push_str(&json_string(print, text)),
        Value::Number(number) => out.push_str(&match print {
            Print::Json => haskell_number(number),
            Print::Python => python::number(number),
        }),
        Value::Array(elements) if !elements.is_empty() => {
            out.push('[');
            for (at, element) in elements.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                newline(out, depth + 1);
                write_json(print, element, depth + 1, out);
            }
            newline(out, depth);
            out.push(']');
        }
        Value::Object(members) if !members.is_empty() => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, member)) in sorted.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                newline(out, depth + 1);
                out.push_str(&json_string(print, name));
                out.push_str(": ");
                write_json(print, member, depth + 1, out);
            }
            newline(out, depth);
            out.push('}');
        }
        other => other.write_json(out),
    }
}

/// A number as Haskell's `scientific` shows it: integers plain, others between 0.1 and 10^7 with a point.
fn haskell_number(number: &Number) -> String {
    if number.is_integer() {
        return number.text().to_owned();
    }
    let Some((sign, digits, exponent)) = python::shortest(number) else { return number.text().to_owned() };
    if (-1..7).contains(&exponent) {
        return python::point(sign, &digits, exponent);
    }
    let (first, rest) = digits.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{first}.{rest}e{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(print: Print, text: &str) -> String {
        let mut out = Vec::new();
        lines(print, &Value::parse(text).unwrap(), &mut out);
        out.join("|")
    }

    #[test]
    fn values_are_printed_as_the_existing_servers_print_them() {
        for (text, haskell, python) in [
            (r#""é""#, "é", "é"),
            ("1e21", "1.0e21", "1e+21"),
            ("100.0", "100.0", "100.0"),
            ("1e-7", "1.0e-7", "1e-07"),
            ("12", "12", "12"),
            ("true", "true", "True"),
            ("false", "false", ""),
            ("null", "", ""),
            ("[]", "", ""),
            ("{}", "", ""),
            (r#"["a",{"b":"1"},["c","d"],2]"#, "a|{\n    \"b\": \"1\"\n}|c|d|2", "a|{'b': '1'}|['c', 'd']|2"),
            (r#"{"b":[],"a":{}}"#, "{\n    \"a\": {},\n    \"b\": []\n}", "{'a': {}, 'b': []}"),
        ] {
            assert_eq!(shown(Print::Json, text), haskell, "{text}");
            assert_eq!(shown(Print::Python, text), python, "{text}");
        }
    }

    #[test]
    fn json_is_in_ascii_for_python() {
        let value = Value::parse(r#"{"é":"☃𝄞"}"#).unwrap();
        assert_eq!(json(Print::Python, &value), "{\n    \"\\u00e9\": \"\\u2603\\ud834\\udd1e\"\n}");
        assert_eq!(json(Print::Json, &value), "{\n    \"é\": \"☃𝄞\"\n}");
    }
}
