//! Asking the actor about a write before it is decided: what would be stored, and the leaves that it would stand on.
//! The actor sees the body that the store would have, never the text that was sent.

use std::borrow::Cow;

use crate::kernel::write::resolve::Before;
use crate::kernel::write::writer::Writer;
use recension_values::error::{Error, Result};
use recension_values::guard::Intended;
use recension_values::model::Document;
use recension_values::replicated::ReplicatedWrite;
use recension_values::revid::RevId;
use recension_values::write::{Expect, Write};

/// A write of either kind.
struct Meant<'w> {
    id: &'w str,
    /// The revision, if it is known before it is made.
    rev: Option<RevId>,
    /// What it stands on, newest first.
    ancestors: &'w [RevId],
    /// `None`: it deletes.
    body: Option<Cow<'w, str>>,
    /// It takes over attachments of its parent by name.
    keeps: bool,
}

impl Writer<'_> {
    fn is_asked(&self) -> bool {
        self.actor.as_ref().is_some_and(|actor| actor.is_limited())
    }

    /// An error as the actor is told it: a limited one is not told which document has a value that it may not have.
    pub(crate) fn told(&self, error: Error) -> Error {
        match error {
            Error::NotUnique { index, value, id, .. } if self.is_asked() => {
                Error::NotUnique { index, value, id, holder: None }
            }
            error => error,
        }
    }

    /// Asks whether an edit may be made.
    pub(crate) fn ask_actor_of_edit(&self, write: &Write, id: &str) -> Result<()> {
        if !self.is_asked() {
            return Ok(());
        }
        let before = self.read(id)?;
        let winner = before.as_ref().map(|before| before.head.rev);
        let parent = match write.expect {
            Expect::Anything => winner,
            Expect::Absent => winner.filter(|_| before.as_ref().is_some_and(|before| before.head.deleted)),
            Expect::Revision(rev) | Expect::Leaf(rev) => Some(rev),
        };
        let body = match (&before, parent) {
            (Some(before), Some(parent)) if write.same_body => self.live_body_of(id, before, &parent)?.map(Cow::Owned),
            _ => None,
        };
        let body = (!write.deleted).then(|| body.unwrap_or(Cow::Borrowed(&*write.body)));
        let keeps = write.same_body || write.attachments.takes_over();
        self.ask_actor(Meant { id, rev: None, ancestors: parent.as_slice(), body, keeps }, before.as_ref())
    }

    /// Asks whether a replicated revision may be merged.
    pub(crate) fn ask_actor_of_merge(&self, write: &ReplicatedWrite) -> Result<()> {
        if !self.is_asked() {
            return Ok(());
        }
        let ReplicatedWrite { id, path, deleted, body, attachments } = write;
        let Some((rev, ancestors)) = path.split_first() else { return Ok(()) };
        let body = (!deleted).then_some(Cow::Borrowed(&**body));
        let meant = Meant { id, rev: Some(*rev), ancestors, body, keeps: attachments.takes_over() };
        self.ask_actor(meant, self.read(id)?.as_ref())
    }

    fn ask_actor(&self, meant: Meant<'_>, before: Option<&Before>) -> Result<()> {
        let Meant { id, rev, ancestors, body, keeps } = meant;
        let Some(actor) = &self.actor else { return Ok(()) };
        let leaf = |rev: &RevId| before.and_then(|before| before.tree.leaf(rev));
        let (mut replaced, mut keeps_from) = (Vec::new(), None);
        if let Some(before) = before {
            for rev in ancestors.iter().filter(|rev| leaf(rev).is_some_and(|leaf| !leaf.deleted)) {
                replaced.extend(self.live_document(id, before, rev)?);
            }
            // The attachments of a replicated revision are those of the nearest leaf, which may be itself.
            let nearest = rev.iter().chain(ancestors).find(|rev| leaf(rev).is_some()).filter(|_| keeps);
            if let Some(rev) = nearest {
                keeps_from = match self.live_document(id, before, rev)? {
                    None => Some(document(id, *rev, true, Cow::Borrowed("{}"))),
                    live => live,
                };
            }
        }
        let winner = match before.filter(|before| !before.head.deleted) {
            Some(before) => self.live_document(id, before, &before.head.rev)?,
            None => None,
        };
        let rev = rev.unwrap_or_else(|| RevId::new(ancestors.first().map_or(1, RevId::generation), [0; 16]));
        let new = body.map(|body| document(id, rev, false, body));
        actor.may(&Intended { id, new, replaced, winner, keeps_from })
    }

    /// A leaf, unless it is a deletion.
    fn live_document<'d>(&self, id: &'d str, before: &Before, rev: &RevId) -> Result<Option<Document<'d>>> {
        let Some(body) = self.live_body_of(id, before, rev)? else { return Ok(None) };
        let attachments = self.attachments_of(id, before, rev)?;
        Ok(Some(Document { attachments, ..document(id, *rev, false, Cow::Owned(body)) }))
    }
}

fn document<'d>(id: &'d str, rev: RevId, deleted: bool, body: Cow<'d, str>) -> Document<'d> {
    let seq = crate::engine::Seq::ZERO;
    Document { id: Cow::Borrowed(id), rev, seq, deleted, body, attachments: Vec::new() }
}
