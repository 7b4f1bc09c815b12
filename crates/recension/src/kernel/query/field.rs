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
    /// The key of a value, in the collation that is asked for. It decodes to the text in the document.
    Key(&'v [u8]),
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
            Field::Text(text) => Ok(Some(Cow::Borrowed(text))),
            Field::Key(key) => {
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
            Field::Key(key) => Some(Cow::Borrowed(key)),
        })
    }

    pub(crate) fn is_null(self) -> bool {
        match self {
            Field::Absent => false,
            Field::Text(text) => text == "null",
            Field::Key(key) => Collation::is_null_key(key),
        }
    }

    /// The number; `None` if the value is none.
    pub(super) fn number(self) -> Option<Number> {
        match self {
            Field::Absent => None,
            Field::Text(text) => Number::of_text(text),
            Field::Key(key) => Some(match Collation::number_of_key(key)? {
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
                let (by_key, by_text) = (Field::Key(&key), Field::Text(text));
                assert_eq!(by_key.number(), by_text.number(), "{text}");
                assert_eq!(by_key.is_null(), by_text.is_null(), "{text}");
                assert_eq!(by_key.text(collation).unwrap(), by_text.text(collation).unwrap(), "{text}");
                assert_eq!(by_key.key(collation).unwrap(), by_text.key(collation).unwrap(), "{text}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_key_are_damage() {
        let damaged = Field::Key(&[0x30, 1]);
        assert!(damaged.number().is_none() && damaged.text(Collation::Binary).is_err());
    }
}
