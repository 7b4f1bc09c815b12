//! Making, merging and dropping branches, keeping moments, and erasing while there are branches, crashed at every disk
//! call: each is wholly done or not at all, what was acknowledged stays, and an erased document is on no line.

use recension::engine::{NativeEngine, NativeOptions, Retention};
use recension::{At, MergeOptions, Store};
use recension_conformance::crash::{for_seeds, native, test_clock};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn open(disk: &SimDisk, options: &NativeOptions) -> Result<Store, String> {
    let engine = NativeEngine::open(disk.arc(), options.clone()).map_err(text)?;
    Store::with_clock(std::sync::Arc::new(engine), test_clock()).map_err(text)
}

fn put(store: &Store, id: &str, body: &str) -> Result<(), String> {
    store.collection("menu").and_then(|menu| menu.put(id, body)).map(drop).map_err(text)
}

fn get(store: &Store, id: &str) -> Result<Option<String>, String> {
    let found = store.collection("menu").and_then(|menu| menu.get(id).map(|found| found.map(|it| it.body.to_string())));
    found.map_err(text)
}

/// The main line and all branches.
fn lines(store: &Store) -> Result<Vec<Store>, String> {
    let mut lines = vec![store.clone()];
    for branch in store.branches().map_err(text)? {
        lines.push(store.open_branch(&branch.name).map_err(text)?);
    }
    Ok(lines)
}

/// Steps that were acknowledged, each with the number of disk calls until then.
#[derive(Default)]
struct Acknowledged {
    made: u64,
    merged: u64,
    erased: u64,
    dropped: u64,
}

fn check(store: &Store, calls: u64, done: &Acknowledged) -> Result<(), String> {
    let lines = lines(store)?;
    for line in &lines {
        let problems = line.check(At::Now).map_err(text)?.problems;
        if !problems.is_empty() {
            return Err(format!("{:?}: {problems:?}", line.branch_name()));
        }
    }
    let names: Vec<_> = lines.iter().filter_map(Store::branch_name).collect();
    let expected: &[&str] = if calls < done.made { &[] } else { &["early", "idea"] };
    if calls < done.merged && expected.iter().any(|name| !names.contains(name)) {
        return Err(format!("made, but there are {names:?}"));
    }
    if calls >= done.dropped && names.contains(&"idea") {
        return Err("it was dropped and is there".to_owned());
    }
    if calls >= done.made && calls < done.dropped {
        let then = store.collection("menu").and_then(|menu| menu.at("tag:v1".parse()?)).map_err(text)?;
        if then.get("x").map_err(text)?.is_none_or(|found| found.body != r#"{"n":3}"#) {
            return Err("the tag shows something else".to_owned());
        }
    }
    let merged = [get(store, "x")?, get(store, "y")?].map(|body| body.is_some_and(|body| body.contains("100")));
    if merged[0] != merged[1] || (calls >= done.merged && !merged[0]) {
        return Err(format!("merged in part: {merged:?}"));
    }
    let mut shown = Vec::new();
    for line in &lines {
        shown.push(get(line, "secret")?.is_some());
    }
    // The parent alone has none of its own before it is written.
    if shown.iter().any(|shown| *shown) && (calls >= done.erased || shown.iter().any(|shown| !shown)) {
        return Err(format!("the document is there still: {shown:?}"));
    }
    // It goes on.
    for line in &lines {
        put(line, "after", r#"{"n":1}"#)?;
    }
    Ok(())
}

fn run(seed: u64) -> Result<(u64, u64), String> {
    let mut rng = Rng::for_part(seed, 0xb7);
    let options = if seed.is_multiple_of(2) {
        native::settling_options(test_clock())
    } else {
        native::small_options(test_clock())
    };
    let disk = SimDisk::new();
    let store = open(&disk, &options)?;
    let calls = || disk.counters().total();
    let mut done = Acknowledged::default();
    put(&store, "secret", r#"{"s":1}"#)?;
    let early = store.resolve(At::Now).map_err(text)?;
    for n in 0..4 {
        put(&store, "x", &format!("{{\"n\":{n}}}"))?;
        put(&store, "y", &format!("{{\"n\":{n}}}"))?;
    }
    store.tag("v1", At::Now).map_err(text)?;
    store.collection("menu").and_then(|menu| menu.settings().set_retention(Retention::HeadOnly)).map_err(text)?;
    disk.record();
    store.branch("early", At::Seq(early)).map_err(text)?;
    let idea = store.branch("idea", At::Now).map_err(text)?;
    done.made = calls();
    put(&idea, "secret", r#"{"s":2}"#)?;
    put(&idea, "x", r#"{"n":100}"#)?;
    put(&idea, "y", r#"{"n":100}"#)?;
    store.merge_from(&idea, &MergeOptions::default()).map_err(text)?;
    done.merged = calls();
    store.compact().map_err(text)?;
    idea.collection("menu").and_then(|menu| menu.erase(["secret"])).map_err(text)?;
    done.erased = calls();
    drop(idea);
    store.drop_branch("idea").map_err(text)?;
    done.dropped = calls();
    store.compact().map_err(text)?;
    drop(store);
    let mut moments = 0;
    for moment in disk.take_moments() {
        let dice = rng.next();
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let found = if dice.is_multiple_of(3) { moment.process_crash() } else { moment.crash(dice, policy) };
        let calls = moment.call.number;
        let checked = open(&found, &options).and_then(|store| check(&store, calls, &done));
        checked.map_err(|what| format!("seed {seed}, {dice:#x}, after {}: {what}", moment.call))?;
        moments += 1;
    }
    Ok((moments, calls()))
}

#[test]
fn steps_of_branches_are_done_or_not_after_a_crash_at_any_call() {
    for_seeds(2, |seed| {
        let (moments, calls) = run(seed)?;
        if moments < 50 { Err(format!("only {moments} moments")) } else { Ok((moments, calls)) }
    });
}
