//! Packing an entry into the 64 bits of a slot in a run's table: bits that all entries of the run share are left out.
//! An entry that does not fit is searched for in the run's blocks.

use super::super::entry::IndexEntry;
use super::super::format::Position;
use recension_engine::Seq;

/// Bits for a seq and a segment together; an offset has 32, and whether the version is a deletion 1.
const SEQ_AND_SEGMENT_BITS: u32 = 31;
/// Bits for a seq at most.
const SEQ_BITS_MAX: u32 = 24;
/// The value for an entry that does not fit. No row lies at the last byte of 4 GiB.
const DOES_NOT_FIT: u64 = u64::MAX;

/// The packing of a run's entries, which follows from its range of commits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    first: Seq,
    /// The last segment that entries point into.
    segment: u32,
    seq_bits: u32,
}

impl Packing {
    /// For entries of commits `first` to `last`, the last of which ends at `end`.
    pub(super) fn of(first: Seq, last: Seq, end: Position) -> Self {
        let seqs = last.0.saturating_sub(first.0);
        let seq_bits = (u64::BITS - seqs.leading_zeros()).min(SEQ_BITS_MAX);
        Packing { first, segment: end.segment, seq_bits }
    }

    fn segment_bits(&self) -> u32 {
        SEQ_AND_SEGMENT_BITS - self.seq_bits
    }

    pub(super) fn pack(&self, entry: IndexEntry) -> u64 {
        let below = |difference: u64, bits: u32| (difference >> bits == 0).then_some(difference);
        let seq = entry.seq.0.checked_sub(self.first.0).and_then(|seq| below(seq, self.seq_bits));
        let back = self.segment.checked_sub(entry.position.segment);
        let back = back.and_then(|back| below(u64::from(back), self.segment_bits()));
        let (Some(seq), Some(back)) = (seq, back) else { return DOES_NOT_FIT };
        let high = seq << self.segment_bits() | back;
        high << 33 | u64::from(entry.position.offset) << 1 | u64::from(entry.deleted)
    }

    /// `None` if the entry did not fit, or the value is no entry of this run.
    pub(super) fn unpack(&self, packed: u64) -> Option<IndexEntry> {
        if packed == DOES_NOT_FIT {
            return None;
        }
        let high = packed >> 33;
        let back = (high & ((1 << self.segment_bits()) - 1)) as u32;
        Some(IndexEntry {
            seq: Seq(self.first.0.checked_add(high >> self.segment_bits())?),
            position: Position { segment: self.segment.checked_sub(back)?, offset: (packed >> 1) as u32 },
            deleted: packed & 1 == 1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: u64, segment: u32, offset: u32, deleted: bool) -> IndexEntry {
        IndexEntry { seq: Seq(seq), position: Position { segment, offset }, deleted }
    }

    #[test]
    fn what_fits_comes_back_and_the_rest_is_said_not_to() {
        let end = Position { segment: 9_000, offset: 77 };
        for (first, last) in [(1, 1), (1, 2), (500, 500 + (1 << 17)), (7, 7 + (1 << 24) - 1), (7, u64::MAX)] {
            let packing = Packing::of(Seq(first), Seq(last), end);
            let furthest = first + (1 << packing.seq_bits) - 1;
            let deepest = 9_000u32.saturating_sub((1u64 << packing.segment_bits()).min(9_001) as u32 - 1);
            for seq in [first, u64::midpoint(first, furthest), furthest] {
                for (segment, offset) in [(9_000, 0), (9_000, u32::MAX - 1), (deepest, 64), (deepest, u32::MAX - 1)] {
                    for deleted in [false, true] {
                        let entry = entry(seq, segment, offset, deleted);
                        assert_eq!(packing.unpack(packing.pack(entry)), Some(entry), "{packing:?}");
                    }
                }
            }
            let outside = [
                entry(furthest + 1, 9_000, 64, false),
                entry(first - 1, 9_000, 64, false),
                entry(first, 9_001, 64, false),
            ];
            for entry in outside {
                assert_eq!(packing.pack(entry), DOES_NOT_FIT, "{packing:?} {entry:?}");
            }
            if let Some(too_deep) = deepest.checked_sub(1) {
                assert_eq!(packing.pack(entry(first, too_deep, 64, false)), DOES_NOT_FIT);
            }
        }
        assert_eq!(Packing::of(Seq(1), Seq(9), end).unpack(DOES_NOT_FIT), None);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        for end in [Position { segment: 1, offset: 0 }, Position { segment: u32::MAX, offset: u32::MAX }] {
            for (first, last) in [(0, 0), (u64::MAX, u64::MAX), (u64::MAX, 0), (1, 1 << 40)] {
                let packing = Packing::of(Seq(first), Seq(last), end);
                for packed in (0..64).map(|bit| 1u64 << bit).flat_map(|bit| [bit, !bit, bit - 1]) {
                    if let Some(entry) = packing.unpack(packed) {
                        assert_eq!(packing.pack(entry), packed);
                    }
                }
            }
        }
    }
}
