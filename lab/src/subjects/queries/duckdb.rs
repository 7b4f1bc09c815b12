//! `DuckDB` in a program in Python, one line out and one back for an ask: a table of numbers and JSON texts, read from
//! a file of lines. `scripts/python-packages duckdb` installs it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use super::model::{Answer, Ask, Order, id};
use super::{Orders, not_asked};
use crate::error::{LabError, Result};
use crate::given::PYTHON;
use crate::subjects::external;

const PROGRAM: &str = include_str!("../../../external/duckdb/main.py");

struct Table {
    dir: PathBuf,
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

fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("external/duckdb/packages")
}

/// Why it cannot be started.
pub(super) fn missing() -> Option<String> {
    let there = packages().join("duckdb/__init__.py").is_file();
    (!there).then(|| "its package is not installed; `scripts/python-packages duckdb`".to_owned())
}

/// Its version.
pub(super) fn version() -> String {
    let found = std::fs::read_dir(packages()).into_iter().flatten().flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_prefix("duckdb-")?.strip_suffix(".dist-info")?.to_owned())
    });
    found.unwrap_or_else(|| "unknown".to_owned())
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Orders>> {
    let program = external::place("queries-duckdb", &[("main.py", PROGRAM)])?.join("main.py");
    let mut command = Command::new(PYTHON);
    // -B: nothing is written beside the package.
    command.arg("-B").arg(program).arg(dir.join("orders.duckdb")).env("PYTHONPATH", packages());
    let failed = || LabError::io("starting DuckDB's program");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed())?;
    let no_pipe = || LabError::Worker { what: "DuckDB's program has no pipe".to_owned() };
    let asks = child.stdin.take().ok_or_else(no_pipe)?;
    let answers = BufReader::new(child.stdout.take().ok_or_else(no_pipe)?);
    Ok(Box::new(Table { dir: dir.to_owned(), child, asks, answers }))
}

impl Table {
    fn rows(&mut self, text: &str, parameters: &Value) -> Result<Vec<Vec<Value>>> {
        let failed = || LabError::io("asking DuckDB's program");
        writeln!(self.asks, "{}", json!([text, parameters])).and_then(|()| self.asks.flush()).map_err(failed())?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(failed())?;
        let told: Told = serde_json::from_str(&line).map_err(LabError::subject("DuckDB's answer"))?;
        match told.error {
            None => Ok(told.rows),
            Some(why) => Err(LabError::Subject { what: text.to_owned(), why }),
        }
    }

    fn groups(&mut self, path: &str) -> Result<Answer> {
        let text = format!(
            "SELECT body->>'{path}' AS name, sum((body->>'$.total')::BIGINT)::BIGINT, count(*) FROM orders GROUP BY \
             name ORDER BY name"
        );
        let rows = self.rows(&text, &json!([]))?;
        let number = |row: &[Value], at: usize| row.get(at).and_then(Value::as_u64).unwrap_or_default();
        Ok(Answer::Groups(rows.iter().map(|row| (word(row, 0), number(row, 1), number(row, 2))).collect()))
    }
}

fn word(row: &[Value], at: usize) -> String {
    row.get(at).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn id_of(row: &[Value]) -> String {
    id(row.first().and_then(Value::as_u64).unwrap_or(u64::MAX))
}

impl Orders for Table {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        let file = self.dir.join("orders.ndjson");
        let failed = || LabError::io("writing orders for DuckDB");
        let mut out = std::io::BufWriter::new(std::fs::File::create(&file).map_err(failed())?);
        for order in orders {
            let line = json!({"number": order.number, "body": order.document().to_string()});
            writeln!(out, "{line}").map_err(failed())?;
        }
        out.into_inner().map_err(|error| failed()(error.into_error()))?;
        let text = "CREATE TABLE orders AS SELECT number, body::JSON AS body FROM read_json(?, format = \
                    'newline_delimited', columns = {number: 'BIGINT', body: 'VARCHAR'})";
        self.rows(text, &json!([file.display().to_string()])).map(drop)
    }
    fn ask(&mut self, ask: &Ask) -> Result<Answer> {
        match ask {
            Ask::GroupByCountry => self.groups("$.customer.country"),
            Ask::GroupByState => self.groups("$.state"),
            Ask::Distinct => {
                let text = "SELECT DISTINCT body->>'$.customer.country' AS name FROM orders ORDER BY name";
                let rows = self.rows(text, &json!([]))?;
                Ok(Answer::Values(rows.iter().map(|row| word(row, 0)).collect()))
            }
            Ask::Contains { part } => {
                let text = "SELECT number FROM orders WHERE contains(body->>'$.note', ?)";
                let rows = self.rows(text, &json!([part]))?;
                Ok(Answer::Ids(rows.iter().map(|row| id_of(row)).collect()))
            }
            Ask::Sort { limit } => {
                let text = "SELECT number, body::VARCHAR FROM orders ORDER BY (body->>'$.placed')::BIGINT DESC LIMIT ?";
                let rows = self.rows(text, &json!([limit]))?;
                Ok(Answer::Documents(rows.iter().map(|row| (id_of(row), word(row, 1))).collect()))
            }
            _ => Err(not_asked(ask)),
        }
    }
    fn settings(&self) -> String {
        "defaults; a column of JSON, no index; asked by lines, whose JSON is within the time".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        let Table { mut child, asks, .. } = *self;
        drop(asks);
        child.wait().map(drop).map_err(LabError::io("ending DuckDB's program"))
    }
}
