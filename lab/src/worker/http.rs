//! A server under load: it is started here, asked over connections that are kept, and every answer is compared with
//! the model when the clock has stopped. Processor time is the server's, not this process's, which is the client.

use std::path::PathBuf;
use std::process::Command as Program;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::couch::Couch as AskedOfCouch;
use super::protocol::Reply;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::load::{Answer, Client, Connection, Most, Taken, closed, offered};
use crate::measure::clock::{nanos, process_cpu};
use crate::measure::processor::Processor;
use crate::measure::stats::as_f64;
use crate::measure::together::Together;
use crate::measure::usage;
use crate::servers::express_pouchdb::scripts;
use crate::servers::{Process, family};
use crate::subjects::Given;
use crate::subjects::http::{Couch, Server, documents, start};

/// The database of the documents that are read.
pub(super) const READ: &str = "lab_read";
/// The database that single documents are put into.
const WRITTEN: &str = "lab_written";
/// The database of the batches before those that count.
const WARM: &str = "lab_warm";
/// The databases that PouchDB replicates to, with the round behind.
const SYNCED: &str = "lab_synced_";
/// Requests that are made beforehand for one round at most.
const REQUESTS_MAX: u64 = 50_000;

/// A command to a worker of the suite `http`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Http {
    /// Starts the server, with what its directory holds.
    Start {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// The servers and programs that the run was given.
        given: Given,
        /// Whether it runs under `strace`, and into which file.
        traced: Option<PathBuf>,
        /// Whether its databases are to be made.
        fresh: bool,
    },
    /// Stores this many documents in one request.
    Bulk {
        /// How many.
        count: u64,
        /// Whether this one does not count.
        warm: bool,
    },
    /// New documents, one a request.
    Put {
        /// Clients.
        clients: u64,
        /// The length of the load.
        most: Bounds,
    },
    /// Documents at random.
    Get {
        /// Clients.
        clients: u64,
        /// The length of the load.
        most: Bounds,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// One request a moment, at a rate.
    Offer {
        /// Whether documents are put, and not got.
        puts: bool,
        /// Requests a second.
        rate: u64,
        /// For so long.
        millis: u64,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// Lists all documents.
    AllDocs {
        /// With their bodies.
        with_documents: bool,
    },
    /// Reads all changes.
    Changes,
    /// `PouchDB` replicates all documents, in a Node process of its own.
    Sync {
        /// From the server; otherwise to it.
        pull: bool,
        /// The round.
        round: u64,
    },
    /// What else users of `CouchDB` ask for.
    Couch(AskedOfCouch),
    /// Asks for the resources that the server's processes use.
    Usage,
    /// Reads everything that was ever stored and compares it with the model.
    Verify,
    /// Asks the server to end.
    Stop,
}

/// The length of one round: whichever bound comes first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Bounds {
    /// Requests.
    pub requests: u64,
    /// Milliseconds.
    pub millis: u64,
}

/// A server, and what it should hold.
pub(super) struct HttpSession {
    server: Server,
    /// It counts from its first use on, so that the start of a server is measured too.
    processor: OnceLock<Processor>,
    runtime: Runtime,
    dir: PathBuf,
    /// Revisions of the documents that are read, in their order.
    read: Vec<String>,
    /// Revisions of the documents that were put.
    written: Vec<String>,
    /// Databases that `PouchDB` has filled.
    synced: Vec<String>,
}

/// A connection, and the requests of a round.
struct Asking {
    connection: Connection,
    requests: std::sync::Arc<Vec<Vec<u8>>>,
}

impl Client for Asking {
    async fn call(&mut self, n: u64) -> Result<Answer> {
        let request = usize::try_from(n).ok().and_then(|n| self.requests.get(n));
        self.connection.call(request.map(Vec::as_slice).unwrap_or_default()).await
    }
}

/// The kind of loop in a round.
pub(super) enum Loop {
    Closed {
        clients: u64,
        most: Most,
    },
    /// One client after its answer, on one processor with its server.
    Together {
        most: Most,
    },
    Open {
        clients: u64,
        rate: u64,
        time: Duration,
    },
}

impl Loop {
    pub(super) fn of(clients: u64, most: Bounds) -> Self {
        let most = most.into();
        if clients == 1 { Loop::Together { most } } else { Loop::Closed { clients, most } }
    }
}

impl HttpSession {
    /// Does one command.
    pub(super) fn handle(session: &mut Option<HttpSession>, command: Http) -> Result<Reply> {
        if let Http::Start { subject, dir, given, traced, fresh } = command {
            return HttpSession::start(session, &subject, dir, traced.as_deref(), &given, fresh);
        }
        let Some(open) = session else {
            return Err(LabError::Worker { what: "no server is running".to_owned() });
        };
        match command {
            Http::Start { .. } => Ok(Reply::default()),
            Http::Bulk { count, warm } => open.bulk(count, warm),
            Http::Put { clients, most } => open.put(&Loop::of(clients, most), most.requests),
            Http::Get { clients, most, seed } => open.get(&Loop::of(clients, most), most.requests, seed),
            Http::Offer { puts, rate, millis, seed } => {
                let how = Loop::Open { clients: 32, rate, time: Duration::from_millis(millis) };
                let count = (rate * millis / 1000).max(1);
                let mut reply = if puts { open.put(&how, count) } else { open.get(&how, count, seed) }?;
                if reply.ops < count {
                    reply.note = Some(format!("it did not keep up: {} of {count} requests", reply.ops));
                }
                Ok(reply)
            }
            Http::AllDocs { with_documents } => {
                let request = open.couch()?.all_docs(READ, with_documents);
                let (answer, reply) = open.single(request)?;
                open.couch()?.check_all_docs(&open.read, with_documents, &answer).map(|()| reply)
            }
            Http::Changes => {
                let request = open.couch()?.changes(READ);
                let (answer, reply) = open.single(request)?;
                open.couch()?.check_changes(&open.read, &answer).map(|()| reply)
            }
            Http::Sync { pull, round } => open.sync(pull, round),
            Http::Couch(asked) => open.ask_couch(asked),
            Http::Usage => {
                let bytes = open.processes().iter().map(|id| usage::resident_bytes(*id)).sum();
                Ok(Reply { number: Some(bytes), ..Reply::default() })
            }
            Http::Verify => open.verify(),
            Http::Stop => {
                // The right contents are remembered for the next start.
                if let Some(process) = open.server.process.take() {
                    process.stop()?;
                }
                Ok(Reply::default())
            }
        }
    }

    fn start(
        session: &mut Option<HttpSession>,
        subject: &str,
        dir: PathBuf,
        traced: Option<&std::path::Path>,
        given: &Given,
        fresh: bool,
    ) -> Result<Reply> {
        let server = start(subject, &dir, traced, given)?;
        let settings = Some(server.settings.clone());
        match session {
            Some(open) if !fresh => (open.server, open.processor) = (server, OnceLock::new()),
            _ => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(LabError::io("starting the client"))?;
                let (read, written, synced) = (Vec::new(), Vec::new(), Vec::new());
                *session =
                    Some(HttpSession { server, processor: OnceLock::new(), runtime, dir, read, written, synced });
            }
        }
        if let Some(open) = session
            && fresh
        {
            for database in [READ, WRITTEN, WARM] {
                open.make(database)?;
            }
        }
        Ok(Reply { settings, ..Reply::default() })
    }

    /// Makes an empty database, even if a server that was given has one of that name.
    pub(super) fn make(&self, database: &str) -> Result<()> {
        let Some(couch) = self.server.dialect.couch() else { return Ok(()) };
        let (remove, make) = (couch.remove(database), couch.make(database));
        if self.server.process.is_none() {
            self.single(remove)?;
        }
        let (answer, _) = self.single(make)?;
        let found = || format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body));
        let what = || format!("making the database {database}");
        let right = matches!(answer.status, 201 | 202);
        if right { Ok(()) } else { Err(LabError::Wrong { what: what(), expected: "201".to_owned(), found: found() }) }
    }

    pub(super) fn couch(&self) -> Result<&Couch> {
        let none = || LabError::Worker { what: "the subject has no such request".to_owned() };
        self.server.dialect.couch().ok_or_else(none)
    }

    /// Revisions of the documents that are read, in their order.
    pub(super) fn revisions(&self) -> &[String] {
        &self.read
    }

    /// How many documents are read.
    pub(super) fn documents(&self) -> u64 {
        self.read.len() as u64
    }

    /// The server's URL, with name and password.
    pub(super) fn url(&self) -> &str {
        &self.server.url
    }

    /// Whether the laboratory has started it.
    pub(super) fn is_ours_to_stop(&self) -> bool {
        self.server.process.is_some()
    }

    fn processes(&self) -> Vec<u32> {
        self.server.process.as_ref().map(Process::id).map(family).unwrap_or_default()
    }

    fn server_cpu(&self) -> Duration {
        self.processor.get_or_init(|| Processor::of(self.server.process.iter().map(Process::id).collect())).used()
    }

    /// Asks; answers what came, with the figures of it.
    pub(super) fn ask(&self, requests: Vec<Vec<u8>>, how: &Loop) -> Result<(Taken, Reply)> {
        let (address, wire) = (self.server.address, self.server.dialect.wire());
        let requests = std::sync::Arc::new(requests);
        let (clients, taken);
        let count = match how {
            Loop::Closed { clients, .. } | Loop::Open { clients, .. } => *clients,
            Loop::Together { .. } => 1,
        };
        clients = self.runtime.block_on(async {
            // New ones each round: servers close connections that rest, as Node after five seconds.
            let mut clients = Vec::new();
            for _ in 0..count {
                let connection = Connection::connect(address, wire).await?;
                clients.push(Asking { connection, requests: requests.clone() });
            }
            Ok::<_, LabError>(clients)
        })?;
        let together = matches!(how, Loop::Together { .. }).then(|| Together::with(self.processes())).transpose();
        let together = together.map_err(LabError::io("putting client and server on one processor"))?;
        let (server_before, ours_before) = (self.server_cpu(), process_cpu());
        taken = match how {
            Loop::Closed { most, .. } | Loop::Together { most } => self.runtime.block_on(closed(clients, *most))?,
            Loop::Open { rate, time, .. } => self.runtime.block_on(offered(clients, *rate, *time))?,
        };
        drop(together);
        let client_cpu = process_cpu().saturating_sub(ours_before);
        let server_cpu = self.server_cpu().saturating_sub(server_before);
        let reply = Reply {
            ops: taken.answers.len() as u64,
            wall_ns: nanos(taken.wall),
            cpu_ns: self.server.process.is_some().then_some(nanos(server_cpu)),
            client_cpu_ns: Some(nanos(client_cpu)),
            latencies_ns: taken.latencies_ns.clone(),
            ..Reply::default()
        };
        Ok((taken, reply))
    }

    pub(super) fn single(&self, request: Vec<u8>) -> Result<(Answer, Reply)> {
        let most = Most { requests: 1, time: Duration::from_mins(10) };
        let (taken, mut reply) = self.ask(vec![request], &Loop::Closed { clients: 1, most })?;
        reply.latencies_ns = Vec::new(); // a request a round: its time is the sample
        let answer = taken.answers.into_iter().next().map(|(_, answer)| answer).unwrap_or_default();
        Ok((answer, reply))
    }

    fn bulk(&mut self, count: u64, warm: bool) -> Result<Reply> {
        let (database, first) = if warm { (WARM, 0) } else { (READ, self.read.len() as u64) };
        let Some(couch) = self.server.dialect.couch() else {
            // One that has no batches is given the same documents singly, so that there is something to get.
            let requests = (first..first + count).map(|n| self.server.dialect.put(READ, n)).collect();
            let most = Most { requests: count, time: Duration::from_mins(10) };
            self.ask(requests, &Loop::Closed { clients: 8, most })?;
            self.read.resize((first + count) as usize, String::new());
            return Err(LabError::Unavailable { reason: "it stores one document a request".to_owned() });
        };
        let (answer, reply) = self.single(couch.bulk(database, first, count))?;
        let revisions = self.couch()?.check_bulk(first, count, &answer)?;
        if !warm {
            self.read.extend(revisions);
        }
        Ok(reply)
    }

    fn put(&mut self, how: &Loop, count: u64) -> Result<Reply> {
        let first = self.written.len() as u64;
        let requests = (first..first + count.min(REQUESTS_MAX)).map(|n| self.server.dialect.put(WRITTEN, n)).collect();
        let (mut taken, reply) = self.ask(requests, how)?;
        taken.answers.sort_by_key(|(n, _)| *n);
        for (n, answer) in &taken.answers {
            self.written.push(self.server.dialect.check_put(first + n, answer)?);
        }
        Ok(reply)
    }

    fn get(&self, how: &Loop, count: u64, seed: u64) -> Result<Reply> {
        let mut random = Random::new(seed);
        let documents = self.read.len() as u64;
        let wanted: Vec<u64> = (0..count.min(REQUESTS_MAX)).map(|_| random.below(documents.max(1))).collect();
        let requests = wanted.iter().map(|n| self.server.dialect.get(READ, *n)).collect();
        let (taken, reply) = self.ask(requests, how)?;
        self.check_gets(&taken, &wanted, &self.read)?;
        Ok(reply)
    }

    fn check_gets(&self, taken: &Taken, wanted: &[u64], revisions: &[String]) -> Result<()> {
        for (at, answer) in &taken.answers {
            let n = wanted.get(*at as usize).copied().unwrap_or_default();
            let revision = revisions.get(n as usize).map(String::as_str).unwrap_or_default();
            self.server.dialect.check_get(n, revision, answer)?;
        }
        Ok(())
    }

    /// One replication, timed by the script, which leaves out Node's own start.
    fn sync(&mut self, pull: bool, round: u64) -> Result<Reply> {
        #[derive(Deserialize)]
        struct Done {
            ns: u64,
            documents: u64,
        }
        let database = if pull { READ.to_owned() } else { format!("{SYNCED}{round}") };
        let file = self.dir.join("sync.json");
        if !pull {
            self.make(&database)?;
            let text = documents(0, self.read.len() as u64, "", "");
            std::fs::write(&file, text).map_err(LabError::io("writing the documents for PouchDB"))?;
        }
        let cpu_before = self.server_cpu();
        let output = Program::new("node")
            .arg(scripts().join("sync.js"))
            .args([if pull { "pull" } else { "push" }, &format!("{}/{database}", self.server.url)])
            .arg(&file)
            .output()
            .map_err(LabError::io("starting Node"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let done: Done = serde_json::from_str(said.trim()).map_err(|_| LabError::Worker {
            what: format!("PouchDB said \"{}\" {}", said.trim(), String::from_utf8_lossy(&output.stderr).trim()),
        })?;
        let cpu = self.server_cpu().saturating_sub(cpu_before);
        let there = if pull {
            let body = std::fs::read(&file).map_err(LabError::io("reading what PouchDB found"))?;
            Answer { status: 200, body }
        } else {
            self.synced.push(database.clone());
            self.single(self.couch()?.all_docs(&database, true))?.0
        };
        // PouchDB makes revisions as the server does: both sides have the documents at the same ones.
        let revisions = if pull { self.read.clone() } else { Self::revisions_of(&there)? };
        self.couch()?.check_all_docs(&revisions, true, &there)?;
        if done.documents != self.read.len() as u64 || revisions.len() != self.read.len() {
            return Err(LabError::Wrong {
                what: "a replication by PouchDB".to_owned(),
                expected: format!("{} documents", self.read.len()),
                found: format!("{} written, {} there", done.documents, revisions.len()),
            });
        }
        let cpu_ns = self.server.process.is_some().then_some(nanos(cpu));
        Ok(Reply { ops: 1, wall_ns: done.ns, cpu_ns, ..Reply::default() })
    }

    /// The revisions that a list tells: which ones `PouchDB` makes is its own affair.
    fn revisions_of(listed: &Answer) -> Result<Vec<String>> {
        let told: serde_json::Value =
            serde_json::from_slice(&listed.body).map_err(LabError::subject("reading _all_docs"))?;
        let rows = told.get("rows").and_then(serde_json::Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok(rows.iter().filter_map(|row| row.pointer("/value/rev")?.as_str()).map(str::to_owned).collect())
    }

    fn verify(&self) -> Result<Reply> {
        let begin = Instant::now();
        if !self.server.dialect.keeps() {
            return Ok(Reply::default());
        }
        for (database, revisions) in [(READ, &self.read), (WRITTEN, &self.written)] {
            if let Some(couch) = self.server.dialect.couch() {
                let (answer, _) = self.single(couch.all_docs(database, true))?;
                couch.check_all_docs(revisions, true, &answer)?;
            } else {
                let wanted: Vec<u64> = (0..revisions.len() as u64).collect();
                let requests = wanted.iter().map(|n| self.server.dialect.get(database, *n)).collect();
                let most = Most { requests: u64::MAX >> 1, time: Duration::from_mins(5) };
                let most = Most { requests: most.requests.min(wanted.len() as u64), ..most };
                let (taken, _) = self.ask(requests, &Loop::Closed { clients: 8, most })?;
                if taken.answers.len() != wanted.len() {
                    return Err(LabError::Worker { what: "not everything could be read again".to_owned() });
                }
                self.check_gets(&taken, &wanted, revisions)?;
            }
        }
        for database in &self.synced {
            let (answer, _) = self.single(self.couch()?.all_docs(database, true))?;
            let revisions = Self::revisions_of(&answer)?;
            self.couch()?.check_all_docs(&revisions, true, &answer)?;
            if revisions.len() != self.read.len() {
                return Err(LabError::Wrong {
                    what: format!("the database {database} at the end"),
                    expected: format!("{} documents", self.read.len()),
                    found: as_f64(revisions.len()).to_string(),
                });
            }
        }
        Ok(Reply { wall_ns: nanos(begin.elapsed()), ..Reply::default() })
    }
}

impl From<Bounds> for Most {
    fn from(bounds: Bounds) -> Most {
        Most { requests: bounds.requests.min(REQUESTS_MAX), time: Duration::from_millis(bounds.millis) }
    }
}
