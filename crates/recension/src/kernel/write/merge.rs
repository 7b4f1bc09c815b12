//! Merging revisions that were made on other replicas. They never conflict: each takes its place in the tree of its
//! document, and every replica chooses the same winner from the same tree.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::kernel::attachment;
use crate::kernel::read::ancestry::whole_tree;
use crate::kernel::write::guard::ToBe;
use crate::kernel::write::resolve::{Before, Content, Contents, Next};
use crate::kernel::write::writer::Writer;
use recension_values::attachment::AttachmentInfo;
use recension_values::error::{Error, Result};
use recension_values::limits::REVS_LIMIT_DEFAULT;
use recension_values::replicated::ReplicatedWrite;
use recension_values::revid::RevId;
use recension_values::revision_tree::{Paths, RevisionTree};

/// Groups of writes that are merged together: the writes of one document. A write that needs attachments of an ancestor
/// among them goes into a later group.
fn together(writes: &[ReplicatedWrite]) -> Vec<Vec<usize>> {
    let mut of_ids: HashMap<&str, usize> = HashMap::new();
    let mut all: Vec<(Vec<usize>, HashSet<&RevId>)> = Vec::new();
    for (at, write) in writes.iter().enumerate() {
        let Some((newest, ancestors)) = write.path.split_first() else { continue };
        let stands_on = |heads: &HashSet<&RevId>| ancestors.iter().any(|rev| heads.contains(rev));
        let known = of_ids.get(write.id.as_str()).and_then(|known| all.get_mut(*known));
        match known {
            Some((places, heads)) if write.attachments.is_nothing() || !stands_on(heads) => {
                places.push(at);
                heads.insert(newest);
            }
            _ => {
                of_ids.insert(&write.id, all.len());
                all.push((vec![at], HashSet::from([newest])));
            }
        }
    }
    all.into_iter().map(|(places, _)| places).collect()
}

impl Writer<'_> {
    /// Merges revisions of any documents; answers for each whether that changed anything.
    pub(crate) fn merge_each(&mut self, writes: &[ReplicatedWrite]) -> Result<Vec<Result<bool>>> {
        let mut merged: Vec<Result<bool>> = writes.iter().map(|_| Ok(false)).collect();
        for together in together(writes) {
            let of_document: Vec<&ReplicatedWrite> = together.iter().filter_map(|at| writes.get(*at)).collect();
            let results = match of_document.as_slice() {
                [write] => vec![self.merge(write)],
                writes => self.merge_all(writes)?,
            };
            for (at, result) in together.into_iter().zip(results) {
                if let Some(own) = merged.get_mut(at) {
                    *own = result;
                }
            }
        }
        Ok(merged)
    }

    /// Merges revisions of one document into its tree, none of which needs attachments of another. Returns for each
    /// whether that changed anything. If the whole fails, or each of them, nothing of them is in the overlay.
    fn merge_all(&mut self, writes: &[&ReplicatedWrite]) -> Result<Vec<Result<bool>>> {
        let Some(first) = writes.first() else { return Ok(Vec::new()) };
        let id = first.id.as_str();
        if self.is_guarded(id)? || self.actor.as_ref().is_some_and(|actor| actor.is_limited()) {
            return Ok(writes.iter().map(|write| self.merge(write)).collect());
        }
        let before = self.read(id)?;
        let known = match (&before, &self.entry) {
            (Some(before), Some(entry)) => whole_tree(self.view, entry.side, id, before.tree.clone())?,
            _ => RevisionTree::default(),
        };
        let mut paths = Paths::default();
        let mut take = |write: &ReplicatedWrite| -> Result<Option<Vec<AttachmentInfo>>> {
            let ReplicatedWrite { path, deleted, attachments, .. } = write;
            let misfit = || Error::BadField { field: "_revisions", expected: "generations that follow each other" };
            let newest = path.first().ok_or_else(misfit)?;
            let of_parent = self.known_attachments(write, before.as_ref())?;
            let infos = attachments.resolve(id, newest.generation(), &of_parent)?;
            if known.knows(newest) != Some(true) {
                self.ask_actor_of_design(id, *deleted, &write.body)?;
                self.check_schema(id, *deleted, &write.body)?;
            }
            let is_new = paths.add(path, *deleted, &known).ok_or_else(misfit)?;
            Ok(is_new.then_some(infos))
        };
        let taken: Vec<Result<Option<Vec<AttachmentInfo>>>> = writes.iter().map(|write| take(write)).collect();
        let mut tree = known.clone();
        tree.merge(&paths.into_tree());
        // Merging may bring back revisions that stemming gave up before.
        tree.stem(self.entry.as_ref().map_or(REVS_LIMIT_DEFAULT, |entry| entry.revs_limit));
        let mut written = Contents::default();
        let mut results: Vec<Result<bool>> = Vec::with_capacity(writes.len());
        for (write, taken) in writes.iter().zip(taken) {
            let infos = taken.map(|infos| infos.filter(|_| known.differs_in(&tree, &write.path)));
            if let (Ok(Some(infos)), Some(newest)) = (&infos, write.path.first())
                && tree.leaf(newest).is_some()
            {
                // A revision that another one of them stands on needs no body any more.
                let attachments = attachment::encode(infos).map(Cow::Owned);
                let content = Content { body: Cow::Borrowed(&*write.body), attachments };
                written.push(*newest, content, &write.attachments);
            }
            results.push(infos.map(|infos| infos.is_some()));
        }
        if tree != known
            && let Err(error) = self.resolve(id, before.as_ref(), Next { tree, written, made_here: false })
        {
            for result in results.iter_mut().filter(|result| matches!(result, Ok(true))) {
                *result = Err(error.clone());
            }
        }
        Ok(results)
    }

    /// Merges a revision into the tree of its document. Returns whether the tree has changed. After an error nothing of
    /// the write is in the overlay.
    pub(crate) fn merge(&mut self, write: &ReplicatedWrite) -> Result<bool> {
        let ReplicatedWrite { id, path, deleted, body, attachments } = write;
        self.ask_actor_of_merge(write)?;
        self.ask_guard_of_merge(write)?;
        let misfit = Error::BadField { field: "_revisions", expected: "generations that follow each other" };
        let sent = RevisionTree::of_path(path, *deleted).ok_or(misfit)?;
        let before = self.read(id)?;
        let tree = match (&before, &self.entry) {
            // Replicas mostly send an edit of a revision that is known here.
            (Some(before), Some(_)) if before.tree.is_extended_by(path) => {
                let mut tree = before.tree.clone();
                if let [rev, parent, ..] = path.as_slice() {
                    tree.append(parent, *rev, *deleted);
                }
                tree
            }
            (Some(before), Some(entry)) => {
                let known = whole_tree(self.view, entry.side, id, before.tree.clone())?;
                let mut merged = known.clone();
                merged.merge(&sent);
                // The merged tree may hold revisions that stemming gave up before.
                merged.stem(entry.revs_limit);
                if merged == known {
                    return Ok(false);
                }
                merged
            }
            _ => sent,
        };
        // A revision that has a child needs no body any more.
        let leaf = path.first().filter(|rev| tree.leaf(rev).is_some());
        let written = match leaf {
            Some(rev) => {
                if before.as_ref().is_none_or(|before| before.tree.leaf(rev).is_none()) {
                    self.ask_actor_of_design(id, *deleted, body)?;
                    self.check_schema(id, *deleted, body)?;
                }
                let known = self.known_attachments(write, before.as_ref())?;
                let infos = attachments.resolve(id, rev.generation(), &known)?;
                let encoded = attachment::encode(&infos).map(Cow::Owned);
                Contents::of_one(*rev, Content { body: Cow::Borrowed(body), attachments: encoded }, attachments)
            }
            None => Contents::default(),
        };
        self.resolve(id, before.as_ref(), Next { tree, written, made_here: false })?;
        Ok(true)
    }

    /// Asks the guard about a revision that is not known here.
    fn ask_guard_of_merge(&self, write: &ReplicatedWrite) -> Result<()> {
        let ReplicatedWrite { id, path, deleted, body, .. } = write;
        if !self.is_guarded(id)? {
            return Ok(());
        }
        let before = self.read(id)?;
        let known = before.as_ref().zip(path.first()).is_some_and(|(before, rev)| before.tree.knows(rev) == Some(true));
        if known {
            return Ok(());
        }
        let generation = path.first().map_or(1, RevId::generation);
        let attachments =
            write.attachments.resolve(id, generation, &self.known_attachments(write, before.as_ref())?)?;
        let next = ToBe { deleted: *deleted, body, attachments: &attachments };
        self.ask_guard(id, path, next, before.as_ref())
    }

    /// The attachments of the nearest ancestor that is a leaf here. The replica may name them as stubs.
    fn known_attachments(&self, write: &ReplicatedWrite, before: Option<&Before>) -> Result<Vec<AttachmentInfo>> {
        let Some(before) = before.filter(|_| !write.attachments.is_nothing()) else { return Ok(Vec::new()) };
        let nearest = write.path.iter().find(|rev| before.tree.leaf(rev).is_some());
        nearest.map_or(Ok(Vec::new()), |rev| self.attachments_of(&write.id, before, rev))
    }
}
