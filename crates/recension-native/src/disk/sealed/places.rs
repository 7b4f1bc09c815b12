//! Where the bytes of a segment lie in its frames. Of two frames over the same bytes the later one counts; what no
//! frame has is zeros. Pure.

use std::ops::Range;

/// Bytes of the engine's file that are in one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// The first of them.
    pub(super) start: u32,
    pub(super) len: u32,
    /// Where the frame begins, in sectors.
    pub(super) sector: u32,
    /// Bytes of the frame before the first of them.
    pub(super) skip: u32,
}

impl Piece {
    pub(super) fn end(&self) -> u64 {
        u64::from(self.start) + u64::from(self.len)
    }

    /// What is left of it from `from` on.
    fn behind(&self, from: u64) -> Option<Piece> {
        let cut = u32::try_from(from.saturating_sub(u64::from(self.start))).unwrap_or(u32::MAX);
        let len = self.len.checked_sub(cut).filter(|&len| len > 0)?;
        Some(Piece { start: self.start + cut, len, skip: self.skip + cut, ..*self })
    }

    /// What is left of it before `end`.
    fn before(&self, end: u64) -> Option<Piece> {
        let len = u32::try_from(end.saturating_sub(u64::from(self.start))).unwrap_or(u32::MAX).min(self.len);
        (len > 0).then_some(Piece { len, ..*self })
    }
}

/// The pieces of a file, in order and without overlaps.
#[derive(Default)]
pub(super) struct Places(Vec<Piece>);

impl Places {
    /// Puts a piece above what is there.
    pub(super) fn put(&mut self, piece: Piece) {
        let start = u64::from(piece.start);
        if self.end() <= start {
            self.0.push(piece);
            return;
        }
        let first = self.0.partition_point(|one| one.end() <= start);
        let behind = self.0.partition_point(|one| u64::from(one.start) < piece.end());
        let covered = self.0.get(first..behind).unwrap_or_default();
        let left = covered.first().and_then(|one| one.before(start));
        let right = covered.last().and_then(|one| one.behind(piece.end()));
        self.0.splice(first..behind.max(first), left.into_iter().chain([piece]).chain(right));
    }

    /// Leaves out what lies at `end` and behind.
    pub(super) fn cut(&mut self, end: u64) {
        self.0.truncate(self.0.partition_point(|one| u64::from(one.start) < end));
        if let Some(last) = self.0.last_mut()
            && let Some(left) = last.before(end)
        {
            *last = left;
        }
    }

    /// Where they end.
    pub(super) fn end(&self) -> u64 {
        self.0.last().map_or(0, Piece::end)
    }

    /// The pieces with bytes at `from` or behind.
    pub(super) fn from(&self, from: u64) -> &[Piece] {
        &self.0[self.0.partition_point(|one| one.end() <= from)..]
    }

    /// The next bytes that are in frames, without a gap, at `from` or behind.
    pub(super) fn next_data(&self, from: u64) -> Option<Range<u64>> {
        let pieces = self.from(from);
        let first = pieces.first()?;
        let mut end = first.end();
        for piece in &pieces[1..] {
            if u64::from(piece.start) > end {
                break;
            }
            end = piece.end();
        }
        Some(from.max(u64::from(first.start))..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Put(u32, u32),
        Cut(u32),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![4 => (0..90_u32, 1..30_u32).prop_map(|(at, len)| Step::Put(at, len)), 1 => (0..120_u32).prop_map(Step::Cut)]
    }

    proptest! {
        #[test]
        fn of_pieces_over_the_same_bytes_the_later_one_counts(steps in proptest::collection::vec(step(), 0..40)) {
            let mut places = Places::default();
            // The frame, and the byte of it, that has each byte of the file.
            let mut expected = [None; 200];
            for (nth, step) in steps.into_iter().enumerate() {
                let nth = nth as u32;
                match step {
                    Step::Put(start, len) => {
                        places.put(Piece { start, len, sector: nth, skip: 0 });
                        (0..len).for_each(|byte| expected[(start + byte) as usize] = Some((nth, byte)));
                    }
                    Step::Cut(end) => {
                        places.cut(u64::from(end));
                        expected[end as usize..].fill(None);
                    }
                }
                let mut found = [None; 200];
                let mut last = 0;
                for piece in places.from(0) {
                    prop_assert!(u64::from(piece.start) >= last && piece.len > 0);
                    last = piece.end();
                    for byte in 0..piece.len {
                        found[(piece.start + byte) as usize] = Some((piece.sector, piece.skip + byte));
                    }
                }
                prop_assert_eq!(found, expected);
                prop_assert_eq!(places.end(), expected.iter().rposition(Option::is_some).map_or(0, |at| at as u64 + 1));
                for from in 0..150 {
                    let start = (from..200).find(|&at| expected[at].is_some());
                    let data = start.map(|start| {
                        let end = (start..200).find(|&at| expected[at].is_none()).unwrap_or(200);
                        start as u64..end as u64
                    });
                    prop_assert_eq!(places.next_data(from as u64), data);
                }
            }
        }
    }
}
