//! Blocks of commits: seq and time of every commit with rows in a settled file. Pure.

use super::super::format::Fields;
use super::block::{put_number, take_number};
use recension_engine::{CommitInfo, Seq, Timestamp};

/// Commits of a full block.
const COMMITS_PER_BLOCK: usize = 512;

/// Commits of the block that is being filled.
#[derive(Default)]
pub(super) struct CommitsBuilder {
    payload: Vec<u8>,
    first: CommitInfo,
    last: CommitInfo,
    count: usize,
}

impl CommitsBuilder {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The first commit of the block.
    pub(super) fn first(&self) -> CommitInfo {
        self.first
    }

    /// Adds the next commit: a later seq, no earlier time.
    pub(super) fn push(&mut self, commit: CommitInfo) {
        if self.count == 0 {
            self.first = commit;
            self.payload.extend(commit.seq.0.to_le_bytes());
            self.payload.extend(commit.time.0.to_le_bytes());
        } else {
            let skipped = commit.seq.0.saturating_sub(self.last.seq.0 + 1);
            let waited = commit.time.0.saturating_sub(self.last.time.0);
            // The shift loses no bit of any real distance: 2^63 microseconds are 292,000 years.
            put_number(&mut self.payload, waited << 1 | u64::from(skipped > 0));
            if skipped > 0 {
                put_number(&mut self.payload, skipped);
            }
        }
        self.last = commit;
        self.count += 1;
    }

    pub(super) fn is_full(&self) -> bool {
        self.count >= COMMITS_PER_BLOCK
    }

    /// The payload; the builder is empty again.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.count = 0;
        std::mem::take(&mut self.payload)
    }
}

/// Reads the payload of a block with `count` commits; `None` if it is malformed.
pub(super) fn decode_commits(payload: &[u8], count: usize) -> Option<Vec<CommitInfo>> {
    let mut fields = Fields(payload);
    let mut last = CommitInfo { seq: Seq(fields.u64()?), time: Timestamp(fields.u64()?) };
    let mut left = fields.0;
    let mut commits = Vec::with_capacity(count);
    commits.push(last);
    for _ in 1..count {
        let waited = take_number(&mut left)?;
        let skipped = if waited & 1 == 1 { take_number(&mut left)? } else { 0 };
        let seq = last.seq.0.checked_add(1)?.checked_add(skipped)?;
        let time = last.time.0.checked_add(waited >> 1)?;
        last = CommitInfo { seq: Seq(seq), time: Timestamp(time) };
        commits.push(last);
    }
    left.is_empty().then_some(commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_read_back_with_gaps_and_equal_times() {
        let commits = [(3, 100), (4, 100), (5, 5000), (9, 5001), (10, u64::from(u32::MAX) * 9), (1 << 40, 1 << 50)];
        let commits = commits.map(|(seq, time)| CommitInfo { seq: Seq(seq), time: Timestamp(time) });
        let mut builder = CommitsBuilder::default();
        for commit in commits {
            builder.push(commit);
        }
        assert_eq!((builder.len(), builder.first()), (6, commits[0]));
        let payload = builder.finish();
        assert_eq!(decode_commits(&payload, 6).unwrap(), commits);
        assert!(decode_commits(&payload, 5).is_none());
        for cut in 0..payload.len() {
            assert!(decode_commits(&payload[..cut], 6).is_none(), "cut at {cut}");
        }
    }
}
