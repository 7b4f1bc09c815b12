//! The older versions of one key in a settled file, one after the other: they lie beside each other, newest first, so
//! that none but the first is searched for. The commits that wrote them are mostly in one block, too.

use std::sync::Arc;

use super::{BlockKind, SettledCursor, SettledFile, SettledRow};
use recension_engine::{CommitInfo, Result, Seq, Timestamp};

/// The place in a key's versions.
pub(in super::super) struct Line<'f> {
    cursor: SettledCursor<'f>,
    key: Vec<u8>,
}

impl<'f> Line<'f> {
    /// Before the versions of a key that are not newer than `at`, without its newest one in the file.
    pub(in super::super) fn of(file: &'f SettledFile, full_key: &[u8], at: Seq) -> Result<Self> {
        let cursor = SettledCursor::seek(file, BlockKind::Past, full_key, at, false)?;
        Ok(Line { cursor, key: Vec::new() })
    }

    /// The next version; `None` if the file has no more of the key.
    pub(in super::super) fn next(&mut self, full_key: &[u8]) -> Result<Option<SettledRow>> {
        let row = self.cursor.next(&mut self.key)?;
        Ok(row.filter(|_| self.key == full_key))
    }
}

impl SettledFile {
    /// The time of a commit of this file; zero if there is none. `near`: the commits among which the one before was.
    pub(in super::super) fn time_of(&self, seq: Seq, near: &mut Option<Arc<Vec<CommitInfo>>>) -> Result<Timestamp> {
        let has_it = |commits: &Arc<Vec<CommitInfo>>| {
            commits.first().is_some_and(|first| first.seq <= seq) && commits.last().is_some_and(|last| last.seq >= seq)
        };
        if !near.as_ref().is_some_and(has_it) {
            *near = self.commits_with(|commit| commit.seq <= seq)?;
        }
        let commits = near.as_ref().map_or(&[][..], |commits| commits);
        let behind = commits.partition_point(|commit| commit.seq <= seq);
        let found = behind.checked_sub(1).and_then(|index| commits.get(index));
        Ok(found.map_or(Timestamp::default(), |commit| commit.time))
    }
}
