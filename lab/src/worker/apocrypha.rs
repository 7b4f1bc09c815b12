//! A server of members under load. Every client has its own members, so that the right answer to each of its reads is
//! known and compared at once. That costs every subject the same.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::http::Bounds;
use super::protocol::Reply;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::load::{Answer, Client, Connection, Most, closed};
use crate::measure::clock::{nanos, process_cpu};
use crate::measure::processor::Processor;
use crate::measure::together::Together;
use crate::measure::usage;
use crate::servers::family;
use crate::subjects::Given;
use crate::subjects::apocrypha::{Server, Speech, Where, start, value};

/// A command to a worker of the suite `apocrypha`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Apocrypha {
    /// Starts the server, with what its directory holds.
    Start {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// The servers and programs that the run was given.
        given: Given,
        /// Whether it prints every command.
        trace: bool,
        /// So many members, and within the large one, are made; otherwise they are there.
        fresh: Option<(u64, u64)>,
    },
    /// Asks.
    Ask {
        /// The kind of request.
        what: What,
        /// Clients.
        clients: u64,
        /// The length of the load.
        most: Bounds,
        /// The seed of the random sequence.
        seed: u64,
    },
    /// The memory of `number` connections that were used and now rest, in bytes.
    Idle {
        /// Connections.
        connections: u64,
    },
    /// Reads everything and compares it with the model.
    Verify,
    /// Asks the server to end.
    Stop,
}

/// A kind of request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum What {
    /// Members at random.
    Get,
    /// One member, again and again.
    GetSame,
    /// Members of the large one at random.
    GetWithin,
    /// Writes of members at random.
    Set,
    /// Writes of members of the large one.
    SetWithin,
    /// Nine reads and a write.
    Mixed,
}

impl What {
    fn place(self) -> Where {
        match self {
            What::GetWithin | What::SetWithin => Where::Within,
            What::Get | What::GetSame | What::Set | What::Mixed => Where::Top,
        }
    }
}

/// Versions of the values that there are.
#[derive(Default)]
struct Model {
    top: Vec<AtomicU32>,
    within: Vec<AtomicU32>,
}

impl Model {
    fn of(members: u64, within: u64) -> Self {
        let new = |count: u64| (0..count).map(|_| AtomicU32::new(0)).collect();
        Model { top: new(members), within: new(within) }
    }

    fn at(&self, place: Where) -> &[AtomicU32] {
        match place {
            Where::Top => &self.top,
            Where::Within => &self.within,
        }
    }
}

/// A server, and what it should hold.
pub(super) struct ApocryphaSession {
    server: Option<Server>,
    /// It counts from its first use on, so that the start of a server is measured too.
    processor: OnceLock<Processor>,
    runtime: Runtime,
    model: Arc<Model>,
}

/// Client number `nth` of `of`. Its members are every `of`-th.
struct Asking {
    connection: Connection,
    speech: Speech,
    model: Arc<Model>,
    what: What,
    nth: u64,
    of: u64,
    random: Random,
    asked: u64,
}

impl Client for Asking {
    async fn call(&mut self, _: u64) -> Result<Answer> {
        let place = self.what.place();
        let versions = self.model.at(place);
        let own = (versions.len() as u64).saturating_sub(self.nth).div_ceil(self.of).max(1);
        let pick = if self.what == What::GetSame { 0 } else { self.random.below(own) };
        let n = pick * self.of + self.nth;
        let version = versions
            .get(usize::try_from(n).unwrap_or(usize::MAX))
            .ok_or_else(|| LabError::Worker { what: "there are fewer members than clients".to_owned() })?;
        self.asked += 1;
        let writes = match self.what {
            What::Set | What::SetWithin => true,
            What::Mixed => self.asked.is_multiple_of(10),
            What::Get | What::GetSame | What::GetWithin => false,
        };
        if writes {
            let next = version.load(Relaxed) + 1;
            let answer = self.connection.call(&self.speech.set(place, n, &value(n, next))).await?;
            self.speech.check_set(n, &answer)?;
            version.store(next, Relaxed);
        } else {
            let answer = self.connection.call(&self.speech.get(place, n)).await?;
            self.speech.check_get(n, version.load(Relaxed), &answer)?;
        }
        // The answer was compared already.
        Ok(Answer::default())
    }
}

impl ApocryphaSession {
    /// Does one command.
    pub(super) fn handle(session: &mut Option<ApocryphaSession>, command: Apocrypha) -> Result<Reply> {
        if let Apocrypha::Start { subject, dir, given, trace, fresh } = command {
            let server = start(&subject, &dir, &given, trace)?;
            let settings = Some(server.settings.to_owned());
            match (session.as_mut(), fresh) {
                (Some(open), None) => (open.server, open.processor) = (Some(server), OnceLock::new()),
                (_, fresh) => {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                    let runtime = runtime.map_err(LabError::io("starting the client"))?;
                    let (members, within) = fresh.unwrap_or_default();
                    let model = Arc::new(Model::of(members, within));
                    let open = session.insert(ApocryphaSession {
                        server: Some(server),
                        processor: OnceLock::new(),
                        runtime,
                        model,
                    });
                    open.load(members, within)?;
                }
            }
            return Ok(Reply { settings, ..Reply::default() });
        }
        let Some(open) = session else {
            return Err(LabError::Worker { what: "no server is running".to_owned() });
        };
        match command {
            Apocrypha::Start { .. } => Ok(Reply::default()),
            Apocrypha::Ask { what, clients, most, seed } => open.ask(what, clients, most.into(), seed),
            Apocrypha::Idle { connections } => open.idle(connections),
            Apocrypha::Verify => open.verify(),
            Apocrypha::Stop => {
                if let Some(server) = open.server.take() {
                    server.process.stop()?;
                }
                Ok(Reply::default())
            }
        }
    }

    fn server(&self) -> Result<&Server> {
        self.server.as_ref().ok_or_else(|| LabError::Worker { what: "the server was ended".to_owned() })
    }

    fn load(&self, members: u64, within: u64) -> Result<()> {
        let server = self.server()?;
        self.runtime.block_on(async {
            let mut connection = Connection::connect(server.address, server.speech.wire()).await?;
            for request in server.speech.load(members, within) {
                server.speech.check_set(0, &connection.call(&request).await?)?;
            }
            Ok(())
        })
    }

    fn ask(&self, what: What, clients: u64, most: Most, seed: u64) -> Result<Reply> {
        let server = self.server()?;
        let asking = self.runtime.block_on(async {
            let mut asking = Vec::new();
            for nth in 0..clients {
                let connection = Connection::connect(server.address, server.speech.wire()).await?;
                let (speech, model, random) = (server.speech, self.model.clone(), Random::new(seed ^ (nth << 32)));
                asking.push(Asking { connection, speech, model, what, nth, of: clients, random, asked: 0 });
            }
            Ok::<_, LabError>(asking)
        })?;
        let together = (clients == 1).then(|| Together::with(family(server.process.id()))).transpose();
        let together = together.map_err(LabError::io("putting client and server on one processor"))?;
        let (server_before, ours_before) = (self.server_cpu()?, process_cpu());
        let taken = self.runtime.block_on(closed(asking, most))?;
        drop(together);
        let client_cpu = process_cpu().saturating_sub(ours_before);
        Ok(Reply {
            ops: taken.answers.len() as u64,
            wall_ns: nanos(taken.wall),
            cpu_ns: Some(nanos(self.server_cpu()?.saturating_sub(server_before))),
            client_cpu_ns: Some(nanos(client_cpu)),
            latencies_ns: taken.latencies_ns,
            ..Reply::default()
        })
    }

    fn server_cpu(&self) -> Result<Duration> {
        let id = self.server()?.process.id();
        Ok(self.processor.get_or_init(|| Processor::of(vec![id])).used())
    }

    fn memory(&self) -> Result<u64> {
        Ok(family(self.server()?.process.id()).into_iter().map(usage::resident_bytes).sum())
    }

    fn idle(&self, connections: u64) -> Result<Reply> {
        let server = self.server()?;
        // The first connections cause allocations for all. These do not count.
        let rest = self.used(server, connections.div_ceil(10))?;
        let before = self.memory()?;
        let held = self.used(server, connections)?;
        let grown = self.memory()?.saturating_sub(before);
        drop((rest, held));
        Ok(Reply { number: Some(grown / connections.max(1)), ..Reply::default() })
    }

    /// Connections that have asked something.
    fn used(&self, server: &Server, connections: u64) -> Result<Vec<Connection>> {
        self.runtime.block_on(async {
            let mut held = Vec::new();
            for _ in 0..connections {
                let mut connection = Connection::connect(server.address, server.speech.wire()).await?;
                let version = self.model.top.first().map_or(0, |version| version.load(Relaxed));
                let answer = connection.call(&server.speech.get(Where::Top, 0)).await?;
                server.speech.check_get(0, version, &answer)?;
                held.push(connection);
            }
            Ok(held)
        })
    }

    fn verify(&self) -> Result<Reply> {
        let server = self.server()?;
        self.runtime.block_on(async {
            let mut connection = Connection::connect(server.address, server.speech.wire()).await?;
            for place in [Where::Top, Where::Within] {
                for (n, version) in (0..).zip(self.model.at(place)).step_by(server.verified_every) {
                    let answer = connection.call(&server.speech.get(place, n)).await?;
                    server.speech.check_get(n, version.load(Relaxed), &answer)?;
                }
            }
            Ok(Reply::default())
        })
    }
}
