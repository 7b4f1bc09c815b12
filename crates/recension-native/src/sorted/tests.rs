//! Sorted pages compared with an ordered map, also while others read.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::entry::Step;

type Model = BTreeMap<(Vec<u8>, std::cmp::Reverse<u64>), (u32, bool)>;

fn position(number: u32) -> Position {
    Position { segment: number % 7 + 1, offset: number * 8 }
}

fn found(seq: u64, number: u32, deleted: bool) -> IndexEntry {
    IndexEntry { seq: Seq(seq), position: position(number), deleted }
}

fn build(rows: &[(Vec<u8>, u64, bool)]) -> (SortedVersions, Model) {
    let (versions, mut model) = (SortedVersions::new(), Model::new());
    for (number, (key, seq, deleted)) in rows.iter().enumerate() {
        versions.insert(key, Seq(*seq), position(number as u32), *deleted);
        model.insert((key.clone(), std::cmp::Reverse(*seq)), (number as u32, *deleted));
    }
    (versions, model)
}

#[test]
fn versions_of_a_key_that_begins_a_page_share_pages() {
    for keys in [PAGE_VERSIONS as u32 - 1, PAGE_VERSIONS as u32, PAGE_VERSIONS as u32 + 1] {
        let earlier = (0..keys).map(|key| (key.to_be_bytes().to_vec(), 1, false));
        let versions = (1..=2000).map(|seq| (b"written again and again".to_vec(), seq, false));
        let (versions, _) = build(&earlier.chain(versions).collect::<Vec<_>>());
        let shelf = versions.root.load().first.clone();
        let pages = shelf.read().others.len();
        assert!(pages < 50, "{pages} pages behind {keys} keys");
    }
}

/// The right answer of a walk, by a look at every version.
fn expected(model: &Model, (start, end): (&Bound<Vec<u8>>, &Bound<Vec<u8>>), at: u64) -> Vec<(Vec<u8>, IndexEntry)> {
    let mut newest: BTreeMap<&Vec<u8>, IndexEntry> = BTreeMap::new();
    for ((key, seq), (number, deleted)) in model {
        use std::ops::RangeBounds;
        if seq.0 <= at && (start.clone(), end.clone()).contains(key) {
            newest.entry(key).or_insert(found(seq.0, *number, *deleted));
        }
    }
    newest.into_iter().map(|(key, entry)| (key.clone(), entry)).collect()
}

fn walked(
    versions: &SortedVersions,
    bounds: (&Bound<Vec<u8>>, &Bound<Vec<u8>>),
    at: u64,
    direction: Direction,
) -> Vec<(Vec<u8>, IndexEntry)> {
    let (start, end) = match direction {
        Direction::Forward => bounds,
        Direction::Backward => (bounds.1, bounds.0),
    };
    let mut cursor = versions.cursor(start.clone(), end.clone(), Seq(at), direction);
    let mut key = Vec::new();
    let mut all = Vec::new();
    loop {
        match cursor.next(&mut key) {
            Step::Found(entry) => all.push((key.clone(), entry)),
            Step::Nothing => {}
            Step::Ended => break,
        }
    }
    if direction == Direction::Backward {
        all.reverse();
    }
    all
}

fn check(versions: &SortedVersions, model: &Model, bounds: (&Bound<Vec<u8>>, &Bound<Vec<u8>>), at: u64) {
    let expected = expected(model, bounds, at);
    for direction in [Direction::Forward, Direction::Backward] {
        assert_eq!(walked(versions, bounds, at, direction), expected, "{bounds:?} as of {at}, {direction:?}");
    }
    for (key, entry) in expected {
        assert_eq!(versions.get(&key, Seq(at)), Some(entry));
    }
}

/// Short keys, many of them the beginning of others, some with zeros at their end; now and then a long one.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(0), Just(1), Just(b'k'), Just(255)];
    prop_oneof![
        9 => prop::collection::vec(byte.clone(), 0..6),
        3 => prop::collection::vec(byte, 0..4).prop_map(|end| [&b"kkkkkkkkkkkk"[..], &end].concat()),
        1 => any::<[u8; 16]>().prop_map(|key| key.to_vec()),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![keys().prop_map(Bound::Included), keys().prop_map(Bound::Excluded), Just(Bound::Unbounded)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn walks_and_gets_answer_what_a_look_at_every_version_does(
        rows in prop::collection::vec((keys(), 0..40_u64, any::<bool>()), 0..1500),
        looks in prop::collection::vec((bound(), bound(), 0..42_u64), 8),
    ) {
        let (versions, model) = build(&rows);
        let (gathered, mut together) = (SortedVersions::new(), Gathered::default());
        for (number, (key, seq, deleted)) in rows.iter().enumerate() {
            together.push(key, found(*seq, number as u32, *deleted));
            if number % 700 == 699 {
                gathered.insert_all(&mut together);
            }
        }
        gathered.insert_all(&mut together);
        prop_assert!(gathered.iter().eq(versions.iter()));
        prop_assert_eq!(versions.len(), model.len() as u64);
        let all: Vec<_> = versions.iter().collect();
        let entries = model.iter().map(|((key, seq), (number, deleted))| (key.clone(), found(seq.0, *number, *deleted)));
        prop_assert_eq!(all, entries.collect::<Vec<_>>());
        for (start, end, at) in &looks {
            check(&versions, &model, (start, end), *at);
        }
        check(&versions, &model, (&Bound::Unbounded, &Bound::Unbounded), u64::MAX);
    }
}

#[test]
fn large_trees_keep_their_order_however_keys_arrive() {
    let scattered = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes().to_vec();
    let arrivals: [fn(u64) -> Vec<u8>; 3] =
        [|n| n.to_be_bytes().to_vec(), |n| (u64::MAX - n).to_be_bytes().to_vec(), |n| (n % 3).to_be_bytes().to_vec()];
    for (case, key) in arrivals
        .into_iter()
        .map(|f| Box::new(f) as Box<dyn Fn(u64) -> Vec<u8>>)
        .chain([Box::new(scattered) as _])
        .enumerate()
    {
        // Enough versions for several shelves.
        let rows: Vec<_> = (0..40_000_u64).map(|n| (key(n), n + 1, n % 5 == 0)).collect();
        let (versions, model) = build(&rows);
        // Most are added at once, some of those twice; the rest one by one.
        let (at_once, mut gathered) = (SortedVersions::new(), Gathered::default());
        for (number, (key, seq, deleted)) in rows.iter().enumerate() {
            let entry = found(*seq, number as u32, *deleted);
            if number == 30_000 {
                at_once.insert_all(&mut gathered);
            }
            if number >= 30_000 {
                at_once.insert(key, entry.seq, entry.position, *deleted);
                continue;
            }
            if number % 3 == 0 {
                gathered.push(key, found(*seq, number as u32 + 1, !deleted));
            }
            gathered.push(key, entry);
        }
        assert!(at_once.iter().eq(versions.iter()), "case {case}");
        assert_eq!(at_once.len(), versions.len());
        check(&at_once, &model, (&Bound::Included(key(9)), &Bound::Unbounded), 31_000);
        assert!(versions.iter().map(|(key, _)| key).eq(model.keys().map(|(key, _)| key.clone())), "case {case}");
        for at in [0, 1, 17_000, 40_000] {
            let middle = Bound::Excluded(key(20_000));
            for bounds in
                [(&Bound::Unbounded, &Bound::Unbounded), (&middle, &Bound::Unbounded), (&Bound::Unbounded, &middle)]
            {
                check(&versions, &model, bounds, at);
            }
        }
    }
}

#[test]
fn readers_beside_the_writer_see_all_that_was_inserted_before_they_began() {
    let versions = SortedVersions::new();
    let (head, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let key = |n: u64| (n % 20_000).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 1..=60_000 {
                versions.insert(&key(n), Seq(n), position(n as u32), false);
                head.store(n, Ordering::Release);
            }
            done.store(true, Ordering::Release);
        });
        for direction in [Direction::Forward, Direction::Backward] {
            let (versions, head, done) = (&versions, &head, &done);
            scope.spawn(move || {
                let mut last_look = false;
                while !last_look {
                    last_look = done.load(Ordering::Acquire);
                    let at = head.load(Ordering::Acquire);
                    let all = walked(versions, (&Bound::Unbounded, &Bound::Unbounded), at, direction);
                    assert_eq!(all.len() as u64, at.min(20_000), "keys as of {at}");
                    assert!(all.is_sorted_by(|a, b| a.0 < b.0));
                    assert!(all.iter().all(|(_, entry)| entry.seq.0 + 20_000 > at && entry.seq.0 <= at));
                    for n in (at.saturating_sub(20_000) + 1..=at).step_by(97) {
                        assert_eq!(versions.get(&key(n), Seq(at)), Some(found(n, n as u32, false)), "as of {at}");
                    }
                }
            });
        }
    });
}
