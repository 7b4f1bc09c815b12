//! Rows of the documents layer that are changed directly in the engine, as a fault of ours or of another program would
//! leave them.
//!
//! Oracle: every read and write returns an answer or an error, and never panics. The change does not touch the past, so
//! the past has the same answers as before. The present catalogue decides which collection a past belongs to.

use std::sync::Arc;

use recension::engine::{Batch, Direction, Engine, KeyRange, MemoryEngine, Seq, TreeId};
use recension::{
    At, Collection, IndexSpec, ListOptions, Path, Query, ReplicatedWrite, RevId, Store, Transaction, ValueRange,
};

use super::edits::{Source, edited};

/// The tree of the catalogue: docs/documents-format.md.
const CATALOGUE: TreeId = TreeId(0);

/// Roughly the number of trees of the store.
const TREES: u32 = 12;

fn store() -> Option<(Store, Arc<MemoryEngine>)> {
    let engine = Arc::new(MemoryEngine::new());
    let store = Store::on(engine.clone()).ok()?;
    for name in ["a", "b"] {
        let collection = store.collection(name).ok()?;
        collection.create_index(IndexSpec::unique("n", "n"), |_| {}).ok()?;
        collection.create_index(IndexSpec::new("t", "t.u"), |_| {}).ok()?;
        for n in 0..4 {
            let body = format!("{{\"n\":{n},\"t\":{{\"u\":\"{name}{n}\"}}}}");
            collection.put(&format!("d{n}"), &body).ok()?;
            collection.put(&format!("d{n}"), format!("{{\"again\":1,{}", &body[1..])).ok()?;
        }
        let gone = collection.get("d1").ok()??;
        collection.delete("d1", &gone.rev).ok()?;
        // Ancestors in blocks, conflicts, a log of purges, a local document.
        let edits = |tx: &Transaction| (0..20).try_for_each(|_| tx.collection(name)?.put("d3", "{}").map(|_| ()));
        store.transaction(edits).ok()?;
        for (rev, deleted) in [("2-b", false), ("2-c", true), ("3-d", false)] {
            collection.replication().merge_revisions([replicated("d2", rev, deleted)?]).ok()?;
        }
        collection.replication().purge("d2", &["3-d".parse().ok()?]).ok()?;
        collection.locals().put("l", "{\"n\":1}").ok()?;
    }
    Some((store, engine))
}

fn replicated(id: &str, rev: &str, deleted: bool) -> Option<ReplicatedWrite> {
    let ancestors = ["1-a".parse().ok()?];
    let rev: RevId = rev.parse().ok()?;
    let ancestors = if rev.generation() == 2 { &ancestors[..] } else { &[] };
    ReplicatedWrite::new(id, rev, ancestors, deleted, "{\"t\":{\"u\":5}}").ok()
}

/// The first bytes choose a row, and whether its key or its value is edited. The others are the edits.
pub(super) fn rows(input: &[u8]) {
    let Some((store, engine)) = store() else { panic!("the store is not made") };
    let sound = engine.head();
    let before = answers(&store, At::Seq(sound));
    let mut source = Source(input);
    let tree = TreeId(u32::from(source.byte()) % TREES);
    let Ok(snapshot) = engine.snapshot() else { return };
    let rows: Vec<_> = snapshot.range(tree, &KeyRange::all(), Direction::Forward).flatten().collect();
    let Some(row) = rows.get(usize::from(source.byte()) % rows.len().max(1)) else { return };
    let mut batch = Batch::new();
    if source.byte() % 4 == 0 {
        batch.delete(tree, &row.key).put(tree, &edited(&row.key, &mut source), &row.value);
    } else {
        batch.put(tree, &row.key, &edited(&row.value, &mut source));
    }
    if engine.commit(batch).is_err() {
        return; // a key that is too long
    }
    _ = answers(&store, At::Now);
    let stranger = Store::on(engine.clone());
    if let Ok(stranger) = &stranger {
        _ = answers(stranger, At::Now);
        writes(stranger);
    }
    writes(&store);
    _ = store.check(At::Now);
    let after = answers(&store, At::Seq(sound));
    // The present catalogue decides which collection a past belongs to. If a row of the catalogue was changed, the past
    // of its collection may be refused.
    let compared = if tree == CATALOGUE { 1 } else { before.len().max(after.len()) };
    assert!(
        after.iter().take(compared).eq(before.iter().take(compared)),
        "the past has changed: {after:#?}, {before:#?}"
    );
}

/// Every possible read, as text.
fn answers(store: &Store, at: At) -> Vec<String> {
    let mut said = vec![format!("{:?}", store.collections(at))];
    for name in ["a", "b"] {
        let Ok(collection) = store.collection(name) else { continue };
        said.extend(answers_of(&collection, at));
        if at == At::Now {
            said.push(format!("{:?}", collection.changes(Seq::ZERO).map(Iterator::collect::<Vec<_>>)));
            said.push(format!("{:?}", store.changes(Seq::ZERO).map(Iterator::collect::<Vec<_>>)));
        }
    }
    said
}

fn answers_of(collection: &Collection, at: At) -> Vec<String> {
    let reader = match collection.at(at) {
        Ok(reader) => reader,
        Err(error) => return vec![error.to_string()],
    };
    let list = ListOptions { deleted: true, ..ListOptions::default() };
    let mut said = vec![format!("{:?}", reader.counts()), format!("{:?}", reader.indexes())];
    said.push(format!("{:?} {:?}", reader.purges(), reader.locals()));
    said.push(format!("{:?}", reader.list(&list).map(Iterator::collect::<Vec<_>>)));
    said.push(format!("{:?}", reader.changes(Seq::ZERO).collect::<Vec<_>>()));
    for n in 0..4 {
        let id = format!("d{n}");
        said.push(format!("{:?}", reader.current(&id)));
        said.push(format!("{:?}", reader.history(&id).map(Iterator::collect::<Vec<_>>)));
        let leaves = reader.leaves(&id);
        said.push(format!("{leaves:?}"));
        for leaf in leaves.unwrap_or_default() {
            said.push(format!("{:?}", reader.get_revision(&id, &leaf.rev)));
            said.push(format!("{:?}", reader.ancestry_status(&id, &leaf.rev)));
        }
    }
    for path in ["n", "t.u", "again"] {
        let Ok(path) = path.parse::<Path>() else { continue };
        let query = Query::new().matching(path, ValueRange::anything());
        said.push(format!("{:?}", reader.find(&query).map(Iterator::collect::<Vec<_>>)));
    }
    said
}

fn writes(store: &Store) {
    for name in ["a", "b", "new"] {
        let Ok(collection) = store.collection(name) else { continue };
        for n in 0..4 {
            let id = format!("d{n}");
            _ = collection.put(&id, "{\"n\":7}");
            for write in [replicated(&id, "2-x", false), replicated(&id, "40-x", true)] {
                _ = collection.replication().merge_revisions(write);
            }
            let leaves: Vec<RevId> =
                collection.replication().leaves(&id).unwrap_or_default().iter().map(|leaf| leaf.rev).collect();
            _ = collection.replication().purge(&id, &leaves[..leaves.len().min(2)]);
        }
        _ = collection.locals().put("l", "{}");
        if let Ok(path) = "again".parse::<Path>() {
            _ = collection.create_index(IndexSpec::new("again", path), |_| {});
        }
        _ = collection.drop_index("n");
        _ = store.drop_collection(name);
    }
}
