//! Durable topics: acknowledgement, redelivery, groups, dead letters, across an open.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use recension::engine::{ManualClock, MemoryEngine, Timestamp};
use recension::{At, ConsumerOptions, Delivery, ListOptions, Store};

fn with_clock() -> (Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp(1_795_000_000_000_000)));
    let engine = Arc::new(MemoryEngine::with_clock(clock.clone()));
    (Store::with_clock(engine, clock.clone()).unwrap(), clock)
}

fn ids(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| &*delivery.id).collect()
}

#[test]
fn what_was_not_acknowledged_comes_again_and_then_becomes_a_dead_letter() {
    let (store, clock) = with_clock();
    let orders = store.collection("orders").unwrap();
    let kitchen = orders.consumer("kitchen", ConsumerOptions::new().dead_letters("spoiled", 2)).unwrap();
    assert!(kitchen.receive(10).unwrap().is_empty() && kitchen.status().unwrap().is_none());
    for id in ["a", "b", "c"] {
        orders.put(id, r#"{"n":1}"#).unwrap();
    }
    orders.put("gone", "{}").unwrap();
    let gone = orders.get("gone").unwrap().unwrap().rev;
    orders.delete("gone", &gone).unwrap();
    let first = kitchen.receive(2).unwrap();
    assert_eq!(ids(&first), ["a", "b"]);
    assert!(kitchen.acknowledge(&first[0]).unwrap() && !kitchen.acknowledge(&first[0]).unwrap());
    assert_eq!(ids(&kitchen.receive(10).unwrap()), ["c"], "a deletion is no message");
    assert!(kitchen.receive(10).unwrap().is_empty());
    assert_eq!(kitchen.status().unwrap().unwrap().unacknowledged, 2);
    clock.advance(30_000_000);
    let again = kitchen.receive(10).unwrap();
    assert_eq!((ids(&again), again[0].attempt), (vec!["b", "c"], 2));
    assert!(kitchen.give_back(&again[0], Duration::from_secs(5)).unwrap());
    // A document that changes meanwhile comes as its last change only.
    orders.put("c", r#"{"n":2}"#).unwrap();
    let newer = kitchen.receive(10).unwrap();
    assert_eq!((ids(&newer), newer[0].attempt, &*newer[0].body), (vec!["c"], 1, r#"{"n":2}"#));
    assert!(kitchen.acknowledge(&newer[0]).unwrap());
    clock.advance(5_000_000);
    assert!(kitchen.receive(10).unwrap().is_empty(), "it was handed out twice");
    let letters: Vec<_> =
        store.collection("spoiled").unwrap().list(&ListOptions::default()).unwrap().map(Result::unwrap).collect();
    assert_eq!(letters.len(), 1);
    let rev = orders.get("b").unwrap().unwrap().rev;
    let expected = format!(
        "{{\"collection\":\"orders\",\"consumer\":\"kitchen\",\"id\":\"b\",\"rev\":\"{rev}\",\"seq\":{},\
         \"deliveries\":2,\"document\":{{\"n\":1}}}}",
        again[0].seq
    );
    assert_eq!(letters[0].body, expected);
    clock.advance(100_000_000);
    assert!(kitchen.receive(10).unwrap().is_empty());
    assert_eq!(kitchen.status().unwrap().unwrap().unacknowledged, 0);
    kitchen.forget().unwrap();
    assert_eq!(ids(&kitchen.receive(10).unwrap()), ["a", "b", "c"]);
    assert!(store.check(At::Now).unwrap().problems.is_empty());
}

#[test]
fn each_message_goes_to_one_member_of_a_group_and_to_every_group() {
    let store = Store::memory().unwrap();
    let tasks = store.collection("tasks").unwrap();
    store
        .transaction(|tx| (0..300).try_for_each(|n| tx.collection("tasks")?.put(&format!("{n:03}"), "{}").map(|_| ())))
        .unwrap();
    let work = |group: &str| {
        let consumer = tasks.consumer(group, ConsumerOptions::new()).unwrap();
        let mut done = Vec::new();
        loop {
            let deliveries = consumer.receive(7).unwrap();
            if deliveries.is_empty() {
                return done;
            }
            for delivery in deliveries {
                assert!(consumer.acknowledge(&delivery).unwrap());
                done.push(delivery.id);
            }
        }
    };
    let together = std::thread::scope(|scope| {
        let members: Vec<_> = (0..3).map(|_| scope.spawn(|| work("group"))).collect();
        members.into_iter().flat_map(|member| member.join().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!((together.len(), together.iter().collect::<BTreeSet<_>>().len()), (300, 300));
    let alone = work("other");
    assert_eq!(alone.len(), 300);
    assert!(alone.windows(2).all(|pair| pair[0] < pair[1]), "one commit's in the order of ids");
}

#[test]
fn a_consumer_goes_on_after_an_open_and_begins_where_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let open = || recension::open(&folder.path().join("s").display().to_string()).unwrap();
    let store = open();
    let topic = store.collection("topic").unwrap();
    topic.put("a", "{}").unwrap();
    let head = store.engine().head();
    topic.put("b", "{}").unwrap();
    let late = topic.consumer("late", ConsumerOptions::new().since(head)).unwrap();
    assert_eq!(ids(&late.receive(9).unwrap()), ["b"]);
    let all = topic.consumer("all", ConsumerOptions::new()).unwrap();
    assert_eq!(ids(&all.receive(1).unwrap()), ["a"]);
    drop((store, topic, late, all));
    let store = open();
    let topic = store.collection("topic").unwrap();
    let all = topic.consumer("all", ConsumerOptions::new()).unwrap();
    assert_eq!(ids(&all.receive(9).unwrap()), ["b"]);
    assert_eq!(all.status().unwrap().unwrap().unacknowledged, 2);
    // A collection of the same name is another topic.
    store.drop_collection("topic").unwrap();
    assert!(all.receive(9).unwrap().is_empty());
    topic.put("c", "{}").unwrap();
    assert_eq!(ids(&all.receive(9).unwrap()), ["c"]);
}

#[test]
fn a_member_that_waits_is_woken_by_a_message() {
    let store = Store::memory().unwrap();
    let topic = store.collection("topic").unwrap();
    let consumer = topic.consumer("c", ConsumerOptions::new()).unwrap();
    assert!(consumer.receive_timeout(1, Duration::ZERO).unwrap().is_empty());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| consumer.receive_timeout(1, Duration::from_mins(1)).unwrap());
        topic.put("a", "{}").unwrap();
        assert_eq!(ids(&waiting.join().unwrap()), ["a"]);
    });
}

#[test]
fn no_more_than_a_thousand_are_handed_out_and_not_acknowledged() {
    let store = Store::memory().unwrap();
    let topic = store.collection("topic").unwrap();
    store
        .transaction(|tx| (0..1200).try_for_each(|n| tx.collection("topic")?.put(&n.to_string(), "{}").map(|_| ())))
        .unwrap();
    let consumer = topic.consumer("c", ConsumerOptions::new()).unwrap();
    let first = consumer.receive(5000).unwrap();
    assert_eq!(first.len(), 1000);
    assert!(consumer.receive(5000).unwrap().is_empty());
    for delivery in &first {
        assert!(consumer.acknowledge(delivery).unwrap());
    }
    assert_eq!(consumer.receive(5000).unwrap().len(), 200);
}
