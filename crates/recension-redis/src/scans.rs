//! The cursors of scans: numbers, of which a bounded number is known.

use std::collections::{HashMap, VecDeque};

use crate::limits::SCANS_MAX;

/// The places where scans continue. Each has a number, because clients expect a number as a cursor.
#[derive(Default)]
pub(crate) struct Scans {
    after: HashMap<u64, Vec<u8>>,
    oldest: VecDeque<u64>,
    next: u64,
}

impl Scans {
    /// Keeps the key behind which a scan continues. If there are too many, the oldest is forgotten.
    pub(crate) fn keep(&mut self, after: Vec<u8>) -> u64 {
        if self.oldest.len() >= SCANS_MAX
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.after.remove(&oldest);
        }
        self.next += 1;
        self.oldest.push_back(self.next);
        self.after.insert(self.next, after);
        self.next
    }

    pub(crate) fn after(&self, cursor: u64) -> Option<Vec<u8>> {
        self.after.get(&cursor).cloned()
    }
}
