//! Feeds of some documents: the same changes whether they are made from an index, from the documents named, or by
//! testing every change; the same as the whole feed, tested by somebody else.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use recension::engine::Seq;
use recension::{
    Change, ChangeFilter, Collection, CollectionAt, Expect, IndexSpec, ListOptions, Position, Query, Result, Store,
    ValueRange, Write,
};

/// More than a feed tests before it looks for an index.
const DOCUMENTS: usize = 1500;
const GROUPS: usize = 60;

fn body(group: usize, text: usize) -> String {
    format!("{{\"group\":{group},\"text\":\"t{text}\"}}")
}

fn filled(store: &Store, name: &str, indexed: bool) -> Collection {
    let collection = store.collection(name).unwrap();
    if indexed {
        collection.create_index(IndexSpec::new("group", "group"), |_| {}).unwrap();
    }
    let writes = (0..DOCUMENTS).map(|i| Write::put(&format!("d{i:04}"), body(i % GROUPS, i % 7)).unwrap());
    assert!(collection.bulk(writes).unwrap().iter().all(Result::is_ok));
    collection
}

fn in_group(group: usize) -> Query {
    Query::new().matching("group", ValueRange::equal(group))
}

fn all(changes: impl Iterator<Item = Result<Change>>) -> Vec<Change> {
    changes.collect::<Result<_>>().unwrap()
}

/// What the feed should be: the whole one, with each document, deleted ones too, looked at.
fn expected(at: &CollectionAt, since: &Position, wanted: impl Fn(&str, &str) -> bool) -> Vec<Change> {
    let met: BTreeSet<String> = at
        .list(&ListOptions { deleted: true, ..ListOptions::default() })
        .unwrap()
        .map(Result::unwrap)
        .filter(|document| wanted(&document.id, &document.body))
        .map(|document| document.id.into_owned())
        .collect();
    all(at.changes(since.clone())).into_iter().filter(|change| met.contains(&change.id)).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Put(usize, usize),
    Delete(usize),
    /// A deletion that says something.
    DeleteSaying(usize, usize),
    Purge(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (document, group) = (0..DOCUMENTS + 5, 0..3_usize);
    let step = prop_oneof![
        4 => (document.clone(), group.clone()).prop_map(|(document, group)| Step::Put(document, group)),
        2 => document.clone().prop_map(Step::Delete),
        2 => (document.clone(), group).prop_map(|(document, group)| Step::DeleteSaying(document, group)),
        1 => document.prop_map(Step::Purge),
    ];
    prop::collection::vec(step, 0..30)
}

fn carry_out(collection: &Collection, step: &Step) {
    let id = |document: &usize| format!("d{document:04}");
    match step {
        Step::Put(document, group) => drop(collection.put(&id(document), body(*group, 1)).unwrap()),
        Step::Delete(document) | Step::DeleteSaying(document, _) => {
            let said = if let Step::DeleteSaying(_, group) = step { body(*group, 1) } else { "{}".to_owned() };
            let text = said.replacen('{', "{\"_deleted\":true,", 1).replace(",}", "}");
            let write = Write::from_json(text).unwrap().with_id(&id(document)).unwrap();
            // There may be none to delete.
            let _ = collection.write(write.expecting(Expect::Anything));
        }
        Step::Purge(document) => {
            let leaves: Vec<_> =
                collection.replication().leaves(&id(document)).unwrap().iter().map(|leaf| leaf.rev).collect();
            collection.replication().purge(&id(document), &leaves).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_changes_nothing_but_the_time(steps in steps(), group in 0..3_usize, since in 0..40_u64, limit in 0..50_usize) {
        let store = Store::memory().unwrap();
        let collection = filled(&store, "things", true);
        for step in &steps {
            carry_out(&collection, step);
        }
        let at = collection.at(recension::At::Now).unwrap();
        // From the beginning, from a commit, and from the middle of the commit of them all.
        let middle = all(at.changes(Seq::ZERO)).get(limit).map_or(Position::START, Change::position);
        let member = format!("\"group\":{group},");
        let ids: Vec<String> = (0..DOCUMENTS + 5).step_by(97).map(|i| format!("d{i:04}")).collect();
        let since = Seq(since).min(store.engine().head());
        for since in [Position::START, since.into(), middle] {
            let by_index = ChangeFilter::matching(in_group(group)).unwrap();
            let by_scan = ChangeFilter::matching(in_group(group).without_indexes()).unwrap();
            let wanted = expected(&at, &since, |_, body| body.contains(&member));
            prop_assert_eq!(&all(at.changes(since.clone()).filtered(&by_index)), &wanted);
            prop_assert_eq!(&all(at.changes(since.clone()).filtered(&by_scan)), &wanted);
            let of_store = all(store.changes(since.clone()).unwrap().filtered(&by_index));
            prop_assert_eq!(&of_store, &wanted);
            let mut follow = collection.follow(since.clone()).filtered(&by_index);
            let mut followed = Vec::new();
            while let Some(change) = follow.try_next().unwrap() {
                followed.push(change);
            }
            prop_assert_eq!(&followed, &wanted);
            prop_assert_eq!(follow.position(), &Position::from(store.engine().head()));

            let named = ChangeFilter::ids(&ids).unwrap();
            let wanted = expected(&at, &since, |id, _| ids.iter().any(|named| named == id));
            prop_assert_eq!(&all(at.changes(since.clone()).filtered(&named)), &wanted);
            prop_assert_eq!(&all(store.changes(since.clone()).unwrap().filtered(&named)), &wanted);

            let both = by_index.and(&named).testing(|document| !document.deleted);
            let wanted = expected(&at, &since, |id, body| body.contains(&member) && ids.iter().any(|named| named == id));
            let wanted: Vec<Change> = wanted.into_iter().filter(|change| !change.deleted).collect();
            prop_assert_eq!(&all(at.changes(since.clone()).filtered(&both)), &wanted);
        }
        for query in [in_group(group), in_group(group).without_indexes()] {
            let mut wanted = expected(&at, &Position::START, |_, body| body.contains(&member));
            wanted.reverse();
            let filter = ChangeFilter::matching(query).unwrap();
            prop_assert_eq!(&all(at.changes_backward().filtered(&filter)), &wanted);
        }
        // Taken up again behind each of its changes, the feed goes on.
        let filter = ChangeFilter::matching(in_group(group)).unwrap();
        let (mut taken, mut position) = (Vec::new(), Position::START);
        loop {
            let mut feed = at.changes(position).filtered(&filter);
            let Some(change) = feed.next().transpose().unwrap() else { break };
            taken.push(change);
            position = feed.position().clone();
        }
        prop_assert_eq!(taken, all(at.changes(Seq::ZERO).filtered(&filter)));
    }
}

#[test]
fn following_wakes_for_what_matches_and_passes_over_what_does_not() {
    let store = Store::memory().unwrap();
    let collection = filled(&store, "things", true);
    let filter = ChangeFilter::matching(in_group(3)).unwrap();
    let mut follow = collection.follow(store.engine().head()).filtered(&filter);
    assert_eq!(follow.next_timeout(Duration::ZERO).unwrap(), None);
    collection.put("x", body(4, 0)).unwrap();
    collection.put("y", body(3, 0)).unwrap();
    collection.put("z", body(5, 0)).unwrap();
    let change = follow.next_timeout(Duration::from_mins(1)).unwrap().unwrap();
    assert_eq!(change.id, "y");
    assert_eq!(follow.next_timeout(Duration::ZERO).unwrap(), None);
    assert_eq!(follow.position(), &Position::from(store.engine().head()), "what was left out is behind it");
}

#[test]
fn a_filter_takes_conditions_only() {
    use recension::engine::Direction;
    for query in [
        Query::new().limit(1),
        Query::new().skip(1),
        Query::new().sort("a", Direction::Forward),
        Query::new().select(["a"]),
    ] {
        assert!(ChangeFilter::matching(query).is_err());
    }
    assert!(ChangeFilter::ids((0..100_001).map(|i| i.to_string())).is_err());
    assert!(ChangeFilter::ids((0..100_000).map(|i| i.to_string())).is_ok());
}
