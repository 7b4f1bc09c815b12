//! A collection: of the newest commit, of a past one, or inside of a transaction.

use std::sync::Arc;

use napi::bindgen_prelude::{AsyncTask, Buffer};
use napi_derive::napi;
use recension::json::quote;
use recension::{At, Expect, IndexSpec, ReplicatedWrite, RevId, RevisionStatus, Write};
use recension_bindings::{Place, Refused, Result, respelled};

use crate::job::{Job, promise, told};
use crate::query_options::QueryOptions;
use crate::rows::Rows;

/// A collection.
#[napi]
pub struct Collection {
    shared: Arc<Shared>,
}

struct Shared {
    place: Place,
    name: String,
}

impl Collection {
    pub(crate) fn new(place: Place, name: String) -> Self {
        Collection { shared: Arc::new(Shared { place, name }) }
    }

    fn with<T: Send>(&self, does: impl FnOnce(&Shared) -> Result<T> + Send + 'static) -> AsyncTask<Job<T>>
    where
        Job<T>: napi::Task,
    {
        let shared = Arc::clone(&self.shared);
        promise(move || does(&shared))
    }

    fn rows<I>(&self, make: impl FnOnce(&Shared) -> Result<I> + Send + 'static) -> Rows
    where
        I: Iterator<Item = recension::Result<String>> + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        Rows::later(move || make(&shared))
    }
}

fn answered(written: &recension::Result<(String, RevId)>) -> String {
    match written {
        Ok((id, rev)) => format!(r#"{{"id":{},"rev":"{rev}"}}"#, quote(id)),
        Err(error) => format!(r#"{{"error":{}}}"#, told(&Refused::Store(error.clone()))),
    }
}

fn whole(document: &recension::Document<'_>) -> String {
    document.to_json()
}

fn id_and_rev(document: &recension::Document<'_>) -> String {
    format!(r#"{{"id":{},"rev":"{}","deleted":{}}}"#, quote(&document.id), document.rev, document.deleted)
}

impl Shared {
    /// A write of a document's text. `creates`: one without `_rev` makes a document that is not there yet. `exact`:
    /// whether large integers were read as they are; none if all numbers were.
    fn write_of(&self, text: &str, creates: bool, exact: Option<bool>) -> Result<Write> {
        let write = Write::from_json(text)?;
        let anything = write.expectation() == Expect::Anything;
        let write = if anything && creates { write.expecting(Expect::Absent) } else { write };
        match exact {
            Some(exact) => self.place.unchanged_numbers(&self.name, write, exact),
            None => Ok(write),
        }
    }
}

#[napi]
impl Collection {
    /// A document, as JSON.
    #[napi(ts_return_type = "Promise<string | null>")]
    pub fn get(&self, id: String, at: Option<String>) -> AsyncTask<Job<Option<String>>> {
        self.with(move |on| {
            let found = match at {
                None => on.place.get(&on.name, &id)?.map(|document| document.to_json()),
                Some(at) => on.place.read(&on.name, at.parse()?, |collection| {
                    Ok(collection.get(&id)?.map(|document| document.to_json()))
                })?,
            };
            Ok(found)
        })
    }

    /// Writes a document; answers its id and its revision.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn write(&self, document: String, creates: bool, exact: Option<bool>) -> AsyncTask<Job<String>> {
        self.with(move |on| {
            let write = on.write_of(&document, creates, exact)?;
            Ok(answered(&Ok(on.place.write(&on.name, write)?)))
        })
    }

    /// Deletes a document.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn delete(&self, id: String, rev: String) -> AsyncTask<Job<String>> {
        self.with(move |on| Ok(answered(&Ok(on.place.write(&on.name, Write::delete(&id, &rev.parse()?)?)?))))
    }

    /// Many writes in one commit; for each its id and revision, or what refuses it.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn write_many(
        &self,
        documents: Vec<String>,
        creates: bool,
        exact: Option<bool>,
    ) -> AsyncTask<Job<Vec<String>>> {
        self.with(move |on| {
            let writes = documents.iter().map(|text| on.write_of(text, creates, exact)).collect::<Result<Vec<_>>>()?;
            let written = on.place.itself(&on.name)?.bulk(writes)?;
            Ok(written.into_iter().map(|one| answered(&one.map(|one| (one.id, one.rev)))).collect())
        })
    }

    /// Merges revisions that other replicas have made (`_id`, `_rev`, `_revisions`); for each `{}`, or what refuses it.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn merge(&self, documents: Vec<String>) -> AsyncTask<Job<Vec<String>>> {
        self.with(move |on| {
            let read: Vec<_> = documents.iter().map(ReplicatedWrite::from_json).collect();
            let good: Vec<_> = read.iter().filter_map(|write| write.as_ref().ok().cloned()).collect();
            let mut merged = on.place.itself(&on.name)?.replication().merge_revisions(good)?.into_iter();
            let answers = read.into_iter().map(|write| match write {
                Err(error) => answered(&Err(error)),
                Ok(_) => match merged.next() {
                    Some(Err(error)) => answered(&Err(error)),
                    _ => "{}".to_owned(),
                },
            });
            Ok(answers.collect())
        })
    }

    /// Takes leaves of a document away.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn purge(&self, id: String, revs: Vec<String>) -> AsyncTask<Job<Vec<String>>> {
        self.with(move |on| {
            let revs = revs.iter().map(|rev| rev.parse()).collect::<recension::Result<Vec<RevId>>>()?;
            let purged = on.place.itself(&on.name)?.replication().purge(&id, &revs)?;
            Ok(purged.iter().map(ToString::to_string).collect())
        })
    }

    /// Documents by id.
    #[napi]
    pub fn list(&self, asked: String) -> Rows {
        self.rows(move |on| {
            let asked = QueryOptions::read(&asked)?;
            let found = on.place.read(&on.name, asked.at()?, |collection| collection.list(&asked.list()))?;
            let told = if asked.ids { id_and_rev } else { whole };
            Ok(found.map(move |document| document.map(|document| told(&document))))
        })
    }

    /// The documents that a query asks for.
    #[napi]
    pub fn find(&self, asked: String) -> Rows {
        self.rows(move |on| {
            let asked = QueryOptions::read(&asked)?;
            let (query, at) = (asked.query()?, asked.at()?);
            let found: Box<dyn Iterator<Item = _> + Send> = if asked.fields.is_some() {
                let selected = on.place.read(&on.name, at, |collection| collection.select(&query))?;
                Box::new(selected.map(|row| row.map(|row| row.to_json())))
            } else {
                let found = on.place.read(&on.name, at, |collection| collection.find(&query))?;
                Box::new(found.map(|document| document.map(|document| whole(&document))))
            };
            Ok(found)
        })
    }

    /// One page of them, and the cursor of the next one.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn page(&self, asked: String) -> AsyncTask<Job<String>> {
        self.with(move |on| {
            let asked = QueryOptions::read(&asked)?;
            let query = asked.query()?;
            let page = on.place.read(&on.name, asked.at()?, |collection| collection.page(&query))?;
            let documents: Vec<_> = page.documents.iter().map(recension::Document::to_json).collect();
            let next = page.next.map_or_else(|| "null".to_owned(), |next| quote(&next.to_string()));
            Ok(format!(r#"{{"documents":[{}],"next":{next}}}"#, documents.join(",")))
        })
    }

    /// How many documents there are, or a query asks for.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn count(&self, asked: String) -> AsyncTask<Job<i64>> {
        self.with(move |on| {
            let asked = QueryOptions::read(&asked)?;
            let query = asked.query()?;
            let count = on.place.read(&on.name, asked.at()?, |collection| {
                if query == recension::Query::new() { collection.count() } else { collection.count_matching(&query) }
            })?;
            Ok(count.cast_signed())
        })
    }

    /// The rows of a pipeline.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn aggregate(&self, asked: String) -> AsyncTask<Job<Vec<String>>> {
        self.with(move |on| {
            let asked = QueryOptions::read(&asked)?;
            let (query, pipeline) = (asked.query()?, asked.pipeline()?);
            on.place.read(&on.name, asked.at()?, |collection| collection.aggregate(&query, &pipeline))
        })
    }

    /// How a query is carried out.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn explain(&self, asked: String) -> AsyncTask<Job<String>> {
        self.with(move |on| {
            let query = QueryOptions::read(&asked)?.query()?;
            on.place.read(&on.name, At::Now, |collection| Ok(collection.explain(&query)?.to_json()))
        })
    }

    /// Every revision of a document, newest first.
    #[napi]
    pub fn history(&self, id: String) -> Rows {
        self.rows(move |on| {
            let found = on.place.read(&on.name, At::Now, |collection| collection.history(&id))?;
            Ok(found.map(move |revision| {
                let revision = revision?;
                let document = if revision.deleted { "null".to_owned() } else { revision.to_json(&id) };
                let (rev, seq, deleted) = (revision.rev, revision.seq.0, revision.deleted);
                let time = recension::format_time(revision.time);
                Ok(format!(
                    r#"{{"rev":"{rev}","seq":{seq},"time":"{time}","deleted":{deleted},"document":{document}}}"#
                ))
            }))
        })
    }

    /// One revision, as JSON.
    #[napi(ts_return_type = "Promise<string | null>")]
    pub fn revision(&self, id: String, rev: String) -> AsyncTask<Job<Option<String>>> {
        self.with(move |on| {
            let rev = rev.parse()?;
            let found = on.place.read(&on.name, At::Now, |collection| collection.get_revision(&id, &rev))?;
            Ok(found.map(|found| found.to_json(&id)))
        })
    }

    /// The leaves of a document's tree of revisions, the winner first, each with its ancestors and what is kept:
    /// `[{deleted, path: [[rev, "available" | "missing" | "deleted"]]}]`.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn leaves(&self, id: String) -> AsyncTask<Job<String>> {
        self.with(move |on| {
            on.place.read(&on.name, At::Now, |collection| {
                let mut leaves = Vec::new();
                for leaf in collection.leaves(&id)? {
                    let path = collection.ancestry_status(&id, &leaf.rev)?.unwrap_or_default();
                    let path: Vec<_> = path
                        .iter()
                        .map(|(rev, status)| {
                            let status = match status {
                                RevisionStatus::Available => "available",
                                RevisionStatus::Deleted => "deleted",
                                RevisionStatus::Missing => "missing",
                            };
                            format!(r#"["{rev}","{status}"]"#)
                        })
                        .collect();
                    leaves.push(format!(r#"{{"deleted":{},"path":[{}]}}"#, leaf.deleted, path.join(",")));
                }
                Ok(format!("[{}]", leaves.join(",")))
            })
        })
    }

    /// The losing leaves that are not deletions.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn conflicts(&self, id: String) -> AsyncTask<Job<Vec<String>>> {
        self.with(move |on| {
            let found = on.place.read(&on.name, At::Now, |collection| collection.conflicts(&id))?;
            Ok(found.iter().map(ToString::to_string).collect())
        })
    }

    /// The bytes of an attachment.
    #[napi(ts_return_type = "Promise<Buffer | null>")]
    pub fn attachment(&self, id: String, name: String, rev: Option<String>) -> AsyncTask<Job<Option<Buffer>>> {
        self.with(move |on| {
            let rev = rev.map(|rev| rev.parse()).transpose()?;
            Ok(on.place.attachment(&on.name, &id, &name, rev.as_ref())?.map(Into::into))
        })
    }

    /// A local document, as JSON.
    #[napi(ts_return_type = "Promise<string | null>")]
    pub fn local(&self, name: String) -> AsyncTask<Job<Option<String>>> {
        self.with(move |on| Ok(on.place.itself(&on.name)?.locals().get(&name)?.map(|found| found.to_json())))
    }

    /// Writes a local document; answers its revision.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn put_local(&self, name: String, document: String, exact: Option<bool>) -> AsyncTask<Job<String>> {
        self.with(move |on| {
            let collection = on.place.itself(&on.name)?;
            let document = match (exact, collection.locals().get(&name)?) {
                (Some(exact), Some(old)) => respelled(&old.body, &document, exact).unwrap_or(document),
                _ => document,
            };
            Ok(format!("0-{}", collection.locals().put(&name, document)?))
        })
    }

    /// Deletes a local document.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn delete_local(&self, name: String) -> AsyncTask<Job<()>> {
        self.with(move |on| Ok(on.place.itself(&on.name)?.locals().delete(&name)?))
    }

    /// A setting of the collection.
    #[napi(ts_return_type = "Promise<string | null>")]
    pub fn setting(&self, name: String) -> AsyncTask<Job<Option<String>>> {
        self.with(move |on| Ok(on.place.itself(&on.name)?.settings().get(&name)?))
    }

    /// Sets a setting of the collection, which comes into being by that.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn set_setting(&self, name: String, value: String) -> AsyncTask<Job<()>> {
        self.with(move |on| Ok(on.place.itself(&on.name)?.settings().set(&name, Some(&value))?))
    }

    /// Makes an index.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn create_index(&self, name: String, paths: Vec<String>, unique: bool) -> AsyncTask<Job<()>> {
        self.with(move |on| {
            let Some((first, others)) = paths.split_first() else {
                return Err(Refused::Wrong("an index is on one path or several"));
            };
            let first = first.as_str();
            let spec = if unique { IndexSpec::unique(name, first) } else { IndexSpec::new(name, first) };
            let spec = others.iter().fold(spec, |spec, path| spec.then(path.as_str()));
            Ok(on.place.itself(&on.name)?.create_index(spec, |_| {})?)
        })
    }

    /// Drops an index.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn drop_index(&self, name: String) -> AsyncTask<Job<()>> {
        self.with(move |on| Ok(on.place.itself(&on.name)?.drop_index(&name)?))
    }

    /// Its indexes, each as JSON.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn indexes(&self) -> AsyncTask<Job<Vec<String>>> {
        self.with(move |on| {
            let found = on.place.read(&on.name, At::Now, |collection| Ok(collection.indexes()))?;
            let told = found.into_iter().map(|index| {
                let paths: Vec<_> = index.spec.parts.iter().map(|part| quote(&part.path.to_string())).collect();
                let (name, unique) = (quote(&index.spec.name), index.spec.unique);
                format!(r#"{{"name":{name},"paths":[{}],"unique":{unique}}}"#, paths.join(","))
            });
            Ok(told.collect())
        })
    }
}
