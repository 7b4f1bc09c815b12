//! A store that several processes use: this worker owns it and starts others, which come to it. Whatever they read is
//! compared with the model, and whatever they wrote is read again.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Barrier;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::protocol::{Command, Reply};
use super::{Launch, Worker};
use crate::data::{Digest, Key, Random, key, row_of, value};
use crate::error::{LabError, Result};
use crate::measure::clock::nanos;
use crate::subjects::Given;
use crate::subjects::processes::{LOCAL, Owner, Shared, join, no_command, own};

/// Gets that are asked for at once.
pub const AT_ONCE: usize = 64;
/// Rows of a range.
pub const RANGE: usize = 100;
/// The document that the command of a shell prints.
const DOCUMENT: &str = "note";
const TEXT: &str = "{\"text\":\"hello\"}";

/// What a worker of the suite `processes` is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Processes {
    /// Owns a new store, loads it, and starts a process that comes to it.
    Own {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// Rows.
        rows: u64,
        /// What the run was given.
        given: Given,
    },
    /// Comes to the store of another process.
    Join {
        /// The subject.
        subject: String,
        /// Its directory.
        dir: PathBuf,
        /// Rows that are there.
        rows: u64,
    },
    /// What one process does, or several.
    Use(Use),
    /// Commits from several processes at once, of several threads each.
    Writers {
        /// Their first row.
        first: u64,
        /// Processes.
        processes: u64,
        /// Threads of each.
        threads: u64,
        /// Commits of each thread.
        commits: u64,
    },
    /// The command of a shell that prints a document, from its start until it has ended.
    Shell {
        /// How often.
        count: u64,
    },
    /// Ends all processes.
    Close,
}

/// What a process does that has come to the store.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Use {
    /// Reads single rows.
    Get {
        /// How many.
        count: u64,
        /// Of the random sequence.
        seed: u64,
    },
    /// Reads as many at once as [`AT_ONCE`] says.
    GetMany {
        /// How often.
        count: u64,
        /// Of the random sequence.
        seed: u64,
    },
    /// Reads as many in their order as [`RANGE`] says.
    Range {
        /// How often.
        count: u64,
        /// Of the random sequence.
        seed: u64,
    },
    /// Commits rows by threads at once, each its own.
    Write {
        /// The first row.
        first: u64,
        /// Threads.
        threads: u64,
        /// Commits of each.
        commits: u64,
    },
    /// Reads these rows and compares them.
    Verify {
        /// The first.
        first: u64,
        /// How many.
        count: u64,
    },
}

/// A store, as its owner has it or as another process does.
#[derive(Default)]
pub(super) struct Party {
    subject: String,
    dir: PathBuf,
    given: Given,
    rows: u64,
    /// This process's way to the store.
    shared: Option<Box<dyn Shared>>,
    owner: Option<Box<dyn Owner>>,
    /// The process that does what one process does, where that is not this one.
    other: Option<Worker>,
}

fn wrong(what: &str, expected: impl std::fmt::Debug, found: impl std::fmt::Debug) -> LabError {
    LabError::Wrong { what: what.to_owned(), expected: format!("{expected:?}"), found: format!("{found:?}") }
}

fn same(what: &str, expected: Digest, found: Digest) -> Result<()> {
    if expected == found { Ok(()) } else { Err(wrong(what, expected, found)) }
}

impl Party {
    /// Does one command.
    pub(super) fn handle(party: &mut Option<Party>, command: Processes) -> Result<Reply> {
        match command {
            Processes::Own { subject, dir, rows, given } => {
                let (owned, settings) = Party::own(subject, dir, rows, given)?;
                *party = Some(owned);
                return Ok(Reply { settings: Some(settings), ..Reply::default() });
            }
            Processes::Join { subject, dir, rows } => {
                let shared = Some(join(&subject, &dir)?);
                *party = Some(Party { subject, dir, rows, shared, ..Party::default() });
                return Ok(Reply::default());
            }
            Processes::Close => {
                *party = None;
                return Ok(Reply::default());
            }
            _ => {}
        }
        let party = party.as_mut().ok_or_else(|| LabError::Worker { what: "no store is there".to_owned() })?;
        match command {
            Processes::Use(what) => party.done(what),
            Processes::Writers { first, processes, threads, commits } if party.subject != LOCAL => {
                party.writers(first, processes, threads, commits)
            }
            Processes::Writers { first, processes, threads, commits } => {
                party.done(Use::Write { first, threads: processes * threads, commits })
            }
            Processes::Shell { count } => party.shell(count),
            Processes::Own { .. } | Processes::Join { .. } | Processes::Close => Ok(Reply::default()),
        }
    }

    fn own(subject: String, dir: PathBuf, rows: u64, given: Given) -> Result<(Party, String)> {
        let mut owner = own(&subject, &dir)?;
        owner.load(&(0..rows).map(|n| (key(n), value(n, 0))).collect::<Vec<_>>())?;
        owner.load_document(DOCUMENT, TEXT)?;
        let settings = owner.settings();
        let mut party = Party { subject, dir, given, rows, ..Party::default() };
        if party.subject == LOCAL {
            party.shared = owner.here();
        } else {
            party.other = Some(party.another(0)?);
        }
        party.owner = Some(owner);
        Ok((party, settings))
    }

    /// One more process that has come to the store.
    fn another(&self, number: u64) -> Result<Worker> {
        let program = std::env::current_exe().map_err(LabError::io("finding this program"))?;
        let errors = self.dir.join(format!("process-{number}.stderr"));
        let mut worker = Worker::start(&program, &Launch::Plain, errors)?;
        let (subject, dir) = (self.subject.clone(), self.dir.clone());
        worker.ask(&Command::Processes(Processes::Join { subject, dir, rows: self.rows }))?;
        Ok(worker)
    }

    fn done(&mut self, what: Use) -> Result<Reply> {
        if let Some(other) = &mut self.other {
            return other.ask(&Command::Processes(Processes::Use(what)));
        }
        let shared = self.shared.as_deref();
        let shared = shared.ok_or_else(|| LabError::Worker { what: "there is no way to the store".to_owned() })?;
        match what {
            Use::Get { count, seed } => get(shared, self.rows, count, seed),
            Use::GetMany { count, seed } => get_many(shared, self.rows, count, seed),
            Use::Range { count, seed } => range(shared, self.rows, count, seed),
            Use::Write { first, threads, commits } => write(shared, first, threads, commits),
            Use::Verify { first, count } => verify(shared, first, count),
        }
    }

    fn writers(&mut self, first: u64, processes: u64, threads: u64, commits: u64) -> Result<Reply> {
        let mut all = (1..=processes).map(|number| self.another(number)).collect::<Result<Vec<_>>>()?;
        let each = threads * commits;
        let start = Instant::now();
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..)
                .zip(&mut all)
                .map(|(nth, worker)| {
                    let what = Use::Write { first: first + nth * each, threads, commits };
                    scope.spawn(move || worker.ask(&Command::Processes(Processes::Use(what))))
                })
                .collect();
            running.into_iter().try_for_each(|one| joined(one.join()).map(drop))
        })?;
        let wall_ns = nanos(start.elapsed());
        all.into_iter().for_each(Worker::end);
        Ok(Reply { ops: processes * each, wall_ns, ..Reply::default() })
    }

    fn shell(&self, count: u64) -> Result<Reply> {
        if let Some(reason) = no_command(&self.subject, &self.given) {
            return Err(LabError::Unavailable { reason });
        }
        let owner = self.owner.as_ref().ok_or_else(|| LabError::Worker { what: "it is not the owner".to_owned() })?;
        let mut latencies_ns = Vec::new();
        for _ in 0..count {
            let mut command = owner.command(&self.given, DOCUMENT)?;
            command.stdin(Stdio::null()).stderr(Stdio::inherit());
            let start = Instant::now();
            let output = command.output().map_err(LabError::io("running a command"))?;
            latencies_ns.push(nanos(start.elapsed()));
            let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            if said["text"] != "hello" {
                return Err(wrong("what a command printed", TEXT, String::from_utf8_lossy(&output.stdout)));
            }
        }
        Ok(Reply { ops: count, wall_ns: latencies_ns.iter().sum(), latencies_ns, ..Reply::default() })
    }
}

fn joined<T>(ended: std::thread::Result<Result<T>>) -> Result<T> {
    ended.unwrap_or_else(|_| Err(LabError::Worker { what: "a thread panicked".to_owned() }))
}

fn get(shared: &dyn Shared, rows: u64, count: u64, seed: u64) -> Result<Reply> {
    let (wanted, expected) = drawn(rows, count, seed);
    let keys: Vec<Key> = wanted.iter().map(|n| key(*n)).collect();
    let mut client = shared.client()?;
    let mut found = Digest::default();
    let start = Instant::now();
    for key in &keys {
        client.get(key, &mut |value| found.add(value))?;
    }
    let wall_ns = nanos(start.elapsed());
    same("gets", expected, found)?;
    Ok(Reply { ops: count, wall_ns, ..Reply::default() })
}

/// Random rows, and the digest of their values in this order.
fn drawn(rows: u64, count: u64, seed: u64) -> (Vec<u64>, Digest) {
    let mut random = Random::new(seed);
    let wanted: Vec<u64> = (0..count).map(|_| random.below(rows)).collect();
    let mut expected = Digest::default();
    for n in &wanted {
        expected.add(value(*n, 0).as_bytes());
    }
    (wanted, expected)
}

fn get_many(shared: &dyn Shared, rows: u64, count: u64, seed: u64) -> Result<Reply> {
    let (wanted, expected) = drawn(rows, count * AT_ONCE as u64, seed);
    let keys: Vec<Key> = wanted.iter().map(|n| key(*n)).collect();
    let mut client = shared.client()?;
    let mut found = Digest::default();
    let start = Instant::now();
    for some in keys.chunks(AT_ONCE) {
        let mut next = 0;
        client.get_many(some, &mut |at, value| {
            // Answers in their order: one that is missing or twice there makes the digest another.
            if at == next {
                found.add(value);
            }
            next += 1;
        })?;
    }
    let wall_ns = nanos(start.elapsed());
    same("64 gets", expected, found)?;
    Ok(Reply { ops: count, wall_ns, ..Reply::default() })
}

fn range(shared: &dyn Shared, rows: u64, count: u64, seed: u64) -> Result<Reply> {
    let mut order: Vec<u64> = (0..rows).collect();
    order.sort_unstable_by_key(|n| key(*n));
    let mut random = Random::new(seed);
    let starts: Vec<usize> = (0..count).map(|_| random.below(rows) as usize).collect();
    let mut expected = Digest::default();
    for start in &starts {
        for n in order.iter().skip(*start).take(RANGE) {
            expected.add_row(&key(*n), value(*n, 0).as_bytes());
        }
    }
    let keys: Vec<Key> = starts.iter().filter_map(|at| order.get(*at)).map(|n| key(*n)).collect();
    let mut client = shared.client()?;
    let mut found = Digest::default();
    let start = Instant::now();
    for key in &keys {
        client.range(key, RANGE, &mut |key, value| found.add_row(key, value))?;
    }
    let wall_ns = nanos(start.elapsed());
    same("ranges", expected, found)?;
    Ok(Reply { ops: count, wall_ns, ..Reply::default() })
}

fn write(shared: &dyn Shared, first: u64, threads: u64, commits: u64) -> Result<Reply> {
    let begin = Barrier::new(threads as usize + 1);
    let (wall_ns, latencies_ns) = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|thread| {
                let begin = &begin;
                scope.spawn(move || {
                    let client = shared.client();
                    begin.wait();
                    let mut client = client?;
                    let mut latencies_ns = Vec::new();
                    for n in (first + thread * commits)..(first + (thread + 1) * commits) {
                        let (key, value) = (key(n), value(n, 0));
                        let start = Instant::now();
                        client.put(&key, &value)?;
                        latencies_ns.push(nanos(start.elapsed()));
                    }
                    Ok(latencies_ns)
                })
            })
            .collect();
        begin.wait();
        let start = Instant::now();
        let mut latencies_ns = Vec::new();
        for one in running {
            latencies_ns.extend(joined(one.join())?);
        }
        Ok::<_, LabError>((nanos(start.elapsed()), latencies_ns))
    })?;
    Ok(Reply { ops: threads * commits, wall_ns, latencies_ns, ..Reply::default() })
}

fn verify(shared: &dyn Shared, first: u64, count: u64) -> Result<Reply> {
    let mut client = shared.client()?;
    let all: Vec<Key> = (first..first + count).map(key).collect();
    let mut found = 0;
    for some in all.chunks(AT_ONCE) {
        let mut spoilt = None;
        client.get_many(some, &mut |at, row| {
            let expected = some.get(at).and_then(|key| row_of(key)).map(|n| value(n, 0)).unwrap_or_default();
            if expected.as_bytes() == row {
                found += 1;
            } else {
                spoilt = Some(wrong("an acknowledged row", expected, String::from_utf8_lossy(row)));
            }
        })?;
        if let Some(error) = spoilt {
            return Err(error);
        }
    }
    if found == count { Ok(Reply::default()) } else { Err(wrong("the number of acknowledged rows", count, found)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(dir: &std::path::Path) -> Party {
        Party::own(LOCAL.to_owned(), dir.to_owned(), 300, Given::default()).unwrap().0
    }

    #[test]
    fn what_is_written_is_there_and_every_read_is_as_the_model_says() {
        let dir = tempfile::tempdir().unwrap();
        let mut party = owned(dir.path());
        for what in [
            Use::Get { count: 50, seed: 1 },
            Use::GetMany { count: 3, seed: 2 },
            Use::Range { count: 5, seed: 3 },
            Use::Write { first: 300, threads: 4, commits: 5 },
            Use::Verify { first: 0, count: 320 },
        ] {
            party.done(what).unwrap_or_else(|error| panic!("{what:?}: {error}"));
        }
    }

    #[test]
    fn what_is_missing_or_another_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut party = owned(dir.path());
        let spoilt = |party: &mut Party, what: Use, part: &str| {
            let error = party.done(what).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        spoilt(&mut party, Use::Verify { first: 299, count: 2 }, "the number of acknowledged rows");
        // A row that nobody wrote.
        party.owner.as_mut().unwrap().load(&[(key(5), value(5, 1))]).unwrap();
        spoilt(&mut party, Use::Verify { first: 0, count: 10 }, "an acknowledged row");
        spoilt(&mut party, Use::Range { count: 300, seed: 3 }, "ranges");
        spoilt(&mut party, Use::Get { count: 3000, seed: 1 }, "gets");
        spoilt(&mut party, Use::GetMany { count: 50, seed: 1 }, "64 gets");
    }
}
