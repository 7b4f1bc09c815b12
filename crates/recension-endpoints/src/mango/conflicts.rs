//! Selectors that test `_conflicts`, which stands in no document's text. As in CouchDB, documents have it if the
//! request says `"conflicts": true`: then the rest of the selector finds documents, and each is tested with its
//! conflicts. Pure.

use recension::{Collation, Selector, SelectorTest};

use super::options::Options;

/// The member.
pub(super) const CONFLICTS: &str = "_conflicts";

/// Why such a selector finds nothing otherwise.
pub(super) const WITHOUT_CONFLICTS: &str =
    "The selector tests _conflicts, which documents have only if the request says \"conflicts\": true.";

/// What is left to do with the documents that a query finds, since it does not know their conflicts.
pub(super) struct Remaining {
    test: SelectorTest,
    skip: usize,
    limit: usize,
}

/// The selector for the query, and what it leaves to do.
pub(super) fn looked_for(options: &Options) -> (Selector, Option<Remaining>) {
    match options.selector.without(CONFLICTS).filter(|_| options.conflicts) {
        None => (options.selector.clone(), None),
        Some(rest) => {
            let test = SelectorTest::of_texts(&options.selector, Collation::Unicode);
            (rest, Some(Remaining { test, skip: options.skip, limit: options.limit }))
        }
    }
}

impl Remaining {
    /// Whether the answer has all its documents.
    pub(super) fn is_done(&self) -> bool {
        self.limit == 0
    }

    /// Whether the next document, with its conflicts, belongs to the answer.
    pub(super) fn takes(&mut self, document: &str) -> bool {
        if !self.test.selects_text(document) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.limit = self.limit.saturating_sub(1);
        true
    }
}
