//! Nodes as processes: they are started, told what to do, heard and killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::NODE;
use crate::history::{End, History};
use crate::proxy::{Ways, through};

/// How long anything may take before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(90);
/// Bytes of records between two snapshots: some of them, and the log trimmed, in every run.
const SNAPSHOT_BYTES: u64 = 80_000;

/// A node of a cluster of processes.
pub(crate) struct NodeProcess {
    /// What it is called; each opening of it has a number besides.
    pub(crate) name: String,
    opening: u32,
    /// The log's address, through proxies of this node's own.
    address: String,
    pub(crate) ways: Arc<Ways>,
    cache: PathBuf,
    child: Child,
    input: ChildStdin,
    heard: Arc<Mutex<Heard>>,
}

/// What a node said that is no history.
#[derive(Default)]
struct Heard {
    answers: Vec<String>,
    /// The newest thing that went wrong.
    complaint: String,
}

/// Where a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) position: u64,
    pub(crate) chain: String,
    pub(crate) seq: u64,
    pub(crate) count: u64,
}

impl NodeProcess {
    pub(crate) fn start(name: String, log: &str, folder: &Path, history: &Arc<Mutex<History>>) -> Self {
        let ways = Arc::<Ways>::default();
        let (address, cache) = (through(log, &ways), folder.join(&name));
        let (child, input, heard) = spawn(&format!("{name}-0"), &address, &cache, history);
        NodeProcess { name, opening: 0, address, ways, cache, child, input, heard }
    }

    pub(crate) fn opening(&self) -> String {
        format!("{}-{}", self.name, self.opening)
    }

    /// Ends it without a word.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Opens it again; it must have been killed.
    pub(crate) fn again(&mut self, history: &Arc<Mutex<History>>) {
        self.opening += 1;
        (self.child, self.input, self.heard) = spawn(&self.opening(), &self.address, &self.cache, history);
    }

    pub(crate) fn remove_cache(&self) {
        let _ = std::fs::remove_dir_all(&self.cache);
    }

    /// No file may become longer than this many bytes: a quota that is used up, for this process alone.
    pub(crate) fn limit_files(&self, bytes: Option<u64>) {
        let pid = Pid::from_raw(self.child.id().cast_signed());
        prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    }

    /// The newest thing that went wrong.
    pub(crate) fn complaint(&self) -> String {
        self.heard.lock().unwrap().complaint.clone()
    }

    pub(crate) fn tell(&mut self, command: &str) {
        writeln!(self.input, "{command}").unwrap_or_else(|error| panic!("{} does not listen: {error}", self.name));
    }

    /// Waits for an answer that begins like this.
    pub(crate) fn answer(&self, begin: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut heard = self.heard.lock().unwrap();
            if let Some(at) = heard.answers.iter().position(|line| line.starts_with(begin)) {
                return heard.answers.remove(at);
            }
            assert!(Instant::now() < end, "{} does not say {begin}; it said: {}", self.opening(), heard.complaint);
            drop(heard);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Where it is when it has everything up to a position.
    pub(crate) fn place(&mut self, position: u64) -> Place {
        self.tell(&format!("check {position}"));
        let answer = self.answer("p ");
        let words: Vec<&str> = answer.split(' ').collect();
        let number = |at: usize| words[at].parse().unwrap();
        Place { position: number(1), chain: words[2].to_owned(), seq: number(3), count: number(4) }
    }

    /// Waits for a commit that this opening began after a time and that was acknowledged; says how long after.
    pub(crate) fn commits_after(&self, time: u64, history: &Mutex<History>) -> Duration {
        let (end, begin) = (Instant::now() + PATIENCE, format!("{}.", self.opening()));
        loop {
            let first = {
                let history = history.lock().unwrap();
                let of_this = history.ended.iter().filter(|(key, _)| key.starts_with(&begin));
                let acknowledged = of_this.filter_map(|(key, end)| match end {
                    End::Acknowledged { at, .. } if history.began[key] >= time => Some(*at),
                    _ => None,
                });
                acknowledged.min()
            };
            if let Some(at) = first {
                return Duration::from_micros(at - time);
            }
            assert!(Instant::now() < end, "{} commits nothing; it said: {}", self.opening(), self.complaint());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(
    opening: &str,
    address: &str,
    cache: &Path,
    history: &Arc<Mutex<History>>,
) -> (Child, ChildStdin, Arc<Mutex<Heard>>) {
    // A file that may not grow is an error to it, and no end.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--", "sh", "-c", "trap '' XFSZ; exec \"$0\""]);
    command.arg(std::env::current_exe().unwrap());
    command.env(NODE, format!("{opening}\n{address}\n{}\n{SNAPSHOT_BYTES}", cache.display()));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let heard = Arc::<Mutex<Heard>>::default();
    let (history, opening, of_this) = (history.clone(), opening.to_owned(), heard.clone());
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let complains = ["u ", "e ", "x "].iter().any(|begin| line.starts_with(begin));
            if complains {
                of_this.lock().unwrap().complaint.clone_from(&line);
            }
            if !history.lock().unwrap().hear(&opening, &line) && !complains {
                of_this.lock().unwrap().answers.push(line);
            }
        }
    });
    (child, input, heard)
}
