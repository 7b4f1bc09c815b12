//! `recension index`: making, listing and dropping indexes.

use clap::{Args, Subcommand};
use recension::document::{At, IndexSpec, IndexState};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::Result;
use crate::output::documents;
use crate::progress::Progress;
use crate::query::parse_path;

const EXAMPLES: &str = "\
Examples:
  recension index create cities population
  recension index create people email --unique
  recension index create people address.city --name city
  recension index list cities
  recension index drop cities population";

/// Create, list and drop indexes
///
/// An index makes find on a member fast. It is kept in the same commit as the documents, and can be made
/// and dropped at any time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Index {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make an index on a member
    #[command(
        after_help = "Examples:\n  recension index create cities population\n  recension index create people email --unique\n\nThe exit code is 3 where --unique and two documents have the same value."
    )]
    Create(Create),
    /// List the indexes of a collection
    #[command(after_help = "Examples:\n  recension index list cities")]
    List {
        /// The collection
        collection: String,
    },
    /// Drop an index
    #[command(after_help = "Examples:\n  recension index drop cities population")]
    Drop {
        /// The collection
        collection: String,
        /// The index
        index: String,
    },
}

#[derive(Debug, Args)]
struct Create {
    /// The collection
    collection: String,
    /// The member, such as population or address.city
    member: String,
    /// The index's name, where it is not the member's
    #[arg(long)]
    name: Option<String>,
    /// No two documents may have the same value
    #[arg(long)]
    unique: bool,
}

impl Index {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        match &self.action {
            Action::Create(create) => create.run(context),
            Action::List { collection } => list(context, collection),
            Action::Drop { collection, index } => {
                let store = context.store(Missing::IsAnError)?;
                store.collection(collection)?.drop_index(index)?;
                Ok(context.out.remark(&format!("index {index} of {collection} is dropped"))?)
            }
        }
    }
}

impl Create {
    fn run(&self, context: &mut Context) -> Result<()> {
        let path = parse_path(&self.member)?;
        let name = self.name.as_deref().unwrap_or(&self.member);
        let spec = if self.unique { IndexSpec::unique(name, path) } else { IndexSpec::new(name, path) };
        let store = context.store(Missing::IsAnError)?;
        let collection = store.collection(&self.collection)?;
        let started = context.started();
        let progress = Progress::of_documents(Some(0), context.quiet());
        let mut done = 0;
        collection.create_index(spec, |build| {
            done = build.done;
            progress.show_documents_of(build.done, build.total);
        })?;
        drop(progress);
        let time = crate::context::took(started.elapsed());
        let number = documents(done);
        Ok(context.out.remark(&format!("index {name} of {} is built: {number} in {time}", self.collection))?)
    }
}

fn list(context: &mut Context, collection: &str) -> Result<()> {
    let store = context.store(Missing::IsAnError)?;
    let indexes = store.collection(collection)?.indexes()?;
    if indexes.is_empty() {
        if !store.collection(collection)?.at(At::Now)?.exists() {
            return Err(super::find::no_collection(collection));
        }
        return Ok(context.out.remark(&format!("{collection} has no indexes"))?);
    }
    let rows: Vec<Vec<Value>> = indexes
        .iter()
        .map(|index| {
            let state = match index.state {
                IndexState::Ready => "ready",
                // Its build was interrupted, or goes on elsewhere; making it again goes on with it.
                IndexState::Building => "building",
            };
            let unique =
                if context.out.for_people() && !index.spec.unique { json!("") } else { json!(index.spec.unique) };
            vec![json!(index.spec.name), json!(index.spec.members()), unique, json!(state)]
        })
        .collect();
    Ok(context.out.rows(&["index", "member", "unique", "state"], &rows)?)
}
