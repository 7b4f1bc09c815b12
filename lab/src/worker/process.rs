//! A worker as the laboratory sees it: a child process that answers one command at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command as Program, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use super::protocol::{Command, Line, Reply};
use crate::error::{LabError, Result};
use crate::measure::budget::Budget;
use crate::measure::trace;
use crate::servers::ends;

/// A worker that says nothing for so long has hung.
const PATIENCE: Duration = Duration::from_mins(15);
/// Bytes of a worker's standard error that are quoted.
const QUOTED_BYTES: usize = 600;

/// The way a worker is started.
pub enum Launch<'b> {
    /// As it is.
    Plain,
    /// Under `strace`, which writes into this file.
    Traced(PathBuf),
    /// With a budget of memory.
    Within(&'b Budget),
    /// With a loss of power to come.
    Losing(Loss),
}

/// A loss of power that is made by what is preloaded: see `workloads/crash/power_loss.c`.
pub struct Loss {
    /// The preloaded library.
    pub library: PathBuf,
    /// The store's directory.
    pub root: PathBuf,
    /// The directory of the second image.
    pub shadow: PathBuf,
    /// The file in which calls are counted.
    pub events: PathBuf,
    /// The call at which the power fails; 0: none.
    pub cut_at: u64,
    /// The seed by which some of what was not synced survives; 0: nothing does.
    pub survives: u64,
}

/// A running worker; it is killed when it is dropped.
pub struct Worker {
    child: Child,
    commands: Option<ChildStdin>,
    answers: Receiver<String>,
    errors: PathBuf,
}

impl Worker {
    /// Starts one. What it prints to its standard error goes into `errors`.
    pub fn start(program: &Path, launch: &Launch<'_>, errors: PathBuf) -> Result<Self> {
        let mut start = match launch {
            Launch::Plain => Program::new(program),
            Launch::Traced(file) => {
                let mut start = Program::new("strace");
                start.args(trace::arguments(file)).arg(program);
                start
            }
            Launch::Losing(loss) => {
                let mut start = Program::new(program);
                start.env("LD_PRELOAD", &loss.library).env("LAB_LOSS_ROOT", &loss.root);
                start.env("LAB_LOSS_SHADOW", &loss.shadow).env("LAB_LOSS_EVENTS", &loss.events);
                start.env("LAB_LOSS_CUT_AT", loss.cut_at.to_string());
                start.env("LAB_LOSS_SURVIVES", loss.survives.to_string());
                start
            }
            Launch::Within(budget) => {
                let mut start = Program::new("sh");
                start.args(["-c", "echo $$ >\"$0\" && exec \"$@\""]).arg(budget.entrance()).arg(program);
                let (name, value) = budget.tells();
                start.env(name, value);
                start
            }
        };
        let file = File::create(&errors).map_err(LabError::io("making the worker's error file"))?;
        // A group of its own: Ctrl-C is for the laboratory, which then ends its workers in order.
        let mut child = start
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file)
            .process_group(0)
            .spawn()
            .map_err(LabError::io("starting a worker"))?;
        let (commands, answered) = (child.stdin.take(), child.stdout.take());
        let (sender, answers) = sync_channel(4);
        if let Some(answered) = answered {
            std::thread::spawn(move || {
                for line in BufReader::new(answered).lines().map_while(std::result::Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Worker { child, commands, answers, errors })
    }

    /// Sends a command and waits for the reply.
    pub fn ask(&mut self, command: &Command) -> Result<Reply> {
        let text = serde_json::to_string(command).map_err(LabError::subject("a command"))?;
        let sent = self.commands.as_mut().map(|commands| writeln!(commands, "{text}").and_then(|()| commands.flush()));
        if !matches!(sent, Some(Ok(()))) {
            return Err(self.ended());
        }
        let line = loop {
            match self.answers.recv_timeout(PATIENCE) {
                // Lines that are not ours are what a library prints to standard output.
                Ok(line) => {
                    if let Ok(line) = serde_json::from_str::<Line>(&line) {
                        break line;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    return Err(LabError::Worker {
                        what: format!("no answer in {} s; its process was ended", PATIENCE.as_secs()),
                    });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        };
        match line {
            Line::Done(reply) => Ok(*reply),
            Line::Unavailable(reason) => Err(LabError::Unavailable { reason }),
            Line::Failed(what) => Err(LabError::Worker { what }),
        }
    }

    /// The worker has ended by itself: how, and what it said last.
    fn ended(&mut self) -> LabError {
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let said = std::fs::read(&self.errors).unwrap_or_default();
        let tail = said.get(said.len().saturating_sub(QUOTED_BYTES)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail).trim().replace('\n', " | ");
        LabError::Worker { what: format!("its process ended ({status}) {tail}").trim_end().to_owned() }
    }

    /// Kills it at once, as a crash does.
    pub fn kill(mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Lets it end in order; one that does not is killed.
    pub fn end(mut self) {
        self.commands = None;
        ends(&mut self.child);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.commands = None;
        // Its whole group: a server that it has started is never left behind.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw)
            && matches!(self.child.try_wait(), Ok(None))
        {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_does_not_end_is_killed_and_holds_up_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("deaf");
        std::fs::write(&program, "#!/bin/sh\nwhile :; do sleep 1; done\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let worker = Worker::start(&program, &Launch::Plain, dir.path().join("errors")).unwrap();
        let (id, begin) = (worker.child.id(), std::time::Instant::now());
        worker.end();
        assert!(begin.elapsed() < Duration::from_secs(40));
        assert!(!Path::new(&format!("/proc/{id}")).exists());
    }

    #[test]
    fn a_worker_that_ends_by_itself_is_an_error_with_its_last_words() {
        let dir = tempfile::tempdir().unwrap();
        // A shell that is given `worker` as its script, which there is not.
        let mut worker = Worker::start(Path::new("sh"), &Launch::Plain, dir.path().join("errors")).unwrap();
        let error = worker.ask(&Command::Usage).unwrap_err().to_string();
        assert!(error.starts_with("its process ended (exit status:") && error.contains("worker"), "{error}");
    }
}
