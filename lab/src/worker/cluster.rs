//! Nodes on a shared log, all of them in this process: bare appends, and writers of one node and of several. Whatever
//! was acknowledged is looked for on every node when the clock has stopped.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Instant;

use recension::engine::{Batch, Engine as _, EngineError, TreeId};
use recension_log::{Appended, Cache, Position, ReplicatedEngine, ReplicatedOptions, SharedLog};
use serde::{Deserialize, Serialize};

use super::protocol::Reply;
use crate::error::{LabError, Result};
use crate::measure::clock::nanos;
use crate::subjects::cluster::{System, start};

/// Bytes of a value.
const VALUE: usize = 300;
const TREE: TreeId = TreeId(7);

/// A command to a worker of the suite `cluster`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Cluster {
    /// Starts the system.
    Open {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
    },
    /// Appends records to a bare log.
    Append {
        /// How many.
        count: u64,
        /// Whether each is as long as is best for bytes a second.
        best: bool,
    },
    /// Commits from many threads on many nodes.
    Write {
        /// Nodes, each with a cache of its own.
        nodes: usize,
        /// Writers of each.
        writers: usize,
        /// Commits of each writer.
        commits: u64,
    },
    /// Stops the system.
    Close,
}

/// A system, and how many logs were made on it.
pub(super) struct Nodes {
    system: System,
    dir: PathBuf,
    made: u64,
}

fn failed(what: &'static str) -> impl Fn(EngineError) -> LabError {
    move |error| LabError::Subject { what: what.to_owned(), why: error.to_string() }
}

fn wrong(what: &str, expected: impl std::fmt::Debug, found: impl std::fmt::Debug) -> LabError {
    LabError::Wrong { what: what.to_owned(), expected: format!("{expected:?}"), found: format!("{found:?}") }
}

impl Nodes {
    /// Does one command.
    pub(super) fn handle(nodes: &mut Option<Nodes>, command: Cluster) -> Result<Reply> {
        if let Cluster::Open { subject, dir } = command {
            let servers = dir.join("servers");
            std::fs::create_dir_all(&servers).map_err(LabError::io("making a directory of servers"))?;
            let system = start(&subject, &servers)?;
            let settings = Some(system.settings());
            *nodes = Some(Nodes { system, dir, made: 0 });
            return Ok(Reply { settings, ..Reply::default() });
        }
        let open = nodes.as_mut().ok_or_else(|| LabError::Worker { what: "no log is open".to_owned() })?;
        match command {
            Cluster::Open { .. } => Ok(Reply::default()),
            Cluster::Append { count, best } => open.append(count, best),
            Cluster::Write { nodes: of, writers, commits } => open.write(of, writers, commits),
            Cluster::Close => {
                *nodes = None;
                Ok(Reply::default())
            }
        }
    }

    fn fresh(&mut self) -> String {
        self.made += 1;
        format!("log{}", self.made)
    }

    fn append(&mut self, count: u64, best: bool) -> Result<Reply> {
        let name = self.fresh();
        let log: Arc<dyn SharedLog> = self.system.log(&name)?;
        let profile = log.profile();
        let record = vec![7; if best { profile.record_bytes_best } else { VALUE }];
        let start = Instant::now();
        for n in 1..=count {
            match log.append(Position(n), &record) {
                Ok(Appended::Written) => {}
                Ok(Appended::Taken) => return Err(wrong("an append", "written", "taken")),
                Err(error) => return Err(failed("an append")(error.into())),
            }
        }
        let wall_ns = nanos(start.elapsed());
        let note = best.then(|| format!("records of {} bytes", record.len()));
        Ok(Reply { ops: count, wall_ns, note, ..Reply::default() })
    }

    fn write(&mut self, nodes: usize, writers: usize, commits: u64) -> Result<Reply> {
        let name = self.fresh();
        let folder = self.dir.join(&name);
        let engines = (0..nodes)
            .map(|node| {
                let cache = Cache::directory(folder.join(node.to_string()));
                let opened = ReplicatedEngine::open(self.system.log(&name)?, &cache, ReplicatedOptions::default());
                opened.map_err(failed("opening a node"))
            })
            .collect::<Result<Vec<_>>>()?;
        let (begin, all) = (Barrier::new(nodes * writers + 1), nodes as u64 * writers as u64 * commits);
        // The number that each had made when the first of them was done.
        let made: Vec<AtomicU64> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        let first_done: Vec<AtomicU64> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        let done = AtomicU64::new(0);
        let wall_ns = std::thread::scope(|scope| {
            let running: Vec<_> = (0..nodes * writers)
                .map(|nth| {
                    let (node, writer) = (nth % nodes, nth / nodes);
                    let (engine, begin) = (&engines[node], &begin);
                    let (made, first_done, done) = (&made, &first_done, &done);
                    scope.spawn(move || {
                        begin.wait();
                        for n in 0..commits {
                            let mut batch = Batch::new();
                            batch.put(TREE, format!("{node}.{writer}.{n}").as_bytes(), &[7; VALUE]);
                            engine.commit(batch).map_err(failed("a commit"))?;
                            made[node].fetch_add(1, Ordering::Relaxed);
                        }
                        if done.fetch_add(1, Ordering::Relaxed) == 0 {
                            for (made, noted) in made.iter().zip(first_done) {
                                noted.store(made.load(Ordering::Relaxed), Ordering::Relaxed);
                            }
                        }
                        Ok(())
                    })
                })
                .collect();
            begin.wait();
            let start = Instant::now();
            for one in running {
                one.join().unwrap_or_else(|_| Err(LabError::Worker { what: "a writer panicked".to_owned() }))?;
            }
            Ok::<u64, LabError>(nanos(start.elapsed()))
        })?;
        for engine in &engines {
            let head = engine.refresh().map_err(failed("a refresh"))?;
            if head.0 != all {
                return Err(wrong("the commits of a node", all, head.0));
            }
        }
        let positions: Vec<_> = engines.iter().map(ReplicatedEngine::position).collect();
        if positions.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(wrong("where the nodes are", positions.first(), &positions));
        }
        let records = positions.first().map_or(1, |(position, _)| position.0).saturating_sub(1).max(1);
        drop(engines);
        std::fs::remove_dir_all(&folder).map_err(LabError::io("removing caches"))?;
        let counts: Vec<u64> = first_done.iter().map(|noted| noted.load(Ordering::Relaxed)).collect();
        let fair = (counts.iter().sum::<u64>() / nodes as u64).max(1);
        let least = counts.iter().min().copied().unwrap_or_default() * 100 / fair;
        let note = format!("{} commits a record", all / records);
        Ok(Reply { ops: all, wall_ns, number: Some(least), note: Some(note), ..Reply::default() })
    }
}
