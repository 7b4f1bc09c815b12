//! Decides which unsynced changes survive a power loss. Pure: a seed and a policy give one answer to each question, in
//! the order of the questions.

use super::image::SECTOR;
use super::rng::Rng;

/// The effect of a power loss on unsynced changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrashPolicy {
    /// Everything unsynced is lost: the disk's cache never wrote anything back.
    DropAll,
    /// Everything unsynced is kept: it was all written back just in time.
    KeepAll,
    /// Only the newest unsynced call is kept: the disk wrote in an order of its own.
    KeepOnlyLast,
    /// All but the oldest unsynced call are kept.
    DropOnlyFirst,
    /// Everything is kept, but the newest data write is torn in a sector that the seed chooses.
    TearLast,
    /// Names and sizes are kept, data is lost: a rename that reaches the disk before its file's data, files of zeros.
    NamesWithoutData,
    /// Data and sizes are kept, names are lost.
    DataWithoutNames,
    /// Each sector, size and name is kept or dropped, and sectors torn, as the seed decides.
    Random,
}

impl CrashPolicy {
    /// Every policy.
    pub const ALL: [CrashPolicy; 8] = [
        CrashPolicy::DropAll,
        CrashPolicy::KeepAll,
        CrashPolicy::KeepOnlyLast,
        CrashPolicy::DropOnlyFirst,
        CrashPolicy::TearLast,
        CrashPolicy::NamesWithoutData,
        CrashPolicy::DataWithoutNames,
        CrashPolicy::Random,
    ];
}

/// The fate of one unsynced sector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    Keep,
    Drop,
    /// So many bytes of the new content over the old.
    Torn(usize),
}

/// The fate of one unsynced name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameFate {
    Keep,
    Drop,
    /// A rename after which both names are there.
    Half,
}

pub(super) struct Dice {
    policy: CrashPolicy,
    rng: Rng,
    /// The oldest and the newest call with unsynced changes.
    first: u64,
    last: u64,
    keep_data: u64,
    keep_size: u64,
    keep_name: u64,
}

impl Dice {
    pub(super) fn new(policy: CrashPolicy, seed: u64, first: u64, last: u64) -> Self {
        let mut rng = Rng::for_part(seed, 0xd1ce);
        // With even odds everywhere, "nearly all kept" and "nearly all lost" would be too rare.
        let mut odds = || [5, 30, 50, 70, 95][rng.index(5)];
        let (keep_data, keep_size, keep_name) = (odds(), odds(), odds());
        Dice { policy, rng, first, last, keep_data, keep_size, keep_name }
    }

    pub(super) fn data(&mut self, call: u64) -> Fate {
        let keep = |yes| if yes { Fate::Keep } else { Fate::Drop };
        match self.policy {
            CrashPolicy::KeepOnlyLast => keep(call == self.last),
            CrashPolicy::DropOnlyFirst => keep(call != self.first),
            CrashPolicy::TearLast if call == self.last => match self.rng.below(3) {
                0 => Fate::Keep,
                1 => Fate::Drop,
                _ => self.torn(),
            },
            CrashPolicy::Random if self.rng.percent(self.keep_data) => Fate::Keep,
            CrashPolicy::Random if self.rng.percent(30) => self.torn(),
            CrashPolicy::KeepAll | CrashPolicy::DataWithoutNames | CrashPolicy::TearLast => Fate::Keep,
            CrashPolicy::DropAll | CrashPolicy::NamesWithoutData | CrashPolicy::Random => Fate::Drop,
        }
    }

    pub(super) fn size(&mut self, call: u64) -> bool {
        match self.policy {
            CrashPolicy::DropAll => false,
            CrashPolicy::KeepAll
            | CrashPolicy::TearLast
            | CrashPolicy::NamesWithoutData
            | CrashPolicy::DataWithoutNames => true,
            CrashPolicy::KeepOnlyLast => call == self.last,
            CrashPolicy::DropOnlyFirst => call != self.first,
            CrashPolicy::Random => self.rng.percent(self.keep_size),
        }
    }

    pub(super) fn name(&mut self, call: u64) -> NameFate {
        let keep = |yes| if yes { NameFate::Keep } else { NameFate::Drop };
        match self.policy {
            CrashPolicy::DropAll | CrashPolicy::DataWithoutNames => NameFate::Drop,
            CrashPolicy::KeepAll | CrashPolicy::TearLast | CrashPolicy::NamesWithoutData => NameFate::Keep,
            CrashPolicy::KeepOnlyLast => keep(call == self.last),
            CrashPolicy::DropOnlyFirst => keep(call != self.first),
            CrashPolicy::Random if self.rng.percent(10) => NameFate::Half,
            CrashPolicy::Random => keep(self.rng.percent(self.keep_name)),
        }
    }

    fn torn(&mut self) -> Fate {
        Fate::Torn(1 + self.rng.index(SECTOR - 1))
    }
}
