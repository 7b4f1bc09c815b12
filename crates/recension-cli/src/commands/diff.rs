//! `recension diff`: the differences between two states of a document, of a collection, or of the store.

use std::str::FromStr;

use clap::Args;
use recension::json::{Change, JsonPatch};
use recension::{At, Document, DocumentDiff, Error, RevId, Store, Version};
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::members::{object, quoted};
use crate::moments::existing;
use crate::output::{documents, plain};

const EXAMPLES: &str = "\
Examples:
  recension diff cities 2735943
  recension diff cities 2735943 --from '1 hour ago'
  recension diff cities 2735943 --from 1-967a00dff5e02add41819138abb3284d --to 172
  recension diff cities --from 2026-11-21T10:00:00Z
  recension diff cities 2735943 --from 172 --json-patch
  recension diff --from 172 --to 180
  recension diff --with idea
  recension --branch idea diff orders 17 --with main

Without --from, a document is compared with its previous revision. Numbers are compared as they are written: 1 \
and 1.0 are different. Of collections and stores, documents with different revisions are listed. --with compares with \
another branch, whose state is the later one.";

/// Show the differences between two moments or revisions
///
/// Of a document, value by value; of a collection or of the whole store, all documents that are different. The time
/// depends on what has changed, not on the size.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Diff {
    /// The collection; without it, all of them
    collection: Option<String>,
    /// The document's id; without it, all documents
    id: Option<String>,
    /// The earlier state: a moment (172, 10m, 2026-11-21T10:00:00Z) or a revision
    #[arg(long, value_name = "MOMENT|REV")]
    from: Option<State>,
    /// The later state: a moment or a revision
    #[arg(long, value_name = "MOMENT|REV", default_value = "now")]
    to: State,
    /// Compare with a branch, as it is or was at --to; main is the main line
    #[arg(long, value_name = "BRANCH")]
    with: Option<String>,
    /// Print a JSON patch (RFC 6902) that turns the earlier state into the later one
    #[arg(long, requires = "id")]
    json_patch: bool,
}

/// A moment or a revision.
#[derive(Clone, Copy, Debug)]
struct State(Version);

impl FromStr for State {
    type Err = Error;

    fn from_str(text: &str) -> std::result::Result<Self, Error> {
        // A day, such as 2026-11-21, could be read as a revision too. It is always meant as a day; 9-123 is a revision,
        // and seq:9-123 a server's sequence.
        match (text.parse::<At>(), text.parse::<RevId>()) {
            (Ok(At::Seq(_)) | Err(_), Ok(rev)) => Ok(State(Version::Revision(rev))),
            (Ok(at), _) => Ok(State(Version::At(at))),
            (Err(error), Err(_)) => Err(error),
        }
    }
}

impl Diff {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        context.watch_for_interrupts()?;
        let store = context.store(Missing::IsAnError)?;
        if let Some(other) = &self.with {
            return self.branches(context, &store, &store.open_branch(other)?);
        }
        match (&self.collection, &self.id) {
            (Some(name), Some(id)) => self.document(context, &store, name, id),
            (name, _) => self.documents(context, &store, name.as_deref()),
        }
    }

    fn document(&self, context: &mut Context, store: &Store, name: &str, id: &str) -> Result<()> {
        let collection = store.collection(name)?;
        let to = checked(context, store, self.to)?;
        let from = match self.from {
            Some(from) => checked(context, store, from)?,
            None => match collection.revisions(id)?.nth(1) {
                Some(revision) => Version::Revision(revision?.rev),
                None if collection.get(id)?.is_some() => Version::At(At::Seq(recension::engine::Seq::ZERO)),
                None => {
                    existing(store, name, At::Now)?;
                    return Err(super::get::missing(name, id, At::Now));
                }
            },
        };
        self.print_document(context, id, &collection.diff(id, from, to)?)
    }

    fn print_document(&self, context: &mut Context, id: &str, diff: &DocumentDiff) -> Result<()> {
        if self.json_patch {
            let (Some(before), Some(after)) = (&diff.before, &diff.after) else {
                return Err(CliError::NotFound(format!("there is no document {id:?} at one of the two moments")));
            };
            return Ok(context.out.json(&JsonPatch::between(&*before.body, &*after.body)?.to_json())?);
        }
        if diff.before.is_none() && diff.after.is_none() {
            return Err(CliError::NotFound(format!("there is no document {id:?} at either of the two moments")));
        }
        for change in diff.changes()? {
            let line = if context.out.for_people() { line_of(&change) } else { json_of(&change) };
            context.out.line(&line)?;
        }
        Ok(())
    }

    fn documents(&self, context: &mut Context, store: &Store, name: Option<&str>) -> Result<()> {
        let moment = |state: State| moment_of(context, store, state);
        let from = self
            .from
            .ok_or_else(|| CliError::Usage("a collection or a store is compared with a moment: --from".to_owned()));
        let (from, to) = (moment(from?)?, moment(self.to)?);
        let Some(name) = name else {
            let mut number = 0;
            for (name, differences) in store.diff_between(from, to)? {
                for difference in differences {
                    print(context, Some(&name), &difference?)?;
                    number += 1;
                }
            }
            return Ok(context.out.remark(&format!("{} different", documents(number)))?);
        };
        let collection = store.collection(name)?;
        let (before, after) = (collection.at(from)?, collection.at(to)?);
        if !before.exists() {
            existing(store, name, to)?;
        }
        let mut number = 0;
        for difference in before.diff(&after) {
            print(context, None, &difference?)?;
            number += 1;
        }
        Ok(context.out.remark(&format!("{} different", documents(number)))?)
    }

    /// Between the branch that is worked on and another one.
    fn branches(&self, context: &mut Context, store: &Store, other: &Store) -> Result<()> {
        let from = self.from.map_or(Ok(At::Now), |from| moment_of(context, store, from))?;
        let to = moment_of(context, other, self.to)?;
        if let Some(name) = &self.collection
            && !store.collection(name)?.at(from)?.exists()
        {
            existing(other, name, to)?;
        }
        if let (Some(name), Some(id)) = (&self.collection, &self.id) {
            let of = |store: &Store, at| {
                Ok::<_, CliError>(store.collection(name)?.at(at)?.get(id)?.map(Document::into_owned))
            };
            let (before, after) = (of(store, from)?, of(other, to)?);
            return self.print_document(context, id, &DocumentDiff { id: id.clone(), before, after });
        }
        let mut number = 0;
        for found in store.diff_from(from, other, to)? {
            let (name, difference) = found?;
            if self.collection.as_ref().is_none_or(|wanted| *wanted == name) {
                print(context, Some(&name).filter(|_| self.collection.is_none()), &difference)?;
                number += 1;
            }
        }
        Ok(context.out.remark(&format!("{} different", documents(number)))?)
    }
}

/// Prints a difference, with the name of its collection if there are several.
fn print(context: &mut Context, collection: Option<&String>, difference: &DocumentDiff) -> Result<()> {
    context.go_on()?;
    if context.out.for_people() {
        let name = collection.map(|name| format!("{name} ")).unwrap_or_default();
        context.out.line(&format!("{} {name}{:?}", what_of(difference), difference.id))?;
        for change in difference.changes()?.iter().filter(|change| !change.path.to_string().is_empty()) {
            context.out.line(&format!("  {}", line_of(change)))?;
        }
        return Ok(());
    }
    let changes: Vec<String> = difference.changes()?.iter().map(json_of).collect();
    let (id, what) = (quoted(&difference.id), json!(what_of(difference)).to_string());
    let (name, changes) = (collection.map(|name| quoted(name)), format!("[{}]", changes.join(",")));
    let members = [
        ("\"collection\"", name.as_ref()),
        ("\"_id\"", Some(&id)),
        ("\"what\"", Some(&what)),
        ("\"changes\"", Some(&changes)),
    ];
    let members = members.into_iter().filter_map(|(name, value)| Some((name, value?.as_str())));
    Ok(context.out.line(&object(members))?)
}

fn moment_of(context: &Context, store: &Store, state: State) -> Result<At> {
    match checked(context, store, state)? {
        Version::At(at) => Ok(at),
        Version::Revision(rev) => {
            Err(CliError::Usage(format!("{rev} is a revision; a collection or a store has moments")))
        }
    }
}

fn checked(context: &Context, store: &Store, state: State) -> Result<Version> {
    match state.0 {
        Version::At(at) => Ok(Version::At(context.moment(store, at)?)),
        revision @ Version::Revision(_) => Ok(revision),
    }
}

fn what_of(difference: &DocumentDiff) -> &'static str {
    match (&difference.before, &difference.after) {
        (None, _) => "created",
        (_, None) => "deleted",
        _ => "changed",
    }
}

fn line_of(change: &Change) -> String {
    let path = change.path.to_string();
    plain(&match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("~ {path}: {before} -> {after}"),
        (None, Some(after)) => format!("+ {path}: {after}"),
        (before, None) => format!("- {path}: {}", before.as_deref().unwrap_or_default()),
    })
}

fn json_of(change: &Change) -> String {
    let path = quoted(&change.path.to_string());
    let members =
        [("\"path\"", Some(&path)), ("\"before\"", change.before.as_ref()), ("\"after\"", change.after.as_ref())];
    object(members.into_iter().filter_map(|(name, value)| Some((name, value?.as_str()))))
}
