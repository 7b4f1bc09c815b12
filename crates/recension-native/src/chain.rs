//! The chain of commit records: each carries a hash that covers all records before it. A record that is missing, stale
//! or exchanged is noticed wherever the log is read. Pure; docs/format.md has the bytes. The chain detects faults. It
//! does not protect from forgers: the hash has no key.

use std::fmt;

use super::format::{Position, StoreId};
use recension_engine::{CommitInfo, Seq};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

const START: &[u8] = b"RECCHAIN";

/// The chain value behind a commit: if two logs have the same one, they are the same up to there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Chain(u128);

impl Chain {
    /// The value as bytes, as files have it.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// The value of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Chain(u128::from_le_bytes(bytes))
    }

    /// The value at the beginning of a log that continues behind commit `seq`.
    pub(super) fn start(id: StoreId, seq: Seq) -> Self {
        let mut bytes = START.to_vec();
        bytes.extend(id.0);
        bytes.extend(seq.0.to_le_bytes());
        Chain(xxh3_128(&bytes))
    }

    /// The value behind a record, from its linked bytes, which begin with the value behind the record before.
    pub(super) fn behind(linked: &[u8]) -> Self {
        Chain(xxh3_128(linked))
    }

    /// The same for bytes that lie in pieces.
    pub(super) fn behind_pieces<'b>(pieces: impl Iterator<Item = &'b [u8]>) -> Self {
        let mut hash = Xxh3::new();
        pieces.for_each(|piece| hash.update(piece));
        Chain(hash.digest128())
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A point of the log: right behind a commit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct LogPoint {
    /// The commit; seq 0 if there is none.
    pub(super) last: CommitInfo,
    /// The position behind it.
    pub(super) end: Position,
    /// The chain value behind it.
    pub(super) chain: Chain,
}

impl LogPoint {
    /// Before the first commit of a store.
    pub(super) fn start(id: StoreId) -> Self {
        LogPoint { last: CommitInfo::default(), end: Position::START, chain: Chain::start(id, Seq::ZERO) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_of_all_bytes_and_not_of_how_they_lie() {
        let bytes: Vec<u8> = (0..5000_u32).map(|n| (n * 7 % 251) as u8).collect();
        let whole = Chain::behind(&bytes);
        for cut in [0, 1, 16, 240, 241, 4999] {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(Chain::behind_pieces([head, &[], tail].into_iter()), whole, "cut at {cut}");
        }
        assert_ne!(Chain::behind(&bytes[1..]), whole);
        assert_eq!(Chain::from_bytes(whole.to_bytes()), whole);
        assert_eq!(whole.to_string().len(), 32);
    }

    #[test]
    fn logs_begin_differently_by_store_and_by_seq() {
        let start = |id, seq| Chain::start(StoreId([id; 16]), Seq(seq));
        assert!(start(1, 0) != start(2, 0) && start(1, 0) != start(1, 1));
    }
}
