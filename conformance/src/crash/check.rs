//! Compares a store with the model: the same rows, the same history, both ways, now and in the past.

use std::borrow::Cow;

use recension::engine::{Direction, Engine, EngineError, KeyRange, Seq, Snapshot, Timestamp, TreeId};

use super::Finding;
use super::workload::TREES;

/// The possible number of commits in a store that was found after a crash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// So many commits must be there.
    pub floor: u64,
    /// So many commits had been attempted.
    pub ceiling: u64,
}

/// Checks that the store holds a prefix of the attempted commits, and every acknowledged one. Returns the number of
/// commits that it holds.
pub fn check_store(engine: &dyn Engine, model: &dyn Engine, bounds: Bounds) -> Result<u64, Finding> {
    let head = engine.head();
    if head.0 < bounds.floor {
        return Err(format!("lost: {} commits were acknowledged, {head} are there", bounds.floor));
    }
    if head.0 > bounds.ceiling {
        return Err(format!("invented: {} commits were attempted, {head} are there", bounds.ceiling));
    }
    check_answers(engine, model, head)?;
    Ok(head.0)
}

/// Checks that two stores hold the same rows now.
pub fn check_rows_at_head(found: &dyn Engine, wanted: &dyn Engine) -> Result<(), Finding> {
    let snapshot = |engine: &dyn Engine| engine.snapshot().map_err(|e| format!("snapshot: {e}"));
    let (found, wanted) = (snapshot(found)?, snapshot(wanted)?);
    for tree in TREES {
        let refused = compare_range(&*found, &*wanted, tree, Direction::Forward)?;
        if let Some(refusal) = refused.first() {
            return Err(refusal.clone());
        }
    }
    Ok(())
}

/// Checks every answer of a store whose head is `head` against the model's: wrong or missing answers and
/// errors are findings.
pub fn check_answers(engine: &dyn Engine, model: &dyn Engine, head: Seq) -> Result<(), Finding> {
    match compare(engine, model, head)?.as_slice() {
        [] => Ok(()),
        [first, rest @ ..] => {
            Err(format!("refused as damaged, and nothing was damaged: {first} (and {} more)", rest.len()))
        }
    }
}

/// As [`check_answers`], but reads may be refused as damaged. Returns these refusals.
pub(super) fn compare(engine: &dyn Engine, model: &dyn Engine, head: Seq) -> Result<Refusals, Finding> {
    if engine.head() != head {
        return Err(format!("the head is {}, not {head}", engine.head()));
    }
    let at = |seq: u64| {
        let found = engine.snapshot_at(Seq(seq)).map_err(|e| format!("snapshot at {seq}: {e}"))?;
        let wanted = model.snapshot_at(Seq(seq)).map_err(|e| format!("model: {e}"))?;
        Ok::<_, Finding>((found, wanted))
    };
    let (found, wanted) = at(head.0)?;
    // The versions of all keys are all rows that were ever written, each read from its own place.
    let mut refused = compare_time(&*found, &*wanted)?;
    for tree in TREES {
        refused.extend(compare_range(&*found, &*wanted, tree, Direction::Forward)?);
        refused.extend(compare_keys(&*found, &*wanted, tree)?);
    }
    refused.extend(compare_range(&*found, &*wanted, TreeId(3), Direction::Forward)?);
    for (past, direction) in [(head.0 * 2 / 3, Direction::Backward), (head.0 / 4, Direction::Forward)] {
        let (found, wanted) = at(past)?;
        refused.extend(compare_time(&*found, &*wanted)?);
        for tree in TREES {
            refused.extend(compare_range(&*found, &*wanted, tree, direction)?);
        }
    }
    Ok(refused)
}

fn compare_time(found: &dyn Snapshot, wanted: &dyn Snapshot) -> Result<Refusals, Finding> {
    match (found.time(), wanted.time()) {
        (Ok(found), Ok(wanted)) if found == wanted => Ok(Vec::new()),
        (Err(error), _) => refusal(&error),
        (found, wanted) => Err(format!("time of a snapshot: {found:?}, not {wanted:?}")),
    }
}

fn compare_range(
    found: &dyn Snapshot,
    wanted: &dyn Snapshot,
    tree: TreeId,
    direction: Direction,
) -> Result<Refusals, Finding> {
    let seq = wanted.seq();
    let wanted = collect(wanted, tree, direction).0;
    let (found, error) = collect(found, tree, direction);
    same(&found, &wanted, error.as_ref())
        .map_err(|what| format!("tree {} as of seq {seq}, {direction:?}: {what}", tree.0))
}

fn compare_keys(found: &dyn Snapshot, wanted: &dyn Snapshot, tree: TreeId) -> Result<Refusals, Finding> {
    let mut refused = Vec::new();
    for (key, ..) in keys_of(wanted, tree) {
        let place = || format!("key {} of tree {} as of seq {}", key.escape_ascii(), tree.0, wanted.seq());
        let (found_versions, error) = versions(found, tree, &key);
        let (wanted_versions, _) = versions(wanted, tree, &key);
        let same = same(&found_versions, &wanted_versions, error.as_ref());
        refused.extend(same.map_err(|what| format!("versions of {}: {what}", place()))?);
        let wanted_value = wanted.get(tree, &key).ok().flatten().map(|value| (value.seq, value.to_vec()));
        match found.get(tree, &key) {
            Ok(value) if value.as_ref().map(|value| (value.seq, value.to_vec())) == wanted_value => {}
            Err(error) => refused.extend(refusal(&error).map_err(|what| format!("{}: {what}", place()))?),
            Ok(value) => {
                let seq = value.map(|value| value.seq);
                let wanted = wanted_value.map(|(seq, _)| seq);
                return Err(format!("{}: found the version of {seq:?}, not of {wanted:?}", place()));
            }
        }
    }
    Ok(refused)
}

/// The refusals as damaged, with file and offset.
pub(super) type Refusals = Vec<String>;

type Found = (Vec<u8>, Seq, Vec<u8>);

fn collect(snapshot: &dyn Snapshot, tree: TreeId, direction: Direction) -> (Vec<Found>, Option<EngineError>) {
    let mut rows = Vec::new();
    for row in snapshot.range(tree, &KeyRange::all(), direction) {
        match row {
            Ok(row) => rows.push((row.key.into_owned(), row.value.seq, row.value.bytes.into_owned())),
            Err(error) => return (rows, Some(error)),
        }
    }
    (rows, None)
}

type FoundVersion = (Seq, Timestamp, Option<Vec<u8>>);

fn versions(snapshot: &dyn Snapshot, tree: TreeId, key: &[u8]) -> (Vec<FoundVersion>, Option<EngineError>) {
    let mut found = Vec::new();
    for version in snapshot.versions(tree, key) {
        match version {
            Ok(version) => found.push((version.seq, version.time, version.value.map(Cow::into_owned))),
            Err(error) => return (found, Some(error)),
        }
    }
    (found, None)
}

/// The keys that the model has, and some that it does not have.
fn keys_of(snapshot: &dyn Snapshot, tree: TreeId) -> Vec<Found> {
    let mut keys = collect(snapshot, tree, Direction::Forward).0;
    // Deleted keys are not in a range, but their versions must be right too.
    for key in [&b""[..], b"\0", b"key-4", b"key-5", b"key-6", b"key-7", b"key-8", b"key-90", &[0xff; 3], &[b'k'; 600]]
    {
        if keys.iter().all(|(known, ..)| known != key) {
            keys.push((key.to_vec(), Seq::ZERO, Vec::new()));
        }
    }
    keys
}

/// Compares the found with the wanted. If there is a refusal, what was found before it must be the beginning of the
/// wanted.
fn same<T: PartialEq>(found: &[T], wanted: &[T], error: Option<&EngineError>) -> Result<Refusals, Finding> {
    let refused = error.map_or(Ok(Vec::new()), refusal)?;
    let enough = if refused.is_empty() { wanted.len() } else { found.len().min(wanted.len()) };
    if found.len() > wanted.len() || found != &wanted[..enough] {
        let first = found.iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
        return Err(format!("{} found, {} wanted; they differ from number {first} on", found.len(), wanted.len()));
    }
    Ok(refused)
}

/// A refusal must name the place of the damage.
fn refusal(error: &EngineError) -> Result<Refusals, Finding> {
    match error {
        EngineError::Damaged { file, .. } if !file.is_empty() => Ok(vec![error.to_string()]),
        other => Err(format!("refused, but not as damaged: {other}")),
    }
}
