//! `recension erase`: removes documents from every moment of the store. It must never do so without asking.

use clap::Args;
use recension::{Collection, Error, format_time};
use serde_json::{Value, json};

use super::compact::compact;
use crate::context::{Context, Missing};
use crate::error::Result;
use crate::output::plain;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  recension erase people 2735943 --settle
  recension erase people 2735943 2735944 --yes
  recension erase people --list

Unlike purge, this removes the past too: from then on no read finds the document at any moment, in this \
collection or in dropped ones of its name. Its bytes leave the files when the store is compacted: at once with \
--settle, otherwise in time or with `recension compact`. Earlier backups and replicas still have the document: \
erase it there too. The store records that something was erased, and when, but not the ids.";

/// Remove documents from every moment of the store
///
/// With their revisions, attachments, index entries and changes. Asks for confirmation.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct EraseCommand {
    /// The collection
    collection: String,
    /// The documents' ids
    #[arg(required_unless_present = "list", value_name = "ID")]
    ids: Vec<String>,
    /// Compact the store afterwards, so that no byte of the documents is left in its files
    #[arg(long)]
    settle: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// List the erasures of the collection: when, and how many documents
    #[arg(long, conflicts_with_all = ["ids", "settle", "yes"])]
    list: bool,
}

impl EraseCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        let collection = store.collection(&self.collection)?;
        let dropped = || -> Result<bool> {
            Ok(store.dropped_collections()?.iter().any(|dropped| dropped.name == self.collection))
        };
        if collection.settings().made()?.is_none() && !dropped()? {
            return Err(Error::NoSuchCollection { collection: self.collection.clone() }.into());
        }
        if self.list {
            return list(context, &collection);
        }
        let what = match &self.ids[..] {
            [id] => format!("the document {id:?}"),
            ids => format!("{} documents", ids.len()),
        };
        context.confirm(self.yes, &format!("Erase {what} of {}, from every moment?", self.collection))?;
        let progress = Progress::of_trees(context.quiet());
        let erased = collection.erase_with(self.ids.iter().cloned(), |now| progress.show_trees(now))?;
        drop(progress);
        if self.settle {
            compact(&store, context.quiet())?;
        }
        if erased.documents == 0 {
            let whose = if let [id] = &self.ids[..] { format!("{id:?}") } else { "any of these ids".to_owned() };
            context.out.remark(&format!("{} has no document {whose} at any moment", plain(&self.collection)))?;
        }
        if context.out.for_people() {
            let settled = match (self.settle, erased.documents) {
                (true, _) | (_, 0) => "",
                _ => "; `recension compact` takes the bytes out of the files",
            };
            let name = plain(&self.collection);
            return Ok(context.out.line(&format!(
                "{name}: {} of {} erased{settled}",
                erased.documents,
                self.ids.len()
            ))?);
        }
        let line = json!({ "erased": erased.documents, "seq": erased.seq.0, "settled": self.settle });
        Ok(context.out.line(&line.to_string())?)
    }
}

fn list(context: &mut Context, collection: &Collection) -> Result<()> {
    let erasures = collection.erasures()?;
    if erasures.is_empty() {
        return context.out.remark("nothing was erased").map_err(Into::into);
    }
    let row = |one: &recension::Erasure| vec![json!(one.seq.0), json!(format_time(one.time)), json!(one.documents)];
    let rows: Vec<Vec<Value>> = erasures.iter().map(row).collect();
    Ok(context.out.rows(&["seq", "time", "documents"], &rows)?)
}
