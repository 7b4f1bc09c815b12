//! `recension index`: making, listing and dropping indexes.

use clap::{Args, Subcommand};
use recension::document::{At, Collation, IndexSpec, IndexState};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::documents;
use crate::progress::Progress;
use crate::query::{Clause, parse, parse_path};

const EXAMPLES: &str = "\
Examples:
  recension index create cities population
  recension index create people email --unique
  recension index create people address.city --name city
  recension index create cities countrycode,-population
  recension index create articles 'tags[]'
  recension index create orders customer --where 'state = open'
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
    /// The member, such as population or address.city; several with commas, - before one is downwards,
    /// [] behind one for each element of an array
    #[arg(value_delimiter = ',', required = true, num_args = 1)]
    member: Vec<String>,
    /// The index's name, where it is not the members'
    #[arg(long)]
    name: Option<String>,
    /// No two documents may have the same value
    #[arg(long)]
    unique: bool,
    /// Only documents that meet a condition, as in find
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Text by its bytes, and not in Unicode's order
    #[arg(long)]
    binary: bool,
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
    fn spec(&self) -> Result<IndexSpec> {
        let mut members = self.member.iter().map(|member| match member.strip_prefix('-') {
            Some(member) => (member, true),
            None => (member.as_str(), false),
        });
        let names = || members.clone().map(|(member, _)| member.trim_end_matches("[]")).collect::<Vec<_>>();
        let name = self.name.clone().unwrap_or_else(|| names().join("+"));
        // An index begins upwards; read backwards it is the other way round.
        let Some((first, down)) = members.next() else { return Err(CliError::Usage("name a member".to_owned())) };
        let mut spec = IndexSpec::new(name, parse_path(first)?);
        for (member, other_down) in members {
            let path = parse_path(member)?;
            spec = if other_down == down { spec.then(path) } else { spec.then_descending(path) };
        }
        for clause in parse(self.condition.as_deref().unwrap_or_default())? {
            match clause {
                Clause::Matches(condition) => spec = spec.only_where(condition),
                Clause::Missing(path) => {
                    return Err(CliError::Usage(format!("an index cannot be of documents where {path} is missing")));
                }
            }
        }
        spec.unique = self.unique;
        Ok(if self.binary { spec.collated(Collation::Binary) } else { spec })
    }

    fn run(&self, context: &mut Context) -> Result<()> {
        let spec = self.spec()?;
        let name = spec.name.clone();
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
