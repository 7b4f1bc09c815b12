//! Random histories: the same steps on an engine and on the memory engine, which is the model. Every answer must be the
//! model's, or a refusal that the rules of retention permit. A history depends only on its seed. A failing history is
//! shrunk to the fewest steps that still fail, and these are printed with the seed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use recension::engine::{
    BRANCHES_TREE, Batch, Clock, Direction, Durability, Engine, EngineError, ErasedKey, ErasedVersions, KeyRange,
    ManualClock, MemoryEngine, ReadDependency, Retention, RetentionRule, Row, Seq, Snapshot, Timestamp, TreeId,
    kept_key,
};

use crate::promise::Promise;
use crate::suite::{EngineFactory, Store};

mod shortest;
mod steps;

pub use self::shortest::check;
pub use self::steps::steps;

/// The number of snapshots that are kept open.
const SLOTS: usize = 4;
const START: Timestamp = Timestamp(1_000_000);
/// Trees next to each other, and the first and the last one.
const TREES: [TreeId; 5] = [TreeId(0), TreeId(1), TreeId(2), TreeId(255), TreeId(u32::MAX)];

/// A tree, a key, and the value's byte and length. `None` deletes.
pub type RowWrite = (TreeId, Vec<u8>, Option<(u8, usize)>);

/// The same moment of the engine and of the model.
type Snapshots = (Arc<dyn Snapshot>, Arc<dyn Snapshot>);

/// One step of a history. It holds only numbers, whose meaning depends on the store's state. Steps can therefore be
/// left out when a failure is shrunk.
#[derive(Clone, Debug)]
pub enum Step {
    /// A batch: puts and deletes, the reads that it depends on, and how far the clock moves before it.
    Commit {
        /// The puts and deletes.
        rows: Vec<RowWrite>,
        /// Numbers added to the counters of a tree, and whether the commit also writes a row whose key has its seq.
        counters: Vec<(TreeId, u8, i64)>,
        /// Tree, range, and how many commits ago it was read.
        reads: Vec<(TreeId, KeyRange, u64)>,
        /// The durability asked for.
        durability: Option<Durability>,
        /// Microseconds. Clocks may also go back.
        clock: i64,
    },
    /// Opens a snapshot that stays open.
    Keep {
        /// The slot that keeps it.
        slot: usize,
        /// How many commits ago.
        age: u64,
    },
    /// Reads a key and its versions.
    Read {
        /// The kept snapshot to read. A number beyond the slots means a snapshot made for the read.
        slot: usize,
        /// How many commits ago, if the snapshot is made.
        age: u64,
        /// The tree.
        tree: TreeId,
        /// The key.
        key: Vec<u8>,
    },
    /// Reads a range.
    Range {
        /// As above.
        slot: usize,
        /// As above.
        age: u64,
        /// The tree.
        tree: TreeId,
        /// The range.
        range: KeyRange,
        /// The direction.
        direction: Direction,
    },
    /// Reads this many rows of a range, commits, and reads the rest.
    RangeAcross {
        /// As above.
        slot: usize,
        /// As above.
        age: u64,
        /// The tree.
        tree: TreeId,
        /// The range.
        range: KeyRange,
        /// The direction.
        direction: Direction,
        /// The number of rows before the commit.
        rows: usize,
        /// The puts and deletes of the commit.
        writes: Vec<RowWrite>,
    },
    /// Asks for a commit after the head, which does not exist yet.
    Beyond {
        /// How many commits.
        by: u64,
    },
    /// Asks for the commit of a time.
    At {
        /// Microseconds after the start.
        time: u64,
    },
    /// Makes a checkpoint.
    Checkpoint,
    /// Brings the store into its most compact form.
    Settle,
    /// Forgets the history of a range as of this many commits ago.
    Forget {
        /// The tree.
        tree: TreeId,
        /// The range.
        range: KeyRange,
        /// How many commits ago.
        age: u64,
    },
    /// Erases versions of a key.
    Erase {
        /// The tree.
        tree: TreeId,
        /// The key.
        key: Vec<u8>,
        /// Erases all versions up to this many commits ago, if given.
        through_age: Option<u64>,
        /// Erases also the versions of this many commits ago.
        ages: Vec<u64>,
    },
    /// Sets a standing rule.
    Retain {
        /// The tree.
        tree: TreeId,
        /// The range.
        range: KeyRange,
        /// The part that is kept.
        retention: Retention,
    },
    /// Keeps the head: reads as of it are promised from now on.
    Hold,
    /// Ends that for one of the kept moments.
    Release {
        /// Its number among them, modulo how many there are.
        nth: usize,
    },
    /// Checks every checksum.
    Verify,
    /// Closes the store and opens it again.
    Reopen,
}

/// Both engines, and the snapshots that are kept open on both.
struct Pair {
    store: Store,
    model: MemoryEngine,
    clock: Arc<ManualClock>,
    kept: [Option<Snapshots>; SLOTS],
    written: BTreeSet<(TreeId, Vec<u8>)>,
    forgotten: bool,
    /// The head at the last erasure in a tree.
    erased: BTreeMap<TreeId, Seq>,
    erased_keys: BTreeSet<(TreeId, Vec<u8>)>,
    promise: Promise,
    /// The kept moments.
    held: BTreeSet<Seq>,
    /// See `EngineFactory::forks`.
    forks: bool,
}

/// Runs a history on an engine and on the model. Returns the first difference.
fn run(factory: &dyn EngineFactory, steps: &[Step]) -> Result<(), String> {
    let clock = Arc::new(ManualClock::new(START));
    let mut pair = Pair {
        store: factory.make(clock.clone()),
        model: MemoryEngine::with_clock(clock.clone()),
        clock,
        kept: Default::default(),
        written: BTreeSet::new(),
        forgotten: false,
        erased: BTreeMap::new(),
        erased_keys: BTreeSet::new(),
        promise: Promise::default(),
        held: BTreeSet::new(),
        forks: factory.forks(),
    };
    for (number, step) in steps.iter().enumerate() {
        pair.promise.pass(pair.clock.now(), &pair.model);
        pair.take(step).map_err(|what| format!("step {number}: {what}"))?;
    }
    pair.take(&Step::Verify)?;
    pair.everything().map_err(|what| format!("at the end, {what}"))?;
    pair.take(&Step::Reopen)?;
    pair.everything().map_err(|what| format!("at the end and opened again, {what}"))
}

fn same<T: PartialEq + Debug>(what: &str, engine: &T, model: &T) -> Result<(), String> {
    if engine == model { Ok(()) } else { Err(format!("{what}:\n  engine {engine:?}\n  model  {model:?}")) }
}

type RowResult<'s> = recension::engine::Result<recension::engine::Row<'s>>;

fn text<T>(answer: recension::engine::Result<T>) -> Result<T, String> {
    answer.map_err(|error| error.to_string())
}

fn is_refusal<T>(answer: &recension::engine::Result<T>) -> bool {
    matches!(answer, Err(EngineError::Forgotten { .. }))
}

impl Pair {
    #[allow(clippy::too_many_lines)] // one arm a step
    fn take(&mut self, step: &Step) -> Result<(), String> {
        let engine = self.store.engine();
        match step {
            Step::Commit { rows, counters, reads, durability, clock } => {
                let now = START.0.max(self.clock.now().0.saturating_add_signed(*clock));
                self.clock.set(Timestamp(now));
                self.promise.pass(Timestamp(now), &self.model);
                let head = self.model.head();
                let batch = batch(rows, counters, reads, *durability, head);
                // If something of a tree was erased since the read, the commit may be refused, but only in the process
                // that erased it. Such commits are skipped.
                // The trees of branches lie in one.
                let before_erased = |read: ReadDependency<'_>| {
                    let is_own = |tree: &TreeId| *tree == read.tree || self.forks;
                    self.erased.iter().any(|(tree, at)| is_own(tree) && read.at < *at)
                };
                if batch.reads().any(before_erased) {
                    return Ok(());
                }
                let ours = engine.commit(batch.clone());
                let forgot = |read: ReadDependency<'_>| {
                    self.promise.may_refuse_range(read.tree, &read.keys.to_range(), read.at, head)
                };
                if matches!(ours, Err(EngineError::Conflict { .. })) && batch.reads().any(forgot) {
                    return Ok(());
                }
                let theirs = self.model.commit(batch);
                let conflict = |answer: &recension::engine::Result<_>| {
                    matches!(answer, Err(EngineError::Conflict { .. })) && self.forks
                };
                // Of several rows that were written since, a branch may name another one.
                if !(conflict(&ours) && conflict(&theirs)) {
                    same("commit", &text(ours), &text(theirs))?;
                }
                self.promise.pass(Timestamp(now), &self.model);
                self.written.extend(counters.iter().map(|(tree, key, _)| (*tree, vec![b'+', *key])));
                self.written.extend(rows.iter().map(|(tree, key, _)| (*tree, key.clone())));
                same("head", &engine.head(), &self.model.head())
            }
            Step::Keep { slot, age } => {
                self.kept[*slot] = Some(snapshots(engine, &self.model, *age)?);
                Ok(())
            }
            Step::Read { slot, age, tree, key } => {
                self.on_snapshots(*slot, *age, |ours, theirs| self.compare_key(ours, theirs, *tree, key))
            }
            Step::Range { slot, age, tree, range, direction } => self.on_snapshots(*slot, *age, |ours, theirs| {
                same("lent rows", &lent(ours, *tree, range, *direction), &owned(ours, *tree, range, *direction))?;
                let rows = (ours.range(*tree, range, *direction), theirs.range(*tree, range, *direction));
                let what = (*tree, range, *direction, theirs.seq());
                self.compare_rows(rows.0, rows.1, what).map(drop)
            }),
            Step::RangeAcross { slot, age, tree, range, direction, rows, writes } => {
                // It uses its own snapshots: the kept ones cannot be borrowed while the step commits.
                let age = match self.kept.get(*slot) {
                    Some(Some((_, kept))) => self.model.head().0 - kept.seq().0,
                    _ => *age,
                };
                let (ours, theirs) = snapshots(engine, &self.model, age)?;
                let what = (*tree, range, *direction, theirs.seq());
                let mut ours = ours.range(*tree, range, *direction);
                let mut theirs = theirs.range(*tree, range, *direction);
                let whole = self.compare_rows(ours.by_ref().take(*rows), theirs.by_ref().take(*rows), what)?;
                let (rows, reads) = (writes.clone(), Vec::new());
                let counters = Vec::new();
                self.take(&Step::Commit { rows, counters, reads, durability: None, clock: 0 })?;
                if whole { self.compare_rows(ours, theirs, what).map(drop) } else { Ok(()) }
            }
            Step::Beyond { by } => {
                let seq = Seq(self.model.head().0 + by);
                let ask = |engine: &dyn Engine| engine.snapshot_at(seq).map(|s| s.seq()).map_err(|e| e.to_string());
                same("a commit to come", &ask(engine), &ask(&self.model))
            }
            Step::At { time } => {
                let ask = |engine: &dyn Engine| engine.commit_at(Timestamp(START.0 + time)).map_err(|e| e.to_string());
                same("commit at a time", &ask(engine), &ask(&self.model))
            }
            Step::Settle => engine.settle().map_err(|error| format!("settle: {error}")),
            Step::Forget { tree, range, age } => {
                let before = Seq(self.model.head().0.saturating_sub(*age));
                // It is refused, unless the moment can be read no more: the suite has that.
                if self.held.first().is_some_and(|held| *held < before) {
                    return Ok(());
                }
                match engine.forget(*tree, range, before) {
                    Err(EngineError::Unsupported { .. }) => return Ok(()),
                    answer => answer.map_err(|error| format!("forget: {error}"))?,
                }
                self.model.forget(*tree, range, before).map_err(|error| format!("forget: {error}"))?;
                // Snapshots from before may answer or refuse.
                self.kept = Default::default();
                self.forgotten = true;
                Ok(())
            }
            Step::Erase { tree, key, through_age, ages } => {
                // An erased key under a rule is not compared.
                if !self.promise.is_whole() {
                    return Ok(());
                }
                let ago = |age: u64| Seq(self.model.head().0.saturating_sub(age));
                let mut versions = ErasedVersions::these(ages.iter().map(|age| ago(*age)).collect());
                versions.unite(&ErasedVersions::through(through_age.map_or(Seq::ZERO, ago)));
                let erased = [ErasedKey { tree: *tree, key: key.clone(), versions }];
                match engine.erase(&erased) {
                    Err(EngineError::Unsupported { .. }) => return Ok(()),
                    answer => answer.map_err(|error| format!("erase: {error}"))?,
                }
                self.model.erase(&erased).map_err(|error| format!("erase: {error}"))?;
                let newest = self.erased.entry(*tree).or_default();
                *newest = self.model.head().max(*newest);
                self.erased_keys.insert((*tree, key.clone()));
                // Snapshots from before may still answer.
                self.kept = Default::default();
                self.forgotten = true;
                Ok(())
            }
            Step::Retain { tree, range, retention } => {
                let rule = RetentionRule { tree: *tree, range: range.clone(), retention: *retention };
                match engine.set_retention(std::slice::from_ref(&rule)) {
                    Err(EngineError::Unsupported { .. }) => return Ok(()),
                    answer => answer.map_err(|error| format!("set retention: {error}"))?,
                }
                self.promise.set(&rule, self.model.head());
                self.compare_rules()
            }
            Step::Hold => {
                let hold = || {
                    let mut batch = Batch::new();
                    batch.put_at_own_seq(BRANCHES_TREE, &kept_key(Seq::ZERO, b"")[..1], b"held", b"");
                    batch
                };
                let held = text(engine.commit(hold()))?;
                same("a kept moment", &Ok(held), &text(self.model.commit(hold())))?;
                self.held.insert(held.seq);
                Ok(())
            }
            Step::Release { nth } => {
                let Some(held) = self.held.iter().nth(nth % self.held.len().max(1)).copied() else { return Ok(()) };
                let mut batch = Batch::new();
                batch.delete(BRANCHES_TREE, &kept_key(held, b"held"));
                same("a moment let go", &text(engine.commit(batch.clone())), &text(self.model.commit(batch)))?;
                self.held.remove(&held);
                Ok(())
            }
            Step::Checkpoint => engine.checkpoint().map_err(|error| format!("checkpoint: {error}")),
            Step::Verify => {
                let report = engine.verify().map_err(|error| format!("verify: {error}"))?;
                same("problems", &report.problems, &Vec::new())?;
                same("commits verified", &report.commits, &self.model.head().0)?;
                let rows = self.model.verify().map_err(|error| error.to_string())?.rows;
                // Forgotten versions are removed at some later time.
                let rows = match (self.promise.is_whole(), self.forgotten) {
                    (false, _) => report.rows,
                    (true, true) => rows.max(report.rows),
                    (true, false) => rows,
                };
                same("row versions verified", &report.rows, &rows)
            }
            Step::Reopen => {
                self.kept = Default::default();
                if self.store.reopen() {
                    same("head after reopening", &self.store.engine().head(), &self.model.head())?;
                }
                self.compare_rules()
            }
        }
    }

    /// Reads all rows as of a few commits, and all versions of every key that was written.
    fn everything(&mut self) -> Result<(), String> {
        for age in [0, 1, 7, 1000] {
            for tree in TREES {
                let range = KeyRange::all();
                let last = Step::Range { slot: SLOTS, age, tree, range, direction: Direction::Forward };
                self.take(&last).map_err(|what| format!("{age} commits ago, tree {}: {what}", tree.0))?;
            }
        }
        for (tree, key) in self.written.clone() {
            let what = format!("tree {}, key {}", tree.0, key.escape_ascii());
            let read = Step::Read { slot: SLOTS, age: 0, tree, key };
            self.take(&read).map_err(|difference| format!("{what}: {difference}"))?;
        }
        Ok(())
    }

    fn on_snapshots(
        &self,
        slot: usize,
        age: u64,
        compare: impl Fn(&dyn Snapshot, &dyn Snapshot) -> Result<(), String>,
    ) -> Result<(), String> {
        let made;
        let (ours, theirs) = match self.kept.get(slot) {
            Some(Some(kept)) => kept,
            _ => {
                made = snapshots(self.store.engine(), &self.model, age)?;
                &made
            }
        };
        compare(&**ours, &**theirs).map_err(|what| format!("as of {}, {what}", theirs.seq()))
    }

    /// The seqs of all versions of a key in the model.
    fn versions_of(&self, tree: TreeId, key: &[u8]) -> Result<Vec<Seq>, String> {
        let now = text(self.model.snapshot())?;
        now.versions(tree, key).map(|version| text(version).map(|version| version.seq)).collect()
    }

    fn compare_key(&self, ours: &dyn Snapshot, theirs: &dyn Snapshot, tree: TreeId, key: &[u8]) -> Result<(), String> {
        same("time", &text(ours.time()), &text(theirs.time()))?;
        let (at, head) = (theirs.seq(), self.model.head());
        let versions = self.versions_of(tree, key)?;
        let key_of = (tree, key, &versions[..]);
        let (value, wanted) = (ours.get(tree, key), theirs.get(tree, key));
        let may_refuse = is_refusal(&wanted) || (!self.is_held(at) && self.promise.may_refuse(key_of, at, head));
        if !(is_refusal(&value) && may_refuse) {
            same("value", &text(value), &text(wanted))?;
        }
        let wanted: recension::engine::Result<Vec<_>> = theirs.versions(tree, key).collect();
        let mut told = Vec::new();
        for version in ours.versions(tree, key) {
            match version {
                Ok(version) => told.push(version),
                refusal if is_refusal(&refusal) && told.is_empty() && may_refuse => return Ok(()),
                Err(error) => return same("versions", &Err(error.to_string()), &text(wanted)),
            }
        }
        let mut wanted = text(wanted)?;
        // Of a history that was given up, a branch cannot tell whether its rows end with a deletion of before.
        if self.forks && told.len() != wanted.len() {
            told.pop_if(|version| version.value.is_none());
            wanted.pop_if(|version| version.value.is_none());
        }
        if self.erased_keys.contains(&(tree, key.to_vec())) {
            // A deletion in place of erased versions may be returned or not.
            told.retain(|version| version.value.is_some());
            wanted.retain(|version| version.value.is_some());
        }
        let missing = wanted.get(told.len());
        let next = told.last().map(|version| version.seq);
        let may_miss = missing.is_some_and(|missing| {
            self.promise.may_miss(key_of, (missing.seq, missing.value.is_none()), next, (at, head))
        });
        let wanted = if may_miss { &wanted[..told.len()] } else { &wanted[..] };
        same("versions", &told.as_slice(), &wanted)
    }

    /// Compares rows. Returns false if the engine refused to go on and is allowed to.
    fn compare_rows<'s>(
        &self,
        ours: impl Iterator<Item = RowResult<'s>>,
        theirs: impl Iterator<Item = RowResult<'s>>,
        (tree, range, direction, at): (TreeId, &KeyRange, Direction, Seq),
    ) -> Result<bool, String> {
        let mut wanted: Result<Vec<_>, String> = Ok(Vec::new());
        for row in theirs {
            match (row, &mut wanted) {
                (Ok(row), Ok(rows)) => rows.push(row),
                (refusal, _) => wanted = text(refusal).map(|_| Vec::new()),
            }
        }
        let mut told = Vec::new();
        for row in ours {
            match row {
                Ok(row) => told.push(row),
                refusal if is_refusal(&refusal) => {
                    let Ok(wanted) = &mut wanted else { return Ok(false) };
                    let known = self.refusable_from(tree, range, direction, at)?;
                    let beyond = |key: &[u8]| match (&known, direction) {
                        (None, _) => false,
                        (Some(first), Direction::Forward) => key >= first.as_slice(),
                        (Some(first), Direction::Backward) => key <= first.as_slice(),
                    };
                    let promised = wanted.iter().take_while(|row| !beyond(&row.key)).count();
                    let all = known.is_none();
                    if all || told.len() < promised {
                        return Err(format!("refused behind {} rows: {:?}", told.len(), text(refusal)));
                    }
                    wanted.truncate(told.len());
                    return same("rows", &told, wanted).map(|()| false);
                }
                Err(error) => return same("rows", &Err(error.to_string()), &wanted).map(|()| false),
            }
        }
        same("rows", &Ok(told), &wanted).map(|()| true)
    }

    /// Whether a kept moment promises a read.
    fn is_held(&self, at: Seq) -> bool {
        self.held.first().is_some_and(|held| *held <= at)
    }

    /// The key at which a range may first be refused; `None` if it may not.
    fn refusable_from(
        &self,
        tree: TreeId,
        range: &KeyRange,
        direction: Direction,
        at: Seq,
    ) -> Result<Option<Vec<u8>>, String> {
        let head = self.model.head();
        if self.is_held(at) {
            return Ok(None);
        }
        if self.promise.may_refuse_range(tree, range, at, head) {
            return Ok(Some(if direction == Direction::Forward { Vec::new() } else { vec![0xff; 400] }));
        }
        let mut keys: Vec<_> = self.written.iter().filter(|(t, key)| *t == tree && range.contains(key)).collect();
        if direction == Direction::Backward {
            keys.reverse();
        }
        for (_, key) in keys {
            if self.promise.may_refuse((tree, key, &self.versions_of(tree, key)?), at, head) {
                return Ok(Some(key.clone()));
            }
        }
        Ok(None)
    }

    /// The engine must return the rules that were set.
    fn compare_rules(&self) -> Result<(), String> {
        let rules = text(self.store.engine().retention())?;
        for (tree, key) in &self.written {
            let own: Vec<_> = rules.iter().filter(|rule| rule.tree == *tree && rule.range.contains(key)).collect();
            let told = own.first().map_or(Retention::Everything, |rule| rule.retention);
            same("rules for a key", &(told, own.len().max(1)), &(self.promise.rule_of(*tree, key), 1))?;
        }
        Ok(())
    }
}

fn batch(
    rows: &[RowWrite],
    counters: &[(TreeId, u8, i64)],
    reads: &[(TreeId, KeyRange, u64)],
    durability: Option<Durability>,
    head: Seq,
) -> Batch {
    let mut batch = Batch::new();
    for (tree, key, amount) in counters {
        batch.add(*tree, &[b'+', *key], &[1, *amount][..=usize::from(amount % 2 == 0)]);
        batch.put_at_own_seq(*tree, b"at", &[*key], &amount.to_be_bytes());
    }
    for (tree, key, value) in rows {
        match value {
            Some((byte, len)) => batch.put(*tree, key, &vec![*byte; *len]),
            None => batch.delete(*tree, key),
        };
    }
    for (tree, range, age) in reads {
        batch.depends_on_range(*tree, range.clone(), Seq(head.0.saturating_sub(*age)));
    }
    if let Some(durability) = durability {
        batch.durability(durability);
    }
    batch
}

fn snapshots(engine: &dyn Engine, model: &MemoryEngine, age: u64) -> Result<Snapshots, String> {
    let seq = Seq(model.head().0.saturating_sub(age));
    let of = |engine: &dyn Engine| engine.snapshot_at(seq).map_err(|error| format!("snapshot at {seq}: {error}"));
    Ok((of(engine)?, of(model)?))
}

/// The rows of a range up to its end, or the error.
type Shown = Result<Vec<(Vec<u8>, Vec<u8>)>, String>;

fn owned(snapshot: &dyn Snapshot, tree: TreeId, range: &KeyRange, direction: Direction) -> Shown {
    let row =
        |row: recension::engine::Result<Row<'_>>| row.map(|row| (row.key.into_owned(), row.value.bytes.into_owned()));
    snapshot.range(tree, range, direction).map(row).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn lent(snapshot: &dyn Snapshot, tree: TreeId, range: &KeyRange, direction: Direction) -> Shown {
    let mut rows = Vec::new();
    let ended = snapshot.each_row(tree, range, direction, &mut |key, value| {
        rows.push((key.to_vec(), value.to_vec()));
        true
    });
    ended.map(|()| rows).map_err(|error| error.to_string())
}
