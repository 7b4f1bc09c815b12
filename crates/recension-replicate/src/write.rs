//! One batch: revisions that the target does not have are read from the source and written, a bounded number of bytes
//! at a time.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io::Read;

use crate::control::Control;
use crate::document::{Attachment, Document};
use crate::end::{Changed, End, Fetched, Refusal, Wanted};
use crate::error::Result;
use crate::limits::{FETCH, INLINE_BYTES, INLINE_FETCH_BYTES, WRITE_BYTES};
use crate::statistics::Statistics;

/// Copies documents from a source to a target.
pub(crate) struct Way<'a> {
    pub(crate) source: &'a dyn End,
    pub(crate) target: &'a dyn End,
    pub(crate) control: &'a Control,
    pub(crate) last: RefCell<Last>,
}

/// The newest of what a run has seen: a side that does not know it any more was put back to an older copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Last {
    /// What the source has told.
    pub(crate) told: Option<Changed>,
    /// What the target had.
    had: Option<Changed>,
    /// What the target has acknowledged.
    written: Option<Changed>,
}

impl Last {
    /// Of the target.
    pub(crate) fn taken(&self) -> Vec<Changed> {
        self.had.iter().chain(&self.written).cloned().collect()
    }
}

impl<'a> Way<'a> {
    pub(crate) fn new(source: &'a dyn End, target: &'a dyn End, control: &'a Control) -> Self {
        Way { source, target, control, last: RefCell::default() }
    }

    fn written(&self, documents: &[Document], refusals: &[Refusal]) {
        let is_taken = |own: &&Document| refusals.iter().all(|refusal| refusal.id != own.id);
        if let Some(own) = documents.iter().rfind(is_taken) {
            self.last.borrow_mut().written = Some(Changed { id: own.id.clone(), revs: vec![own.rev.clone()] });
        }
    }

    /// Copies the revisions of some changes. When it returns, the target has acknowledged them.
    pub(crate) fn carry(&self, changes: &[Changed], statistics: &mut Statistics) -> Result<()> {
        let missing = self.target.revs_diff(changes, self.control)?;
        statistics.missing_checked += changes.iter().map(|change| change.revs.len() as u64).sum::<u64>();
        if let Some(told) = changes.last() {
            self.last.borrow_mut().told = Some(told.clone());
        }
        if let Some(had) = changes.iter().rfind(|own| missing.iter().all(|missing| missing.id != own.id)) {
            self.last.borrow_mut().had = Some(had.clone());
        }
        let ancestors: HashMap<&str, &[String]> =
            missing.iter().map(|own| (own.id.as_str(), own.ancestors.as_slice())).collect();
        let wanted: Vec<Wanted> = missing
            .iter()
            .flat_map(|own| own.revs.iter().map(|rev| Wanted { id: own.id.clone(), rev: rev.clone() }))
            .collect();
        statistics.missing_found += wanted.len() as u64;
        for wanted in wanted.chunks(FETCH) {
            self.control.permitted()?;
            if self.control.is_stopped() {
                return Err(crate::error::Error::Stopped);
            }
            let (mut plain, mut small, mut large) = (Vec::new(), Vec::new(), Vec::new());
            for document in self.fetch(wanted, false, statistics)? {
                match document.stub_bytes() {
                    _ if !document.has_stubs() => plain.push(document),
                    bytes if bytes <= INLINE_BYTES => small.push((bytes, document)),
                    _ => large.push(document),
                }
            }
            statistics.docs_read += (plain.len() + small.len() + large.len()) as u64;
            self.write(&plain, statistics)?;
            self.write_small(&small, statistics)?;
            for document in &large {
                let known = document.known(ancestors.get(document.id.as_str()).copied().unwrap_or_default());
                self.write_large(document, known, statistics)?;
            }
            self.control.tell(statistics);
        }
        Ok(())
    }

    /// Writes revisions from a stream. Those with attachments are fetched like others.
    pub(crate) fn take(&self, documents: Vec<Document>, statistics: &mut Statistics) -> Result<()> {
        let (attached, plain): (Vec<_>, Vec<_>) = documents.into_iter().partition(Document::has_stubs);
        let count = plain.len() as u64;
        statistics.missing_checked += count;
        statistics.missing_found += count;
        statistics.docs_read += count;
        self.write(&plain, statistics)?;
        if let Some(own) = plain.last() {
            self.last.borrow_mut().told = Some(Changed { id: own.id.clone(), revs: vec![own.rev.clone()] });
        }
        let changes: Vec<Changed> =
            attached.into_iter().map(|own| Changed { id: own.id, revs: vec![own.rev] }).collect();
        if changes.is_empty() { Ok(()) } else { self.carry(&changes, statistics) }
    }

    /// Revisions, without duplicates: two requested ones may have become one.
    fn fetch(&self, wanted: &[Wanted], attachments: bool, statistics: &mut Statistics) -> Result<Vec<Document>> {
        let fetched = self.source.fetch(wanted, attachments, self.control)?;
        let mut seen = HashSet::new();
        let found = fetched.into_iter().filter_map(|fetched| match fetched {
            Fetched::Found(document) => Some(document),
            // A later change tells what became of it.
            Fetched::Gone => None,
        });
        let found: Vec<Document> =
            found.filter(|document| seen.insert((document.id.clone(), document.rev.clone()))).collect();
        statistics.bulk_get_attempts += 1;
        statistics.bulk_get_docs += found.len() as u64;
        Ok(found)
    }

    fn write(&self, documents: &[Document], statistics: &mut Statistics) -> Result<()> {
        let mut rest = documents;
        while !rest.is_empty() {
            let (mut bytes, mut count) = (0, 0);
            for document in rest {
                bytes += document.text.len();
                if count > 0 && bytes > WRITE_BYTES {
                    break;
                }
                count += 1;
            }
            let (now, later) = rest.split_at(count);
            self.control.permitted()?;
            let refusals = self.target.write(now, self.control)?;
            self.written(now, &refusals);
            statistics.docs_written += now.len().saturating_sub(refusals.len()) as u64;
            note(refusals, statistics);
            rest = later;
        }
        Ok(())
    }

    /// Writes documents with short attachments, whose bytes are inside of them.
    fn write_small(&self, documents: &[(u64, Document)], statistics: &mut Statistics) -> Result<()> {
        let mut rest = documents;
        while !rest.is_empty() {
            let (mut bytes, mut count) = (0, 0);
            for (own, _) in rest {
                bytes += own;
                if count > 0 && bytes > INLINE_FETCH_BYTES {
                    break;
                }
                count += 1;
            }
            let (now, later) = rest.split_at(count);
            let wanted: Vec<Wanted> =
                now.iter().map(|(_, own)| Wanted { id: own.id.clone(), rev: own.rev.clone() }).collect();
            let fetched = self.fetch(&wanted, true, statistics)?;
            self.write(&fetched, statistics)?;
            rest = later;
        }
        Ok(())
    }

    /// Writes a document with long attachments alone. Attachments that the target has are not sent again.
    fn write_large(&self, document: &Document, known: u32, statistics: &mut Statistics) -> Result<()> {
        let open = |own: &Attachment| -> Result<Box<dyn Read + Send>> {
            let bytes = self.source.attachment(document, &own.name, self.control)?;
            Ok(Box::new(Permitted { bytes, control: self.control.clone() }))
        };
        self.control.permitted()?;
        let mut refusal = self.target.write_attached(document, known, &open, self.control)?;
        if known > 0 && refusal.as_ref().is_some_and(|own| own.error == "missing_stub") {
            refusal = self.target.write_attached(document, 0, &open, self.control)?;
        }
        statistics.docs_written += u64::from(refusal.is_none());
        self.written(std::slice::from_ref(document), refusal.as_slice());
        note(refusal, statistics);
        Ok(())
    }
}

/// The bytes of an attachment, as long as who asked for the replication may read them.
struct Permitted {
    bytes: Box<dyn Read + Send>,
    control: Control,
}

impl Read for Permitted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.control.permitted().map_err(std::io::Error::other)?;
        self.bytes.read(into)
    }
}

fn note(refusals: impl IntoIterator<Item = Refusal>, statistics: &mut Statistics) {
    for Refusal { id, error, reason } in refusals {
        statistics.doc_write_failures += 1;
        statistics.last_refusal = Some((id, format!("{error}: {reason}")));
    }
}
