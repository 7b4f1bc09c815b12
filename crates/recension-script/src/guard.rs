//! The guard of a store: validation functions of design documents, run by workers.

use recension::{Error, Guard, Proposed, Result, Validator};
use serde_json::Value;

use crate::design::{Design, Functions, error_of};

/// Decides by the validation functions of design documents whether documents may be written.
#[derive(Debug)]
pub struct ScriptGuard {
    functions: Functions,
}

impl ScriptGuard {
    /// A guard whose functions run on these workers.
    pub fn new(functions: Functions) -> Self {
        ScriptGuard { functions }
    }
}

impl Guard for ScriptGuard {
    fn check_design(&self, id: &str, body: &str) -> Result<()> {
        Design::of(id, "0-0", body).check(&self.functions)
    }

    fn validate(&self, design: &Validator<'_>, proposed: &Proposed<'_>) -> Result<()> {
        let own = Design::of(design.id, design.rev, design.body);
        own.check_language()?;
        let members = [
            ("doc", proposed.new),
            ("old", proposed.old.unwrap_or("null")),
            ("user", proposed.user),
            ("security", proposed.security),
        ];
        let script = own.script(&self.functions.of(design.branch, design.number));
        let answer = script.ask("validate", &members).map_err(error_of)?;
        for line in &answer.log {
            (self.functions.log)(line);
        }
        let said: Value = serde_json::from_str(answer.value.get()).unwrap_or_default();
        let Some(said) = said.as_object() else { return Ok(()) };
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let refused = |unauthorized, reason: &Value| {
            Err(Error::Refused { id: proposed.id.to_owned(), unauthorized, reason: text(reason) })
        };
        match (said.get("forbidden"), said.get("unauthorized"), said.get("failed")) {
            (Some(reason), ..) | (None, None, Some(reason)) => refused(false, reason),
            (None, Some(reason), _) => refused(true, reason),
            (None, None, None) => Ok(()),
        }
    }
}
