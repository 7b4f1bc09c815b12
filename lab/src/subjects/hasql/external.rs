//! A program of its own that is a client of `PostgreSQL`: calls as the lines of docs/src/external-subjects.md. The
//! server is the laboratory's; each client is a process.

use std::fmt::Write as _; // to a String, which cannot fail
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::super::calls::Timed;
use super::super::external::{Hello, Program, Source, lines};
use super::{Answer, Call, Client, Database, Day, Moved, Person, Set};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, postgresql};
use crate::subjects::Given;

/// Rows of one INSERT.
const LOADED_AT_ONCE: usize = 1000;

pub(super) fn open(source: Source, dir: &Path, given: &Given) -> Result<Box<dyn Database>> {
    let (process, address, fresh) = postgresql::start(&Place { dir, traced: None })?;
    let mut database =
        External { source, given: given.clone(), dir: dir.to_owned(), process, address, settings: String::new() };
    if fresh {
        let mut program = database.program()?;
        for set in [Set::Few, Set::Many, Set::None] {
            let columns = "(id SERIAL PRIMARY KEY, name VARCHAR NOT NULL, birthday DATE)";
            sql(&mut program, &format!("CREATE TABLE {} {columns}", set.name()))?;
        }
        sql(&mut program, "CREATE TABLE balances (id SERIAL PRIMARY KEY, balance INT8)")?;
        let cost = program.cost()?;
        database.settings = format!("{}; {cost}", program.about);
        program.close()?;
    }
    Ok(Box::new(database))
}

/// Executes and commits; untimed.
fn sql(program: &mut Program, text: &str) -> Result<()> {
    program.set_up(&lines::line(&["sql", text]))
}

struct External {
    source: Source,
    given: Given,
    dir: PathBuf,
    process: Process,
    address: SocketAddr,
    /// The program's description of itself, if it was asked.
    settings: String,
}

impl External {
    fn program(&self) -> Result<Program> {
        let hello = Hello { experiment: "hasql", dir: &self.dir, server: Some(self.address) };
        Program::start(self.source, &self.given, &hello)
    }
}

impl Database for External {
    fn load(&mut self, set: Set, people: &[Person]) -> Result<()> {
        let mut program = self.program()?;
        for some in people.chunks(LOADED_AT_ONCE) {
            let mut text = format!("INSERT INTO {} (id, name, birthday) VALUES ", set.name());
            for (at, person) in some.iter().enumerate() {
                let comma = if at == 0 { "" } else { "," };
                let born = person.birthday.map_or("NULL".to_owned(), |day| format!("DATE '1970-01-01' + {}", day.0));
                let _ = write!(text, "{comma}({},'{}',{born})", person.id, person.name.replace('\'', "''"));
            }
            sql(&mut program, &text)?;
        }
        sql(&mut program, &format!("ANALYZE {}", set.name()))?;
        program.close()
    }
    fn load_accounts(&mut self, count: i32) -> Result<()> {
        let mut program = self.program()?;
        sql(
            &mut program,
            &format!("INSERT INTO balances (id, balance) SELECT id, 0 FROM generate_series(1, {count}) id"),
        )?;
        sql(&mut program, "ANALYZE balances")?;
        program.close()
    }
    fn client(&self) -> Result<Box<dyn Client>> {
        Ok(Box::new(Remote { program: self.program()? }))
    }
    fn settings(&self) -> String {
        format!("{}; server: fsync=on, synchronous_commit=on, shared_buffers=256MB; TCP on loopback", self.settings)
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.process.stop()
    }
}

struct Remote {
    program: Program,
}

/// A call as lines, one for each time that it is to be done.
fn operations(call: &Call) -> Vec<String> {
    match *call {
        Call::All(set) => vec![lines::line(&["all", set.name()])],
        Call::Between { above, below, not, count } => {
            let (above, below, not) = (above.to_string(), below.to_string(), not.0.to_string());
            vec![lines::line(&["between", Set::None.name(), &above, &below, &not]); count as usize]
        }
        Call::Transfer(from, to) => vec![lines::line(&["transfer", &from.to_string(), &to.to_string()])],
    }
}

/// The sum that a program must have computed from a row.
fn weight(row: &[String]) -> i64 {
    let number = |text: &String| text.parse::<i64>().unwrap_or_default();
    match row {
        [word, id, name, day] if word == "person" => {
            number(id) + i64::try_from(name.len()).unwrap_or_default() + number(day)
        }
        [_, numbers @ ..] => numbers.iter().map(number).sum(),
        [] => 0,
    }
}

fn person(row: &[String]) -> Option<Person> {
    match row {
        [word, id, name, day] if word == "person" => {
            let birthday = if day.is_empty() { None } else { Some(Day(day.parse().ok()?)) };
            Some(Person { id: id.parse().ok()?, name: name.clone(), birthday })
        }
        _ => None,
    }
}

fn moved(row: &[String]) -> Option<Moved> {
    match row {
        [word, from, to] if word == "moved" => Some(Moved::From(from.parse().ok()?, to.parse().ok()?)),
        [word] if word == "conflict" => Some(Moved::Conflict),
        _ => None,
    }
}

fn not_understood(expected: &str, rows: &[Vec<String>]) -> LabError {
    let found: String =
        rows.iter().flatten().fold(String::new(), |all, field| all + field + " ").chars().take(200).collect();
    LabError::Wrong { what: "rows of an answer".to_owned(), expected: expected.to_owned(), found }
}

fn answer(call: &Call, rows: &[Vec<String>]) -> Result<Answer> {
    let found = match (call, rows) {
        (Call::All(_), rows) => rows.iter().map(|row| person(row)).collect::<Option<Vec<_>>>().map(Answer::People),
        (Call::Between { .. }, rows) => Some(Answer::Rows(rows.len() as u64)),
        (Call::Transfer(..), [row]) => moved(row).map(Answer::Moved),
        (Call::Transfer(..), _) => None,
    };
    found.ok_or_else(|| not_understood("person ID NAME DAY; moved A B; or conflict", rows))
}

impl Client for Remote {
    fn run(&mut self, calls: &[Call]) -> Result<Timed<Answer>> {
        let each: Vec<Vec<String>> = calls.iter().map(operations).collect();
        let timed = self.program.batch(&each.concat(), weight)?;
        let mut rows = timed.answers.into_iter();
        let answers = calls.iter().zip(&each).map(|(call, operations)| {
            let own: Vec<Vec<String>> = rows.by_ref().take(operations.len()).flatten().collect();
            answer(call, &own)
        });
        let answers = answers.collect::<Result<Vec<_>>>()?;
        Ok(Timed { answers, wall_ns: timed.wall_ns, latencies_ns: timed.latencies_ns, note: timed.note })
    }
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        match self.run(&[Call::All(set)])?.answers.pop() {
            Some(Answer::People(people)) => Ok(people),
            _ => Err(not_understood("people", &[])),
        }
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        match self.run(&[Call::Between { above, below, not, count }])?.answers.pop() {
            Some(Answer::Rows(rows)) => Ok(rows),
            _ => Err(not_understood("rows", &[])),
        }
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        match self.run(&[Call::Transfer(from, to)])?.answers.pop() {
            Some(Answer::Moved(moved)) => Ok(moved),
            _ => Err(not_understood("moved or conflict", &[])),
        }
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        let rows = self.program.batch(&[lines::line(&["balances"])], weight)?.answers.concat();
        let found = match rows.as_slice() {
            [row] => row.iter().skip(1).map(|balance| balance.parse().ok()).collect::<Option<Vec<i64>>>(),
            _ => None,
        };
        found.ok_or_else(|| not_understood("balances N...", &rows))
    }
}
