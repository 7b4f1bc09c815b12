//! The past of a name. A collection's past begins when it was made. An earlier collection with its name has a past of
//! its own: it is read by its number, or by name through [`Store::collection_as_of`].

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::{CommitInfo, Direction, KeyRange, Seq, Snapshot};
use crate::faces::collection::Collection;
use crate::faces::handles::Settings;
use crate::faces::retention::without_forgotten_indexes;
use crate::faces::store::{Ahead, Store};
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry, DROPPED_PREFIX, collection_key};
use recension_values::at::At;
use recension_values::error::{Error, Result};

/// A collection that was dropped, and can be read as of moments before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DroppedCollection {
    /// The name that it had.
    pub name: String,
    /// Its number in the store, which no other collection ever has.
    pub number: u32,
    /// The commit that made it.
    pub made: CommitInfo,
    /// The commit that dropped it.
    pub dropped: CommitInfo,
}

/// A time during which a name had one collection.
struct Generation {
    number: u32,
    made: CommitInfo,
    dropped: Option<CommitInfo>,
}

impl Collection {
    /// The collection at a moment: one commit for any number of reads. Before it was made it does not exist, even if an
    /// earlier collection had its name: [`Settings::made`] tells when it was made, and [`Store::dropped_collections`]
    /// lists the earlier ones. If no collection has the name now, the one that had it then is read.
    pub fn at(&self, at: At) -> Result<CollectionAt> {
        let mut then = self.whichever_at(at)?;
        if at != At::Now
            && let Some(entry) = &then.entry
            && let Some(now) = self.slot.entry(&*self.store().snapshot(At::Now)?)?
            && now.documents != entry.documents
        {
            then.entry = None;
        }
        Ok(then)
    }

    /// The collection that had the name at a moment.
    pub(crate) fn whichever_at(&self, at: At) -> Result<CollectionAt> {
        let snapshot = match at {
            At::Now => self.store().snapshot_for(&self.slot, Ahead::Query)?,
            at => self.store().snapshot(at)?,
        };
        let mut entry = self.slot.entry(&*snapshot)?;
        if at != At::Now {
            entry = entry.map(|entry| without_forgotten_indexes(entry, &*snapshot));
        }
        Ok(CollectionAt { name: Arc::clone(&self.slot.shared_name), snapshot, entry, in_transaction: false })
    }
}

impl Settings<'_> {
    /// The commit that made the collection; `None` if there is none now.
    pub fn made(self) -> Result<Option<CommitInfo>> {
        let snapshot = self.collection.store().snapshot(At::Now)?;
        let newest = generations(&*snapshot, self.collection.name())?.into_iter().next();
        Ok(newest.filter(|newest| newest.dropped.is_none()).map(|newest| newest.made))
    }
}

impl Store {
    /// The collection that had a name at a moment, whichever that was. For administration: [`Collection::at`] never
    /// reads the past of another collection.
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn collection_as_of(&self, name: &str, at: At) -> Result<CollectionAt> {
        self.collection(name)?.whichever_at(at)
    }

    /// The collections that were dropped, by name, the newest first of each.
    pub fn dropped_collections(&self) -> Result<Vec<DroppedCollection>> {
        let snapshot = self.snapshot(At::Now)?;
        let mut names = BTreeSet::new();
        for row in snapshot.range(CATALOGUE, &KeyRange::prefix(DROPPED_PREFIX), Direction::Forward) {
            names.insert(String::from_utf8_lossy(&row?.value).into_owned());
        }
        let mut all = Vec::new();
        for name in names {
            for Generation { number, made, dropped } in generations(&*snapshot, &name)? {
                all.extend(dropped.map(|dropped| DroppedCollection { name: name.clone(), number, made, dropped }));
            }
        }
        Ok(all)
    }

    /// A collection that was dropped, as it was at a moment; with [`At::Now`], right before it was dropped.
    ///
    /// # Errors
    /// [`Error::NoSuchCollection`] if no collection of that number was dropped, or it was not there at the moment.
    pub fn dropped_collection(&self, number: u32, at: At) -> Result<CollectionAt> {
        let none = || Error::NoSuchCollection { collection: format!("#{number}") };
        let dropped = self.dropped_collections()?.into_iter().find(|dropped| dropped.number == number);
        let dropped = dropped.ok_or_else(none)?;
        let at = match at {
            At::Now => At::Seq(Seq(dropped.dropped.seq.0.saturating_sub(1))),
            at => at,
        };
        let then = self.collection_as_of(&dropped.name, at)?;
        match &then.entry {
            Some(entry) if entry.documents.0 == number => Ok(then),
            _ => Err(none()),
        }
    }
}

/// The collections that had a name, newest first.
fn generations(snapshot: &dyn Snapshot, name: &str) -> Result<Vec<Generation>> {
    let mut all: Vec<Generation> = Vec::new();
    let mut ended = None;
    for version in snapshot.versions(CATALOGUE, &collection_key(name)) {
        let version = version?;
        let commit = CommitInfo { seq: version.seq, time: version.time };
        let Some(value) = version.value else {
            ended = Some(commit);
            continue;
        };
        let number = CollectionEntry::decode(&value, name)?.documents.0;
        match all.last_mut().filter(|newer| newer.number == number) {
            Some(same) => same.made = commit,
            None => all.push(Generation { number, made: commit, dropped: ended.take() }),
        }
    }
    Ok(all)
}
