//! What else users of `CouchDB` ask a server for: a view in JavaScript, a query by an index, a large attachment, a
//! replication within the server. Answers are compared as all others are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::http::{Bounds, HttpSession, Loop, READ};
use super::protocol::Reply;
use crate::data::{Random, value};
use crate::error::{LabError, Result};
use crate::load::Answer;

/// The database of views and queries: the documents that are read elsewhere, and design documents beside them.
const ASKED: &str = "lab_asked";
/// The database of attachments.
const FILES: &str = "lab_files";
/// Bytes of an attachment.
const FILE_BYTES: usize = 10_000_000;

/// What is asked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Couch {
    /// Stores a view of its own, and reads it in groups: what it takes to build.
    BuildView {
        /// The view.
        round: u64,
    },
    /// Reads it again.
    ReadView {
        /// The view.
        round: u64,
    },
    /// Asks for documents by a member that an index has.
    Find {
        /// How often.
        count: u64,
        /// Of what is asked for.
        seed: u64,
    },
    /// Stores an attachment of 10 MB.
    PutFile {
        /// Which.
        round: u64,
    },
    /// Reads it.
    GetFile {
        /// Which.
        round: u64,
    },
    /// Replicates all documents into a new database of the same server.
    Replicate {
        /// The database.
        round: u64,
    },
}

fn wrong(what: &str, expected: impl Into<String>, found: &Answer) -> LabError {
    let body: String = String::from_utf8_lossy(&found.body).chars().take(300).collect();
    LabError::Wrong { what: what.to_owned(), expected: expected.into(), found: format!("{} {body}", found.status) }
}

fn document(n: u64) -> Value {
    serde_json::from_str(&value(n, 0)).unwrap_or_default()
}

fn member(n: u64, name: &str) -> String {
    document(n).get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn file(round: u64) -> Vec<u8> {
    let mut random = Random::new(round ^ 0xf17e);
    (0..FILE_BYTES / 8).flat_map(|_| random.number().to_le_bytes()).collect()
}

impl HttpSession {
    /// Does one command.
    pub(super) fn ask_couch(&mut self, asked: Couch) -> Result<Reply> {
        match asked {
            Couch::BuildView { round } => {
                let functions = json!({"map": "function (doc) { emit(doc.city, 1); }", "reduce": "_sum"});
                let design = json!({"language": "javascript", "views": {"cities": functions}}).to_string();
                if round == 0 {
                    self.make(ASKED)?;
                    let (answer, _) = self.single(self.couch()?.bulk(ASKED, 0, self.documents()))?;
                    self.couch()?.check_bulk(0, self.documents(), &answer)?;
                }
                self.must("PUT", &format!("{ASKED}/_design/lab{round}"), Some(&design), 201)?;
                self.read_view(round)
            }
            Couch::ReadView { round } => self.read_view(round),
            Couch::Find { count, seed } => self.find(count, seed),
            Couch::PutFile { round } => {
                if round == 0 {
                    self.make(FILES)?;
                }
                let request = self.couch()?.put_bytes(&format!("{FILES}/f{round}/file"), &file(round));
                let (answer, reply) = self.single(request)?;
                if answer.status == 201 { Ok(reply) } else { Err(wrong("an attachment", "201", &answer)) }
            }
            Couch::GetFile { round } => {
                let (answer, reply) = self.single(self.couch()?.get_as(&format!("{FILES}/f{round}/file"), "*/*"))?;
                let right = answer.status == 200 && answer.body == file(round);
                if right { Ok(reply) } else { Err(wrong("an attachment", "what was stored", &answer)) }
            }
            Couch::Replicate { round } => self.replicate(round),
        }
    }

    /// Asks for what is not timed.
    fn must(&self, method: &str, target: &str, body: Option<&str>, status: u16) -> Result<Answer> {
        let (answer, _) = self.single(self.couch()?.request(method, target, body))?;
        if answer.status == status || (status == 201 && answer.status == 202) {
            return Ok(answer);
        }
        Err(wrong(&format!("{method} {target}"), status.to_string(), &answer))
    }

    fn read_view(&self, round: u64) -> Result<Reply> {
        #[derive(Deserialize)]
        struct Row {
            key: String,
            value: f64,
        }
        #[derive(Deserialize)]
        struct Rows {
            rows: Vec<Row>,
        }
        let target = format!("{ASKED}/_design/lab{round}/_view/cities?group=true");
        let (answer, reply) = self.single(self.couch()?.request("GET", &target, None))?;
        let mut expected = BTreeMap::<String, f64>::new();
        for n in 0..self.documents() {
            *expected.entry(member(n, "city")).or_default() += 1.0;
        }
        let found: Rows =
            serde_json::from_slice(&answer.body).map_err(|_| wrong("a view", format!("{expected:?}"), &answer))?;
        let found: BTreeMap<String, f64> = found.rows.into_iter().map(|row| (row.key, row.value)).collect();
        if found == expected { Ok(reply) } else { Err(wrong("a view", format!("{expected:?}"), &answer)) }
    }

    fn find(&self, count: u64, seed: u64) -> Result<Reply> {
        let index = json!({"index": {"fields": ["email"]}, "ddoc": "email", "name": "email"}).to_string();
        self.must("POST", &format!("{ASKED}/_index"), Some(&index), 200)?;
        let mut random = Random::new(seed);
        let emails: Vec<String> = (0..count).map(|_| member(random.below(self.documents().max(1)), "email")).collect();
        let mut expected = BTreeMap::<String, u64>::new();
        for n in 0..self.documents() {
            *expected.entry(member(n, "email")).or_default() += 1;
        }
        let ask = |email: &String| json!({"selector": {"email": email}, "limit": 1000}).to_string();
        let couch = self.couch()?;
        let requests = emails.iter().map(|email| couch.post(&format!("{ASKED}/_find"), &ask(email))).collect();
        // The first one builds the index.
        self.must("POST", &format!("{ASKED}/_find"), Some(&ask(&String::new())), 200)?;
        let most = Bounds { requests: count, millis: 60_000 };
        let (taken, reply) = self.ask(requests, &Loop::of(1, most))?;
        for (at, answer) in &taken.answers {
            let email = emails.get(*at as usize).cloned().unwrap_or_default();
            let found: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let docs = found["docs"].as_array().map(Vec::as_slice).unwrap_or_default();
            let all = docs.iter().all(|doc| doc["email"] == email.as_str());
            if !all || expected.get(&email) != Some(&(docs.len() as u64)) {
                return Err(wrong("_find", format!("{:?} documents of {email}", expected.get(&email)), answer));
            }
        }
        Ok(reply)
    }

    fn replicate(&mut self, round: u64) -> Result<Reply> {
        let (target, url) = (format!("lab_copied_{round}"), self.url().to_owned());
        if !self.is_ours_to_stop() {
            self.single(self.couch()?.remove(&target))?;
        }
        let body = json!({
            "source": format!("{url}/{READ}"), "target": format!("{url}/{target}"), "create_target": true,
        });
        let (answer, reply) = self.single(self.couch()?.post("_replicate", &body.to_string()))?;
        if answer.status != 200 {
            return Err(wrong("a replication", "200", &answer));
        }
        let (listed, _) = self.single(self.couch()?.all_docs(&target, true))?;
        self.couch()?.check_all_docs(self.revisions(), true, &listed)?;
        Ok(reply)
    }
}
