//! Random steps of a history. They depend only on a seed, so that a failure can be repeated.

use std::num::NonZeroU32;
use std::ops::Bound;
use std::time::Duration;

use recension::engine::{Direction, Durability, KeyRange, Retention};

use super::{SLOTS, Step, TREES};
use crate::sim::Rng;

/// The history of a seed.
pub fn steps(seed: u64) -> Vec<Step> {
    let mut rng = Rng::new(seed);
    // Few keys make many versions of each; many keys make long ranges.
    let keys = 1 + rng.below(40);
    let value_bytes_max = [8, 40, 400, 3000][rng.index(4)];
    (0..10 + rng.below(90)).map(|_| step(&mut rng, keys, value_bytes_max)).collect()
}

fn step(rng: &mut Rng, keys: u64, value_bytes_max: u64) -> Step {
    let tree = |rng: &mut Rng| TREES[rng.index(TREES.len())];
    let age = |rng: &mut Rng| if rng.percent(50) { 0 } else { rng.below(60) };
    let row = |rng: &mut Rng| {
        let value = rng.percent(80).then(|| (rng.next() as u8, rng.below(value_bytes_max) as usize));
        (tree(rng), key(rng, keys), value)
    };
    match rng.below(100) {
        0..45 => {
            let rows = (0..rng.below(8)).map(|_| row(rng)).collect();
            let reads = if rng.percent(60) { 0 } else { rng.below(3) };
            let reads = (0..reads).map(|_| (tree(rng), range(rng, keys), rng.below(5))).collect();
            let durability = [None, Some(Durability::Memory), Some(Durability::Process)][rng.index(3)];
            let clock = if rng.percent(10) { -50 } else { rng.below(30).cast_signed() };
            let counters = if rng.percent(70) { 0 } else { rng.below(4) };
            let counters = (0..counters)
                .map(|_| (tree(rng), rng.below(3) as u8, rng.next().cast_signed() >> rng.below(60)))
                .collect();
            Step::Commit { rows, counters, reads, durability, clock }
        }
        45..50 => Step::Keep { slot: rng.index(SLOTS), age: age(rng) },
        50..70 => Step::Read { slot: rng.index(2 * SLOTS), age: age(rng), tree: tree(rng), key: key(rng, keys) },
        70..88 => {
            let direction = if rng.percent(50) { Direction::Forward } else { Direction::Backward };
            let range = range(rng, keys);
            Step::Range { slot: rng.index(2 * SLOTS), age: age(rng), tree: tree(rng), range, direction }
        }
        88..90 => {
            let direction = if rng.percent(50) { Direction::Forward } else { Direction::Backward };
            let (range, rows) = (range(rng, keys), rng.index(5));
            let writes = (0..rng.below(8)).map(|_| row(rng)).collect();
            Step::RangeAcross {
                slot: rng.index(2 * SLOTS),
                age: age(rng),
                tree: tree(rng),
                range,
                direction,
                rows,
                writes,
            }
        }
        90 => Step::Beyond { by: 1 + rng.below(3) },
        91..92 => Step::At { time: rng.below(2000) },
        92 => Step::Checkpoint,
        93 => Step::Settle,
        94 => match rng.below(9) {
            6 | 7 => Step::Hold,
            8 => Step::Release { nth: rng.index(4) },
            4 | 5 => Step::Erase {
                tree: tree(rng),
                key: key(rng, keys),
                through_age: rng.percent(60).then(|| age(rng)),
                ages: (0..rng.below(4)).map(|_| rng.below(60)).collect(),
            },
            0 => Step::Forget { tree: tree(rng), range: range(rng, keys), age: age(rng) },
            _ => Step::Retain { tree: tree(rng), range: ruled_range(rng, keys), retention: retention(rng) },
        },
        95 => Step::Verify,
        _ => Step::Reopen,
    }
}

/// Half of the rules are for a whole tree, so that they overlap and concern many keys.
fn ruled_range(rng: &mut Rng, keys: u64) -> KeyRange {
    if rng.percent(50) { KeyRange::all() } else { range(rng, keys) }
}

fn retention(rng: &mut Rng) -> Retention {
    match rng.below(6) {
        0 => Retention::Everything,
        1 => Retention::HeadOnly,
        2 => Retention::Duration(Duration::from_micros(rng.below(300))),
        _ => Retention::Versions(NonZeroU32::MIN.saturating_add(rng.below(3) as u32)),
    }
}

fn key(rng: &mut Rng, keys: u64) -> Vec<u8> {
    match rng.below(keys) {
        0 => Vec::new(),
        1 => vec![0],
        2 => vec![0xff; 3],
        3 => vec![b'x'; 300],
        n if n % 5 == 0 => [b"a", &[0; 9][..(n / 5) as usize]].concat(),
        n => format!("key {n}").into_bytes(),
    }
}

fn range(rng: &mut Rng, keys: u64) -> KeyRange {
    let mut bound = || match rng.below(4) {
        0 => Bound::Unbounded,
        1 => Bound::Excluded(key(rng, keys)),
        _ => Bound::Included(key(rng, keys)),
    };
    let range = KeyRange { start: bound(), end: bound() };
    match rng.below(4) {
        0 => KeyRange::only(key(rng, keys)),
        1 => KeyRange::prefix(key(rng, keys)),
        _ => range,
    }
}
