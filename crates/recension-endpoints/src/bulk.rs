//! `_bulk_docs`: many documents in one commit, with a row for each.

use std::collections::{HashMap, HashSet};

use http::StatusCode;
use recension::json::quote;
use recension::{Error, ReplicatedWrite, RevId, Write, Written};
use serde_json::value::RawValue;

use super::body::{distinct_members_of, elements, member, refuse_misspelt};
use super::incoming::{self, Incoming};
use super::within::{Limited, edited, is_made_up};
use recension_app::auth::databases::Database;
use recension_app::identity::random::new_uuid;
use recension_app::request::{Request, only};
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};
use recension_wire::threads::{Asker, asker};

/// `/{db}/_bulk_docs`
pub async fn endpoint(mut request: Request, db: Database, within: Limited) -> Result<Answer> {
    only(&request, "POST")?;
    request.require_json()?;
    let body = request.bytes().await?;
    let max = request.app.settings.live().max_document_size;
    // Parsing many documents takes long, so it runs on a thread that may block.
    let atomic = request.query.flag("atomic")?;
    if atomic && within.is_some() {
        return Err(super::access::refused());
    }
    let (asker, waits) = asker();
    let writer = Bulk { db, max, within };
    let answer = request.app.blocking(move || writer.answer(&body, atomic, &asker)).await;
    drop(waits);
    answer
}

/// The writing of many documents.
struct Bulk {
    db: Database,
    max: usize,
    within: Limited,
}

impl Bulk {
    fn answer(&self, body: &[u8], atomic: bool, asker: &Asker) -> Result<Answer> {
        let members = distinct_members_of(body)?;
        if member(&members, "atomic").is_some() {
            return Err(ApiError::bad_request("`atomic` stands in the query: _bulk_docs?atomic=true"));
        }
        let known = ["docs", "new_edits", "all_or_nothing"];
        let docs = member(&members, "docs")
            .ok_or_else(|| ApiError::bad_request("POST body must include `docs` parameter."))?;
        refuse_misspelt(members.iter().map(|(name, _)| name.as_str()), &known)?;
        let docs = elements(docs)?.ok_or_else(|| ApiError::bad_request("`docs` parameter must be an array."))?;
        let new_edits = match member(&members, "new_edits").map(RawValue::get) {
            None | Some("true") => true,
            Some("false") => false,
            Some(_) => return Err(ApiError::bad_request("`new_edits` parameter must be a boolean.")),
        };
        if member(&members, "all_or_nothing").map(RawValue::get) == Some("true") {
            return refuse_all_or_nothing(&docs, self.max);
        }
        if atomic {
            return if new_edits {
                all_or_none(&self.db, &docs, self.max)
            } else {
                Err(ApiError::bad_request("atomic needs new edits"))
            };
        }
        let rows = if new_edits { self.edit(&docs)? } else { self.merge(&docs, asker)? };
        Ok(Answer::json(StatusCode::CREATED, format!("[{}]", rows.join(","))))
    }
}

/// The result of reading one document of many.
enum Item<W> {
    /// It is written with the others.
    Written(W),
    /// It is a local document.
    Local(String, String),
    /// Its row is known already.
    Row(String),
}

/// Reads a document. `read` refuses local ones because of their ids; they are read here.
fn item<W>(doc: &RawValue, read: impl FnOnce(&[u8]) -> Result<W>) -> Result<Item<W>> {
    let text = doc.get().as_bytes();
    match read(text) {
        Ok(write) => Ok(Item::Written(write)),
        Err(error) => match incoming::is_local(text) {
            Some(name) => Ok(Item::Local(name, incoming::local(text)?)),
            None => Err(error),
        },
    }
}

impl Bulk {
    fn edit(&self, docs: &[&RawValue]) -> Result<Vec<String>> {
        let db = &self.db;
        let read = |doc: &&RawValue| -> Result<Item<Write>> {
            Ok(match item(doc, |text| Incoming::parse(text, self.max))? {
                Item::Written(incoming) => {
                    let id = incoming.write.id().map_or_else(new_uuid, str::to_owned);
                    db.check_id(&id)?;
                    match db.may_write(&id) {
                        Ok(()) => Item::Written(edited(self.within.as_deref(), &id, incoming)?.write.renamed(&id)?),
                        Err(error) => Item::Row(error_row(&id, None, &error)),
                    }
                }
                Item::Local(name, text) => Item::Local(name, text),
                Item::Row(row) => Item::Row(row),
            })
        };
        // One bad document refuses them all, before anything is written.
        let mut items = docs.iter().map(read).collect::<Result<Vec<_>>>()?;
        let mut writes = Vec::with_capacity(items.len());
        for item in &mut items {
            if let Item::Written(write) = item {
                writes.push(write.clone());
            }
        }
        let mut results = db.collection().bulk(writes)?.into_iter();
        let row = |item: Item<Write>| match item {
            Item::Written(write) => match results.next() {
                Some(Ok(Written { id, rev, .. })) => receipt(&id, rev),
                Some(Err(error)) => error_row(write.id().unwrap_or_default(), None, &error.into()),
                None => error_row(write.id().unwrap_or_default(), None, &ApiError::conflict()),
            },
            Item::Local(name, text) => self.local_row(&name, &text),
            Item::Row(row) => row,
        };
        Ok(items.into_iter().map(row).collect())
    }

    /// Writes replicated revisions. Returns rows for the refused ones.
    fn merge(&self, docs: &[&RawValue], asker: &Asker) -> Result<Vec<String>> {
        let db = &self.db;
        let mut writes: Vec<ReplicatedWrite> = Vec::new();
        let mut rows = Vec::new();
        for doc in docs {
            match item(doc, |text| incoming::replicated(text, self.max))? {
                Item::Written(write) if is_made_up(self.within.as_deref(), write.id(), write.path()) => {}
                Item::Written(write) => {
                    db.check_id(write.id())?;
                    match db.may_write(write.id()) {
                        Ok(()) => writes.push(write),
                        Err(error) => {
                            rows.push(error_row(write.id(), write.path().first().map(ToString::to_string), &error));
                        }
                    }
                }
                Item::Local(name, text) => drop(self.local_row(&name, &text)),
                Item::Row(row) => rows.push(row),
            }
        }
        for writes in in_commits(writes) {
            asker.waits()?;
            let named: Vec<_> =
                writes.iter().map(|write| (write.id().to_owned(), write.path().first().copied())).collect();
            for (result, (id, rev)) in db.collection().replication().merge_revisions(writes)?.into_iter().zip(named) {
                if let Err(error) = result {
                    rows.push(error_row(&id, rev.map(|rev| rev.to_string()), &error.into()));
                }
            }
        }
        Ok(rows)
    }

    fn local_row(&self, name: &str, text: &str) -> String {
        let id = format!("_local/{name}");
        let own = self.within.as_ref().map_or_else(|| name.to_owned(), |within| within.local(name));
        match self.db.collection().locals().put(&own, text) {
            Ok(number) => receipt(&id, format_args!("0-{number}")),
            Err(error) => error_row(&id, None, &error.into()),
        }
    }
}

/// `atomic=true`, which CouchDB does not have: all documents are written, or none if one is refused; the error names
/// it.
fn all_or_none(db: &Database, docs: &[&RawValue], max: usize) -> Result<Answer> {
    let read = |doc: &&RawValue| -> Result<Write> {
        let write = Incoming::parse(doc.get().as_bytes(), max)?.write;
        let id = write.id().map_or_else(new_uuid, str::to_owned);
        db.may_write(&id)?;
        Ok(write.renamed(&id)?)
    };
    let writes = docs.iter().map(read).collect::<Result<Vec<_>>>()?;
    let collection = db.collection();
    let staged = collection.store().transaction(|transaction| {
        let within = transaction.collection(collection.name())?;
        if !within.reader()?.exists() {
            return Err(Error::NoSuchCollection { collection: collection.name().to_owned() });
        }
        writes.iter().map(|write| within.write(write.clone())).collect::<recension::Result<Vec<_>>>()
    });
    match staged {
        Ok(staged) => {
            let rows: Vec<String> = staged.iter().map(|staged| receipt(&staged.id, staged.rev)).collect();
            Ok(Answer::json(StatusCode::CREATED, format!("[{}]", rows.join(","))))
        }
        Err(Error::Conflict { id, .. }) => {
            let reason = format!("Document update conflict: {id}. Nothing was written.");
            Err(ApiError::new(StatusCode::CONFLICT, "conflict", reason))
        }
        Err(error) => Err(error.into()),
    }
}

/// The commits for replicated revisions: one, unless a revision comes together with one of its ancestors. `rev` finds
/// an ancestor's body only if a commit had it as a leaf, so that the ancestor goes into an earlier commit.
fn in_commits(writes: Vec<ReplicatedWrite>) -> Vec<Vec<ReplicatedWrite>> {
    let mut of_ids: HashMap<&str, Vec<(usize, &[RevId])>> = HashMap::new();
    for (number, write) in writes.iter().enumerate() {
        of_ids.entry(write.id()).or_default().push((number, write.path()));
    }
    let mut rounds = vec![0; writes.len()];
    for mut of_id in of_ids.into_values().filter(|of_id| of_id.len() > 1) {
        let ancestors: HashSet<RevId> = of_id.iter().flat_map(|(_, path)| path.iter().skip(1)).copied().collect();
        let stands_on_others = of_id.iter().any(|(_, path)| path.first().is_some_and(|rev| ancestors.contains(rev)));
        if stands_on_others {
            of_id.sort_by_key(|(_, path)| path.first().map(RevId::generation));
            // Each goes into the round after its last ancestor: sibling branches come together.
            let mut round_of: HashMap<RevId, usize> = HashMap::new();
            for (number, path) in of_id {
                let Some((newest, ancestors)) = path.split_first() else { continue };
                let round = ancestors.iter().filter_map(|rev| round_of.get(rev)).max().map_or(0, |round| round + 1);
                let known = round_of.entry(*newest).or_insert(round);
                *known = round.max(*known);
                if let Some(own) = rounds.get_mut(number) {
                    *own = round;
                }
            }
        }
    }
    let mut commits: Vec<Vec<ReplicatedWrite>> = Vec::new();
    commits.resize_with(rounds.iter().max().map_or(0, |last| last + 1), Vec::new);
    for (write, round) in writes.into_iter().zip(rounds) {
        if let Some(commit) = commits.get_mut(round) {
            commit.push(write);
        }
    }
    commits
}

fn error_row(id: &str, rev: Option<String>, error: &ApiError) -> String {
    let rev = rev.map_or(String::new(), |rev| format!("\"rev\":\"{rev}\","));
    format!("{{\"id\":{},{rev}\"error\":\"{}\",\"reason\":{}}}", quote(id), error.error, quote(&error.reason))
}

/// CouchDB's answer to `all_or_nothing`, which it has not supported since 2.0.
fn refuse_all_or_nothing(docs: &[&RawValue], max: usize) -> Result<Answer> {
    let error = ApiError::new(StatusCode::EXPECTATION_FAILED, "not_implemented", "all_or_nothing is not supported");
    let row = |doc: &&RawValue| {
        let Incoming { write, rev } = Incoming::parse(doc.get().as_bytes(), max)?;
        let id = write.id().map_or_else(new_uuid, str::to_owned);
        Ok(error_row(&id, Some(rev.map_or_else(|| "0-".to_owned(), |rev| rev.to_string())), &error))
    };
    let rows = docs.iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(Answer::json(StatusCode::EXPECTATION_FAILED, format!("[{}]", rows.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_that_stand_on_others_come_behind_them_and_branches_beside_each_other_together() {
        let write = |id: &str, path: &[&str]| {
            let path: Vec<RevId> = path.iter().map(|rev| rev.parse().unwrap()).collect();
            ReplicatedWrite::new(id, path[0], &path[1..], false, "{}").unwrap()
        };
        let writes = vec![
            write("a", &["3-c", "2-b", "1-a"]),
            write("a", &["2-x", "1-a"]),
            write("a", &["2-b", "1-a"]),
            write("b", &["2-b", "1-a"]),
            write("a", &["2-y", "1-a"]),
            write("a", &["3-y", "2-y", "1-a"]),
        ];
        let commits = in_commits(writes);
        let newest = |commit: &Vec<ReplicatedWrite>| {
            commit.iter().map(|write| format!("{} {}", write.id(), write.path()[0])).collect::<Vec<_>>().join(", ")
        };
        let commits: Vec<String> = commits.iter().map(newest).collect();
        assert_eq!(commits, ["a 2-x, a 2-b, b 2-b, a 2-y", "a 3-c, a 3-y"]);
    }
}
