//! Documents over the engine contract: collections, revisions, history, indexes, queries. This layer knows rows at a
//! sequence number and nothing of files; docs/documents-format.md has its rows.
//!
//! The shape (every name is exported from here):
//!
//! ```text
//! Store            Store::on(Arc<dyn Engine>)?, Store::memory(), .engine(), .collection("name")?,
//!                  .collections(At)? -> Vec<CollectionInfo{name, indexes, retention}>, .drop_collection("name")? -> bool,
//!                  .dropped_collections()?  .dropped_collection(number, At)? -> CollectionAt  .collection_as_of("name", At)?
//!                  .resolve(At)? -> Seq   .transaction(|tx| ..)?   .changes(since)?   .follow(since)
//!                  .typed::<T>()? -> Typed<T>   .diff_between(At, At)?   .restore_to(At)?   .compact()? -> Compacted
//!                  .create_collection_key("name", CollectionKeyOptions)?   .destroy_collection_key("name")?
//!                  .collection_keys() -> Vec<TreeKey>
//! Collection       .get(id)? -> Option<Document>   .list(&ListOptions)? -> Documents (iterator)
//!                  .count()?   .history(id)? -> Vec<Revision>
//!                  .find(&Query)? -> Found (iterator of documents; .plan(), .cursor())
//!                  .select(&Query)? -> Selected (iterator of values at paths; .plan(), .cursor())
//!                  .get_by(unique_index, &[Literal])? -> Option<Document>
//!                  .page(&Query)? -> Page{documents, next: Option<Cursor>}   .count_matching(&Query)?
//!                  .explain(&Query)? -> Plan (Display, .to_json(), .summary())
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
//!                  .set_expiry(Option<path>)?  .expiry()?
//!                  .set_schema(Option<Schema>)?  .schema()?  .schema_history()?  .at(At)?.check_schema(&schema, since, ..)?
//!                  .set_access(&[path])?  .build_access(&stop)?  .at(At)?.access()? -> Option<AccessAt>: .marks(..)
//!                  .changes(&marks, &Position)? -> (id, Position)  .ids(&marks, from, to, Direction)? -> ids
//!                  .erase([id])? -> Erasure{seq, documents}   .erasures()?
//!                  .purges()?  .set_revs_limit(n)?  .put_local(name, body)?  .local(name)?  .delete_local(name)?
//!                  .create_index(IndexSpec, |BuildProgress{done, total}| ..)?   .drop_index(name)?
//!                  .indexes()? -> Vec<IndexInfo{spec, state}>   .building()? -> Vec<(name, BuildProgress)>
//!                  .set_retention(Retention::{Everything, Versions(n), Duration(d), HeadOnly})?   .retention()?
//! Typed<T>         T: DocumentType, by #[derive(Document)]: .get(id)? -> Option<T>  .get_by(unique_index, &[Literal])?
//!                  .entry(id)?  .put(&T)?  .create(&T)?
//!                  .replace(&rev, &T)?  .delete(id, &rev)?  .update(id, |&mut T| ..)?  .upsert(id, |Option<T>| ..)?
//!                  .put_all(iter)?  .list(..)?  .find(..)?  .history(id)?  .at(At)?  .within(&tx)?  .untyped()
//!                  .page(&Query)?  .update_matching(&Query, |&mut T| changed?)?  .delete_matching(&Query)?
//!                  .with_migration(|from, body| ..)  .migrate_all(|MigrationProgress{seen, migrated}| ..)?
//! Write            Write::from_json(text)? (takes _id, _rev, _deleted out of it), Write::put(id, body)?,
//!                  Write::create(id, body)?, Write::replace(id, rev, body)?, Write::delete(id, rev)?;
//!                  .expecting(Expect::{Anything, Absent, Revision(rev), Leaf(rev)}), .with_id(id)
//! ReplicatedWrite  ReplicatedWrite::from_json(text)? (_id, _rev, _revisions, _deleted), ::new(id, rev, &ancestors, ..)?
//! Loader           .push(Write)? -> Vec<LoadFailure{number, id, error}>, .finish()? -> the last of them, .written()
//!                  .attach(name, Upload)?, .keep_attachments(), .detach(name), Write::same_body(id, Expect)?
//! Keys             store.keys("name")?, tx.keys("name")?: .get(key)?  .entry(key)?  .set(key, value)?
//!                  .set_with(key, value, &SetOptions::new().expiry(..).only_if_absent())? -> SetOutcome{written, previous}
//!                  .remove(key)? -> Option<KeyEntry>  .increment(key, by)?  .decrement(key, by)?  .increment_float(key, by)?
//!                  .compare_and_set(key, Option<expected>, value)?  .expire(key, Expiry)?  .scan(prefix, after, limit)?
//!                  .at(At)? -> KeysAt  .clear()?  .sweep()?  .with_durability(Durability)  .set_retention(Retention)?
//! Topics           store.topics(): .publish(topic, payload)? -> how many heard it   .subscriber() -> Subscriber{
//!                  .subscribe(topic)?  .subscribe_pattern("orders.*")?  .try_next()  .next_timeout(d)  .poll_next(cx)}
//! Consumer         .consumer("name", ConsumerOptions::new().since(..).dead_letters("collection", 5))?: .receive(max)?
//!                  .receive_timeout(max, d)?  .acknowledge(&delivery)?  .give_back(&delivery, d)?  .status()?  .forget()?
//! Watch            Collection::watch(&Query)? -> (documents, Watch): .try_next()? -> ResultChange::{Entered, Changed, Left}
//! Attachments      Collection::upload(impl Read, content_type)? -> Upload, .attach(id, Expect, name, type, impl Read)?,
//!                  .detach(id, &rev, name)?, .attachments(id)? -> Vec<AttachmentInfo>, .attachment(id, name)? ->
//!                  Option<AttachmentReader> (impl Read, .info(), .range(bytes), .stored())
//! Document         id, rev, seq, deleted, attachments, body: JSON text; .to_json() with _id and _rev
//! IndexSpec        new(name, path), unique(name, path), .then(path), .then_descending(path),
//!                  .only_where(Condition::new(path, values)), .collated(Collation::{Unicode, Binary})
//! Query            Query::new().matching(path, values).without(path).sort(path, Direction) (repeatedly)
//!                  .limit(n).skip(n).after(cursor).select([path]).collated(Collation)
//!                  .among(AccessMarks).through(index).without_indexes().sort_bytes_max(n)
//! ChangeFilter     ChangeFilter::matching(query)?, ::ids([..])?, .testing(|document| ..), .and(&filter); for
//!                  .changes(..)?.filtered(&filter) and .follow(..).filtered(&filter)
//!                  .selecting(selector)   .highlights(body, &Highlighting{before, after, chars}) -> Highlights
//! Selector         Selector::from_json(mango)?, ::at(path, values), ::all([..]), ::any([..]), ::not(selector), ::none([..]),
//!                  ::absent(path), ::contains(path, part), ::matches(path, regex)?, ::some_element(path, selector), ..
//! Schema           Schema::from_json(text)?, .check(id, body)?
//! values           ValueRange, or ValueSet::one_of([v]), range.or(range)
//! ValueRange       equal(v), at_least(v), above(v), at_most(v), below(v), between(a, b), anything(),
//!                  prefix(text), of_type(JsonType); .and(range);
//!                  v: impl Into<Literal> (bool, numbers, &str; Literal::json(text)? for any JSON)
//! Path             "address.city", "items[0].sku", "tags[]" (every element): a text is taken wherever a path is
//!                  (IntoPath) and refused where it is used; "a.b".parse::<Path>()?, Path::from_segments(["a.b", "c"])?
//! ```
//!
//! Reads never wait for writers. If others wrote what a write had read, the write is tried again. A write with an
//! expectation fails with [`Error::Conflict`] if the expectation does not hold, or not any more.

mod faces;
mod kernel;
mod values;

#[cfg(feature = "async")]
pub use self::faces::asynchronous;
pub use self::values::{json, limits};

pub use self::faces::changes::{Changes, Follow};
pub use self::faces::check::{CheckProblem, CheckReport};
pub use self::faces::collection::Collection;
pub use self::faces::collection_keys::CollectionKeyOptions;
pub use self::faces::consumer::{Consumer, ConsumerOptions, ConsumerStatus, Delivery, HandedOut};
pub use self::faces::diff::{CollectionDiff, DocumentDiff, Version};
pub use self::faces::edit::Matched;
pub use self::faces::indexes::BuildProgress;
pub use self::faces::keys::Keys;
pub use self::faces::keys_at::KeysAt;
pub use self::faces::keys_in_transaction::TransactionKeys;
pub use self::faces::loader::{LoadFailure, Loader};
pub use self::faces::local::LocalDocument;
pub use self::faces::past::DroppedCollection;
pub use self::faces::purge::Purge;
pub use self::faces::restore::Restored;
pub use self::faces::retention::Compacted;
pub use self::faces::schema::{SchemaCheck, SchemaVersion};
pub use self::faces::store::{OpenOptions, Store, open, open_read_only};
pub use self::faces::topics::{Message, Received, Subscriber, Topics};
pub use self::faces::transaction::{Transaction, TransactionCollection};
#[cfg(feature = "typed")]
pub use self::faces::typed::{
    DeclaredIndex, DeclaredValues, DocumentType, DocumentView, Entry, MigrationProgress, Typed, TypedAt,
    TypedDocuments, TypedFound, TypedHistory, TypedRevision, TypedTransaction, TypedView, TypedViewRow, TypedViewRows,
};
pub use self::faces::views::ViewInfo;
pub use self::faces::watch::{ResultChange, Watch};
pub use self::kernel::attachment::AttachmentReader;
pub use self::kernel::changes::change::{Change, Position};
pub use self::kernel::changes::filter::ChangeFilter;
pub use self::kernel::query::find::{Found, Selected, Selection};
pub use self::kernel::query::page::Page;
pub use self::kernel::read::access::{AccessAt, AccessChanges, AccessIds};
pub use self::kernel::read::ancestry::{Conflicted, ConflictedDocument, RevisionStatus, RevsDiff};
pub use self::kernel::read::duplicates::Duplicate;
pub use self::kernel::read::erased_rows::EraseProgress;
pub use self::kernel::read::reader::{CollectionAt, Documents, History, ListOptions};
pub use self::kernel::rows::erasure::Erasure;
pub use self::kernel::rows::view_rows::ViewRow;
pub use self::kernel::view::ahead::ReducedBlocks;
pub use self::kernel::view::mapper::{MapInput, Mapper, View};
pub use self::kernel::view::range::{ViewEdge, ViewRange};
pub use self::kernel::view::read::{ViewAt, ViewRows};
pub use self::kernel::view::reduced::{Grouping, ReducedRow, Reducer, Reduction, ViewGroups};
pub use self::values::access::AccessMarks;
pub use self::values::at::At;
pub use self::values::attachment::{AttachmentInfo, Encoding, Following, Upload};
pub use self::values::collation::{Collation, JsonType};
pub use self::values::condition::{Condition, Literal, ValueRange, ValueSet};
pub use self::values::cursor::Cursor;
pub use self::values::error::{Error, Result};
pub use self::values::glob::Glob;
pub use self::values::guard::{Actor, Guard, Proposed, Validator};
pub use self::values::index_spec::{IndexPart, IndexSpec};
pub use self::values::json::{IntoPath, Path};
pub use self::values::key_value::{Expiry, KeyCondition, KeyEntry, KeyValue, SetOptions, SetOutcome};
pub use self::values::model::{CollectionInfo, Counts, Document, IndexInfo, IndexState, Revision, Staged, Written};
pub use self::values::pipeline::{Fold, Pipeline};
pub use self::values::plan::{Alternative, Plan, PlanSort};
pub use self::values::query::Query;
pub use self::values::reduce::BuiltIn;
pub use self::values::replicated::ReplicatedWrite;
pub use self::values::rev_hash::{AttachmentDigest, HashableBody, revision_id};
pub use self::values::revid::RevId;
pub use self::values::revision_tree::Leaf;
pub use self::values::schema::Schema;
pub use self::values::selector::{Highlighting, Highlights, Selector, SelectorTest};
pub use self::values::text::{Language, TextQuery};
pub use self::values::time::format_time;
pub use self::values::view::{Emitted, Signature, ViewOptions};
pub use self::values::write::{Expect, Write};

/// Declares the documents that a struct's values are. The macro has the name of the type that is read from a
/// collection, so one `use` brings both: `#[derive(Document)]` uses the macro, and everything else the type.
#[cfg(feature = "derive")]
pub use recension_derive::Document;
