//! `recension stats`: sizes and counters of the store.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::output::{bytes, count, table};

/// Print sizes and counters of the store
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension stats\n  recension stats --json | jq .disk_bytes")]
pub struct StatsCommand {}

impl StatsCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let stats = context.engine(Missing::IsAnError)?.stats()?;
        if context.out.for_people() {
            let mut rows = vec![
                vec![json!("engine"), json!(stats.engine)],
                vec![json!("commits"), json!(count(stats.head.0))],
                vec![json!("on disk"), json!(bytes(stats.disk_bytes))],
                vec![json!("in memory"), json!(bytes(stats.memory_bytes))],
            ];
            for (name, value, unit) in &stats.details {
                let value = if *unit == "bytes" { bytes(*value) } else { format!("{} {unit}", count(*value)) };
                rows.push(vec![json!(name), json!(value.trim_end())]);
            }
            return Ok(context.out.line(&table(&["store", &context.address()], &rows))?);
        }
        let details: Map<String, Value> =
            stats.details.iter().map(|(name, value, _)| ((*name).to_owned(), json!(value))).collect();
        Ok(context.out.line(
            &json!({
                "engine": stats.engine,
                "seq": stats.head.0,
                "disk_bytes": stats.disk_bytes,
                "memory_bytes": stats.memory_bytes,
                "details": details,
            })
            .to_string(),
        )?)
    }
}
