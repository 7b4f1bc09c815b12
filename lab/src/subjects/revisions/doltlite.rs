//! `DoltLite`, `SQLite` with commits and branches, in a program in Python: a table of the documents, of which every
//! commit is kept. Each branch has a connection of its own.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Numbered, Revisions, branch_name};
use crate::error::{LabError, Result};
use crate::measure::filesystem::bytes_on_disk;
use crate::subjects::python::{Package, PythonProcess, number, word};

pub(super) const PACKAGE: Package =
    Package { name: "doltlite", program: include_str!("../../../external/doltlite/main.py") };

const MAIN: &str = "main";
const WRITE: &str = "INSERT INTO accounts VALUES (?1, ?2) ON CONFLICT (number) DO UPDATE SET body = excluded.body";
const COMMIT: &str = "SELECT dolt_commit('-A', '-m', 'accounts')";

struct Repository {
    dir: PathBuf,
    asked: PythonProcess,
    /// The hash of each commit on the main line; a moment is a place here.
    commits: Vec<String>,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Revisions>> {
    let dir = dir.join("doltlite");
    std::fs::create_dir_all(&dir).map_err(LabError::io("making a folder"))?;
    let asked = PACKAGE.start(&dir.join("accounts.db"))?;
    let mut made = Repository { dir, asked, commits: Vec::new() };
    made.ask("CREATE TABLE accounts (number INTEGER PRIMARY KEY, body TEXT NOT NULL)", &json!([]))?;
    made.ask("CREATE INDEX by_state ON accounts (body->>'$.state')", &json!([]))?;
    made.ask(COMMIT, &json!([]))?;
    Ok(Box::new(made))
}

type Rows = Vec<Vec<Value>>;

impl Repository {
    fn on(&mut self, branch: &str, text: &str, parameters: &Value) -> Result<Rows> {
        self.asked.rows(&json!([branch, text, parameters, false]))
    }

    fn ask(&mut self, text: &str, parameters: &Value) -> Result<Rows> {
        self.on(MAIN, text, parameters)
    }

    /// The commit's hash. Its own commit syncs once for both; that of the transaction has nothing left to sync.
    fn commit(&mut self, branch: &str, documents: &[Numbered]) -> Result<String> {
        self.on(branch, "BEGIN", &json!([]))?;
        self.asked.rows(&json!([branch, WRITE, documents, true]))?;
        let made = self.on(branch, COMMIT, &json!([]))?;
        self.on(branch, "COMMIT", &json!([]))?;
        Ok(made.first().map(|row| word(row, 0)).unwrap_or_default())
    }

    fn hash(&self, moment: u64) -> Result<String> {
        let none = || LabError::Worker { what: format!("there is no commit {moment}") };
        self.commits.get(moment as usize).cloned().ok_or_else(none)
    }

    /// What the commits that changed a document made of it, by their places.
    fn changes(&mut self, number: u64, what: &str) -> Result<Vec<(u64, Value)>> {
        let text = format!("SELECT to_commit, {what} FROM dolt_diff_accounts WHERE to_number = ?1");
        let rows = self.ask(&text, &json!([number]))?;
        let place = |row: &Vec<Value>| {
            let hash = word(row, 0);
            let at = self.commits.iter().rposition(|known| *known == hash)?;
            Some((at as u64, row.get(1).cloned().unwrap_or_default()))
        };
        let mut found: Vec<_> = rows.iter().filter_map(place).collect();
        found.sort_by_key(|(at, _)| *at);
        Ok(found)
    }
}

fn only(rows: &Rows) -> Option<String> {
    rows.first().map(|row| word(row, 0))
}

impl Revisions for Repository {
    fn write(&mut self, documents: &[Numbered]) -> Result<u64> {
        let hash = self.commit(MAIN, documents)?;
        self.commits.push(hash);
        Ok(self.commits.len() as u64 - 1)
    }
    fn newest(&mut self, number: u64) -> Result<Option<String>> {
        self.ask("SELECT body FROM accounts WHERE number = ?1", &json!([number])).map(|rows| only(&rows))
    }
    fn as_of(&mut self, number: u64, moment: u64) -> Result<Option<String>> {
        let text = "SELECT body FROM dolt_at_accounts(?1) WHERE number = ?2";
        self.ask(text, &json!([self.hash(moment)?, number])).map(|rows| only(&rows))
    }
    fn list(&mut self, number: u64) -> Result<Vec<u64>> {
        self.changes(number, "NULL").map(|found| found.into_iter().map(|(at, _)| at).collect())
    }
    fn member(&mut self, number: u64) -> Result<Vec<i64>> {
        let found = self.changes(number, "to_body->>'$.balance'")?;
        Ok(found.into_iter().map(|(_, balance)| balance.as_i64().unwrap_or(i64::MIN)).collect())
    }
    fn in_state(&mut self, state: &str, moment: u64) -> Result<Vec<u64>> {
        let text = "SELECT number FROM dolt_at_accounts(?1) WHERE body->>'$.state' = ?2 ORDER BY number";
        let rows = self.ask(text, &json!([self.hash(moment)?, state]))?;
        Ok(rows.iter().map(|row| number(row, 0)).collect())
    }
    fn bytes(&mut self) -> Result<u64> {
        self.ask("SELECT dolt_gc()", &json!([]))?;
        bytes_on_disk(&self.dir)
    }
    fn fork(&mut self, branch: u64) -> Result<()> {
        self.ask("SELECT dolt_branch(?1)", &json!([branch_name(branch)])).map(drop)
    }
    fn write_on(&mut self, branch: u64, documents: &[Numbered]) -> Result<()> {
        self.commit(&branch_name(branch), documents).map(drop)
    }
    fn newest_on(&mut self, branch: u64, number: u64) -> Result<Option<String>> {
        let text = "SELECT body FROM accounts WHERE number = ?1";
        self.on(&branch_name(branch), text, &json!([number])).map(|rows| only(&rows))
    }
    fn range(&mut self, branch: Option<u64>, from: u64, count: u64) -> Result<Vec<Numbered>> {
        let branch = branch.map_or_else(|| MAIN.to_owned(), branch_name);
        let text = "SELECT number, body FROM accounts WHERE number >= ?1 ORDER BY number LIMIT ?2";
        let rows = self.on(&branch, text, &json!([from, count]))?;
        Ok(rows.iter().map(|row| (number(row, 0), word(row, 1))).collect())
    }
    fn differing(&mut self, branch: u64) -> Result<Vec<u64>> {
        let text = "SELECT coalesce(to_number, from_number) FROM dolt_diff_accounts('main', ?1)";
        let rows = self.ask(text, &json!([branch_name(branch)]))?;
        Ok(rows.iter().map(|row| number(row, 0)).collect())
    }
    fn merge(&mut self, branch: u64) -> Result<()> {
        let rows = self.ask("SELECT dolt_merge(?1)", &json!([branch_name(branch)]))?;
        self.commits.extend(only(&rows));
        Ok(())
    }
    fn settings(&self) -> String {
        "defaults (WAL, synchronous=FULL); an index by state, which its reads of the past do not use; a commit of the \
         version a commit; dolt_gc before its size is read; asked by lines, whose JSON is within the time"
            .to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.asked.close()
    }
}
