//! `recension move`: moves a store to another place. The old one takes no more commits, and says where the store is
//! now.

use clap::Args;
use recension_engines::move_store;
use serde_json::json;

use crate::context::Context;
use crate::error::Result;

/// Move a store to another place: from a directory to a shared log, back, or from log to log
///
/// The new place has every commit, with its number and time. The old place takes no more commits, and its errors name
/// the new one; servers that have it open can still read. Meanwhile a process that shares the store, such as
/// `recension serve`, may use it. If the move is interrupted, the same command continues it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension move notes.store 'postgres://app@db.example/app?log=notes'\n  \
                        recension move 'postgres://app@db.example/app?log=notes' notes.store")]
pub struct Move {
    /// The store: a directory, or the address of a shared log
    from: String,
    /// The new place: a directory that does not exist yet, or the address of an empty log
    to: String,
}

impl Move {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let started = context.started();
        let seq = move_store(&self.from, &self.to, context.key()?.as_ref())?;
        if context.out.for_people() {
            context.out.line(&format!("{} has everything up to seq {seq}; {} is closed", self.to, self.from))?;
        } else {
            context.out.line(&json!({"from": self.from, "to": self.to, "seq": seq.0}).to_string())?;
        }
        context.remark_time(started)
    }
}
