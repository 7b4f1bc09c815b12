//! Keys that seal the values of trees. A key has a block of trees of its own, so that the number of a tree says by
//! which key its values are sealed, for ever. docs/encryption.md has the numbers. Plain values only.

use crate::{Result, Timestamp, TreeId};

/// The number of a key, 1 to [`KeyNumber::MAX`]. It is given once and never again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct KeyNumber(u16);

impl KeyNumber {
    /// The first number.
    pub const FIRST: KeyNumber = KeyNumber(1);
    /// The last one.
    pub const MAX: KeyNumber = KeyNumber(32_766);

    /// The key with this number, if there can be one.
    pub fn new(number: u16) -> Option<Self> {
        (Self::FIRST.0..=Self::MAX.0).contains(&number).then_some(KeyNumber(number))
    }

    /// The key that seals the values of a tree; `None` if they are not sealed by one.
    pub fn of(tree: TreeId) -> Option<Self> {
        ((tree.0 >> 16) as u16).checked_sub(0x8000).and_then(Self::new)
    }

    /// The number.
    pub fn get(self) -> u16 {
        self.0
    }

    /// The key with the number that follows.
    pub fn next(self) -> Option<Self> {
        Self::new(self.0 + 1)
    }

    /// A tree of its block.
    pub fn tree(self, number: u16) -> TreeId {
        TreeId(u32::from(0x8000 | self.0) << 16 | u32::from(number))
    }
}

/// Whether there is a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TreeKeyState {
    /// It is here.
    Here,
    /// It is in another file: this is a backup, or a copy of the store.
    Elsewhere,
    /// It was destroyed at that moment: what it sealed can never be read again.
    Destroyed(Timestamp),
}

/// What is known of a key. The key itself is shown to nobody.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeKey {
    /// Its number.
    pub number: KeyNumber,
    /// The name that it was made for: a collection's.
    pub name: String,
    /// When it was made.
    pub made: Timestamp,
    /// Whether it is here.
    pub state: TreeKeyState,
}

/// The keys of a store.
pub trait TreeKeys: Send + Sync {
    /// All keys that there are or were, by number.
    fn list(&self) -> Vec<TreeKey>;

    /// Makes a key for a name, with a number that is `least` or greater. It is durable when this returns. If there is
    /// one for the name that is not destroyed, that one is the answer.
    ///
    /// # Errors
    /// [`EngineError::Key`](crate::EngineError::Key) if keys of the store are elsewhere;
    /// [`EngineError::TooLarge`](crate::EngineError::TooLarge) if all numbers are given;
    /// [`EngineError::ReadOnly`](crate::EngineError::ReadOnly).
    fn create(&self, name: &str, least: KeyNumber) -> Result<KeyNumber>;

    /// Destroys a key, if it is there and not destroyed yet. It is durable when this returns.
    ///
    /// # Errors
    /// [`EngineError::ReadOnly`](crate::EngineError::ReadOnly).
    fn destroy(&self, number: KeyNumber) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_says_by_which_key_it_is_sealed() {
        for number in [1, 2, 255, 32_766] {
            let key = KeyNumber::new(number).unwrap();
            for tree in [0, 1, u16::MAX] {
                assert_eq!(KeyNumber::of(key.tree(tree)), Some(key));
            }
        }
        assert_eq!(KeyNumber::FIRST.tree(7), TreeId(0x8001_0007));
        for tree in [0, 1, 0x7fff_ffff, 0x8000_ffff, 0xffff_0000, u32::MAX] {
            assert_eq!(KeyNumber::of(TreeId(tree)), None, "{tree:x}");
        }
        assert_eq!((KeyNumber::new(0), KeyNumber::new(32_767), KeyNumber::MAX.next()), (None, None, None));
    }
}
