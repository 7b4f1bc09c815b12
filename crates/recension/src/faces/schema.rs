//! The JSON Schema of a collection: setting it, reading it at any moment, and checking existing documents. The writer
//! checks every write of a document, in the commit that writes it.

use std::sync::Arc;

use crate::engine::{CommitInfo, Seq};
use crate::faces::commit::in_one_commit;
use crate::faces::handles::Settings;
use crate::kernel::read::reader::{CollectionAt, ListOptions};
use crate::kernel::rows::catalogue::{CATALOGUE, CollectionEntry};
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::CHECK_PROBLEMS_MAX;
use recension_values::schema::{Schema, is_of_schema};

/// A schema of a collection, and its first commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaVersion {
    /// The commit that set or removed it.
    pub since: CommitInfo,
    /// Its JSON text; `None`: the collection had none from then on.
    pub schema: Option<String>,
}

/// What [`CollectionAt::check_schema`] found.
#[derive(Clone, Debug, Default)]
pub struct SchemaCheck {
    /// Documents tested.
    pub documents: u64,
    /// Documents that do not fit.
    pub refused: u64,
    /// The problems ([`Error::NotOfSchema`]) of the first thousand.
    pub problems: Vec<Error>,
}

impl CollectionAt {
    /// The schema; `None` if there is none.
    pub fn schema(&self) -> Option<&str> {
        self.entry.as_ref()?.schema.as_ref().map(|schema| schema.text())
    }

    /// Tests every document that was written after `since` ([`Seq::ZERO`]: all) against a schema. `progress` is called
    /// with each document that was read, and says whether to go on.
    ///
    /// # Errors
    /// [`Error::BadSchema`], and errors of reading.
    pub fn check_schema(
        &self,
        schema: &Schema,
        since: Seq,
        mut progress: impl FnMut(&SchemaCheck) -> bool,
    ) -> Result<SchemaCheck> {
        let mut check = SchemaCheck::default();
        for document in self.list(&ListOptions::default())? {
            let document = document?;
            if document.seq <= since || !is_of_schema(&document.id) {
                continue;
            }
            check.documents += 1;
            match schema.check(&document.id, &document.body) {
                Err(error @ Error::NotOfSchema { .. }) => {
                    check.refused += 1;
                    if check.problems.len() < CHECK_PROBLEMS_MAX {
                        check.problems.push(error);
                    }
                }
                other => other?,
            }
            if !progress(&check) {
                break;
            }
        }
        Ok(check)
    }
}

impl Settings<'_> {
    /// The schema of its documents; `None` if there is none.
    pub fn schema(self) -> Result<Option<String>> {
        Ok(self.collection.at(At::Now)?.schema().map(str::to_owned))
    }

    /// Sets the schema, or with `None` removes it; returns the commit. From that commit on, a write of a document that
    /// does not fit is refused, even from a replica. Existing documents stay; [`CollectionAt::check_schema`] tests
    /// them. Deletions, design documents and local documents are not tested.
    ///
    /// # Errors
    /// [`Error::NoSuchCollection`] if there is no collection to remove it from.
    pub fn set_schema(self, schema: Option<Schema>) -> Result<CommitInfo> {
        let schema = schema.map(Arc::new);
        let set = |writer: &mut Writer<'_>| {
            if writer.entry.is_none() && schema.is_none() {
                return Err(Error::NoSuchCollection { collection: self.collection.name().to_owned() });
            }
            if writer.entry.as_ref().is_none_or(|entry| entry.schema != schema) {
                writer.change_entry(|entry| entry.schema.clone_from(&schema))?;
            }
            Ok(())
        };
        in_one_commit(self.collection, set).map(|((), commit)| commit)
    }

    /// Every schema that the collection has had, newest first.
    pub fn schema_history(self) -> Result<Vec<SchemaVersion>> {
        let now = self.collection.at(At::Now)?;
        let Some(number) = now.number() else { return Ok(Vec::new()) };
        let mut all: Vec<SchemaVersion> = Vec::new();
        for version in now.snapshot.versions(CATALOGUE, &self.collection.slot.key) {
            let version = version?;
            let Some(value) = version.value else { break };
            let entry = CollectionEntry::decode(&value, self.collection.name())?;
            if entry.documents.0 != number {
                break;
            }
            let schema = entry.schema.map(|schema| schema.text().to_owned());
            let since = CommitInfo { seq: version.seq, time: version.time };
            match all.last_mut().filter(|newer| newer.schema == schema) {
                Some(same) => same.since = since,
                None => all.push(SchemaVersion { since, schema }),
            }
        }
        // The time before the first schema is no version.
        if all.last().is_some_and(|oldest| oldest.schema.is_none()) {
            all.pop();
        }
        Ok(all)
    }
}
