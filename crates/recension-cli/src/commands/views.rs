//! `recension views`: shows how far the views of a collection's design documents are, builds them, and drops views that
//! no design document names.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use recension::{At, Collection, ListOptions, Signature, ViewInfo};
use recension_script::Design;
use serde_json::{Value, json};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::functions;
use crate::moments::{existing, to_change};
use crate::progress::Progress;

const EXAMPLES: &str = "\
Examples:
  recension views orders
  recension views orders --build
  recension views orders by_day/totals --build
  recension views orders --wait
  recension views orders --cleanup";

/// The interval of the check whether views are up to date.
const LOOKED_EVERY: Duration = Duration::from_millis(200);

/// List the views of a collection, build them, drop unused ones
///
/// A view whose map function only tests, reads members and emits is updated in the commits of documents once it has
/// been built. Others are brought up to date when they are read.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Views {
    /// The collection
    collection: String,
    /// Only this view, as design/view, or the views of this design document
    view: Option<String>,
    /// Build the views, or bring them up to date
    #[arg(long)]
    build: bool,
    /// Wait until another process that shares the store has brought them up to date
    #[arg(long, conflicts_with = "build")]
    wait: bool,
    /// Drop the rows of views that no design document names any more
    #[arg(long, conflicts_with_all = ["build", "wait", "view"])]
    cleanup: bool,
}

/// A view of a design document.
struct Named {
    design: Design,
    name: String,
    signature: Signature,
    partitioned: bool,
}

impl Named {
    fn shown(&self) -> String {
        let design = self.design.id();
        format!("{}/{}", design.strip_prefix("_design/").unwrap_or(design), self.name)
    }
}

impl Views {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let store = context.store(Missing::IsAnError)?;
        existing(&store, &self.collection, At::Now)?;
        let collection = if self.build || self.cleanup {
            to_change(&store, &self.collection)?
        } else {
            store.collection(&self.collection)?
        };
        if self.cleanup {
            return cleanup(context, &collection);
        }
        let views = self.named(&collection)?;
        if self.build {
            context.watch_for_interrupts()?;
            for view in &views {
                build(context, &collection, view)?;
            }
        }
        if self.wait {
            context.watch_for_interrupts()?;
            while !come_up(&collection, &views)? {
                context.go_on()?;
                std::thread::sleep(LOOKED_EVERY);
            }
        }
        list(context, &collection, &views)
    }

    /// The views that the user asked for.
    fn named(&self, collection: &Collection) -> Result<Vec<Named>> {
        let mut views = named(collection)?;
        let Some(asked) = &self.view else { return Ok(views) };
        let asked = asked.strip_prefix("_design/").unwrap_or(asked);
        views.retain(|view| {
            let shown = view.shown();
            shown == asked || shown.strip_prefix(asked).is_some_and(|rest| rest.starts_with('/'))
        });
        if views.is_empty() {
            let why = format!("{} has no view {asked}; `recension views {0}` lists them", collection.name());
            return Err(CliError::NotFound(why));
        }
        Ok(views)
    }
}

/// All views of design documents.
fn named(collection: &Collection) -> Result<Vec<Named>> {
    let partitioned = collection.settings().get("partitioned")?.is_some();
    let mut views = Vec::new();
    for document in collection.at(At::Now)?.list(&ListOptions::prefix("_design/"))? {
        let document = document?;
        let design = Design::of(&document.id, document.rev, &document.body);
        for name in design.view_names() {
            if let Some(signature) = design.signature(name, partitioned) {
                let name = name.to_owned();
                views.push(Named { design: design.clone(), name, signature, partitioned });
            }
        }
    }
    Ok(views)
}

fn build(context: &Context, collection: &Collection, view: &Named) -> Result<()> {
    let functions = functions::functions()
        .ok_or_else(|| CliError::Usage("the path of this program, which runs functions, is not known".to_owned()))?;
    let Some(made) = view.design.view(&view.name, view.partitioned, &functions) else { return Ok(()) };
    let progress = Progress::of_documents(Some(0), context.quiet());
    let stop = AtomicBool::new(false);
    collection.views().update(&made.view, &stop, |built| {
        progress.show_documents_of(built.done, built.total);
        stop.store(context.interrupted(), Ordering::Relaxed);
    })?;
    drop(progress);
    context.go_on()
}

/// Whether all of the views contain everything that was committed before the check.
fn come_up(collection: &Collection, views: &[Named]) -> Result<bool> {
    let changed = collection.counts()?.changed;
    let infos = collection.views().list()?;
    let is_up = |info: &ViewInfo| info.whole && info.seq >= changed;
    Ok(views.iter().all(|view| infos.iter().any(|info| info.signature == view.signature && is_up(info))))
}

fn list(context: &mut Context, collection: &Collection, views: &[Named]) -> Result<()> {
    if views.is_empty() {
        return Ok(context.out.remark(&format!("no design document of {} has views", collection.name()))?);
    }
    let counts = collection.counts()?;
    let (changed, documents) = (counts.changed, counts.documents + counts.deleted);
    let infos = collection.views().list()?;
    let rows: Vec<Vec<Value>> = views
        .iter()
        .map(|view| {
            let info = infos.iter().find(|info| info.signature == view.signature);
            let state = match info {
                None => "not built",
                Some(info) if info.in_commit => "in every commit",
                Some(info) if info.whole && info.seq >= changed => "up to date",
                Some(info) if info.whole => "behind",
                Some(_) => "building",
            };
            let rows = info.map_or(0, |info| info.rows);
            let seq = info.map_or(0, |info| info.seq.0);
            let mapped = collection.views().progress(view.signature)?.map_or(0, |progress| progress.done);
            let signature = view.signature.to_string();
            Ok(vec![
                json!(view.shown()),
                json!(state),
                json!(mapped),
                json!(documents),
                json!(rows),
                json!(seq),
                json!(signature),
            ])
        })
        .collect::<Result<_>>()?;
    Ok(context.out.rows(&["view", "state", "mapped", "documents", "rows", "seq", "signature"], &rows)?)
}

fn cleanup(context: &mut Context, collection: &Collection) -> Result<()> {
    let views = named(collection)?;
    let signatures: BTreeSet<Signature> = views.iter().map(|view| view.signature).collect();
    let names = views.iter().map(|view| format!("{}/{}", view.design.id(), view.name)).collect();
    let dropped = collection.views().drop_others(&signatures, &names)?;
    let what = if dropped == 1 { "view was" } else { "views were" };
    Ok(context.out.remark(&format!("{dropped} {what} dropped that no design document names"))?)
}
