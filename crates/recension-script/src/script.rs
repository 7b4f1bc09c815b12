//! Requests to a design document's functions. A request is put together, a worker runs it, and its answer is read.

use std::time::{Duration, Instant};

use serde::{Deserialize as _, Deserializer};
use serde_json::value::RawValue;

use crate::error::ScriptError;
use crate::pool::{Pool, World};

/// A design document whose functions can be run.
#[derive(Clone, Debug)]
pub struct Script {
    pool: Pool,
    name: String,
    ddoc: String,
    deadline: Duration,
}

/// An answer, and the lines that the functions have logged.
#[derive(Debug)]
pub struct Answer {
    /// The answer as JSON.
    pub value: Box<RawValue>,
    /// Lines of the log.
    pub log: Vec<String>,
}

/// The keys and values that each document emits, as JSON, and lines of the log.
pub type Mapped = (Vec<Vec<(String, String)>>, Vec<String>);

/// A piece of a request: a name, and JSON.
pub type Member<'m> = (&'m str, &'m str);

/// A member that is there, with `null` too: an `Option` alone takes that for absent.
fn there<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(deserializer).map(Some)
}

impl Script {
    /// The functions of a design document. Scripts of one owner and name must have the same text.
    pub fn new(pool: Pool, name: impl Into<String>, ddoc: impl Into<String>, deadline: Duration) -> Self {
        Script { pool, name: name.into(), ddoc: ddoc.into(), deadline }
    }

    /// Its name, which scripts of other texts do not have.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of requests that can run at the same time.
    pub fn parallel(&self) -> usize {
        self.pool.workers_max()
    }

    /// Runs a command. The values of `members` are JSON texts.
    pub fn ask(&self, command: &str, members: &[Member<'_>]) -> Result<Answer, ScriptError> {
        self.ask_within(command, members, self.deadline)
    }

    /// Runs a command with a deadline of its own.
    pub fn ask_within(&self, command: &str, members: &[Member<'_>], deadline: Duration) -> Result<Answer, ScriptError> {
        #[derive(serde::Deserialize)]
        struct Answered {
            #[serde(default, deserialize_with = "there")]
            ok: Option<Box<RawValue>>,
            error: Option<String>,
            reason: Option<String>,
            #[serde(default)]
            log: Vec<String>,
        }
        let mut request = format!("{{\"command\":\"{command}\"");
        for (name, value) in members {
            request.push_str(",\"");
            request.push_str(name);
            request.push_str("\":");
            request.push_str(value);
        }
        request.push('}');
        let world = World { name: &self.name, ddoc: &self.ddoc };
        let function = self.function(command, members);
        let overruns = self.pool.overruns();
        if let Some(left) = overruns.rest_of(&function, Instant::now()) {
            return Err(ScriptError::Rests { deadline, left });
        }
        let answer = self.pool.run(world, request.as_bytes(), deadline);
        match &answer {
            Err(ScriptError::Timeout { .. }) => overruns.note(&function, Instant::now()),
            Ok(_) => overruns.forget(&function),
            Err(_) => {}
        }
        let answer = answer?;
        let unreadable = || ScriptError::Died { why: "its answer does not read".to_owned() };
        let answered: Answered = serde_json::from_slice(&answer).map_err(|_| unreadable())?;
        match (answered.ok, answered.error) {
            (Some(value), None) => Ok(Answer { value, log: answered.log }),
            (_, Some(error)) => Err(ScriptError::Failed { error, reason: answered.reason.unwrap_or_default() }),
            (None, None) => Err(unreadable()),
        }
    }

    /// A name of the function that a request runs, which no other has: that of its world, and what names it there.
    fn function(&self, command: &str, members: &[Member<'_>]) -> String {
        let named = members.iter().filter(|(name, _)| matches!(*name, "code" | "path" | "name"));
        let mut function = format!("{}\0{command}", self.pool.of_owner(&self.name));
        named.for_each(|(_, value)| function.extend(["\0", value]));
        function
    }

    /// Maps documents. Returns the keys and values that each of them emits, as JSON.
    pub fn map(&self, code: &str, docs: &[String]) -> Result<Mapped, ScriptError> {
        let docs = format!("[{}]", docs.join(","));
        let code = serde_json::Value::from(code).to_string();
        let answer = self.ask("map", &[("code", &code), ("docs", &docs)])?;
        let rows = serde_json::from_str(answer.value.get());
        let rows = rows.map_err(|_| ScriptError::Died { why: "its answer does not read".to_owned() })?;
        Ok((rows, answer.log))
    }
}
