//! The workers: processes that are started when they are needed, up to a maximum. A request has a worker to itself, and
//! a deadline at which the process is killed. A process that dies is replaced, and only its own request fails.

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

/// The command line of a worker.
#[derive(Clone, Debug)]
pub struct Program {
    /// The path of the program. With these arguments it must call [`run_worker`](crate::run_worker).
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

/// Workers, shared by all callers. Clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    program: Program,
    workers_max: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    idle: Vec<Worker>,
    busy: usize,
}

/// The world of a design document's functions: its name, and the text that it is loaded from. Two texts have two names.
#[derive(Clone, Copy, Debug)]
pub struct World<'w> {
    /// A name that no other world has, not even one of another database.
    pub name: &'w str,
    /// The design document as JSON.
    pub ddoc: &'w str,
}

impl Pool {
    /// A pool of at most so many workers. None of them is started yet.
    pub fn new(program: Program, workers_max: usize) -> Self {
        let workers_max = workers_max.max(1);
        Pool(Arc::new(Shared { program, workers_max, state: Mutex::default(), freed: Condvar::new() }))
    }

    /// The greatest number of workers.
    pub fn workers_max(&self) -> usize {
        self.0.workers_max
    }

    /// Runs a request, which is JSON, in a world. Returns JSON. The deadline counts from the moment at which a worker
    /// takes it.
    ///
    /// # Errors
    /// [`ScriptError::Timeout`] and [`ScriptError::Died`], after which the worker is gone, or [`ScriptError::Busy`].
    pub fn run(&self, world: World<'_>, request: &[u8], deadline: Duration) -> Result<Vec<u8>, ScriptError> {
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
        let mut state = self.0.state.lock();
        loop {
            let loaded = state.idle.iter().position(|worker| worker.worlds.iter().any(|own| own == world));
            if let Some(at) = loaded.or_else(|| state.idle.len().checked_sub(1)) {
                // If there may be more workers, a new one is better than an idle one that has to load the world.
                if loaded.is_some() || state.busy + state.idle.len() >= self.0.workers_max {
                    state.busy += 1;
                    return Ok(state.idle.swap_remove(at));
                }
            }
            if state.busy + state.idle.len() < self.0.workers_max {
                state.busy += 1;
                drop(state);
                return Worker::start(&self.0.program).map_err(|error| {
                    self.give_back(None);
                    ScriptError::NotStarted { program: self.0.program.path.clone(), why: error.to_string() }
                });
            }
            if self.0.freed.wait_until(&mut state, until).timed_out() {
                return Err(ScriptError::Busy);
            }
        }
    }

    fn give_back(&self, worker: Option<Worker>) {
        let mut state = self.0.state.lock();
        state.busy -= 1;
        state.idle.extend(worker);
        self.0.freed.notify_one();
    }
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
