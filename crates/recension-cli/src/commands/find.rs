//! `recension find`: documents by the values of their members, through an index where there is one.

use clap::Args;
use recension::document::{At, CollectionAt, Cursor, Document, Path, Query, Selection};
use recension::engine::Direction;
use serde_json::{Value, json};

use crate::context::{Context, Missing, took};
use crate::error::{CliError, Result};
use crate::limits::{TABLE_COLUMNS_MAX, TABLE_ROWS, TABLE_ROWS_MAX};
use crate::members::{Member, Members};
use crate::output::{count, documents, shown, table};
use crate::query::{parse, parse_path, query};

const EXAMPLES: &str = "\
Examples:
  recension find cities 'name = \"Porto\"'
  recension find cities 'population >= 1000000 and countrycode in [PT, ES]'
  recension find cities 'population > 5000000' --sort -population --limit 10
  recension find cities 'name prefix Port and tags contains harbour' --fields name,address.city
  recension find cities 'name = Porto' --at '10 minutes ago'
  recension find cities --sort countrycode,-population --limit 100
  recension find cities --limit 0 | jq -r .name

A condition is a member, one of = < <= > >=, and a value: text (quotes are needed only around spaces and \
signs), a number, true, false, null, or any JSON; or one of: in [A, B], prefix TEXT, contains VALUE (an array \
has it), exists, missing, is TYPE (null, boolean, number, string, array, object). Several are joined by 'and'. \
Values compare as CouchDB collates them: null, false, true, numbers, text, arrays, objects. \
At a terminal the first 25 are shown, in a pipe all; --limit says another number, and 0 says all. Where more \
follow, a cursor is said that goes on there, as of the same moment.";

/// Find documents by the values of their members
///
/// In the cheapest way there is, through an index or by looking at every document; a remark on standard
/// error says which, and `recension explain` why.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Find {
    #[command(flatten)]
    question: Question,
    /// At most so many; 0 is all
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
    /// Pass over so many first
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    skip: usize,
    /// Go on where an earlier find ended, as of the same moment
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["at", "skip"])]
    cursor: Option<Cursor>,
    /// Print how many there are, and no documents
    #[arg(long, conflicts_with_all = ["limit", "fields", "sort", "cursor"])]
    count: bool,
}

/// What is asked of a collection.
#[derive(Debug, Args)]
pub struct Question {
    /// The collection
    pub collection: String,
    /// What must hold; without it, every document is found
    pub condition: Option<String>,
    /// The members to sort by; - before one is downwards. Without it, in the order that is cheapest
    #[arg(long, value_name = "[-]MEMBERS", allow_hyphen_values = true, value_delimiter = ',')]
    pub sort: Vec<String>,
    /// Only these members, such as name,address.city
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Through this index, whatever others cost
    #[arg(long, value_name = "INDEX", conflicts_with = "scan")]
    pub through: Option<String>,
    /// By looking at every document, whatever indexes there are
    #[arg(long)]
    pub scan: bool,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, or an age (10m, 2h, 3d)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    pub at: At,
}

impl Question {
    /// The query that it is.
    pub fn query(&self) -> Result<Query> {
        let mut query = query_of(self.condition.as_deref().unwrap_or_default())?;
        for sort in &self.sort {
            let (member, direction) = match sort.strip_prefix('-') {
                Some(member) => (member, Direction::Backward),
                None => (sort.as_str(), Direction::Forward),
            };
            query = query.sort(parse_path(member)?, direction);
        }
        if let Some(index) = &self.through {
            query = query.through(index);
        }
        if self.scan {
            query = query.without_indexes();
        }
        let fields = self.fields.iter().map(|field| Ok(parse_path(field)?)).collect::<Result<Vec<Path>>>()?;
        Ok(query.select(fields))
    }
}

impl Find {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let limit = match (self.limit, context.out.for_people()) {
            (Some(0), _) | (None, false) => None,
            (Some(limit), _) => Some(limit),
            (None, true) => Some(TABLE_ROWS),
        };
        let query = self.question.query()?.skip(self.skip).after(self.cursor.clone());
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        let at = match &self.cursor {
            Some(cursor) => At::Seq(cursor.seq()),
            None => context.moment(&store, self.question.at)?,
        };
        let collection = store.collection(&self.question.collection)?.at(at)?;
        if !collection.exists() {
            return Err(no_collection(&self.question.collection));
        }
        if self.count {
            return self.print_count(context, &collection, &query);
        }
        // One more than the limit is asked for, to know whether there are more.
        let asked = limit.map_or_else(|| query.clone(), |limit| query.clone().limit(limit.saturating_add(1)));
        let started = context.started();
        let mut answers = Answers { limit, number: 0, cursor: None, rows: Vec::new() };
        let plan = if self.question.fields.is_empty() {
            let mut found = collection.find(&asked)?;
            while !answers.full(|| found.cursor()) {
                let Some(document) = found.next() else { break };
                answers.take(context, Answer::Document(document?))?;
            }
            answers.more(found.next().is_some());
            found.plan()
        } else {
            let mut selected = collection.select(&asked)?;
            while !answers.full(|| selected.cursor()) {
                let Some(selection) = selected.next() else { break };
                answers.take(context, Answer::Selection(selection?))?;
            }
            answers.more(selected.next().is_some());
            selected.plan()
        };
        let time = took(started.elapsed());
        if !answers.rows.is_empty() {
            let text = tabulated(&answers.rows, &self.question.fields);
            context.out.line(&text)?;
        }
        let number = documents(answers.number as u64);
        let more = match answers.cursor {
            Some(cursor) => format!(", and more follow: --limit 0 is all, or go on with --cursor {cursor}"),
            None => String::new(),
        };
        Ok(context.out.remark(&format!("{number} in {time}, {}{more}", plan.summary()))?)
    }

    fn print_count(&self, context: &mut Context, collection: &CollectionAt, query: &Query) -> Result<()> {
        let all = self.question.condition.is_none() && self.skip == 0;
        // How many there are in all is kept by every write.
        let number = if all { collection.count()? } else { collection.count_matching(query)? };
        let text = if context.out.for_people() { count(number) } else { json!({ "count": number }).to_string() };
        Ok(context.out.line(&text)?)
    }
}

/// A document, or the members of one that were asked for.
enum Answer {
    Document(Document<'static>),
    Selection(Selection),
}

impl Answer {
    fn to_json(&self) -> String {
        match self {
            Answer::Document(document) => document.to_json(),
            Answer::Selection(selection) => selection.to_json(),
        }
    }
}

/// What has been found so far.
struct Answers {
    limit: Option<usize>,
    number: usize,
    /// Where the page ends, while it is not known whether more follow; then, where they do.
    cursor: Option<Cursor>,
    /// What a table shows.
    rows: Vec<Answer>,
}

impl Answers {
    fn full(&mut self, cursor: impl FnOnce() -> Option<Cursor>) -> bool {
        let full = self.limit == Some(self.number);
        if full {
            self.cursor = cursor();
        }
        full
    }

    fn more(&mut self, more: bool) {
        self.cursor = self.cursor.take().filter(|_| more);
    }

    fn take(&mut self, context: &mut Context, answer: Answer) -> Result<()> {
        context.go_on()?;
        self.number += 1;
        if !context.out.for_people() {
            return Ok(context.out.line(&answer.to_json())?);
        }
        if self.rows.len() == TABLE_ROWS_MAX {
            return Err(CliError::Usage(format!(
                "more than {} rows make no table; use --json, --count or --limit",
                count(TABLE_ROWS_MAX as u64)
            )));
        }
        self.rows.push(answer);
        Ok(())
    }
}

/// The query of a condition alone.
pub(super) fn query_of(condition: &str) -> Result<Query> {
    Ok(query(parse(condition)?))
}

/// There is no such collection, then.
pub(super) fn no_collection(name: &str) -> CliError {
    CliError::NotFound(format!("there is no collection {name}; `recension collections` lists those that there are"))
}

fn tabulated(answers: &[Answer], names: &[String]) -> String {
    let bodies: Vec<Members<'_>> = answers
        .iter()
        .map(|answer| match answer {
            // Anything that is stored is an object.
            Answer::Document(document) => Members::of(&document.body).unwrap_or_default(),
            Answer::Selection(_) => Members::default(),
        })
        .collect();
    let common = if names.is_empty() { common_members(&bodies) } else { names.to_vec() };
    let row = |(answer, members): (&Answer, &Members<'_>)| -> Vec<Value> {
        match answer {
            Answer::Document(document) => {
                let cells = common.iter().map(|name| members.get(name).map_or(Value::Null, shown));
                std::iter::once(json!(document.id)).chain(cells).collect()
            }
            Answer::Selection(selection) => {
                let cells = selection.values.iter().map(|value| value.as_deref().map_or(Value::Null, shown));
                std::iter::once(json!(selection.id)).chain(cells).collect()
            }
        }
    };
    let rows: Vec<Vec<Value>> = answers.iter().zip(&bodies).map(row).collect();
    let header: Vec<&str> = std::iter::once("_id").chain(common.iter().map(String::as_str)).collect();
    table(&header, &rows)
}

/// The members that the most documents have, in the order in which they first come.
fn common_members(documents: &[Members<'_>]) -> Vec<String> {
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for Member { name, .. } in documents.iter().flat_map(|members| &members.0) {
        match seen.iter_mut().find(|(known, _)| known == name) {
            Some((_, number)) => *number += 1,
            None => seen.push((name, 1)),
        }
    }
    let mut numbers: Vec<usize> = seen.iter().map(|(_, number)| *number).collect();
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    let least = numbers.get(TABLE_COLUMNS_MAX - 1).copied().unwrap_or(0);
    let common = seen.into_iter().filter(|(_, number)| *number >= least);
    common.take(TABLE_COLUMNS_MAX).map(|(name, _)| name.to_owned()).collect()
}
