//! `recension cluster status`: the nodes that follow the log of a store, and how far each is.

use clap::{Args, Subcommand};
use recension::engine::{Clock as _, SystemClock};
use recension::format_time;
use recension_engines::Address;
use recension_log::{LogStatus, log_status, open_log};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::table;

const STATUS_EXAMPLES: &str = "Examples:\n  recension cluster status --store etcd://10.0.0.1,10.0.0.2/orders";

/// Show the nodes of a store on a shared log
#[derive(Debug, Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub struct ClusterCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show the log, its snapshots, and its nodes with their positions
    ///
    /// A node that stays says every few seconds where it is. Nodes at equal positions have equal chains: if they do
    /// not, the system has lost or changed a record.
    #[command(after_help = STATUS_EXAMPLES)]
    Status,
}

impl ClusterCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let What::Status = self.what;
        let Address::Log(address) = Address::parse(&context.address())? else {
            return Err(CliError::Usage(format!(
                "{} is a store of one process; only stores on a shared log have nodes",
                context.address()
            )));
        };
        let log = open_log(&address)?;
        let status = log_status(&*log, SystemClock.now())?;
        if !context.out.for_people() {
            return Ok(context.out.line(&as_json(&status).to_string())?);
        }
        let rows = [
            ("system", json!(status.system)),
            ("a commit survives", json!(status.keeps)),
            ("log", json!(status.log)),
            ("newest record", json!(status.position.0)),
            ("chain", json!(status.chain)),
            ("snapshots", json!(status.snapshots.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))),
        ];
        let rows: Vec<_> = rows.into_iter().map(|(name, value)| vec![json!(name), value]).collect();
        context.out.line(&table(&["store", &status.place], &rows))?;
        let nodes: Vec<_> = status
            .nodes
            .iter()
            .map(|node| {
                let lag = status.position.0.saturating_sub(node.position.0);
                let chain = node.chain.get(..12).unwrap_or_default();
                let live = if node.live { "live" } else { "silent" };
                vec![
                    json!(node.name),
                    json!(live),
                    json!(node.position.0),
                    json!(lag),
                    json!(node.seq.0),
                    json!(chain),
                    json!(format_time(node.said)),
                ]
            })
            .collect();
        Ok(context.out.line(&table(&["node", "state", "record", "behind", "seq", "chain", "said"], &nodes))?)
    }
}

fn as_json(status: &LogStatus) -> Value {
    let nodes: Vec<_> = status
        .nodes
        .iter()
        .map(|node| {
            json!({
                "name": node.name, "id": node.id, "live": node.live, "position": node.position.0,
                "behind": status.position.0.saturating_sub(node.position.0), "seq": node.seq.0, "chain": node.chain,
                "said": format_time(node.said),
            })
        })
        .collect();
    json!({
        "system": status.system, "place": status.place, "keeps": status.keeps, "log": status.log,
        "position": status.position.0, "chain": status.chain,
        "snapshots": status.snapshots.iter().map(|position| position.0).collect::<Vec<_>>(), "nodes": nodes,
    })
}
