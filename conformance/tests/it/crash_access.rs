//! The index of access on the native engine, crashed at every disk call: it is what the documents call for, whole or as
//! far as its build has come, and is kept from there on.

use std::ops::Bound;
use std::sync::atomic::AtomicBool;

use recension::engine::Direction;
use recension::{At, Collection, Path, Result as StoreResult, Store, Write};
use recension_conformance::crash::{for_seeds, native, test_clock};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

fn open(disk: &SimDisk) -> Result<Store, String> {
    let engine = native::small(disk.arc(), test_clock()).map_err(|error| format!("it does not open: {error}"))?;
    Store::with_clock(engine, test_clock()).map_err(|error| error.to_string())
}

fn path() -> Path {
    "owner".parse().unwrap_or_else(|_| unreachable!())
}

fn change(collection: &Collection, rng: &mut Rng, step: usize) -> StoreResult<()> {
    let id = format!("d{}", rng.below(9));
    let body = |rng: &mut Rng| format!("{{\"owner\":\"u{}\",\"pad\":\"{}\"}}", rng.below(3), "x".repeat(rng.index(80)));
    match (rng.below(8), step) {
        (_, 12) => collection.settings().set_access(&[path()]),
        (_, 20) => collection.settings().build_access(&AtomicBool::new(false)),
        (0, _) => match collection.get(&id)?.map(|document| document.rev) {
            Some(rev) => collection.delete(&id, &rev).map(drop),
            None => Ok(()),
        },
        (1, _) => {
            let writes = (0..3).map(|n| Write::put(&format!("d{n}"), body(rng))).collect::<StoreResult<Vec<_>>>()?;
            collection.bulk(writes).map(drop)
        }
        _ => collection.put(&id, body(rng)).map(drop),
    }
}

/// The ids that the index has for a user, and those of the documents.
fn seen(collection: &Collection, user: &str) -> StoreResult<(Vec<String>, Vec<String>)> {
    let at = collection.at(At::Now)?;
    let text = format!("\"{user}\"");
    let path = path();
    let mut indexed = Vec::new();
    if let Some(access) = at.access()?
        && let Some(marks) = access.marks([(&path, text.as_str())])
    {
        let ids = access.ids(&marks, Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        indexed = ids.collect::<StoreResult<_>>()?;
    }
    let mut expected = Vec::new();
    for document in at.list(&recension::ListOptions::default())? {
        let document = document?;
        if document.body.contains(&format!("\"owner\":{text}")) {
            expected.push(document.id.to_string());
        }
    }
    Ok((indexed, expected))
}

fn run(seed: u64) -> Result<u64, String> {
    let text = |error: recension::Error| error.to_string();
    let mut rng = Rng::for_part(seed, 0x72);
    let disk = SimDisk::new();
    disk.record();
    let store = open(&disk)?;
    let collection = store.collection("c").map_err(text)?;
    for step in 0..40 {
        change(&collection, &mut rng, step).map_err(text)?;
    }
    drop((collection, store));
    let mut crashes = 0;
    for moment in disk.take_moments() {
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let dice = rng.next();
        let found = || -> Result<(), String> {
            let store = open(&moment.crash(dice, policy))?;
            let collection = store.collection("c").map_err(text)?;
            let sound = |store: &Store| match store.check(At::Now).map_err(text)?.problems.as_slice() {
                [] => Ok(()),
                problems => Err(format!("{problems:?}")),
            };
            sound(&store)?;
            collection.settings().set_access(&[path()]).map_err(text)?;
            collection.put("after", "{\"owner\":\"u0\"}").map_err(text)?;
            collection.settings().build_access(&AtomicBool::new(false)).map_err(text)?;
            collection.put("behind", "{\"owner\":\"u1\"}").map_err(text)?;
            sound(&store)?;
            for user in ["u0", "u1", "u2"] {
                let (indexed, expected) = seen(&collection, user).map_err(text)?;
                if indexed != expected {
                    return Err(format!("{user}: {indexed:?} and not {expected:?}"));
                }
            }
            Ok(())
        };
        found().map_err(|what| format!("seed {seed}, {policy:?}, dice {dice:#x}, after {}: {what}", moment.call))?;
        crashes += 1;
    }
    Ok(crashes)
}

#[test]
fn the_index_of_access_is_what_the_documents_call_for_after_a_crash_at_any_call() {
    for_seeds(3, |seed| {
        let crashes = run(seed)?;
        if crashes < 50 { Err(format!("only {crashes} crashes")) } else { Ok(crashes) }
    });
}
