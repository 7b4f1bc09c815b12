//! The worker: reads commands, does them on one store, answers. It ends with its standard input.

use std::io::{BufRead, Write as _};
use std::time::{Duration, Instant};

use super::acknowledged;
use super::apocrypha::ApocryphaSession;
use super::bigtable::Pages;
use super::bonsaidb::Bonsai;
use super::cluster::Nodes;
use super::documents::DocumentStore;
use super::goget::Shop;
use super::hasql::Bank;
use super::http::HttpSession;
use super::mine::Own;
use super::processes::Party;
use super::protocol::{Command, Line, Reply, Rows};
use super::queries::Loaded;
use super::revisions::Kept;
use super::ycsb::Session;
use super::{logs, offered, reads, writes};
use crate::data::{Digest, Key, key, row_of, value};
use crate::error::{LabError, Result};
use crate::measure::clock::nanos;
use crate::measure::usage;
use crate::subjects::{self, Subject, Tree};

/// Longest wait for a subject's background after reads and single commits.
pub(super) const REST: Duration = Duration::from_millis(300);

/// Serves until the standard input ends.
pub fn serve() -> Result<()> {
    let mut state = State::default();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(LabError::io("reading a command"))?;
        let answer = match serde_json::from_str(&line) {
            Ok(command) => match state.handle(command) {
                Ok(reply) => Line::Done(Box::new(reply)),
                Err(LabError::Unavailable { reason }) => Line::Unavailable(reason),
                Err(error) => Line::Failed(error.to_string()),
            },
            Err(error) => Line::Failed(format!("a command that is not understood: {error}")),
        };
        let text = serde_json::to_string(&answer).map_err(LabError::subject("an answer"))?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}").and_then(|()| out.flush()).map_err(LabError::io("answering"))?;
    }
    Ok(())
}

/// The state of a worker between commands.
#[derive(Default)]
pub struct State {
    store: Option<OpenStore>,
    documents: Option<DocumentStore>,
    http: Option<HttpSession>,
    apocrypha: Option<ApocryphaSession>,
    goget: Option<Shop>,
    hasql: Option<Bank>,
    nodes: Option<Nodes>,
    pages: Option<Pages>,
    bonsai: Bonsai,
    own: Option<Own>,
    party: Option<Party>,
    kept: Option<Kept>,
    asked: Option<Loaded>,
    ycsb: Option<Session>,
}

/// An open store and what the model needs.
pub(super) struct OpenStore {
    pub(super) subject: Box<dyn Subject>,
    /// Whether history is kept as rows.
    pub(super) history_rows: bool,
    /// The number that the next commit is given.
    pub(super) number: std::sync::atomic::AtomicU64,
    /// Rows in the order of their keys, for ranges.
    pub(super) order: Vec<u32>,
}

impl State {
    /// Does one command.
    pub fn handle(&mut self, command: Command) -> Result<Reply> {
        match command {
            Command::Open { subject, dir, options, rows } => {
                let order = order(rows)?;
                let before = usage::own();
                let start = Instant::now();
                let subject = subjects::open(&subject, &dir, &options)?;
                let wall_ns = nanos(start.elapsed());
                let settings = Some(subject.settings());
                let history_rows = options.history && !subject.keeps_versions();
                self.store = Some(OpenStore { subject, history_rows, number: 1.into(), order });
                Ok(Reply { ops: 1, wall_ns, settings, usage: Some(before), ..Reply::default() })
            }
            Command::Close => {
                let store = self.store.take().ok_or_else(not_open)?;
                let start = Instant::now();
                store.subject.close()?;
                Ok(Reply { ops: 1, wall_ns: nanos(start.elapsed()), ..Reply::default() })
            }
            Command::Usage => Ok(Reply { usage: Some(usage::own()), ..Reply::default() }),
            Command::Documents(command) => DocumentStore::handle(&mut self.documents, &command),
            Command::Http(command) => HttpSession::handle(&mut self.http, command),
            Command::Apocrypha(command) => ApocryphaSession::handle(&mut self.apocrypha, command),
            Command::Goget(command) => Shop::handle(&mut self.goget, command),
            Command::Cluster(command) => Nodes::handle(&mut self.nodes, command),
            Command::Hasql(command) => Bank::handle(&mut self.hasql, command),
            Command::Mine(command) => Own::handle(&mut self.own, command),
            Command::Processes(command) => Party::handle(&mut self.party, command),
            Command::Queries(command) => Loaded::handle(&mut self.asked, command),
            Command::Revisions(command) => Kept::handle(&mut self.kept, command),
            Command::Ycsb(command) => Session::handle(&mut self.ycsb, command),
            Command::Bigtable(command) => Pages::handle(&mut self.pages, command),
            Command::Bonsaidb(command) => self.bonsai.handle(command),
            Command::Write { rows, per_commit, threads, marked } => {
                writes::write(self.store()?, rows, per_commit, threads, marked)
            }
            Command::Get { rows, count, threads, as_of, seed } => {
                reads::get(self.store()?, rows, count, threads, as_of, seed)
            }
            Command::Range { rows, count, limit, reverse, as_of, seed } => {
                reads::range(self.store()?, rows, &reads::Ranges { count, limit, reverse, as_of, seed })
            }
            Command::GetWhileWriting { rows, first, rate, millis, seed } => {
                offered::get_while_writing(self.store()?, rows, first, &offered::Offer::new(rate, millis), seed)
            }
            Command::Offer { first, rate, millis, settling } => {
                offered::offer(self.store()?, first, &offered::Offer::new(rate, millis), settling)
            }
            Command::Settle => {
                let start = Instant::now();
                let settled = self.store()?.subject.settle()?;
                Ok(Reply { ops: 1, wall_ns: nanos(start.elapsed()), settled: Some(settled), ..Reply::default() })
            }
            Command::Verify { parts } => verify(self.store()?, &parts),
            Command::Logs(command) => logs::handle(self.store()?, &command),
            Command::Acknowledge(asked) => acknowledged::acknowledge(self.store()?, &asked),
            Command::Look { acknowledged } => acknowledged::look(self.store()?, &acknowledged),
            Command::FirstGet { row, version } => first_get(self.store()?, row, version),
        }
    }

    fn store(&self) -> Result<&OpenStore> {
        self.store.as_ref().ok_or_else(not_open)
    }
}

fn not_open() -> LabError {
    LabError::Worker { what: "no store is open".to_owned() }
}

fn order(rows: u64) -> Result<Vec<u32>> {
    let rows = u32::try_from(rows)
        .map_err(|_| LabError::Usage { what: format!("{rows} rows are more than the laboratory's model can hold") })?;
    let mut order: Vec<u32> = (0..rows).collect();
    order.sort_unstable_by_key(|&n| key(u64::from(n)));
    Ok(order)
}

fn first_get(store: &OpenStore, row: u64, version: u32) -> Result<Reply> {
    let start = Instant::now();
    let mut found = None;
    store.subject.reader()?.get(Tree::Current, &key(row), &mut |value| found = Some(value.to_vec()))?;
    let wall_ns = nanos(start.elapsed());
    if found.as_deref() != Some(value(row, version).as_bytes()) {
        return Err(LabError::Wrong {
            what: format!("row {row} after the store was opened"),
            expected: value(row, version),
            found: found.map_or_else(|| "no row".to_owned(), |bytes| String::from_utf8_lossy(&bytes).into_owned()),
        });
    }
    Ok(Reply { ops: 1, wall_ns, ..Reply::default() })
}

/// Reads every row: keys ascend, each is one that the model has, with its value, and none is missing.
fn verify(store: &OpenStore, parts: &[Rows]) -> Result<Reply> {
    let (mut found, mut last): (u64, Option<Key>) = (0, None);
    let mut wrong = None;
    let start = Instant::now();
    store.subject.reader()?.range(Tree::Current, &[], false, &mut |row_key, row_value| {
        match check(row_key, row_value, last.as_ref(), parts) {
            Ok(key) => last = Some(key),
            Err(error) => wrong = Some(error),
        }
        found += 1;
        wrong.is_none()
    })?;
    if let Some(error) = wrong {
        return Err(error);
    }
    let expected: u64 = parts.iter().map(|part| part.count).sum();
    if found != expected {
        return Err(LabError::Wrong {
            what: "the number of rows at the end".to_owned(),
            expected: expected.to_string(),
            found: found.to_string(),
        });
    }
    Ok(Reply { ops: found, wall_ns: nanos(start.elapsed()), ..Reply::default() })
}

fn check(row_key: &[u8], row_value: &[u8], last: Option<&Key>, parts: &[Rows]) -> Result<Key> {
    let wrong = |expected: &str, found: &[u8]| LabError::Wrong {
        what: "reading every row".to_owned(),
        expected: expected.to_owned(),
        found: found.escape_ascii().to_string(),
    };
    let part = row_of(row_key)
        .and_then(|row| Some((row, parts.iter().find(|part| (part.first..part.first + part.count).contains(&row))?)));
    let Some((row, part)) = part else { return Err(wrong("only rows that were written", row_key)) };
    let key: Key = row_key.try_into().map_err(|_| wrong("a key of 16 bytes", row_key))?;
    if last.is_some_and(|last| *last >= key) {
        return Err(wrong("keys in ascending order, each once", row_key));
    }
    let expected = value(row, part.version);
    let (mut of_expected, mut of_found) = (Digest::default(), Digest::default());
    of_expected.add(expected.as_bytes());
    of_found.add(row_value);
    if of_expected == of_found { Ok(key) } else { Err(wrong(&expected, row_value)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::OpenOptions;

    fn opened(rows: u64) -> State {
        let mut state = State::default();
        let options = OpenOptions { history: true, cache_bytes: 1 << 20 };
        let (subject, dir) = ("memory".to_owned(), "unused".into());
        state.handle(Command::Open { subject, dir, options, rows }).unwrap();
        state
    }

    fn write(state: &mut State, rows: Rows, per_commit: u64, threads: u64) -> Reply {
        state.handle(Command::Write { rows, per_commit, threads, marked: false }).unwrap()
    }

    fn rows(first: u64, count: u64, version: u32) -> Rows {
        Rows { first, count, version }
    }

    #[test]
    fn what_was_written_is_read_at_each_version() {
        let mut state = opened(100);
        let mark = write(&mut state, rows(0, 100, 0), 30, 1).number;
        write(&mut state, rows(0, 100, 1), 7, 3);
        for (version, as_of) in [(0, mark), (1, None)] {
            for threads in [1, 2] {
                let get = Command::Get { rows: rows(0, 100, version), count: 50, threads, as_of, seed: 1 };
                assert_eq!(state.handle(get).unwrap().ops, 50);
            }
            for reverse in [false, as_of.is_none()] {
                let rows = rows(0, 100, version);
                let range = Command::Range { rows, count: 20, limit: 10, reverse, as_of, seed: 1 };
                assert_eq!(state.handle(range).unwrap().ops, 20);
            }
        }
        assert_eq!(state.handle(Command::Verify { parts: vec![rows(0, 100, 1)] }).unwrap().ops, 100);
        state.handle(Command::FirstGet { row: 7, version: 1 }).unwrap();
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let mut state = opened(100);
        write(&mut state, rows(0, 50, 0), 50, 1);
        write(&mut state, rows(50, 50, 1), 50, 1);
        let get = |rows| Command::Get { rows, count: 200, threads: 1, as_of: None, seed: 1 };
        let range = |rows| Command::Range { rows, count: 9, limit: 9, reverse: false, as_of: None, seed: 1 };
        let verify = |parts: &[Rows]| Command::Verify { parts: parts.to_vec() };
        let all = [rows(0, 50, 0), rows(50, 50, 1)];
        assert!(state.handle(verify(&all)).is_ok());
        for (what, wrong) in [
            ("old values", get(rows(0, 100, 1))),
            ("missing rows", get(rows(0, 200, 0))),
            ("old values in ranges", range(rows(0, 100, 0))),
            ("an old value", Command::FirstGet { row: 0, version: 1 }),
            ("no row", Command::FirstGet { row: 100, version: 0 }),
            ("rows that should not be", verify(&[rows(0, 50, 0)])),
            ("rows that are missing", verify(&[rows(0, 50, 0), rows(50, 51, 1)])),
            ("old values in all", verify(&[rows(0, 100, 0)])),
        ] {
            let error = state.handle(wrong).unwrap_err();
            assert!(matches!(error, LabError::Wrong { .. }), "{what}: {error}");
        }
    }

    #[test]
    fn keys_out_of_order_or_twice_are_found() {
        let all = [rows(0, 10, 0)];
        let mut order = order(10).unwrap();
        let check_all = |order: &[u32]| {
            order.iter().try_fold(None, |last: Option<Key>, &row| {
                let row = u64::from(row);
                check(&key(row), value(row, 0).as_bytes(), last.as_ref(), &all).map(Some)
            })
        };
        assert!(check_all(&order).is_ok());
        order.swap(3, 4);
        assert!(check_all(&order).is_err());
        order[3] = order[4];
        assert!(check_all(&order).is_err());
    }

    #[test]
    fn offered_commits_are_all_made_and_reads_go_on_beside_them() {
        let mut state = opened(100);
        write(&mut state, rows(0, 100, 0), 100, 1);
        let offered = state.handle(Command::Offer { first: 100, rate: 2000, millis: 20, settling: true }).unwrap();
        assert_eq!((offered.ops, offered.latencies_ns.len()), (40, 40));
        let beside = Command::GetWhileWriting { rows: rows(0, 100, 0), first: 140, rate: 1000, millis: 20, seed: 1 };
        let beside = state.handle(beside).unwrap();
        assert!(beside.ops > 0);
        let written = 140 + beside.number.unwrap();
        state.handle(Command::Verify { parts: vec![rows(0, written, 0)] }).unwrap();
    }

    #[test]
    fn commands_without_a_store_are_refused() {
        let mut state = State::default();
        assert!(state.handle(Command::Settle).is_err());
        assert!(state.handle(Command::Close).is_err());
        let options = OpenOptions { history: false, cache_bytes: 0 };
        let open = Command::Open { subject: "oracle".into(), dir: "x".into(), options, rows: 0 };
        assert!(state.handle(open).unwrap_err().to_string().contains("there are recension, sqlite"));
    }
}
