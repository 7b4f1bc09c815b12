//! `recension branch`: lists branches, makes, renames and drops them. `recension tag`: the same for tags.

use clap::Args;
use recension::engine::BranchId;
use recension::{At, Store};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};

const EXAMPLES: &str = "\
Examples:
  recension branch
  recension branch idea
  recension --branch idea patch cities 2735943 '{\"population\": 545796}'
  recension diff --with idea
  recension merge idea --dry-run
  recension branch idea --drop --yes

A branch begins as the store is, or was at a moment, and has its own writes from then on. --branch, RECENSION_BRANCH \
and addresses like recension.store#idea name the one that a command works on.";

const TAG_EXAMPLES: &str = "\
Examples:
  recension tag before-import
  recension tag
  recension collections --at tag:before-import
  recension tag before-import --drop

While a tag is there, its moment can be read, whatever the rules of retention say.";

/// List the branches; make, rename or drop one
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Branch {
    /// The branch; without it, all are listed
    name: Option<String>,
    /// Where it begins: a moment (1234, 2h, 2026-11-21T10:00:00Z, tag:v1)
    #[arg(long, value_name = "MOMENT", default_value = "now", requires = "name")]
    #[arg(conflicts_with_all = ["drop", "rename_to"])]
    at: At,
    /// Drop it with everything that was written on it
    #[arg(long, requires = "name")]
    drop: bool,
    /// Do not ask for confirmation
    #[arg(long, short, requires = "drop")]
    yes: bool,
    /// Give it another name
    #[arg(long, value_name = "NAME", requires = "name", conflicts_with = "drop")]
    rename_to: Option<String>,
}

/// List the tags; give a moment a name, or take it away
#[derive(Debug, Args)]
#[command(after_help = TAG_EXAMPLES)]
pub struct Tag {
    /// The tag; without it, all are listed
    name: Option<String>,
    /// Which moment: a commit, a time, an age
    #[arg(long, value_name = "MOMENT", default_value = "now", requires = "name", conflicts_with = "drop")]
    at: At,
    /// Remove it
    #[arg(long, requires = "name")]
    drop: bool,
}

impl Branch {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let Some(name) = &self.name else { return list(context, &store) };
        if self.drop {
            // Nobody is asked about a branch that does not exist.
            if store.branches()?.iter().any(|branch| branch.name == *name) {
                context.confirm(self.yes, &format!("Drop {name} with everything that was written on it?"))?;
            }
            store.drop_branch(name)?;
            return Ok(context.out.remark(&format!("{name} is gone"))?);
        }
        if let Some(to) = &self.rename_to {
            return Ok(store.rename_branch(name, to)?);
        }
        let at = context.moment(&store, self.at)?;
        store.branch(name, at)?;
        Ok(context.out.remark(&format!("a new branch: --branch {name} works on it"))?)
    }
}

impl Tag {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        match &self.name {
            Some(name) if self.drop => {
                let found = store.untag(name)?;
                found.then_some(()).ok_or_else(|| CliError::NotFound(format!("there is no tag {name}")))
            }
            Some(name) => {
                let at = context.moment(&store, self.at)?;
                let tag = store.tag(name, at)?;
                Ok(context.out.remark(&format!("{name} is the store as of seq {}", tag.seq))?)
            }
            None => {
                let of = |tag: recension::engine::TagInfo| {
                    Ok(vec![json!(tag.name), json!(name_of(&store, tag.branch)?), json!(tag.seq.0)])
                };
                let rows = store.tags()?.into_iter().map(of).collect::<Result<Vec<Vec<Value>>>>()?;
                if rows.is_empty() {
                    return Ok(context.out.remark("no tags")?);
                }
                Ok(context.out.rows(&["tag", "branch", "seq"], &rows)?)
            }
        }
    }
}

/// The name of a branch. One that was dropped meanwhile is told as what it is.
fn name_of(store: &Store, id: BranchId) -> Result<String> {
    Ok(store.name_of_branch(id)?.unwrap_or_else(|| "(dropped)".to_owned()))
}

fn list(context: &mut Context, store: &Store) -> Result<()> {
    let branches = store.branches()?;
    if branches.is_empty() {
        return Ok(context.out.remark("no branches")?);
    }
    let mut rows = Vec::new();
    for branch in branches {
        rows.push(vec![json!(branch.name), json!(name_of(store, branch.parent)?), json!(branch.fork.0)]);
    }
    Ok(context.out.rows(&["branch", "from", "at seq"], &rows)?)
}
