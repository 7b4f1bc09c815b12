//! Purging: leaves are removed as if they had never existed, so that not even their deletion is replicated. A log of
//! purges tells replicas. Reads of earlier moments still find the leaves.

use crate::engine::{Direction, KeyRange, Seq, Snapshot};
use crate::faces::commit::in_one_commit;
use crate::faces::handles::{Replication, Settings};
use crate::kernel::overlay::PENDING;
use crate::kernel::read::ancestry::whole_tree;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::catalogue::CollectionEntry;
use crate::kernel::rows::erasure::Erasure;
use crate::kernel::rows::side;
use crate::kernel::write::resolve::{Contents, Next};
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::byte_reader::ByteReader;
use recension_values::error::{Error, Result};
use recension_values::limits::{PURGES_LIMIT_MAX, PURGES_TAKEN_AT_ONCE, REVS_LIMIT_MAX};
use recension_values::revid::RevId;

/// Revisions that were purged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purge {
    /// The commit that did it.
    pub seq: Seq,
    /// The document.
    pub id: String,
    /// The leaves that were removed.
    pub revs: Vec<RevId>,
}

impl Replication<'_> {
    /// Removes leaves of a document, with the ancestors that no other leaf stands on; answers which of `revs` were
    /// leaves. A document without any leaf left is gone, and does not count as deleted.
    ///
    /// # Errors
    /// [`Error::NotUnique`] if the new winner has a value that a unique index holds already.
    pub fn purge(self, id: &str, revs: &[RevId]) -> Result<Vec<RevId>> {
        in_one_commit(self.collection, |writer| writer.purge(id, revs)).map(|(purged, _)| purged)
    }

    /// Purges leaves of many documents in one commit, or none of them.
    pub fn purge_many(self, asked: &[(String, Vec<RevId>)]) -> Result<Vec<Vec<RevId>>> {
        let purge = |writer: &mut Writer<'_>| asked.iter().map(|(id, revs)| writer.purge(id, revs)).collect();
        in_one_commit(self.collection, purge).map(|(purged, _)| purged)
    }

    /// Purges, newest first, as far back as the collection's limit of purges.
    pub fn purges(self) -> Result<Vec<Purge>> {
        self.collection.at(At::Now)?.purges()
    }
}

impl Settings<'_> {
    /// How many revisions of a document the tree keeps, from each leaf downwards.
    pub fn revs_limit(self) -> Result<u32> {
        Ok(self
            .collection
            .at(At::Now)?
            .entry
            .map_or(recension_values::limits::REVS_LIMIT_DEFAULT, |entry| entry.revs_limit))
    }

    /// Sets how many revisions of a document the tree keeps: from 1 to 10,000. Each document follows with
    /// its next write.
    pub fn set_revs_limit(self, limit: u32) -> Result<()> {
        let what = "the number of revisions that a document keeps";
        let limit = in_bounds(what, limit, REVS_LIMIT_MAX)?;
        in_one_commit(self.collection, |writer| writer.change_entry(|entry| entry.revs_limit = limit)).map(|_| ())
    }

    /// How many purges the log keeps.
    pub fn purges_limit(self) -> Result<u32> {
        Ok(self
            .collection
            .at(At::Now)?
            .entry
            .map_or(recension_values::limits::PURGES_LIMIT_DEFAULT, |entry| entry.purges_limit))
    }

    /// Sets how many purges the log keeps: from 1 to 1,000,000. It follows with the next purges.
    pub fn set_purges_limit(self, limit: u32) -> Result<()> {
        let limit = in_bounds("the number of purges that are remembered", limit, PURGES_LIMIT_MAX)?;
        in_one_commit(self.collection, |writer| writer.change_entry(|entry| entry.purges_limit = limit)).map(|_| ())
    }
}

fn in_bounds(what: &'static str, value: u32, max: u32) -> Result<u32> {
    if (1..=max).contains(&value) { Ok(value) } else { Err(Error::OutOfBounds { what, value, max }) }
}

impl CollectionAt {
    /// Purges up to this moment, newest first; see [`Replication::purges`].
    pub fn purges(&self) -> Result<Vec<Purge>> {
        let Some(entry) = &self.entry else { return Ok(Vec::new()) };
        let rows = self.snapshot.range(entry.side, &KeyRange::prefix([side::PURGED]), Direction::Backward);
        rows.take(entry.purges_limit as usize)
            .map(|row| row.map_err(Error::from).and_then(|row| decode(&row.key, &row.value)))
            .collect()
    }

    /// The newest commit that purged or erased anything; [`Seq::ZERO`] if none did.
    pub fn purge_seq(&self) -> Result<Seq> {
        let Some(entry) = &self.entry else { return Ok(Seq::ZERO) };
        let newest = |kind: u8| self.snapshot.range(entry.side, &KeyRange::prefix([kind]), Direction::Backward).next();
        let purged = newest(side::PURGED).transpose()?.map(|row| decode(&row.key, &row.value)).transpose()?;
        let erased = newest(side::ERASED).transpose()?.map(|row| Erasure::decode(&row.key, &row.value)).transpose()?;
        Ok(purged.map_or(Seq::ZERO, |purge| purge.seq).max(erased.map_or(Seq::ZERO, |erasure| erasure.seq)))
    }
}

impl Writer<'_> {
    /// Removes leaves. After an error the view is as before.
    pub(crate) fn purge(&mut self, id: &str, revs: &[RevId]) -> Result<Vec<RevId>> {
        let (Some(before), Some(entry)) = (self.read(id)?, self.entry.clone()) else { return Ok(Vec::new()) };
        let mut tree = whole_tree(self.view, entry.side, id, before.tree.clone())?;
        let purged = tree.purge(revs);
        if purged.is_empty() {
            return Ok(purged);
        }
        let log_key = [&[side::PURGED][..], &PENDING.0.to_be_bytes(), id.as_bytes()].concat();
        let earlier = self.view.get(entry.side, &log_key)?.map(|row| row.bytes.into_owned()).unwrap_or_default();
        let old = self.purges_beyond(&entry)?;
        self.resolve(id, Some(&before), Next { tree, written: Contents::default(), made_here: false })?;
        let value = [earlier, encode(&purged)].concat();
        self.view.put_at_own_seq(entry.side, &[side::PURGED], id.as_bytes(), value);
        for key in old {
            self.view.delete(entry.side, &key);
        }
        Ok(purged)
    }

    /// Rows of the log beyond its limit. If another writer deletes them at the same time, no harm is done: the commit
    /// need not depend on the log.
    fn purges_beyond(&self, entry: &CollectionEntry) -> Result<Vec<Vec<u8>>> {
        let log = KeyRange::prefix([side::PURGED]);
        let rows = self.view.base().range(entry.side, &log, Direction::Backward);
        let beyond = rows.skip((entry.purges_limit as usize).saturating_sub(1)).take(PURGES_TAKEN_AT_ONCE);
        beyond.map(|row| Ok(row?.key.into_owned())).collect()
    }
}

/// The value of a row of the log: the revisions, each with its length.
fn encode(revs: &[RevId]) -> Vec<u8> {
    let mut out = Vec::new();
    for rev in revs {
        out.extend(rev.generation().to_be_bytes());
        out.push(rev.suffix_bytes().len() as u8);
        out.extend(rev.suffix_bytes());
    }
    out
}

fn decode(key: &[u8], value: &[u8]) -> Result<Purge> {
    let read = || {
        let mut key = ByteReader::new(key.strip_prefix(&[side::PURGED])?);
        let seq = Seq(u64::from_be_bytes(key.chunk()?));
        let id = String::from_utf8(key.rest().to_vec()).ok()?;
        let mut value = ByteReader::new(value);
        let mut revs = Vec::new();
        while !value.is_empty() {
            let generation = value.u32()?;
            let length = value.byte()?;
            revs.push(RevId::from_bytes(generation, value.take(usize::from(length))?)?);
        }
        Some(Purge { seq, id, revs })
    };
    read().ok_or_else(|| Error::DamagedRow {
        what: format!("a row of the log of purges, \"{}\"", key.escape_ascii()),
        why: "it does not read",
    })
}
