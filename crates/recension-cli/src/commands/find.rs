//! `recension find`: documents by the values of their members, through an index where there is one.

use clap::Args;
use recension::document::{At, Document, Literal, Path, Query, ValueRange};
use recension::engine::Direction;
use serde_json::{Value, json};

use crate::context::{Context, Missing, took};
use crate::error::{CliError, Result};
use crate::limits::{TABLE_COLUMNS_MAX, TABLE_ROWS, TABLE_ROWS_MAX};
use crate::members::{Member, Members, object, quoted};
use crate::output::{count, documents, shown, table};
use crate::query::{Comparison, Condition, parse, parse_path};

const EXAMPLES: &str = "\
Examples:
  recension find cities 'name = \"Porto\"'
  recension find cities 'population >= 1000000 and countrycode = PT'
  recension find cities 'population > 5000000' --sort -population --limit 10
  recension find cities 'address.city < M' --fields name,address.city
  recension find cities 'name = Porto' --at '10 minutes ago'
  recension find cities --limit 0 | jq -r .name

A condition is a member, one of = < <= > >=, and a value: text (quotes are needed only around spaces and \
signs), a number, true, false, null, or any JSON. Several are joined by 'and'. Values compare as CouchDB \
collates them: null, false, true, numbers, text, arrays, objects. \
At a terminal the first 25 are shown, in a pipe all; --limit says another number, and 0 says all.";

/// Find documents by the values of their members
///
/// Through an index on a member of the condition where there is one, else by looking at every document; a
/// remark on standard error says which.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Find {
    /// The collection
    collection: String,
    /// What must hold; without it, every document is found
    condition: Option<String>,
    /// The member to sort by; - before it is downwards. Without it, in the order of the index or of the ids
    #[arg(long, value_name = "[-]MEMBER", allow_hyphen_values = true)]
    sort: Option<String>,
    /// At most so many; 0 is all
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
    /// Pass over so many first
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    skip: usize,
    /// Only these members, such as name,address.city
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    fields: Vec<String>,
    /// Print how many there are, and no documents
    #[arg(long, conflicts_with_all = ["limit", "fields", "sort"])]
    count: bool,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, or an age (10m, 2h, 3d)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl Find {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let conditions = parse(self.condition.as_deref().unwrap_or_default())?;
        let fields = self.fields.iter().map(|field| Ok(parse_path(field)?)).collect::<Result<Vec<_>>>()?;
        let limit = match (self.limit, context.out.for_people() && !self.count) {
            (Some(0), _) | (None, false) => None,
            (Some(limit), _) => Some(limit),
            (None, true) => Some(TABLE_ROWS),
        };
        let query = self.query(&conditions, limit)?;
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        let started = context.started();
        let collection = store.collection(&self.collection)?.at(context.moment(&store, self.at)?)?;
        let mut found = collection.find(&query)?;
        let plan = found.plan().summary();
        let mut number = 0;
        let mut more = false;
        let mut rows = Vec::new();
        for document in &mut found {
            let document = document?;
            context.go_on()?;
            // One more than the limit was asked for, to know whether there are more.
            if limit == Some(number) {
                more = true;
                break;
            }
            number += 1;
            if self.count {
                continue;
            }
            if !context.out.for_people() {
                context.out.line(&projected(&document, &self.fields, &fields))?;
                continue;
            }
            if rows.len() == TABLE_ROWS_MAX {
                return Err(CliError::Usage(format!(
                    "more than {} rows make no table; use --json, --count or --limit",
                    count(TABLE_ROWS_MAX as u64)
                )));
            }
            rows.push(document);
        }
        let time = took(started.elapsed());
        if self.count {
            let text =
                if context.out.for_people() { count(number as u64) } else { json!({ "count": number }).to_string() };
            context.out.line(&text)?;
        } else if !rows.is_empty() {
            let text = tabulated(&rows, &self.fields, &fields);
            context.out.line(&text)?;
        }
        if !collection.exists() {
            return Err(no_collection(&self.collection));
        }
        let number = documents(number as u64);
        let more = if more { ", and more follow (--limit 0 is all)" } else { "" };
        context.out.remark(&format!("{number} in {time}, {plan}{more}"))?;
        Ok(())
    }

    fn query(&self, conditions: &[Condition], limit: Option<usize>) -> Result<Query> {
        let mut query = matching(conditions)?;
        if let Some(sort) = &self.sort {
            let (member, direction) = match sort.strip_prefix('-') {
                Some(member) => (member, Direction::Backward),
                None => (sort.as_str(), Direction::Forward),
            };
            query = query.sort(parse_path(member)?, direction);
        }
        if let Some(limit) = limit {
            query = query.limit(limit.saturating_add(1));
        }
        Ok(query.skip(self.skip))
    }
}

/// The query of a condition alone.
pub(super) fn query_of(condition: &str) -> Result<Query> {
    matching(&parse(condition)?)
}

fn matching(conditions: &[Condition]) -> Result<Query> {
    let mut query = Query::new();
    for condition in conditions {
        let value = Literal::json(&condition.value)?;
        let range = match condition.comparison {
            Comparison::Equal => ValueRange::equal(value),
            Comparison::Less => ValueRange::below(value),
            Comparison::AtMost => ValueRange::at_most(value),
            Comparison::Greater => ValueRange::above(value),
            Comparison::AtLeast => ValueRange::at_least(value),
        };
        query = query.matching(condition.path.clone(), range);
    }
    Ok(query)
}

/// There is no such collection, then.
pub(super) fn no_collection(name: &str) -> CliError {
    CliError::NotFound(format!("there is no collection {name}; `recension collections` lists those that there are"))
}

/// The document, or its id and the members asked for.
fn projected(document: &Document<'_>, names: &[String], paths: &[Path]) -> String {
    if paths.is_empty() {
        return document.to_json();
    }
    let id = quoted(&document.id);
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    let members = names.iter().zip(paths).filter_map(|(name, path)| Some((name.as_str(), path.find(&document.body)?)));
    object(std::iter::once(("\"_id\"", id.as_str())).chain(members))
}

fn tabulated(documents: &[Document<'_>], names: &[String], paths: &[Path]) -> String {
    let mut header = vec!["_id"];
    let all: Vec<Members<'_>>;
    let common: Vec<String>;
    let mut rows: Vec<Vec<Value>> = documents.iter().map(|document| vec![json!(document.id)]).collect();
    if paths.is_empty() {
        // Anything that is stored is an object.
        all = documents.iter().map(|document| Members::of(&document.body).unwrap_or_default()).collect();
        common = common_members(&all);
        header.extend(common.iter().map(String::as_str));
        for (row, members) in rows.iter_mut().zip(&all) {
            row.extend(common.iter().map(|name| members.get(name).map_or(Value::Null, shown)));
        }
    } else {
        header.extend(names.iter().map(String::as_str));
        for (row, document) in rows.iter_mut().zip(documents) {
            row.extend(paths.iter().map(|path| path.find(&document.body).map_or(Value::Null, shown)));
        }
    }
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
