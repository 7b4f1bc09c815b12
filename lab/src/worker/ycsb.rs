//! Clients of the workloads of YCSB: threads, or processes of their own that this one starts. Each operation is timed
//! by itself, and its answer is compared with what the client knows before the next one begins, outside of its time.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::process::{Launch, Worker};
use super::protocol::{Command, Reply};
use super::serve::REST;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::given::Given;
use crate::measure::clock::{come_to_rest, nanos};
use crate::subjects::ycsb::model::{Action, Known, WORKLOADS, Workload, id, record};
use crate::subjects::ycsb::{Owner, Records, Shared, by_processes, join, own};

/// Records of one commit while they are loaded, and of one read at the end.
const AT_ONCE: u64 = 1000;

/// What a worker of the suite `ycsb` is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Ycsb {
    /// Opens a new store, loads records, starts clients.
    Load {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// Records.
        records: u64,
        /// Clients.
        clients: u64,
        /// What the run was given.
        given: Given,
    },
    /// Comes to the store of another process as one client of several.
    Join {
        /// The subject.
        subject: String,
        /// The way to it.
        place: String,
        /// Records that were loaded.
        records: u64,
        /// Which client.
        client: u64,
        /// Of how many.
        clients: u64,
    },
    /// Leaves it. What is known stays, for the next time.
    Leave,
    /// Runs a workload.
    Run {
        /// Its letter.
        workload: String,
        /// Operations of a client at most.
        operations: u64,
        /// For so long at most.
        millis: u64,
        /// Of the random sequence.
        seed: u64,
    },
    /// Closes the store, opens it again, and reads what was acknowledged.
    Verify,
    /// Reads what this process's clients have written; answers how many records they have stored.
    Own,
    /// Closes the store in order.
    Close,
}

/// The store, the clients of this process, and the processes that are clients.
pub(super) struct Session {
    subject: String,
    dir: PathBuf,
    given: Given,
    records: u64,
    clients: u64,
    owner: Option<Box<dyn Owner>>,
    shared: Option<Box<dyn Shared>>,
    /// What each client of this process knows.
    known: Vec<Known>,
    processes: Vec<Worker>,
}

fn none() -> LabError {
    LabError::Worker { what: "no store is open".to_owned() }
}

fn joined<T>(ended: std::thread::Result<Result<T>>) -> Result<T> {
    ended.unwrap_or_else(|_| Err(LabError::Worker { what: "a client panicked".to_owned() }))
}

impl Session {
    /// Does one command.
    pub(super) fn handle(session: &mut Option<Session>, command: Ycsb) -> Result<Reply> {
        match command {
            Ycsb::Load { subject, dir, records, clients, given } => {
                let new = Session::new(subject, dir, given, records, clients);
                session.insert(new).load()
            }
            Ycsb::Leave => {
                session.as_mut().ok_or_else(none)?.shared = None;
                Ok(Reply::default())
            }
            Ycsb::Join { subject, place, records, client, clients } => {
                let shared = Some(join(&subject, &place)?);
                let open = match session {
                    Some(open) => open,
                    None => session.insert(Session {
                        known: vec![Known::new(client, clients, records)],
                        ..Session::new(subject, PathBuf::new(), Given::default(), records, clients)
                    }),
                };
                open.shared = shared;
                Ok(Reply::default())
            }
            Ycsb::Run { workload, operations, millis, seed } => {
                session.as_mut().ok_or_else(none)?.run(&workload, operations, millis, seed)
            }
            Ycsb::Verify => session.as_mut().ok_or_else(none)?.verify(),
            Ycsb::Own => session.as_mut().ok_or_else(none)?.own(),
            Ycsb::Close => session.take().ok_or_else(none)?.close().map(|()| Reply::default()),
        }
    }

    fn new(subject: String, dir: PathBuf, given: Given, records: u64, clients: u64) -> Session {
        let (owner, shared, known, processes) = (None, None, Vec::new(), Vec::new());
        Session { subject, dir, given, records, clients, owner, shared, known, processes }
    }

    fn load(&mut self) -> Result<Reply> {
        self.open(true)?;
        let shared = self.way()?;
        let mut client = shared.client()?;
        let mut wall_ns = 0;
        for first in (0..self.records).step_by(AT_ONCE as usize) {
            let some: Vec<(String, String)> =
                (first..(first + AT_ONCE).min(self.records)).map(|n| (id(n), record(n))).collect();
            let start = Instant::now();
            client.load(&some)?;
            wall_ns += nanos(start.elapsed());
        }
        drop(client);
        come_to_rest(REST);
        let settings = self.owner.as_ref().map(|owner| owner.settings());
        if by_processes(&self.subject) {
            for client in 0..self.clients {
                let program = std::env::current_exe().map_err(LabError::io("finding this program"))?;
                let errors = self.dir.join(format!("client-{client}.stderr"));
                self.processes.push(Worker::start(&program, &Launch::Plain, errors)?);
            }
            self.join_again()?;
        } else {
            let known = |client| Known::new(client, self.clients, self.records);
            self.known = (0..self.clients).map(known).collect();
            self.shared = Some(shared);
        }
        Ok(Reply { ops: self.records, wall_ns, settings, ..Reply::default() })
    }

    fn open(&mut self, fresh: bool) -> Result<()> {
        self.owner = Some(own(&self.subject, &self.dir, &self.given, fresh)?);
        Ok(())
    }

    /// The way of this process's own threads.
    fn way(&self) -> Result<Box<dyn Shared>> {
        let owner = self.owner.as_ref().ok_or_else(none)?;
        owner.here().map_or_else(|| join(&self.subject, &owner.place()), Ok)
    }

    fn join_again(&mut self) -> Result<()> {
        let place = self.owner.as_ref().ok_or_else(none)?.place();
        let (subject, records, clients) = (&self.subject, self.records, self.clients);
        for (client, process) in (0..).zip(&mut self.processes) {
            let (subject, place) = (subject.clone(), place.clone());
            process.ask(&Command::Ycsb(Ycsb::Join { subject, place, records, client, clients }))?;
        }
        Ok(())
    }

    /// Asks all processes at once.
    fn ask_all(&mut self, command: &Ycsb) -> Result<Vec<Reply>> {
        std::thread::scope(|scope| {
            let ask = |process: &'_ mut Worker| process.ask(&Command::Ycsb(command.clone()));
            let all: Vec<_> = self.processes.iter_mut().map(|process| scope.spawn(move || ask(process))).collect();
            all.into_iter().map(|one| joined(one.join())).collect()
        })
    }

    fn run(&mut self, workload: &str, operations: u64, millis: u64, seed: u64) -> Result<Reply> {
        let taken: Vec<Vec<u64>> = if self.processes.is_empty() {
            let unknown = || LabError::Usage { what: format!("there is no workload {workload}") };
            let workload = WORKLOADS.iter().find(|known| known.name == workload).ok_or_else(unknown)?;
            let shared = self.shared.as_deref().ok_or_else(none)?;
            let until = Instant::now() + Duration::from_millis(millis);
            std::thread::scope(|scope| {
                let client = |(at, known)| {
                    let random = Random::new(seed ^ (at as u64 + 1).wrapping_mul(0x9e37_79b9));
                    scope.spawn(move || run(shared, known, workload, operations, until, random))
                };
                let running: Vec<_> = self.known.iter_mut().enumerate().map(client).collect();
                running.into_iter().map(|one| joined(one.join())).collect::<Result<_>>()
            })?
        } else {
            let (workload, mut all) = (workload.to_owned(), Vec::new());
            // Each has one client: another seed is another sequence.
            let runs: Vec<Ycsb> = (0..self.processes.len() as u64)
                .map(|at| Ycsb::Run { workload: workload.clone(), operations, millis, seed: seed ^ (at << 32) })
                .collect();
            std::thread::scope(|scope| {
                let ask = |(process, run): (_, Ycsb)| scope.spawn(move || Worker::ask(process, &Command::Ycsb(run)));
                let running: Vec<_> = self.processes.iter_mut().zip(runs).map(ask).collect();
                for one in running {
                    all.push(joined(one.join())?.latencies_ns);
                }
                Ok::<_, LabError>(())
            })?;
            all
        };
        come_to_rest(REST);
        let latencies_ns: Vec<u64> = taken.into_iter().flatten().collect();
        // The time that clients waited, and not what their comparisons took.
        let wall_ns = latencies_ns.iter().sum::<u64>() / self.clients_here();
        Ok(Reply { ops: latencies_ns.len() as u64, wall_ns, latencies_ns, ..Reply::default() })
    }

    fn clients_here(&self) -> u64 {
        self.known.len().max(self.processes.len()).max(1) as u64
    }

    fn own(&mut self) -> Result<Reply> {
        let shared = self.shared.as_deref().ok_or_else(none)?;
        let mut stored = 0;
        for known in &mut self.known {
            let mut client = shared.client()?;
            for n in known.own().collect::<Vec<_>>() {
                known.check(n, client.read(&id(n))?.as_ref())?;
            }
            stored += known.stored();
        }
        Ok(Reply { ops: stored, ..Reply::default() })
    }

    fn verify(&mut self) -> Result<Reply> {
        self.shared = None;
        self.ask_all(&Ycsb::Leave)?;
        self.owner.take().ok_or_else(none)?.close()?;
        self.open(false)?;
        let stored = if self.processes.is_empty() {
            self.shared = Some(self.way()?);
            self.own()?.ops
        } else {
            self.join_again()?;
            self.ask_all(&Ycsb::Own)?.iter().map(|reply| reply.ops).sum()
        };
        let shared = self.way()?;
        let mut client = shared.client()?;
        // Before every id: LMDB has no empty key.
        let (mut found, mut first) = (0, "user".to_owned());
        loop {
            let some = client.scan(&first, AT_ONCE as usize)?;
            found += some.len() as u64;
            let Some((last, _)) = some.last() else { break };
            first = format!("{last}!");
        }
        let expected = self.records + stored;
        if found == expected {
            return Ok(Reply::default());
        }
        let (what, found) = ("the number of records at the end".to_owned(), found.to_string());
        Err(LabError::Wrong { what, expected: expected.to_string(), found })
    }

    fn close(mut self) -> Result<()> {
        self.shared = None;
        self.processes.drain(..).for_each(Worker::end);
        self.owner.take().map_or(Ok(()), Owner::close)
    }
}

/// One client's operations and the time of each.
fn run(
    shared: &dyn Shared,
    known: &mut Known,
    workload: &Workload,
    operations: u64,
    until: Instant,
    mut random: Random,
) -> Result<Vec<u64>> {
    let mut client = shared.client()?;
    let mut latencies_ns = Vec::new();
    while (latencies_ns.len() as u64) < operations && (latencies_ns.is_empty() || Instant::now() < until) {
        latencies_ns.push(one(client.as_mut(), known, workload, &mut random)?);
    }
    Ok(latencies_ns)
}

fn one(client: &mut dyn Records, known: &mut Known, workload: &Workload, random: &mut Random) -> Result<u64> {
    let next = known.next(workload, random);
    let (id, field) = (id(next.n), known.own_field());
    let new = if next.action == Action::Insert { record(next.n) } else { String::new() };
    let start = Instant::now();
    let mut read = None;
    if matches!(next.action, Action::Read | Action::ReadModifyWrite) {
        read = Some(client.read(&id)?);
    }
    let mut range = None;
    match next.action {
        Action::Update | Action::ReadModifyWrite => client.update(&id, &field, &next.value)?,
        Action::Insert => client.insert(&id, &new)?,
        Action::Scan => range = Some(client.scan(&id, next.count)?),
        Action::Read => {}
    }
    let took = nanos(start.elapsed());
    if let Some(read) = read {
        known.check(next.n, read.as_ref())?;
    }
    match (next.action, range) {
        (Action::Update | Action::ReadModifyWrite, _) => known.updated(next.n),
        (Action::Insert, _) => known.inserted(next.n),
        (_, Some(found)) => known.check_range(&id, next.count, &found)?,
        _ => {}
    }
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::OURS;

    #[test]
    fn every_workload_runs_and_what_was_acknowledged_is_there_when_the_store_is_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let (subject, dir) = (OURS.to_owned(), dir.path().to_owned());
        let mut session = None;
        let load = Ycsb::Load { subject, dir, records: 1500, clients: 4, given: Given::default() };
        Session::handle(&mut session, load).unwrap();
        for (seed, workload) in (0..).zip(&WORKLOADS) {
            let run = Ycsb::Run { workload: workload.name.to_owned(), operations: 40, millis: 60_000, seed };
            let reply = Session::handle(&mut session, run).unwrap_or_else(|error| panic!("{}: {error}", workload.name));
            assert_eq!(reply.ops, 160, "{}", workload.name);
        }
        Session::handle(&mut session, Ycsb::Verify).unwrap();
        // An update that its client was never told of, and a record that nobody has stored.
        let open = session.as_mut().unwrap();
        let n = open.known[0].own().find(|n| *n < 1500).unwrap();
        let mut other = open.shared.as_ref().unwrap().client().unwrap();
        other.update(&id(n), "field0", "0000000000").unwrap();
        drop(other);
        assert!(matches!(open.own(), Err(LabError::Wrong { .. })));
        Session::handle(&mut session, Ycsb::Close).unwrap();
    }
}
