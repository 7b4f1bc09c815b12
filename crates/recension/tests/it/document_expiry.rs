//! Documents that expire: deleted as a delete is, and replicated so.

use std::sync::Arc;

use recension::engine::{ManualClock, MemoryEngine, Seq, Timestamp};
use recension::{At, ReplicatedWrite, Store};

const START: u64 = 1_795_000_000;

fn with_clock() -> (Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp(START * 1_000_000)));
    let engine = Arc::new(MemoryEngine::with_clock(clock.clone()));
    (Store::with_clock(engine, clock.clone()).unwrap(), clock)
}

#[test]
fn documents_are_deleted_when_their_time_has_come_and_replicas_hear_of_it() {
    let (store, clock) = with_clock();
    let drafts = store.collection("drafts").unwrap();
    drafts.put("before-the-rule", format!(r#"{{"end":{{"at":{}}}}}"#, START + 5)).unwrap();
    drafts.settings().set_expiry(Some("end.at")).unwrap();
    assert_eq!(drafts.settings().expiry().unwrap().as_deref(), Some("end.at"));
    drafts.put("later", format!(r#"{{"end":{{"at":{}.5}}}}"#, START + 10)).unwrap();
    for (id, body) in [
        ("text", r#"{"end":{"at":"1"}}"#),
        ("null", r#"{"end":{"at":null}}"#),
        ("true", r#"{"end":{"at":true}}"#),
        ("none", "{}"),
    ] {
        drafts.put(id, body).unwrap();
    }
    assert_eq!(store.sweep_expired().unwrap(), 0);
    clock.advance(5_000_000);
    let before = store.engine().head();
    assert_eq!(store.sweep_expired().unwrap(), 1);
    assert!(drafts.get("before-the-rule").unwrap().is_none());
    let changes: Vec<_> = drafts.changes(before).unwrap().map(Result::unwrap).collect();
    assert_eq!((changes.len(), &*changes[0].id, changes[0].deleted), (1, "before-the-rule", true));
    assert!(drafts.at(At::Seq(before)).unwrap().get("before-the-rule").unwrap().is_some(), "history stays");
    // The deletion is a revision that a replica takes as any other.
    let replica = Store::memory().unwrap().collection("drafts").unwrap();
    for change in drafts.changes(Seq::ZERO).unwrap() {
        let change = change.unwrap();
        let ancestors = drafts.replication().ancestry(&change.id, &change.rev).unwrap().unwrap();
        let body = drafts.at(At::Now).unwrap().current(&change.id).unwrap().unwrap().body.into_owned();
        let write = ReplicatedWrite::new(&change.id, change.rev, &ancestors[1..], change.deleted, body).unwrap();
        replica.replication().merge_revisions(vec![write]).unwrap()[0].as_ref().unwrap();
    }
    assert!(replica.get("before-the-rule").unwrap().is_none() && replica.get("later").unwrap().is_some());
    clock.advance(5_400_000);
    assert_eq!(store.sweep_expired().unwrap(), 0);
    clock.advance(100_000);
    assert_eq!(store.sweep_expired().unwrap(), 1);
    assert_eq!(drafts.count().unwrap(), 4);
    assert!(store.check(At::Now).unwrap().problems.is_empty());
}

#[test]
fn many_go_in_steps_and_a_rule_that_is_taken_back_deletes_nothing_more() {
    let (store, clock) = with_clock();
    let drafts = store.collection("drafts").unwrap();
    drafts.settings().set_expiry(Some("at")).unwrap();
    store
        .transaction(|tx| {
            let drafts = tx.collection("drafts")?;
            (0..2500).try_for_each(|n| drafts.put(&n.to_string(), format!(r#"{{"at":{}}}"#, START + 1)).map(|_| ()))
        })
        .unwrap();
    clock.advance(1_000_000);
    assert_eq!(store.sweep_expired().unwrap(), 2500);
    drafts.put("a", r#"{"at":1,"other":2}"#).unwrap();
    drafts.settings().set_expiry(Some("other")).unwrap();
    assert_eq!(drafts.indexes().unwrap().len(), 1);
    drafts.settings().set_expiry(None).unwrap();
    assert_eq!((drafts.settings().expiry().unwrap(), drafts.indexes().unwrap().len()), (None, 0));
    assert_eq!(store.sweep_expired().unwrap(), 0);
    assert!(drafts.settings().set_expiry(Some("a[].b")).is_err() && drafts.settings().set_expiry(Some("a[")).is_err());
    drafts.settings().set_expiry(Some("at")).unwrap();
    store.drop_collection("drafts").unwrap();
    drafts.put("a", r#"{"at":1}"#).unwrap();
    assert_eq!(store.sweep_expired().unwrap(), 0, "the rule went with the collection");
}
