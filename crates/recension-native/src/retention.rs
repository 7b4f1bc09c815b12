//! Standing rules at work: history that they no longer promise is given up here, by moving the horizons that
//! `forgotten` keeps. Merges do the rest. Nothing moves a horizon back.

use std::sync::Arc;

use super::erased::check_made;
use super::index::State;
use super::kept_versions::{Held, Retained};
use super::settle::Extent;
use super::shared::Shared;
use super::snapshot::NativeSnapshot;
use recension_engine::{
    EngineError, ErasedKey, Kept, KeyRange, Result, Retention, RetentionRule, Seq, Timestamp, TreeId, kept_moments,
};

/// The background moves a horizon by at least this fraction of its duration, because each move may make it worth while
/// to merge everything.
const STEPS_OF_DURATION: u64 = 8;

impl Shared {
    /// Shows forgotten and erased history to the readers of a state. It is read inside, so that of two callers the
    /// later one
    /// wins.
    pub(super) fn show_retained(&self, state: &mut State) {
        state.forgotten = Arc::new(self.settled_files.forgotten());
        state.erased = Arc::new(self.settled_files.erased());
    }

    /// The kept moments of now.
    pub(super) fn kept(&self) -> Result<Kept> {
        let (head, state) = self.head_state();
        kept_moments(&NativeSnapshot::new(state, head))
    }

    /// The oldest kept moment, if merges need to know it.
    pub(super) fn held(&self, retained: &Retained) -> Result<Held> {
        if retained.counts_versions() { Ok(self.kept()?.oldest()) } else { Ok(None) }
    }

    /// After a commit that keeps a moment: history that was being given up meanwhile is, for all readers. What is
    /// readable now stays.
    pub(super) fn after_keeping(&self) {
        self.replace_state(|state| self.show_retained(state));
    }

    /// Erases versions, durably. They leave the files with the next merges.
    pub(super) fn erase(&self, erased: &[ErasedKey]) -> Result<()> {
        let _takes_commits = self.check_takes_commits()?;
        check_made(erased, self.head())?;
        match self.settled_files.erase(erased) {
            Ok(()) => {
                self.replace_state(|state| self.show_retained(state));
                Ok(())
            }
            Err(refusal @ EngineError::TooLarge { .. }) => Err(refusal),
            // Whether a crash would bring them back is unknown.
            Err(error) => {
                self.poison(&error);
                Err(error)
            }
        }
    }

    /// Sets standing rules, durably.
    pub(super) fn set_retention(&self, rules: &[RetentionRule]) -> Result<()> {
        let _takes_commits = self.check_takes_commits()?;
        match self.settled_files.set_rules(rules) {
            Err(error) if !matches!(error, EngineError::TooLarge { .. }) => {
                // Whether a crash would bring them back is unknown.
                self.poison(&error);
                Err(error)
            }
            done => done,
        }
    }

    /// Moves the horizons to where the rules now put them. If it fails, readers are unaffected.
    pub(super) fn move_horizons(&self, extent: Extent) -> Result<()> {
        // The order matters: if a rule is replaced meanwhile, nothing that was written since is given up; if a clock is
        // put back, nothing is given up that it had not reached.
        let (head, state) = self.head_state();
        let now = self.clock.now();
        let rules = self.settled_files.rules();
        if rules.is_empty() {
            return Ok(());
        }
        let last_commit_at = |time: Timestamp| -> Result<Seq> {
            let found = state.times.last(&state, head, |commit| commit.time <= time)?;
            Ok(found.map_or(Seq::ZERO, |commit| commit.seq))
        };
        let mut horizons: Vec<(TreeId, KeyRange, Seq)> = Vec::new();
        for RetentionRule { tree, range, retention } in rules.iter() {
            let before = match retention {
                Retention::Everything | Retention::Versions(_) => continue,
                Retention::HeadOnly => head,
                Retention::Duration(duration) => {
                    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
                    let step = match extent {
                        Extent::Everything | Extent::Anew => 1,
                        Extent::Due | Extent::AtRest => (micros / STEPS_OF_DURATION).max(1),
                    };
                    let needed = now.0.saturating_sub(micros);
                    last_commit_at(Timestamp(needed - needed % step))?
                }
            };
            horizons.push((tree, range, before));
        }
        if self.settled_files.move_horizons(&horizons, || self.kept())? {
            self.replace_state(|state| self.show_retained(state));
        }
        Ok(())
    }
}
