//! The most relevant of many documents, in bounded memory: as many as a page has, or as fit.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use recension_values::limits::ID_SET_BYTES_MAX;

/// A document that was found, and how relevant it is. The least relevant is the greatest.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Relevant {
    pub(crate) id: String,
    pub(crate) score: f64,
}

impl Eq for Relevant {}

impl PartialOrd for Relevant {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Relevant {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.id.cmp(&other.id))
    }
}

/// Which of the documents that are found are wanted by their relevance.
#[derive(Clone, Debug, Default)]
pub(crate) struct BestWanted {
    /// No more are looked at; `None`: it is not known how many.
    pub(crate) most: Option<usize>,
    /// Only those behind this one.
    pub(crate) after: Option<Relevant>,
    /// [`recension_values::Query::each_alone`]
    pub(crate) each_alone: bool,
}

/// The best of what was found so far.
pub(crate) struct Best {
    wanted: BestWanted,
    kept: BinaryHeap<Relevant>,
    bytes: usize,
    bytes_max: usize,
    /// Some were let go of that may be wanted.
    cut: bool,
}

impl Best {
    pub(crate) fn new(wanted: BestWanted) -> Self {
        Self::within(wanted, ID_SET_BYTES_MAX)
    }

    fn within(wanted: BestWanted, bytes_max: usize) -> Self {
        Best { wanted, kept: BinaryHeap::new(), bytes: 0, bytes_max, cut: false }
    }

    pub(crate) fn push(&mut self, found: Relevant) {
        if self.wanted.after.as_ref().is_some_and(|after| found <= *after) {
            return;
        }
        self.bytes += size_of_found(&found);
        self.kept.push(found);
        while self.wanted.most.is_some_and(|most| self.kept.len() > most) {
            self.let_go();
        }
        while self.bytes > self.bytes_max {
            self.let_go();
            self.cut = true;
        }
    }

    fn let_go(&mut self) {
        if let Some(worst) = self.kept.pop() {
            self.bytes -= size_of_found(&worst);
        }
    }

    /// The best, in their order, and whether there may be others behind them.
    pub(crate) fn in_order(self) -> (Vec<Relevant>, bool) {
        (self.kept.into_sorted_vec(), self.cut)
    }
}

fn size_of_found(found: &Relevant) -> usize {
    found.id.len() + size_of::<Relevant>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(n: usize) -> Relevant {
        Relevant { id: format!("d{n:03}"), score: f64::from((n * 37 % 11) as u32) }
    }

    #[test]
    fn what_is_kept_is_the_beginning_of_the_order() {
        let mut all: Vec<Relevant> = (0..200).map(found).collect();
        all.sort();
        for (most, after) in
            [(None, None), (Some(1), None), (Some(7), Some(0)), (Some(30), Some(40)), (Some(9), Some(199))]
        {
            let after_one = after.map(|at: usize| all[at].clone());
            let mut best = Best::new(BestWanted { most, after: after_one, each_alone: false });
            (0..200).map(found).for_each(|one| best.push(one));
            let rest = &all[after.map_or(0, |at| at + 1)..];
            let expected = &rest[..most.unwrap_or(rest.len()).min(rest.len())];
            assert_eq!(best.in_order(), (expected.to_vec(), false), "{most:?} {after:?}");
        }
        let room = 50 * size_of_found(&all[0]);
        let mut best = Best::within(BestWanted::default(), room);
        (0..200).map(found).for_each(|one| best.push(one));
        assert_eq!(best.in_order(), (all[..50].to_vec(), true));
    }
}
