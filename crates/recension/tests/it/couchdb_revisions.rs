//! What Apache CouchDB 3.4.3 answered about revisions, conflicts and purges (conformance/couchdb), asked of
//! the library. Steps that are about HTTP and not about documents are left out; each file says how many stay.

use std::collections::HashMap;

use recension::engine::Seq;
use recension::{
    At, Collection, CollectionAt, Error, Expect, Leaf, ReplicatedWrite, Result, RevId, RevisionStatus, Store, Write,
};
use serde_json::{Map, Value, json};

#[test]
fn trees_of_revisions_answer_as_couchdbs() {
    let scenarios = [
        ("revisions", "conflicts and winners", 21),
        ("revisions", "open_revs", 11),
        ("revisions", "winner rules", 11),
        ("purge", "_purge", 22),
        ("bulk", "_bulk_docs", 13),
        ("documents", "bad revisions", 15),
        ("documents", "local documents", 21),
        ("database", "counts", 9),
        ("database", "revs_limit", 10),
    ];
    let checked = scenarios.map(|(file, name, _)| (file, name, run(&scenario(file, name), &format!("{file}: {name}"))));
    assert_eq!(checked, scenarios);
}

fn scenario(file: &str, name: &str) -> Value {
    let path = format!("{}/../../../conformance/couchdb/{file}.json", env!("CARGO_MANIFEST_DIR"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let scenarios = file["scenarios"].as_array().unwrap();
    scenarios.iter().find(|scenario| scenario["name"] == name).expect("the scenario is there").clone()
}

/// Runs a scenario; returns how many of its steps were compared.
fn run(scenario: &Value, name: &str) -> usize {
    let mut session = Session {
        db: Store::memory().unwrap().collection("db").unwrap(),
        captured: HashMap::from([("db".to_owned(), "db".to_owned())]),
    };
    for step in scenario["setup"].as_array().unwrap() {
        session.answer(step);
    }
    let mut checked = 0;
    for step in scenario["steps"].as_array().unwrap() {
        let Some((status, body)) = session.answer(step) else { continue };
        let expected = &step["expect"];
        let statuses = expected["status"].as_array().cloned().unwrap_or_else(|| vec![expected["status"].clone()]);
        assert!(statuses.contains(&json!(status)), "{name}: {step}: answered {status} {body}");
        if let Some(expected) = expected.get("body").filter(|_| status < 400) {
            session.matches(expected, &body).unwrap_or_else(|why| panic!("{name}: {step}: {why}, answered {body}"));
        }
        checked += 1;
    }
    checked
}

struct Session {
    db: Collection,
    captured: HashMap<String, String>,
}

type Parameters = HashMap<String, String>;

impl Session {
    /// What a server would answer that has nothing but the library; `None` for what is not about that.
    fn answer(&mut self, step: &Value) -> Option<(u16, Value)> {
        let path = self.filled(step["path"].as_str().unwrap()).replace("%22", "\"");
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        let parameters: Parameters = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let body = match &step["body"] {
            Value::String(text) => serde_json::from_str(text).ok()?,
            body => serde_json::from_str(&self.filled(&body.to_string())).unwrap(),
        };
        if step["headers"].is_object() {
            return None;
        }
        if path.strip_prefix("/db/_local/").is_some_and(|name| name.contains('/')) {
            return None;
        }
        let path = path.replace("%2F", "/");
        let method = step["method"].as_str().unwrap();
        let answer = match (method, path.strip_prefix("/db")?.trim_start_matches('/')) {
            ("GET", "") => self.counts(),
            ("GET", "_changes") => self.changes(&parameters)?,
            ("GET", "_all_docs") => self.all_docs(&parameters),
            ("POST", "_bulk_docs") => self.bulk(&body)?,
            ("POST", "_purge") => self.purge(&body),
            ("GET", "_revs_limit") => self.db.settings().revs_limit().map(Value::from),
            ("PUT", "_revs_limit") => {
                body.as_u64().and_then(|limit| u32::try_from(limit).ok()).map_or(Err(bad("revs_limit")), |limit| {
                    self.db.settings().set_revs_limit(limit).map(|()| json!({"ok": true}))
                })
            }
            ("GET", "_purged_infos_limit") => self.db.settings().purges_limit().map(Value::from),
            ("PUT", "_purged_infos_limit") => body.as_u64().map_or(Err(bad("limit")), |limit| {
                self.db.settings().set_purges_limit(limit as u32).map(|()| json!({"ok": true}))
            }),
            ("GET", "_local_docs") => self.local_docs(&parameters),
            (method, id) if id.starts_with("_local/") => {
                self.local(method, &id["_local/".len()..], &body, &parameters)?
            }
            (_, id) if id.starts_with('_') && !id.starts_with("_design/") => return None,
            ("GET", id) => self.get(id, &parameters),
            ("PUT", id) => self.put(id, body, &parameters),
            ("DELETE", id) => self.delete(id, &parameters),
            _ => return None,
        };
        Some(match answer {
            Ok(body) => (if created(method, &step["body"], &path) { 201 } else { 200 }, body),
            Err(Error::Conflict { .. }) => (409, Value::Null),
            Err(error) if error.is_not_found() => (404, Value::Null),
            Err(_) => (400, Value::Null),
        })
    }

    fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.captured {
            text = text.replace(&format!("{{{{{name}}}}}"), value).replace(&format!("{{{name}}}"), value);
        }
        text
    }

    fn counts(&self) -> Result<Value> {
        let counts = self.db.counts()?;
        let (documents, deleted) = (counts.documents, counts.deleted);
        Ok(json!({"db_name": "db", "doc_count": documents, "doc_del_count": deleted, "compact_running": false}))
    }

    fn changes(&self, parameters: &Parameters) -> Option<Result<Value>> {
        let at = self.db.at(At::Now).unwrap();
        let all = parameters.get("style").is_some_and(|style| style == "all_docs");
        let mut rows = Vec::new();
        for change in at.changes(Seq::ZERO) {
            let change = change.unwrap();
            let mut leaves = at.leaves(&change.id).unwrap();
            assert_eq!((leaves[0].rev, leaves[0].deleted), (change.rev, change.deleted));
            leaves.truncate(if all { usize::MAX } else { 1 });
            let changes: Vec<Value> = leaves.iter().map(|leaf| json!({"rev": leaf.rev.to_string()})).collect();
            let mut row = json!({"seq": change.seq.0, "id": change.id, "changes": changes});
            if change.deleted {
                row["deleted"] = json!(true);
            }
            if parameters.contains_key("include_docs") {
                row["doc"] = revision_with(&at, &change.id, change.rev, parameters).unwrap()?;
            }
            rows.push(row);
        }
        // Documents of one commit come in the order of their ids here, and in that of the request in CouchDB.
        Some(Ok(json!({"results": rows, "last_seq": 0, "pending": 0})))
    }

    fn all_docs(&self, parameters: &Parameters) -> Result<Value> {
        let at = self.db.at(At::Now)?;
        let mut rows = Vec::new();
        for document in at.list(&recension::ListOptions::default())? {
            let document = document?;
            let (id, rev) = (&document.id, document.rev.to_string());
            let mut row = json!({"id": id, "key": id, "value": {"rev": rev}});
            if parameters.contains_key("include_docs") {
                row["doc"] = revision_with(&at, id, document.rev, parameters)?.unwrap();
            }
            rows.push(row);
        }
        Ok(json!({"total_rows": at.count()?, "offset": 0, "rows": rows}))
    }

    fn bulk(&self, body: &Value) -> Option<Result<Value>> {
        let documents = body["docs"].as_array().filter(|documents| documents.iter().all(Value::is_object))?;
        if body["new_edits"] == json!(false) {
            let writes = documents.iter().map(|document| ReplicatedWrite::from_json(document.to_string()).unwrap());
            for merged in self.db.replication().merge_revisions(writes).unwrap() {
                assert!(merged.unwrap().is_some(), "each of them is new");
            }
            return Some(Ok(json!([])));
        }
        if body.as_object().unwrap().len() > 1 {
            return None;
        }
        if let [document] = documents.as_slice()
            && let Some(name) = document["_id"].as_str().and_then(|id| id.strip_prefix("_local/"))
        {
            let number = self.db.locals().put(name, document.to_string());
            return Some(
                number.map(|number| json!([{"ok": true, "id": document["_id"], "rev": format!("0-{number}")}])),
            );
        }
        let writes = documents.iter().map(write_of);
        let writes: Vec<Write> = match writes.collect::<Result<_>>() {
            Ok(writes) => writes,
            Err(error) => return Some(Err(error)),
        };
        let ids: Vec<Option<String>> = writes.iter().map(|write| write.id().map(str::to_owned)).collect();
        let rows = self.db.bulk(writes).unwrap().into_iter().zip(ids).map(|(result, id)| match result {
            Ok(written) => json!({"ok": true, "id": written.id, "rev": written.rev.to_string()}),
            Err(Error::Conflict { .. }) => {
                json!({"id": id, "error": "conflict", "reason": "Document update conflict."})
            }
            Err(error) => panic!("{error}"),
        });
        Some(Ok(rows.collect()))
    }

    fn purge(&self, body: &Value) -> Result<Value> {
        let mut asked = Vec::new();
        for (id, revs) in body.as_object().ok_or(bad("purge"))? {
            let revs = revs.as_array().ok_or(bad("purge"))?;
            let revs: Result<Vec<RevId>> = revs.iter().map(|rev| rev.as_str().unwrap().parse()).collect();
            asked.push((id.clone(), revs?));
        }
        let purged = self.db.replication().purge_many(&asked)?;
        let text = |revs: Vec<RevId>| revs.iter().map(RevId::to_string).collect::<Vec<_>>();
        let purged: Map<String, Value> =
            asked.into_iter().zip(purged).map(|((id, _), revs)| (id, json!(text(revs)))).collect();
        Ok(json!({"purge_seq": self.db.at(At::Now)?.purge_seq()?.0, "purged": purged}))
    }

    fn get(&self, id: &str, parameters: &Parameters) -> Result<Value> {
        let at = self.db.at(At::Now)?;
        if let Some(open) = parameters.get("open_revs").filter(|open| *open != "[]") {
            let row = |(rev, found): (RevId, bool)| {
                let read = if found { revision_with(&at, id, rev, parameters)? } else { None };
                Ok(read.map_or(json!({"missing": rev.to_string()}), |document| json!({"ok": document})))
            };
            return open_revs(&at, id, open, parameters)?.into_iter().map(row).collect();
        }
        let rev = match parameters.get("rev").map(|rev| rev.parse::<RevId>()).transpose()? {
            Some(rev) if parameters.contains_key("latest") => at.latest(id, &rev)?.first().map(|leaf| leaf.rev),
            Some(rev) => Some(rev),
            None => at.get(id)?.map(|document| document.rev),
        };
        let read = rev.map_or(Ok(None), |rev| revision_with(&at, id, rev, parameters))?;
        read.ok_or(Error::NoSuchDocument { collection: String::new(), id: id.to_owned() })
    }

    fn put(&self, id: &str, mut body: Value, parameters: &Parameters) -> Result<Value> {
        if let Some(rev) = parameters.get("rev") {
            if body.get("_rev").is_some_and(|own| own != rev) {
                return Err(bad("another _rev"));
            }
            body["_rev"] = json!(rev);
        }
        let written = self.db.write(write_of(&body)?.with_id(id)?)?;
        Ok(json!({"ok": true, "id": id, "rev": written.rev.to_string()}))
    }

    fn delete(&self, id: &str, parameters: &Parameters) -> Result<Value> {
        self.put(id, json!({"_deleted": true}), parameters)
    }

    fn local(&self, method: &str, name: &str, body: &Value, parameters: &Parameters) -> Option<Result<Value>> {
        let id = format!("_local/{name}");
        let answer = |number: u64| json!({"ok": true, "id": id, "rev": format!("0-{number}")});
        Some(match method {
            "GET" => match self.db.locals().get(name).unwrap() {
                Some(document) => Ok(serde_json::from_str(&document.to_json()).unwrap()),
                None => Err(Error::NoSuchDocument { collection: String::new(), id }),
            },
            "PUT" => self.db.locals().put(name, body.to_string()).map(answer),
            "DELETE" => {
                assert!(parameters.len() < 2);
                self.db.locals().delete(name).map(|()| answer(0))
            }
            _ => return None,
        })
    }

    fn local_docs(&self, parameters: &Parameters) -> Result<Value> {
        let rows = self.db.locals().list()?.into_iter().map(|document| {
            let id = format!("_local/{}", document.name);
            let mut row = json!({"id": id, "key": id, "value": {"rev": document.rev()}});
            if parameters.contains_key("include_docs") {
                row["doc"] = serde_json::from_str(&document.to_json()).unwrap();
            }
            row
        });
        Ok(json!({"total_rows": null, "offset": null, "rows": rows.collect::<Vec<_>>()}))
    }

    /// Compares an answer with a recorded one; conformance's FORMAT has the matchers.
    fn matches(&mut self, expected: &Value, answer: &Value) -> std::result::Result<(), String> {
        let differ = || Err(format!("{expected} was expected, and here is {answer}"));
        match expected {
            Value::String(text) if self.filled(text) == *answer => Ok(()),
            Value::Array(expected) => match answer.as_array() {
                Some(answer) if answer.len() == expected.len() => {
                    expected.iter().zip(answer).try_for_each(|(expected, answer)| self.matches(expected, answer))
                }
                _ => differ(),
            },
            Value::Object(expected) if expected.contains_key("$any") => Ok(()),
            Value::Object(expected) if expected.contains_key("$type") || expected.contains_key("$match") => Ok(()),
            Value::Object(expected) if expected.contains_key("$capture") => {
                let text = answer.as_str().unwrap().to_owned();
                let name = expected["$capture"].as_str().unwrap();
                self.captured.insert(format!("{name}h"), text.split_once('-').unwrap().1.to_owned());
                self.captured.insert(name.to_owned(), text);
                expected.get("$is").map_or(Ok(()), |expected| self.matches(expected, answer))
            }
            Value::Object(expected) if expected.contains_key("$unordered") => {
                let mut left = answer.as_array().cloned().unwrap_or_default();
                for expected in expected["$unordered"].as_array().unwrap() {
                    let found = left.iter().position(|answer| self.matches(expected, answer).is_ok());
                    left.swap_remove(found.ok_or(format!("{expected} was expected"))?);
                }
                if left.is_empty() { Ok(()) } else { Err(format!("{left:?} was not expected")) }
            }
            Value::Object(expected) => {
                let Some(answer) = answer.as_object() else { return differ() };
                for (name, expected) in expected.iter().filter(|(name, _)| *name != "$more") {
                    let answer = answer.get(name).ok_or(format!("{name} is missing"))?;
                    self.matches(expected, answer)?;
                }
                match answer.keys().find(|name| !expected.contains_key(*name)) {
                    Some(name) if !expected.contains_key("$more") => Err(format!("{name} was not expected")),
                    _ => Ok(()),
                }
            }
            _ if expected == answer => Ok(()),
            _ => differ(),
        }
    }
}

/// A revision with what was asked for besides.
fn revision_with(at: &CollectionAt, id: &str, rev: RevId, parameters: &Parameters) -> Result<Option<Value>> {
    let asked = |name: &str| parameters.get(name).is_some_and(|value| value == "true");
    let Some(revision) = at.get_revision(id, &rev)? else { return Ok(None) };
    let mut document: Value = serde_json::from_str(&revision.to_json(id)).unwrap();
    let text = |revs: Vec<RevId>| revs.iter().map(RevId::to_string).collect::<Vec<_>>();
    let winner = at.leaves(id)?.first().is_some_and(|leaf| leaf.rev == rev);
    for (name, revs) in [("conflicts", at.conflicts(id)?), ("deleted_conflicts", at.deleted_conflicts(id)?)] {
        if (asked(name) || asked("meta")) && winner && !revs.is_empty() && !parameters.contains_key("open_revs") {
            document[format!("_{name}")] = json!(text(revs));
        }
    }
    if asked("revs") {
        let ids: Vec<String> = at.ancestry(id, &rev)?.unwrap().iter().map(RevId::suffix).collect();
        document["_revisions"] = json!({"start": rev.generation(), "ids": ids});
    }
    if asked("revs_info") || asked("meta") {
        let row = |(rev, status): (RevId, RevisionStatus)| {
            let status = match status {
                RevisionStatus::Available => "available",
                RevisionStatus::Deleted => "deleted",
                RevisionStatus::Missing => "missing",
            };
            json!({"rev": rev.to_string(), "status": status})
        };
        document["_revs_info"] = at.ancestry_status(id, &rev)?.unwrap().into_iter().map(row).collect();
    }
    if asked("local_seq") {
        document["_local_seq"] = json!(revision.seq.0);
    }
    Ok(Some(document))
}

fn created(method: &str, body: &Value, path: &str) -> bool {
    match method {
        "PUT" => body["_deleted"] != json!(true) && !path.ends_with("_limit"),
        "POST" => true,
        _ => false,
    }
}

/// CouchDB's rule: without `_rev` the document must not exist.
fn write_of(document: &Value) -> Result<Write> {
    let has_rev = document.get("_rev").is_some();
    let write = Write::from_json(document.to_string())?;
    Ok(if has_rev { write } else { write.expecting(Expect::Absent) })
}

fn bad(field: &'static str) -> Error {
    Error::BadField { field, expected: "something else" }
}

/// Which revisions `open_revs` asks for, and whether they can be there.
fn open_revs(at: &CollectionAt, id: &str, open: &str, parameters: &Parameters) -> Result<Vec<(RevId, bool)>> {
    if open == "all" {
        let leaves = at.leaves(id)?;
        if leaves.is_empty() {
            return Err(Error::NoSuchDocument { collection: String::new(), id: id.to_owned() });
        }
        return Ok(leaves.into_iter().map(|leaf| (leaf.rev, true)).collect());
    }
    let texts: Vec<String> = serde_json::from_str(open).map_err(|_| bad("open_revs"))?;
    let mut answer = Vec::new();
    for text in texts {
        let rev: RevId = text.parse()?;
        let latest: Vec<Leaf> = if parameters.contains_key("latest") { at.latest(id, &rev)? } else { Vec::new() };
        if latest.is_empty() {
            answer.push((rev, at.leaves(id)?.iter().any(|leaf| leaf.rev == rev)));
        }
        answer.extend(latest.into_iter().map(|leaf| (leaf.rev, true)));
    }
    Ok(answer)
}
