//! Sums of numbers as they stand in documents: exact while they are integers, else as good as one rounding of the exact
//! sum in all usual cases (Neumaier's compensated summation). Pure.

use recension_values::byte_reader::ByteReader;

/// A number as it is added.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    /// A number that is written as an integer.
    Integer(i128),
    /// Any other number, or one beyond these.
    Double(f64),
}

impl Number {
    /// The number that a JSON text is; `None` if it is another value.
    pub(super) fn of_text(text: &str) -> Option<Self> {
        if !text.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return None;
        }
        Some(match text.parse() {
            Ok(integer) => Number::Integer(integer),
            Err(_) => Number::Double(text.parse().unwrap_or(0.0)),
        })
    }
}

/// A sum under way.
#[derive(Clone, Copy, Default)]
pub(super) struct Numbers {
    /// The sum of the integers, as long as it fits.
    integers: i128,
    /// The sum of everything else, and what its roundings have lost.
    doubles: f64,
    lost: f64,
    /// Whether all were integers whose sum fits.
    whole: bool,
    count: u64,
}

impl Numbers {
    pub(super) fn push(&mut self, number: Number) {
        self.whole = (self.count == 0 || self.whole) && matches!(number, Number::Integer(_));
        self.count += 1;
        match number {
            Number::Integer(integer) => self.push_integer(integer),
            Number::Double(double) => self.add(double),
        }
    }

    fn push_integer(&mut self, integer: i128) {
        match self.integers.checked_add(integer) {
            Some(sum) => self.integers = sum,
            None => {
                self.whole = false;
                self.add_integer(integer);
            }
        }
    }

    fn add(&mut self, number: f64) {
        let sum = self.doubles + number;
        if sum.is_finite() {
            let (greater, less) =
                if self.doubles.abs() >= number.abs() { (self.doubles, number) } else { (number, self.doubles) };
            self.lost += (greater - sum) + less;
        }
        self.doubles = sum;
    }

    /// Adds those of another part of the group.
    pub(super) fn unite(&mut self, later: Self) {
        self.whole = (self.count == 0 || self.whole) && (later.count == 0 || later.whole);
        self.count += later.count;
        self.push_integer(later.integers);
        self.add(later.doubles);
        self.lost += later.lost;
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // what the first part loses is the second
    fn add_integer(&mut self, integer: i128) {
        let nearest = integer as f64;
        self.add(nearest);
        self.add(integer.saturating_sub(nearest as i128) as f64);
    }

    fn double(mut self) -> Option<f64> {
        self.add_integer(self.integers);
        Some(self.doubles + self.lost).filter(|sum| sum.is_finite())
    }

    /// The sum as JSON; nothing if no double holds it.
    pub(super) fn sum(self) -> Option<String> {
        if self.whole || self.count == 0 {
            return Some(self.integers.to_string());
        }
        self.double().map(|sum| format!("{sum:?}"))
    }

    /// The mean as JSON: null if there are no numbers.
    #[allow(clippy::cast_precision_loss)] // a mean is a double
    pub(super) fn mean(self) -> Option<String> {
        if self.count == 0 {
            return Some("null".to_owned());
        }
        self.double().map(|sum| format!("{:?}", sum / self.count as f64))
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.integers.to_be_bytes());
        out.extend(self.doubles.to_be_bytes());
        out.extend(self.lost.to_be_bytes());
        out.push(u8::from(self.whole));
        out.extend(self.count.to_be_bytes());
    }

    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(Numbers {
            integers: i128::from_be_bytes(reader.chunk()?),
            doubles: f64::from_be_bytes(reader.chunk()?),
            lost: f64::from_be_bytes(reader.chunk()?),
            whole: reader.byte()? == 1,
            count: u64::from_be_bytes(reader.chunk()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Numbers {
        let mut numbers = Numbers::default();
        for number in values.iter().filter_map(|value| Number::of_text(value)) {
            numbers.push(number);
        }
        numbers
    }

    #[test]
    fn sums_are_exact_or_rounded_once() {
        let thousand = "9".repeat(300);
        for (values, sum, mean) in [
            (&[][..], Some("0"), Some("null")),
            (&["1", "\"2\"", "null", "2"], Some("3"), Some("1.5")),
            (&["0.1"; 10], Some("1.0"), Some("0.1")),
            (&["1e100", "1", "-1e100"], Some("1.0"), Some("0.3333333333333333")),
            (&["9007199254740993", "0.5", "-9007199254740993"], Some("0.5"), Some("0.16666666666666666")),
            (&["9007199254740993", "1"], Some("9007199254740994"), Some("4503599627370497.0")),
            (&["123456789012345678901", "1"], Some("123456789012345678902"), Some("6.172839450617284e19")),
            (&["1e308", "1e308"], None, None),
            (&[&thousand, "1"], Some("1e300"), Some("5e299")),
        ] {
            assert_eq!(of(values).sum().as_deref(), sum, "{values:?}");
            assert_eq!(of(values).mean().as_deref(), mean, "{values:?}");
            // Two parts of a group, one of which was on the disk.
            for cut in 0..=values.len() {
                let mut bytes = Vec::new();
                of(&values[..cut]).encode(&mut bytes);
                let mut united = Numbers::decode(&mut ByteReader::new(&bytes)).unwrap();
                united.unite(of(&values[cut..]));
                assert_eq!(united.sum().as_deref(), sum, "{values:?} {cut}");
            }
        }
    }
}
