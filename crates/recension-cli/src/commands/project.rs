//! `recension project`: the documents as rows of tables, in the database that the store's log lives on.

use std::time::Duration;

use clap::Args;
use recension_engines::{Address, project};
use recension_log::{LogError, open_projection};
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::count;

/// How long it waits for changes before it checks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(500);

/// Write the documents into SQL tables of the database that has the store's log
///
/// With PostgreSQL, MySQL and MariaDB, and ?project=SCHEMA in the store's address: one table for each collection,
/// with id, rev, seq and body (jsonb; JSON text in MySQL and MariaDB). You may add indexes and SQL views. Changes
/// that others make to the tables do not reach the documents.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension project --store 'postgres://app@db/app?log=orders&project=public'\n  \
                        psql app -c \"select body->>'name' from cities where body->>'country' = 'Portugal'\"")]
pub struct ProjectCommand {
    /// Drop the tables and write them again
    #[arg(long, conflicts_with = "check")]
    rebuild: bool,
    /// Compare the tables with the documents, and change nothing; if they differ, the exit code is 4
    #[arg(long)]
    check: bool,
    /// Continue with later changes, until Ctrl-C
    #[arg(long, conflicts_with = "check")]
    follow: bool,
}

impl ProjectCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let none = || {
            CliError::Usage(
                "the store's address has no projection: it needs PostgreSQL, MySQL or MariaDB, with \
                  ?project=SCHEMA"
                    .to_owned(),
            )
        };
        let Address::Log(address) = Address::parse(&context.address())? else { return Err(none()) };
        let refused = |error: LogError| CliError::from(recension::engine::EngineError::from(error));
        let mut projection = open_projection(&address).map_err(refused)?.ok_or_else(none)?;
        // The tables are those of the main line.
        context.whole_store("project")?;
        let store = context.store(Missing::IsAnError)?;
        if self.check {
            let problems = project::check(&store, &mut projection)?;
            for problem in &problems {
                context.out.line(problem)?;
            }
            return match problems.len() {
                0 => Ok(()),
                found => Err(CliError::Damaged(format!(
                    "{found} rows differ from the documents; `recension project --rebuild` writes them again"
                ))),
            };
        }
        if self.follow {
            context.watch_for_interrupts()?;
        }
        let mut rebuild = self.rebuild;
        loop {
            let done = project::project(&store, &mut projection, rebuild)?;
            rebuild = false;
            if context.out.for_people() {
                let (written, deleted) = (count(done.written), count(done.deleted));
                context.out.line(&format!("up to seq {}: {written} written, {deleted} deleted", done.seq))?;
            } else {
                let done = json!({"seq": done.seq.0, "written": done.written, "deleted": done.deleted});
                context.out.line(&done.to_string())?;
            }
            if !self.follow {
                return Ok(());
            }
            context.out.flush()?;
            let head = store.engine().head();
            while store.engine().wait_beyond(head, LOOK) <= head {
                if context.interrupted() {
                    return Ok(());
                }
            }
        }
    }
}
