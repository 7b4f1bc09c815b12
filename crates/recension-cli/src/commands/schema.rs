//! `recension schema`: the JSON Schema that the documents of a collection have to fit.

use std::io::Read;

use clap::{Args, Subcommand};
use recension::engine::Seq;
use recension::{At, Collection, CollectionAt, Error, Schema, SchemaCheck, format_time, limits};
use serde_json::{Value, json};

use super::retention::check_exists;
use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::moments::{existing, to_change, to_write};
use crate::output::documents;
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  recension schema set cities cities.schema.json
  recension schema set cities --check < cities.schema.json
  recension schema show cities
  recension schema remove cities

A schema is JSON Schema (draft 2020-12, or what its $schema names). Every write of a document is tested, also \
those of servers and replicas. Deletions and design documents are not tested.";

/// Set, show and remove the JSON Schema that documents must conform to
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct SchemaCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set the schema, after testing the existing documents
    #[command(
        after_help = "Examples:\n  recension schema set cities cities.schema.json\n  recension schema set cities \
        cities.schema.json --check\n\nIf existing documents do not conform, the exit code is 5; --force sets the \
        schema all the same."
    )]
    Set(Set),
    /// Print the schema
    #[command(after_help = "Examples:\n  recension schema show cities\n  recension schema show cities --at 2h\n  \
        recension schema show cities --history")]
    Show {
        /// The collection
        collection: String,
        /// As of a moment: a commit (1234), a time (2026-11-21T10:00:00Z), a day, an age (2h, 3d) or a tag (tag:v1)
        #[arg(long, value_name = "MOMENT", default_value = "now")]
        at: At,
        /// List every schema that the collection has had, newest first
        #[arg(long, conflicts_with = "at")]
        history: bool,
    },
    /// Remove the schema: any document is accepted again
    #[command(after_help = "Examples:\n  recension schema remove cities")]
    Remove {
        /// The collection
        collection: String,
    },
}

#[derive(Debug, Args)]
struct Set {
    /// The collection; it is created if it does not exist
    collection: String,
    /// The schema's file; by default standard input
    file: Option<std::path::PathBuf>,
    /// Only test the existing documents, and set nothing
    #[arg(long)]
    check: bool,
    /// Set it even if existing documents do not conform
    #[arg(long, conflicts_with = "check")]
    force: bool,
}

impl SchemaCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        match &self.action {
            Action::Set(set) => set.run(context),
            Action::Show { collection, history: true, .. } => history(context, collection),
            Action::Show { collection, at, .. } => show(context, collection, *at),
            Action::Remove { collection } => {
                let store = context.store(Missing::IsAnError)?;
                let collection = to_change(&store, collection)?;
                if collection.settings().schema()?.is_none() {
                    return Err(none(collection.name()));
                }
                collection.settings().set_schema(None)?;
                Ok(context.out.remark(&format!("{} has no schema any more", collection.name()))?)
            }
        }
    }
}

fn none(collection: &str) -> CliError {
    CliError::NotFound(format!("{collection} has no schema; `recension schema set {collection} FILE` sets one"))
}

fn show(context: &mut Context, name: &str, at: At) -> Result<()> {
    let store = context.store(Missing::IsAnError)?;
    let then = existing(&store, name, context.moment(&store, at)?)?;
    let schema = then.schema().ok_or_else(|| none(name))?;
    let value: Value = serde_json::from_str(schema).unwrap_or_default();
    let text = if context.out.for_people() {
        serde_json::to_string_pretty(&value).unwrap_or_default()
    } else {
        schema.to_owned()
    };
    Ok(context.out.line(&text)?)
}

fn history(context: &mut Context, name: &str) -> Result<()> {
    let store = context.store(Missing::IsAnError)?;
    check_exists(&store, name)?;
    let rows = store.collection(name)?.settings().schema_history()?.into_iter().map(|version| {
        let schema: Option<Value> = version.schema.and_then(|schema| serde_json::from_str(&schema).ok());
        vec![json!(format_time(version.since.time)), json!(version.since.seq.0), json!(schema)]
    });
    let rows: Vec<Vec<Value>> = rows.collect();
    if rows.is_empty() {
        return Err(none(name));
    }
    Ok(context.out.rows(&["since", "commit", "schema"], &rows)?)
}

impl Set {
    fn run(&self, context: &mut Context) -> Result<()> {
        let schema = Schema::from_json(self.text(context)?)?;
        let store = context.store(if self.check { Missing::IsAnError } else { Missing::Create })?;
        let collection =
            if self.check { to_change(&store, &self.collection)? } else { to_write(&store, &self.collection)? };
        context.watch_for_interrupts()?;
        let before = collection.at(At::Now)?;
        let seq = before.seq();
        let found = test(context, &before, &schema, Seq::ZERO)?;
        if self.check || (found.refused > 0 && !self.force) {
            return self.say(context, &found);
        }
        self.set(context, &collection, &schema, seq)
    }

    fn set(&self, context: &mut Context, collection: &Collection, schema: &Schema, seq: Seq) -> Result<()> {
        collection.settings().set_schema(Some(Schema::from_json(schema.text())?))?;
        context.out.remark(&format!("the documents of {} have to fit the schema from now on", self.collection))?;
        // Documents that were written between the test and the schema are tested too.
        let since = test(context, &collection.at(At::Now)?, schema, seq)?;
        if since.refused > 0 && !self.force {
            return self.say(context, &since);
        }
        Ok(())
    }

    /// Says which documents do not fit.
    fn say(&self, context: &mut Context, found: &SchemaCheck) -> Result<()> {
        if found.refused == 0 {
            return Ok(context.out.remark(&format!("{} fit the schema", documents(found.documents)))?);
        }
        let row = |problem: &Error| match problem {
            Error::NotOfSchema { id, path, why } => Some(vec![json!(id), json!(path), json!(why)]),
            _ => None,
        };
        let rows: Vec<_> = found.problems.iter().filter_map(row).collect();
        context.out.rows(&["document", "at", "what is wrong"], &rows)?;
        let number = documents(found.refused);
        let more = if found.refused > rows.len() as u64 {
            format!("; the first {} are listed", rows.len())
        } else {
            String::new()
        };
        let then = if self.check { "" } else { "; change them, or set it with --force" };
        Err(CliError::Input(format!("{number} of {} do not fit the schema{more}{then}", self.collection)))
    }

    fn text(&self, context: &Context) -> Result<Vec<u8>> {
        let reader: Box<dyn Read> = match &self.file {
            Some(file) => Box::new(std::fs::File::open(file).map_err(|error| CliError::io(file.display(), &error))?),
            None => context.standard_input("name the schema's file, or give it on standard input")?,
        };
        let mut text = Vec::new();
        reader
            .take(limits::SCHEMA_BYTES_MAX as u64 + 1)
            .read_to_end(&mut text)
            .map_err(|error| CliError::io("reading the schema", &error))?;
        Ok(text)
    }
}

/// Tests the documents that were written after a commit.
fn test(context: &mut Context, at: &CollectionAt, schema: &Schema, since: Seq) -> Result<SchemaCheck> {
    if !at.exists() {
        return Ok(SchemaCheck::default());
    }
    let total = at.count()?;
    let progress = Progress::of_documents(Some(total), context.quiet());
    let found = at.check_schema(schema, since, |found| {
        progress.show_documents_of(found.documents, total.max(found.documents));
        !context.interrupted()
    })?;
    drop(progress);
    context.go_on()?;
    Ok(found)
}
