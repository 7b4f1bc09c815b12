//! `_stats`. Pure.

use super::number::{Amount, Value};
use crate::error::{Error, Result};

/// Statistics under way.
#[derive(Clone, Default)]
pub enum Stats {
    #[default]
    Nothing,
    One(Of),
    /// For arrays of the same length: the statistics of each element.
    Each(Vec<Of>),
}

/// The statistics of numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Of {
    sum: Amount,
    count: Amount,
    min: Amount,
    max: Amount,
    sumsqr: Amount,
}

impl Of {
    fn number(number: Amount) -> Self {
        Of { sum: number, count: Amount::Whole(1), min: number, max: number, sumsqr: number.squared() }
    }

    /// Statistics that the map function has computed.
    fn prebuilt(members: &[(String, Value)]) -> Option<Self> {
        let get = |name: &str| {
            members.iter().find(|(own, _)| own == name).and_then(|(_, value)| match value {
                Value::Number(number) => Some(*number),
                _ => None,
            })
        };
        let (sum, count, min) = (get("sum")?, get("count")?, get("min")?);
        Some(Of { sum, count, min, max: get("max")?, sumsqr: get("sumsqr")? })
    }

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Of::number(*number)),
            Value::Object(members) => Of::prebuilt(members),
            _ => None,
        }
    }

    fn and(&mut self, other: Of) {
        self.sum = self.sum.plus(other.sum);
        self.count = self.count.plus(other.count);
        self.sumsqr = self.sumsqr.plus(other.sumsqr);
        if other.min.double() < self.min.double() {
            self.min = other.min;
        }
        if other.max.double() > self.max.double() {
            self.max = other.max;
        }
    }

    fn write(&self, out: &mut String) {
        let members = [
            ("{\"sum\":", self.sum),
            (",\"count\":", self.count),
            (",\"min\":", self.min),
            (",\"max\":", self.max),
            (",\"sumsqr\":", self.sumsqr),
        ];
        for (name, amount) in members {
            out.push_str(name);
            amount.write(out);
        }
        out.push('}');
    }
}

impl Stats {
    pub(super) fn add(&mut self, text: &str) -> Result<()> {
        let refused = |reason: String| Error::Function { error: "invalid_value".to_owned(), reason };
        let strange = || refused(format!("non-numeric _stats input: {}", text.chars().take(200).collect::<String>()));
        let value = Value::parse(text).unwrap_or(Value::Other);
        if let Value::Array(values) = &value {
            let new: Vec<Of> = values.iter().map(Of::from_value).collect::<Option<_>>().ok_or_else(strange)?;
            return self.merge(Stats::Each(new));
        }
        self.merge(Stats::One(Of::from_value(&value).ok_or_else(strange)?))
    }

    /// Merges other statistics.
    pub(super) fn merge(&mut self, other: Stats) -> Result<()> {
        let refused =
            |reason: &str| Err(Error::Function { error: "invalid_value".to_owned(), reason: reason.to_owned() });
        match (&mut *self, other) {
            (_, Stats::Nothing) => {}
            (Stats::Nothing, other) => *self = other,
            (Stats::One(own), Stats::One(other)) => own.and(other),
            (Stats::Each(own), Stats::Each(other)) if own.len() == other.len() => {
                own.iter_mut().zip(other).for_each(|(own, other)| own.and(other));
            }
            (Stats::Each(_), Stats::Each(_)) => return refused("the arrays of _stats have different lengths"),
            _ => return refused("numbers and arrays are mixed in the input of _stats"),
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Stats::Nothing | Stats::One(_) => 0,
            Stats::Each(all) => all.len() * size_of::<Of>(),
        }
    }

    pub(super) fn finish(self) -> String {
        let mut out = String::new();
        match self {
            Stats::Nothing => {
                let zero = Amount::Whole(0);
                Of { sum: zero, count: zero, min: zero, max: zero, sumsqr: zero }.write(&mut out);
            }
            Stats::One(own) => own.write(&mut out),
            Stats::Each(all) => {
                out.push('[');
                for (at, own) in all.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    own.write(&mut out);
                }
                out.push(']');
            }
        }
        out
    }
}
