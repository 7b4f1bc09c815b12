//! Where the blocks of a view are, as far as writers have come across them: so that most writes find the block of a key
//! by a look at memory, and not by a search for its beginning. Blocks come and go only in commits that write the row of
//! cuts or the view's entry in the catalogue. What is remembered holds for snapshots in which both are of the same
//! commits. Pure.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::engine::{Seq, TreeId};

/// What the places hold for: the view's tree, and the commits that wrote its entry and its row of cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Stamp {
    pub(crate) tree: TreeId,
    pub(crate) entry: Seq,
    pub(crate) cuts: Seq,
}

/// Parts of blocks, by where the block begins.
#[derive(Default)]
pub(crate) struct Places {
    stamp: Option<Stamp>,
    parts: BTreeMap<Vec<u8>, Until>,
}

/// How far a block is known to go.
enum Until {
    /// To this key at least.
    Key(Vec<u8>),
    /// To where the next one begins.
    Next(Vec<u8>),
    /// It is the last one.
    End,
}

impl Places {
    /// Forgets everything if it holds for other commits.
    pub(crate) fn of(&mut self, stamp: Stamp) -> &mut Self {
        if self.stamp != Some(stamp) {
            self.parts.clear();
            self.stamp = Some(stamp);
        }
        self
    }

    /// The beginning of the block that a key is in, if it is known.
    pub(crate) fn block_of(&self, key: &[u8]) -> Option<Vec<u8>> {
        let before = self.parts.range::<[u8], _>((Bound::Unbounded, Bound::Included(key))).next_back();
        let holds = before.filter(|(_, until)| match until {
            Until::Key(last) => key <= last.as_slice(),
            Until::Next(next) => key < next.as_slice(),
            Until::End => true,
        });
        holds.map(|(start, _)| start.clone())
    }

    /// A key was found to be in the block that begins at `start`. Returns whether it pays to learn where the block
    /// ends: its keys are asked for again and again.
    pub(crate) fn found(&mut self, start: &[u8], key: &[u8]) -> bool {
        if key.len() > KEY_BYTES_MAX || start.len() > KEY_BYTES_MAX {
            return false;
        }
        if let Some(until) = self.parts.get_mut(start) {
            if let Until::Key(last) = until {
                *last = key.to_vec();
            }
            return true;
        }
        if self.parts.len() >= PARTS_MAX {
            self.parts.clear();
        }
        self.parts.insert(start.to_vec(), Until::Key(key.to_vec()));
        false
    }

    /// The block that begins at `start` ends where the next one begins; `None`: it is the last one.
    pub(crate) fn ends(&mut self, start: &[u8], next: Option<Vec<u8>>) {
        let until = match next {
            Some(next) if next.len() > KEY_BYTES_MAX => return,
            Some(next) => Until::Next(next),
            None => Until::End,
        };
        self.parts.insert(start.to_vec(), until);
    }
}

/// Parts that are remembered of a view.
const PARTS_MAX: usize = 256;

/// Bytes of a key that is remembered: 256 KiB for a view at most, with [`PARTS_MAX`].
const KEY_BYTES_MAX: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_known_until_blocks_are_cut() {
        let stamp = |cuts| Stamp { tree: TreeId(7), entry: Seq(1), cuts: Seq(cuts) };
        let mut all = Places::default();
        let places = all.of(stamp(0));
        let begins = Places::block_of;
        assert_eq!(begins(places, b"d"), None);
        assert!(!places.found(b"c", b"e"));
        for (key, expected) in [("b", None), ("c", Some("c")), ("e", Some("c")), ("ea", None), ("f", None)] {
            assert_eq!(begins(places, key.as_bytes()), expected.map(|start| start.as_bytes().to_vec()), "{key}");
        }
        assert!(places.found(b"c", b"f"), "it is asked for again");
        assert_eq!(begins(places, b"f"), Some(b"c".to_vec()));
        places.ends(b"c", Some(b"k".to_vec()));
        assert_eq!((begins(places, b"j"), begins(places, b"k")), (Some(b"c".to_vec()), None));
        places.ends(b"k", None);
        assert_eq!(begins(places, b"zz"), Some(b"k".to_vec()));
        assert_eq!(begins(all.of(stamp(0)), b"j"), Some(b"c".to_vec()), "the same commits");
        assert_eq!(begins(all.of(stamp(2)), b"j"), None, "blocks were cut");
    }
}
