//! The feeds of changes: every document once, at its last change, in the order of commits; at any moment,
//! from any position, of a collection and of the store, and live.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recension::engine::{EngineError, Seq, Timestamp};
use recension::{At, Change, Collection, Error, Position, Store, Write};

fn ids(changes: impl Iterator<Item = recension::Result<Change>>) -> Vec<(u64, String, bool)> {
    changes.map(|change| change.map(|c| (c.seq.0, c.id, c.deleted)).unwrap()).collect()
}

fn menu() -> Collection {
    Store::memory().unwrap().collection("menu").unwrap()
}

#[test]
fn a_document_is_listed_once_at_its_last_change() {
    let menu = menu();
    menu.put("a", "{}").unwrap();
    let b = menu.put("b", "{}").unwrap();
    menu.put("c", "{}").unwrap();
    menu.put("a", r#"{"n":2}"#).unwrap();
    let gone = menu.delete("b", &b.rev).unwrap();
    let all = [(3, "c".to_owned(), false), (4, "a".to_owned(), false), (5, "b".to_owned(), true)];
    assert_eq!(ids(menu.changes(Seq::ZERO).unwrap()), all);
    assert_eq!(ids(menu.changes(Seq(4)).unwrap()), all[2..]);
    let mut backward = ids(menu.at(At::Now).unwrap().changes_backward());
    backward.reverse();
    assert_eq!(backward, all);
    // As of a past commit the feed is what it was then.
    let then = menu.at(At::Seq(Seq(3))).unwrap();
    assert_eq!(ids(then.changes(Seq::ZERO)).iter().map(|c| c.0).collect::<Vec<_>>(), [1, 2, 3]);
    let last = menu.changes(Seq(4)).unwrap().next().unwrap().unwrap();
    assert_eq!((last.rev, &*last.collection), (gone.rev, "menu"));
}

#[test]
fn a_feed_goes_on_in_the_middle_of_a_commit() {
    let menu = menu();
    let writes = (0..700).map(|n| Write::put(&format!("{n:03}"), "{}").unwrap());
    menu.bulk(writes).unwrap();
    let mut seen = Vec::new();
    let mut position = Position::START;
    loop {
        let before = seen.len();
        let mut changes = menu.changes(position).unwrap();
        seen.extend(ids(changes.by_ref().take(97)));
        position = changes.position().to_string().parse().unwrap();
        if seen.len() == before {
            break;
        }
    }
    assert_eq!(seen.len(), 700);
    assert!(seen.is_sorted() && seen.iter().all(|(seq, ..)| *seq == 1));
}

#[test]
fn what_is_no_position_is_refused() {
    for text in [
        "",
        "x",
        "-1",
        "1-",
        "1-6g",
        "x-61",
        "1-6-61",
        "1-2-6-61",
        "1-2-3-4-5",
        "1-zz-61",
        "1-61-6g",
        "1-ff-61",
        "99999999999999999999",
    ] {
        assert!(text.parse::<Position>().is_err(), "{text}");
    }
    // As CouchDB's clients have it: the number of updates first.
    assert_eq!("7-12".parse::<Position>().unwrap(), Position::from(Seq(12)));
    assert_eq!("7-12-61-62".parse::<Position>().unwrap(), "12-61-62".parse().unwrap());
}

#[test]
fn counts_follow_every_write_and_are_kept_for_the_past() {
    let menu = menu();
    assert_eq!(menu.count().unwrap(), 0);
    let a = menu.put("a", r#"{"n":1}"#).unwrap();
    menu.put("b", "{}").unwrap();
    let counts = menu.counts().unwrap();
    assert_eq!((counts.documents, counts.deleted, counts.body_bytes), (2, 0, 9));
    menu.delete("a", &a.rev).unwrap();
    let counts = menu.counts().unwrap();
    assert_eq!((counts.documents, counts.deleted, counts.body_bytes, counts.changed), (1, 1, 2, Seq(3)));
    menu.put("a", "{}").unwrap();
    assert!(menu.create(Some("a"), "{}").is_err());
    let counts = menu.counts().unwrap();
    assert_eq!((counts.documents, counts.deleted, counts.body_bytes, counts.updates()), (2, 0, 4, 4));
    assert_eq!(menu.at(At::Seq(Seq(3))).unwrap().count().unwrap(), 1);
    menu.store().drop_collection("menu").unwrap();
    assert_eq!(menu.count().unwrap(), 0);
    menu.put("z", "{}").unwrap();
    assert_eq!((menu.count().unwrap(), menu.counts().unwrap().updates()), (1, 1));
}

#[test]
fn the_stores_feed_is_the_collections_feeds_in_the_order_of_commits() {
    let store = Store::memory().unwrap();
    let mut last: BTreeMap<(String, String), u64> = BTreeMap::new();
    // More collections than a page has changes, and commits over several of them.
    for n in 0..900_u64 {
        let names = [format!("c{}", n % 300), format!("c{}", (n * 7 + 1) % 300)];
        let id = format!("d{}", n % 3);
        let ((), commit) = store
            .transaction_with(None, |tx| {
                for name in &names {
                    tx.collection(name)?.put(&id, format!("{{\"n\":{n}}}"))?;
                }
                Ok(())
            })
            .unwrap();
        for name in names {
            last.insert((name, id.clone()), commit.seq.0);
        }
    }
    let mut expected: Vec<_> = last.into_iter().map(|((name, id), seq)| (seq, name, id)).collect();
    expected.sort();
    let read = |store: &Store, since: Position| -> Vec<(u64, String, String)> {
        let changes = store.changes(since).unwrap();
        changes.map(|c| c.unwrap()).map(|c| (c.seq.0, c.collection.to_string(), c.id)).collect()
    };
    assert_eq!(read(&store, Position::START), expected);
    // A handle that has not seen the commits must look at every collection, and finds the same.
    let stranger = Store::on(store.engine().clone()).unwrap();
    assert_eq!(read(&stranger, Position::START), expected);
    for at in [0, 1, 299, 300, expected.len() - 1] {
        let mut changes = store.changes(Position::START).unwrap();
        assert!(changes.by_ref().nth(at).is_some());
        let position: Position = changes.position().to_string().parse().unwrap();
        assert_eq!(read(&store, position.clone()), expected[at + 1..], "from {position}");
        assert_eq!(read(&stranger, position), expected[at + 1..]);
    }
}

#[test]
fn a_follower_sees_every_document_that_writers_write() {
    const WRITERS: u64 = 4;
    const WRITES: u64 = 200;
    let store = Store::memory().unwrap();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let collection = store.collection(&format!("c{}", writer % 2)).unwrap();
            scope.spawn(move || {
                for n in 0..WRITES {
                    collection.put(&format!("{writer}-{n}"), "{}").unwrap();
                    collection.put(&format!("{writer}-again"), format!("{{\"n\":{n}}}")).unwrap();
                }
            });
        }
        for of_store in [true, false] {
            let store = store.clone();
            scope.spawn(move || {
                let (mut feed, expected) = if of_store {
                    (store.follow(Seq::ZERO), WRITERS * (WRITES + 1))
                } else {
                    (store.collection("c1").unwrap().follow(Seq::ZERO), WRITERS / 2 * (WRITES + 1))
                };
                let mut last: BTreeMap<String, u64> = BTreeMap::new();
                let mut before = Seq::ZERO;
                while last.len() < expected as usize {
                    let change = feed.next_timeout(Duration::from_mins(1)).unwrap().expect("a change in time");
                    assert!(change.seq >= before);
                    before = change.seq;
                    assert_ne!(last.insert(change.id.clone(), change.seq.0), Some(change.seq.0), "{change:?} twice");
                }
            });
        }
    });
    let mut feed = store.follow(store.engine().head());
    assert_eq!(feed.try_next().unwrap(), None);
    assert_eq!(feed.next_timeout(Duration::from_millis(2)).unwrap(), None);
}

#[test]
fn a_follower_goes_on_with_a_collection_that_is_dropped_and_made_again() {
    let menu = menu();
    let mut feed = menu.follow(Position::START);
    assert_eq!(feed.try_next().unwrap(), None);
    menu.put("a", "{}").unwrap();
    assert_eq!(feed.try_next().unwrap().unwrap().id, "a");
    menu.store().drop_collection("menu").unwrap();
    assert_eq!(feed.try_next().unwrap(), None);
    menu.put("b", "{}").unwrap();
    assert_eq!(feed.try_next().unwrap().unwrap().id, "b");
    assert_eq!(feed.try_next().unwrap(), None);
}

#[test]
fn a_position_and_a_time_that_are_ahead_are_refused() {
    let store = Store::memory().unwrap();
    let menu = store.collection("menu").unwrap();
    menu.put("a", "{}").unwrap();
    let ahead = |refused: Option<Error>| match refused {
        Some(Error::PositionAhead { since, head }) => (since, head.0),
        other => panic!("{other:?}"),
    };
    let expected = ("9".to_owned(), 1);
    assert_eq!(ahead(store.changes(Seq(9)).err()), expected);
    assert_eq!(ahead(menu.changes(Seq(9)).err()), expected);
    assert_eq!(ahead(store.follow(Seq(9)).next().unwrap().err()), expected);
    assert_eq!(ahead(menu.follow(Seq(9)).try_next().err()), expected);
    assert_eq!(ids(menu.changes(Seq(1)).unwrap()), []);

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    let in_an_hour = At::Time(Timestamp(now + 3_600_000_000));
    for refused in [menu.at(in_an_hour).err(), store.resolve(in_an_hour).err(), store.tag("soon", in_an_hour).err()] {
        assert!(matches!(refused, Some(Error::MomentAhead { head: Seq(1), .. })), "{refused:?}");
    }
    // Another process' clock may be a little ahead.
    assert!(menu.at(At::Time(Timestamp(now + 1_000_000))).unwrap().exists());
    assert!(matches!(store.resolve(At::Seq(Seq(2))), Err(Error::Engine(EngineError::NotYet { .. }))));
}
