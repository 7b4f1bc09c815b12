//! The stored data. An account depends only on its number, so that the model of a store is cheap.

use serde::{Deserialize, Serialize};

use crate::data::Random;

/// An account. As a document it contains its items.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, recension::Document)]
#[recension(collection = "accounts")]
pub struct Account {
    /// Its number.
    #[recension(id)]
    pub id: u64,
    /// Its owner: 80 random characters.
    #[recension(unique)]
    pub name: String,
    /// Hashed elsewhere: outside of all timers.
    pub passphrase: String,
    /// The wanted items.
    pub items: Vec<Item>,
}

/// Something wanted.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Item {
    /// The name of the item.
    pub name: String,
    /// A comment.
    pub comment: String,
    /// Whether it is there.
    pub status: Status,
    /// The number of pieces.
    pub count: u32,
}

/// Whether something is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Status {
    /// Wanted.
    #[default]
    Need,
    /// There.
    Got,
}

impl Status {
    /// As SQL has it.
    pub fn number(self) -> i32 {
        i32::from(self == Status::Got)
    }

    /// From SQL.
    pub fn of(number: i32) -> Self {
        if number == 1 { Status::Got } else { Status::Need }
    }
}

/// Account `id`, new: it has no items.
pub fn account(id: u64) -> Account {
    let mut random = Random::new(id ^ 0x60_6e7);
    let mut letters = |count: usize| -> String {
        (0..count).map(|_| char::from(b'a' + u8::try_from(random.below(26)).unwrap_or_default())).collect()
    };
    Account { id, name: letters(80), passphrase: letters(64), items: Vec::new() }
}

/// The item that is added as the `nth`, or what it is changed to.
pub fn item(nth: u64, status: Status) -> Item {
    let count = u32::try_from(nth % 9 + 1).unwrap_or(1);
    Item { name: format!("item number {nth}"), comment: format!("from the shop at corner {}", nth % 77), status, count }
}
