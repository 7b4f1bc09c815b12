//! `DuckDB` in a program in Python, one line out and one back for an ask: a table of numbers and JSON texts, read from
//! a file of lines. `scripts/python-packages duckdb` installs it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

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

    fn groups(&mut self, path: &str) -> Result<Answer> {
        let text = format!(
            "SELECT body->>'{path}' AS name, sum((body->>'$.total')::BIGINT)::BIGINT, count(*) FROM orders GROUP BY \
             name ORDER BY name"
        );
        let rows = self.rows(&text, &json!([]))?;
        Ok(Answer::Groups(rows.iter().map(|row| (word(row, 0), number(row, 1), number(row, 2))).collect()))
    }
}

fn id_of(row: &[Value]) -> String {
    id(number(row, 0))
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
        self.asked.close()
    }
}
