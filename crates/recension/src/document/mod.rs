//! Documents over the engine contract: collections, revisions, history, indexes, queries.
//! This layer knows rows at a sequence number and nothing of files; docs/documents-format.md has its rows.
//!
//! The shape (every name is exported from here):
//!
//! ```text
//! Store            Store::on(Arc<dyn Engine>)?, Store::memory(), .engine(), .collection("name")?,
//!                  .collections(At)? -> Vec<CollectionInfo{name, indexes, retention}>, .drop_collection("name")? -> bool,
//!                  .resolve(At)? -> Seq   .transaction(|tx| ..)?   .changes(since)?   .follow(since)
//!                  .typed::<T>()? -> Typed<T>   .diff_between(At, At)?   .restore_to(At)?   .compact()? -> Compacted
//! Collection       .get(id)? -> Option<Document>   .list(&ListOptions)? -> Documents (iterator)
//!                  .count()?   .history(id)? -> Vec<Revision>
//!                  .find(&Query)? -> Found (iterator of documents; .plan(), .cursor())
//!                  .select(&Query)? -> Selected (iterator of values at paths; .plan(), .cursor())
//!                  .get_by(unique_index, &[Literal])? -> Option<Document>
//!                  .count_matching(&Query)?   .explain(&Query)? -> Plan (Display, .to_json(), .summary())
//!                  .revision(id, &rev)?   .at(At)? -> CollectionAt (the same reads, at that moment)
//!                  .put(id, body)?  .create(Option<id>, body)?  .replace(id, &rev, body)?  .delete(id, &rev)?
//!                  .restore(id, &rev)?      each -> Written{id, rev, seq, time}
//!                  .patch(id, Expect, &JsonPatch)?  .merge_patch(id, Expect, text)?  .update(id, |body| ..)?
//!                  .upsert(id, |Option<body>| ..)?  .update_matching(&Query, ..)?  .delete_matching(&Query)?
//!                  .diff(id, from, to)? -> DocumentDiff   .diff_between(At, At)? -> CollectionDiff (iterator)
//!                  .restore_to(At)? -> Restored{restored, deleted, commits}   .restore_matching(&Query, At)?
//!                  .write(Write)?   .bulk(Vec<Write>)? -> Vec<Result<Written>>   .loader() -> Loader
//!                  .leaves(id)? -> Vec<Leaf{rev, deleted}> (winner first)   .conflicts(id)?   .deleted_conflicts(id)?
//!                  .ancestry(id, &rev)? -> newest first   .get_revision(id, &rev)?   .revs_diff([(id, &revs)])?
//!                  .merge_revisions(Vec<ReplicatedWrite>)? -> Vec<Result<Option<Written>>>   .purge(id, &revs)?
//!                  .make(&[(setting, value)])? -> bool  .setting(name)?  .set_setting(name, Option<value>)?
//!                  .purges()?  .set_revs_limit(n)?  .put_local(name, body)?  .local(name)?  .delete_local(name)?
//!                  .create_index(IndexSpec, |BuildProgress{done, total}| ..)?   .drop_index(name)?
//!                  .indexes()? -> Vec<IndexInfo{spec, state}>
//!                  .set_retention(Retention::{Everything, Versions(n), Duration(d), HeadOnly})?   .retention()?
//! Typed<T>         T: DocumentType, by #[derive(Document)]: .get(id)? -> Option<T>  .get_by(unique_index, &[Literal])?
//!                  .entry(id)?  .put(&T)?  .create(&T)?
//!                  .replace(&rev, &T)?  .delete(id, &rev)?  .update(id, |&mut T| ..)?  .upsert(id, |Option<T>| ..)?
//!                  .put_all(iter)?  .list(..)?  .find(..)?  .history(id)?  .at(At)?  .within(&tx)?  .untyped()
//!                  .with_migration(|from, body| ..)  .migrate_all(|MigrationProgress{seen, migrated}| ..)?
//! Write            Write::from_json(text)? (takes _id, _rev, _deleted out of it), Write::put(id, body)?,
//!                  Write::create(id, body)?, Write::replace(id, rev, body)?, Write::delete(id, rev)?;
//!                  .expecting(Expect::{Anything, Absent, Revision(rev), Leaf(rev)}), .with_id(id)
//! ReplicatedWrite  ReplicatedWrite::from_json(text)? (_id, _rev, _revisions, _deleted), ::new(id, rev, &ancestors, ..)?
//! Loader           .push(Write)? -> Vec<LoadFailure{number, id, error}>, .finish()? -> the last of them, .written()
//!                  .attach(name, Upload)?, .keep_attachments(), .detach(name), Write::same_body(id, Expect)?
//! Attachments      Collection::upload(impl Read, content_type)? -> Upload, .attach(id, Expect, name, type, impl Read)?,
//!                  .detach(id, &rev, name)?, .attachments(id)? -> Vec<AttachmentInfo>, .attachment(id, name)? ->
//!                  Option<AttachmentReader> (impl Read, .info(), .range(bytes), .stored())
//! Document         id, rev, seq, deleted, attachments, body: JSON text; .to_json() with _id and _rev
//! IndexSpec        new(name, path), unique(name, path), .then(path), .then_descending(path),
//!                  .only_where(Condition::new(path, values)), .collated(Collation::{Unicode, Binary})
//! Query            Query::new().matching(path, values).without(path).sort(path, Direction) (repeatedly)
//!                  .limit(n).skip(n).after(cursor).select([path]).collated(Collation)
//!                  .through(index).without_indexes().sort_bytes_max(n)
//! ChangeFilter     ChangeFilter::matching(query)?, ::ids([..])?, .testing(|document| ..), .and(&filter); for
//!                  .changes(..)?.filtered(&filter) and .follow(..).filtered(&filter)
//! values           ValueRange, or ValueSet::one_of([v]), range.or(range)
//! ValueRange       equal(v), at_least(v), above(v), at_most(v), below(v), between(a, b), anything(),
//!                  prefix(text), of_type(JsonType); .and(range);
//!                  v: impl Into<Literal> (bool, numbers, &str; Literal::json(text)? for any JSON)
//! Path             "address.city".parse()?, "items[0].sku", "tags[]" (every element),
//!                  Path::from_segments(["a.b", "c"])?
//! ```
//!
//! Reads never wait for writers. A write without an expectation is tried again where others wrote
//! what it had read; a write with one fails with [`Error::Conflict`] where that does not hold (any more).

mod ancestry;
mod apply;
#[cfg(feature = "async")]
pub mod asynchronous;
mod at;
mod attachment;
mod byte_reader;
mod catalogue;
mod change_filter;
mod change_pages;
mod changes;
mod check;
mod collation;
mod collection;
mod condition;
mod cursor;
mod diff;
mod duplicates;
mod edit;
mod error;
mod find;
mod index;
mod index_keys;
mod index_rows;
mod index_spec;
pub mod json;
pub mod limits;
mod loader;
mod local;
mod lookup;
mod model;
mod plan;
mod planner;
mod purge;
mod query;
mod reader;
mod recent_commits;
mod replicate;
mod replicated;
mod restore;
mod retention;
mod rev_hash;
mod revid;
mod revision_tree;
mod settings;
mod settle;
mod side;
mod sorted;
mod store;
mod stored;
mod term;
mod time;
mod transaction;
#[cfg(feature = "typed")]
mod typed;
mod unicode;
mod view;
mod write;

pub use ancestry::{Conflicted, ConflictedDocument, RevisionStatus, RevsDiff};
pub use at::At;
pub use attachment::{AttachmentInfo, AttachmentReader, Encoding, Following, Upload};
pub use catalogue::IndexState;
pub use change_filter::ChangeFilter;
pub use changes::{Change, Changes, Follow, Position};
pub use check::{CheckProblem, CheckReport};
pub use collation::{Collation, JsonType};
pub use collection::Collection;
pub use condition::{Condition, Literal, ValueRange, ValueSet};
pub use cursor::Cursor;
pub use diff::{CollectionDiff, DocumentDiff, Version};
pub use duplicates::Duplicate;
pub use edit::Matched;
pub use error::{Error, Result};
pub use find::{Found, Selected, Selection};
pub use index::BuildProgress;
pub use index_spec::{IndexPart, IndexSpec};
pub use json::Path;
pub use loader::{LoadFailure, Loader};
pub use local::LocalDocument;
pub use model::{CollectionInfo, Counts, Document, IndexInfo, Revision, Staged, Written};
pub use plan::{Alternative, Plan, PlanSort};
pub use purge::Purge;
pub use query::Query;
pub use reader::{CollectionAt, Documents, History, ListOptions};
pub use replicated::ReplicatedWrite;
pub use restore::Restored;
pub use retention::Compacted;
pub use rev_hash::{AttachmentDigest, HashableBody, revision_id};
pub use revid::RevId;
pub use revision_tree::Leaf;
pub use store::{Store, open};
pub use time::format_time;
pub use transaction::{Transaction, TransactionCollection};
#[cfg(feature = "typed")]
pub use typed::{
    DeclaredIndex, DeclaredValues, DocumentType, Entry, MigrationProgress, Typed, TypedAt, TypedDocuments, TypedFound,
    TypedHistory, TypedRevision, TypedTransaction,
};
pub use write::{Expect, Write};

/// Declares the documents that a struct's values are. It has the name of what is read from a collection, and one
/// `use` brings both: the macro is used in `#[derive(Document)]` and the type everywhere else.
#[cfg(feature = "derive")]
pub use recension_derive::Document;
