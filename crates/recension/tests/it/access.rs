//! The index of access: it has what the leaves of the documents call for, at every moment, and every document that lost
//! a value since it is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::atomic::AtomicBool;

use recension::engine::{Direction, Seq};
use recension::{
    AccessAt, AccessMarks, At, Collection, CollectionAt, ListOptions, Path, Position, Query, ReplicatedWrite, RevId,
    Selector, Store, Write,
};
use serde_json::{Value, json};

use crate::chance::Chance;

const NAMES: [&str; 4] = ["ada", "bob", "eve", "zoe"];

fn paths() -> Vec<Path> {
    ["owner", "team.of"].map(|path| path.parse().unwrap()).to_vec()
}

fn body(chance: &mut Chance) -> Value {
    let mut name = || chance.pick(&NAMES);
    let (owner, first, second) = (name(), name(), name());
    match chance.below(6) {
        0 => json!({ "owner": [owner, first, 1], "n": 1 }),
        1 => json!({ "team": { "of": [first, second] } }),
        2 => json!({ "owner": owner, "team": { "of": first } }),
        3 => json!({ "n": 3 }),
        4 => json!({ "owner": { "name": owner }, "n": chance.below(9) }),
        _ => json!({ "owner": owner, "n": chance.below(9) }),
    }
}

fn change(people: &Collection, chance: &mut Chance, step: usize) {
    let id = format!("d{}", chance.below(14));
    let rev = people.get(&id).unwrap().map(|document| document.rev);
    match (chance.below(12), rev) {
        (0 | 1, Some(rev)) => drop(people.delete(&id, &rev).unwrap()),
        (2, Some(_)) => {
            let leaves = people.replication().leaves(&id).unwrap();
            let rev = leaves[chance.below(leaves.len())].rev;
            people.replication().purge(&id, &[rev]).unwrap();
        }
        (3, Some(_)) => drop(people.erase([id]).unwrap()),
        (4 | 5, _) => {
            let hash = |n: usize| -> RevId { format!("{n}-{:032x}", step * 10 + n).parse().unwrap() };
            let deleted = chance.one_in(4);
            let write = ReplicatedWrite::new(&id, hash(2), &[hash(1)], deleted, body(chance).to_string()).unwrap();
            people.replication().merge_revisions([write]).unwrap().remove(0).unwrap();
        }
        (6, _) => {
            let some =
                (0..5).map(|n| Write::put(&format!("d{}", (n * 3 + step) % 14), body(chance).to_string()).unwrap());
            people.bulk(some).unwrap().into_iter().for_each(|own| drop(own.unwrap()));
        }
        (7, _) if chance.one_in(2) => drop(people.put("_design/x", json!({ "n": step }).to_string()).unwrap()),
        _ => drop(people.put(&id, body(chance).to_string()).unwrap()),
    }
}

/// The documents of which a leaf that is no deletion has one of some names at a path.
fn naive(at: &CollectionAt, names: &[&str]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for document in at.list(&ListOptions { deleted: true, ..ListOptions::default() }).unwrap() {
        let id = document.unwrap().id.to_string();
        for (number, leaf) in at.leaves(&id).unwrap().into_iter().enumerate().filter(|(_, leaf)| !leaf.deleted) {
            let body: Value =
                serde_json::from_str(&at.leaf_revision(&id, &leaf, number == 0).unwrap().unwrap().body).unwrap();
            let values = [&body["owner"], &body["team"]["of"]];
            let all = values.into_iter().flat_map(|value| match value {
                Value::Array(elements) => elements.iter().collect(),
                value => vec![value],
            });
            if id.starts_with("_design/") || all.into_iter().filter_map(Value::as_str).any(|own| names.contains(&own)) {
                found.insert(id.clone());
            }
        }
    }
    found
}

fn marks(access: &AccessAt, names: &[&str]) -> AccessMarks {
    let texts: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let paths = paths();
    access.marks(paths.iter().flat_map(|path| texts.iter().map(move |text| (path, text.as_str())))).unwrap()
}

fn ids(access: &AccessAt, marks: &AccessMarks, direction: Direction) -> Vec<String> {
    let found = access.ids(marks, Bound::Unbounded, Bound::Unbounded, direction).unwrap();
    found.map(|id| id.unwrap()).collect()
}

/// What the index says at a moment is what the documents say; and of what was there at moments before.
fn agrees(people: &Collection, at: &CollectionAt, moments: &[Seq]) {
    let access = at.access().unwrap().expect("it is ready");
    for names in [&["ada"][..], &["bob", "zoe"], &[]] {
        let marks = marks(&access, names);
        let expected: Vec<String> = naive(at, names).into_iter().collect();
        assert_eq!(ids(&access, &marks, Direction::Forward), expected, "{names:?} as of {}", at.seq());
        let mut backward = ids(&access, &marks, Direction::Backward);
        backward.reverse();
        assert_eq!(backward, expected);
        for before in moments.iter().filter(|before| **before >= access.since()) {
            let before = people.at(At::Seq(*before)).unwrap();
            let had = naive(&before, names);
            let told: Vec<(String, Position)> =
                access.changes(&marks, &Position::from(before.seq())).unwrap().map(|own| own.unwrap()).collect();
            let order: Vec<(Seq, &str)> = told.iter().map(|(id, position)| (position.seq(), id.as_str())).collect();
            assert!(order.is_sorted(), "{order:?}");
            let told_ids: BTreeSet<String> = told.iter().map(|(id, _)| id.clone()).collect();
            assert_eq!(told_ids.len(), told.len(), "each once: {told:?}");
            let changed = |id: &String| at.written_at(id).unwrap().is_some_and(|seq| seq > before.seq());
            let wanted: BTreeSet<String> = had.iter().chain(&expected).filter(|id| changed(id)).cloned().collect();
            let missing: Vec<&String> = wanted.difference(&told_ids).collect();
            assert!(missing.is_empty(), "{names:?}, {} to {}: {missing:?}", before.seq(), at.seq());
            // In pages it is the same.
            for (number, (_, position)) in told.iter().enumerate() {
                let rest = access.changes(&marks, position).unwrap().next().map(|own| own.unwrap());
                assert_eq!(rest.as_ref(), told.get(number + 1));
            }
        }
    }
}

#[test]
fn an_index_of_access_has_what_the_leaves_call_for() {
    for seed in 1..=12 {
        let mut chance = Chance(seed);
        let store = Store::memory().unwrap();
        let people = store.collection("people").unwrap();
        let begins = chance.below(40);
        let (mut moments, mut built) = (Vec::new(), false);
        for step in 0..120 {
            change(&people, &mut chance, step + 1);
            if step == begins {
                people.settings().set_access(&paths()).unwrap();
            }
            if step == begins + 5 {
                people.settings().build_access(&AtomicBool::new(false)).unwrap();
                built = true;
            }
            if built && chance.one_in(4) {
                let at = people.at(At::Now).unwrap();
                agrees(&people, &at, &moments);
                let report = store.check(At::Now).unwrap();
                assert_eq!(report.problems, [], "seed {seed}, step {step}");
            }
            if step > begins && chance.one_in(6) {
                moments.push(people.at(At::Now).unwrap().seq());
            }
        }
        // At every moment since it was ready, though it knows no more than then.
        for before in &moments {
            let before = people.at(At::Seq(*before)).unwrap();
            if before.access().unwrap().is_some() {
                agrees(&people, &before, &[]);
            }
        }
    }
}

#[test]
fn a_query_goes_by_the_index_of_access_if_that_reads_less() {
    let store = Store::memory().unwrap();
    let people = store.collection("people").unwrap();
    people.settings().set_access(&paths()).unwrap();
    let owner = |n: usize| if n.is_multiple_of(50) { "ada" } else { "bob" };
    let all =
        (0..1000).map(|n| Write::put(&format!("d{n:04}"), json!({ "owner": owner(n), "n": n }).to_string()).unwrap());
    people.bulk(all).unwrap();
    let at = people.at(At::Now).unwrap();
    let marks = marks(&at.access().unwrap().unwrap(), &["ada"]);
    let rule = Selector::from_json(r#"{"owner":"ada","n":{"$gte":500}}"#).unwrap();
    let query = Query::new().selecting(rule).sort("n", Direction::Backward);
    let own = query.clone().among(marks.clone());
    let found = |query: &Query| -> Vec<String> {
        at.find(query).unwrap().map(|document| document.unwrap().id.to_string()).collect()
    };
    assert_eq!(found(&own), found(&query));
    let mut answer = at.find(&own).unwrap();
    while answer.next().is_some() {}
    assert_eq!((answer.plan().index.as_deref(), answer.examined()), (Some("_access"), (20, 20)));
    // Values of an index that is no more are no values of the next.
    people.settings().set_access(&[]).unwrap();
    people.settings().set_access(&paths()[..1]).unwrap();
    people.settings().build_access(&AtomicBool::new(false)).unwrap();
    let now = people.at(At::Now).unwrap();
    assert!(!now.access().unwrap().unwrap().serves(&marks));
    assert_eq!(now.find(&own).unwrap().count(), 10);
}

#[test]
fn what_cannot_be_an_index_of_access_is_refused() {
    let people = Store::memory().unwrap().collection("people").unwrap();
    let path = |text: &str| -> Path { text.parse().unwrap() };
    assert!(people.settings().set_access(&[path("tags[]")]).is_err());
    let many: Vec<Path> = (0..17).map(|n| path(&format!("p{n}"))).collect();
    assert!(people.settings().set_access(&many).is_err());
    assert!(people.at(At::Now).unwrap().access().unwrap().is_none());
    people.settings().set_access(&many[..2]).unwrap();
    let access = people.at(At::Now).unwrap().access().unwrap().unwrap();
    assert!(access.has(&many[1]) && !access.has(&many[2]));
    let asked: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    assert!(access.marks(asked.iter().map(|text| (&many[0], text.as_str()))).is_none(), "too many");
    // One that has all of the paths stays.
    people.put("a", r#"{"p1":"x"}"#).unwrap();
    people.settings().set_access(&many[1..2]).unwrap();
    assert!(people.at(At::Now).unwrap().access().unwrap().unwrap().has(&many[0]));
}

#[test]
fn a_build_that_was_broken_off_is_gone_on_with_by_who_opens_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("db").to_string_lossy().into_owned();
    {
        let people = recension::open(&path).unwrap().collection("people").unwrap();
        let all = (0..3000).map(|n| Write::put(&format!("d{n}"), r#"{"owner":"ada"}"#).unwrap());
        people.bulk(all).unwrap();
        people.settings().set_access(&paths()).unwrap();
    }
    let people = recension::open(&path).unwrap().collection("people").unwrap();
    people.settings().build_access(&AtomicBool::new(false)).unwrap();
    let access = people.at(At::Now).unwrap().access().unwrap().unwrap();
    let found: BTreeMap<&str, usize> =
        NAMES.map(|name| (name, ids(&access, &marks(&access, &[name]), Direction::Forward).len())).into();
    assert_eq!((found["ada"], found["bob"]), (3000, 0));
}
