//! Equality of JSON values: members in any order, strings by their characters, numbers by their text or by their exact
//! value. Values become one canonical text each, which is compared.

use super::outline::{Kind, View};
use super::quote;

/// How numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Numbers {
    /// By their text: `1` and `1.0` differ, as they do in a document's revision.
    ByText,
    /// By their value, exactly: `1`, `1.0` and `10e-1` are equal.
    ByValue,
}

/// Whether two values are equal.
pub(super) fn same(a: View<'_>, b: View<'_>, numbers: Numbers) -> bool {
    a.text() == b.text() || (a.kind() == b.kind() && canonical(a, numbers) == canonical(b, numbers))
}

/// The canonical text of a value: equal values, and no others, have the same.
pub(super) fn canonical(value: View<'_>, numbers: Numbers) -> String {
    let mut out = String::with_capacity(value.text().len());
    write(value, numbers, &mut out);
    out
}

/// It recurses, because outlined texts nest no deeper than `JSON_DEPTH_MAX`.
fn write(value: View<'_>, numbers: Numbers, out: &mut String) {
    match value.kind() {
        Kind::Object => {
            let mut members: Vec<_> = value.children().map(|member| (member.name().decode(), member)).collect();
            members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            for (name, member) in members {
                out.push_str(&quote(&name));
                write(member, numbers, out);
                out.push(',');
            }
            out.push('}');
        }
        Kind::Array => {
            out.push('[');
            for element in value.children() {
                write(element, numbers, out);
                out.push(',');
            }
            out.push(']');
        }
        Kind::String => out.push_str(&quote(&value.string().decode())),
        Kind::Number if numbers == Numbers::ByValue => push_decimal(value.text(), out),
        Kind::Number | Kind::Word => out.push_str(value.text()),
    }
}

/// Whether two texts of numbers have exactly the same value.
#[cfg(feature = "typed")]
pub fn same_number(a: &str, b: &str) -> bool {
    let decimal = |text| {
        let mut out = String::new();
        push_decimal(text, &mut out);
        out
    };
    decimal(a) == decimal(b)
}

/// A number as its digits without zeros at either end, and a power of ten.
fn push_decimal(text: &str, out: &mut String) {
    let (negative, unsigned) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, fraction].concat();
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        out.push('0');
        return;
    }
    let Ok(exponent) = exponent.parse::<i64>() else {
        // The power of ten is beyond all bounds: the number only equals its own text.
        out.push_str(text);
        return;
    };
    let power = i128::from(exponent) - fraction.len() as i128 + (digits.len() - significant.len()) as i128;
    if negative {
        out.push('-');
    }
    out.push_str(significant);
    out.push('e');
    out.push_str(&power.to_string());
}

#[cfg(test)]
mod tests {
    use super::super::outline::Outline;
    use super::*;

    fn are_same(a: &str, b: &str, numbers: Numbers) -> bool {
        let (a, b) = (Outline::of(a).unwrap(), Outline::of(b).unwrap());
        same(a.root(), b.root(), numbers)
    }

    #[test]
    fn values_are_the_same_by_what_they_stand_for() {
        for (a, b, by_value, by_text) in [
            ("1", "1", true, true),
            ("1", "1.0", true, false),
            ("100", "1e2", true, false),
            ("1", "0.001E+3", true, false),
            ("0", "-0.0", true, false),
            ("-5", "5", false, false),
            ("10", "1", false, false),
            ("123456789012345678901", "123456789012345678902", false, false),
            ("0.1", "0.1000000000000000055", false, false),
            ("1e99999999999999999999", "1e99999999999999999999", true, true),
            (r#""e""#, r#""\u0065""#, true, true),
            (r#""1""#, "1", false, false),
            (r#"{"a":1,"b":[2]}"#, r#"{"b":[2],"\u0061":1}"#, true, true),
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, false, false),
            (r#"{"a":{"b":1}}"#, r#"{"a":{},"b":1}"#, false, false),
            ("[1,2]", "[2,1]", false, false),
            ("[[1],2]", "[[1,2]]", false, false),
            ("null", "false", false, false),
            ("[]", "{}", false, false),
        ] {
            assert_eq!(are_same(a, b, Numbers::ByValue), by_value, "{a} and {b} by value");
            assert_eq!(are_same(a, b, Numbers::ByText), by_text, "{a} and {b} by text");
        }
    }
}
