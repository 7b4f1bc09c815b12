//! The revisions of a document, newest first, with their bodies or without. A body is copied and checked only if it is
//! asked for: of most revisions nobody wants more than the commit and the time.

use std::borrow::Cow;
use std::sync::Arc;

use self_cell::self_cell;

use crate::engine::{Seq, Snapshot, Timestamp, Version, Versions};
use crate::kernel::read::reader::{CollectionAt, attachments_of};
use crate::kernel::rows::stored::{self, StoredHead};
use recension_values::error::{Error, Result};
use recension_values::model::{Revision, RevisionHead};
use recension_values::revid::RevId;

impl CollectionAt {
    /// Every revision of a document up to this commit, newest first. [`CollectionAt::revisions`] is the same without
    /// bodies.
    pub fn history(&self, id: &str) -> Result<History> {
        Ok(History(self.winners(id)))
    }

    /// Every revision of a document up to this commit, newest first, without bodies and attachments. That is several
    /// times faster than [`CollectionAt::history`].
    pub fn revisions(&self, id: &str) -> Result<Revisions> {
        Ok(Revisions(self.winners(id)))
    }

    /// One revision that a document has or had: the winner, a losing leaf or an older one. The time grows with the
    /// number of revisions after it.
    pub fn revision(&self, id: &str, rev: &RevId) -> Result<Option<Revision>> {
        let mut winners = self.winners(id);
        let mut next =
            || winners.next_with(|id, winner| (winner.head.rev == *rev).then(|| winner.whole(id)).transpose());
        let won = std::iter::from_fn(&mut next).find_map(Result::transpose).transpose()?;
        let lost = self.entry.as_ref().map_or(Ok(None), |entry| self.losing(entry, id, rev))?;
        // A revision may have been the winner and a losing leaf, with another body in between.
        Ok(won.into_iter().chain(lost).max_by_key(|found| found.seq))
    }

    fn winners(&self, id: &str) -> OwnedWinners {
        let entry = self.entry.as_ref();
        let cell = WinnersCell::new(self.snapshot.clone(), |snapshot| Winners {
            id: id.as_bytes().to_vec(),
            versions: entry.map(|entry| snapshot.versions(entry.documents, id.as_bytes())),
            newest: None,
            failed: None,
        });
        OwnedWinners(cell)
    }
}

/// A version of a row of a document, or of a losing leaf of it.
pub(crate) fn revision_of(id: &[u8], seq: Seq, time: Timestamp, value: Cow<'_, [u8]>) -> Result<Revision> {
    Winner { seq, time, head: stored::decode(&value, id)?, value }.whole(id)
}

/// A revision that won, as its row has it.
struct Winner<'s> {
    seq: Seq,
    time: Timestamp,
    head: StoredHead,
    value: Cow<'s, [u8]>,
}

impl Winner<'_> {
    fn whole(self, id: &[u8]) -> Result<Revision> {
        let Winner { seq, time, head, value } = self;
        let attachments = attachments_of(&value, &head, id)?;
        let body = stored::into_body(value, &head, id)?.into_owned();
        Ok(Revision { rev: head.rev, seq, time, deleted: head.deleted, body, attachments })
    }

    fn body(&self) -> Option<&[u8]> {
        self.value.get(..self.head.body_len)
    }
}

/// The revisions that won, newest first. It ends after its first error.
struct Winners<'s> {
    id: Vec<u8>,
    versions: Option<Versions<'s>>,
    /// The newest revision that was read and not answered yet: older versions of the row may have the same revision.
    newest: Option<Winner<'s>>,
    /// The error that ended the reading, if a revision is answered before it.
    failed: Option<Error>,
}

impl<'s> Winners<'s> {
    /// The next version of the row; the inner `None` means that the document was purged.
    fn version(&mut self) -> Option<Result<Option<Winner<'s>>>> {
        let id = &self.id;
        let read = |Version { seq, time, value }: Version<'s>| {
            let winner = |value: Cow<'s, [u8]>| Ok(Winner { seq, time, head: stored::decode(&value, id)?, value });
            value.map(winner).transpose()
        };
        self.versions.as_mut()?.next().map(|version| version.map_err(Error::from).and_then(read))
    }
}

impl<'s> Iterator for Winners<'s> {
    type Item = Result<Winner<'s>>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match (self.version(), self.newest.take()) {
                (Some(Ok(None)), None) => {}
                (Some(Ok(None)), Some(newest)) => return Some(Ok(newest)),
                (Some(Ok(older)), None) => self.newest = older,
                (Some(Ok(Some(older))), Some(newest)) => {
                    // A conflict that comes or goes writes the row anew. The winning revision stays as old as it was.
                    let same = older.head.rev == newest.head.rev && older.body() == newest.body();
                    self.newest = Some(older);
                    if !same {
                        return Some(Ok(newest));
                    }
                }
                (Some(Err(error)), newest) => {
                    self.versions = None;
                    self.failed = Some(error);
                    return newest.map(Ok).or_else(|| self.failed.take().map(Err));
                }
                (None, newest) => return newest.map(Ok).or_else(|| self.failed.take().map(Err)),
            }
        }
    }
}

self_cell!(
    struct WinnersCell {
        owner: Arc<dyn Snapshot>,
        #[not_covariant]
        dependent: Winners,
    }
);

/// The same with their snapshot.
struct OwnedWinners(WinnersCell);

impl OwnedWinners {
    /// The next one, seen through `see` with the document's id.
    fn next_with<T>(&mut self, see: impl FnOnce(&[u8], Winner<'_>) -> Result<T>) -> Option<Result<T>> {
        self.0.with_dependent_mut(|_, winners| {
            let next = winners.next()?;
            Some(next.and_then(|winner| see(&winners.id, winner)))
        })
    }
}

/// The revisions of a document, newest first. It ends after its first error.
pub struct History(OwnedWinners);

impl Iterator for History {
    type Item = Result<Revision>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_with(|id, winner| winner.whole(id))
    }
}

/// The revisions of a document without their bodies, newest first. It ends after its first error.
pub struct Revisions(OwnedWinners);

impl Iterator for Revisions {
    type Item = Result<RevisionHead>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next_with(|_, Winner { seq, time, head, .. }| {
            Ok(RevisionHead { rev: head.rev, seq, time, deleted: head.deleted })
        })
    }
}
