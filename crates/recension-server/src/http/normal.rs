//! JSON texts in CouchDB's spelling: a number with a fraction or an exponent in its shortest form (`1e2` is `100.0`),
//! strings with as few escapes as possible. Clients see the text that CouchDB would have answered, and a read need not
//! change it. Pure; the input is a minified JSON text.

use std::fmt::Write as _;

/// The text in CouchDB's spelling; `None` if it is in that already.
pub(crate) fn normalized(text: &str) -> Option<String> {
    if !may_differ(text) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        let (token, after) = rest.split_at(token_len(rest));
        match first {
            b'"' => push_string(token, &mut out),
            b'-' | b'0'..=b'9' => push_number(token, &mut out),
            _ => out.push_str(token),
        }
        rest = after;
    }
    (out != text).then_some(out)
}

/// Whether anything in it could be spelled otherwise. In most documents nothing can.
pub(crate) fn may_differ(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut in_string = false;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if in_string {
            match byte {
                b'\\' => match bytes.get(at + 1) {
                    Some(b'u' | b'/') => return true,
                    _ => at += 1,
                },
                b'"' => in_string = false,
                _ => {}
            }
        } else {
            match byte {
                b'"' => in_string = true,
                // A fraction, an exponent (not the e of true and false), or a minus before a zero.
                b'.' | b'E' => return true,
                b'e' if at > 0 && bytes[at - 1].is_ascii_digit() => return true,
                b'-' if bytes.get(at + 1) == Some(&b'0') => return true,
                _ => {}
            }
        }
        at += 1;
    }
    false
}

fn token_len(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    match bytes.first() {
        Some(b'"') => {
            let mut at = 1;
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'\\' => at += 1,
                    b'"' => return at + 1,
                    _ => {}
                }
                at += 1;
            }
            bytes.len()
        }
        Some(b'-' | b'0'..=b'9') => {
            let in_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
            bytes.iter().position(|byte| !in_number(byte)).unwrap_or(bytes.len())
        }
        // Punctuation and the three words consist of single bytes.
        _ => 1,
    }
}

fn push_string(token: &str, out: &mut String) {
    let decoded = if token.contains('\\') { serde_json::from_str::<String>(token).ok() } else { None };
    let Some(decoded) = decoded else { return out.push_str(token) };
    out.push('"');
    for c in decoded.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn push_number(token: &str, out: &mut String) {
    if !token.contains(['.', 'e', 'E']) {
        return out.push_str(if token == "-0" { "0" } else { token });
    }
    let Ok(value) = token.parse::<f64>() else { return out.push_str(token) };
    // CouchDB's parser loses subnormal numbers, and the sign of zero.
    if value.abs() < f64::MIN_POSITIVE {
        return out.push_str("0.0");
    }
    // The shortest digits that read back as the same number, as d.ddde±x.
    let shortest = format!("{value:e}");
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let (Ok(exponent), negative) = (exponent.parse::<i32>(), digits.starts_with('-')) else {
        return out.push_str(token);
    };
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    if negative {
        out.push('-');
    }
    if !(-6..21).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let sign = if exponent > 0 { "+" } else { "" };
        let _ = write!(out, "{first}{point}{rest}e{sign}{exponent}");
        return;
    }
    // Digits before the point: none, some of them, or all and zeros.
    match usize::try_from(exponent + 1) {
        Ok(before) if before >= digits.len() => {
            let _ = write!(out, "{digits}{}.0", "0".repeat(before - digits.len()));
        }
        Ok(before) if before > 0 => {
            let (whole, fraction) = digits.split_at(before);
            let _ = write!(out, "{whole}.{fraction}");
        }
        _ => {
            let zeros = "0".repeat((exponent + 1).unsigned_abs() as usize);
            let _ = write!(out, "0.{zeros}{digits}");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_written_as_couchdb_writes_them() {
        for (text, expected) in [
            ("1e2", "100.0"),
            ("-0", "0"),
            ("-0.0", "0.0"),
            ("1E+2", "100.0"),
            ("1e300", "1e+300"),
            ("1.0e-7", "1e-7"),
            ("5e-324", "0.0"),
            ("1.50", "1.5"),
            ("-12.5e-3", "-0.0125"),
            ("1e20", "100000000000000000000.0"),
            ("1.25e21", "1.25e+21"),
            (r#""\/\u001f\u00e9\ud83d\ude00\u0000\"""#, "\"/\\u001Fé😀\\u0000\\\"\""),
            (r#"{"a\/b":[true,1e0,"1e2"]}"#, r#"{"a/b":[true,1.0,"1e2"]}"#),
        ] {
            assert_eq!(normalized(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "1.0",
            "0.1",
            "0.000001",
            "12345678901234567890",
            r#"{"e":true,"f":"a-0.e1\\u0041\n"}"#,
            "-5",
            "1e+300",
            "1e-7",
        ] {
            assert_eq!(normalized(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_normal_stays_and_means_the_same(number in any::<f64>().prop_filter("finite", |n| n.is_finite()), string in ".*") {
            let text = serde_json::to_string(&(number, &string)).unwrap();
            let normal = normalized(&text).unwrap_or(text);
            prop_assert_eq!(normalized(&normal), None);
            let (read, same): (f64, String) = serde_json::from_str(&normal).unwrap();
            prop_assert!(read.to_bits() == number.to_bits() || number.abs() < f64::MIN_POSITIVE);
            prop_assert_eq!(same, string);
        }
    }
}
