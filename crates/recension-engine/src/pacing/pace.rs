//! How long a leader waits for more commits, and a caller for its turn, as learned from earlier groups. Pure.

use std::time::Duration;

/// A leader waits for more items for this part of the time that the last group took.
const WAIT_PART: u32 = 2;
/// It waits no longer than this, unless the pace is told otherwise.
pub(super) const WAIT_MAX: Duration = Duration::from_micros(200);
/// A caller whose turn has not come polls for this many times the time that the last group took: for the rest of the
/// present group, for its own group, and for the processors' other work.
const SPIN_TIMES: u32 = 3;
/// It does not poll if that is longer than this: such groups wait for a disk, and others can use the processor. A
/// sleeping thread takes tens of microseconds to wake.
const SPIN_MAX: Duration = Duration::from_micros(100);
/// Most groups that pass until the next try, after waits in vain.
const PASSES_MAX: u32 = 1024;

/// An exponential backoff that counts occasions rather than time: after something was tried in vain, it is not tried
/// for a while.
#[derive(Clone, Copy, Debug)]
pub struct Vain {
    /// The greatest backoff.
    passes_max: u32,
    /// How many more occasions pass without a try.
    passes: u32,
    /// How many occasions passed after the last try in vain; 0 if the last try was a success.
    backoff: u32,
}

impl Default for Vain {
    fn default() -> Self {
        Vain::up_to(PASSES_MAX)
    }
}

impl Vain {
    /// Nothing was tried yet. After tries in vain, at most `passes_max` occasions pass until the next.
    pub fn up_to(passes_max: u32) -> Self {
        Vain { passes_max, passes: 0, backoff: 0 }
    }

    /// Whether this occasion passes without a try.
    pub fn passes(&mut self) -> bool {
        let left = self.passes.checked_sub(1);
        self.passes = left.unwrap_or(0);
        left.is_some()
    }

    /// Learns the outcome of a try.
    pub fn was(&mut self, in_vain: bool) {
        self.backoff = if in_vain { (self.backoff * 2).clamp(1, self.passes_max) } else { 0 };
        self.passes = self.backoff;
    }
}

/// What earlier groups have taught about waiting for more items.
#[derive(Debug)]
pub struct Pace {
    /// The size of the last group, with the items that waited at its end.
    pub expected: usize,
    /// The time that the last group's work took.
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
    /// Nothing is known yet; a leader waits for at most `wait_max`. If the work waits for another machine, more
    /// patience pays than for a sync: each group that leaves half of the callers behind costs a round trip.
    pub fn patient(wait_max: Duration) -> Self {
        Pace { expected: 0, took: Duration::ZERO, wait_max, vain: Vain::default() }
    }

    /// How long a leader may wait for more items than `there`; `None`: it must not wait.
    pub fn wait(&mut self, there: usize) -> Option<Duration> {
        if there >= self.expected || self.took.is_zero() || self.vain.passes() {
            return None;
        }
        Some((self.took / WAIT_PART).min(self.wait_max))
    }

    /// How long a caller whose turn has not come polls before it sleeps.
    pub fn spin(&self) -> Duration {
        Some(self.took.saturating_mul(SPIN_TIMES)).filter(|spin| *spin <= SPIN_MAX).unwrap_or_default()
    }

    /// Learns the outcome of a wait.
    pub fn waited(&mut self, in_vain: bool) {
        self.vain.was(in_vain);
    }
}
