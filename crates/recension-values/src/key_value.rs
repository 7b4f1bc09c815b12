//! Keys with values: the value, its expiry, the condition of a write. Pure.

use std::time::Duration;

use crate::attachment::upload::new_blob;
use crate::error::{Error, Result};
use crate::limits::{ABOUT_ROWS_BYTES_MAX, KEY_BYTES_MAX, KEY_VALUE_BYTES_MAX};
use recension_engine::{Seq, Timestamp};

/// The value of a key.
#[derive(Clone, PartialEq, Debug)]
pub enum KeyValue {
    /// Bytes.
    Bytes(Vec<u8>),
    /// An integer.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// Rows of its own: a list, a set. They are read and written by the transaction's
    /// `rows`, `row`, `put_row` and `delete_row`.
    Rows(KeyRows),
}

/// A key's rows, which lie apart from it and are there as long as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRows {
    /// A random name, by which they are found.
    pub id: [u8; 16],
    /// What they are: the maker's business.
    pub kind: u8,
    /// What is known of them without reading them, such as how many there are; the maker's business too.
    pub about: Vec<u8>,
}

impl KeyRows {
    /// New ones, of which there is none yet.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn new(kind: u8, about: Vec<u8>) -> Result<Self> {
        Ok(KeyRows { id: new_blob()?, kind, about })
    }
}

impl KeyValue {
    /// As bytes: the bytes themselves, or the number's decimal digits. Of [`KeyValue::Rows`] nothing.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            KeyValue::Bytes(bytes) => bytes,
            KeyValue::Integer(number) => number.to_string().into_bytes(),
            KeyValue::Float(number) => number.to_string().into_bytes(),
            KeyValue::Rows(_) => Vec::new(),
        }
    }

    /// As an integer: the number, or bytes with the digits of one, in the shortest form.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            KeyValue::Integer(number) => Some(*number),
            KeyValue::Float(_) | KeyValue::Rows(_) => None,
            KeyValue::Bytes(bytes) => {
                let number: i64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
                (number.to_string().as_bytes() == bytes.as_slice()).then_some(number)
            }
        }
    }

    /// As a finite number; also bytes with the digits of one.
    pub fn as_float(&self) -> Option<f64> {
        let number = match self {
            #[allow(clippy::cast_precision_loss)] // it is asked for as a float
            KeyValue::Integer(number) => *number as f64,
            KeyValue::Float(number) => *number,
            KeyValue::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok()?,
            KeyValue::Rows(_) => return None,
        };
        number.is_finite().then_some(number)
    }
}

impl From<&[u8]> for KeyValue {
    fn from(bytes: &[u8]) -> Self {
        KeyValue::Bytes(bytes.to_vec())
    }
}

impl From<Vec<u8>> for KeyValue {
    fn from(bytes: Vec<u8>) -> Self {
        KeyValue::Bytes(bytes)
    }
}

impl From<&str> for KeyValue {
    fn from(text: &str) -> Self {
        KeyValue::Bytes(text.as_bytes().to_vec())
    }
}

impl From<String> for KeyValue {
    fn from(text: String) -> Self {
        KeyValue::Bytes(text.into_bytes())
    }
}

impl From<i64> for KeyValue {
    fn from(number: i64) -> Self {
        KeyValue::Integer(number)
    }
}

impl From<f64> for KeyValue {
    fn from(number: f64) -> Self {
        KeyValue::Float(number)
    }
}

/// A key's value, expiry and commit.
#[derive(Clone, PartialEq, Debug)]
pub struct KeyEntry {
    /// The value.
    pub value: KeyValue,
    /// The moment at which it expires; `None`: never.
    pub expires: Option<Timestamp>,
    /// By how long a read puts that moment off.
    pub slides: Option<Duration>,
    /// The commit that wrote it.
    pub seq: Seq,
}

/// When a key expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expiry {
    /// Never.
    #[default]
    Never,
    /// This long after the write.
    After(Duration),
    /// At that moment.
    At(Timestamp),
    /// This long after the write, or the last read of the key by `Keys::get`. Reads write
    /// the new expiry at most 16 times within that time, so that most of them write nothing.
    Sliding(Duration),
    /// The expiry that the key has already; never, if there is none.
    Keep,
}

/// The condition of a write.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum KeyCondition {
    /// None.
    #[default]
    Anything,
    /// There is no such key.
    Absent,
    /// The key exists.
    Present,
    /// It has this value.
    Equal(KeyValue),
}

/// How a key is set.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SetOptions {
    pub expiry: Expiry,
    pub condition: KeyCondition,
}

impl SetOptions {
    /// No condition, and no expiry.
    #[must_use]
    pub fn new() -> Self {
        SetOptions::default()
    }

    /// Sets the expiry.
    #[must_use]
    pub fn expiry(mut self, expiry: Expiry) -> Self {
        self.expiry = expiry;
        self
    }

    /// Keeps the expiry of the present key.
    #[must_use]
    pub fn keep_existing(self) -> Self {
        self.expiry(Expiry::Keep)
    }

    /// Sets the condition.
    #[must_use]
    pub fn only_if(mut self, condition: KeyCondition) -> Self {
        self.condition = condition;
        self
    }

    /// Only if there is no such key.
    #[must_use]
    pub fn only_if_absent(self) -> Self {
        self.only_if(KeyCondition::Absent)
    }

    /// Only if the key exists.
    #[must_use]
    pub fn only_if_present(self) -> Self {
        self.only_if(KeyCondition::Present)
    }
}

/// The outcome of setting a key.
#[derive(Clone, PartialEq, Debug)]
pub struct SetOutcome {
    /// Whether it was written.
    pub written: bool,
    /// The former entry.
    pub previous: Option<KeyEntry>,
}

pub fn check_key(key: &[u8]) -> Result<()> {
    let bad = |why| {
        let name = String::from_utf8_lossy(key).chars().take(80).collect();
        Err(Error::BadName { what: "key", name, why })
    };
    match key.len() {
        0 => bad("a key has at least one byte"),
        len if len > KEY_BYTES_MAX => bad("a key is at most 8000 bytes long"),
        _ => Ok(()),
    }
}

pub fn check_value(value: &KeyValue) -> Result<()> {
    match value {
        KeyValue::Bytes(bytes) if bytes.len() > KEY_VALUE_BYTES_MAX => {
            Err(Error::BadField { field: "value", expected: "at most 63 MiB" })
        }
        KeyValue::Float(number) if !number.is_finite() => {
            Err(Error::BadField { field: "value", expected: "a finite number" })
        }
        KeyValue::Rows(rows) if rows.about.len() > ABOUT_ROWS_BYTES_MAX => {
            Err(Error::BadField { field: "value", expected: "at most 64 bytes about rows" })
        }
        _ => Ok(()),
    }
}
