//! Values that reductions compute with: JSON taken apart, and numbers that stay integers as long as they can. Pure.

use std::fmt::Write as _;

use crate::json::{Event, Number, Parser, quote_into};

/// A number of a reduction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Amount {
    Whole(i128),
    /// What it is, and what the roundings of its sum have lost (Neumaier's compensated summation).
    Double(f64, f64),
}

impl Amount {
    pub(super) fn of(number: Number<'_>) -> Self {
        match number.text.parse::<i64>() {
            Ok(whole) if number.integer => Amount::Whole(whole.into()),
            _ => Amount::Double(number.to_f64(), 0.0),
        }
    }

    #[allow(clippy::cast_precision_loss)] // the nearest double is what a sum with doubles takes
    pub(super) fn double(self) -> f64 {
        match self {
            Amount::Whole(whole) => whole as f64,
            Amount::Double(double, lost) if lost.is_finite() => double + lost,
            Amount::Double(double, _) => double,
        }
    }

    /// The nearest double, and the rest.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // what the first loses is the second
    fn parts(self) -> (f64, f64) {
        match self {
            Amount::Whole(whole) => {
                let nearest = whole as f64;
                (nearest, whole.saturating_sub(nearest as i128) as f64)
            }
            Amount::Double(double, lost) => (double, lost),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        if let (Amount::Whole(own), Amount::Whole(other)) = (self, other)
            && let Some(sum) = own.checked_add(other)
        {
            return Amount::Whole(sum);
        }
        let ((own, own_lost), (other, other_lost)) = (self.parts(), other.parts());
        let sum = own + other;
        let (greater, less) = if own.abs() >= other.abs() { (own, other) } else { (other, own) };
        Amount::Double(sum, own_lost + other_lost + ((greater - sum) + less))
    }

    pub(super) fn squared(self) -> Self {
        match self {
            Amount::Whole(whole) => {
                whole.checked_mul(whole).map_or(Amount::Double(self.double().powi(2), 0.0), Amount::Whole)
            }
            double @ Amount::Double(..) => Amount::Double(double.double().powi(2), 0.0),
        }
    }

    pub(super) fn write(self, out: &mut String) {
        match self {
            Amount::Whole(whole) => out.push_str(&whole.to_string()),
            // JSON has no infinity.
            double @ Amount::Double(..) if !double.double().is_finite() => out.push_str("null"),
            double @ Amount::Double(..) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "{:?}", double.double());
            }
        }
    }
}

/// A value taken apart.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Number(Amount),
    Array(Vec<Value>),
    /// In the order of the names.
    Object(Vec<(String, Value)>),
    Other,
}

impl Value {
    /// Takes a JSON text apart; `None` if it is invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parser = Parser::of_text(text);
        let first = parser.next_event().ok()??;
        value(first, &mut parser)
    }

    /// About how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Value::Number(_) | Value::Other => 32,
            Value::Array(values) => 32 + values.iter().map(Value::bytes).sum::<usize>(),
            Value::Object(members) => {
                32 + members.iter().map(|(name, value)| name.len() + 32 + value.bytes()).sum::<usize>()
            }
        }
    }

    pub(super) fn write(&self, out: &mut String) {
        match self {
            Value::Number(number) => number.write(out),
            Value::Other => out.push_str("null"),
            Value::Array(values) => {
                out.push('[');
                for (at, value) in values.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    value.write(out);
                }
                out.push(']');
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    quote_into(name, out);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

/// The parser bounds the depth of values.
fn value<'t>(event: Event<'t>, parser: &mut Parser<'t>) -> Option<Value> {
    Some(match event {
        Event::Number(number) => Value::Number(Amount::of(number)),
        Event::ArrayStart => {
            let mut values = Vec::new();
            loop {
                match parser.next_event().ok()?? {
                    Event::ArrayEnd => break Value::Array(values),
                    event => values.push(value(event, parser)?),
                }
            }
        }
        Event::ObjectStart => {
            let mut members: Vec<(String, Value)> = Vec::new();
            loop {
                match parser.next_event().ok()?? {
                    Event::ObjectEnd => break,
                    Event::Key(name) => {
                        let event = parser.next_event().ok()??;
                        members.push((name.decode().into_owned(), value(event, parser)?));
                    }
                    _ => return None,
                }
            }
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members)
        }
        _ => Value::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::super::BuiltIn;

    #[test]
    fn sums_of_doubles_are_compensated_whatever_their_order_and_parts() {
        for (values, sum) in [
            (&["0.1"; 10][..], "1.0"),
            (&["1e100", "1", "-1e100"], "1.0"),
            (&["9007199254740993", "0.5", "-9007199254740993"], "0.5"),
            (&["1e308", "1e308"], "null"),
            (&["1", "2"], "3"),
        ] {
            for cut in 0..=values.len() {
                let part = |values: &[&str]| {
                    let (mut fold, mut stats) = (BuiltIn::Sum.begin(), BuiltIn::Stats.begin());
                    for value in values {
                        fold.add(b"", value).unwrap();
                        stats.add(b"", value).unwrap();
                    }
                    (fold, stats)
                };
                let ((mut fold, mut stats), (later, later_stats)) = (part(&values[..cut]), part(&values[cut..]));
                fold.merge(later).unwrap();
                stats.merge(later_stats).unwrap();
                assert_eq!(fold.finish().unwrap(), sum, "{values:?} {cut}");
                let stats = stats.finish().unwrap();
                assert!(stats.starts_with(&format!("{{\"sum\":{sum},")), "{values:?} {cut}: {stats}");
            }
        }
    }
}
