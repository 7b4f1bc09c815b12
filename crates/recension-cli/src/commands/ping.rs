//! `recension ping`: whether a store answers, wherever it is.

use clap::Args;
use recension::format_time;
use serde_json::json;

use crate::context::{Context, Missing, took};
use crate::error::Result;

const EXAMPLES: &str = "\
Examples:
  recension ping
  recension ping --store 'postgres://db.example.org/shop?cache=/var/cache/shop'

It opens the store and reads its newest commit. If that fails, the exit code is 6.";

/// Check whether the store answers, and how fast
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Ping {}

impl Ping {
    /// Runs the command.
    #[allow(clippy::unused_self)] // as its fellows
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let started = context.started();
        let engine = context.engine(Missing::IsAnError)?;
        let head = engine.head();
        let time = format_time(engine.snapshot_at(head)?.time()?);
        let took = took(started.elapsed());
        let address = context.address();
        if context.out.for_people() {
            return Ok(context.out.line(&format!("{address} answers in {took}: commit {head}, of {time}"))?);
        }
        Ok(context.out.line(&json!({ "store": address, "commit": head.0, "time": time }).to_string())?)
    }
}
