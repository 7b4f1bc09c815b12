//! Servers that the laboratory starts itself: child processes on loopback with fresh directories, stopped by their
//! process ids. One file a server.

pub mod apocrypha;
pub mod apocrypha_python;
pub mod etcd;
pub mod express_pouchdb;
pub mod hyper_floor;
pub mod mariadb;
pub mod postgresql;
pub mod recension;
pub mod redis;
pub mod web;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::{LabError, Result};
use crate::measure::trace;
pub use crate::measure::usage::{children, family};

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long a process may take to end after it was asked to. Then it is killed.
const PATIENCE_AT_END: Duration = Duration::from_secs(15);
/// Stands between what failed and what the server said.
pub const LAST_WORDS: &str = "; its last words: ";
/// Bytes of a server's output that are quoted.
const QUOTED_BYTES: usize = 600;

/// The place and the means of a server.
pub struct Place<'p> {
    /// Its directory, which exists.
    pub dir: &'p Path,
    /// Whether it runs under `strace`, and into which file that writes.
    pub traced: Option<&'p Path>,
}

/// A server process of ours. It is killed when it is dropped.
pub struct Process {
    child: Child,
    output: PathBuf,
    what: String,
    traced: bool,
    /// What asks it to end.
    asks_to_end: Signal,
}

impl Place<'_> {
    /// A program, as it is or under `strace`.
    pub fn program(&self, program: impl AsRef<Path>) -> Command {
        match self.traced {
            None => Command::new(program.as_ref()),
            Some(file) => {
                let mut command = Command::new("strace");
                command.args(trace::arguments(file)).arg(program.as_ref());
                command
            }
        }
    }

    /// Starts a server whose output goes to a file, and waits until it is ready.
    pub fn start(&self, what: &str, command: &mut Command, ready: impl Fn() -> bool) -> Result<Process> {
        let mut process = self.spawn(what, command, false)?;
        let begin = Instant::now();
        while !ready() {
            process.must_be_alive()?;
            if begin.elapsed() > PATIENCE {
                return Err(process.failed(&format!("was not ready within {} s", PATIENCE.as_secs())));
            }
            std::thread::sleep(Duration::from_millis(5)); // another's process: there is nothing to wait on
        }
        Ok(process)
    }

    /// Starts a server whose first line of output is its address.
    pub fn start_that_says(&self, what: &str, command: &mut Command) -> Result<(Process, SocketAddr)> {
        let mut process = self.spawn(what, command, true)?;
        let mut line = String::new();
        if let Some(out) = process.child.stdout.take() {
            let mut out = BufReader::new(out);
            let _ = out.read_line(&mut line);
            // Later output is read, so that the server never waits for us, and dropped.
            std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        }
        let address = line.split("http://").nth(1).and_then(|rest| rest.trim().trim_end_matches('/').parse().ok());
        match address {
            Some(address) => Ok((process, address)),
            None => Err(process.failed(&format!("did not say where it listens but \"{}\"", line.trim()))),
        }
    }

    fn spawn(&self, what: &str, command: &mut Command, piped: bool) -> Result<Process> {
        let output = self.dir.join("output.log");
        let file = File::create(&output).map_err(LabError::io("making a server's log"))?;
        let out = if piped { Stdio::piped() } else { Stdio::from(file.try_clone().map_err(LabError::io("its log"))?) };
        let child = command.stdin(Stdio::null()).stdout(out).stderr(file).spawn();
        let child = child.map_err(LabError::io(format!("starting {what}")))?;
        Ok(Process { child, output, what: what.to_owned(), traced: self.traced.is_some(), asks_to_end: Signal::TERM })
    }
}

impl Process {
    /// The same, ended by another signal than `TERM`.
    #[must_use]
    pub fn ended_by(mut self, asks_to_end: Signal) -> Self {
        self.asks_to_end = asks_to_end;
        self
    }

    /// Its id; under `strace` that one's.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn must_be_alive(&mut self) -> Result<()> {
        match self.child.try_wait() {
            Ok(Some(status)) => Err(self.failed(&format!("ended ({status})"))),
            _ => Ok(()),
        }
    }

    fn failed(&self, how: &str) -> LabError {
        let said = std::fs::read(&self.output).unwrap_or_default();
        let tail = said.get(said.len().saturating_sub(QUOTED_BYTES)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail).trim().replace('\n', " | ");
        let said = if tail.is_empty() { String::new() } else { format!("{LAST_WORDS}{tail}") };
        LabError::Worker { what: format!("{} {how}{said}", self.what) }
    }

    /// Ends it and all that it has started, at once: for servers that keep nothing. `strace` ends by itself then, with
    /// its last lines.
    pub fn end_at_once(mut self) -> Result<()> {
        // The order is from the top: a process that would restart others ends first.
        for id in family(self.id()).into_iter().skip(usize::from(self.traced)) {
            if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        self.wait()
    }

    /// Asks it to end, and waits until it has.
    pub fn stop(mut self) -> Result<()> {
        // strace hands no signal on: its child is asked.
        let id = if self.traced { children(self.id()).first().copied() } else { Some(self.id()) };
        if let Some(pid) = id.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw) {
            let _ = kill_process(pid, self.asks_to_end);
        }
        self.wait()
    }

    fn wait(&mut self) -> Result<()> {
        if ends(&mut self.child) {
            return Ok(());
        }
        Err(self.failed(&format!("did not end within {} s of being asked to", PATIENCE_AT_END.as_secs())))
    }
}

/// Waits for a process that was asked to end; answers whether it has. One that has not is to be killed.
pub fn ends(child: &mut Child) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE_AT_END {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2)); // another's process: there is nothing to wait on
    }
    false
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            for id in children(self.id()).into_iter().chain([self.id()]) {
                if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            let _ = self.child.wait();
        }
    }
}

/// A port on loopback that nobody listens on now.
pub fn free_port() -> Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map_err(LabError::io("finding a free port"))
}

/// Why nothing can be built here that is in C.
pub fn no_compiler() -> Option<String> {
    said_by("cc", "--version").is_none().then(|| "no C compiler; `apt-get install gcc libc6-dev`".to_owned())
}

/// The first line that a program prints for an argument such as `--version`; `None` if it cannot be run.
pub fn said_by(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    let text = String::from_utf8_lossy(if output.stdout.is_empty() { &output.stderr } else { &output.stdout });
    Some(text.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_is_an_error_with_its_last_words() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { dir: dir.path(), traced: None };
        let mut command = Command::new("sh");
        let error = place.start("a shell", command.args(["-c", "echo no room >&2; exit 3"]), || false).err().unwrap();
        let error = error.to_string();
        assert!(error.contains("a shell ended (exit status: 3)") && error.contains("no room"), "{error}");
    }

    #[test]
    fn a_dropped_server_leaves_no_process() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place { dir: dir.path(), traced: None };
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 1000 & echo http://127.0.0.1:1/; wait"]);
        let (process, address) = place.start_that_says("a shell", &mut command).unwrap();
        assert_eq!(address.port(), 1);
        let family = family(process.id());
        assert!(family.len() >= 2, "{family:?}");
        drop(process);
        // A killed process ends when it is scheduled next.
        let deadline = Instant::now() + Duration::from_secs(20);
        for id in family {
            loop {
                let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
                if state.is_empty() || state.contains(") Z") {
                    break;
                }
                assert!(Instant::now() < deadline, "{state}");
                std::thread::yield_now();
            }
        }
    }
}
