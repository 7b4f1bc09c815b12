//! The contents of the stores in the suite `nebari`, as functions of a few numbers: entries with their versions, and
//! blobs.

use serde::{Deserialize, Serialize};

use crate::data::{Random, SCATTER};
use crate::subjects::{RowToWrite, Tree};

/// Letters of an entry.
const LETTERS: (u64, u64) = (50, 1023);

/// In which order the ids of entries lie that are written one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Order {
    /// As they are written.
    Sequential,
    /// Any.
    Random,
}

/// The entries of a store. Updates go round: entry 0, 1, and so on to the last, then entry 0 again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Entries {
    /// The order that they were written in.
    pub order: Order,
    /// Those before this one were deleted.
    pub first: u64,
    /// The number of inserted entries.
    pub count: u64,
    /// The number of updates.
    pub updates: u64,
}

impl Entries {
    /// So many as they were inserted.
    pub fn new(order: Order, count: u64) -> Self {
        Entries { order, first: 0, count, updates: 0 }
    }

    /// The number of updates of entry `n`.
    fn version(&self, n: u64) -> u64 {
        let count = self.count.max(1);
        self.updates / count + u64::from(n < self.updates % count)
    }

    /// Entry `n` as it is.
    pub(super) fn entry(&self, n: u64) -> Vec<u8> {
        entry(n, self.version(n))
    }

    /// The row that update number `n` writes.
    pub(super) fn update(&self, n: u64) -> RowToWrite {
        let count = self.count.max(1);
        row(&id(self.order, n % count), Some(entry(n % count, n / count + 1)))
    }

    /// A random one that was not deleted.
    pub(super) fn any(&self, random: &mut Random) -> u64 {
        self.first + random.below(self.count - self.first)
    }

    /// Those that were not deleted, in the order of their ids.
    pub(super) fn sorted(&self) -> Vec<([u8; 8], u64)> {
        let mut all: Vec<([u8; 8], u64)> = (self.first..self.count).map(|n| (id(self.order, n), n)).collect();
        all.sort_unstable();
        all
    }
}

/// The key of entry `n`: a 64-bit number in bytes of the same order.
pub(super) fn id(order: Order, n: u64) -> [u8; 8] {
    let id = match order {
        Order::Sequential => n,
        Order::Random => n.wrapping_mul(SCATTER),
    };
    id.to_be_bytes()
}

/// Entry `n` when it was updated `version` times: a number of 64 bits, and letters.
fn entry(n: u64, version: u64) -> Vec<u8> {
    let mut random = Random::new(n ^ (version << 48) ^ 0x10_65);
    let letters = LETTERS.0 + random.below(LETTERS.1 - LETTERS.0 + 1);
    let mut bytes = random.number().to_be_bytes().to_vec();
    bytes.extend((0..letters).map(|_| b'a' + u8::try_from(random.below(26)).unwrap_or_default()));
    bytes
}

/// Entry `n` as it is inserted.
pub(super) fn new_row(order: Order, n: u64) -> RowToWrite {
    row(&id(order, n), Some(entry(n, 0)))
}

/// The end of entry `n`.
pub(super) fn deleted_row(order: Order, n: u64) -> RowToWrite {
    row(&id(order, n), None)
}

/// The key of blob `n`.
pub(super) fn blob_id(n: u64) -> [u8; 8] {
    id(Order::Sequential, n)
}

/// Blob `n`: bytes that do not compress.
pub(super) fn blob(n: u64, bytes: u64) -> Vec<u8> {
    let mut random = Random::new(n ^ 0xb10b);
    let mut all = Vec::with_capacity(bytes as usize + 8);
    while (all.len() as u64) < bytes {
        all.extend_from_slice(&random.number().to_be_bytes());
    }
    all.truncate(bytes as usize);
    all
}

/// Blob `n` as it is written.
pub(super) fn blob_row(n: u64, bytes: u64) -> RowToWrite {
    row(&blob_id(n), Some(blob(n, bytes)))
}

fn row(key: &[u8], value: Option<Vec<u8>>) -> RowToWrite {
    RowToWrite { tree: Tree::Current, key: key.to_vec(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_what_the_last_update_of_it_wrote() {
        let order = Order::Random;
        for updates in [0, 1, 6, 7, 8, 20] {
            let entries = Entries { updates, ..Entries::new(order, 7) };
            let mut last: Vec<RowToWrite> = (0..7).map(|n| new_row(order, n)).collect();
            for n in 0..updates {
                last[(n % 7) as usize] = entries.update(n);
            }
            for (n, row) in (0..).zip(last) {
                assert_eq!((row.key, row.value), (id(order, n).to_vec(), Some(entries.entry(n))), "{n} of {updates}");
            }
        }
    }

    #[test]
    fn what_was_deleted_is_neither_listed_nor_drawn() {
        let entries = Entries { first: 5, ..Entries::new(Order::Random, 9) };
        let mut left: Vec<u64> = entries.sorted().into_iter().map(|(_, n)| n).collect();
        left.sort_unstable();
        assert_eq!(left, [5, 6, 7, 8]);
        let mut random = Random::new(1);
        assert!((0..100).map(|_| entries.any(&mut random)).all(|n| (5..9).contains(&n)));
    }
}
