//! Migrating a whole collection: every document of an older version is read, migrated and written, in bounded commits.
//! A migrated document has its version, so an interrupted run is simply run again.

use std::ops::Bound;

use super::codec::{encode, version_in};
use super::{DocumentType, Typed};
use crate::kernel::read::reader::ListOptions;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::{LOAD_BATCH_BYTES, LOAD_BATCH_DOCUMENTS, WRITE_ATTEMPTS_MAX};
use recension_values::model::Document;
use recension_values::write::{Expect, Write};

/// How far a migration has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MigrationProgress {
    /// Documents looked at.
    pub seen: u64,
    /// Documents migrated by this run.
    pub migrated: u64,
}

impl<T: DocumentType> Typed<T> {
    /// Migrates every document of an older version, so that queries and indexes see the newest one. Others read and
    /// write meanwhile. Each step is one commit, after which `progress` is called. An interrupted run can be run again:
    /// migrated documents are skipped.
    ///
    /// # Errors
    /// [`Error::Migration`], [`Error::Decode`] and [`Error::NewerSchema`] name the document that stopped the run.
    /// Documents of its step stay as they were; earlier ones are migrated.
    pub fn migrate_all(&self, mut progress: impl FnMut(MigrationProgress)) -> Result<MigrationProgress> {
        let mut done = MigrationProgress::default();
        let mut options = ListOptions::default();
        loop {
            let step = self.read_step(&options, &mut done)?;
            let Some(last) = step.last else { return Ok(done) };
            for (id, result) in step.ids.iter().zip(self.collection.bulk(step.writes)?) {
                match result {
                    Ok(_) => done.migrated += 1,
                    Err(Error::Conflict { .. }) => done.migrated += u64::from(self.migrate_one(id)?),
                    Err(error) => return Err(error),
                }
            }
            progress(done);
            options.start = Bound::Excluded(last);
        }
    }

    /// Documents from the start of the options on, as they are now, up to what one commit takes.
    fn read_step(&self, options: &ListOptions, done: &mut MigrationProgress) -> Result<Step> {
        let mut step = Step::default();
        let mut bytes = 0;
        for document in self.collection.list(options)? {
            let document = document?;
            done.seen += 1;
            step.looked_at += 1;
            bytes += document.body.len();
            if let Some(write) = self.migrated(&document)? {
                step.ids.push(document.id.to_string());
                step.writes.push(write);
            }
            step.last = Some(document.id.into_owned());
            if step.looked_at >= LOAD_BATCH_DOCUMENTS || bytes >= LOAD_BATCH_BYTES {
                break;
            }
        }
        Ok(step)
    }

    /// The write that brings a document to the newest version, if it is of an older one.
    fn migrated(&self, document: &Document<'_>) -> Result<Option<Write>> {
        if version_in::<T>(&document.id, &document.body)?.unwrap_or(1) == T::VERSION {
            return Ok(None);
        }
        let write = encode(&self.codec.decode(document)?)?.with_id(&document.id)?;
        Ok(Some(write.expecting(Expect::Revision(document.rev))))
    }

    /// Migrates a document that others have written meanwhile, in its present state.
    fn migrate_one(&self, id: &str) -> Result<bool> {
        for _ in 0..WRITE_ATTEMPTS_MAX {
            let Some(document) = self.collection.at(At::Now)?.get(id)?.map(Document::into_owned) else {
                return Ok(false);
            };
            let Some(write) = self.migrated(&document)? else { return Ok(false) };
            match self.collection.write(write) {
                Err(Error::Conflict { .. }) => {}
                other => return other.map(|_| true),
            }
        }
        Err(Error::Busy { attempts: WRITE_ATTEMPTS_MAX })
    }
}

/// Some documents, and the writes that migrate those of them that are of an older version.
#[derive(Default)]
struct Step {
    looked_at: usize,
    ids: Vec<String>,
    writes: Vec<Write>,
    last: Option<String>,
}
