//! The bounds of `recension::engine::limits`: exactly at each bound, and one beyond.

use std::sync::Mutex;

use recension::engine::limits::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX};
use recension::engine::{Batch, EngineError, Seq};

use super::{EngineFactory, T, all, now, put, store};

/// Fills a batch.
type Fill<'f> = &'f dyn Fn(&mut Batch);

/// These cases take much memory, so they run one at a time.
static ALONE: Mutex<()> = Mutex::new(());

pub(super) fn keys_and_values_at_their_limits_are_kept(factory: &dyn EngineFactory) {
    let _alone = ALONE.lock();
    let mut store = store(factory);
    let key = vec![0xab; KEY_BYTES_MAX];
    let mut value = vec![0xcd; VALUE_BYTES_MAX];
    value[VALUE_BYTES_MAX / 2] = 1;
    let mut batch = Batch::new();
    batch.put(T, &key, &value).put(T, &key[1..], b"short").put(T, b"k", b"");
    let commit = store.engine().commit(batch).unwrap();
    for _ in 0..2 {
        let snapshot = now(store.engine());
        let found = snapshot.get(T, &key).unwrap().expect("the row is there");
        assert_eq!(found.seq, commit.seq);
        assert!(*found == *value, "the value of {} bytes comes back as it was", value.len());
        let rows = all(&*snapshot, T);
        assert_eq!(rows.iter().map(|(key, ..)| key.len()).collect::<Vec<_>>(), [1, KEY_BYTES_MAX - 1, KEY_BYTES_MAX]);
        assert!(rows[2].2 == value);
        drop(found);
        drop(snapshot);
        store.reopen();
    }
}

pub(super) fn what_is_beyond_a_limit_is_refused_whole(factory: &dyn EngineFactory) {
    let _alone = ALONE.lock();
    let store = store(factory);
    let engine = store.engine();
    let head = put(engine, b"k", b"v");
    let batch = |fill: &dyn Fn(&mut Batch)| {
        let mut batch = Batch::new();
        batch.put(T, b"a", b"");
        fill(&mut batch);
        batch
    };
    let long_key = vec![1; KEY_BYTES_MAX + 1];
    let longest_value = vec![1; VALUE_BYTES_MAX];
    let cases: [(Fill<'_>, usize); 5] = [
        (&|batch| _ = batch.put(T, &long_key, b""), KEY_BYTES_MAX),
        (&|batch| _ = batch.delete(T, &long_key), KEY_BYTES_MAX),
        (&|batch| _ = batch.put(T, b"", &[&longest_value[..], b"1"].concat()), VALUE_BYTES_MAX),
        // Each batch begins with a row of one byte, which makes it one byte too large.
        (
            &|batch| (0..BATCH_BYTES_MAX / VALUE_BYTES_MAX).for_each(|_| _ = batch.put(T, b"", &longest_value)),
            BATCH_BYTES_MAX,
        ),
        (&|batch| (0..BATCH_ROWS_MAX).for_each(|_| _ = batch.delete(T, b"")), BATCH_ROWS_MAX),
    ];
    for (fill, limit) in cases {
        match engine.commit(batch(fill)) {
            Err(EngineError::TooLarge { what, len, max }) => {
                assert_eq!((len, max), (limit + 1, limit), "{what}");
            }
            other => panic!("a batch beyond {limit} was answered with {other:?}"),
        }
        assert_eq!(engine.head(), head);
        assert_eq!(all(&*now(engine), T), [(b"k".to_vec(), Seq(1), b"v".to_vec())]);
    }
}
