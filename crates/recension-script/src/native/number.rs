//! Numbers as JavaScript writes and reads them. Pure.

// A double has few digits and a small exponent. Rounding is the purpose here.
#![allow(clippy::cast_possible_wrap, clippy::cast_sign_loss, clippy::cast_precision_loss)]

use std::fmt::Write as _;

/// A number as JavaScript prints it.
pub(super) fn print(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-Infinity" } else { "Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    // The fewest digits that read back as the number, and the power of ten.
    let shortest = format!("{:e}", number.abs());
    let Some((mantissa, power)) = shortest.split_once('e') else { return shortest };
    let digits = mantissa.replace('.', "");
    let point = power.parse::<i32>().unwrap_or(0) + 1;
    let count = digits.len() as i32;
    let mut out = if number < 0.0 { "-".to_owned() } else { String::new() };
    // Writing to a String cannot fail.
    let _ = match point {
        1..=21 if point >= count => write!(out, "{digits}{}", "0".repeat((point - count) as usize)),
        1..=21 => write!(out, "{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -5..=0 => write!(out, "0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let sign = if point > 0 { '+' } else { '-' };
            let power = (point - 1).abs();
            match digits.split_at(1) {
                (first, "") => write!(out, "{first}e{sign}{power}"),
                (first, rest) => write!(out, "{first}.{rest}e{sign}{power}"),
            }
        }
    };
    out
}

/// The number that JavaScript converts a text to.
pub(super) fn of_text(text: &str) -> f64 {
    let text = text.trim_matches(|c: char| {
        // White space and line ends of the language.
        matches!(c, '\u{9}'..='\u{d}' | ' ' | '\u{a0}' | '\u{feff}' | '\u{1680}' | '\u{2000}'..='\u{200a}')
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
    });
    let radix = [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)];
    for (prefix, radix) in radix {
        if let Some(digits) = text.strip_prefix(prefix) {
            return of_digits(digits, radix).unwrap_or(f64::NAN);
        }
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ if text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-')) => {
            text.parse().unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}

/// The number for digits in a base that is a power of two, rounded to the nearest double.
fn of_digits(digits: &str, radix: u32) -> Option<f64> {
    let bits = radix.trailing_zeros();
    let (mut value, mut more, mut power) = (0_u128, false, 0_i32);
    if digits.is_empty() {
        return None;
    }
    for digit in digits.chars() {
        let digit = digit.to_digit(radix)?;
        if value >> (126 - bits) == 0 {
            value = value << bits | u128::from(digit);
        } else {
            more |= digit != 0;
            power = power.saturating_add(bits as i32);
        }
    }
    // The digits that were cut off matter only if the number lies exactly between two doubles.
    let rounded = (value << 1 | u128::from(more)) as f64 / 2.0;
    Some(rounded * 2_f64.powi(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp)]
    fn numbers_are_printed_and_read_as_in_javascript() {
        for (number, printed) in [
            (1.0, "1"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (123_456_789_012_345_680_000.0, "123456789012345680000"),
            (1.5e-7, "1.5e-7"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (-12.5, "-12.5"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
        ] {
            assert_eq!(print(number), printed);
        }
        for (text, number) in [("", 0.0), (" 12 ", 12.0), ("0x1F", 31.0), (".5", 0.5), ("5.", 5.0), ("+1e3", 1000.0)] {
            assert_eq!(of_text(text), number, "{text}");
        }
        for text in ["inf", "nan", "1_0", "0x", "-0x1", "1 2", "e5", ".", "1n", "infinity"] {
            assert!(of_text(text).is_nan(), "{text}");
        }
    }
}
