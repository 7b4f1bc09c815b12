//! Peers that are packages of Python: a program of a few lines, to which a line of JSON goes for each ask, and which
//! sends rows back as one. `scripts/python-packages` installs them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::Value;

use super::external;
use crate::error::{LabError, Result};
use crate::given::PYTHON;
use crate::servers::ends;

/// A package, which is installed in `external/NAME/packages`.
pub(super) struct Package {
    pub(super) name: &'static str,
    /// The program that asks it.
    pub(super) program: &'static str,
}

/// A program that answers.
pub(super) struct PythonProcess {
    child: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Told {
    #[serde(default)]
    rows: Vec<Vec<Value>>,
    #[serde(default)]
    error: Option<String>,
}

impl Package {
    fn packages(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("external").join(self.name).join("packages")
    }

    /// Why it cannot be started.
    pub(super) fn missing(&self) -> Option<String> {
        let there = self.packages().join(self.name).join("__init__.py").is_file();
        (!there).then(|| format!("its package is not installed; `scripts/python-packages {}`", self.name))
    }

    /// Its version.
    pub(super) fn version(&self) -> String {
        let found = std::fs::read_dir(self.packages()).into_iter().flatten().flatten().find_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_prefix(self.name)?.strip_prefix('-')?.strip_suffix(".dist-info")?.to_owned())
        });
        found.unwrap_or_else(|| "unknown".to_owned())
    }

    /// Starts its program with a new file.
    pub(super) fn start(&self, file: &Path) -> Result<PythonProcess> {
        let program = external::place(&format!("python-{}", self.name), &[("main.py", self.program)])?.join("main.py");
        let mut command = Command::new(PYTHON);
        // -B: nothing is written beside the package.
        command.arg("-B").arg(program).arg(file).env("PYTHONPATH", self.packages());
        let failed = LabError::io(format!("starting the program of {}", self.name));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let no_pipe = || LabError::Worker { what: format!("the program of {} has no pipe", self.name) };
        let asks = child.stdin.take().ok_or_else(no_pipe)?;
        let answers = BufReader::new(child.stdout.take().ok_or_else(no_pipe)?);
        Ok(PythonProcess { child, asks, answers })
    }
}

impl PythonProcess {
    /// The rows that it answers.
    pub(super) fn rows(&mut self, ask: &Value) -> Result<Vec<Vec<Value>>> {
        let failed = || LabError::io("asking a program in Python");
        writeln!(self.asks, "{ask}").and_then(|()| self.asks.flush()).map_err(failed())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(failed())?;
        let told: Told = serde_json::from_str(&line).map_err(LabError::subject("an answer in Python"))?;
        match told.error {
            None => Ok(told.rows),
            Some(why) => Err(LabError::Subject { what: ask.to_string().chars().take(300).collect(), why }),
        }
    }

    /// Ends it in order.
    pub(super) fn close(self) -> Result<()> {
        let PythonProcess { mut child, asks, .. } = self;
        drop(asks);
        if ends(&mut child) {
            return Ok(());
        }
        child.kill().and_then(|()| child.wait()).map_err(LabError::io("killing a program in Python"))?;
        Err(LabError::Worker { what: "a program in Python did not end by itself".to_owned() })
    }
}

/// A cell that is a text.
pub(super) fn word(row: &[Value], at: usize) -> String {
    row.get(at).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A cell that is a number.
pub(super) fn number(row: &[Value], at: usize) -> u64 {
    row.get(at).and_then(Value::as_u64).unwrap_or(u64::MAX)
}
