//! `recension index`: making, listing and dropping indexes.

use clap::{Args, Subcommand};
use recension::conditions::{of_index, parse_path};
use recension::{At, Collation, IndexSpec, IndexState, Language};
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::moments::{existing, to_change};
use crate::output::documents;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  recension index create cities population
  recension index create people email --unique
  recension index create people address.city --name city
  recension index create cities countrycode,-population
  recension index create articles 'tags[]'
  recension index create orders customer --where 'state = open'
  recension index create notes title,text --text=english
  recension index list cities
  recension index drop cities population";

/// Create, list and drop indexes
///
/// An index makes queries on a member fast. It is updated in the same commit as the documents, and can be created and
/// dropped at any time.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Index {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create an index on one or several members
    #[command(
        after_help = "Examples:\n  recension index create cities population\n  recension index create people email \
            --unique\n\nIf --unique is set and two documents have the same value, the exit code is 3."
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
    /// The members, such as population or address.city,-name; - before a member means descending order, and [] after
    /// it means each element of an array
    #[arg(value_delimiter = ',', required = true, num_args = 1)]
    member: Vec<String>,
    /// The index's name; by default the members' names
    #[arg(long)]
    name: Option<String>,
    /// Allow no two documents with the same value
    #[arg(long)]
    unique: bool,
    /// Only documents that meet a condition, as in find
    #[arg(long = "where", value_name = "CONDITION")]
    condition: Option<String>,
    /// Sort text by its bytes, not in Unicode's order
    #[arg(long)]
    binary: bool,
    /// A full-text index over these members; with a language, words with the same stem are equal
    #[arg(long, value_name = "LANGUAGE", num_args = 0..=1, require_equals = true, default_missing_value = "plain",
          conflicts_with_all = ["unique", "binary"])]
    text: Option<String>,
}

impl Index {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        match &self.action {
            Action::Create(create) => create.run(context),
            Action::List { collection } => list(context, collection),
            Action::Drop { collection, index } => {
                let store = context.store(Missing::IsAnError)?;
                to_change(&store, collection)?.drop_index(index)?;
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
        let names = || members.clone().map(|(member, _)| member.replace("[]", "")).collect::<Vec<_>>();
        let name = self.name.clone().unwrap_or_else(|| names().join("+"));
        let language = self.text.as_deref().map(Language::named).transpose()?;
        if let Some(language) = language {
            let paths =
                self.member.iter().map(|member| parse_path(member)).collect::<std::result::Result<Vec<_>, _>>()?;
            return self.filtered(IndexSpec::words(name, paths, language));
        }
        // An index begins upwards. If it should begin downwards, it is made the other way round and read backwards.
        let Some((first, down)) = members.next() else { return Err(CliError::Usage("name a member".to_owned())) };
        let mut spec = IndexSpec::new(name, parse_path(first)?);
        for (member, other_down) in members {
            let path = parse_path(member)?;
            spec = if other_down == down { spec.then(path) } else { spec.then_descending(path) };
        }
        spec = self.filtered(spec)?;
        spec.unique = self.unique;
        Ok(if self.binary { spec.collated(Collation::Binary) } else { spec })
    }

    fn filtered(&self, spec: IndexSpec) -> Result<IndexSpec> {
        let conditions = of_index(self.condition.as_deref().unwrap_or_default())?;
        Ok(conditions.into_iter().fold(spec, IndexSpec::only_where))
    }

    fn run(&self, context: &mut Context) -> Result<()> {
        let spec = self.spec()?;
        let name = spec.name.clone();
        let store = context.store(Missing::IsAnError)?;
        let collection = to_change(&store, &self.collection)?;
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
        let members: Vec<&str> = self.member.iter().map(|member| member.strip_prefix('-').unwrap_or(member)).collect();
        let hint = super::find::hint_of_members(&members, &collection.at(At::Now)?);
        Ok(context.out.remark(&format!("index {name} of {} is built: {number} in {time}{hint}", self.collection))?)
    }
}

fn list(context: &mut Context, collection: &str) -> Result<()> {
    let store = context.store(Missing::IsAnError)?;
    let indexes = existing(&store, collection, At::Now)?.indexes();
    let building = store.collection(collection)?.building()?;
    if indexes.is_empty() {
        return Ok(context.out.remark(&format!("{collection} has no indexes"))?);
    }
    let rows: Vec<Vec<Value>> = indexes
        .iter()
        .map(|index| {
            let state = match index.state {
                IndexState::Ready => "ready".to_owned(),
                // It is built as long as a store is open. Making the index again waits for its end.
                IndexState::Building => match building.iter().find(|(name, _)| *name == index.spec.name) {
                    Some((_, at)) => format!("building: {} of {}", at.done, at.total),
                    None => "building".to_owned(),
                },
            };
            let unique =
                if context.out.for_people() && !index.spec.unique { json!("") } else { json!(index.spec.unique) };
            let members = match index.spec.words {
                Some(language) => format!("{}, words ({})", index.spec.members(), language.name()),
                None => index.spec.members(),
            };
            // A find uses it only for questions that are within these.
            let conditions: Vec<String> = index.spec.filter.iter().map(ToString::to_string).collect();
            let members = match conditions.as_slice() {
                [] => members,
                conditions => format!("{members}, where {}", conditions.join(" and ")),
            };
            vec![json!(index.spec.name), json!(members), unique, json!(state)]
        })
        .collect();
    Ok(context.out.rows(&["index", "member", "unique", "state"], &rows)?)
}
