//! Branches of the many documents: what is done to them, and whether it came out as the model says.

use super::protocol::Reply;
use super::revisions::{Kept, same, timed, wrong};
use crate::data::Random;
use crate::error::Result;
use crate::subjects::revisions::Numbered;
use crate::subjects::revisions::model::account;

/// Documents that are changed on a branch, if there are enough.
const CHANGED: u64 = 1_000;
/// Documents of a range.
const LISTED: u64 = 100;
/// Versions that no round has: those of the first branch, and those of the main line beside them.
const ON_BRANCHES: u64 = 50;
const BESIDE: u64 = 90;

impl Kept {
    /// Does one operation on a branch.
    pub(super) fn on_branch(&mut self, operation: &str, branch: u64, count: u64, seed: u64) -> Result<Reply> {
        let mut random = Random::new(seed);
        let mut latencies_ns = Vec::new();
        let mut ops = count;
        for _ in 0..count {
            latencies_ns.push(match operation {
                "fork" => {
                    self.forks.push(self.newer.len());
                    timed(|| self.store.fork(branch))?.0
                }
                "branch_write" => {
                    ops = self.changed();
                    self.write_both(branch)?
                }
                "branch_newest" => self.one_on_branch(branch, random.below(self.accounts) + 1)?,
                "range" => self.listed(None, random.below(self.accounts.saturating_sub(LISTED)) + 1)?,
                "branch_range" => self.listed(Some(branch), random.below(self.accounts.saturating_sub(LISTED)) + 1)?,
                "branch_diff" => self.compared(branch)?,
                _ => self.merged(branch)?,
            });
        }
        let wall_ns = latencies_ns.iter().sum();
        Ok(Reply { ops, wall_ns, latencies_ns, ..Reply::default() })
    }

    fn changed(&self) -> u64 {
        CHANGED.min(self.accounts / 20)
    }

    /// The documents that a branch changes: no other does.
    fn changed_on(&self, branch: u64) -> std::ops::Range<u64> {
        let first = 1 + branch * self.changed();
        first..first + self.changed()
    }

    fn changed_beside(&self) -> std::ops::Range<u64> {
        self.accounts + 1 - self.changed()..self.accounts + 1
    }

    /// The version of a document on the main line, or as it was there when a branch was made.
    fn version(&self, number: u64, changes: usize) -> u64 {
        let changed = self.newer.iter().take(changes).rev().find(|(own, _)| *own == number);
        changed.map_or((self.rounds.len() as u64).saturating_sub(1), |(_, version)| *version)
    }

    pub(super) fn version_on(&self, branch: Option<u64>, number: u64) -> u64 {
        match branch {
            Some(branch) if self.changed_on(branch).contains(&number) => ON_BRANCHES + branch,
            Some(branch) => self.version(number, self.forks.get(branch as usize).copied().unwrap_or_default()),
            None => self.version(number, self.newer.len()),
        }
    }

    /// The branch's documents, on the clock; and once others on the main line, beside it.
    fn write_both(&mut self, branch: u64) -> Result<u64> {
        let changes: Vec<Numbered> =
            self.changed_on(branch).map(|number| (number, account(number, ON_BRANCHES + branch).to_string())).collect();
        let (took, ()) = timed(|| self.store.write_on(branch, &changes))?;
        if branch == 0 {
            let beside: Vec<Numbered> =
                self.changed_beside().map(|number| (number, account(number, BESIDE).to_string())).collect();
            self.store.write(&beside)?;
            self.newer.extend(self.changed_beside().map(|number| (number, BESIDE)));
        }
        Ok(took)
    }

    fn one_on_branch(&mut self, branch: u64, number: u64) -> Result<u64> {
        let (took, found) = timed(|| self.store.newest_on(branch, number))?;
        let found = found.ok_or_else(|| wrong("branch_newest", "a document", "none"))?;
        same("branch_newest", &account(number, self.version_on(Some(branch), number)), &found)?;
        Ok(took)
    }

    fn listed(&mut self, branch: Option<u64>, from: u64) -> Result<u64> {
        let (took, found) = timed(|| self.store.range(branch, from, LISTED))?;
        let numbers: Vec<u64> = found.iter().map(|(number, _)| *number).collect();
        let expected: Vec<u64> = (from..=self.accounts).take(LISTED as usize).collect();
        if numbers != expected {
            return Err(wrong("range", format!("{expected:?}"), format!("{numbers:?}")));
        }
        for (number, body) in found {
            same("range", &account(number, self.version_on(branch, number)), &body)?;
        }
        Ok(took)
    }

    fn compared(&mut self, branch: u64) -> Result<u64> {
        let (took, mut found) = timed(|| self.store.differing(branch))?;
        found.sort_unstable();
        let expected: Vec<u64> = self.changed_on(branch).chain(self.changed_beside()).collect();
        if found == expected {
            return Ok(took);
        }
        let said = |numbers: &[u64]| format!("{} documents: {:?}", numbers.len(), numbers.iter().take(20));
        Err(wrong("branch_diff", said(&expected), said(&found)))
    }

    fn merged(&mut self, branch: u64) -> Result<u64> {
        let (took, ()) = timed(|| self.store.merge(branch))?;
        let changes: Vec<_> = self.changed_on(branch).map(|number| (number, ON_BRANCHES + branch)).collect();
        self.newer.extend(changes);
        // What the merge took over, and what it has to leave alone.
        for number in self.changed_on(branch).chain(self.changed_beside()) {
            let found = self.store.newest(number)?.ok_or_else(|| wrong("branch_merge", "a document", "none"))?;
            same("branch_merge", &account(number, self.version_on(None, number)), &found)?;
        }
        Ok(took)
    }
}
