//! Views on the native engine, crashed at every disk call: whether they are kept in the commits of documents or behind
//! them, they are what the documents that are there emit, and go on from there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use recension::{
    At, CollectionAt, Emitted, Expect, ListOptions, MapInput, Mapper, Result as StoreResult, Store, View, ViewOptions,
    ViewRange, Write,
};
use recension_conformance::crash::{for_seeds, native, test_clock};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

/// Emits the number and the text; kept in commits or not.
struct Own(bool);

fn emitted(body: &str) -> Vec<Emitted> {
    let body: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let count = body["n"].as_u64().unwrap_or(0) % 3;
    (0..count).map(|at| Emitted { key: format!("[{at},{}]", body["n"]), value: body["pad"].to_string() }).collect()
}

impl Mapper for Own {
    fn map(&self, documents: &[MapInput]) -> StoreResult<Vec<Vec<Emitted>>> {
        Ok(documents.iter().map(|input| emitted(&input.document.body)).collect())
    }

    fn in_commit(&self) -> bool {
        self.0
    }
}

fn views() -> [View; 2] {
    [true, false].map(|own| View::new(&format!("own {own}"), ViewOptions::default(), Arc::new(Own(own))))
}

fn open(disk: &SimDisk) -> Result<Store, String> {
    let engine = native::small(disk.arc(), test_clock()).map_err(|error| format!("it does not open: {error}"))?;
    Store::with_clock(engine, test_clock()).map_err(|error| error.to_string())
}

fn change(store: &Store, rng: &mut Rng) -> StoreResult<()> {
    let collection = store.collection("c")?;
    let id = |rng: &mut Rng| format!("d{}", rng.below(8));
    let body = |rng: &mut Rng| format!("{{\"n\":{},\"pad\":\"{}\"}}", rng.below(9), "x".repeat(rng.index(100)));
    match rng.below(10) {
        0 | 1 => {
            let views = views();
            collection.views().update(&views[rng.index(2)], &AtomicBool::new(false), |_| ())
        }
        2 => {
            collection.bulk((0..4).map(|_| Write::put(&id(rng), body(rng))).collect::<StoreResult<Vec<_>>>()?).map(drop)
        }
        3 => {
            let write = Write::from_json("{\"_deleted\":true}").and_then(|write| write.with_id(&id(rng)))?;
            // There may be none to delete.
            let _ = collection.write(write.expecting(Expect::Anything));
            Ok(())
        }
        4 => store.transaction(|tx| {
            tx.collection("c")?.put(&id(&mut Rng::new(7)), "{\"n\":2}")?;
            tx.collection("other")?.put("x", "{}").map(drop)
        }),
        _ => collection.put(&id(rng), body(rng)).map(drop),
    }
}

/// Whether the views are what the documents emit, also those that say that they are kept in commits.
fn agree(at: &CollectionAt, in_commit: bool) -> StoreResult<Result<(), String>> {
    let mut expected = Vec::new();
    for document in at.list(&ListOptions::default())? {
        let document = document?;
        expected.extend(emitted(&document.body).into_iter().map(|row| (row.key, document.id.to_string(), row.value)));
    }
    expected.sort();
    for (number, view) in views().iter().enumerate() {
        let mut read = vec![at.view(view)?];
        if number == 0 && in_commit {
            read.push(at.view_as_kept(view)?);
        }
        for seen in read {
            let rows = seen.rows(&ViewRange::default())?.collect::<StoreResult<Vec<_>>>()?;
            let mut rows: Vec<_> = rows.into_iter().map(|row| (row.key, row.id, row.value)).collect();
            rows.sort();
            let counted = seen.count(&ViewRange::default(), u64::MAX)?;
            if rows != expected || seen.total_rows() != rows.len() as u64 || counted != Some(rows.len() as u64) {
                let total = seen.total_rows();
                return Ok(Err(format!("view {number}: {total}, {counted:?}, {rows:?} and not {expected:?}")));
            }
        }
    }
    Ok(Ok(()))
}

fn run(seed: u64) -> Result<u64, String> {
    let text = |error: recension::Error| error.to_string();
    let mut rng = Rng::for_part(seed, 0x71);
    let disk = SimDisk::new();
    disk.record();
    let store = open(&disk)?;
    store.collection("c").and_then(|collection| collection.put("d0", "{\"n\":1}").map(drop)).map_err(text)?;
    for _ in 0..40 {
        change(&store, &mut rng).map_err(text)?;
    }
    drop(store);
    let mut crashes = 0;
    for moment in disk.take_moments() {
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let dice = rng.next();
        let found = || -> Result<(), String> {
            let store = open(&moment.crash(dice, policy))?;
            let collection = store.collection("c").map_err(text)?;
            let listed = |collection: &recension::Collection| -> StoreResult<bool> {
                let own = views()[0].signature();
                Ok(collection.views().list()?.iter().any(|view| view.signature == own && view.in_commit))
            };
            let at = collection.at(At::Now).map_err(text)?;
            agree(&at, listed(&collection).map_err(text)?).map_err(text)??;
            // Nobody has heard of the mapper yet; then it comes up again.
            collection.put("after", "{\"n\":2}").map_err(text)?;
            agree(&collection.at(At::Now).map_err(text)?, false).map_err(text)??;
            for view in views() {
                let _ = collection.views().get(&view).map_err(text)?;
            }
            collection.put("behind", "{\"n\":2}").map_err(text)?;
            if !listed(&collection).map_err(text)? {
                return Err("it is not kept in commits again".to_owned());
            }
            agree(&collection.at(At::Now).map_err(text)?, true).map_err(text)?
        };
        found().map_err(|what| format!("seed {seed}, {policy:?}, dice {dice:#x}, after {}: {what}", moment.call))?;
        crashes += 1;
    }
    Ok(crashes)
}

#[test]
fn views_are_what_documents_emit_after_a_crash_at_any_call() {
    for_seeds(3, |seed| {
        let crashes = run(seed)?;
        if crashes < 50 { Err(format!("only {crashes} crashes")) } else { Ok(crashes) }
    });
}
