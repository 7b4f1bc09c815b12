//! Rules of retention for collections: which rules of the engine's trees make one, and compacting. The engine
//! keeps them; nothing here is stored.

use std::sync::Arc;

use crate::engine::{EngineError, KeyRange, Retention, RetentionRule, Snapshot, TreeId};
use crate::faces::collection::Collection;
use crate::faces::commit::in_one_commit;
use crate::faces::handles::Settings;
use crate::faces::store::Store;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, counts_key};
use crate::kernel::rows::view_entry::views_of;
use recension_values::at::At;
use recension_values::error::Result;

/// Disk before and after, in bytes; [`Store::compact`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compacted {
    /// Before.
    pub before: u64,
    /// After.
    pub after: u64,
}

impl Settings<'_> {
    /// How much of its documents' history is kept; the default is [`Retention::Everything`].
    pub fn retention(self) -> Result<Retention> {
        let rules = self.collection.store().engine().retention()?;
        let entry = self.collection.at(At::Now)?.entry;
        Ok(entry.map_or(Retention::Everything, |entry| retention_of(&entry, &rules)))
    }

    /// Sets how much of its documents' history is kept. It holds for the existing history too: history beyond the rule
    /// is given up in time, or at once by [`Store::compact`]. A read of it then fails with [`EngineError::Forgotten`].
    /// A wider rule brings nothing back. The rule makes the collection if there is none.
    ///
    /// With [`Retention::Versions`], the newest versions of each document and of its attachments stay. Rows that
    /// queries and feeds use are kept for now only. A query of a past moment therefore reads all documents. It fails if
    /// one of them has been written too often since.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`]; [`EngineError::TooLarge`] with too many rules in the store.
    pub fn set_retention(self, retention: Retention) -> Result<()> {
        if self.collection.at(At::Now)?.entry.is_none() {
            in_one_commit(self.collection, |writer| writer.change_entry(|_| ()))?;
        }
        // An index that is made meanwhile is seen by this or sees the new rule.
        while let Some(entry) = self.collection.at(At::Now)?.entry {
            let views = self.collection.view_trees(&entry)?;
            self.collection.store().engine().set_retention(&rules_of(
                &entry,
                &views,
                self.collection.name(),
                retention,
            ))?;
            let now = self.collection.at(At::Now)?.entry;
            if now.is_some_and(|now| now.trees().eq(entry.trees())) && self.collection.view_trees(&entry)? == views {
                break;
            }
        }
        Ok(())
    }
}

impl Collection {
    /// Applies the rule of the collection to trees that were made after it was set.
    pub(crate) fn extend_retention(&self) -> Result<()> {
        let engine = self.store().engine();
        let rules = engine.retention()?;
        let Some(entry) = self.at(At::Now)?.entry.filter(|_| !rules.is_empty()) else { return Ok(()) };
        let views = self.view_trees(&entry)?;
        let missing: Vec<_> = rules_of(&entry, &views, self.name(), retention_of(&entry, &rules))
            .into_iter()
            .filter(|rule| rule.retention != Retention::Everything && !rules.contains(rule))
            .collect();
        if missing.is_empty() { Ok(()) } else { Ok(engine.set_retention(&missing)?) }
    }

    fn view_trees(&self, entry: &CollectionEntry) -> Result<Vec<TreeId>> {
        let views = views_of(&*self.store().snapshot(At::Now)?, entry)?;
        Ok(views.into_iter().map(|(_, view)| view.tree).collect())
    }
}

impl Store {
    /// Gives up history beyond the collections' rules, brings the store into its most compact form, and frees disk
    /// space; now rather than in time. Reads and writes go on meanwhile.
    ///
    /// It takes time in proportion to the store.
    pub fn compact(&self) -> Result<Compacted> {
        self.catalogue().give_back()?;
        for info in self.collections(At::Now)? {
            let collection = self.collection(&info.name)?;
            collection.extend_retention()?;
            collection.refresh_statistics()?;
        }
        let _paused = self.expiring().pause();
        let before = self.engine().stats()?.disk_bytes;
        self.engine().settle()?;
        Ok(Compacted { before, after: self.engine().stats()?.disk_bytes })
    }
}

fn rules_of(entry: &CollectionEntry, views: &[TreeId], name: &str, retention: Retention) -> Vec<RetentionRule> {
    let derived = match retention {
        // Their rows are no versions of documents, so that a number of versions means nothing there.
        Retention::Versions(_) => Retention::HeadOnly,
        same => same,
    };
    let all = |tree: TreeId, retention| RetentionRule { tree, range: KeyRange::all(), retention };
    let of_tree = |tree| {
        let is_own = tree == entry.documents || tree == entry.side;
        all(tree, if is_own { retention } else { derived })
    };
    // Every commit writes the counts. If documents stay readable one by one, queries still need the counts.
    let of_counts = match retention {
        Retention::Versions(_) => Retention::Everything,
        same => same,
    };
    entry.trees().chain(views.iter().copied()).map(of_tree).chain([counts_rule(name, of_counts)]).collect()
}

/// The rule for the counts of a collection. It ends when the collection is dropped, because the next collection of its
/// name has the same row.
pub(crate) fn counts_rule(name: &str, retention: Retention) -> RetentionRule {
    RetentionRule { tree: CATALOGUE, range: KeyRange::only(counts_key(name)), retention }
}

/// The rule of a collection: that of its documents.
pub(crate) fn retention_of(entry: &CollectionEntry, rules: &[RetentionRule]) -> Retention {
    let own = rules.iter().find(|rule| rule.tree == entry.documents && rule.range == KeyRange::all());
    own.map_or(Retention::Everything, |rule| rule.retention)
}

/// The collection without indexes whose rows of that time may be forgotten, so that queries do without them.
pub(crate) fn without_forgotten_indexes(
    mut entry: Arc<CollectionEntry>,
    snapshot: &dyn Snapshot,
) -> Arc<CollectionEntry> {
    let is_forgotten = |tree| matches!(snapshot.get(tree, b""), Err(EngineError::Forgotten { .. }));
    if entry.indexes.iter().any(|index| is_forgotten(index.tree)) {
        Arc::make_mut(&mut entry).indexes.retain(|index| !is_forgotten(index.tree));
    }
    entry
}
