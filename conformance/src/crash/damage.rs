//! Opens and reads a store whose files have been damaged at rest. The answer may be right, or refused. If only the
//! newest commit was damaged, it may also be the state before it. It may never be wrong.

use std::sync::Arc;

use recension::engine::{Clock, EngineError, Seq};

use super::Finding;
use super::Opener;
use super::check::compare;
use super::history::{Model, no_violations, test_clock};
use crate::sim::SimDisk;

/// What a damaged store answered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Answer {
    /// Everything is right: the damage was harmless, or was repaired from the remaining files.
    Right,
    /// It holds this many commits fewer, and everything of the others is right.
    Shorter(u64),
    /// It opened, and some reads were refused with file and offset.
    SomeRefused,
    /// It was not opened; the message names the file.
    Refused,
}

/// Opens a damaged store that held what `model` holds, and compares every answer.
pub fn answer_after_damage(disk: &SimDisk, opener: &Opener, model: &Model) -> Result<Answer, Finding> {
    let engine = match opener(disk.arc(), test_clock() as Arc<dyn Clock>) {
        Ok(engine) => engine,
        Err(error) => return refused(&error).map(|()| Answer::Refused),
    };
    let head = engine.head().0;
    if head > model.head() {
        return Err(format!("{head} commits are there, {} had been made", model.head()));
    }
    let refusals = compare(&*engine, model.engine(), Seq(head))?;
    let report = engine.verify().map_err(|e| format!("verify gave up: {e}"))?;
    no_violations(disk)?;
    match (refusals.len(), head) {
        (0, head) if head == model.head() => Ok(Answer::Right),
        (0, head) => Ok(Answer::Shorter(model.head() - head)),
        (_, head) if head < model.head() => Err("commits are missing and others are refused".to_owned()),
        _ if report.problems.is_empty() => Err("reads were refused, and verify found nothing".to_owned()),
        _ => Ok(Answer::SomeRefused),
    }
}

/// A refusal must name what is damaged.
fn refused(error: &EngineError) -> Result<(), Finding> {
    match error {
        EngineError::Damaged { file, .. } | EngineError::NewerFormat { file, .. } if !file.is_empty() => Ok(()),
        EngineError::NotAStore { .. } => Ok(()),
        other => Err(format!("refused without a word of damage: {other}")),
    }
}
