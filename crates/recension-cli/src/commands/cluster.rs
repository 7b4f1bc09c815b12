//! `recension cluster`: the nodes that follow the log of a store, and how far each is; the tables of a log; and the way
//! on for a cache that has what its log has lost.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use recension::format_time;
use recension_engines::Address;
use recension_log::{
    LogAddress, LogStatus, NodeStatus, caches_of, discard_cache, log_status, open_log, tables_of, without_password,
};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::table;

const STATUS_EXAMPLES: &str = "Examples:\n  recension cluster status --store etcd://10.0.0.1,10.0.0.2/orders";

const TABLES_EXAMPLES: &str = "\
Examples:
  recension cluster tables --store 'postgres://app@db.example/app?log=orders'";

const DISCARD_EXAMPLES: &str = "\
Examples:
  recension cluster discard /var/cache/recension/orders
  recension cluster discard /var/cache/recension/orders --yes
  recension cluster discard --store 'etcd://10.0.0.1,10.0.0.2/orders'";

/// Show and maintain a store on a shared log
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
    /// A running node reports its position every five seconds; a node that does not do so while this command waits is
    /// shown as silent. Nodes at the same position have the same hash: if they do not, the system has lost or changed
    /// a record.
    #[command(after_help = STATUS_EXAMPLES)]
    Status,
    /// Print the statements that create the log's tables
    ///
    /// For an administrator who creates them, if the user of the log may not. The command does not connect to the
    /// system. MongoDB, etcd, S3 and folders need no tables.
    #[command(after_help = TABLES_EXAMPLES)]
    Tables,
    /// Discard a node's cache, and continue with the log as it is
    ///
    /// For a cache with commits that the log has lost: after a backup of the log's system was restored, or after a
    /// standby took over that was behind. Commits that only the cache has are then lost. Its folder `store` is a
    /// complete store, which you can copy before.
    #[command(after_help = DISCARD_EXAMPLES)]
    Discard {
        /// The cache; by default those of the store's log on this machine
        cache: Option<PathBuf>,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

impl ClusterCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        match &self.what {
            What::Status => status(context),
            What::Tables => {
                let address = address(context)?;
                let none = || CliError::Usage(format!("{} has no tables: nothing has to be made", address.place()));
                let tables = tables_of(&address).ok_or_else(none)?;
                Ok(context.out.line(&tables)?)
            }
            What::Discard { cache, yes } => discard(context, cache.as_ref(), *yes),
        }
    }
}

fn address(context: &Context) -> Result<LogAddress> {
    let text = context.address();
    match Address::parse(&text)? {
        Address::Log(address) => Ok(address),
        _ => Err(CliError::Usage(format!(
            "{} is a store of one process; only stores on a shared log have nodes",
            without_password(&text)
        ))),
    }
}

fn discard(context: &mut Context, cache: Option<&PathBuf>, yes: bool) -> Result<()> {
    let caches = match cache {
        Some(cache) => vec![cache.clone()],
        None => caches_of(&address(context)?)?,
    };
    if caches.is_empty() {
        return Err(CliError::NotFound("there is no cache of that log here".to_owned()));
    }
    for cache in caches {
        let name = cache.display();
        context.confirm(yes, &format!("Discard the cache {name}, with what only it may have?"))?;
        let said = match discard_cache(&cache)? {
            Some(had) => format!("{name} is discarded; it had record {} (commit {})", had.position, had.seq),
            None => format!("{name} is discarded; there was nothing in it"),
        };
        context.out.remark(&said)?;
    }
    Ok(())
}

/// The state of a node: a dead one is never live, and one with records that the log does not have is told.
fn state(status: &LogStatus, node: &NodeStatus) -> &'static str {
    match (node.position > status.position, node.live) {
        (true, _) => "ahead of the log",
        (false, true) => "live",
        (false, false) => "silent",
    }
}

fn status(context: &mut Context) -> Result<()> {
    let address = address(context)?;
    let log = open_log(&address)?;
    let status = log_status(&*log)?;
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
            let live = state(&status, node);
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

fn as_json(status: &LogStatus) -> Value {
    let nodes: Vec<_> = status
        .nodes
        .iter()
        .map(|node| {
            json!({
                "name": node.name, "id": node.id, "live": node.live, "state": state(status, node),
                "position": node.position.0,
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
