//! The first key with a prefix: one look into each part, without the machinery of a range, and without the row. If that
//! does not decide it, the caller uses a range.

use super::index::State;
use super::run::{RunCursor, SectionKind};
use super::settled::{BlockKind, SettledCursor};
use recension_engine::{Result, Seq};

/// The result of a look into each part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    Found,
    Nothing,
    /// The first key was deleted or has versions newer than the moment that is read, or that moment may be forgotten.
    Unclear,
}

/// The least full key that was offered. Of equal ones the first stays: parts are looked into newest first.
struct Least<'k> {
    key: &'k mut Vec<u8>,
    first: First,
    at: Seq,
}

impl Least<'_> {
    fn offer(&mut self, full_key: &[u8], seq: Seq, deleted: bool) {
        if self.first == First::Unclear || (self.first == First::Found && full_key >= self.key.as_slice()) {
            return;
        }
        // Whether another part has a greater key that counts is left to a range.
        if deleted || seq > self.at {
            self.first = First::Unclear;
            return;
        }
        self.first = First::Found;
        self.key.clear();
        self.key.extend_from_slice(full_key);
    }
}

impl State {
    /// Looks for the least full key that begins with `prefix` and has a row as of `at`, and writes it to `key`.
    pub(super) fn first(&self, prefix: &[u8], at: Seq, key: &mut Vec<u8>) -> Result<First> {
        key.clear();
        if self.forgotten.concerns(at) || self.erased.concerns_full(prefix) {
            return Ok(First::Unclear);
        }
        let mut least = Least { key, first: First::Nothing, at };
        for part in self.memory.iter().filter(|part| part.first() <= at) {
            part.first_from(prefix, |found, entry| {
                if found.starts_with(prefix) {
                    least.offer(found, entry.seq, entry.deleted);
                }
            });
        }
        let mut found = Vec::new();
        for run in self.runs.iter().filter(|run| run.entry.first <= at) {
            let mut cursor = RunCursor::seek(run, SectionKind::Current, prefix, Seq(u64::MAX))?;
            if let Some(entry) = cursor.next(&mut found)?.filter(|_| found.starts_with(prefix)) {
                least.offer(&found, entry.seq, entry.deleted);
            }
        }
        for file in self.settled.iter().filter(|file| file.entry.first <= at) {
            let mut cursor = SettledCursor::seek(file, BlockKind::Current, prefix, Seq(u64::MAX), false)?;
            if let Some(row) = cursor.next(&mut found)?.filter(|_| found.starts_with(prefix)) {
                least.offer(&found, row.seq, row.deleted);
            }
        }
        Ok(least.first)
    }
}
