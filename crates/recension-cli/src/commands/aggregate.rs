//! `recension aggregate`: counts, sums and the like of groups of documents.

use clap::Args;
use recension::conditions::parse_path;
use recension::engine::Direction;
use recension::json::Step;
use recension::{At, Fold, Path, Pipeline};
use serde_json::Value;

use super::find::{hint, hint_of_members, query_of};
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::members::Members;
use crate::moments::existing;
use crate::output::{shown, table};

type Make = fn(Path) -> Fold;

const EXAMPLES: &str = "\
Examples:
  recension aggregate sales --by customer.country --sum total --count
  recension aggregate sales 'state = paid' --by customer.country --avg total --sort -avg_total --limit 10
  recension aggregate sales --by items[].sku --sum items[].quantity --having 'sum_items.quantity > 100'
  recension aggregate sales --min total --max total --at '30 days ago'
  recension aggregate sales --pipeline '[{\"$group\": {\"_id\": \"$state\", \"n\": {\"$sum\": 1}}}]'

Without --by all documents are one group. A member with empty brackets (items[].sku) makes one row for each \
element of the array. The columns are called count, sum_total, avg_total and so on; --sort and --having use \
these names. Groups are held in memory, up to 64 MiB.";

/// Compute counts, sums and the like for groups of documents
///
/// If an index has all of the named members, only the index is read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Aggregate {
    /// The collection
    collection: String,
    /// A condition as in `recension find`; by default all documents
    condition: Option<String>,
    /// The members to group by
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    by: Vec<String>,
    /// Count the documents of each group
    #[arg(long)]
    count: bool,
    /// Compute sums of these members
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    sum: Vec<String>,
    /// Compute averages of these members
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    avg: Vec<String>,
    /// Find the smallest values of these members
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    min: Vec<String>,
    /// Find the greatest values of these members
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    max: Vec<String>,
    /// Take the first values of these members
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    first: Vec<String>,
    /// Take the last values of these members
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    last: Vec<String>,
    /// Collect the distinct values of these members in an array
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    distinct: Vec<String>,
    /// Collect all values of these members in an array
    #[arg(long, value_name = "MEMBERS", value_delimiter = ',')]
    collect: Vec<String>,
    /// Print only groups that meet a condition; names of columns may have dots: `sum_a.b > 5`
    #[arg(long, value_name = "CONDITION")]
    having: Option<String>,
    /// The columns to sort by; - before a column sorts in descending order
    #[arg(long, value_name = "[-]MEMBERS", allow_hyphen_values = true, value_delimiter = ',')]
    sort: Vec<String>,
    /// Print at most this many groups; 0 prints all
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
    /// A pipeline in MongoDB's syntax, instead of the options above
    #[arg(long, value_name = "JSON", conflicts_with_all = [
        "by", "count", "sum", "avg", "min", "max", "first", "last", "distinct", "collect", "having", "sort", "limit",
    ])]
    pipeline: Option<String>,
    /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now")]
    at: At,
}

impl Aggregate {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let condition = self.condition.as_deref().unwrap_or_default();
        let query = match query_of(condition) {
            Err(_) if condition.trim_start().starts_with(['[', '{']) => {
                return Err(CliError::Usage(format!("a pipeline goes with its option: --pipeline '{condition}'")));
            }
            query => query?,
        };
        let pipeline = match &self.pipeline {
            Some(text) => Pipeline::from_json(text)?,
            None => self.pipeline()?,
        };
        let store = context.store(Missing::IsAnError)?;
        let at = context.moment(&store, self.at)?;
        let collection = existing(&store, &self.collection, at)?;
        let rows = collection.aggregate(&query, &pipeline)?;
        print(context, &rows)?;
        let hint = match rows.as_slice() {
            [] => hint(condition, &collection),
            _ => hint_of_members(&self.members(), &collection),
        };
        match hint.strip_prefix("; ") {
            Some(hint) => Ok(context.out.remark(hint)?),
            None => Ok(()),
        }
    }

    fn kinds(&self) -> [(&'static str, &[String], Make); 8] {
        [
            ("sum", &self.sum, Fold::Sum),
            ("avg", &self.avg, Fold::Average),
            ("min", &self.min, Fold::Min),
            ("max", &self.max, Fold::Max),
            ("first", &self.first, Fold::First),
            ("last", &self.last, Fold::Last),
            ("distinct", &self.distinct, Fold::Distinct),
            ("collect", &self.collect, Fold::Collect),
        ]
    }

    /// The members of documents that are named.
    fn members(&self) -> Vec<&str> {
        let folded = self.kinds().into_iter().flat_map(|(_, members, _)| members);
        self.by.iter().chain(folded).map(String::as_str).collect()
    }

    fn pipeline(&self) -> Result<Pipeline> {
        let mut folds = Vec::new();
        if self.count {
            folds.push(("count".to_owned(), Fold::Count));
        }
        for (name, members, make) in self.kinds() {
            for member in members {
                folds.push((format!("{name}_{}", member.replace("[]", "")), make(parse_path(member)?)));
            }
        }
        if folds.is_empty() {
            folds.push(("count".to_owned(), Fold::Count));
        }
        let by = self.by.iter().map(|member| Ok(parse_path(member)?)).collect::<Result<Vec<Path>>>()?;
        let bare = |member: &str| member.replace("[]", "");
        // The members of a group's row have dots in their names. They are not nested objects.
        let of_row = |member: &str| -> Result<Path> { Path::from_segments([bare(member)]).map_err(CliError::from) };
        let columns: Vec<String> =
            self.by.iter().map(|member| bare(member)).chain(folds.iter().map(|(name, _)| name.clone())).collect();
        if let Some((_, twice)) =
            (1..).zip(&columns).find(|(next, name)| columns.iter().skip(*next).any(|n| n == *name))
        {
            return Err(CliError::Usage(format!("two columns of the groups are named {twice}: leave one out")));
        }
        let known = |column: &str, what: &str| {
            if columns.iter().any(|own| own == column) {
                return Ok(());
            }
            let columns = columns.join(", ");
            Err(CliError::Usage(format!("the groups have no column {column} {what}: there are {columns}")))
        };
        let mut pipeline = Pipeline::new().group(by, folds);
        if let Some(having) = &self.having {
            let having = recension::conditions::of_rows(having)?;
            for path in having.paths() {
                if let Some(Step::Name(column)) = path.steps().first() {
                    known(column, "for --having")?;
                }
            }
            pipeline = pipeline.having(having);
        }
        if !self.sort.is_empty() {
            for sort in &self.sort {
                known(&bare(sort.strip_prefix('-').unwrap_or(sort)), "to sort by")?;
            }
            let one = |sort: &String| {
                Ok(match sort.strip_prefix('-') {
                    Some(member) => (of_row(member)?, Direction::Backward),
                    None => (of_row(sort)?, Direction::Forward),
                })
            };
            pipeline = pipeline.sort(self.sort.iter().map(one).collect::<Result<Vec<_>>>()?);
        }
        Ok(match self.limit {
            Some(limit) if limit > 0 => pipeline.limit(limit),
            _ => pipeline,
        })
    }
}

/// Prints groups as lines, or as a table of what any of them has.
fn print(context: &mut Context, rows: &[String]) -> Result<()> {
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
