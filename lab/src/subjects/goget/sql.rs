//! The SQL that all the SQL subjects are given, with `?` for parameters, and what becomes of its rows.
#![cfg_attr(not(all(feature = "sqlite", feature = "postgresql", feature = "mariadb")), allow(dead_code))]

use std::fmt::Write as _; // to a String, which cannot fail

use super::{Account, Item, Status};

/// The tables. Items lie in the order of their accounts.
pub(super) const TABLES: [&str; 2] = [
    "CREATE TABLE accounts (id BIGINT PRIMARY KEY, name VARCHAR(80) NOT NULL UNIQUE, passphrase VARCHAR(80) NOT NULL)",
    "CREATE TABLE items (account BIGINT NOT NULL, place INTEGER NOT NULL, name VARCHAR(80) NOT NULL, \
     comment VARCHAR(80) NOT NULL, status INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (account, place))",
];

pub(super) const CREATE: &str = "INSERT INTO accounts (id, name, passphrase) VALUES (?, ?, ?)";
pub(super) const GET: &str = "SELECT a.id, a.name, a.passphrase, i.name, i.comment, i.status, i.count FROM accounts a \
                              LEFT JOIN items i ON i.account = a.id WHERE a.id = ? ORDER BY i.place";
pub(super) const GET_BY_NAME: &str = "SELECT a.id, a.name, a.passphrase, i.name, i.comment, i.status, i.count FROM \
                                      accounts a LEFT JOIN items i ON i.account = a.id WHERE a.name = ? ORDER BY \
                                      i.place";
pub(super) const LIST: &str = "SELECT a.id, a.name, a.passphrase, i.name, i.comment, i.status, i.count FROM accounts a \
                               LEFT JOIN items i ON i.account = a.id ORDER BY a.id, i.place";
pub(super) const ADD_ITEM: &str =
    "INSERT INTO items (account, place, name, comment, status, count) VALUES (?, ?, ?, ?, ?, ?)";
pub(super) const CHANGE_ITEM: &str =
    "UPDATE items SET name = ?, comment = ?, status = ?, count = ? WHERE account = ? AND place = ?";
pub(super) const UPDATE: &str = "UPDATE accounts SET passphrase = ? WHERE id = ?";
pub(super) const DELETE_ITEMS: &str = "DELETE FROM items WHERE account = ?";
pub(super) const DELETE: &str = "DELETE FROM accounts WHERE id = ?";

/// Accounts of one statement while loading, which is not measured.
pub(super) const LOADED_TOGETHER: usize = 500;

/// [`CREATE`] of this many.
pub(super) fn create_many(count: usize) -> String {
    format!("{CREATE}{}", ", (?, ?, ?)".repeat(count.saturating_sub(1)))
}

/// The same with `$1` for the first parameter.
pub(super) fn numbered(sql: &str) -> String {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        let _ = write!(text, "${}{part}", at + 1);
    }
    text
}

/// A row of a join: an account, and one of its items if it has any.
pub(super) struct Joined {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) passphrase: String,
    pub(super) item: Option<Item>,
}

/// The item of a row.
pub(super) fn item(
    name: Option<String>,
    comment: Option<String>,
    status: Option<i32>,
    count: Option<i32>,
) -> Option<Item> {
    let count = u32::try_from(count?).ok()?;
    Some(Item { name: name?, comment: comment?, status: Status::of(status?), count })
}

/// Adds a row to the accounts before it.
pub(super) fn add(accounts: &mut Vec<Account>, row: Joined) {
    let id = u64::try_from(row.id).unwrap_or(u64::MAX);
    match accounts.last_mut().filter(|account| account.id == id) {
        Some(account) => account.items.extend(row.item),
        None => {
            let items = row.item.into_iter().collect();
            accounts.push(Account { id, name: row.name, passphrase: row.passphrase, items });
        }
    }
}

/// A number as SQL has it.
pub(super) fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// A count as SQL has it.
pub(super) fn integer(number: impl TryInto<i32>) -> i32 {
    number.try_into().unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_from_one() {
        assert_eq!(numbered("a = ? AND b = ?"), "a = $1 AND b = $2");
        assert_eq!(numbered("no parameter"), "no parameter");
    }

    #[test]
    fn rows_of_a_join_become_accounts_with_their_items() {
        let mut accounts = Vec::new();
        for (id, count) in [(1, None), (2, Some(4)), (2, Some(5)), (3, None)] {
            let item = item(Some("x".to_owned()), Some(String::new()), Some(1), count);
            add(&mut accounts, Joined { id, name: id.to_string(), passphrase: String::new(), item });
        }
        let found: Vec<(u64, Vec<u32>)> =
            accounts.iter().map(|a| (a.id, a.items.iter().map(|item| item.count).collect())).collect();
        assert_eq!(found, [(1, vec![]), (2, vec![4, 5]), (3, vec![])]);
    }
}
