//! JSON texts in CouchDB's spelling: a number with a fraction or an exponent in its shortest form (`1e2` is `100.0`),
//! strings with as few escapes as possible. Clients see the text that CouchDB would have answered, and a read need not
//! change it. What replicas send is stored as it is. Pure; the input is a minified JSON text.

use std::fmt::Write as _;

/// The text in CouchDB's spelling; `None` if it is in that already.
pub(crate) fn normalized(text: &str) -> Option<String> {
    if !may_differ(text) {
        return None;
    }
    let out = rewritten(text, push_string, push_number);
    (out != text).then_some(out)
}

/// The text with those numbers replaced that CouchDB's parser reads as others; `None` if there are none. A revision is
/// of what is stored, so it is made from this.
pub(crate) fn as_read(text: &str) -> Option<String> {
    let number = |token: &str, out: &mut String| match (token.parse::<f64>(), read_by_couchdb(token)) {
        (Ok(value), Some(read)) if value.to_bits() != read.to_bits() => push_number(token, out),
        _ => out.push_str(token),
    };
    let out = rewritten(text, |token, out| out.push_str(token), number);
    (out != text).then_some(out)
}

fn rewritten(text: &str, string: impl Fn(&str, &mut String), number: impl Fn(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.bytes().next() {
        let (token, after) = rest.split_at(token_len(rest));
        match first {
            b'"' => string(token, &mut out),
            b'-' | b'0'..=b'9' => number(token, &mut out),
            _ => out.push_str(token),
        }
        rest = after;
    }
    out
}

/// The double that CouchDB's parser (jiffy) makes of a number with a fraction or an exponent. The C library reports a
/// range error for subnormal results. Jiffy then computes a number without a point as its integer times a power of ten,
/// and that power may be zero: `5e-324` becomes 0.0, and `1e-310` stays.
fn read_by_couchdb(token: &str) -> Option<f64> {
    let value: f64 = token.parse().ok()?;
    match token.split_once(['e', 'E']) {
        Some((integer, exponent)) if value.abs() < f64::MIN_POSITIVE && !integer.contains('.') => {
            Some(integer.parse::<f64>().ok()? * format!("1e{exponent}").parse::<f64>().ok()?)
        }
        _ => Some(value),
    }
}

/// Whether anything in it could be spelled otherwise. In most documents nothing can.
fn may_differ(text: &str) -> bool {
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
    let Some(value) = read_by_couchdb(token) else { return out.push_str(token) };
    // CouchDB does not write the sign of zero.
    if value == 0.0 {
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
            ("0.1e-309", "1e-310"),
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
            "-1e-310",
            "0.1",
            "0.000001",
            "12345678901234567890",
            r#"{"e":true,"f":"a-0.e1\\u0041\n"}"#,
            "-5",
            "1e+300",
            "1e-7",
            "1e-310",
        ] {
            assert_eq!(normalized(text), None, "{text}");
        }
    }

    #[test]
    fn only_numbers_that_couchdb_reads_as_others_are_replaced() {
        assert_eq!(as_read(r#"{"5e-324":[5e-324,1e2,"5e-324"]}"#).as_deref(), Some(r#"{"5e-324":[0.0,1e2,"5e-324"]}"#));
        for text in ["-0.0", "1e-310", "0.5e-323", "1e2", "12345678901234567890", r#""\/""#] {
            assert_eq!(as_read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_normal_stays_and_means_the_same(number in any::<f64>().prop_filter("finite", |n| n.is_finite()), string in ".*") {
            let text = serde_json::to_string(&(number, &string)).unwrap();
            let normal = normalized(&text).unwrap_or(text);
            prop_assert_eq!(normalized(&normal), None);
            let (read, same): (f64, String) = serde_json::from_str(&normal).unwrap();
            let sent = serde_json::to_string(&number).unwrap();
            prop_assert_eq!(Some(read + 0.0), read_by_couchdb(&sent).map(|number| number + 0.0));
            prop_assert_eq!(same, string);
        }
    }
}
