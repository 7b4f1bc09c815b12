//! The stored data. A person depends only on the number, so that the model is cheap.

use serde::{Deserialize, Serialize};

use crate::data::Random;

/// The amount of one transfer.
pub const AMOUNT: i64 = 3;
/// Accounts, numbered from 1.
pub const ACCOUNTS: i32 = 20;

/// A day: days since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Day(pub i32);

/// A row of `a(id SERIAL PRIMARY KEY, name VARCHAR NOT NULL, birthday DATE)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Person {
    /// Its number.
    pub id: i32,
    /// The person's name.
    pub name: String,
    /// The date of birth, if it is known.
    pub birthday: Option<Day>,
}

/// One of the tables of people.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Set {
    /// The smaller one.
    Few,
    /// The larger one.
    Many,
    /// The one that is empty.
    None,
}

impl Set {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Set::Few => "people_few",
            Set::Many => "people_many",
            Set::None => "people_none",
        }
    }
}

/// Person `id`: of every ten one's birthday is not known.
pub fn person(id: i32) -> Person {
    let mut random = Random::new(u64::from(id.unsigned_abs()) ^ 0x4a5c);
    let letters = 5 + random.below(20);
    let name = (0..letters).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default())).collect();
    let birthday = (random.below(10) > 0).then(|| Day(i32::try_from(random.below(20_000)).unwrap_or_default()));
    Person { id, name, birthday }
}
