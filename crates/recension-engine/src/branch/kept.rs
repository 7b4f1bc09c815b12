//! Kept moments: commits as of which everything stays readable, whatever retention says. A moment is kept by a row, so
//! that it comes and goes in the same commit as the tag or branch that needs it, and is on every node and in every
//! backup. Engines ask here before they give up history.

use crate::branch_rows::{BRANCHES_TREE, is_branched};
use crate::{Batch, Direction, EngineError, KeyRange, Result, Seq, Snapshot, TreeId};

/// The kind of rows that keep a moment; its seq (8 bytes, big-endian) follows in the key, and who needs it.
pub(super) const KEPT: u8 = 0x03;

/// Most kept moments of a store.
pub(super) const KEPT_MAX: usize = 8192;

/// The key of the row that keeps a moment for somebody.
pub fn kept_key(seq: Seq, whom: &[u8]) -> Vec<u8> {
    [&[KEPT][..], &seq.0.to_be_bytes(), whom].concat()
}

/// The kept moments, in ascending order. A snapshot of an engine as it is now.
pub fn kept_moments(whole: &dyn Snapshot) -> Result<Kept> {
    let mut moments = Vec::new();
    for row in whole.range(BRANCHES_TREE, &KeyRange::prefix([KEPT]), Direction::Forward) {
        moments.extend(kept_moment(&row?.key));
    }
    Ok(Kept { moments })
}

/// The moment that a row of [`BRANCHES_TREE`] keeps, if it is of that kind.
pub fn kept_moment(key: &[u8]) -> Option<Seq> {
    let (seq, _) = key.strip_prefix(&[KEPT])?.split_first_chunk()?;
    Some(Seq(u64::from_be_bytes(*seq)))
}

/// The kept moments of a store.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    moments: Vec<Seq>,
}

impl Kept {
    /// The moments, in ascending order.
    #[must_use]
    pub fn of(moments: Vec<Seq>) -> Self {
        Kept { moments }
    }

    /// How many they are.
    #[must_use]
    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    /// The same for a tree. The rows of branches are the branches' affair, which ask for themselves: those of a dropped
    /// one nobody needs.
    #[must_use]
    pub fn for_tree(self, tree: TreeId) -> Self {
        if is_branched(tree) { Kept::default() } else { self }
    }

    /// The oldest one; `None`: there is none.
    #[must_use]
    pub fn oldest(&self) -> Option<Seq> {
        self.moments.first().copied()
    }

    /// How far the history of a range may be given up, if it shall be up to `before` and is already up to `known`: a
    /// moment that cannot be read any more keeps nothing.
    #[must_use]
    pub fn limit(&self, before: Seq, known: Seq) -> Seq {
        self.moments.iter().find(|kept| **kept >= known).map_or(before, |kept| before.min(*kept))
    }

    /// Refuses to give up history of a range up to `before` that a kept moment needs. It is already given up to
    /// `known`.
    ///
    /// # Errors
    /// [`EngineError::Kept`].
    pub fn check(&self, before: Seq, known: Seq) -> Result<()> {
        let limit = self.limit(before, known);
        if limit < before { Err(EngineError::Kept { moment: limit, before }) } else { Ok(()) }
    }
}

impl Batch {
    /// For engines: whether it keeps a moment. History must not be given up while it is being committed.
    pub fn keeps_moments(&self) -> bool {
        self.rows().any(|row| row.tree == BRANCHES_TREE && row.key.first() == Some(&KEPT) && row.value.is_some())
    }
}
