//! The operations on a store while it is crashed: commits of mixed sizes and durabilities, checkpoints, clean closes.
//! Pure: each seed has one workload.

use recension::engine::{Batch, Durability, TreeId};

use crate::sim::Rng;

/// The trees that workloads write to.
pub const TREES: [TreeId; 3] = [TreeId(1), TreeId(2), TreeId(u32::MAX)];

/// One put or delete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The tree.
    pub tree: TreeId,
    /// The key.
    pub key: Vec<u8>,
    /// The value; `None` deletes.
    pub value: Option<Vec<u8>>,
}

/// One step of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A commit.
    Commit(Vec<Change>, Durability),
    /// A checkpoint.
    Checkpoint,
    /// A clean close and the next open.
    Reopen,
}

/// The parameters of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The number of steps.
    pub steps: usize,
    /// The longest value of a usual commit, in bytes.
    pub value_bytes: usize,
    /// Percent of commits that have a value of `large_bytes`.
    pub large_percent: u64,
    /// Bytes of a large value.
    pub large_bytes: usize,
    /// Percent of commits that ask for `Disk`; the others ask for `Process` or `Memory`.
    pub durable_percent: u64,
    /// Keys that are written to, per tree.
    pub keys: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { steps: 40, value_bytes: 90, large_percent: 12, large_bytes: 1700, durable_percent: 60, keys: 9 }
    }
}

impl Shape {
    /// A shape that depends on the seed: mixed commits, or large values beyond a segment's size, or many commits that
    /// are not synced, so that a crash can lose many.
    pub fn for_seed(seed: u64) -> Shape {
        let usual = Shape::default();
        match seed % 4 {
            1 | 3 => usual,
            2 => Shape { steps: 24, large_bytes: 9_000, large_percent: 25, ..usual },
            _ => Shape { value_bytes: 700, durable_percent: 15, large_percent: 0, ..usual },
        }
    }
}

/// The steps of a seed.
pub fn random_workload(seed: u64, shape: Shape) -> Vec<Step> {
    let mut rng = Rng::for_part(seed, 0x0707);
    (0..shape.steps)
        .map(|_| match rng.below(100) {
            0..6 => Step::Checkpoint,
            6..12 => Step::Reopen,
            _ => {
                let durability = match rng.percent(shape.durable_percent) {
                    true => Durability::Disk,
                    false if rng.percent(70) => Durability::Process,
                    false => Durability::Memory,
                };
                Step::Commit(random_changes(&mut rng, shape), durability)
            }
        })
        .collect()
}

/// The rows of one commit.
pub fn random_changes(rng: &mut Rng, shape: Shape) -> Vec<Change> {
    let rows = if rng.percent(55) { 1 } else { 2 + rng.below(5) };
    let mut changes: Vec<_> = (0..rows)
        .map(|_| {
            let key = random_key(rng, shape);
            let len = rng.index(shape.value_bytes + 1);
            let value = (!rng.percent(15)).then(|| rng.bytes(len));
            Change { tree: TREES[rng.index(TREES.len())], key, value }
        })
        .collect();
    if rng.percent(shape.large_percent) {
        changes[0].value = Some(rng.bytes(shape.large_bytes));
    }
    changes
}

fn random_key(rng: &mut Rng, shape: Shape) -> Vec<u8> {
    match rng.below(shape.keys) {
        0 => Vec::new(),
        1 => vec![0],
        2 => vec![0xff; 3],
        3 => vec![b'k'; 600],
        n => format!("key-{n}").into_bytes(),
    }
}

/// The batch of some changes.
pub fn batch_of(changes: &[Change], durability: Durability) -> Batch {
    let mut batch = Batch::new();
    for change in changes {
        match &change.value {
            Some(value) => batch.put(change.tree, &change.key, value),
            None => batch.delete(change.tree, &change.key),
        };
    }
    batch.durability(durability);
    batch
}
