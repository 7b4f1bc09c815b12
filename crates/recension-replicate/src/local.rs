//! A collection of a store in this process as a side.

use std::fmt::Write as _;
use std::io::Read;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recension::json::quote;
use recension::{
    At, ChangeFilter, Collection, CollectionAt, Error as StoreError, Position, Query, ReplicatedWrite, RevId, Revision,
    Selector,
};

use crate::control::Control;
use crate::document::{Attachment, Document};
use crate::end::{Changed, End, Feed, Fetched, Missing, Open, Page, Refusal, Wanted};
use crate::error::{Error, Result};
use crate::options::Options;

/// The reason for which a document may not be written here; `None` if it may.
type Refuses = dyn Fn(&str) -> Option<String> + Send + Sync;

/// A collection as a side of a replication.
#[derive(Clone)]
pub struct Local {
    collection: Collection,
    identity: String,
    filter: Option<ChangeFilter>,
    refuses: Option<Arc<Refuses>>,
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Local").field("collection", &self.collection.name()).finish_non_exhaustive()
    }
}

impl Local {
    /// A collection, which is created if it does not exist.
    pub fn new(collection: Collection) -> Self {
        let identity = format!("local:{}", collection.name());
        Local { collection, identity, filter: None, refuses: None }
    }

    /// The same with an identity that no other collection has, for checkpoints.
    #[must_use]
    pub fn identified(mut self, identity: impl Into<String>) -> Self {
        self.identity = identity.into();
        self
    }

    /// The same as a source of only those documents that a filter lets through. It replaces the option `selector`.
    #[must_use]
    pub fn filtered(mut self, filter: ChangeFilter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// The same as a target that refuses some documents, by their ids.
    #[must_use]
    pub fn refusing(mut self, refuses: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        self.refuses = Some(Arc::new(refuses));
        self
    }

    fn now(&self) -> Result<CollectionAt> {
        Ok(self.collection.at(At::Now)?)
    }

    fn filter(&self, options: &Options) -> Result<Option<ChangeFilter>> {
        if options.filter.is_some() {
            let why = "a local source has no filter functions; give a selector, or the ids of the documents";
            return Err(Error::BadOptions(why.to_owned()));
        }
        if let Some(ids) = &options.doc_ids {
            return Ok(Some(ChangeFilter::ids(ids.iter().cloned())?));
        }
        match (&self.filter, &options.selector) {
            (Some(filter), _) => Ok(Some(filter.clone())),
            (None, Some(selector)) => {
                let query = Query::new().selecting(Selector::from_json(selector)?);
                Ok(Some(ChangeFilter::matching(query)?))
            }
            (None, None) => Ok(None),
        }
    }

    fn refused(&self, id: &str) -> Option<Refusal> {
        let reason = self.refuses.as_ref()?(id)?;
        Some(Refusal { id: id.to_owned(), error: "forbidden".to_owned(), reason })
    }

    fn merged(&self, writes: Vec<ReplicatedWrite>) -> Result<Vec<Refusal>> {
        let ids: Vec<String> = writes.iter().map(|write| write.id().to_owned()).collect();
        let results = self.collection.replication().merge_revisions(writes)?;
        let refusals = ids.into_iter().zip(results).filter_map(|(id, result)| Some((id, result.err()?)));
        refusals.map(|(id, error)| refusal_of(id, error)).collect()
    }
}

/// An error about one document is a refusal; any other error of the store ends the replication.
fn refusal_of(id: String, error: StoreError) -> Result<Refusal> {
    match error {
        StoreError::Engine(_) | StoreError::Busy { .. } | StoreError::DamagedRow { .. } => Err(Error::Store(error)),
        StoreError::MissingStub { .. } => {
            Ok(Refusal { id, error: "missing_stub".to_owned(), reason: error.to_string() })
        }
        error => Ok(Refusal { id, error: "doc_validation".to_owned(), reason: error.to_string() }),
    }
}

fn rev_of(text: &str) -> Result<RevId> {
    Ok(text.parse::<RevId>()?)
}

/// A revision as it is sent.
fn document(at: &CollectionAt, id: &str, revision: &Revision, bytes: bool) -> Result<Document> {
    let path = at.ancestry(id, &revision.rev)?.unwrap_or_else(|| vec![revision.rev]);
    let suffixes: Vec<String> = path.iter().map(|rev| quote(&rev.suffix())).collect();
    let mut text = Revision { attachments: Vec::new(), ..revision.clone() }.to_json(id);
    text.pop();
    // Writing to a String cannot fail.
    let _ =
        write!(text, ",\"_revisions\":{{\"start\":{},\"ids\":[{}]}}", revision.rev.generation(), suffixes.join(","));
    let mut attachments = Vec::new();
    for (number, info) in revision.attachments.iter().enumerate() {
        text.push_str(if number == 0 { ",\"_attachments\":{" } else { "," });
        let (name, content_type) = (quote(&info.name), quote(&info.content_type));
        let (revpos, digest, length) = (info.revpos, info.digest(), info.length());
        let head = format!("{name}:{{\"content_type\":{content_type},\"revpos\":{revpos},\"digest\":\"{digest}\",");
        text.push_str(&head);
        if bytes {
            let mut data = Vec::new();
            at.open_attachment(info)?.read_to_end(&mut data).map_err(|error| unreadable(&error))?;
            let _ = write!(text, "\"data\":\"{}\"}}", STANDARD.encode(data));
        } else {
            let _ = write!(text, "\"length\":{length},\"stub\":true}}");
        }
        attachments.push(Attachment {
            name: info.name.clone(),
            content_type: info.content_type.clone(),
            revpos,
            digest: Some(digest),
            length,
            stub: !bytes,
        });
    }
    text.push_str(if attachments.is_empty() { "}" } else { "}}" });
    let path = path.iter().map(RevId::to_string).collect();
    Ok(Document { id: id.to_owned(), rev: revision.rev.to_string(), text, path, attachments })
}

fn unreadable(error: &std::io::Error) -> Error {
    Error::Store(StoreError::Input { source: Arc::new(std::io::Error::other(error.to_string())) })
}

impl End for Local {
    fn name(&self) -> String {
        self.collection.name().to_owned()
    }

    fn identity(&self) -> String {
        self.identity.clone()
    }

    fn prepare(&self, create: bool, _: &Control) -> Result<()> {
        if self.now()?.exists() {
            return Ok(());
        }
        if !create {
            return Err(Error::NoDatabase { end: self.name() });
        }
        self.collection.make(&[])?;
        Ok(())
    }

    fn changes(&self, feed: Feed<'_>) -> Result<Page> {
        let since: Position = feed.since.parse()?;
        let filter = self.filter(feed.options)?;
        let at = self.now()?;
        if !at.exists() {
            return Err(Error::NoDatabase { end: self.name() });
        }
        let mut changes = at.changes(since.clone());
        // A leaf that loses may pass where the winner does not.
        let by_leaf = filter.as_ref().is_some_and(ChangeFilter::asks_for_contents) && at.has_losing_leaves()?;
        if let Some(filter) = filter.as_ref().filter(|_| !by_leaf) {
            changes = changes.filtered(filter);
        }
        let (mut page, mut caught_up) = (Vec::new(), true);
        for change in changes.by_ref() {
            let change = change?;
            let revs = match filter.as_ref().filter(|_| by_leaf) {
                Some(filter) => filter.leaves(&at, &change.id)?,
                None => at.leaves(&change.id)?.into_iter().map(|leaf| leaf.rev).collect(),
            };
            if revs.is_empty() {
                continue;
            }
            let revs = revs.iter().map(RevId::to_string).collect();
            page.push(Changed { id: change.id, revs });
            if page.len() == feed.limit {
                caught_up = false;
                break;
            }
        }
        let last_seq = changes.position().to_string();
        if let Some(wait) = feed.wait.filter(|_| page.is_empty()) {
            let engine = self.collection.store().engine();
            let step = std::time::Duration::from_millis(200);
            let until = std::time::Instant::now() + wait;
            while !feed.control.is_stopped() && std::time::Instant::now() < until {
                engine.wait_beyond(at.seq(), step);
                if engine.head() > at.seq() {
                    break;
                }
            }
        }
        Ok(Page { changes: page, last_seq, caught_up, pending: caught_up.then_some(0) })
    }

    fn is_empty(&self, _: &Control) -> Result<bool> {
        let counts = self.now()?.counts()?;
        Ok(counts.documents + counts.deleted == 0)
    }

    fn revs_diff(&self, changes: &[Changed], _: &Control) -> Result<Vec<Missing>> {
        let asked: Vec<(&str, Vec<RevId>)> = changes
            .iter()
            .map(|change| Ok((&*change.id, change.revs.iter().map(|rev| rev_of(rev)).collect::<Result<_>>()?)))
            .collect::<Result<_>>()?;
        let rows = self.now()?.revs_diff(asked.iter().map(|(id, revs)| (*id, revs.as_slice())))?;
        let texts = |revs: &[RevId]| revs.iter().map(RevId::to_string).collect();
        let row = |row: recension::RevsDiff| Missing {
            revs: texts(&row.missing),
            ancestors: texts(&row.possible_ancestors),
            id: row.id,
        };
        Ok(rows.into_iter().map(row).collect())
    }

    fn fetch(&self, wanted: &[Wanted], attachments: bool, _: &Control) -> Result<Vec<Fetched>> {
        let at = self.now()?;
        let mut fetched = Vec::with_capacity(wanted.len());
        for Wanted { id, rev } in wanted {
            let rev = rev_of(rev)?;
            let mut revs: Vec<RevId> = at.latest(id, &rev)?.into_iter().map(|leaf| leaf.rev).collect();
            if revs.is_empty() {
                revs.push(rev);
            }
            for rev in revs {
                fetched.push(match at.get_revision(id, &rev)? {
                    Some(revision) => Fetched::Found(document(&at, id, &revision, attachments)?),
                    None => Fetched::Gone,
                });
            }
        }
        Ok(fetched)
    }

    fn attachment(&self, document: &Document, name: &str, _: &Control) -> Result<Box<dyn Read + Send>> {
        let found = self.now()?.attachment_of(&document.id, &rev_of(&document.rev)?, name)?;
        let missing = || StoreError::NoSuchAttachment { id: document.id.clone(), name: name.to_owned() };
        Ok(Box::new(found.ok_or_else(missing)?))
    }

    fn write(&self, documents: &[Document], _: &Control) -> Result<Vec<Refusal>> {
        let (mut writes, mut refusals) = (Vec::with_capacity(documents.len()), Vec::new());
        for document in documents {
            if let Some(refusal) = self.refused(&document.id) {
                refusals.push(refusal);
                continue;
            }
            match ReplicatedWrite::from_json(&document.text) {
                Ok(write) => writes.push(write),
                Err(error) => refusals.push(refusal_of(document.id.clone(), error)?),
            }
        }
        refusals.extend(self.merged(writes)?);
        Ok(refusals)
    }

    fn write_attached(&self, document: &Document, known: u32, open: &Open<'_>, _: &Control) -> Result<Option<Refusal>> {
        if let Some(refusal) = self.refused(&document.id) {
            return Ok(Some(refusal));
        }
        let refused =
            |reason| Ok(Some(Refusal { id: document.id.clone(), error: "doc_validation".to_owned(), reason }));
        let text = match document.following(known) {
            Ok(text) => text,
            Err(reason) => return refused(reason),
        };
        let mut write = match ReplicatedWrite::from_json(text) {
            Ok(write) => write,
            Err(error) => return refusal_of(document.id.clone(), error).map(Some),
        };
        for own in document.attachments.iter().filter(|own| own.revpos > known) {
            let bytes = open(own)?;
            let uploaded = self.collection.uploads().add(bytes, &own.content_type);
            let upload = match uploaded {
                Ok(upload) if upload.length() == own.length => upload,
                Ok(_) => {
                    let why = format!("the attachment {:?} of {:?} ended too early", own.name, document.id);
                    return Err(Error::Unreachable { end: "the source".to_owned(), why });
                }
                Err(StoreError::Input { source }) => {
                    return Err(Error::Unreachable { end: "the source".to_owned(), why: source.to_string() });
                }
                Err(error) => return refusal_of(document.id.clone(), error).map(Some),
            };
            write = match write.attach(&own.name, upload) {
                Ok(write) => write,
                Err(error) => return refusal_of(document.id.clone(), error).map(Some),
            };
        }
        Ok(self.merged(vec![write])?.pop())
    }

    fn local(&self, name: &str, _: &Control) -> Result<Option<String>> {
        Ok(self.collection.locals().get(name)?.map(|document| document.body))
    }

    fn put_local(&self, name: &str, body: &str, _: &Control) -> Result<()> {
        self.collection.locals().put(name, body)?;
        Ok(())
    }
}
