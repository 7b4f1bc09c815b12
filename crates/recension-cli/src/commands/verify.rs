//! `recension verify`: reads the whole store and checks every checksum. Changes nothing.

use std::sync::Arc;

use clap::Args;
use recension::Store;
use recension::engine::{Engine, EngineError, Problem};
use recension_engines::{Address, project};
use recension_log::open_projection;
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::{bytes, count};
use crate::problems::{tabulated, to_json};

/// Read the whole store and check every checksum
///
/// Prints what was read and each damaged place; with ?project= in the store's address, also the rows of SQL tables
/// that differ from the documents. Nothing is changed. If something is damaged, the exit code is 4; `recension
/// salvage` copies everything readable.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension verify\n  recension verify --store sqlite:notes.sqlite --json")]
pub struct Verify {}

impl Verify {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let started = context.started();
        let engine = context.engine(Missing::IsAnError)?;
        let mut report = engine.verify()?;
        let in_store = report.problems.len();
        if in_store == 0 {
            report.problems.extend(projection_problems(&context.address(), engine)?);
        }
        if context.out.for_people() {
            if let Some(table) = tabulated(&report.problems) {
                context.out.line(&table)?;
            }
            context.out.line(&format!(
                "{}: {} commits, {} row versions, {} in {} files",
                if report.problems.is_empty() { "sound" } else { "DAMAGED" },
                count(report.commits),
                count(report.rows),
                bytes(report.bytes),
                report.files
            ))?;
        } else {
            context.out.line(
                &json!({
                    "sound": report.problems.is_empty(),
                    "commits": report.commits,
                    "row_versions": report.rows,
                    "bytes": report.bytes,
                    "files": report.files,
                    "problems": to_json(&report.problems),
                })
                .to_string(),
            )?;
        }
        context.remark_time(started)?;
        match report.problems.len() {
            0 => Ok(()),
            found if in_store == 0 => Err(CliError::Damaged(format!(
                "{found} rows differ from the documents; `recension project --rebuild` writes them again"
            ))),
            found => Err(CliError::Damaged(format!(
                "{found} damaged {}; restore a backup, or copy what is readable with: recension salvage {} NEW_STORE",
                if found == 1 { "place" } else { "places" },
                context.address()
            ))),
        }
    }
}

/// The differences between the documents and the tables that the address names, if it names any.
fn projection_problems(address: &str, engine: Arc<dyn Engine>) -> Result<Vec<Problem>> {
    let Address::Log(address) = Address::parse(address)? else { return Ok(Vec::new()) };
    let Some(mut projection) = open_projection(&address).map_err(EngineError::from)? else { return Ok(Vec::new()) };
    let found = if projection.seq().map_err(EngineError::from)?.is_some() {
        project::check(&Store::on(engine)?, &mut projection)?
    } else {
        vec!["nothing was written there yet: run `recension project`".to_owned()]
    };
    let problem = |what| Problem { file: "projection".to_owned(), offset: 0, what };
    Ok(found.into_iter().map(problem).collect())
}
