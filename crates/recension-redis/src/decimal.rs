//! Decimal numbers of any length, exactly: what INCRBYFLOAT adds. Redis adds long doubles of C and prints 17 places
//! after
//! the point; here the sum is exact, and rounded to as many places once. Pure.

use crate::limits::{DECIMAL_DIGITS_MAX, DECIMAL_PLACES};

/// A decimal number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Decimal {
    negative: bool,
    /// Digits, lowest first.
    digits: Vec<u8>,
    /// How many of them are behind the point.
    places: usize,
}

impl Decimal {
    /// Reads `-12`, `.5`, `1e-3`. Words, blanks and numbers of more than 4,932 digits on a side are none.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (negative, text) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_long = whole.len().max(fraction.len()) > DECIMAL_DIGITS_MAX;
        if !is_digits(whole) || !is_digits(fraction) || whole.len() + fraction.len() == 0 || is_long {
            return None;
        }
        let mut digits: Vec<u8> = fraction.bytes().rev().chain(whole.bytes().rev()).map(|byte| byte - b'0').collect();
        let mut places = i64::try_from(fraction.len()).ok()? - i64::from(exponent);
        if places.unsigned_abs() > 2 * DECIMAL_DIGITS_MAX as u64 {
            // Beyond this it is nothing, or too long.
            if places < 0 && digits.iter().any(|digit| *digit != 0) {
                return None;
            }
            (digits, places) = (Vec::new(), 0);
        }
        if places < 0 {
            let zeros = vec![0; usize::try_from(-places).ok()?];
            digits.splice(0..0, zeros);
            places = 0;
        }
        let number = Decimal { negative, digits, places: usize::try_from(places).ok()? };
        (number.whole_digits() <= DECIMAL_DIGITS_MAX).then_some(number)
    }

    fn whole_digits(&self) -> usize {
        let significant = self.digits.iter().rposition(|digit| *digit != 0).map_or(0, |at| at + 1);
        significant.saturating_sub(self.places)
    }

    /// The sum; `None` if it has too many digits.
    pub(crate) fn add(&self, other: &Decimal) -> Option<Decimal> {
        let places = self.places.max(other.places);
        let (a, b) = (self.aligned(places), other.aligned(places));
        let (negative, digits) = if self.negative == other.negative {
            (self.negative, sum(&a, &b))
        } else if is_less(&a, &b) {
            (other.negative, difference(&b, &a))
        } else {
            (self.negative, difference(&a, &b))
        };
        let sum = Decimal { negative, digits, places };
        (sum.whole_digits() <= DECIMAL_DIGITS_MAX).then_some(sum)
    }

    /// The digits with this many places behind the point.
    fn aligned(&self, places: usize) -> Vec<u8> {
        let mut digits = vec![0; places - self.places];
        digits.extend(&self.digits);
        digits
    }

    /// As text without an exponent and without zeros at the end, rounded to 17 places; half goes to the even digit.
    pub(crate) fn text(&self) -> String {
        let mut digits = self.digits.clone();
        let mut places = self.places;
        if places > DECIMAL_PLACES {
            let cut = places - DECIMAL_PLACES;
            digits.resize(digits.len().max(cut), 0);
            let rest: Vec<u8> = digits.drain(..cut).collect();
            places = DECIMAL_PLACES;
            let is_odd = digits.first().is_some_and(|digit| digit % 2 == 1);
            let above_half = rest[cut - 1] > 5 || rest[..cut - 1].iter().any(|digit| *digit != 0) || is_odd;
            if rest[cut - 1] >= 5 && above_half {
                digits = sum(&digits, &[1]);
            }
        }
        digits.resize(digits.len().max(places + 1), 0);
        let (fraction, whole) = digits.split_at(places);
        let written = |digits: &[u8]| digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect::<String>();
        let (whole, fraction) = (written(whole), written(fraction));
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let whole = if whole.is_empty() { "0" } else { whole };
        let sign = if self.negative && (whole != "0" || !fraction.is_empty()) { "-" } else { "" };
        if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }
}

fn sum(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    let mut digits: Vec<u8> = (0..a.len().max(b.len()))
        .map(|at| {
            let digit = a.get(at).unwrap_or(&0) + b.get(at).unwrap_or(&0) + carry;
            carry = digit / 10;
            digit % 10
        })
        .collect();
    digits.push(carry);
    digits
}

/// `a` less `b`, which is not greater.
fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut borrow = 0;
    let digit = |at: usize| {
        let take = b.get(at).unwrap_or(&0) + borrow;
        let from = a.get(at).copied().unwrap_or(0);
        borrow = u8::from(from < take);
        from + 10 * borrow - take
    };
    (0..a.len().max(b.len())).map(digit).collect()
}

fn is_less(a: &[u8], b: &[u8]) -> bool {
    let digit = |digits: &[u8], at: usize| digits.get(at).copied().unwrap_or(0);
    let places = (0..a.len().max(b.len())).rev();
    let differing = places.map(|at| (digit(a, at), digit(b, at))).find(|(a, b)| a != b);
    differing.is_some_and(|(a, b)| a < b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_exact_to_seventeen_places() {
        for (a, b, expected) in [
            ("0.1", "0.2", "0.3"),
            ("9007199254740992", "1", "9007199254740993"),
            ("9223372036854775807", "1", "9223372036854775808"),
            ("10.5", "0.1", "10.6"),
            ("1.5e3", "-1e-1", "1499.9"),
            ("3", "-5", "-2"),
            ("-1", "1.000", "0"),
            ("0", "-0.000000000000000001", "0"),
            ("0", "0.000000000000000005", "0"),
            ("0.00000000000000001", "0.000000000000000005", "0.00000000000000002"),
            ("1e400", "1", &format!("1{}1", "0".repeat(399))),
            (".5", "5.", "5.5"),
        ] {
            let parse = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
            assert_eq!(parse(a).add(&parse(b)).unwrap().text(), expected, "{a} + {b}");
        }
        for none in ["", "-", ".", "1 ", " 1", "0x10", "inf", "nan", "1e", "1e5000", "1.2.3", "1e99999999999"] {
            assert_eq!(Decimal::parse(none.as_bytes()), None, "{none}");
        }
        let most = Decimal::parse("9".repeat(4932).as_bytes()).unwrap();
        assert_eq!(most.add(&most), None);
    }
}
