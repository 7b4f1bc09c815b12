//! Between two collections of two stores.

use std::io::Read as _;
use std::time::{Duration, Instant};

use recension::{Collection, Expect, IndexSpec, ReplicatedWrite, Store};
use recension_replicate::{Control, Error, Local, Options, Outcome, replicate};

fn notes() -> Collection {
    Store::memory().unwrap().collection("notes").unwrap()
}

fn run(from: &Collection, to: &Collection, options: &Options) -> Outcome {
    let options = Options { create_target: true, ..options.clone() };
    let identified = |own: &Collection| Local::new(own.clone()).identified(format!("{:p}", own.store().engine()));
    let (from, to) = (identified(from), identified(to));
    replicate(&from, &to, &options, &Control::default()).unwrap()
}

/// Every leaf of every document, with its body.
fn state(collection: &Collection) -> Vec<(String, String, String)> {
    let mut all = Vec::new();
    for change in collection.changes(recension::Position::START).unwrap() {
        let id = change.unwrap().id;
        for leaf in collection.replication().leaves(&id).unwrap() {
            let body = collection.replication().get_revision(&id, &leaf.rev).unwrap().unwrap().to_json(&id);
            all.push((id.clone(), leaf.rev.to_string(), body));
        }
    }
    all.sort();
    all
}

#[test]
fn both_sides_agree_after_edits_conflicts_deletions_and_attachments_on_both() {
    let (here, there) = (notes(), notes());
    for number in 0..1234 {
        here.put(&format!("n{number:04}"), format!("{{\"n\":{number}}}")).unwrap();
    }
    let long: Vec<u8> = (0..3_000_000_u32).map(|number| (number * 7 % 251) as u8).collect();
    here.attach("n0001", Expect::Anything, "long.bin", "image/png", long.as_slice()).unwrap();
    here.attach("n0002", Expect::Anything, "short.txt", "text/plain", &b"short"[..]).unwrap();
    let first = run(&here, &there, &Options::default());
    assert_eq!((first.statistics.docs_written, first.statistics.doc_write_failures), (1234, 0));
    assert!(state(&here) == state(&there));
    let mut bytes = Vec::new();
    there.attachment("n0001", "long.bin").unwrap().unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, long);
    // Both sides go on by themselves.
    here.put("n0003", r#"{"by":"here"}"#).unwrap();
    there.put("n0003", r#"{"by":"there"}"#).unwrap();
    there.delete("n0004", &there.get("n0004").unwrap().unwrap().rev).unwrap();
    here.put("n0001", r#"{"n":1,"again":true}"#).unwrap();
    run(&here, &there, &Options::default());
    run(&there, &here, &Options::default());
    assert!(state(&here) == state(&there));
    assert_eq!(here.conflicts("n0003").unwrap().len(), 1);
    let none = run(&here, &there, &Options::default());
    assert_eq!((none.statistics.missing_found, none.statistics.docs_written), (0, 0));
}

#[test]
fn it_begins_at_the_checkpoint_and_again_if_the_target_was_made_anew() {
    let (here, there) = (notes(), notes());
    here.put("a", "{}").unwrap();
    run(&here, &there, &Options::default());
    here.put("b", "{}").unwrap();
    assert_eq!(run(&here, &there, &Options::default()).statistics.missing_checked, 1);
    let anew = notes();
    assert_eq!(run(&here, &anew, &Options::default()).statistics.docs_written, 2);
    let whole = Options { checkpoints: false, ..Options::default() };
    assert_eq!(run(&here, &there, &whole).statistics.missing_checked, 2);
}

#[test]
fn only_some_documents_come_over_if_some_are_asked_for() {
    let here = notes();
    for (id, body) in [("a", r#"{"v":1}"#), ("b", r#"{"v":2}"#), ("c", r#"{"v":1}"#)] {
        here.put(id, body).unwrap();
    }
    let by_id = Options { doc_ids: Some(vec!["a".into(), "none".into()]), ..Options::default() };
    let by_value = Options { selector: Some(r#"{"v":{"$eq":1}}"#.into()), ..Options::default() };
    let richer = Options { selector: Some(r#"{"v":{"$gt":1}}"#.into()), ..Options::default() };
    for (options, expected) in [(by_id, &["a"][..]), (by_value, &["a", "c"]), (richer, &["b"])] {
        let there = notes();
        run(&here, &there, &options);
        let ids: Vec<String> = state(&there).into_iter().map(|(id, ..)| id).collect();
        assert_eq!(ids, expected);
    }
    let unknown = Options { selector: Some(r#"{"v":{"$no":1}}"#.into()), ..Options::default() };
    assert!(replicate(&Local::new(here.clone()), &Local::new(here.clone()), &unknown, &Control::default()).is_err());
    let nowhere = replicate(&Local::new(notes()), &Local::new(here), &Options::default(), &Control::default());
    assert!(matches!(nowhere, Err(Error::NoDatabase { .. })));
}

#[test]
fn a_leaf_that_loses_comes_over_if_the_selector_lets_it_through_and_no_other_does() {
    let here = notes();
    let leaf = |id: &str, rev: &str, v: u8| {
        let text = format!(r#"{{"_id":"{id}","_rev":"{rev}","v":{v}}}"#);
        let write = ReplicatedWrite::from_json(&text).unwrap();
        here.replication().merge_revisions(vec![write]).unwrap().pop().unwrap().unwrap();
    };
    for (id, winner) in [("loses", 2), ("wins", 1)] {
        leaf(id, "1-b", winner);
        leaf(id, "1-a", 3 - winner);
    }
    here.create_index(IndexSpec::new("v", "v"), |_| {}).unwrap();
    let by_value = Options { selector: Some(r#"{"v":1}"#.into()), ..Options::default() };
    let there = notes();
    run(&here, &there, &by_value);
    let leaves: Vec<_> = state(&there).into_iter().map(|(id, rev, _)| format!("{id} {rev}")).collect();
    assert_eq!(leaves, ["loses 1-a", "wins 1-b"]);
}

#[test]
fn what_the_target_refuses_is_counted_and_holds_nothing_up() {
    let (here, there) = (notes(), notes());
    here.put("a", "{}").unwrap();
    here.put("b", "{}").unwrap();
    there.put("z", "{}").unwrap();
    let to = Local::new(there.clone()).refusing(|id| (id == "a").then(|| "not here".to_owned()));
    let outcome = replicate(&Local::new(here), &to, &Options::default(), &Control::default()).unwrap();
    assert_eq!((outcome.statistics.docs_written, outcome.statistics.doc_write_failures), (1, 1));
    assert_eq!(outcome.statistics.last_refusal.unwrap().0, "a");
    assert!(there.get("a").unwrap().is_none() && there.get("b").unwrap().is_some());
}

#[test]
fn a_live_replication_brings_what_comes_and_ends_when_it_is_stopped_and_rests_between() {
    let (here, there) = (notes(), notes());
    here.put("a", "{}").unwrap();
    let control = Control::default();
    let (from, to, own) = (Local::new(here.clone()), Local::new(there.clone()), control.clone());
    let live = Options { live: true, create_target: true, ..Options::default() };
    let thread = std::thread::spawn(move || replicate(&from, &to, &live, &own));
    let until = Instant::now() + Duration::from_secs(20);
    let wait = |id: &str| {
        while there.get(id).unwrap().is_none() {
            assert!(Instant::now() < until, "{id} did not come");
            std::thread::yield_now();
        }
    };
    wait("a");
    here.put("b", "{}").unwrap();
    wait("b");
    // The checkpoint is a commit of its own, which must not be the reason for another one.
    let checkpoints =
        || here.at(recension::At::Now).unwrap().locals().unwrap().iter().map(|own| own.number).sum::<u64>();
    while checkpoints() < 1 {
        assert!(Instant::now() < until, "no checkpoint");
        std::thread::yield_now();
    }
    for _ in 0..20 {
        here.store().collection("other").unwrap().put("x", "{}").unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    control.stop();
    let outcome = thread.join().unwrap().unwrap();
    assert_eq!(outcome.statistics.docs_written, 2);
    assert!(checkpoints() <= 4, "{} checkpoints for two documents", checkpoints());
}
