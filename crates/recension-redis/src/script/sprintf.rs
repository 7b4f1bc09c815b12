//! Numbers as C prints them. Pure.

/// A format: flags, least width and precision.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of C")]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Format {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) blank: bool,
    pub(super) sharp: bool,
    pub(super) zeros: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

/// `%.{digits}g`
pub(super) fn general(number: f64, digits: usize) -> String {
    shaped(number, digits, false)
}

fn shaped(number: f64, digits: usize, keeps_zeros: bool) -> String {
    if !number.is_finite() {
        return unlimited(number);
    }
    let digits = digits.max(1);
    let text = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    let without_zeros = |text: String| {
        let ends = text.contains('.') && !keeps_zeros;
        if ends { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    };
    if exponent < -4 || exponent >= most {
        return format!("{}{}", without_zeros(mantissa.to_owned()), power(exponent));
    }
    let places = usize::try_from(most - 1 - exponent).unwrap_or(0);
    without_zeros(format!("{number:.places$}"))
}

fn power(exponent: i32) -> String {
    format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

fn unlimited(number: f64) -> String {
    match number {
        number if number.is_nan() && number.is_sign_negative() => "-nan",
        number if number.is_nan() => "nan",
        number if number > 0.0 => "inf",
        _ => "-inf",
    }
    .to_owned()
}

impl Format {
    /// A number in one of C's ways: `kind` is one of `e E f g G`.
    pub(super) fn float(&self, number: f64, kind: u8) -> String {
        let precision = self.precision.unwrap_or(6);
        let text = if !number.is_finite() {
            unlimited(number)
        } else if kind == b'f' {
            format!("{number:.precision$}")
        } else if kind.eq_ignore_ascii_case(&b'e') {
            let text = format!("{number:.precision$e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{mantissa}{}", power(exponent.parse().unwrap_or(0)))
        } else {
            shaped(number, precision, self.sharp)
        };
        let text = if kind.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
        self.filled(&text, self.zeros && number.is_finite())
    }

    /// A whole number: `kind` is one of `d u o x X`.
    pub(super) fn whole(&self, number: i64, kind: u8) -> String {
        let digits = match kind {
            b'o' => format!("{number:o}"),
            b'x' => format!("{number:x}"),
            b'X' => format!("{number:X}"),
            b'u' => number.cast_unsigned().to_string(),
            _ => number.unsigned_abs().to_string(),
        };
        let digits = format!("{digits:0>width$}", width = self.precision.unwrap_or(1));
        let sign = match kind {
            b'd' if number < 0 => "-",
            b'x' if self.sharp && number != 0 => "0x",
            b'X' if self.sharp && number != 0 => "0X",
            _ => "",
        };
        self.filled(&format!("{sign}{digits}"), self.zeros && self.precision.is_none())
    }

    /// A text that was made, with its sign and to the width.
    fn filled(&self, text: &str, zeros: bool) -> String {
        let signed = match (text.starts_with('-'), self.plus, self.blank) {
            (false, true, _) => format!("+{text}"),
            (false, false, true) => format!(" {text}"),
            _ => text.to_owned(),
        };
        let missing = self.width.saturating_sub(signed.len());
        if missing == 0 {
            signed
        } else if self.left {
            format!("{signed}{:missing$}", "")
        } else if zeros {
            let at = signed.find(|c: char| c.is_ascii_hexdigit()).unwrap_or(0);
            let at = if signed[at..].starts_with("0x") || signed[at..].starts_with("0X") { at + 2 } else { at };
            format!("{}{}{}", &signed[..at], "0".repeat(missing), &signed[at..])
        } else {
            format!("{:missing$}{signed}", "")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_printed_as_c_prints_them() {
        for (number, digits, expected) in [
            (0.0, 14, "0"),
            (1.0, 14, "1"),
            (0.1, 14, "0.1"),
            (1e15, 14, "1e+15"),
            (123_456_789_012_345.0, 14, "1.2345678901234e+14"),
            (1e-5, 14, "1e-05"),
            (0.000_1, 14, "0.0001"),
            (2.15, 17, "2.1499999999999999"),
            (-2.5, 14, "-2.5"),
            (f64::INFINITY, 14, "inf"),
        ] {
            assert_eq!(general(number, digits), expected);
        }
        let of = |width, precision| Format { width, precision, ..Format::default() };
        assert_eq!(of(6, Some(2)).float(2.14159, b'f'), "  2.14");
        assert_eq!(of(0, Some(3)).float(12345.678, b'e'), "1.235e+04");
        assert_eq!(Format { zeros: true, ..of(5, None) }.whole(-42, b'd'), "-0042");
        assert_eq!(Format { left: true, ..of(5, None) }.whole(42, b'd'), "42   ");
        assert_eq!(Format { sharp: true, ..of(0, None) }.whole(255, b'x'), "0xff");
    }
}
