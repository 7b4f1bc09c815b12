//! The collections that the newest commits wrote. With them, a feed of the whole store that is up to date need not look
//! at every collection. If a commit is not known, this says so and never guesses.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::engine::Seq;
use recension_values::limits::RECENT_COMMITS_MAX;

/// The collections that the newest commits wrote.
#[derive(Default)]
pub(crate) struct RecentCommits {
    /// In the order of their numbers.
    commits: Mutex<VecDeque<(Seq, Vec<Arc<str>>)>>,
}

impl RecentCommits {
    pub(crate) fn note(&self, seq: Seq, collections: impl Iterator<Item = Arc<str>>) {
        let mut commits = self.commits.lock();
        let entry = (seq, collections.collect());
        match commits.back() {
            // Commits that are made at the same time may be noted in another order.
            Some((last, _)) if *last >= seq => match commits.binary_search_by_key(&seq, |(known, _)| *known) {
                Ok(at) => commits[at] = entry,
                Err(at) => commits.insert(at, entry),
            },
            _ => commits.push_back(entry),
        }
        if commits.len() > RECENT_COMMITS_MAX {
            commits.pop_front();
        }
    }

    /// The collections that the commits after `since` up to `until` wrote; `None` if one of the commits is too old or
    /// was made by another process.
    pub(crate) fn since(&self, since: Seq, until: Seq) -> Option<Vec<Arc<str>>> {
        if since >= until {
            return Some(Vec::new());
        }
        let commits = self.commits.lock();
        let from = commits.partition_point(|(seq, _)| *seq <= since);
        let to = commits.partition_point(|(seq, _)| *seq <= until);
        if (to - from) as u64 != until.0 - since.0 {
            return None;
        }
        let names: BTreeSet<_> = commits.range(from..to).flat_map(|(_, names)| names).cloned().collect();
        Some(names.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_commits_are_known_in_whatever_order_they_are_noted_and_only_where_none_is_missing() {
        let recent = RecentCommits::default();
        for seq in [1, 2, 4, 3, 6, 5, 5, 8] {
            recent.note(Seq(seq), std::iter::once(Arc::from(format!("of {seq}"))));
        }
        let since = |since, until| recent.since(Seq(since), Seq(until));
        let names = ["of 3", "of 4", "of 5"].map(Arc::<str>::from).to_vec();
        assert_eq!(since(2, 5), Some(names));
        assert_eq!(since(2, 2), Some(Vec::new()));
        assert_eq!(since(6, 8), None);
        assert_eq!(since(8, 9), None);
    }
}
