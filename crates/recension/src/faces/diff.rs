//! Differences between two moments: of a document, value by value; of a collection, document by document. The documents
//! are streamed, and the time grows with the number of changes.

use std::cmp::Ordering;
use std::iter::Peekable;

use crate::faces::changes::Changes;
use crate::faces::collection::Collection;
use crate::faces::store::Store;
use crate::kernel::read::reader::{CollectionAt, Documents, ListOptions};
use recension_values::at::At;
use recension_values::attachment::AttachmentInfo;
use recension_values::error::{Error, Result};
use recension_values::json::{self, Pointer};
use recension_values::model::Document;
use recension_values::revid::RevId;

/// A state of a document: a revision, or the state at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    /// That revision.
    Revision(RevId),
    /// The state at this moment.
    At(At),
}

impl From<RevId> for Version {
    fn from(rev: RevId) -> Self {
        Version::Revision(rev)
    }
}

impl From<At> for Version {
    fn from(at: At) -> Self {
        Version::At(at)
    }
}

/// A document before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DocumentDiff {
    /// Its id.
    pub id: String,
    /// What it was; `None` if there was no document.
    pub before: Option<Document<'static>>,
    /// What it became; `None` if there is no document any more.
    pub after: Option<Document<'static>>,
}

impl DocumentDiff {
    /// The differences of the body, value by value, and of the attachments: at `/_attachments/NAME` their digests. A
    /// document that was made or deleted is one difference.
    pub fn changes(&self) -> Result<Vec<json::Change>> {
        let body = |side: &Option<Document<'static>>| side.as_ref().map(|document| document.body.to_string());
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                let mut changes = json::diff_minified(&before.body, &after.body)?;
                changes.extend(changed_attachments(&before.attachments, &after.attachments));
                Ok(changes)
            }
            (None, None) => Ok(Vec::new()),
            _ => Ok(vec![json::Change { path: Pointer::root(), before: body(&self.before), after: body(&self.after) }]),
        }
    }
}

/// Attachments that are new, gone, or of other bytes or another type.
fn changed_attachments<'a>(
    before: &'a [AttachmentInfo],
    after: &'a [AttachmentInfo],
) -> impl Iterator<Item = json::Change> + 'a {
    let of = |side: &'a [AttachmentInfo], name: &str| side.iter().find(|info| info.name == name);
    let names = before.iter().chain(after.iter().filter(move |info| of(before, &info.name).is_none()));
    names.filter_map(move |AttachmentInfo { name, .. }| {
        let sides = [of(before, name), of(after, name)];
        let [one, another] = sides.map(|info| info.map(|info| (info.sha256(), &info.content_type)));
        let [before, after] = sides.map(|info| info.map(|info| json::quote(&info.digest())));
        let path = || Pointer::root().child("_attachments").child(&**name);
        (one != another).then(|| json::Change { path: path(), before, after })
    })
}

impl Collection {
    /// The differences between two states of a document. A state before the document was made, or after its deletion,
    /// has no body.
    ///
    /// ```
    /// use recension::{At, Store};
    /// # fn main() -> recension::Result<()> {
    /// let menu = Store::memory()?.collection("menu")?;
    /// let first = menu.put("pizza", r#"{"price":9.50,"vegan":false}"#)?;
    /// menu.put("pizza", r#"{"price":10,"vegan":false}"#)?;
    /// let diff = menu.diff("pizza", first.rev, At::Now)?;
    /// assert_eq!(diff.changes()?[0].path.to_string(), "/price");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoSuchRevision`].
    pub fn diff(&self, id: &str, from: impl Into<Version>, to: impl Into<Version>) -> Result<DocumentDiff> {
        let (before, after) = (self.version(id, from.into())?, self.version(id, to.into())?);
        Ok(DocumentDiff { id: id.to_owned(), before, after })
    }

    fn version(&self, id: &str, version: Version) -> Result<Option<Document<'static>>> {
        let rev = match version {
            Version::At(at) => return Ok(self.at(at)?.get(id)?.map(Document::into_owned)),
            Version::Revision(rev) => rev,
        };
        let found = self.revision(id, &rev)?.ok_or_else(|| Error::NoSuchRevision { id: id.to_owned(), rev })?;
        let document = |found: recension_values::model::Revision| Document {
            id: id.to_owned().into(),
            rev: found.rev,
            seq: found.seq,
            deleted: false,
            body: found.body.into(),
            attachments: found.attachments,
        };
        Ok(Some(found).filter(|found| !found.deleted).map(document))
    }

    /// The documents that are different between two moments; see [`CollectionAt::diff`].
    pub fn diff_between(&self, from: At, to: At) -> Result<CollectionDiff> {
        Ok(self.at(from)?.diff(&self.at(to)?))
    }
}

impl Store {
    /// The differences between two moments of every collection that existed at one of them, with its name.
    pub fn diff_between(&self, from: At, to: At) -> Result<Vec<(String, CollectionDiff)>> {
        let names = |at| -> Result<Vec<String>> {
            Ok(self.collections(at)?.into_iter().map(|collection| collection.name).collect())
        };
        let (from, to) = (At::Seq(self.resolve(from)?), At::Seq(self.resolve(to)?));
        let mut all = names(from)?;
        all.extend(names(to)?);
        all.sort_unstable();
        all.dedup();
        let diff = |name: String| {
            let differences = self.collection_as_of(&name, from)?.diff(&self.collection_as_of(&name, to)?);
            Ok((name, differences))
        };
        all.into_iter().map(diff).collect()
    }
}

impl CollectionAt {
    /// The documents that differ in `other`, one at a time. This moment is the state before, `other` the state after,
    /// whichever is older. The time grows with the number of changes between the two; if the collection was dropped and
    /// made again in between, with the number of documents.
    ///
    /// Documents are compared by their revisions: a document that was changed and changed back differs. Documents that
    /// were purged in between may be missing.
    pub fn diff(&self, other: &CollectionAt) -> CollectionDiff {
        let same_tree = match (&self.entry, &other.entry) {
            (Some(one), Some(another)) => one.documents == another.documents,
            _ => false,
        };
        let source = if same_tree {
            let (earlier, later) = if self.seq() <= other.seq() { (self, other) } else { (other, self) };
            Source::Changed(later.changes(earlier.seq()))
        } else {
            match (self.list(&ListOptions::default()), other.list(&ListOptions::default())) {
                (Ok(before), Ok(after)) => Source::Lists(Box::new((before.peekable(), after.peekable()))),
                (Err(error), _) | (_, Err(error)) => Source::Failed(Some(error)),
            }
        };
        CollectionDiff { before: self.clone(), after: other.clone(), source }
    }
}

/// Documents that are different between two moments. In the order in which they were changed last; in the order of
/// their ids if the collection was made anew in between. It ends after its first error.
pub struct CollectionDiff {
    before: CollectionAt,
    after: CollectionAt,
    source: Source,
}

enum Source {
    /// The changes between the two moments.
    Changed(Changes),
    /// Both lists of documents, merged.
    Lists(Box<(Peekable<Documents>, Peekable<Documents>)>),
    Failed(Option<Error>),
}

impl Iterator for CollectionDiff {
    type Item = Result<DocumentDiff>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = match &mut self.source {
            Source::Changed(changes) => next_changed(changes, &self.before, &self.after),
            Source::Lists(lists) => next_merged(&mut lists.0, &mut lists.1),
            Source::Failed(error) => error.take().map(Err),
        };
        if matches!(next, Some(Err(_))) {
            self.source = Source::Failed(None);
        }
        next
    }
}

fn next_changed(changes: &mut Changes, before: &CollectionAt, after: &CollectionAt) -> Option<Result<DocumentDiff>> {
    loop {
        let read = |change: crate::kernel::changes::change::Change| {
            let before = before.get(&change.id)?.map(Document::into_owned);
            let after = after.get(&change.id)?.map(Document::into_owned);
            Ok(DocumentDiff { before, after, id: change.id })
        };
        match changes.next()?.and_then(read) {
            // The document was made and deleted in between.
            Ok(DocumentDiff { before: None, after: None, .. }) => {}
            other => return Some(other),
        }
    }
}

fn next_merged(before: &mut Peekable<Documents>, after: &mut Peekable<Documents>) -> Option<Result<DocumentDiff>> {
    loop {
        let order = match (before.peek(), after.peek()) {
            (None, None) => return None,
            (Some(Err(_)), _) => return before.next().and_then(Result::err).map(Err),
            (_, Some(Err(_))) => return after.next().and_then(Result::err).map(Err),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(Ok(one)), Some(Ok(another))) => one.id.cmp(&another.id),
        };
        let before = if order.is_le() { before.next().and_then(Result::ok) } else { None };
        let after = if order.is_ge() { after.next().and_then(Result::ok) } else { None };
        if before.as_ref().map(|document| document.rev) == after.as_ref().map(|document| document.rev) {
            continue;
        }
        let id = before.as_ref().or(after.as_ref()).map(|document| document.id.to_string()).unwrap_or_default();
        return Some(Ok(DocumentDiff { id, before, after }));
    }
}
