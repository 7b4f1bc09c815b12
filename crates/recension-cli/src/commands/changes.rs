//! `recension changes`: what has changed, in the order of the commits, and what changes from now on. It must never
//! report a position that is ahead of what it has printed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use recension::{At, Change, ChangeFilter, Error, Position, Store};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::find::query_of;
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::files::{replace, text_of_file};
use crate::members::object;
use crate::moments::{existing, to_change};
use crate::output::{count, plain};

/// If nothing has changed for so long, it checks whether anybody still reads.
const WAIT: Duration = Duration::from_millis(200);
/// After this many changes the position is saved, even if more follow at once.
const KEEP_EVERY: u64 = 1000;

const EXAMPLES: &str = "\
Examples:
  recension changes
  recension changes cities --since 172
  recension changes cities --include-docs --limit 100
  recension changes cities --at '1 hour ago'
  recension changes cities --where 'countrycode = PT'
  recension changes cities --id 2735943,2267057
  recension changes cities --follow --position-file cities.position | ./index-them

Each document is listed once, at the commit that wrote it last; deletions too. At the end the position from \
which to continue is printed on standard error. --position-file keeps it, and begins there the next time. It is \
written after the changes were printed: after a crash the reader may see changes twice, and misses none.
--where and --id leave out other documents. The condition is tested on the document as it is now; a deletion has \
no members, unless it was written with some. If an index finds few documents, it is used.
--follow waits for later changes, until Ctrl-C or until the reader closes the pipe. Other commands and programs \
can use the store meanwhile.";

/// List what has changed, and follow later changes
///
/// Of a collection, or of the whole store. Every document is listed once, at its last change.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ChangesCommand {
    /// The collection; without it, all of them
    collection: Option<String>,
    /// List only changes after a position, such as the number of a commit
    #[arg(long, value_name = "POSITION")]
    since: Option<Position>,
    /// Continue with later changes, until Ctrl-C
    #[arg(long, short = 'F')]
    follow: bool,
    /// Print at most this many; 0 prints all
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 0)]
    limit: u64,
    /// Only documents that meet a condition, as in find
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Only documents with these ids
    #[arg(long = "id", value_name = "IDS", value_delimiter = ',')]
    ids: Vec<String>,
    /// Include each document, as that change left it
    #[arg(long)]
    include_docs: bool,
    /// A file in which to keep the position; reading begins there, unless --since is set
    #[arg(long, value_name = "FILE")]
    position_file: Option<PathBuf>,
    /// As of a moment, of one collection: a commit (1234), a time, a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now", conflicts_with = "follow", requires = "collection")]
    at: At,
}

impl ChangesCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let since = self.begin()?;
        let filter = self.filter()?;
        context.watch_for_interrupts()?;
        if self.follow {
            context.share();
        }
        let store = context.store(Missing::IsAnError)?;
        // A position that is ahead is refused before anything is printed.
        store.changes(since.clone())?;
        let mut printer = Printer { command: self, store: &store, filter, printed: 0 };
        let position = if self.follow { printer.follow(context, since)? } else { printer.list(context, since)? };
        self.keep(context, &position)?;
        Ok(context.out.remark(&said(printer.printed, &position))?)
    }

    fn filter(&self) -> Result<Option<ChangeFilter>> {
        let of_condition = |condition| Ok(ChangeFilter::matching(query_of(condition)?)?);
        let matching: Option<Result<ChangeFilter>> = self.condition.as_deref().map(of_condition);
        let ids = if self.ids.is_empty() { None } else { Some(ChangeFilter::ids(&self.ids)?) };
        Ok(match (matching.transpose()?, ids) {
            (Some(matching), Some(ids)) => Some(matching.and(&ids)),
            (matching, ids) => matching.or(ids),
        })
    }

    fn begin(&self) -> Result<Position> {
        match (&self.since, &self.position_file) {
            (Some(since), _) => Ok(since.clone()),
            (None, Some(path)) if path.exists() => text_of_file(path)?.trim().parse().map_err(|error: Error| {
                CliError::Input(format!("{}: {error}; --since begins elsewhere", path.display()))
            }),
            _ => Ok(Position::START),
        }
    }

    fn keep(&self, context: &mut Context, position: &Position) -> Result<()> {
        let Some(path) = &self.position_file else { return Ok(()) };
        context.out.flush()?;
        keep(path, position)
    }
}

fn said(printed: u64, position: &Position) -> String {
    let changes = if printed == 1 { "change" } else { "changes" };
    format!("{} {changes}; continue with --since {position}", count(printed))
}

fn keep(path: &Path, position: &Position) -> Result<()> {
    replace(path, |out| Ok(writeln!(out, "{position}")?))
}

struct Printer<'c> {
    command: &'c ChangesCommand,
    store: &'c Store,
    filter: Option<ChangeFilter>,
    printed: u64,
}

impl Printer<'_> {
    fn list(&mut self, context: &mut Context, since: Position) -> Result<Position> {
        let at = context.moment(self.store, self.command.at)?;
        let mut changes = match &self.command.collection {
            Some(name) => existing(self.store, name, at)?.changes(since),
            None => self.store.changes(since)?,
        };
        if let Some(filter) = &self.filter {
            changes = changes.filtered(filter);
        }
        while !self.full() && !context.interrupted() {
            let Some(change) = changes.next() else { break };
            self.print(context, &change?)?;
            self.keep_now_and_then(context, changes.position())?;
        }
        Ok(changes.position().clone())
    }

    /// Ctrl-C is the usual way to end this, and therefore not a failure.
    fn follow(&mut self, context: &mut Context, since: Position) -> Result<Position> {
        let mut changes = match &self.command.collection {
            Some(name) => to_change(self.store, name)?.follow(since),
            None => self.store.follow(since),
        };
        if let Some(filter) = &self.filter {
            changes = changes.filtered(filter);
        }
        let mut kept = 0;
        while !self.full() && !context.interrupted() {
            if let Some(change) = changes.try_next()? {
                self.print(context, &change)?;
                self.keep_now_and_then(context, changes.position())?;
                continue;
            }
            context.out.flush()?;
            if kept != self.printed {
                kept = self.printed;
                self.command.keep(context, changes.position())?;
            }
            if nobody_reads() {
                return Err(CliError::ClosedPipe);
            }
            if let Some(change) = changes.next_timeout(WAIT)? {
                self.print(context, &change)?;
            }
        }
        Ok(changes.position().clone())
    }

    fn full(&self) -> bool {
        self.command.limit > 0 && self.printed >= self.command.limit
    }

    fn keep_now_and_then(&self, context: &mut Context, position: &Position) -> Result<()> {
        if self.printed.is_multiple_of(KEEP_EVERY) { self.command.keep(context, position) } else { Ok(()) }
    }

    fn print(&mut self, context: &mut Context, change: &Change) -> Result<()> {
        self.printed += 1;
        let document = if self.command.include_docs && !change.deleted { self.document(change)? } else { None };
        if context.out.for_people() {
            let Change { collection, seq, rev, .. } = change;
            let id = plain(&change.id);
            let deleted = if change.deleted { "  deleted" } else { "" };
            context.out.line(&format!("{:>8}  {collection}  {id}  {rev}{deleted}", seq.0))?;
            return document.map_or(Ok(()), |document| Ok(context.out.json(&document)?));
        }
        let quoted = |value: Value| value.to_string();
        let mut members = vec![
            ("\"seq\"", quoted(json!(change.seq.0))),
            ("\"collection\"", quoted(json!(*change.collection))),
            ("\"id\"", quoted(json!(change.id))),
            ("\"rev\"", quoted(json!(change.rev.to_string()))),
            ("\"deleted\"", quoted(json!(change.deleted))),
        ];
        members.extend(document.map(|document| ("\"doc\"", document)));
        let line = object(members.iter().map(|(name, value)| (*name, value.as_str())));
        Ok(context.out.line(&line)?)
    }

    /// The document as the change left it. It may have been written again since, or forgotten.
    fn document(&self, change: &Change) -> Result<Option<String>> {
        let collection = self.store.collection(&change.collection)?;
        if let Some(document) = collection.get(&change.id)?.filter(|document| document.rev == change.rev) {
            return Ok(Some(document.to_json()));
        }
        let then = collection.at(At::Seq(change.seq))?;
        Ok(then.get(&change.id)?.map(|document| document.to_json()))
    }
}

/// Whether standard output is a pipe that nobody reads any more. A command that prints nothing would not notice it
/// otherwise.
fn nobody_reads() -> bool {
    let stdout = io::stdout();
    let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
    let gone = PollFlags::ERR | PollFlags::HUP;
    poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|_| asked[0].revents().intersects(gone))
}
