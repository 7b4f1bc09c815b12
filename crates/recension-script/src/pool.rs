//! The workers: processes that are started when they are needed, up to a maximum. A request has a worker to itself, and
//! a deadline at which the process is killed. A process that dies is replaced, and only its own request fails. Workers
//! are shared out by owner: an owner's requests wait behind each other, not before those of others.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::ScriptError;
use crate::frame;
use crate::limits::{PATIENCE, WORLDS_PER_WORKER_MAX};
use crate::overruns::Overruns;

/// The command line of a worker.
#[derive(Clone, Debug)]
pub struct Program {
    /// The path of the program. With these arguments it must call `run_worker`.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Workers, shared by all callers. Clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    /// Whose requests these are.
    owner: Arc<str>,
}

#[derive(Debug)]
struct Shared {
    program: Program,
    workers_max: usize,
    state: Mutex<State>,
    freed: Condvar,
    overruns: Overruns,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Worker>,
    busy: usize,
    /// How many workers each owner has.
    of_owners: HashMap<Arc<str>, usize>,
    /// Who waits, in their order.
    line: VecDeque<(u64, Arc<str>)>,
    next: u64,
}

impl State {
    fn workers_of(&self, owner: &Arc<str>) -> usize {
        self.of_owners.get(owner).copied().unwrap_or(0)
    }

    /// Whether the next worker is for this one: for who came first of those whose owners have the fewest.
    fn is_turn_of(&self, number: u64) -> bool {
        let first = self.line.iter().min_by_key(|(number, owner)| (self.workers_of(owner), *number));
        first.is_some_and(|(first, _)| *first == number)
    }
}

/// The world of a design document's functions: its name, and the text that it is loaded from. Two texts have two names.
/// Each owner's requests have a world of their own.
#[derive(Clone, Copy, Debug)]
pub struct World<'w> {
    /// A name that no other world of the owner has.
    pub name: &'w str,
    /// The design document as JSON.
    pub ddoc: &'w str,
}

impl Pool {
    /// A pool of at most this many workers. None of them is started yet.
    pub fn new(program: Program, workers_max: usize) -> Self {
        let workers_max = workers_max.max(1);
        let (state, freed, overruns) = (Mutex::default(), Condvar::new(), Overruns::default());
        let shared = Arc::new(Shared { program, workers_max, state, freed, overruns });
        Pool { shared, owner: Arc::from("") }
    }

    /// The same workers, for requests of an owner: a database.
    #[must_use]
    pub fn of(&self, owner: &str) -> Self {
        Pool { shared: Arc::clone(&self.shared), owner: Arc::from(owner) }
    }

    /// The greatest number of workers. An owner who has none gets one beyond it while others have them all, until there
    /// are twice as many.
    pub fn workers_max(&self) -> usize {
        self.shared.workers_max
    }

    /// A name that nothing of another owner has.
    pub(crate) fn of_owner(&self, name: &str) -> String {
        format!("{}\0{name}", self.owner)
    }

    /// The functions that ran past their deadlines.
    pub(crate) fn overruns(&self) -> &Overruns {
        &self.shared.overruns
    }

    /// Runs a request, which is JSON, in a world. Returns JSON. The deadline counts from the moment at which a worker
    /// takes it.
    ///
    /// # Errors
    /// [`ScriptError::Timeout`] and [`ScriptError::Died`], after which the worker is gone, [`ScriptError::Busy`], or
    /// [`ScriptError::NotBuiltIn`] without the feature `worker`: the program is its own worker.
    pub fn run(&self, world: World<'_>, request: &[u8], deadline: Duration) -> Result<Vec<u8>, ScriptError> {
        if !cfg!(feature = "worker") {
            return Err(ScriptError::NotBuiltIn);
        }
        let name = self.of_owner(world.name);
        let world = World { name: &name, ..world };
        let mut lease = Lease { pool: self, worker: Some(self.take(world.name)?) };
        let worker = lease.worker.as_mut().ok_or(ScriptError::Busy)?;
        match worker.run(world, request, Instant::now() + deadline) {
            Ok(answer) => Ok(answer),
            Err(error) => {
                // The worker's state is not known any more.
                if let Some(worker) = lease.worker.take() {
                    worker.kill();
                }
                Err(match error {
                    Failed::Late => ScriptError::Timeout { deadline },
                    Failed::Died(error) => ScriptError::Died { why: error.to_string() },
                })
            }
        }
    }

    /// An idle worker that has the world loaded, or else another idle one, or else a new one.
    fn take(&self, world: &str) -> Result<Worker, ScriptError> {
        let until = Instant::now() + PATIENCE;
        let mut state = self.shared.state.lock();
        let number = state.next;
        state.next += 1;
        state.line.push_back((number, Arc::clone(&self.owner)));
        let taken = loop {
            if state.is_turn_of(number)
                && let Some(taken) = self.take_of(&mut state, world)
            {
                break Ok(taken);
            }
            if self.shared.freed.wait_until(&mut state, until).timed_out() {
                break Err(ScriptError::Busy);
            }
        };
        state.line.retain(|(own, _)| *own != number);
        if taken.is_ok() {
            state.busy += 1;
            *state.of_owners.entry(Arc::clone(&self.owner)).or_default() += 1;
        }
        drop(state);
        // Another may be next, and there may be more workers.
        self.shared.freed.notify_all();
        match taken? {
            Taken::Idle(worker) => Ok(worker),
            Taken::ToBeStarted => Worker::start(&self.shared.program).map_err(|error| {
                self.give_back(None);
                ScriptError::NotStarted { program: self.shared.program.path.clone(), why: error.to_string() }
            }),
        }
    }

    /// A worker, or a place for one; `None`: there is neither.
    fn take_of(&self, state: &mut State, world: &str) -> Option<Taken> {
        let (all, most) = (state.busy + state.idle.len(), self.shared.workers_max);
        let loaded = state.idle.iter().position(|worker| worker.worlds.iter().any(|own| own == world));
        // If there may be more workers, a new one is better than an idle one that has to load the world.
        let other = || state.idle.len().checked_sub(1).filter(|_| all >= most);
        if let Some(at) = loaded.or_else(other) {
            return Some(Taken::Idle(state.idle.swap_remove(at)));
        }
        let is_first = state.workers_of(&self.owner) == 0;
        (all < most || is_first && all < 2 * most).then_some(Taken::ToBeStarted)
    }

    fn give_back(&self, worker: Option<Worker>) {
        let mut state = self.shared.state.lock();
        state.busy -= 1;
        if let Some(own) = state.of_owners.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                state.of_owners.remove(&self.owner);
            }
        }
        // Those beyond the maximum end.
        let is_spare = state.busy + state.idle.len() >= self.shared.workers_max;
        let spare = if is_spare {
            worker
        } else {
            state.idle.extend(worker);
            None
        };
        drop(state);
        drop(spare);
        self.shared.freed.notify_all();
    }
}

/// What a request gets.
enum Taken {
    Idle(Worker),
    ToBeStarted,
}

/// The use of a worker. The worker is given back at the end, or no longer counted, whatever happens.
struct Lease<'p> {
    pool: &'p Pool,
    worker: Option<Worker>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.pool.give_back(self.worker.take());
    }
}

enum Failed {
    Late,
    Died(io::Error),
}

#[derive(Debug)]
struct Worker {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
    answers: Receiver<io::Result<Vec<u8>>>,
    /// The worlds that it has loaded. The one that was used last is at the end.
    worlds: Vec<String>,
}

impl Worker {
    fn start(program: &Program) -> io::Result<Self> {
        let mut child = Command::new(&program.path)
            .args(&program.arguments)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let missing = || io::Error::other("the process has no pipe");
        let input = child.stdin.take().map(BufWriter::new).ok_or_else(missing)?;
        let mut output = child.stdout.take().map(io::BufReader::new).ok_or_else(missing)?;
        let (send, answers) = sync_channel(1);
        let read = move || {
            loop {
                let answer = frame::read(&mut output)
                    .and_then(|answer| answer.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()));
                let ended = answer.is_err();
                if send.send(answer).is_err() || ended {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("recension-script".to_owned()).spawn(read)?;
        Ok(Worker { child, input: Some(input), answers, worlds: Vec::new() })
    }

    fn run(&mut self, world: World<'_>, request: &[u8], until: Instant) -> Result<Vec<u8>, Failed> {
        match self.worlds.iter().position(|own| own == world.name) {
            Some(at) => {
                let own = self.worlds.remove(at);
                self.worlds.push(own);
            }
            None => {
                if self.worlds.len() >= WORLDS_PER_WORKER_MAX {
                    let oldest = self.worlds.remove(0);
                    self.send(&oldest, b"").map_err(Failed::Died)?;
                }
                let load = format!("{{\"command\":\"load\",\"ddoc\":{}}}", world.ddoc);
                self.ask(world.name, load.as_bytes(), until)?;
                self.worlds.push(world.name.to_owned());
            }
        }
        self.ask(world.name, request, until)
    }

    fn ask(&mut self, world: &str, request: &[u8], until: Instant) -> Result<Vec<u8>, Failed> {
        self.send(world, request).map_err(Failed::Died)?;
        match self.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(answer) => answer.map_err(Failed::Died),
            Err(RecvTimeoutError::Timeout) => Err(Failed::Late),
            Err(RecvTimeoutError::Disconnected) => Err(Failed::Died(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    fn send(&mut self, world: &str, request: &[u8]) -> io::Result<()> {
        let input = self.input.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        frame::write(input, world.as_bytes())?;
        frame::write(input, request)
    }

    fn kill(mut self) {
        // The process may have died already.
        let _ = self.child.kill();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A worker ends when its input ends. One that was killed is gone at once.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
