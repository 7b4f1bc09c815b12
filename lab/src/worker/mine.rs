//! A user's workload on a store: threads that each own some documents, so that what every answer has to be is known.
//! Each operation is timed by itself and compared before the next one begins, outside of its time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::protocol::Reply;
use super::serve::REST;
use crate::custom_workload::{Action, Workload};
use crate::data::{Random, key, row_of};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, process_cpu, wait_until};
use crate::subjects::{self, OpenOptions, Reader, RowToWrite, Subject, Tree};

/// Documents of one commit while they are loaded.
const LOADED_AT_ONCE: u64 = 1000;
/// Operations of a thread in one round at most.
const OPERATIONS_MAX: usize = 2_000_000;

/// A command to a worker of the suite `mine`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Mine {
    /// Opens a store. Loads it if it is new.
    Open {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// The workload; none: the store is opened again.
        workload: Option<Box<Workload>>,
    },
    /// Runs the workload for a time.
    Run {
        /// The duration.
        millis: u64,
        /// The seed.
        seed: u64,
    },
    /// Reads everything and compares it with the model.
    Verify,
    /// Closes the store in order.
    Close,
}

/// A store, and what it should hold.
pub(super) struct Own {
    subject: Option<Box<dyn Subject>>,
    workload: Workload,
    /// For each thread the versions of its documents: document `n` is of thread `n % clients`.
    versions: Vec<Vec<u32>>,
    commits: u64,
}

fn none() -> LabError {
    LabError::Worker { what: "no store is open".to_owned() }
}

fn wrong(what: String, expected: impl Into<String>, found: &[u8]) -> LabError {
    let found = String::from_utf8_lossy(found.get(..found.len().min(200)).unwrap_or_default()).into_owned();
    LabError::Wrong { what, expected: expected.into(), found }
}

impl Own {
    /// Does one command.
    pub(super) fn handle(own: &mut Option<Own>, command: Mine) -> Result<Reply> {
        if let Mine::Open { subject, dir, workload } = command {
            let cache_mib =
                workload.as_deref().or(own.as_ref().map(|own| &own.workload)).map_or(64, |one| one.cache_mib);
            let options = OpenOptions { history: false, cache_bytes: cache_mib << 20 };
            let subject = subjects::open(&subject, &dir, &options)?;
            let settings = Some(subject.settings());
            match (workload, own.as_mut()) {
                (Some(workload), _) => *own = Some(Own::loaded(subject, *workload)?),
                (None, Some(own)) => own.subject = Some(subject),
                (None, None) => return Err(none()),
            }
            return Ok(Reply { settings, ..Reply::default() });
        }
        let own = own.as_mut().ok_or_else(none)?;
        match command {
            Mine::Open { .. } => Ok(Reply::default()),
            Mine::Run { millis, seed } => own.run(Duration::from_millis(millis), seed),
            Mine::Verify => own.verify(),
            Mine::Close => own.subject.take().ok_or_else(none)?.close().map(|()| Reply::default()),
        }
    }

    fn loaded(subject: Box<dyn Subject>, workload: Workload) -> Result<Own> {
        let (clients, count) = (workload.clients, workload.documents);
        let mut commits = 0;
        let mut first = 0;
        while first < count {
            let end = (first + LOADED_AT_ONCE).min(count);
            let rows: Vec<RowToWrite> = (first..end).map(|n| row(&workload, n, 0)).collect();
            commits += 1;
            subject.commit(commits, &rows)?;
            first = end;
        }
        let versions =
            (0..clients).map(|client| vec![0; (count.saturating_sub(client)).div_ceil(clients) as usize]).collect();
        Ok(Own { subject: Some(subject), workload, versions, commits })
    }

    fn run(&mut self, time: Duration, seed: u64) -> Result<Reply> {
        let subject = self.subject.as_deref().ok_or_else(none)?;
        let (workload, begin, cpu) = (&self.workload, Instant::now(), process_cpu());
        let numbers = std::sync::atomic::AtomicU64::new(self.commits + 1);
        let taken = std::thread::scope(|scope| {
            let running: Vec<_> = self
                .versions
                .iter_mut()
                .enumerate()
                .map(|(at, versions)| {
                    let (at, numbers) = (at as u64, &numbers);
                    let client = Client { subject, workload, at, versions, numbers };
                    let random = Random::new(seed ^ at.wrapping_mul(0x9e37_79b9));
                    scope.spawn(move || client.run(begin, time, random))
                })
                .collect();
            let join = |one: std::thread::ScopedJoinHandle<'_, Result<Taken>>| {
                one.join().unwrap_or_else(|_| Err(LabError::Worker { what: "a client panicked".to_owned() }))
            };
            running.into_iter().map(join).collect::<Result<Vec<_>>>()
        })?;
        self.commits = numbers.into_inner();
        come_to_rest(REST);
        let cpu_ns = Some(nanos(process_cpu().saturating_sub(cpu)));
        let mut actions: Vec<(Action, Vec<u64>)> = Vec::new();
        for action in Action::ALL {
            let own = taken.iter().flat_map(|all| all.iter()).filter(|(one, _)| *one == action);
            let latencies: Vec<u64> = own.map(|(_, ns)| *ns).collect();
            if !latencies.is_empty() {
                actions.push((action, latencies));
            }
        }
        let latencies_ns: Vec<u64> = actions.iter().flat_map(|(_, own)| own.iter().copied()).collect();
        let wall_ns = latencies_ns.iter().sum::<u64>() / workload.clients;
        Ok(Reply { ops: latencies_ns.len() as u64, wall_ns, cpu_ns, latencies_ns, actions, ..Reply::default() })
    }

    fn verify(&self) -> Result<Reply> {
        let subject = self.subject.as_deref().ok_or_else(none)?;
        let total: usize = self.versions.iter().map(Vec::len).sum();
        let (mut found, mut fault) = (0, None);
        subject.reader()?.range(Tree::Current, &[], false, &mut |row_key, value| {
            found += 1;
            fault = self.check(row_key, value).err();
            fault.is_none()
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        if found != total {
            return Err(wrong(
                "the number of documents at the end".to_owned(),
                total.to_string(),
                found.to_string().as_bytes(),
            ));
        }
        Ok(Reply::default())
    }

    fn check(&self, row_key: &[u8], value: &[u8]) -> Result<()> {
        let clients = self.workload.clients;
        let version = row_of(row_key).and_then(|n| {
            let own = self.versions.get((n % clients) as usize)?;
            Some((n, *own.get((n / clients) as usize)?))
        });
        let Some((n, version)) = version else {
            return Err(wrong("a document at the end".to_owned(), "only documents that were stored", row_key));
        };
        let expected = self.workload.document(n, version);
        if expected.as_bytes() == value {
            Ok(())
        } else {
            Err(wrong(format!("document {n} at the end"), expected, value))
        }
    }
}

fn row(workload: &Workload, n: u64, version: u32) -> RowToWrite {
    RowToWrite { tree: Tree::Current, key: key(n).to_vec(), value: Some(workload.document(n, version).into_bytes()) }
}

/// Operations of a thread and the time of each.
type Taken = Vec<(Action, u64)>;

struct Client<'o> {
    subject: &'o dyn Subject,
    workload: &'o Workload,
    at: u64,
    versions: &'o mut Vec<u32>,
    numbers: &'o std::sync::atomic::AtomicU64,
}

impl Client<'_> {
    fn run(mut self, begin: Instant, time: Duration, mut random: Random) -> Result<Taken> {
        let mut taken = Taken::new();
        let clients = self.workload.clients;
        // In an open loop, the intended beginnings of this thread's operations.
        let every = self.workload.rate.map(|rate| Duration::from_nanos(1_000_000_000 * clients / rate.max(1)));
        let first = self.workload.rate.map_or(0, |rate| 1_000_000_000 * self.at / rate.max(1));
        let mut meant = begin + Duration::from_nanos(first);
        let mut reader = self.subject.reader()?;
        while taken.len() < OPERATIONS_MAX {
            let due = if every.is_some() { meant } else { Instant::now() };
            if due.saturating_duration_since(begin) >= time || begin.elapsed() > time * 4 {
                break;
            }
            let action = self.workload.mix.draw(&mut random);
            let own = random.below(self.versions.len() as u64);
            taken.push((action, self.one(reader.as_mut(), action, own, every.is_some().then_some(meant))?));
            meant += every.unwrap_or_default();
        }
        Ok(taken)
    }

    /// One operation on this thread's document `own`. Returns its time, from its intended beginning if that is known.
    fn one(&mut self, reader: &mut dyn Reader, action: Action, own: u64, meant: Option<Instant>) -> Result<u64> {
        let clients = self.workload.clients;
        let n = own * clients + self.at;
        let version = self.versions.get(own as usize).copied().unwrap_or_default();
        let prepared = match action {
            Action::Update => Some(row(self.workload, n, version + 1)),
            Action::Insert => Some(row(self.workload, self.versions.len() as u64 * clients + self.at, 0)),
            Action::Get | Action::Scan => None,
        };
        let wanted = self.workload.limits.scan_documents as usize;
        let (mut found, mut rows) = (None, Vec::new());
        let start = meant.map_or_else(Instant::now, |meant| {
            wait_until(meant);
            meant
        });
        if matches!(action, Action::Get | Action::Update) {
            reader.get(Tree::Current, &key(n), &mut |value| found = Some(value.to_vec()))?;
        }
        if action == Action::Scan {
            reader.range(Tree::Current, &key(n), false, &mut |row_key, value| {
                rows.push((row_key.to_vec(), value.to_vec()));
                rows.len() < wanted
            })?;
        }
        if let Some(row) = &prepared {
            let number = self.numbers.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            self.subject.commit(number, std::slice::from_ref(row))?;
        }
        let took = nanos(start.elapsed());
        match action {
            Action::Update => self.versions.iter_mut().skip(own as usize).take(1).for_each(|version| *version += 1),
            Action::Insert => self.versions.push(0),
            Action::Get | Action::Scan => {}
        }
        if matches!(action, Action::Get | Action::Update) {
            let expected = self.workload.document(n, version);
            if found.as_deref() != Some(expected.as_bytes()) {
                return Err(wrong(format!("document {n}"), expected, found.as_deref().unwrap_or(b"none")));
            }
        }
        self.check_scan(n, &rows, action == Action::Scan).map(|()| took)
    }

    /// The versions of this thread's documents are known. Of other threads' documents it is only known that keys
    /// ascend.
    fn check_scan(&self, first: u64, rows: &[(Vec<u8>, Vec<u8>)], scanned: bool) -> Result<()> {
        if scanned && rows.first().is_none_or(|(row_key, _)| *row_key != key(first)) {
            return Err(wrong(format!("a range from document {first} on"), "it first", b"another"));
        }
        if rows.windows(2).any(|two| matches!(two, [(one, _), (other, _)] if one >= other)) {
            return Err(wrong(format!("a range from document {first} on"), "keys in ascending order", b"others"));
        }
        for (row_key, value) in rows {
            let known = row_of(row_key).filter(|n| n % self.workload.clients == self.at);
            let Some(n) = known else { continue };
            let version = self.versions.get((n / self.workload.clients) as usize).copied();
            let expected = version.map(|version| self.workload.document(n, version)).unwrap_or_default();
            if expected.as_bytes() != value.as_slice() {
                return Err(wrong(format!("document {n} in a range"), expected, value));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::custom_workload::{Limits, Member, Mix};
    use crate::subjects::Tier;

    fn workload(rate: Option<u64>) -> Box<Workload> {
        Box::new(Workload {
            name: "trial".to_owned(),
            documents: 100,
            clients: 3,
            rate,
            durability: Tier::T0,
            seconds: 1,
            cache_mib: 1,
            corpus: None,
            mix: Mix { get: 4, update: 3, insert: 2, scan: 1 },
            limits: Limits { scan_documents: 7 },
            members: vec![Member::Text { name: "text".to_owned(), length: [3, 9] }],
            lines: Vec::new(),
        })
    }

    fn opened(subject: &str, rate: Option<u64>) -> Option<Own> {
        let mut own = None;
        let (subject, dir) = (subject.to_owned(), "unused".into());
        Own::handle(&mut own, Mine::Open { subject, dir, workload: Some(workload(rate)) }).unwrap();
        own
    }

    #[test]
    fn every_operation_of_the_mix_is_done_and_what_is_there_is_as_the_model_says() {
        for rate in [None, Some(2_000)] {
            let mut own = opened("memory", rate);
            let reply = Own::handle(&mut own, Mine::Run { millis: 100, seed: 1 }).unwrap();
            assert!(reply.ops > 40, "{}", reply.ops);
            assert_eq!(reply.actions.len(), 4);
            assert_eq!(reply.actions.iter().map(|(_, own)| own.len() as u64).sum::<u64>(), reply.ops);
            Own::handle(&mut own, Mine::Verify).unwrap();
        }
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let mut own = opened("memory", None);
        for version in own.as_mut().unwrap().versions.iter_mut().flatten() {
            *version = 5; // of which the store knows nothing
        }
        assert!(matches!(Own::handle(&mut own, Mine::Verify), Err(LabError::Wrong { .. })));
        assert!(matches!(Own::handle(&mut own, Mine::Run { millis: 50, seed: 1 }), Err(LabError::Wrong { .. })));
        let mut own = opened("memory", None);
        own.as_mut().unwrap().versions[0].push(0); // a document that was never stored
        let error = Own::handle(&mut own, Mine::Verify).unwrap_err().to_string();
        assert!(error.contains("expected 101, found 100"), "{error}");
    }
}
