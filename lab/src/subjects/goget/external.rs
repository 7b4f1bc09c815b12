//! A separate program that keeps accounts. Calls are the lines of docs/src/external-subjects.md, and its rows become
//! accounts.

use std::path::Path;

use super::super::calls::Timed;
use super::super::external::{Hello, Program, Source, lines};
use super::{Account, Accounts, Answer, Call, Item, Status};
use crate::error::{LabError, Result};
use crate::subjects::Given;

pub(super) fn open(source: Source, dir: &Path, given: &Given) -> Result<Box<dyn Accounts>> {
    let mut entries = std::fs::read_dir(dir).map_err(LabError::io(format!("looking into {}", dir.display())))?;
    let fresh = entries.next().is_none();
    let mut program = Program::start(source, given, &Hello { experiment: "goget", dir, server: None })?;
    // Once, and not if opening itself is timed.
    let cost = if fresh { program.cost()? } else { String::new() };
    Ok(Box::new(External { settings: format!("{}; {cost}", program.about), program }))
}

struct External {
    program: Program,
    settings: String,
}

/// A call as a line.
fn operation(call: &Call<'_>) -> String {
    let of_item = |head: Vec<String>, item: &Item| {
        let values =
            [item.name.clone(), item.comment.clone(), item.status.number().to_string(), item.count.to_string()];
        lines::line(&head.into_iter().chain(values).collect::<Vec<_>>())
    };
    match call {
        Call::Create(account) => lines::line(&["new", &account.id.to_string(), &account.name, &account.passphrase]),
        Call::Get(id) => lines::line(&["get", &id.to_string()]),
        Call::GetByName(name) => lines::line(&["name", name]),
        Call::List => lines::line(&["list"]),
        Call::AddItem(id, item) => of_item(vec!["add".to_owned(), id.to_string()], item),
        Call::ChangeItem(id, place, item) => {
            of_item(vec!["change".to_owned(), id.to_string(), place.to_string()], item)
        }
        Call::Update(id, passphrase) => lines::line(&["update", &id.to_string(), passphrase]),
        Call::Delete(id) => lines::line(&["delete", &id.to_string()]),
    }
}

/// The sum that a program must have computed from a row.
fn weight(row: &[String]) -> i64 {
    let length = |text: &String| i64::try_from(text.len()).unwrap_or_default();
    let number = |text: &String| text.parse::<i64>().unwrap_or_default();
    match row {
        [_, id, name, passphrase] => number(id) + length(name) + length(passphrase),
        [_, name, comment, status, count] => length(name) + length(comment) + number(status) + number(count),
        _ => 0,
    }
}

/// The accounts of rows: items follow their account.
fn accounts(rows: Vec<Vec<String>>) -> Result<Vec<Account>> {
    let mut all: Vec<Account> = Vec::new();
    for row in rows {
        if read(&mut all, &row).is_none() {
            let found: String = row.join(" ").chars().take(200).collect();
            let expected = "account ID NAME PASSPHRASE or item NAME COMMENT STATUS COUNT";
            return Err(LabError::Wrong { what: "a row".to_owned(), expected: expected.to_owned(), found });
        }
    }
    Ok(all)
}

fn read(all: &mut Vec<Account>, row: &[String]) -> Option<()> {
    match row {
        [word, id, name, passphrase] if word == "account" => all.push(Account {
            id: id.parse().ok()?,
            name: name.clone(),
            passphrase: passphrase.clone(),
            items: Vec::new(),
        }),
        [word, name, comment, status, count] if word == "item" => {
            let status = status.parse().ok().filter(|status| (0..=1).contains(status)).map(Status::of)?;
            let count = count.parse().ok()?;
            all.last_mut()?.items.push(Item { name: name.clone(), comment: comment.clone(), status, count });
        }
        _ => return None,
    }
    Some(())
}

impl External {
    fn one(&mut self, call: Call<'_>) -> Result<Answer> {
        self.run(&[call])?.answers.pop().ok_or_else(|| LabError::Worker { what: "no answer to one call".to_owned() })
    }
}

fn account(answer: Answer) -> Option<Account> {
    if let Answer::One(found) = answer { found } else { None }
}

impl Accounts for External {
    fn load(&mut self, accounts: &[Account]) -> Result<()> {
        let mut text = lines::line(&["load".to_owned(), accounts.len().to_string()]);
        for one in accounts {
            text.push_str(&lines::line(&["account", &one.id.to_string(), &one.name, &one.passphrase]));
        }
        self.program.set_up(&text)
    }
    fn run(&mut self, calls: &[Call<'_>]) -> Result<Timed<Answer>> {
        let operations: Vec<String> = calls.iter().map(operation).collect();
        let timed = self.program.batch(&operations, weight)?;
        let answers = calls.iter().zip(timed.answers).map(|(call, rows)| {
            let mut found = accounts(rows)?;
            Ok(match call {
                Call::List => Answer::All(found),
                Call::Get(_) | Call::GetByName(_) if found.len() < 2 => Answer::One(found.pop()),
                _ if found.is_empty() => Answer::Done,
                _ => {
                    let (expected, found) = ("no account, or one".to_owned(), format!("{} accounts", found.len()));
                    return Err(LabError::Wrong { what: "an answer".to_owned(), expected, found });
                }
            })
        });
        let answers = answers.collect::<Result<Vec<_>>>()?;
        Ok(Timed { answers, wall_ns: timed.wall_ns, latencies_ns: timed.latencies_ns, note: timed.note })
    }
    fn create(&mut self, account: &Account) -> Result<()> {
        self.one(Call::Create(account)).map(drop)
    }
    fn get(&mut self, id: u64) -> Result<Option<Account>> {
        self.one(Call::Get(id)).map(account)
    }
    fn get_by_name(&mut self, name: &str) -> Result<Option<Account>> {
        self.one(Call::GetByName(name)).map(account)
    }
    fn list(&mut self) -> Result<Vec<Account>> {
        self.one(Call::List).map(|answer| if let Answer::All(found) = answer { found } else { Vec::new() })
    }
    fn add_item(&mut self, id: u64, item: &Item) -> Result<()> {
        self.one(Call::AddItem(id, item)).map(drop)
    }
    fn change_item(&mut self, id: u64, place: usize, item: &Item) -> Result<()> {
        self.one(Call::ChangeItem(id, place, item)).map(drop)
    }
    fn update(&mut self, id: u64, passphrase: &str) -> Result<()> {
        self.one(Call::Update(id, passphrase)).map(drop)
    }
    fn delete(&mut self, id: u64) -> Result<()> {
        self.one(Call::Delete(id)).map(drop)
    }
    fn settings(&self) -> String {
        self.settings.clone()
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.program.close()
    }
}
