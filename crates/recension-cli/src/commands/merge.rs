//! `recension merge`: merges a branch into another one, and tells what both changed differently.

use clap::{Args, ValueEnum};
use recension::json::{MergeRules, Pointer};
use recension::{Conflicts, MergeOptions};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::documents;

const EXAMPLES: &str = "\
Examples:
  recension merge idea --dry-run
  recension merge idea
  recension merge idea --conflicts theirs
  recension merge main --into idea

What only one of both changed is taken, member by member; elements of arrays are told apart by _id or id. What both \
changed differently is listed: --conflicts fields leaves both revisions, as a replication would (recension conflicts), \
ours and theirs choose, abort writes nothing.";

/// Merge a branch into the store, or into another branch
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Merge {
    /// The branch to merge; main is the store itself
    from: String,
    /// The branch to merge it into [default: the one that --branch names, or main]
    #[arg(long, value_name = "BRANCH")]
    into: Option<String>,
    /// What happens where both changed the same differently
    #[arg(long, value_enum, default_value_t = Choice::Fields)]
    conflicts: Choice,
    /// A number that counts: both differences are added; a place such as /stock or /lines/*/count
    #[arg(long, value_name = "PLACE")]
    counter: Vec<Pointer>,
    /// A member that elements of arrays are told apart by [default: _id, id]
    #[arg(long, value_name = "MEMBER")]
    identity: Vec<String>,
    /// Tell what would happen, and write nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// Both revisions stay
    Fields,
    /// The branch that is merged into wins
    Ours,
    /// The branch that is merged wins
    Theirs,
    /// Nothing is written
    Abort,
}

impl Merge {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let here = context.store(Missing::IsAnError)?;
        let from = here.open_branch(&self.from)?;
        let into = match &self.into {
            Some(name) => here.open_branch(name)?,
            None => here,
        };
        let conflicts = match self.conflicts {
            Choice::Fields => Conflicts::Fields,
            Choice::Ours => Conflicts::Ours,
            Choice::Theirs => Conflicts::Theirs,
            Choice::Abort => Conflicts::Abort,
        };
        let counters = self.counter.iter().map(|place| place.tokens().to_vec()).collect();
        let mut rules = MergeRules { counters, ..MergeRules::default() };
        if !self.identity.is_empty() {
            rules.identities.clone_from(&self.identity);
        }
        let options = MergeOptions { conflicts, dry_run: self.dry_run, rules };
        let merged = into.merge_from(&from, &options)?;
        let text = |value: &Option<String>| {
            value.as_ref().map_or(Value::Null, |text| serde_json::from_str(text).unwrap_or(Value::Null))
        };
        let rows: Vec<Vec<Value>> = merged
            .conflicts
            .iter()
            .flat_map(|document| document.places.iter().map(move |place| (document, place)))
            .map(|(document, place)| {
                let (ours, theirs) = (text(&place.ours), text(&place.theirs));
                vec![
                    json!(document.collection),
                    json!(document.id),
                    json!(place.path.to_string()),
                    text(&place.base),
                    ours,
                    theirs,
                ]
            })
            .collect();
        if !rows.is_empty() {
            context.out.rows(&["collection", "id", "place", "base", "ours", "theirs"], &rows)?;
        }
        if !context.out.for_people() {
            let (taken, combined, conflicted) = (merged.taken, merged.combined, merged.conflicted);
            let seq = merged.commit.map(|commit| commit.seq.0);
            let told = json!({
                "taken": taken, "combined": combined, "conflicted": conflicted, "seq": seq, "dropped": merged.dropped,
                "made": merged.made,
            });
            context.out.line(&told.to_string())?;
        }
        let verb = if self.dry_run { "would be " } else { "" };
        context.out.remark(&format!(
            "{} {verb}taken, {} {verb}merged by member, {} in conflict",
            documents(merged.taken),
            documents(merged.combined),
            merged.conflicted
        ))?;
        for name in &merged.made {
            context.out.remark(&format!("{name} {verb}made"))?;
        }
        for name in &merged.dropped {
            context.out.remark(&format!("{name} was dropped there, and stays here: recension drop {name}"))?;
        }
        if merged.conflicted > 0 && self.conflicts == Choice::Abort && !self.dry_run {
            return Err(CliError::Conflict("nothing was merged".to_owned()));
        }
        Ok(())
    }
}
