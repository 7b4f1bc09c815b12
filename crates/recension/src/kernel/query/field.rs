//! A value of a row as it came from the store: a text lent from a document, or the key that an index has of it. A key
//! becomes a text only if the text is printed, so that rows of an index are compared, counted and summed as they are.

use std::borrow::Cow;

use crate::kernel::query::numbers::Number;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};

/// The value at a path of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field<'v> {
    /// The row has none there.
    Absent,
    /// A JSON text.
    Text(&'v str),
    /// The key of a value, in the collation that is asked for, and the text in the document if the key does not decode
    /// to it.
    Key(&'v [u8], Option<&'v str>),
    /// A number of rows.
    Count(u64),
}

impl<'v> Field<'v> {
    pub(crate) fn of(text: Option<&'v str>) -> Self {
        text.map_or(Field::Absent, Field::Text)
    }

    /// The value, or the other one if there is none.
    pub(crate) fn or(self, other: Field<'v>) -> Self {
        if self == Field::Absent { other } else { self }
    }

    /// The JSON text; `None` if there is no value.
    pub(crate) fn text(self, collation: Collation) -> Result<Option<Cow<'v, str>>> {
        match self {
            Field::Absent => Ok(None),
            Field::Text(text) | Field::Key(_, Some(text)) => Ok(Some(Cow::Borrowed(text))),
            Field::Count(count) => Ok(Some(Cow::Owned(count.to_string()))),
            Field::Key(key, None) => {
                let mut text = String::new();
                match collation.decode_value(key, &mut text) {
                    Some(length) if length == key.len() => Ok(Some(Cow::Owned(text))),
                    _ => Err(damaged()),
                }
            }
        }
    }

    /// The key; `None` if there is no value.
    pub(crate) fn key(self, collation: Collation) -> Result<Option<Cow<'v, [u8]>>> {
        Ok(match self {
            Field::Absent => None,
            Field::Text(text) => Some(Cow::Owned(collation.key(text)?)),
            Field::Count(count) => Some(Cow::Owned(collation.key(&count.to_string())?)),
            Field::Key(key, _) => Some(Cow::Borrowed(key)),
        })
    }

    pub(crate) fn is_null(self) -> bool {
        match self {
            Field::Absent | Field::Count(_) => false,
            Field::Text(text) => text == "null",
            Field::Key(key, _) => Collation::is_null_key(key),
        }
    }

    /// The number; `None` if the value is none.
    pub(super) fn number(self) -> Option<Number> {
        match self {
            Field::Absent => None,
            Field::Text(text) | Field::Key(_, Some(text)) => Number::of_text(text),
            Field::Count(count) => Some(Number::Integer(count.into())),
            Field::Key(key, None) => Some(match Collation::number_of_key(key)? {
                (_, Some(integer)) => Number::Integer(integer.into()),
                (double, None) => Number::Double(double),
            }),
        }
    }
}

fn damaged() -> Error {
    Error::DamagedRow {
        what: "a row of an index".to_owned(),
        why: "its key does not decode; drop the index and create it again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_field_as_its_text() {
        for collation in [Collation::Unicode, Collation::Binary] {
            for text in ["null", "true", "0", "7", "-12", "1.5", "-0.25", "999999999999999", "\"a\"", "[1]", "{}"] {
                let key = collation.key(text).unwrap();
                let (by_key, by_text) = (Field::Key(&key, None), Field::Text(text));
                assert_eq!(by_key.number(), by_text.number(), "{text}");
                assert_eq!(by_key.is_null(), by_text.is_null(), "{text}");
                assert_eq!(by_key.text(collation).unwrap(), by_text.text(collation).unwrap(), "{text}");
                assert_eq!(by_key.key(collation).unwrap(), by_text.key(collation).unwrap(), "{text}");
            }
            let one = collation.key("1").unwrap();
            assert_eq!(Field::Key(&one, Some("1.00")).text(collation).unwrap().as_deref(), Some("1.00"));
            let (counted, by_text) = (Field::Count(7), Field::Text("7"));
            assert_eq!(counted.number(), by_text.number());
            assert_eq!(counted.text(collation).unwrap(), by_text.text(collation).unwrap());
            assert_eq!(counted.key(collation).unwrap(), by_text.key(collation).unwrap());
        }
    }

    #[test]
    fn bytes_that_are_no_key_are_damage() {
        let damaged = Field::Key(&[0x30, 1], None);
        assert!(damaged.number().is_none() && damaged.text(Collation::Binary).is_err());
    }
}
