//! `recension find`: documents by the values of their members, through an index if there is one.

use std::collections::BTreeSet;

use clap::Args;
use recension::conditions::{ConditionError, hints, hints_of_members, parse, parse_path, query};
use recension::engine::Direction;
use recension::{At, CollectionAt, Cursor, Document, Highlighting, ListOptions, Path, Query, Selection};
use serde_json::{Value, json};

use crate::context::{Context, Missing, took};
use crate::csv_out::{check_column, csv_text, id_cell, quoted, record};
use crate::error::{CliError, Result};
use crate::limits::{DOCUMENTS_LOOKED_AT, HIGHLIGHT_CHARS, TABLE_COLUMNS_MAX, TABLE_ROWS, TABLE_ROWS_MAX};
use crate::members::{Member, Members};
use crate::moments::existing;
use crate::output::{count, documents, shown, table};

const EXAMPLES: &str = "\
Examples:
  recension find cities 'name = \"Porto\"'
  recension find cities 'population >= 1000000 and countrycode in [PT, ES]'
  recension find cities 'population > 5000000' --sort -population --limit 10
  recension find cities 'name prefix Port and tags contains harbour' --fields name,address.city
  recension find cities 'name = Porto' --at '10 minutes ago'
  recension find cities '(countrycode = PT or countrycode = ES) and not name like \"San%\"' --csv
  recension find cities '_id prefix 27' --sort _id
  recension find notes 'title,text words soup' --by-relevance
  recension find notes 'text words \"hot soup\"' --highlight
  recension find cities --sort countrycode,-population --limit 100
  recension find cities --limit 0 | jq -r .name

A condition tests a member:
  = != < <= > >=        population >= 1000000
  in, not in            countrycode in [PT, ES]
  like, ilike, ailike   name like 'P_rt%': % is any text, _ a character, \\% and \\_ themselves;
                        ilike ignores case, ailike ('Port%', '%port%') accents too
  ~                     name ~ 'Port(o|land)$': a regular expression
  prefix                name prefix Port
  contains              tags contains harbour: an array has the value
  words                 text words 'hot \"green tea\" sou*'; title,text words soup in english
  exists, missing       note missing
  is                    zip is string: null, boolean, number, string, array, object

Join conditions with 'and' and 'or', group them with parentheses, and negate one with 'not'; documents without the \
member meet neither a condition nor its negation. A value is text (in quotes if it has spaces or signs), a number, \
true, false, null, or any JSON. Values compare in CouchDB's order: null, false, true, numbers, text, arrays, objects. \
_id is the document's id and _rev its revision; both are text, and need no quotes.

At a terminal the first 25 documents are printed, in a pipe all; --limit sets another number. If there are more, a \
cursor is printed with which --cursor continues, as of the same moment.";

/// Find documents by the values of their members
///
/// Uses the cheapest way: an index, or a scan of every document. A remark on standard error says which, and
/// `recension explain` why.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Find {
    #[command(flatten)]
    question: Question,
    /// Print at most this many; 0 prints all
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
    /// Skip this many first
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    skip: usize,
    /// Continue where an earlier find ended, as of the same moment
    #[arg(long, value_name = "CURSOR", conflicts_with_all = ["at", "skip"])]
    cursor: Option<Cursor>,
    /// Print CSV: _id and the --fields, or the members of the first documents
    #[arg(long, conflicts_with_all = ["count", "json", "table"])]
    csv: bool,
    /// Show the texts that contain the condition's words, with the words marked: instead of the members in a table,
    /// otherwise as the member `_highlights`
    #[arg(long, conflicts_with_all = ["csv", "fields", "count"])]
    highlight: bool,
    /// Print only the number of documents
    #[arg(long, conflicts_with_all = ["limit", "fields", "sort", "cursor"])]
    count: bool,
}

/// A question to a collection.
#[derive(Debug, Args)]
pub struct Question {
    /// The collection
    pub collection: String,
    /// The condition; by default every document is found
    pub condition: Option<String>,
    /// The members to sort by; - before a member sorts in descending order. By default the order is the cheapest one
    #[arg(long, value_name = "[-]MEMBERS", allow_hyphen_values = true, value_delimiter = ',')]
    pub sort: Vec<String>,
    /// Print the most relevant documents first; needs a full-text index on exactly the searched members
    #[arg(long, conflicts_with = "sort")]
    pub by_relevance: bool,
    /// Print only these members, such as name,address.city; items[].sku prints those of all elements
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    pub fields: Vec<String>,
    /// Use this index, whatever it costs
    #[arg(long, value_name = "INDEX", conflicts_with = "scan")]
    pub through: Option<String>,
    /// Read every document, and use no index
    #[arg(long)]
    pub scan: bool,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    pub at: At,
}

impl Question {
    /// The query for this question.
    pub fn query(&self) -> Result<Query> {
        let mut query = sorted(query_of(self.condition.as_deref().unwrap_or_default())?, &self.sort)?;
        if self.by_relevance {
            query = query.by_relevance();
        }
        if let Some(index) = &self.through {
            query = query.through(index);
        }
        if self.scan {
            query = query.without_indexes();
        }
        let fields = self.distinct_fields().map(|field| Ok(parse_path(field)?)).collect::<Result<Vec<Path>>>()?;
        Ok(query.select(fields))
    }

    /// The fields, each once. The id is always among them.
    fn distinct_fields(&self) -> impl Iterator<Item = &String> {
        let first = |number: usize, field: &String| !self.fields.iter().take(number).any(|other| other == field);
        self.fields.iter().enumerate().filter(move |(number, field)| first(*number, field)).map(|(_, field)| field)
    }
}

impl Find {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let limit = match (self.limit, context.out.for_people() && !self.csv) {
            (Some(0), _) | (None, false) => None,
            (Some(limit), _) => Some(limit),
            (None, true) => Some(TABLE_ROWS),
        };
        let query = self.question.query()?.skip(self.skip).after(self.cursor.clone());
        if self.highlight && !query.marks_words() {
            let why = "--highlight: the condition asks for no words to mark; ask for some, as in 'text words \"soup\"'";
            return Err(CliError::Usage(why.to_owned()));
        }
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        let at = match &self.cursor {
            Some(cursor) => At::Seq(cursor.seq()),
            None => context.moment(&store, self.question.at)?,
        };
        let collection = existing(&store, &self.question.collection, at)?;
        if self.count {
            return self.print_count(context, &collection, &query);
        }
        // One document more than the limit is asked for, to learn whether there are more.
        let asked = limit.map_or_else(|| query.clone(), |limit| query.clone().limit(limit.saturating_add(1)));
        let started = context.started();
        let fields: Vec<String> = self.question.distinct_fields().cloned().collect();
        let csv = self.csv.then(|| CsvRows::new(fields.clone()));
        let highlight = self.highlight.then(|| (query.clone(), marks(context)));
        let mut answers =
            Answers { limit, number: 0, cursor: None, rows: Vec::new(), csv, highlight, empty: fields.clone() };
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
        if let Some(mut csv) = answers.csv.take() {
            csv.finish(context)?;
        }
        let time = took(started.elapsed());
        if !answers.rows.is_empty() {
            let text = match &answers.highlight {
                Some((query, how)) => highlighted(&answers.rows, query, how),
                None => tabulated(&answers.rows, &fields),
            };
            context.out.line(&text)?;
        }
        let number = documents(answers.number as u64);
        let condition = self.question.condition.as_deref().unwrap_or_default();
        let sorted_by = self.question.sort.iter().map(|member| member.strip_prefix('-').unwrap_or(member));
        let members: Vec<&str> = sorted_by.filter(|member| !["_id", "_rev"].contains(member)).collect();
        let hint = match answers.number {
            0 => hint(condition, &collection) + &hint_of_members(&members, &collection),
            _ => hint_of_members(&answers.empty.iter().map(String::as_str).collect::<Vec<_>>(), &collection),
        };
        let lacking = match members.as_slice() {
            [] => String::new(),
            members => format!(", without those that lack {}", members.join(" or ")),
        };
        let more = match answers.cursor {
            Some(cursor) => format!(", and more follow: --limit 0 prints all, or continue with --cursor {cursor}"),
            None => String::new(),
        };
        Ok(context.out.remark(&format!("{number} in {time}, {}{lacking}{more}{hint}", plan.summary()))?)
    }

    fn print_count(&self, context: &mut Context, collection: &CollectionAt, query: &Query) -> Result<()> {
        let all = self.question.condition.is_none() && self.skip == 0;
        // The total number is kept up to date by every write.
        let number = if all { collection.count()? } else { collection.count_matching(query)? };
        let text = if context.out.for_people() { count(number) } else { json!({ "count": number }).to_string() };
        Ok(context.out.line(&text)?)
    }
}

/// Prints answers as comma-separated values. Without --fields the columns are the members of the first documents.
struct CsvRows {
    fields: Vec<String>,
    /// The first answers, until the columns are known.
    waiting: Vec<Answer>,
    known: bool,
    header_written: bool,
    /// Members that only later documents have, and so no column: some of them.
    left_out: BTreeSet<String>,
}

impl CsvRows {
    fn new(fields: Vec<String>) -> Self {
        let (waiting, left_out) = (Vec::new(), BTreeSet::new());
        CsvRows { known: !fields.is_empty(), fields, waiting, header_written: false, left_out }
    }

    fn take(&mut self, context: &mut Context, answer: Answer) -> Result<()> {
        self.waiting.push(answer);
        if self.known || self.waiting.len() >= DOCUMENTS_LOOKED_AT { self.write(context) } else { Ok(()) }
    }

    fn finish(&mut self, context: &mut Context) -> Result<()> {
        self.write(context)?;
        self.write_header(context)?;
        if self.left_out.is_empty() {
            return Ok(());
        }
        let names = self.left_out.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let what = format!(
            "no column is there for {names}, which none of the first {DOCUMENTS_LOOKED_AT} documents has: name the \
             columns with --fields, or use recension export --csv, which has all"
        );
        Ok(context.out.remark(&what)?)
    }

    /// Writes the header, once: also if no document follows.
    fn write_header(&mut self, context: &mut Context) -> Result<()> {
        if std::mem::replace(&mut self.header_written, true) {
            return Ok(());
        }
        let names = self.fields.iter().filter(|name| *name != "_id").map(|name| quoted(name));
        let names: Vec<String> = std::iter::once("_id".to_owned()).chain(names).collect();
        Ok(context.out.line(&record(names.iter().map(String::as_str)))?)
    }

    fn write(&mut self, context: &mut Context) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        if !self.known {
            for answer in &self.waiting {
                let Answer::Document(document) = answer else { continue };
                for Member { name, .. } in Members::of(&document.body).unwrap_or_default().0 {
                    if !self.fields.iter().any(|known| *known == name) {
                        check_column(&document.id, &name)?;
                        self.fields.push(name.into_owned());
                    }
                }
            }
            self.known = true;
        }
        self.write_header(context)?;
        for answer in std::mem::take(&mut self.waiting) {
            let (id, cells): (&str, Vec<String>) = match &answer {
                Answer::Document(document) => {
                    let members = Members::of(&document.body).unwrap_or_default();
                    for Member { name, .. } in &members.0 {
                        if self.left_out.len() < LEFT_OUT_MAX && !self.fields.iter().any(|known| known == name) {
                            self.left_out.insert(name.to_string());
                        }
                    }
                    let cell = |name: &String| members.get(name).map(csv_text).unwrap_or_default();
                    (&document.id, self.fields.iter().filter(|name| *name != "_id").map(cell).collect())
                }
                Answer::Selection(selection) => {
                    let values = selection.values.iter().zip(&self.fields).filter(|(_, name)| *name != "_id");
                    (
                        &selection.id,
                        values.map(|(value, _)| value.as_deref().map(csv_text).unwrap_or_default()).collect(),
                    )
                }
            };
            let id = id_cell(id);
            context.out.line(&record(std::iter::once(id.as_str()).chain(cells.iter().map(String::as_str))))?;
        }
        Ok(())
    }
}

/// Members without a column that are named at most.
const LEFT_OUT_MAX: usize = 8;

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

/// The answers so far.
struct Answers {
    limit: Option<usize>,
    number: usize,
    /// The cursor at the end of the page. It is printed only if more documents follow.
    cursor: Option<Cursor>,
    /// The rows of a table.
    rows: Vec<Answer>,
    csv: Option<CsvRows>,
    /// The words are marked that the query asks for.
    highlight: Option<(Query, Highlighting)>,
    /// The --fields that no answer has yet.
    empty: Vec<String>,
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
        if let (Answer::Selection(selection), false) = (&answer, self.empty.is_empty()) {
            let found = selection.paths().iter().zip(&selection.values).filter(|(_, value)| value.is_some());
            let found: Vec<String> = found.map(|(path, _)| path.to_string()).collect();
            self.empty.retain(|field| !found.contains(field));
        }
        if let Some(csv) = &mut self.csv {
            return csv.take(context, answer);
        }
        if !context.out.for_people() {
            let mut text = answer.to_json();
            if let (Some((query, how)), Answer::Document(document)) = (&self.highlight, &answer) {
                query.highlights(&document.body, how).add_to(&mut text);
            }
            return Ok(context.out.line(&text)?);
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

/// What a condition that finds nothing may have meant, told from the first documents.
pub(super) fn hint(condition: &str, collection: &CollectionAt) -> String {
    told_from_the_first(collection, |bodies| hints(condition, bodies))
}

/// What members may have meant that none of the first documents has.
pub(super) fn hint_of_members(members: &[&str], collection: &CollectionAt) -> String {
    let paths: Vec<Path> = members.iter().filter_map(|member| parse_path(member).ok()).collect();
    if paths.is_empty() {
        return String::new();
    }
    told_from_the_first(collection, |bodies| hints_of_members(paths.iter(), bodies))
}

fn told_from_the_first(collection: &CollectionAt, hints: impl FnOnce(&[&str]) -> Vec<String>) -> String {
    let Ok(first) = collection.list(&ListOptions::default()) else { return String::new() };
    let first: Vec<Document<'_>> = first.take(DOCUMENTS_LOOKED_AT).flatten().collect();
    let bodies: Vec<&str> = first.iter().map(|document| &*document.body).collect();
    hints(&bodies).iter().fold(String::new(), |text, hint| text + "; " + hint)
}

/// The query with an order by some members. `-` before a member is downwards.
pub(super) fn sorted(query: Query, members: &[String]) -> Result<Query> {
    let text = members.join(",");
    let mut before = 0;
    members.iter().try_fold(query, |query, sort| {
        let (member, direction) = match sort.strip_prefix('-') {
            Some(member) => (member, Direction::Backward),
            None => (sort.as_str(), Direction::Forward),
        };
        // The error shows the place in all that was typed.
        let sign = sort.chars().count() - member.chars().count();
        let path = parse_path(member).map_err(|error: ConditionError| error.within(&text, before + sign))?;
        before += sort.chars().count() + 1;
        Ok(query.sort(path, direction))
    })
}

/// A query that has only a condition.
pub(super) fn query_of(condition: &str) -> Result<Query> {
    Ok(query(parse(condition)?))
}

/// A query whose documents are changed. An empty condition is a slip, such as a script's variable that is not set: it
/// would choose every document.
pub(super) fn choosing(condition: &str) -> Result<Query> {
    if condition.trim().is_empty() {
        return Err(CliError::Usage("the condition is empty; `_id exists` chooses every document".to_owned()));
    }
    query_of(condition)
}

/// The marks around words.
fn marks(context: &Context) -> Highlighting {
    let (before, after) = if context.out.for_people() { ("**", "**") } else { ("<em>", "</em>") };
    Highlighting { before: before.to_owned(), after: after.to_owned(), chars: HIGHLIGHT_CHARS }
}

/// A table of the texts in which words stand.
fn highlighted(answers: &[Answer], query: &Query, how: &Highlighting) -> String {
    let rows = answers.iter().filter_map(|answer| match answer {
        Answer::Document(document) => Some((document, query.highlights(&document.body, how))),
        Answer::Selection(_) => None,
    });
    let texts = |(path, texts): (&Path, &[String])| json!(format!("{path}: {}", texts.join(" | ")));
    let rows: Vec<Vec<Value>> = rows
        .flat_map(|(document, found)| {
            let first = |at: usize| if at == 0 { json!(document.id) } else { json!("") };
            let cells: Vec<Value> = found.iter().map(texts).collect();
            cells.into_iter().enumerate().map(|(at, cell)| vec![first(at), cell]).collect::<Vec<_>>()
        })
        .collect();
    table(&["_id", "words"], &rows)
}

fn tabulated(answers: &[Answer], names: &[String]) -> String {
    let bodies: Vec<Members<'_>> = answers
        .iter()
        .map(|answer| match answer {
            // Every stored document is an object.
            Answer::Document(document) => Members::of(&document.body).unwrap_or_default(),
            Answer::Selection(_) => Members::default(),
        })
        .collect();
    let chosen = names.iter().filter(|name| *name != "_id").cloned();
    let common = if names.is_empty() { common_members(&bodies) } else { chosen.collect() };
    let row = |(answer, members): (&Answer, &Members<'_>)| -> Vec<Value> {
        match answer {
            Answer::Document(document) => {
                let cells = common.iter().map(|name| members.get(name).map_or(Value::Null, shown));
                std::iter::once(json!(document.id)).chain(cells).collect()
            }
            Answer::Selection(selection) => {
                let values = selection.values.iter().zip(names).filter(|(_, name)| *name != "_id");
                let cells = values.map(|(value, _)| value.as_deref().map_or(Value::Null, shown));
                std::iter::once(json!(selection.id)).chain(cells).collect()
            }
        }
    };
    let rows: Vec<Vec<Value>> = answers.iter().zip(&bodies).map(row).collect();
    let header: Vec<&str> = std::iter::once("_id").chain(common.iter().map(String::as_str)).collect();
    table(&header, &rows)
}

/// The members that the most documents have, in the order of their first appearance.
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
