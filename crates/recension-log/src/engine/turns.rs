//! Turns of writers. If several nodes append, the winner knows first that the position is taken, and would win again
//! and again; and lost appends cost the system as much as others. Nodes therefore take turns. Each lets the nodes go
//! first that have waited for longer, each for as long as an append takes. A node that does not come is passed over.
//! Only speed depends on it: the append decides. Pure: times are arguments.

use std::time::{Duration, Instant};

use crate::record::Id;

/// After a record of its own, another node counts as writing for this many appends.
const APPENDS_REMEMBERED: u32 = 8;
/// The longest that a node waits for its turn.
const WAIT_MAX: Duration = Duration::from_millis(50);
/// Most other writers that are remembered; further ones go without turns.
const WRITERS_MAX: usize = 16;
/// After this many waits in vain in a row, a node waits no more until another is heard of.
const VAIN_MAX: u32 = 2;

/// A node's knowledge of the others' appends and its own.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// About how long an append takes.
    append: Duration,
    /// Other nodes, with the time when a record of each was last applied.
    others: Vec<(Id, Instant)>,
    /// When a record of ours was last written.
    ours: Option<Instant>,
    /// Waits in vain since the last record of another.
    vain: u32,
}

impl Turns {
    /// A record of another node was applied.
    pub(super) fn was_foreign(&mut self, writer: Id, now: Instant) {
        self.others.retain(|(other, _)| *other != writer);
        self.others.push((writer, now));
        if self.others.len() > WRITERS_MAX {
            self.others.remove(0);
        }
        self.vain = 0;
    }

    /// A record of ours was written.
    pub(super) fn was_ours(&mut self, now: Instant, took: Duration) {
        self.append = if self.append.is_zero() { took } else { (self.append * 3 + took) / 4 };
        self.ours = Some(now);
    }

    /// How long to let others go first; `None` if it is our turn.
    pub(super) fn wait(&self, now: Instant) -> Option<Duration> {
        let ours = self.ours.filter(|_| self.vain < VAIN_MAX)?;
        let remembered = (self.append * APPENDS_REMEMBERED).max(Duration::from_millis(1));
        let is_before = |last: Instant| last < ours && now.saturating_duration_since(last) < remembered;
        let before = self.others.iter().filter(|(_, last)| is_before(*last)).count() as u32;
        (before > 0).then(|| (self.append * before).min(WAIT_MAX))
    }

    /// No record came during a wait.
    pub(super) fn waited_in_vain(&mut self) {
        self.vain += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: Id = Id([1; 16]);
    const THIRD: Id = Id([2; 16]);

    #[test]
    fn a_winner_waits_while_others_write_and_not_for_long() {
        let start = Instant::now();
        let after = |millis: u64| start + Duration::from_millis(millis);
        let mut turns = Turns::default();
        turns.was_ours(after(0), Duration::from_millis(4));
        assert_eq!(turns.wait(after(1)), None, "it is alone");
        turns.was_foreign(OTHER, after(2));
        assert_eq!(turns.wait(after(2)), None, "it is its turn");
        turns.was_ours(after(6), Duration::from_millis(4));
        assert_eq!(turns.wait(after(6)), Some(Duration::from_millis(4)));
        assert_eq!(turns.wait(after(2 + 32)), None, "the others have gone silent");
        turns.waited_in_vain();
        turns.waited_in_vain();
        assert_eq!(turns.wait(after(7)), None, "nobody came twice");
        turns.was_foreign(OTHER, after(8));
        turns.was_ours(after(9), Duration::from_secs(9));
        assert_eq!(turns.wait(after(9)), Some(WAIT_MAX));
    }

    #[test]
    fn of_three_each_lets_those_go_first_that_have_waited_longer() {
        let start = Instant::now();
        let after = |millis: u64| start + Duration::from_millis(millis);
        let mut turns = Turns::default();
        turns.was_foreign(OTHER, after(1));
        turns.was_foreign(THIRD, after(2));
        turns.was_ours(after(3), Duration::from_millis(4));
        assert_eq!(turns.wait(after(3)), Some(Duration::from_millis(8)), "both go first");
        turns.was_foreign(OTHER, after(4));
        assert_eq!(turns.wait(after(4)), Some(Duration::from_millis(4)), "the third goes first");
        turns.was_foreign(THIRD, after(5));
        assert_eq!(turns.wait(after(5)), None, "it is our turn");
    }

    #[test]
    fn no_more_writers_are_remembered_than_a_bound() {
        let mut turns = Turns::default();
        for n in 0..=u8::MAX {
            turns.was_foreign(Id([n; 16]), Instant::now());
        }
        assert_eq!(turns.others.len(), WRITERS_MAX);
    }
}
