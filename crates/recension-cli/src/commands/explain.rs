//! `recension explain`: how a find would be carried out, and which other ways were considered. It reads only what the
//! choice needs.

use clap::Args;
use recension::engine::Direction;
use recension::{Alternative, Condition, Plan};
use serde_json::{Value, json};

use super::find::Question;
use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::existing;
use crate::output::table;

const EXAMPLES: &str = "\
Examples:
  recension explain cities 'population >= 1000000 and countrycode = PT'
  recension explain cities 'countrycode = PT' --sort -population --fields name
  recension explain cities 'countrycode = PT' --json | jq .index

Costs are estimates: 1 is the cost of reading and testing one document.";

/// Show how a find would be executed, without running it
///
/// Shows which index is chosen and why: what each way would read and cost, and which conditions no index serves.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Explain {
    #[command(flatten)]
    question: Question,
}

impl Explain {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let query = self.question.query()?;
        let store = context.store(Missing::IsAnError)?;
        let at = context.moment(&store, self.question.at)?;
        let collection = existing(&store, &self.question.collection, at)?;
        let plan = collection.explain(&query)?;
        if !context.out.for_people() {
            return Ok(context.out.line(&plan.to_json())?);
        }
        for line in told(&plan) {
            context.out.line(&line)?;
        }
        let ways = std::iter::once(way(plan.index.as_deref(), plan.rows, plan.cost, "chosen"));
        let others = plan.alternatives.iter().map(|Alternative { index, rows, cost, rejected }| {
            way(index.as_deref(), *rows, *cost, rejected.as_deref().unwrap_or_default())
        });
        let ways: Vec<Vec<Value>> = ways.chain(others).collect();
        Ok(context.out.line(&format!("\n{}", table(&["way", "rows", "cost", ""], &ways)))?)
    }
}

/// The plan in words, one line for each step.
fn told(plan: &Plan) -> Vec<String> {
    let list = |conditions: &[Condition]| conditions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
    let mut lines = vec![plan.summary()];
    if !plan.union.is_empty() {
        lines.extend(plan.union.iter().flat_map(told).map(|line| format!("  {line}")));
        return lines;
    }
    if let Some(on) = &plan.on {
        let direction = if plan.direction == Direction::Forward { "forward" } else { "backward" };
        lines.push(format!("  on {on}, read {direction}"));
    }
    for (what, conditions) in
        [("bounded by", &plan.bounds), ("tested on the index", &plan.key_filter), ("tested on documents", &plan.filter)]
    {
        if !conditions.is_empty() {
            lines.push(format!("  {what}: {}", list(conditions)));
        }
    }
    for path in &plan.absent {
        lines.push(format!("  tested on documents: {path} is missing"));
    }
    if let Some(selector) = &plan.selector {
        lines.push(format!("  tested on documents: {selector}"));
    }
    if plan.covering {
        lines.push("  no document is read: the index has all the members that are needed".to_owned());
    }
    lines
}

fn way(index: Option<&str>, rows: Option<f64>, cost: Option<f64>, remark: &str) -> Vec<Value> {
    let number = |number: Option<f64>| number.map_or(Value::Null, |number| json!((number * 10.0).round() / 10.0));
    let name = index.map_or("scan of every document".to_owned(), |name| format!("index {name}"));
    vec![json!(name), number(rows), number(cost), json!(remark)]
}
