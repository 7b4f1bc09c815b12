//! Branches and tags as texts of JSON, with one form in every language: what there is, what differs, what a merge did.

use recension::json::{MergeConflict, MergeRules, Pointer, quote};
use recension::{At, ConflictedMerge, Conflicts, Document, MergeOptions, Merged, Store};

use crate::{Refused, Result};

/// All branches: `[{"name", "from", "seq"}]`.
pub fn branches(store: &Store) -> Result<String> {
    let mut told = Vec::new();
    for branch in store.branches()? {
        let from = store.name_of_branch(branch.parent)?.unwrap_or_default();
        told.push(format!(r#"{{"name":{},"from":{},"seq":{}}}"#, quote(&branch.name), quote(&from), branch.fork.0));
    }
    Ok(format!("[{}]", told.join(",")))
}

/// All tags: `[{"name", "branch", "seq"}]`.
pub fn tags(store: &Store) -> Result<String> {
    let mut told = Vec::new();
    for tag in store.tags()? {
        let branch = store.name_of_branch(tag.branch)?.unwrap_or_default();
        told.push(format!(r#"{{"name":{},"branch":{},"seq":{}}}"#, quote(&tag.name), quote(&branch), tag.seq.0));
    }
    Ok(format!("[{}]", told.join(",")))
}

/// The documents that differ: `{"collection", "id", "before", "after"}` each.
pub fn differences(
    before: &Store,
    at: At,
    after: &Store,
    after_at: At,
) -> Result<impl Iterator<Item = recension::Result<String>> + Send + use<>> {
    let side = |document: &Option<Document<'static>>| document.as_ref().map_or_else(null, Document::to_json);
    Ok(before.diff_from(at, after, after_at)?.map(move |found| {
        let (collection, difference) = found?;
        let (before, after) = (side(&difference.before), side(&difference.after));
        let (collection, id) = (quote(&collection), quote(&difference.id));
        Ok(format!(r#"{{"collection":{collection},"id":{id},"before":{before},"after":{after}}}"#))
    }))
}

/// Options of a merge, as languages give them.
#[derive(Default)]
pub struct MergeAsked {
    /// `fields`, `ours`, `theirs` or `abort`.
    pub conflicts: Option<String>,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Places of numbers that count: `/stock`.
    pub counters: Vec<String>,
    /// Members that elements of arrays are told apart by.
    pub identities: Option<Vec<String>>,
}

/// Merges a branch into another; the result as JSON.
pub fn merge(into: &Store, from: &Store, asked: MergeAsked) -> Result<String> {
    let conflicts = match asked.conflicts.as_deref() {
        None | Some("fields") => Conflicts::Fields,
        Some("ours") => Conflicts::Ours,
        Some("theirs") => Conflicts::Theirs,
        Some("abort") => Conflicts::Abort,
        Some(_) => return Err(Refused::Invalid("conflicts: give fields, ours, theirs or abort")),
    };
    let place = |text: &String| Ok::<_, recension::Error>(text.parse::<Pointer>()?.tokens().to_vec());
    let usual = MergeRules::default();
    let rules = MergeRules {
        counters: asked.counters.iter().map(place).collect::<recension::Result<_>>()?,
        identities: asked.identities.unwrap_or(usual.identities),
        ..MergeRules::default()
    };
    Ok(told(&into.merge_from(from, &MergeOptions { conflicts, dry_run: asked.dry_run, rules })?))
}

fn told(merged: &Merged) -> String {
    let Merged { taken, combined, conflicted, .. } = merged;
    let seq = merged.commit.map_or_else(null, |commit| commit.seq.0.to_string());
    let conflicts: Vec<_> = merged.conflicts.iter().map(conflict).collect();
    let dropped: Vec<_> = merged.dropped.iter().map(|name| quote(name)).collect();
    let (conflicts, dropped) = (conflicts.join(","), dropped.join(","));
    let counts = format!(r#""taken":{taken},"combined":{combined},"conflicted":{conflicted}"#);
    format!(r#"{{"seq":{seq},{counts},"conflicts":[{conflicts}],"dropped":[{dropped}]}}"#)
}

fn conflict(of: &ConflictedMerge) -> String {
    let places: Vec<_> = of.places.iter().map(place).collect();
    let (collection, id) = (quote(&of.collection), quote(&of.id));
    format!(r#"{{"collection":{collection},"id":{id},"places":[{}]}}"#, places.join(","))
}

fn place(of: &MergeConflict) -> String {
    let value = |text: &Option<String>| text.clone().unwrap_or_else(null);
    let [base, ours, theirs] = [&of.base, &of.ours, &of.theirs].map(value);
    format!(r#"{{"place":{},"base":{base},"ours":{ours},"theirs":{theirs}}}"#, quote(&of.path.to_string()))
}

fn null() -> String {
    "null".to_owned()
}
