//! Keys: conditions, numbers, expiry by a clock that may go back, sweeping, history, transactions with documents.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use recension::engine::{Direction, Durability, ManualClock, MemoryEngine, Retention, Timestamp, TreeId};
use recension::{At, Error, Expiry, KeyCondition, KeyRows, KeyValue, Keys, SetOptions, Store};

const START: u64 = 1_795_000_000_000_000;
const SECOND: u64 = 1_000_000;

fn with_clock() -> (Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp(START)));
    let engine = Arc::new(MemoryEngine::with_clock(clock.clone()));
    (Store::with_clock(engine, clock.clone()).unwrap(), clock)
}

fn after(seconds: u64) -> SetOptions {
    SetOptions::new().expiry(Expiry::After(Duration::from_secs(seconds)))
}

fn text(keys: &Keys, key: &str) -> Option<String> {
    keys.get(key).unwrap().map(|value| String::from_utf8(value.into_bytes()).unwrap())
}

#[test]
fn keys_are_set_on_conditions_and_tell_what_they_were() {
    let keys = Store::memory().unwrap().keys("sessions").unwrap();
    assert_eq!(keys.get("a").unwrap(), None);
    assert!(!keys.set_with("a", "1", &SetOptions::new().only_if_present()).unwrap().written);
    let outcome = keys.set_with("a", "1", &SetOptions::new().only_if_absent()).unwrap();
    assert!(outcome.written && outcome.previous.is_none());
    let outcome = keys.set_with("a", "2", &SetOptions::new().only_if_absent()).unwrap();
    assert!(!outcome.written);
    assert_eq!(outcome.previous.unwrap().value, "1".into());
    assert!(keys.set_with("a", "2", &SetOptions::new().only_if(KeyCondition::Equal("1".into()))).unwrap().written);
    assert!(!keys.compare_and_set("a", Some("1".into()), "3").unwrap());
    assert!(keys.compare_and_set("a", Some("2".into()), "3").unwrap());
    assert!(!keys.compare_and_set("a", None, "4").unwrap() && keys.compare_and_set("b", None, "4").unwrap());
    assert_eq!(keys.remove("a").unwrap().unwrap().value, "3".into());
    assert_eq!((keys.remove("a").unwrap(), text(&keys, "b")), (None, Some("4".to_owned())));
    for bad in [Vec::new(), vec![0; 8001]] {
        assert!(matches!(keys.set(&bad, "x"), Err(Error::BadName { what: "key", .. })));
    }
    assert!(matches!(keys.set("x", f64::NAN), Err(Error::BadField { .. })));
    assert!(keys.store().keys("bad name").is_err());
}

#[test]
fn numbers_are_added_to_and_stay_in_their_range() {
    let keys = Store::memory().unwrap().keys("n").unwrap();
    assert_eq!(keys.increment("a", 5).unwrap(), 5);
    assert_eq!(keys.decrement("a", 7).unwrap(), -2);
    assert_eq!(keys.increment("a", i64::MIN).unwrap(), i64::MIN);
    assert_eq!(keys.decrement("a", 1).unwrap(), i64::MIN);
    keys.set("b", 0).unwrap();
    assert_eq!(keys.decrement("b", i64::MIN).unwrap(), i64::MAX);
    keys.set("text", "41").unwrap();
    assert_eq!(keys.increment("text", 1).unwrap(), 42);
    for no_number in ["041", "x", " 1", "9223372036854775808"] {
        keys.set("text", no_number).unwrap();
        assert!(matches!(keys.increment("text", 1), Err(Error::NotANumber { .. })), "{no_number}");
    }
    assert!((keys.increment_float("f", 0.5).unwrap() - 0.5).abs() < f64::EPSILON);
    assert!((keys.increment_float("f", f64::MAX).unwrap() - f64::MAX).abs() < 1.0);
    assert_eq!(keys.increment_float("f", f64::MAX).unwrap().to_bits(), f64::MAX.to_bits());
}

#[test]
fn an_expired_key_is_gone_for_every_reader_and_a_clock_that_goes_back_brings_none_back() {
    let (store, clock) = with_clock();
    let keys = store.keys("s").unwrap();
    keys.set_with("a", "1", &after(10)).unwrap();
    keys.set("stays", "1").unwrap();
    clock.set(Timestamp(START + 10 * SECOND - 1));
    assert_eq!(text(&keys, "a").as_deref(), Some("1"));
    clock.set(Timestamp(START + 10 * SECOND));
    let gone = || {
        assert_eq!(keys.get("a").unwrap(), None);
        assert_eq!(keys.entry("a").unwrap(), None);
        assert_eq!(keys.scan("", None, 10).unwrap().len(), 1);
        assert!(!keys.expire("a", Expiry::Never).unwrap());
        assert!(!keys.set_with("a", "2", &SetOptions::new().only_if_present()).unwrap().written);
        assert_eq!(store.transaction(|tx| tx.keys("s")?.get("a")).unwrap(), None);
    };
    gone();
    clock.set(Timestamp(START));
    gone();
    let outcome = keys.set_with("a", "3", &SetOptions::new().only_if_absent()).unwrap();
    assert!(outcome.written && outcome.previous.is_none());
    // The new one does not end as the old one did.
    clock.set(Timestamp(START + 100 * SECOND));
    assert_eq!(store.sweep_expired().unwrap(), 0);
    assert_eq!(text(&keys, "a").as_deref(), Some("3"));
}

#[test]
fn what_had_expired_stays_gone_if_the_clock_goes_back_before_the_store_is_opened_again() {
    let clock = Arc::new(ManualClock::new(Timestamp(START)));
    let engine = Arc::new(MemoryEngine::with_clock(clock.clone()));
    let store = Store::with_clock(engine.clone(), clock.clone()).unwrap();
    store.keys("s").unwrap().set_with("a", "1", &after(10)).unwrap();
    clock.advance(20 * SECOND);
    store.collection("other").unwrap().put("x", "{}").unwrap();
    drop(store);
    clock.set(Timestamp(START));
    let store = Store::with_clock(engine, clock).unwrap();
    assert_eq!(store.keys("s").unwrap().get("a").unwrap(), None);
}

#[test]
fn expiry_is_kept_replaced_slid_and_ended() {
    let (store, clock) = with_clock();
    let keys = store.keys("s").unwrap();
    let expires = |key: &str| keys.entry(key).unwrap().unwrap().expires.map(|expires| (expires.0 - START) / SECOND);
    keys.set_with("a", "1", &after(10)).unwrap();
    keys.set_with("a", "2", &SetOptions::new().keep_existing()).unwrap();
    keys.increment("n", 1).unwrap();
    keys.expire("n", Expiry::At(Timestamp(START + 7 * SECOND))).unwrap();
    keys.increment("n", 1).unwrap();
    assert_eq!((expires("a"), expires("n")), (Some(10), Some(7)));
    keys.set("a", "3").unwrap();
    assert_eq!(expires("a"), None);
    keys.set_with("slides", "x", &SetOptions::new().expiry(Expiry::Sliding(Duration::from_secs(16)))).unwrap();
    let head = store.engine().head();
    clock.advance(SECOND);
    keys.get("slides").unwrap();
    assert_eq!((expires("slides"), store.engine().head()), (Some(16), head), "a read so soon writes nothing");
    clock.advance(14 * SECOND);
    assert_eq!((text(&keys, "slides").as_deref(), expires("slides")), (Some("x"), Some(31)));
    clock.advance(16 * SECOND);
    assert_eq!(text(&keys, "slides"), None);
    // What is to end in the past is gone at once.
    assert!(keys.expire("a", Expiry::At(Timestamp(5))).unwrap());
    assert_eq!(text(&keys, "a"), None);
}

#[test]
fn a_past_moment_has_the_keys_that_had_not_expired_then() {
    let (store, clock) = with_clock();
    let keys = store.keys("s").unwrap();
    keys.set_retention(Retention::Everything).unwrap();
    assert_eq!(keys.retention().unwrap(), Retention::Everything);
    keys.set_with("a", "1", &after(10)).unwrap();
    let first = store.engine().head();
    clock.advance(20 * SECOND);
    keys.set("b", "2").unwrap();
    let second = store.engine().head();
    assert_eq!(store.sweep_expired().unwrap(), 1);
    let at = |at: At| keys.at(at).unwrap().get("a").unwrap();
    assert_eq!(at(At::Seq(first)), Some("1".into()));
    assert_eq!(at(At::Seq(second)), None, "its row was there, and it had expired");
    assert_eq!(at(At::Time(Timestamp(START + 9 * SECOND))), Some("1".into()));
    assert_eq!(at(At::Time(Timestamp(START + 11 * SECOND))), None, "the commit read is of before");
}

#[test]
fn history_of_keys_is_off_unless_it_is_asked_for() {
    let store = Store::memory().unwrap();
    let keys = store.keys("s").unwrap();
    keys.set("a", "1").unwrap();
    let first = store.engine().head();
    keys.set("a", "2").unwrap();
    assert_eq!(keys.retention().unwrap(), Retention::HeadOnly);
    store.compact().unwrap();
    assert!(keys.at(At::Seq(first)).and_then(|keys| keys.get("a")).is_err());
    assert_eq!(text(&keys, "a").as_deref(), Some("2"));
}

#[test]
fn a_sweep_reads_what_has_expired_and_leaves_no_row_of_it() {
    let (store, clock) = with_clock();
    let keys = store.keys("s").unwrap();
    let rows = |tree| {
        let snapshot = store.engine().snapshot().unwrap();
        snapshot.range(TreeId(tree), &recension::engine::KeyRange::all(), Direction::Forward).count()
    };
    store
        .transaction(|tx| {
            let keys = tx.keys("s")?;
            (0..2500_u32).try_for_each(|n| {
                keys.set_with(format!("k{n}"), i64::from(n), &after(1 + u64::from(n % 5))).map(|_| ())
            })
        })
        .unwrap();
    assert_eq!((rows(1), rows(2)), (2500, 2500));
    clock.advance(3 * SECOND);
    assert_eq!(keys.sweep().unwrap(), 1500);
    assert_eq!((rows(1), rows(2)), (1000, 1000));
    keys.set_with("k4", "new", &after(100)).unwrap();
    assert_eq!((rows(1), rows(2)), (1000, 1000), "its old row of what expires went with its old value");
    clock.advance(100 * SECOND);
    assert_eq!(keys.sweep().unwrap(), 1000);
    assert_eq!((rows(1), rows(2), keys.sweep().unwrap()), (0, 0, 0));
}

#[test]
fn rows_are_gone_once_their_key_is_and_the_sweep_has_been_there() {
    let (store, clock) = with_clock();
    let keys = store.keys("s").unwrap();
    keys.set("a", "x").unwrap();
    keys.set_retention(Retention::Everything).unwrap();
    let make = |key: &str, options: SetOptions| {
        let rows = KeyRows::new(1, b"2500".to_vec()).unwrap();
        store
            .transaction(|tx| {
                let keys = tx.keys_with_rows("s")?;
                (0..2500_u32).try_for_each(|n| keys.put_row(&rows, n.to_be_bytes(), n.to_string().into_bytes()))?;
                keys.set_with(key, KeyValue::Rows(rows.clone()), &options).map(|_| ())
            })
            .unwrap();
        rows
    };
    // Trees 1 and 2 are those of keys and of what expires; 3 is made for rows.
    let count = |tree| {
        let snapshot = store.engine().snapshot().unwrap();
        snapshot.range(TreeId(tree), &recension::engine::KeyRange::all(), Direction::Forward).count()
    };
    let listed = |at: At, rows: &KeyRows| keys.at(at).unwrap().rows(rows).map(Result::unwrap).collect::<Vec<_>>();
    let removed = make("removed", SetOptions::new());
    let before = store.engine().head();
    let replaced = make("replaced", SetOptions::new());
    let expired = make("expired", after(1));
    let kept = make("kept", SetOptions::new());
    assert_eq!((count(3), listed(At::Now, &removed)[7].1.as_slice()), (10_000, &b"7"[..]));
    keys.remove("removed").unwrap();
    keys.set("replaced", "text").unwrap();
    // The same rows under another name, and with another expiry, are not given up.
    store
        .transaction(|tx| {
            let keys = tx.keys_with_rows("s")?;
            keys.detach("kept")?;
            keys.set_with("renamed", KeyValue::Rows(kept.clone()), &after(100)).map(|_| ())
        })
        .unwrap();
    clock.advance(2 * SECOND);
    assert_eq!((count(3), count(2)), (10_000, 4), "two are given up, two expire");
    assert_eq!(keys.sweep().unwrap(), 1);
    // What has just expired is given up now, and is for the next sweep.
    keys.sweep().unwrap();
    for gone in [&removed, &replaced, &expired] {
        assert_eq!(listed(At::Now, gone), []);
    }
    assert_eq!((count(3), count(2)), (2500, 1));
    assert_eq!(listed(At::Now, &kept).len(), 2500);
    assert_eq!(listed(At::Seq(before), &removed).len(), 2500, "history has them");
    clock.advance(100 * SECOND);
    keys.sweep().unwrap();
    keys.sweep().unwrap();
    assert_eq!((count(3), count(2)), (0, 0));
}

#[test]
fn the_store_sweeps_by_itself_and_after_it_was_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let open = || recension::open(&folder.path().join("s").display().to_string()).unwrap();
    let soon = || SetOptions::new().expiry(Expiry::After(Duration::from_millis(1)));
    let swept = |store: &Store| {
        let deadline = std::time::Instant::now() + Duration::from_mins(1);
        let all = recension::engine::KeyRange::all();
        while store.engine().snapshot().unwrap().range(TreeId(1), &all, Direction::Forward).count() > 0 {
            assert!(std::time::Instant::now() < deadline, "it does not sweep");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let store = open();
    store.keys("s").unwrap().set_with("a", "1", &soon()).unwrap();
    swept(&store);
    store.keys("s").unwrap().set_with("b", "1", &soon()).unwrap();
    drop(store);
    swept(&open());
}

#[test]
fn keys_and_documents_are_written_together_or_not_at_all() {
    let store = Store::memory().unwrap();
    let keys = store.keys("stock").unwrap();
    keys.set("ham", 1).unwrap();
    let order = || {
        store.transaction(|tx| {
            let left = tx.keys("stock")?.decrement("ham", 1)?;
            tx.collection("orders")?.create(None, format!(r#"{{"left":{left}}}"#))?;
            if left < 0 { Err(Error::abort("sold out")) } else { Ok(()) }
        })
    };
    order().unwrap();
    assert!(order().is_err());
    assert_eq!((keys.get("ham").unwrap(), store.collection("orders").unwrap().count().unwrap()), (Some(0.into()), 1));
    let (_, commit) = store.transaction_with(None, |tx| tx.keys("stock")?.version("ham")).unwrap();
    assert_eq!(commit.seq, store.engine().head(), "reading alone makes no commit");
}

#[test]
fn writers_of_one_counter_lose_nothing() {
    let store = Store::memory().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let keys = store.keys("n").unwrap().with_durability(Durability::Memory);
                (0..250).for_each(|_| assert!(keys.increment("visits", 1).unwrap() > 0));
            });
        }
    });
    assert_eq!(store.keys("n").unwrap().get("visits").unwrap(), Some(KeyValue::Integer(1000)));
    assert_eq!(store.key_namespaces().unwrap(), ["n"]);
}

#[test]
fn a_namespace_is_listed_by_prefix_in_pages_and_cleared() {
    let store = Store::memory().unwrap();
    let keys = store.keys("s").unwrap();
    for key in ["a", "ab", "ac", "b", "\u{ff}"] {
        keys.set(key, key).unwrap();
    }
    let names = |found: Vec<(Vec<u8>, _)>| -> Vec<String> {
        found.into_iter().map(|(key, _)| String::from_utf8(key).unwrap()).collect()
    };
    assert_eq!(names(keys.scan("a", None, 2).unwrap()), ["a", "ab"]);
    assert_eq!(names(keys.scan("a", Some(b"ab"), 2).unwrap()), ["ac"]);
    assert_eq!(names(keys.scan("", Some(b"ac"), 9).unwrap()), ["b", "\u{ff}"]);
    assert!(keys.scan("c", None, 9).unwrap().is_empty());
    assert_eq!((keys.clear().unwrap(), keys.scan("", None, 9).unwrap().len()), (5, 0));
}

/// What is done to one of three keys.
#[derive(Clone, Debug)]
enum Step {
    Set(u8, u8, Option<u64>, u8),
    Remove(u8),
    Expire(u8, Option<u64>),
    Advance(u64),
    Sweep,
}

fn steps() -> impl Strategy<Value = Step> {
    let seconds = proptest::option::of(1..6_u64);
    prop_oneof![
        (0..3_u8, 0..9_u8, seconds.clone(), 0..3_u8)
            .prop_map(|(key, value, end, only)| Step::Set(key, value, end, only)),
        (0..3_u8).prop_map(Step::Remove),
        (0..3_u8, seconds).prop_map(|(key, end)| Step::Expire(key, end)),
        (0..4_u64).prop_map(Step::Advance),
        Just(Step::Sweep),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn keys_do_what_a_map_with_moments_does(steps in proptest::collection::vec(steps(), 1..60)) {
        let (store, clock) = with_clock();
        let keys = store.keys("s").unwrap();
        let (mut model, mut now) = (std::collections::BTreeMap::<u8, (u8, Option<u64>)>::new(), 0);
        let expiry = |end: Option<u64>| end.map_or(Expiry::Never, |end| Expiry::After(Duration::from_secs(end)));
        for step in steps {
            model.retain(|_, (_, end)| end.is_none_or(|end| now < end));
            match step {
                Step::Set(key, value, end, only) => {
                    let condition = match only {
                        0 => KeyCondition::Anything,
                        1 => KeyCondition::Absent,
                        _ => KeyCondition::Present,
                    };
                    let holds = only == 0 || (only == 2) == model.contains_key(&key);
                    let options = SetOptions::new().expiry(expiry(end)).only_if(condition);
                    let outcome = keys.set_with([key], i64::from(value), &options).unwrap();
                    prop_assert_eq!(outcome.written, holds);
                    let previous = outcome.previous.map(|entry| entry.value);
                    prop_assert_eq!(previous, model.get(&key).map(|(value, _)| KeyValue::Integer(i64::from(*value))));
                    if holds {
                        model.insert(key, (value, end.map(|end| now + end)));
                    }
                }
                Step::Remove(key) => {
                    prop_assert_eq!(keys.remove([key]).unwrap().is_some(), model.remove(&key).is_some());
                }
                Step::Expire(key, end) => {
                    let is_there = model.get_mut(&key).map(|entry| entry.1 = end.map(|end| now + end)).is_some();
                    prop_assert_eq!(keys.expire([key], expiry(end)).unwrap(), is_there);
                }
                Step::Advance(seconds) => {
                    now += seconds;
                    clock.advance(seconds * SECOND);
                }
                Step::Sweep => drop(keys.sweep().unwrap()),
            }
            model.retain(|_, (_, end)| end.is_none_or(|end| now < end));
            let found = keys.scan("", None, 9).unwrap().into_iter().map(|(key, entry)| (key[0], entry.value));
            let integer = |value: &u8| KeyValue::Integer(i64::from(*value));
            let expected = model.iter().map(|(key, (value, _))| (*key, integer(value)));
            let (found, expected): (Vec<_>, Vec<_>) = (found.collect(), expected.collect());
            prop_assert_eq!(found, expected);
        }
    }
}

/// It failed each second until the branch was closed.
#[test]
fn the_sweeper_of_a_branch_ends_when_the_branch_is_dropped() {
    let main = Store::memory().unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    idea.keys("sessions").unwrap().set_with("a", "1", &after(1)).unwrap();
    let held = Arc::strong_count(idea.engine());
    main.drop_branch("idea").unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while Arc::strong_count(idea.engine()) >= held {
        assert!(Instant::now() < deadline, "the thread still has the branch");
        std::thread::yield_now();
    }
}
