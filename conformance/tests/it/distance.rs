//! Documents on engines that are far away: slow ones, ones that lose commits and answers, ones that others commit to.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recension::engine::{EngineError, MemoryEngine};
use recension::{At, Error, IndexSpec, Query, Store, ValueRange};
use recension_conformance::disturbed::{Disturbance, Disturbed};

const WRITERS: u64 = 4;
const EACH: u64 = 40;

/// Adds to a counter and creates a document, in one transaction; again until it is known to have been made, once.
fn count(store: &Store, writer: u64, nth: u64) {
    let id = format!("{writer}-{nth}");
    loop {
        let made = store.transaction(|tx| {
            let notes = tx.collection("notes")?;
            let before = notes.get("counter")?.map_or(0, |counter| number(&counter.body));
            notes.put("counter", format!(r#"{{"n":{}}}"#, before + 1))?;
            notes.create(Some(&id), format!(r#"{{"writer":{writer}}}"#))
        });
        match made {
            Ok(_) => return,
            // Nothing was written.
            Err(Error::Engine(EngineError::Unavailable { .. }) | Error::Busy { .. }) => {}
            // Reading tells.
            Err(Error::Engine(EngineError::Unknown { .. })) => {
                if store.collection("notes").unwrap().get(&id).unwrap().is_some() {
                    return;
                }
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn number(body: &str) -> u64 {
    body.trim_start_matches(r#"{"n":"#).trim_end_matches('}').parse().unwrap()
}

#[test]
fn nothing_is_lost_or_made_twice_on_engines_that_are_far_away() {
    let disturbances = [Disturbance::Delayed(Duration::from_micros(200)), Disturbance::Lossy(7), Disturbance::Gaps];
    for disturbance in disturbances {
        let engine = Arc::new(Disturbed::new(Arc::new(MemoryEngine::new()), disturbance));
        let store = Store::on(engine.clone()).unwrap();
        // The first commit of one that loses some is lost.
        while store.collection("notes").unwrap().create_index(IndexSpec::new("by-writer", "writer"), |_| {}).is_err() {}
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                let store = store.clone();
                scope.spawn(move || (0..EACH).for_each(|nth| count(&store, writer, nth)));
            }
        });
        let notes = store.collection("notes").unwrap();
        assert_eq!(number(&notes.get("counter").unwrap().unwrap().body), WRITERS * EACH, "{disturbance:?}");
        assert_eq!(notes.count().unwrap(), WRITERS * EACH + 1, "{disturbance:?}");
        let of_one = Query::new().matching("writer", ValueRange::equal(2)).through("by-writer");
        assert_eq!(notes.find(&of_one).unwrap().map(Result::unwrap).count() as u64, EACH, "{disturbance:?}");
        let check = store.check(At::Now).unwrap();
        assert!(check.problems.is_empty(), "{disturbance:?}: {:?}", check.problems);
        assert_eq!(engine.lost() > 0, matches!(disturbance, Disturbance::Lossy(_)), "{disturbance:?}");
    }
}
