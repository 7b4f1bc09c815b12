//! `recension update`: changes every document that meets a condition by one patch, in commits of many documents.

use clap::Args;
use recension::json::{JsonPatch, merge_patch, reserved_name};
use recension::{At, Collection, Error, Matched};
use serde_json::json;

use super::find::choosing;
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::moments::to_change;
use crate::output::documents;

const EXAMPLES: &str = "\
Examples:
  recension update cities 'countrycode = PT' --merge '{\"continent\": \"Europe\"}'
  recension update cities 'not tags exists' --merge '{\"tags\": []}' --dry-run
  recension update cities 'population > 1000000' --patch '[{\"op\": \"add\", \"path\": \"/large\", \"value\": true}]' \
  --yes

At a terminal it shows the number of documents and asks for confirmation. Documents that others write meanwhile \
are not changed, and their ids are printed.";

/// Change every document that meets a condition
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("change").required(true).args(["merge", "patch"])))]
pub struct Update {
    /// The collection
    collection: String,
    /// A condition as in `recension find`
    condition: String,
    /// A merge patch (RFC 7396)
    #[arg(long, value_name = "JSON")]
    merge: Option<String>,
    /// A JSON patch (RFC 6902)
    #[arg(long, value_name = "JSON")]
    patch: Option<String>,
    /// Only count the documents that would be changed
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl Update {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let query = choosing(&self.condition)?;
        let patch = self.patch.as_deref().map(JsonPatch::from_json).transpose()?;
        let merge = self.merge.as_deref().unwrap_or("{}");
        // A malformed patch is refused before anything is changed.
        merge_patch("{}", merge).map_err(Error::from)?;
        match patch.as_ref().map_or_else(|| reserved_name(merge), JsonPatch::reserved_name).as_deref() {
            Some("_deleted") => {
                return Err(CliError::Usage("a change cannot set _deleted; recension delete deletes".to_owned()));
            }
            Some(name) => {
                return Err(CliError::Usage(format!("a change is of a document's own members, and not of {name}")));
            }
            None => {}
        }
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
        let number = collection.count_matching(&query)?;
        if self.dry_run {
            return print(context, "would_change", &Matched { written: number, left_alone: Vec::new() });
        }
        if number == 0 {
            say_that_none(context, &self.condition, &collection)?;
            return print(context, "changed", &Matched::default());
        }
        context.confirm(self.yes, &format!("Change {} of {}?", documents(number), self.collection))?;
        let changed = |_: &str, body: &str| {
            let new = match &patch {
                Some(patch) => patch.apply(body)?,
                None => merge_patch(body, merge)?,
            };
            Ok((new != body).then_some(new))
        };
        let matched = collection.update_matching(&query, changed)?;
        print(context, "changed", &matched)
    }
}

/// Says that a condition finds nothing, and what it may have meant.
pub(super) fn say_that_none(context: &mut Context, condition: &str, collection: &Collection) -> Result<()> {
    let hint = super::find::hint(condition, &collection.at(At::Now)?);
    Ok(context.out.remark(&format!("no document meets the condition{hint}"))?)
}

/// Prints the result.
pub(super) fn print(context: &mut Context, what: &str, matched: &Matched) -> Result<()> {
    if context.out.for_people() {
        let number = documents(matched.written);
        let left = match matched.left_alone.as_slice() {
            [] => String::new(),
            ids => format!("; left alone, since others wrote them meanwhile: {}", ids.join(", ")),
        };
        return Ok(context.out.line(&format!("{} {number}{left}", what.replace('_', " ")))?);
    }
    Ok(context.out.line(&json!({ what: matched.written, "left_alone": matched.left_alone }).to_string())?)
}
