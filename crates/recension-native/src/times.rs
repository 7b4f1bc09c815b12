//! From times and seqs to commits. Settled files have lists of them. In the log, a binary search over the first commits
//! of the segments leads to a segment, and a walk over record headers from the nearest sample to the commit. Walks
//! leave samples. The first look into a segment therefore costs at most one walk of its headers, and later ones a short
//! one.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::format::SEGMENT_HEADER_BYTES;
use super::index::State;
use super::segment::{Segment, Segments};
use recension_engine::{CommitInfo, EngineError, Result, Seq, Timestamp};

/// Bytes of log between samples.
const SAMPLE_BYTES: u32 = 64 << 10;

/// Samples of commits that walks have passed, by segment.
#[derive(Default)]
pub(super) struct CommitTimes {
    samples: Mutex<BTreeMap<u32, Vec<Sample>>>,
}

#[derive(Clone, Copy)]
struct Sample {
    commit: CommitInfo,
    offset: u32,
}

impl CommitTimes {
    /// The last commit, up to `head`, for which `wanted` holds. It must hold for all commits up to some point, and for
    /// none after.
    pub(super) fn last(
        &self,
        state: &State,
        head: Seq,
        wanted: impl Fn(CommitInfo) -> bool,
    ) -> Result<Option<CommitInfo>> {
        let wanted = |commit: CommitInfo| commit.seq <= head && wanted(commit);
        match self.last_in_log(&state.segments, wanted)? {
            Some(commit) => Ok(Some(commit)),
            None => {
                // Newest first.
                for file in &state.settled {
                    if let Some(commit) = file.last_commit(wanted)? {
                        return Ok(Some(commit));
                    }
                }
                Ok(None)
            }
        }
    }

    fn last_in_log(&self, segments: &Segments, wanted: impl Fn(CommitInfo) -> bool) -> Result<Option<CommitInfo>> {
        // This is read before anything is looked at, because commits may be appended meanwhile.
        let written = segments.list.last().map_or(0, |newest| newest.used());
        let (mut low, mut high) = (0, segments.list.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let first = first_commit(&segments.list[middle])?;
            if first.is_some_and(&wanted) { low = middle + 1 } else { high = middle }
        }
        match low.checked_sub(1) {
            None => {
                if let Some(segment) = segments.list.first()
                    && first_commit(segment)?.is_none()
                {
                    check_end(segments, written, 0, (None, SEGMENT_HEADER_BYTES as u32))?;
                }
                Ok(None)
            }
            Some(index) => {
                let (last, end) = self.last_in(&segments.list[index], &wanted)?;
                if let Some(end) = end {
                    check_end(segments, written, index, (last, end))?;
                }
                Ok(last)
            }
        }
    }

    /// The last commit of a segment for which `wanted` holds. If it holds for all of them, also the end of their
    /// records.
    fn last_in(
        &self,
        segment: &Arc<Segment>,
        wanted: impl Fn(CommitInfo) -> bool,
    ) -> Result<(Option<CommitInfo>, Option<u32>)> {
        let mut samples = self.samples.lock();
        let samples = samples.entry(segment.number).or_default();
        if samples.is_empty() {
            // Most likely all headers are needed.
            segment.read_ahead();
        }
        let known = samples.partition_point(|sample| wanted(sample.commit));
        let mut offset = match known.checked_sub(1) {
            Some(index) => samples[index].offset,
            None => SEGMENT_HEADER_BYTES as u32,
        };
        let mut last = None;
        while let Some(header) = segment.record_header(offset)? {
            let commit = CommitInfo { seq: header.seq, time: header.time };
            if samples.last().is_none_or(|sample| offset >= sample.offset + SAMPLE_BYTES) {
                samples.push(Sample { commit, offset });
            }
            if !wanted(commit) {
                return Ok((last, None));
            }
            last = Some(commit);
            offset += header.len;
        }
        Ok((last, Some(offset)))
    }

    /// The time of a commit; zero if there is none.
    pub(super) fn time_of(&self, state: &State, seq: Seq) -> Result<Timestamp> {
        let found = self.last(state, seq, |_| true)?;
        Ok(found.map_or(Timestamp::default(), |commit| commit.time))
    }
}

/// Records that end too early are damage: the commits behind them must not count as never made. `written` is the end of
/// the newest segment before its records were read.
fn check_end(segments: &Segments, written: u32, index: usize, (last, end): (Option<CommitInfo>, u32)) -> Result<()> {
    let segment = &segments.list[index];
    let whole = match segments.list.get(index + 1) {
        // Less is used than was written if a write has failed meanwhile and was abandoned.
        None => end >= written.min(segment.used()),
        Some(next) => match next.record_header(SEGMENT_HEADER_BYTES as u32)? {
            Some(header) => header.after_gap || last.is_some_and(|last| last.seq.next() == header.seq),
            // Only the newest segment may have no commit yet.
            None => index + 2 == segments.list.len(),
        },
    };
    if whole {
        return Ok(());
    }
    Err(EngineError::damaged(segment.name(), u64::from(end), "expected another commit, found the end of the segment"))
}

fn first_commit(segment: &Segment) -> Result<Option<CommitInfo>> {
    let header = segment.record_header(SEGMENT_HEADER_BYTES as u32)?;
    Ok(header.map(|header| CommitInfo { seq: header.seq, time: header.time }))
}
