//! Documents on the native engine, crashed at every disk call: what was acknowledged is there, nothing is there by
//! half, documents agree with their revisions, indexes, changes and counts, and an index whose build was broken off
//! is finished.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use recension::engine::{Clock, ManualClock, Timestamp};
use recension::{At, Expect, IndexSpec, ListOptions, ReplicatedWrite, RevId, Store, Write};
use recension_conformance::crash::{for_seeds, native};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

/// Collection and id to body.
type Documents = BTreeMap<(String, String), String>;

const COLLECTIONS: [&str; 3] = ["menu", "users", "orders"];

fn open(disk: &SimDisk) -> Result<Store, String> {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(Timestamp(1_000_000)));
    let engine = native::small(disk.arc(), clock.clone()).map_err(|error| format!("it does not open: {error}"))?;
    Store::with_clock(engine, clock).map_err(|error| error.to_string())
}

fn documents(store: &Store) -> Result<Documents, String> {
    let text = |error: recension::Error| error.to_string();
    let mut all = Documents::new();
    for name in COLLECTIONS {
        for document in store.collection(name).map_err(text)?.list(&ListOptions::default()).map_err(text)? {
            let document = document.map_err(text)?;
            let mut said = document.body.into_owned();
            for info in &document.attachments {
                // Reading all of it checks its MD5.
                let reader =
                    store.collection(name).map_err(text)?.attachment(&document.id, &info.name).map_err(text)?;
                let read = std::io::copy(&mut reader.ok_or("an attachment is not there")?, &mut std::io::sink());
                let length = read.map_err(|error| error.to_string())?;
                // Writing to a String cannot fail.
                let _ = write!(said, " {} {length} {}", info.name, info.digest());
            }
            all.insert((name.to_owned(), document.id.into_owned()), said);
        }
    }
    Ok(all)
}

fn spec() -> IndexSpec {
    IndexSpec::new("n", "n")
}

/// Makes one change of a random kind to the store.
fn change(store: &Store, rng: &mut Rng) -> Result<(), String> {
    let text = |error: recension::Error| error.to_string();
    let name = COLLECTIONS[rng.index(COLLECTIONS.len())];
    let collection = store.collection(name).map_err(text)?;
    let id = |rng: &mut Rng| format!("d{}", rng.below(6));
    let body = |rng: &mut Rng| format!("{{\"n\":{},\"pad\":\"{}\"}}", rng.below(9), "x".repeat(rng.index(200)));
    match rng.below(20) {
        0 => collection.create_index(spec(), |_| {}).map_err(text),
        1 => store.drop_collection(name).map(|_| ()).map_err(text),
        2..6 => {
            let writes = (0..3).map(|_| Write::put(&id(rng), body(rng))).collect::<Result<Vec<_>, _>>();
            collection.bulk(writes.map_err(text)?).map(|_| ()).map_err(text)
        }
        6..10 => {
            let (first, second, body) = (id(rng), id(rng), body(rng));
            let moved = store.transaction(|tx| {
                tx.collection(name)?.put(&first, &body)?;
                tx.collection("orders")?.put(&second, &body).map(|_| ())
            });
            moved.map_err(text)
        }
        10..13 => {
            let write = Write::from_json("{\"_deleted\":true}").and_then(|write| write.with_id(&id(rng)));
            // There may be none to delete.
            let _ = collection.write(write.map_err(text)?.expecting(Expect::Anything));
            Ok(())
        }
        13..15 => {
            // A conflict, mostly, in a document of its own: it is to be purged while others are not.
            let (generation, suffix) = (1 + rng.below(3) as u32, ["a", "b"][rng.index(2)]);
            let rev = RevId::with_suffix(generation, suffix).map_err(text)?;
            let write = ReplicatedWrite::new("conflict", rev, &[], rng.below(3) == 0, body(rng)).map_err(text)?;
            collection.replication().merge_revisions([write]).map(|_| ()).map_err(text)
        }
        15 => {
            let leaves = collection.replication().leaves("conflict").map_err(text)?;
            let some: Vec<RevId> = leaves.iter().take(1 + rng.index(2)).map(|leaf| leaf.rev).collect();
            collection.replication().purge("conflict", &some).map(|_| ()).map_err(text)
        }
        16..18 => {
            // Few contents, so that documents share them; the longest is uploaded in commits of its own.
            let length = [1000, 70_000, 70_000, 1_100_000][rng.index(4)];
            let attached = collection.attach(&id(rng), Expect::Anything, "x", "image/png", &vec![7_u8; length][..]);
            attached.map(|_| ()).map_err(text)
        }
        _ => collection.put(&id(rng), body(rng)).map(|_| ()).map_err(text),
    }
}

/// Returns how many crashes there were.
fn run(seed: u64) -> Result<u64, String> {
    let mut rng = Rng::new(seed);
    let disk = SimDisk::new();
    disk.record();
    let store = open(&disk)?;
    // What there was after each change, and how many disk calls had been made by then.
    let mut states = vec![(0, Documents::new())];
    for _ in 0..40 {
        change(&store, &mut rng)?;
        states.push((disk.counters().total(), documents(&store)?));
    }
    drop(store);
    let mut crashes = 0;
    for moment in disk.take_moments() {
        let acknowledged = states.iter().rposition(|(calls, _)| *calls <= moment.call.number).unwrap_or(0);
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let dice = rng.next();
        let found = || -> Result<(), String> {
            let store = open(&moment.crash(dice, policy))?;
            let now = documents(&store)?;
            if !states[acknowledged..].iter().any(|(_, state)| *state == now) {
                return Err(format!("{now:?} is no state after change {acknowledged}"));
            }
            let agree = |store: &Store| {
                let problems = store.check(At::Now).map_err(|error| error.to_string())?.problems;
                if problems.is_empty() { Ok(()) } else { Err(format!("{problems:?}")) }
            };
            agree(&store)?;
            for name in COLLECTIONS {
                let collection = store.collection(name).map_err(|error| error.to_string())?;
                collection.create_index(spec(), |_| {}).map_err(|error| error.to_string())?;
                collection.put("after", "{\"n\":1}").map_err(|error| error.to_string())?;
            }
            agree(&store)
        };
        found().map_err(|what| format!("seed {seed}, {policy:?}, dice {dice:#x}, after {}: {what}", moment.call))?;
        crashes += 1;
    }
    Ok(crashes)
}

#[test]
fn documents_agree_with_their_indexes_changes_and_counts_after_a_crash_at_any_call() {
    for_seeds(4, |seed| {
        let crashes = run(seed)?;
        if crashes < 100 { Err(format!("only {crashes} crashes")) } else { Ok(crashes) }
    });
}
