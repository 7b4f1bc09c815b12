//! One program that speaks the lines: it is started, given batches, timed from outside, and ended.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use super::lines::{fields, line};
use super::{Given, Source};
use crate::error::{LabError, Result};
use crate::measure::clock::nanos;
use crate::subjects::calls::Timed;

/// The version of the lines.
const VERSION: &str = "1";
/// Bytes of one line: `done` names the time of each operation.
const LINE_MAX: u64 = 32 << 20;
/// Rows of one answer.
const ROWS_MAX: usize = 10_000_000;
/// Bytes of a program's standard error that are quoted.
const QUOTED_BYTES: usize = 600;
/// Empty operations of the measurement of what the pipe costs.
const EMPTY: usize = 1000;

/// Rows of an answer: fields each.
pub(super) type Rows = Vec<Vec<String>>;

/// The first message to a program.
pub struct Hello<'h> {
    /// `goget` or `hasql`.
    pub experiment: &'h str,
    /// The directory of its store.
    pub dir: &'h Path,
    /// The server, if the laboratory has started one.
    pub server: Option<SocketAddr>,
}

/// A running program; it is killed when it is dropped.
pub struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    errors: PathBuf,
    /// Its description of itself.
    pub about: String,
}

impl Program {
    /// Starts it and hears what it is.
    pub fn start(source: Source, given: &Given, hello: &Hello<'_>) -> Result<Self> {
        let errors = hello.dir.join(format!("program-{}.stderr", std::process::id()));
        let file = File::create(&errors).map_err(LabError::io("making the program's error file"))?;
        let mut command = source.command(given)?;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(file)
            .spawn()
            .map_err(LabError::io(format!("starting {}", command.get_program().display())))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(LabError::Worker { what: "a program was started without pipes".to_owned() });
        };
        let mut program = Program { child, input, output: BufReader::new(output), errors, about: String::new() };
        let mut first =
            ["hello", VERSION, hello.experiment, &hello.dir.display().to_string()].map(str::to_owned).to_vec();
        first.extend(hello.server.iter().flat_map(|at| [at.ip().to_string(), at.port().to_string()]));
        program.say(&line(&first))?;
        match program.hear()?.as_slice() {
            [word, version, about, settings] if word == "hello" && version == VERSION => {
                program.about = format!("{about}: {settings}");
            }
            other => return Err(not_understood("hello, version 1, a name and settings", other)),
        }
        Ok(program)
    }

    /// Sends lines and waits for `ok`. Not timed.
    pub fn set_up(&mut self, lines: &str) -> Result<()> {
        self.say(lines)?;
        self.expect(&["ok"])
    }

    /// Has operations done, each a line: the clock runs from before they may begin until all are said to be done.
    /// `weigh` is what the program has to have seen of a row when it says so.
    pub fn batch(&mut self, operations: &[String], weigh: impl Fn(&[String]) -> i64) -> Result<Timed<Rows>> {
        let mut lines = line(&["batch".to_owned(), operations.len().to_string()]);
        lines.extend(operations.iter().map(String::as_str));
        self.say(&lines)?;
        self.expect(&["ready"])?;
        let start = Instant::now();
        self.say("go\n")?;
        let done = self.hear_raw()?;
        let wall_ns = nanos(start.elapsed());
        let done = Self::understood(&done)?;
        let numbers: Option<Vec<i64>> = match done.split_first() {
            Some((word, numbers)) if word == "done" => numbers.iter().map(|number| number.parse().ok()).collect(),
            _ => None,
        };
        let (weight, latencies) = match numbers.as_deref() {
            Some([weight, latencies @ ..]) if latencies.len() == operations.len() => (*weight, latencies),
            _ => return Err(not_understood("done, a weight and the time of each operation", &done)),
        };
        let latencies_ns: Vec<u64> = latencies.iter().map(|ns| u64::try_from(*ns).unwrap_or_default()).collect();
        let own: u64 = latencies_ns.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
        if own > wall_ns {
            return Err(wrong("the times that a program says", &format!("at most {wall_ns} ns together"), &own));
        }
        self.say("results\n")?;
        let mut answers = Vec::with_capacity(operations.len());
        for _ in operations {
            answers.push(self.rows()?);
        }
        let found: i64 = answers.iter().flatten().map(|row| weigh(row)).fold(0, i64::wrapping_add);
        if found != weight {
            return Err(wrong("the weight of results, said when they were done", &found, &weight));
        }
        let note = Some("a program of its own: quantiles are by its own clock".to_owned());
        Ok(Timed { wall_ns, latencies_ns, answers, note })
    }

    /// The cost of the pipe, in words: an empty batch, and one of a thousand empty operations.
    pub fn cost(&mut self) -> Result<String> {
        let nothing = line(&["nothing"]);
        let many = vec![nothing.clone(); EMPTY];
        let mut median = |operations: &[String], times: usize| -> Result<u64> {
            let mut walls = (0..times)
                .map(|_| self.batch(operations, |_| 0).map(|timed| timed.wall_ns))
                .collect::<Result<Vec<_>>>()?;
            walls.sort_unstable();
            Ok(walls.get(times / 2).copied().unwrap_or_default())
        };
        let (one, all) = (median(&[nothing], 51)?, median(&many, 11)?);
        Ok(format!(
            "one empty operation through the pipe takes {:.1} us, one of a thousand {} ns; nothing is subtracted",
            crate::measure::stats::as_f64(one as usize) / 1000.0,
            all / EMPTY as u64
        ))
    }

    /// Closes its store in order and waits for its end.
    pub fn close(mut self) -> Result<()> {
        self.set_up(&line(&["close"]))?;
        let status = self.child.wait().map_err(LabError::io("waiting for a program"))?;
        if status.success() { Ok(()) } else { Err(self.failed(&format!("its program ended ({status})"))) }
    }

    fn rows(&mut self) -> Result<Rows> {
        let head = self.hear()?;
        let count = match head.as_slice() {
            [word, count] if word == "rows" => count.parse().ok().filter(|count| *count <= ROWS_MAX),
            _ => None,
        };
        let count = count.ok_or_else(|| not_understood("rows and their number, at most ten millions", &head))?;
        (0..count).map(|_| self.hear()).collect()
    }

    fn say(&mut self, text: &str) -> Result<()> {
        let said = self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush());
        said.map_err(|error| {
            // It has ended, or is ending; what it said last is why.
            let last = self.hear_raw().map(|last| last.trim().replace('\t', " ")).unwrap_or_default();
            self.failed(&format!("its program does not listen ({error}) {last}"))
        })
    }

    fn expect(&mut self, expected: &[&str]) -> Result<()> {
        let found = self.hear()?;
        if found == expected { Ok(()) } else { Err(not_understood(expected.first().unwrap_or(&""), &found)) }
    }

    fn hear(&mut self) -> Result<Vec<String>> {
        let text = self.hear_raw()?;
        Self::understood(&text)
    }

    fn hear_raw(&mut self) -> Result<String> {
        let mut text = String::new();
        let read = self.output.by_ref().take(LINE_MAX).read_line(&mut text);
        match read {
            Ok(_) if text.ends_with('\n') => Ok(text),
            Ok(0) => Err(self.failed("its program ended without an answer")),
            Ok(_) => Err(self.failed("its program answered half a line")),
            Err(error) => Err(self.failed(&format!("its program cannot be read: {error}"))),
        }
    }

    fn understood(text: &str) -> Result<Vec<String>> {
        let found = fields(text.trim_end_matches('\n'));
        match found.as_slice() {
            [word, why @ ..] if word == "error" => {
                Err(LabError::Subject { what: "a program of its own".to_owned(), why: why.join(" ") })
            }
            _ => Ok(found),
        }
    }

    fn failed(&self, how: &str) -> LabError {
        let said = std::fs::read(&self.errors).unwrap_or_default();
        let tail = said.get(said.len().saturating_sub(QUOTED_BYTES)..).unwrap_or_default();
        let tail = String::from_utf8_lossy(tail).trim().replace('\n', " | ");
        LabError::Worker { what: format!("{how} {tail}").trim_end().to_owned() }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.errors);
    }
}

fn not_understood(expected: &str, found: &[String]) -> LabError {
    let found: String = found.join(" ").chars().take(200).collect();
    LabError::Subject {
        what: "the lines of a program".to_owned(),
        why: format!("expected {expected}, found \"{found}\""),
    }
}

fn wrong(what: &str, expected: &dyn ToString, found: &dyn ToString) -> LabError {
    LabError::Wrong { what: what.to_owned(), expected: expected.to_string(), found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that says these lines, whatever it is told, and ends with its input.
    fn saying(dir: &Path, said: &str) -> Result<Program> {
        let script = dir.join("program.sh");
        std::fs::write(&script, format!("printf '{said}'\ncat >/dev/null\n")).unwrap();
        let given = Given { external: Some(format!("sh {}", script.display())), ..Given::default() };
        Program::start(Source::Given, &given, &Hello { experiment: "goget", dir, server: None })
    }

    #[test]
    fn a_batch_is_timed_from_outside_and_its_rows_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let said = "hello\\t1\\tx\\ty\\nready\\ndone\\t7\\t1\\t0\\nrows\\t2\\na\\t3\\na\\t4\\nrows\\t0\\nok\\n";
        let mut program = saying(dir.path(), said).unwrap();
        assert_eq!(program.about, "x: y");
        let operations = [line(&["list"]), line(&["nothing"])];
        let timed = program.batch(&operations, |row| row[1].parse().unwrap()).unwrap();
        assert_eq!(
            (timed.latencies_ns, timed.answers),
            (vec![1, 0], vec![vec![vec!["a".into(), "3".into()], vec!["a".into(), "4".into()]], vec![]])
        );
        assert!(timed.wall_ns > 0);
    }

    #[test]
    fn a_program_that_lies_or_speaks_otherwise_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        for (said, part) in [
            ("", "its program"),
            ("hello\\t2\\tx\\ty\\n", "expected hello, version 1"),
            ("error\\tno room\\n", "no room"),
            ("hello\\t1\\tx\\ty\\nready\\ndone\\t8\\t1\\nrows\\t1\\na\\t7\\n", "the weight of results"),
            (
                "hello\\t1\\tx\\ty\\nready\\ndone\\t7\\t999999999999999\\nrows\\t1\\na\\t7\\n",
                "the times that a program says",
            ),
            ("hello\\t1\\tx\\ty\\nready\\ndone\\t7\\n", "the time of each operation"),
            ("hello\\t1\\tx\\ty\\nready\\ndone\\t7\\t1\\nrows\\t99999999\\n", "at most ten millions"),
            ("hello\\t1\\tx\\ty\\nready\\ndone\\t7\\t1\\nrow\\t1\\n", "expected rows"),
            ("hello\\t1\\tx\\ty\\nwhat\\n", "expected ready"),
        ] {
            // A program that prints nothing must end too.
            let script = dir.path().join("program.sh");
            let tried = if said.is_empty() {
                std::fs::write(&script, "exit 3").unwrap();
                let given = Given { external: Some(format!("sh {}", script.display())), ..Given::default() };
                Program::start(Source::Given, &given, &Hello { experiment: "goget", dir: dir.path(), server: None })
            } else {
                saying(dir.path(), said)
            };
            let found = tried.and_then(|mut program| {
                program.batch(&[line(&["get", "1"])], |row| row[1].parse().unwrap()).map(|_| ())
            });
            let error = found.unwrap_err().to_string();
            assert!(error.contains(part), "{said}: {error}");
        }
    }
}
