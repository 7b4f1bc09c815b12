//! Branches and tags as texts of JSON, with one form in every language: what there is, what differs, what a merge did.

use recension::json::{MergeRules, Pointer, quote};
use recension::{At, Conflicts, Document, MergeOptions, Store};

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
    let options = MergeOptions { conflicts, dry_run: asked.dry_run, rules };
    Ok(into.merge_from(from, &options)?.to_json("collection"))
}

fn null() -> String {
    "null".to_owned()
}
