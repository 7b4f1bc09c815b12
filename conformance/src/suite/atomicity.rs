//! Batches: applied wholly or not at all, numbered one after the other, visible at once.

use recension::engine::{Batch, Durability, EngineError, Seq, Timestamp, TreeId};

use super::{EngineFactory, T, all, at, delete, get, now, put, store, value, versions, write};
use recension::engine::limits::KEY_BYTES_MAX;

pub(super) fn an_empty_store_has_no_commits_and_no_rows(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    assert_eq!(engine.head(), Seq::ZERO);
    let snapshot = now(engine);
    assert_eq!(snapshot.seq(), Seq::ZERO);
    assert_eq!(snapshot.time().unwrap(), Timestamp(0));
    assert_eq!(value(&*snapshot, b"k"), None);
    assert_eq!(all(&*snapshot, T), []);
    assert_eq!(versions(&*snapshot, T, b"k"), []);
    assert_eq!(engine.commit_at(Timestamp(u64::MAX)).unwrap(), None);
}

pub(super) fn commits_are_numbered_from_one_without_gaps(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    for expected in 1..=20 {
        let seq = if expected % 3 == 0 { delete(engine, b"k") } else { put(engine, b"k", b"v") };
        assert_eq!(seq, Seq(expected));
        assert_eq!(engine.head(), seq);
        let mut refused = Batch::new();
        refused.put(T, b"k", b"no").depends_on(T, b"k", Seq(expected - 1));
        assert!(engine.commit(refused).unwrap_err().is_conflict());
        assert_eq!(engine.head(), seq, "a refused batch takes no number");
    }
}

pub(super) fn a_batch_over_many_trees_is_applied_wholly(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"gone", b"old");
    let before = now(engine);
    let trees = [0, 1, 2, 1000, u32::MAX].map(TreeId);
    let mut batch = Batch::new();
    for tree in trees {
        for key in 0..50_u8 {
            batch.put(tree, &[key], &[key; 3]);
        }
    }
    batch.delete(T, b"gone");
    let commit = engine.commit(batch).unwrap();
    let after = now(engine);
    assert_eq!(after.seq(), commit.seq);
    assert_eq!(after.time().unwrap(), commit.time);
    for tree in trees {
        assert_eq!(all(&*before, tree), []);
        let expected: Vec<_> = (0..50_u8).map(|key| (vec![key], commit.seq, vec![key; 3])).collect();
        assert_eq!(all(&*after, tree), expected);
    }
    assert_eq!(value(&*before, b"gone").as_deref(), Some(&b"old"[..]));
    assert_eq!(value(&*after, b"gone"), None);
}

pub(super) fn a_refused_batch_leaves_nothing_behind(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let first = put(engine, b"a", b"1");
    let second = put(engine, b"a", b"2");
    let mut stale = Batch::new();
    stale.put(T, b"b", b"no").put(TreeId(8), b"b", b"no").delete(T, b"a").depends_on(T, b"a", first);
    assert!(engine.commit(stale).unwrap_err().is_conflict());
    let mut large = Batch::new();
    large.put(T, b"b", b"no").put(T, &vec![0; KEY_BYTES_MAX + 1], b"no");
    assert!(matches!(engine.commit(large).unwrap_err(), EngineError::TooLarge { .. }));
    let snapshot = now(engine);
    assert_eq!(snapshot.seq(), second);
    assert_eq!(all(&*snapshot, T), [(b"a".to_vec(), second, b"2".to_vec())]);
    assert_eq!(all(&*snapshot, TreeId(8)), []);
    assert_eq!(versions(&*snapshot, T, b"b"), []);
    let third = put(engine, b"b", b"3");
    assert_eq!(third, second.next());
    assert_eq!(all(&*at(engine, third), TreeId(8)), []);
}

pub(super) fn a_batch_without_rows_makes_no_commit(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let nothing = engine.commit(Batch::new()).unwrap();
    assert_eq!((nothing.seq, nothing.time), (Seq::ZERO, Timestamp(0)));
    let commit = write(engine, &[(T, b"k", Some(b"v"))]);
    assert_eq!(engine.commit(Batch::new()).unwrap(), commit, "the head is answered");
    assert_eq!(engine.head(), commit.seq);
}

pub(super) fn the_later_word_of_a_batch_wins(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"c", b"old");
    let mut batch = Batch::new();
    batch.put(T, b"a", b"1").put(T, b"b", b"1").delete(T, b"c");
    batch.put(T, b"a", b"2").delete(T, b"b").put(T, b"c", b"new").put(TreeId(8), b"b", b"kept");
    let seq = engine.commit(batch).unwrap().seq;
    let snapshot = now(engine);
    assert_eq!(value(&*snapshot, b"a").as_deref(), Some(&b"2"[..]));
    assert_eq!(value(&*snapshot, b"b"), None);
    assert_eq!(value(&*snapshot, b"c").as_deref(), Some(&b"new"[..]));
    assert_eq!(get(&*snapshot, TreeId(8), b"b"), Some((seq, b"kept".to_vec())));
    for (key, count) in [(b"a", 1), (b"b", 1), (b"c", 2)] {
        let versions = versions(&*snapshot, T, key);
        assert_eq!(versions.len(), count, "one commit writes one version of a key: {versions:?}");
        assert_eq!(versions[0].0, seq);
    }
}

pub(super) fn a_deletion_hides_the_row_and_a_put_brings_it_back(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    put(engine, b"k", b"1");
    let deleted = delete(engine, b"k");
    assert_eq!(value(&*now(engine), b"k"), None);
    assert_eq!(all(&*now(engine), T), []);
    let again = put(engine, b"k", b"2");
    assert_eq!(get(&*now(engine), T, b"k"), Some((again, b"2".to_vec())));
    assert_eq!(all(&*at(engine, deleted), T), []);
    assert_eq!(delete(engine, b"never"), again.next(), "deleting what is not there is a commit");
}

pub(super) fn a_commit_is_visible_at_once_in_every_durability(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    for (round, durability) in
        [Durability::Memory, Durability::Process, Durability::Disk].iter().cycle().take(9).enumerate()
    {
        let mut batch = Batch::new();
        batch.put(T, b"k", &[round as u8]).durability(*durability);
        let commit = engine.commit(batch).unwrap();
        assert_eq!(get(&*now(engine), T, b"k"), Some((commit.seq, vec![round as u8])));
    }
}

pub(super) fn several_batches_at_once_are_commits_of_their_own(factory: &dyn EngineFactory) {
    let store = store(factory);
    let engine = store.engine();
    let head = put(engine, b"a", b"0");
    let batch = |key: &[u8], bytes: &[u8]| {
        let mut batch = Batch::new();
        batch.put(T, key, bytes).depends_on(T, key, head);
        batch
    };
    let mut reads = Batch::new();
    reads.depends_on(T, b"c", head);
    let too_large = batch(&vec![0; KEY_BYTES_MAX + 1], b"no");
    // The second one's read is out of date by the first one's write.
    let batches = vec![batch(b"a", b"1"), batch(b"a", b"no"), too_large, reads, batch(b"b", b"2")];
    let answers = engine.commit_all(batches);
    assert_eq!(answers.len(), 5);
    assert_eq!(answers[0].as_ref().unwrap().seq, head.next());
    assert!(answers[1].as_ref().unwrap_err().is_conflict());
    assert!(matches!(answers[2], Err(EngineError::TooLarge { .. })));
    assert_eq!(answers[3].as_ref().unwrap().seq, head.next(), "what only reads makes no commit");
    let last = answers[4].as_ref().unwrap();
    assert_eq!((last.seq, engine.head()), (head.next().next(), last.seq));
    assert_eq!(value(&*now(engine), b"a").as_deref(), Some(&b"1"[..]));
    assert_eq!(value(&*at(engine, head.next()), b"b"), None, "they are two commits");
    assert!(engine.commit_all(Vec::new()).is_empty());
}
