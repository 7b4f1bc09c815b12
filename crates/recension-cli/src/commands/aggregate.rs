//! `recension aggregate`: counts, sums and the like of groups of documents.

use clap::Args;
use recension::conditions::parse_path;
use recension::engine::Direction;
use recension::{At, Fold, Path, Pipeline};
use serde_json::Value;

use super::find::query_of;
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::members::Members;
use crate::moments::existing;
use crate::output::{shown, table};

const EXAMPLES: &str = "\
Examples:
  recension aggregate sales --by customer.country --sum total --count
  recension aggregate sales 'state = paid' --by customer.country --avg total --sort -avg_total --limit 10
  recension aggregate sales --by items[].sku --sum items[].quantity --having 'sum_items.quantity > 100'
  recension aggregate sales --min total --max total --at '1 month ago'
  recension aggregate sales --pipeline '[{\"$group\": {\"_id\": \"$state\", \"n\": {\"$sum\": 1}}}]'

Without --by there is one group of all. A member with empty brackets (items[].sku) makes a row of each element of the \
array before. What is made of a group is named for it: count, sum_total, avg_total, and so on; --sort and --having \
use these names. Groups are held in memory, 64 MiB of them at most.";

/// Count and sum up documents by groups
///
/// An index that has all the members that are named is read alone.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Aggregate {
    /// The collection
    collection: String,
    /// Which documents, as in `recension find`; without it, all
    condition: Option<String>,
    /// The members that make a group
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    by: Vec<String>,
    /// How many there are
    #[arg(long)]
    count: bool,
    /// Sums of numbers
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    sum: Vec<String>,
    /// Means of numbers
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    avg: Vec<String>,
    /// Least values
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    min: Vec<String>,
    /// Greatest values
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    max: Vec<String>,
    /// First values
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    first: Vec<String>,
    /// Last values
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    last: Vec<String>,
    /// Different values, as an array
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    distinct: Vec<String>,
    /// All values, as an array
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    collect: Vec<String>,
    /// Only groups that meet a condition; dots in their members' names are written as such: `sum_a.b > 5`
    #[arg(long, value_name = "CONDITION")]
    having: Option<String>,
    /// The order of the groups; - before a member is downwards
    #[arg(long, value_name = "[-]MEMBERS", allow_hyphen_values = true, value_delimiter = ',')]
    sort: Vec<String>,
    /// At most so many groups
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
    /// A pipeline in MongoDB's words, in place of all that
    #[arg(long, value_name = "JSON", conflicts_with_all = [
        "by", "count", "sum", "avg", "min", "max", "first", "last", "distinct", "collect", "having", "sort", "limit",
    ])]
    pipeline: Option<String>,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, or an age (10m, 2h, 3d)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl Aggregate {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let query = query_of(self.condition.as_deref().unwrap_or_default())?;
        let pipeline = match &self.pipeline {
            Some(text) => Pipeline::from_json(text)?,
            None => self.pipeline()?,
        };
        let store = context.store(Missing::IsAnError)?;
        let at = context.moment(&store, self.at)?;
        let collection = existing(&store, &self.collection, at)?;
        let rows = collection.aggregate(&query, &pipeline)?;
        if !context.out.for_people() {
            return rows.iter().try_for_each(|row| Ok(context.out.line(row)?));
        }
        let rows: Vec<Members<'_>> = rows.iter().map(|row| Members::of(row).unwrap_or_default()).collect();
        let mut header: Vec<&str> = Vec::new();
        for member in rows.iter().flat_map(|row| &row.0) {
            if !header.contains(&&*member.name) {
                header.push(&member.name);
            }
        }
        let row = |row: &Members<'_>| -> Vec<Value> {
            header.iter().map(|name| row.get(name).map_or(Value::Null, shown)).collect()
        };
        let rows: Vec<Vec<Value>> = rows.iter().map(row).collect();
        Ok(context.out.line(&table(&header, &rows))?)
    }

    fn pipeline(&self) -> Result<Pipeline> {
        type Make = fn(Path) -> Fold;
        let kinds: [(&str, &[String], Make); 8] = [
            ("sum", &self.sum, Fold::Sum),
            ("avg", &self.avg, Fold::Average),
            ("min", &self.min, Fold::Min),
            ("max", &self.max, Fold::Max),
            ("first", &self.first, Fold::First),
            ("last", &self.last, Fold::Last),
            ("distinct", &self.distinct, Fold::Distinct),
            ("collect", &self.collect, Fold::Collect),
        ];
        let mut folds = Vec::new();
        if self.count {
            folds.push(("count".to_owned(), Fold::Count));
        }
        for (name, members, make) in kinds {
            for member in members {
                folds.push((format!("{name}_{}", member.replace("[]", "")), make(parse_path(member)?)));
            }
        }
        if folds.is_empty() {
            folds.push(("count".to_owned(), Fold::Count));
        }
        let by = self.by.iter().map(|member| Ok(parse_path(member)?)).collect::<Result<Vec<Path>>>()?;
        // The members of a group's row have dots in their names. They are not nested objects.
        let of_row =
            |member: &str| -> Result<Path> { Path::from_segments([member.replace("[]", "")]).map_err(CliError::from) };
        let mut pipeline = Pipeline::new().group(by, folds);
        if let Some(having) = &self.having {
            pipeline = pipeline.having(recension::conditions::of_rows(having)?);
        }
        if !self.sort.is_empty() {
            let one = |sort: &String| {
                Ok(match sort.strip_prefix('-') {
                    Some(member) => (of_row(member)?, Direction::Backward),
                    None => (of_row(sort)?, Direction::Forward),
                })
            };
            pipeline = pipeline.sort(self.sort.iter().map(one).collect::<Result<Vec<_>>>()?);
        }
        Ok(match self.limit {
            Some(limit) => pipeline.limit(limit),
            None => pipeline,
        })
    }
}
