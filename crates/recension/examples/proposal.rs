//! A program works on a branch, a person looks at what it did, and it is taken over or thrown away.
//! Run it: `cargo run --example proposal`

use std::io::{self, IsTerminal as _, Write as _};

use recension::engine::EngineError;
use recension::{At, Conflicts, Error, Expect, MergeOptions, Query, Result, Store, ValueRange};

pub(crate) fn main() -> Result<()> {
    let yes = run(ask_a_person)?;
    println!("the menu has {}", if yes { "the new prices" } else { "the old prices" });
    Ok(())
}

/// The whole of it; `approves` is shown what would change. Returns whether it was taken over.
pub(crate) fn run(approves: impl FnOnce(&str) -> bool) -> Result<bool> {
    let store = recension::open("memory:")?;
    let menu = store.collection("menu")?;
    menu.put("pizza", r#"{"price":9,"kind":"dish"}"#)?;
    menu.put("soup", r#"{"price":5,"kind":"dish"}"#)?;
    menu.put("water", r#"{"price":2,"kind":"drink"}"#)?;

    // The program gets a store of its own to work on. Whatever it does there, nobody sees it on the menu.
    let proposal = store.branch("proposal", At::Now)?;
    the_program(&proposal)?;

    // Meanwhile others go on working.
    menu.merge_patch("soup", Expect::Anything, r#"{"vegan":true}"#)?;

    // A person looks: what is different, and what a merge would do.
    let look = MergeOptions { dry_run: true, ..MergeOptions::default() };
    let told = store.merge_from(&proposal, &look)?;
    let mut lines = proposal_changes(&store, &proposal)?;
    lines.push(format!("{} in conflict with what others did\n", told.conflicted));
    let text = lines.concat();

    let approved = approves(&text);
    if approved {
        // If somebody has changed the same since the look, nothing is written, and the person looks again.
        let abort = MergeOptions { conflicts: Conflicts::Abort, ..MergeOptions::default() };
        let merged = store.merge_from(&proposal, &abort)?;
        assert_eq!((merged.taken, merged.combined, merged.conflicted), (1, 1, 0));
    }
    // Merged or not, the branch has served its purpose.
    store.drop_branch("proposal")?;
    let open = store.open_branch("proposal").err();
    assert!(matches!(open, Some(Error::Engine(EngineError::NoSuchBranch { .. }))));

    let soup = menu.get("soup")?.map(|soup| soup.body.into_owned()).unwrap_or_default();
    let price = if approved { 6 } else { 5 };
    assert_eq!(soup, format!(r#"{{"price":{price},"kind":"dish","vegan":true}}"#));
    Ok(approved)
}

/// What the program does, with a store that it need not know to be a branch: dishes become dearer.
fn the_program(store: &Store) -> Result<()> {
    let menu = store.collection("menu")?;
    let dishes = menu.find(&Query::new().matching("kind", ValueRange::equal("dish")))?;
    for dish in dishes.collect::<Result<Vec<_>>>()? {
        let price = serde_json::from_str::<serde_json::Value>(&dish.body).ok().and_then(|body| body["price"].as_i64());
        let dearer = format!(r#"{{"price":{}}}"#, price.unwrap_or(0) + 1);
        menu.merge_patch(&dish.id, Expect::Revision(dish.rev), &dearer)?;
    }
    Ok(())
}

/// A line for each value that the program changed: the branch as it began beside what it is now.
fn proposal_changes(store: &Store, proposal: &Store) -> Result<Vec<String>> {
    let fork = store.branches()?.into_iter().find(|branch| branch.name == "proposal").map(|branch| branch.fork);
    let began = At::Seq(fork.unwrap_or_default());
    let mut lines = Vec::new();
    for found in store.diff_from(began, proposal, At::Now)? {
        let (collection, difference) = found?;
        for change in difference.changes()? {
            let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
            let (before, after) = (side(&change.before), side(&change.after));
            lines.push(format!("{collection}/{}{}: {before} -> {after}\n", difference.id, change.path));
        }
    }
    Ok(lines)
}

/// Shows the text and waits for an answer. Where nobody is to be asked, the example goes on as if it was a yes.
fn ask_a_person(text: &str) -> bool {
    print!("{text}take it over? [y/N] ");
    _ = io::stdout().flush();
    if !io::stdin().is_terminal() {
        println!("(nobody is here to ask: yes)");
        return true;
    }
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).is_ok_and(|_| ["y", "yes"].contains(&answer.trim()))
}
