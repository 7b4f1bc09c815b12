//! How long to wait for more commits before a group is worked on, and for one's turn, by what the groups before say.
//! Pure.

use std::time::Duration;

/// Who works on a group waits for more items for such a part of the time that the group before took.
const WAIT_PART: u32 = 2;
/// And no longer than this, if the pace is not told otherwise.
pub(super) const WAIT_MAX: Duration = Duration::from_micros(200);
/// A caller whose turn has not come looks for it again and again for so many times the time that the group before
/// took: for the rest of the group that is worked on, for its own, and for what the processors do meanwhile.
const SPIN_TIMES: u32 = 3;
/// But not at all if that is longer than this: such groups wait for a disk, and the processor is others'. A thread
/// that sleeps takes tens of microseconds to wake.
const SPIN_MAX: Duration = Duration::from_micros(100);
/// After waits in vain, most groups that pass until the next try.
const PASSES_MAX: u32 = 1024;

/// How often something was tried in vain, and how often it is not tried because of that: an exponential backoff
/// that counts occasions rather than time.
#[derive(Clone, Copy, Debug)]
pub struct Vain {
    /// The backoff grows to this.
    passes_max: u32,
    /// How often it will not be tried.
    passes: u32,
    /// How often it was not tried after the last time in vain; 0 where it was not in vain.
    backoff: u32,
}

impl Default for Vain {
    fn default() -> Self {
        Vain::up_to(PASSES_MAX)
    }
}

impl Vain {
    /// Nothing was tried yet; after tries in vain, at most `passes_max` occasions pass until the next.
    pub fn up_to(passes_max: u32) -> Self {
        Vain { passes_max, passes: 0, backoff: 0 }
    }

    /// Whether it is not tried this time.
    pub fn passes(&mut self) -> bool {
        let left = self.passes.checked_sub(1);
        self.passes = left.unwrap_or(0);
        left.is_some()
    }

    /// Learns whether it was in vain.
    pub fn was(&mut self, in_vain: bool) {
        self.backoff = if in_vain { (self.backoff * 2).clamp(1, self.passes_max) } else { 0 };
        self.passes = self.backoff;
    }
}

/// What the groups before say of how long to wait for more items.
#[derive(Debug)]
pub struct Pace {
    /// The items of the group before, and those that waited at its end.
    pub expected: usize,
    /// The time that its work took.
    pub took: Duration,
    wait_max: Duration,
    vain: Vain,
}

impl Default for Pace {
    fn default() -> Self {
        Pace::patient(WAIT_MAX)
    }
}

impl Pace {
    /// Nothing is known yet; a leader waits at most for `wait_max`. Work that waits for another machine is worth more
    /// patience than a sync: each group that leaves half of the callers behind costs a round trip.
    pub fn patient(wait_max: Duration) -> Self {
        Pace { expected: 0, took: Duration::ZERO, wait_max, vain: Vain::default() }
    }

    /// How long a leader may wait for more items than `there`; `None`: not at all.
    pub fn wait(&mut self, there: usize) -> Option<Duration> {
        if there >= self.expected || self.took.is_zero() || self.vain.passes() {
            return None;
        }
        Some((self.took / WAIT_PART).min(self.wait_max))
    }

    /// How long a caller whose turn has not come looks for it before it sleeps.
    pub fn spin(&self) -> Duration {
        Some(self.took.saturating_mul(SPIN_TIMES)).filter(|spin| *spin <= SPIN_MAX).unwrap_or_default()
    }

    /// Learns what became of a wait.
    pub fn waited(&mut self, in_vain: bool) {
        self.vain.was(in_vain);
    }
}
