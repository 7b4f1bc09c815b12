//! `DuckDB` in a program in Python, one line out and one back for an ask: a table of numbers and JSON texts, read from
//! a file of lines. `scripts/python-packages duckdb` installs it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::events::{Event, Names};
use super::model::{Answer, Ask, Order, id};
use super::{Orders, not_asked};
use crate::error::{LabError, Result};
use crate::subjects::python::{Package, PythonProcess, number, word};

pub(super) const PACKAGE: Package =
    Package { name: "duckdb", program: include_str!("../../../external/duckdb/main.py") };

struct Table {
    dir: PathBuf,
    asked: PythonProcess,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Orders>> {
    Ok(Box::new(Table { dir: dir.to_owned(), asked: PACKAGE.start(&dir.join("orders.duckdb"))? }))
}

impl Table {
    fn rows(&mut self, text: &str, parameters: &Value) -> Result<Vec<Vec<Value>>> {
        self.asked.rows(&json!([text, parameters]))
    }

    /// Makes a table of a file of lines, which are a number and a text each.
    fn load_lines(&mut self, table: &str, lines: impl Iterator<Item = (u64, String)>) -> Result<()> {
        let file = self.dir.join(format!("{table}.ndjson"));
        let failed = || LabError::io("writing documents for DuckDB");
        let mut out = std::io::BufWriter::new(std::fs::File::create(&file).map_err(failed())?);
        for (number, body) in lines {
            writeln!(out, "{}", json!({"number": number, "body": body})).map_err(failed())?;
        }
        out.into_inner().map_err(|error| failed()(error.into_error()))?;
        let text = format!(
            "CREATE TABLE {table} AS SELECT number, body::JSON AS body FROM read_json(?, format = 'newline_delimited', \
             columns = {{number: 'BIGINT', body: 'VARCHAR'}})"
        );
        self.rows(&text, &json!([file.display().to_string()])).map(drop)
    }

    fn groups(&mut self, path: &str) -> Result<Answer> {
        let text = format!(
            "SELECT body->>'{path}' AS name, sum((body->>'$.total')::BIGINT)::BIGINT, count(*) FROM orders GROUP BY \
             name ORDER BY name"
        );
        self.grouped(&text)
    }

    fn grouped(&mut self, text: &str) -> Result<Answer> {
        let rows = self.rows(text, &json!([]))?;
        Ok(Answer::Groups(rows.iter().map(|row| (word(row, 0), number(row, 1), number(row, 2))).collect()))
    }
}

fn id_of(row: &[Value]) -> String {
    id(number(row, 0))
}

const NAMES: Names = Names {
    did: "(body->>'$.did')",
    kind: "(body->>'$.kind')",
    operation: "(body->>'$.commit.operation')",
    collection: "(body->>'$.commit.collection')",
    time_us: "CAST(body->>'$.time_us' AS BIGINT)",
    divided: "//",
};

impl Orders for Table {
    fn load(&mut self, orders: &[Order]) -> Result<()> {
        self.load_lines("orders", orders.iter().map(|order| (order.number, order.document().to_string())))
    }
    fn load_events(&mut self, events: &[Event]) -> Result<()> {
        self.load_lines("events", (0..).zip(events).map(|(number, event)| (number, event.document())))
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
            Ask::JsonBench { question } => self.grouped(&NAMES.sql(*question)),
            _ => Err(not_asked(ask)),
        }
    }
    fn settings(&self) -> String {
        "defaults; a column of JSON, no index; asked by lines, whose JSON is within the time".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.asked.close()
    }
}
