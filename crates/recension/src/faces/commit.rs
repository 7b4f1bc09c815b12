//! Committing writes of one collection: deciding on an overlay, committing the overlay, and trying again if another
//! writer was faster.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::engine::{Batch, CommitInfo, Snapshot};
use crate::faces::collection::Collection;
use crate::faces::store::{Ahead, Store};
use crate::kernel::overlay::Overlay;
use crate::kernel::view::in_commit::keep_views;
use crate::kernel::write::access::keep_access;
use crate::kernel::write::attempt::{Attempt, retry};
use crate::kernel::write::writer::Writer;
use recension_values::error::{Error, Result};
use recension_values::model::Written;
use recension_values::revid::RevId;
use recension_values::write::Write;

/// Applies one write.
pub(crate) fn apply_one(collection: &Collection, mut write: Write) -> Result<Written> {
    ensure_id(collection.store(), &mut write)?;
    let id = write.id.as_deref().unwrap_or_default();
    let (rev, commit) = in_one_commit_of(collection, &[id], |writer| writer.write(&write))?;
    Ok(receipt(write, rev, commit))
}

/// The receipt of a write that was committed.
pub(crate) fn receipt(write: Write, rev: RevId, CommitInfo { seq, time }: CommitInfo) -> Written {
    Written { id: write.id.unwrap_or_default(), rev, seq, time }
}

/// Applies writes in one commit, with a result for each.
pub(crate) fn apply(
    collection: &Collection,
    mut writes: Vec<Write>,
    stop: fn(&Error) -> bool,
) -> Result<Vec<Result<Written>>> {
    for write in &mut writes {
        ensure_id(collection.store(), write)?;
    }
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<&str> = writes.iter().filter_map(|write| write.id.as_deref()).collect();
    let (decided, CommitInfo { seq, time }) = in_one_commit_of(collection, &ids, |writer| {
        let mut ids = HashSet::new();
        let mut decide = |write| {
            let Write { id, .. }: &Write = write;
            let id = id.as_deref().unwrap_or_default();
            if ids.contains(id) {
                return Err(Error::conflict(id, None, None, false));
            }
            let rev = writer.write(write)?;
            ids.insert(id);
            Ok(rev)
        };
        let mut decided: Vec<Result<RevId>> = Vec::with_capacity(writes.len());
        for write in &writes {
            decided.push(decide(write));
            if matches!(decided.last(), Some(Err(error)) if stop(error)) {
                break;
            }
        }
        Ok(decided)
    })?;
    let receipt = |(write, rev): (&Write, Result<RevId>)| {
        rev.map(|rev| Written { id: write.id.clone().unwrap_or_default(), rev, seq, time })
    };
    Ok(writes.iter().zip(decided).map(receipt).collect())
}

/// Gives the write an id if it has none.
pub(crate) fn ensure_id(store: &Store, write: &mut Write) -> Result<()> {
    if write.id.is_none() {
        write.id = Some(new_id(store)?);
    }
    Ok(())
}

/// Runs `body` on a writer of the collection and commits its writes. If another commit has changed what `body` has
/// read, it runs again. If it has written nothing, there is no commit, and the moment that was read is answered.
pub(crate) fn in_one_commit<T>(
    collection: &Collection,
    body: impl Fn(&mut Writer<'_>) -> Result<T>,
) -> Result<(T, CommitInfo)> {
    in_one_commit_of(collection, &[], body)
}

/// The same, if it is known which documents `body` reads.
fn in_one_commit_of<T>(
    collection: &Collection,
    ids: &[&str],
    body: impl Fn(&mut Writer<'_>) -> Result<T>,
) -> Result<(T, CommitInfo)> {
    retry(|| match decide(collection, ids, &body)? {
        Decided::Done(answer, commit) => Ok(Attempt::Done((answer, commit))),
        Decided::Commits(mut commits) => {
            let commit = collection.store().engine().commit(commits.take_batch());
            commits.committed(collection, commit)
        }
    })
}

/// Runs `body` on a writer of the collection, up to the commit. It reads the documents `ids`, and may read others.
pub(crate) fn decide<T>(
    collection: &Collection,
    ids: &[&str],
    body: impl FnOnce(&mut Writer<'_>) -> Result<T>,
) -> Result<Decided<T>> {
    let view = Overlay::new(collection.store().snapshot_for(&collection.slot, Ahead::Write(ids))?);
    let mut writer = Writer {
        must_exist: collection.must_exist,
        actor: collection.actor.clone(),
        ..Writer::on(&view, &collection.slot)?
    };
    let answer = body(&mut writer)?;
    keep_views(&view, &collection.slot, collection.store().known_views())?;
    keep_access(&view, &collection.slot)?;
    let batch = view.batch();
    if batch.is_empty() {
        let commit = CommitInfo { seq: view.seq(), time: view.time()? };
        return Ok(Decided::Done(answer, commit));
    }
    Ok(Decided::Commits(Commits { answer, view, batch }))
}

/// The result of a write before its commit.
#[expect(clippy::large_enum_variant, reason = "it is taken apart where it is made")]
pub(crate) enum Decided<T> {
    /// Nothing is written.
    Done(T, CommitInfo),
    /// A batch is to be committed.
    Commits(Commits<T>),
}

pub(crate) struct Commits<T> {
    answer: T,
    view: Overlay,
    batch: Batch,
}

impl<T> Commits<T> {
    /// The batch to commit.
    pub(crate) fn take_batch(&mut self) -> Batch {
        std::mem::take(&mut self.batch)
    }

    /// The result, after the commit.
    pub(crate) fn committed(
        self,
        collection: &Collection,
        commit: crate::engine::Result<CommitInfo>,
    ) -> Result<Attempt<(T, CommitInfo)>> {
        let tried = collection.store().tried(commit, std::slice::from_ref(&collection.slot))?;
        Ok(tried.map(|commit| {
            collection.slot.committed(&self.view, commit.seq);
            (self.answer, commit)
        }))
    }
}

/// A new id: 12 hexadecimal digits of the time in milliseconds, so that new documents lie beside each other, and 20
/// random ones.
pub(crate) fn new_id(store: &Store) -> Result<String> {
    let mut chance = [0; 10];
    getrandom::fill(&mut chance).map_err(|error| {
        crate::engine::EngineError::io("asking for random bytes", std::io::Error::other(error.to_string()))
    })?;
    let millis = store.now().0 / 1000;
    let mut id = format!("{:012x}", millis & 0xffff_ffff_ffff);
    for byte in chance {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}
