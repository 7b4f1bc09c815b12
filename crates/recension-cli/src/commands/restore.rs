//! `recension restore`: makes a past state the newest one. Nothing is taken out of the history.

use clap::{ArgGroup, Args};
use recension::{At, Restored, RevId};
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::moments::{check_begun, existing};
use crate::output::{count, documents};

const EXAMPLES: &str = "\
Examples:
  recension restore cities 2735943 --at '10 minutes ago'
  recension restore cities 2735943 --rev 1-967a00dff5e02add41819138abb3284d
  recension restore cities --where 'countrycode = PT' --at 172
  recension restore cities --at 2026-11-21T10:00:00Z
  recension restore --all --at '1 hour ago' --yes

The past content becomes a new revision. The revisions in between stay in the history, so that a restore can be \
undone too. A deleted document comes back. If a collection or the whole store is restored, documents created \
since are deleted, and the command asks for confirmation. Each commit has up to 1,000 documents.";

/// Make a past revision of a document the newest, or bring a collection or the store back to a moment
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("which").required(true))]
pub struct Restore {
    /// The collection
    #[arg(required_unless_present = "all")]
    collection: Option<String>,
    /// The document's id; without it, all documents
    id: Option<String>,
    /// The state at a moment: a commit (1234), a time, a day, an age (2h, 3d) or a tag (tag:v1)
    #[arg(long, value_name = "MOMENT", group = "which")]
    at: Option<At>,
    /// A revision of the document's history
    #[arg(long, group = "which", requires = "id")]
    rev: Option<RevId>,
    /// Only documents that met a condition at that moment, as in find
    #[arg(long = "where", value_name = "CONDITION", conflicts_with_all = ["id", "rev"], requires = "collection")]
    condition: Option<String>,
    /// All collections of the store
    #[arg(long, conflicts_with_all = ["collection", "rev", "condition"])]
    all: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

impl Restore {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let query = self.condition.as_deref().map(super::find::choosing).transpose()?;
        let store = context.store(Missing::IsAnError)?;
        let at = context.moment(&store, self.at.unwrap_or_default())?;
        let Some(name) = &self.collection else {
            check_begun(&**store.engine(), at, store.resolve(at)?)?;
            context.confirm(self.yes, &format!("Bring all collections of {} back to {at}?", context.address()))?;
            let restored = store.restore_to(at)?;
            return print(context, restored);
        };
        let collection = store.collection(name)?;
        if let Some(query) = query {
            existing(&store, name, at)?;
            let restored = collection.restore_matching(&query, at)?;
            if let (0, Some(condition)) = (restored.restored, &self.condition) {
                let hint = super::find::hint(condition, &collection.at(at)?);
                context.out.remark(&format!("nothing that met the condition then is different now{hint}"))?;
            }
            return print(context, restored);
        }
        let Some(id) = &self.id else {
            // Before the collection was made there was nothing: going back there would delete every document.
            existing(&store, name, at)?;
            context.confirm(self.yes, &format!("Bring all documents of {name} back to {at}?"))?;
            let restored = collection.restore_to(at)?;
            return print(context, restored);
        };
        let rev = match self.rev {
            Some(rev) => rev,
            None => {
                let then = existing(&store, name, at)?;
                then.get(id)?.ok_or_else(|| super::get::missing(name, id, at))?.rev
            }
        };
        let written = collection.restore(id, &rev)?;
        super::put::print(context, &written)
    }
}

fn print(context: &mut Context, restored: Restored) -> Result<()> {
    let Restored { restored, deleted, commits } = restored;
    if context.out.for_people() {
        let commits = format!("{} {}", count(commits), if commits == 1 { "commit" } else { "commits" });
        let text = format!("{} restored, {} deleted, in {commits}", documents(restored), count(deleted));
        return Ok(context.out.line(&text)?);
    }
    let row = vec![json!(restored), json!(deleted), json!(commits)];
    Ok(context.out.rows(&["restored", "deleted", "commits"], &[row])?)
}
