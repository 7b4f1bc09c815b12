//! One random history of branches, and what each must have: documents are written and deleted on any branch, also
//! several in a transaction, indexes and views are made and read, branches are made of past and present, compared,
//! merged either way, renamed and dropped, moments get tags, history is given up, documents are erased, collections
//! dropped, and the store is opened again, in order and after a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use recension::engine::Retention;
use recension::{
    At, Conflicts, Emitted, Expect, IndexSpec, ListOptions, MapInput, MergeOptions, Query, Store, ValueRange, View,
    ViewOptions, ViewRange, Write,
};
use recension_conformance::sim::Rng;

use crate::histories::Place;

/// What a branch has: the texts of its documents.
type Map = BTreeMap<String, String>;

/// The model: branches, and named moments.
#[derive(Default)]
struct Model {
    branches: BTreeMap<String, Map>,
    /// The branch of a tag, and what it had.
    tags: BTreeMap<String, (String, Map)>,
    /// Which branch came from which; a parent cannot be dropped.
    parents: BTreeMap<String, String>,
    numbered: u64,
}

const MAIN: &str = "main";
const COLLECTION: &str = "things";
const BRANCHES_MAX: usize = 12;

fn all(store: &Store, at: At) -> Map {
    let Ok(collection) = store.collection(COLLECTION).unwrap().at(at) else { panic!("{at} cannot be read") };
    let listed = collection.list(&ListOptions::default()).unwrap();
    listed.map(Result::unwrap).map(|one| (one.id.to_string(), one.body.to_string())).collect()
}

/// The texts of all leaves of all documents, by id. More than one: replicas are in conflict.
fn leaves_of(store: &Store) -> BTreeMap<String, Vec<Option<String>>> {
    let now = store.collection(COLLECTION).unwrap().at(At::Now).unwrap();
    let ids = (0..IDS).map(|n| format!("d{n}"));
    let of = |id: &String| {
        let found = now.leaves(id).unwrap().into_iter().enumerate().map(|(number, leaf)| {
            let revision = now.leaf_revision(id, &leaf, number == 0).unwrap();
            revision.filter(|revision| !revision.deleted).map(|revision| revision.body)
        });
        found.collect()
    };
    ids.map(|id| (id.clone(), of(&id))).collect()
}

const IDS: usize = 8;

/// A store, and the model of it.
pub(crate) struct Run {
    place: Place,
    store: Store,
    model: Model,
    rng: Rng,
    last: &'static str,
}

impl Run {
    pub(crate) fn new(place: Place, rng: Rng) -> Self {
        let store = place.open();
        store.collection(COLLECTION).unwrap().create_index(IndexSpec::new("a", "a"), |_| {}).unwrap();
        let mut model = Model::default();
        model.branches.insert(MAIN.to_owned(), Map::new());
        Run { place, store, model, rng, last: "" }
    }

    /// The step that was taken last.
    pub(crate) fn told(&self) -> &str {
        self.last
    }

    fn below(&mut self, count: usize) -> usize {
        self.rng.index(count)
    }

    fn pick(&mut self, from: &[String]) -> String {
        from[self.rng.index(from.len())].clone()
    }

    fn body(&mut self) -> String {
        let (a, b, c) = (self.below(5), self.below(5), self.below(3));
        if c == 0 { format!(r#"{{"a":{a},"b":{b}}}"#) } else { format!(r#"{{"a":{a},"b":{b},"c":[{c}]}}"#) }
    }

    fn some_branch(&mut self) -> String {
        let names: Vec<String> = self.model.branches.keys().cloned().collect();
        self.pick(&names)
    }

    fn open(&self, name: &str) -> Store {
        self.store.open_branch(name).unwrap()
    }

    pub(crate) fn step(&mut self) {
        let (name, step): (_, fn(&mut Self)) = match self.below(100) {
            0..40 => ("write", Self::write),
            40..45 => ("write several", Self::write_several),
            45..51 => ("make", Self::make),
            51..55 => ("drop", Self::drop_one),
            55..59 => ("tag", Self::tag),
            59..62 => ("untag", Self::untag),
            62..69 => ("compare", Self::compare),
            69..79 => ("merge", Self::merge),
            79..82 => ("query", Self::query),
            82..85 => ("view", Self::view),
            85..87 => ("index", Self::index),
            87..89 => ("rename", Self::rename),
            89..91 => ("give up history", Self::give_up_history),
            91..92 => ("erase", Self::erase),
            92..93 => ("drop a collection", Self::drop_collection),
            93..94 => ("open again", Self::open_again),
            94..95 => ("crash", Self::crash),
            _ => ("check", Self::check_one),
        };
        self.last = name;
        step(self);
    }

    fn write(&mut self) {
        let (branch, id, deletes) = (self.some_branch(), format!("d{}", self.below(IDS)), self.below(4) == 0);
        let store = self.open(&branch);
        let things = store.collection(COLLECTION).unwrap();
        if !deletes {
            let text = self.body();
            things.write(Write::put(&id, &text).unwrap().expecting(Expect::Anything)).unwrap();
            self.map(&branch).insert(id, text);
            return;
        }
        let mut others = leaves_of(&store).remove(&id).unwrap_or_default();
        let found = things.get(&id).unwrap();
        assert_eq!(found.as_ref().map(|found| &*found.body), self.map(&branch).get(&id).map(String::as_str));
        let Some(found) = found else { return };
        things.delete(&id, &found.rev).unwrap();
        // Of a conflict the next leaf shows.
        let shown = things.get(&id).unwrap().map(|found| found.body.into_owned());
        others.remove(0);
        assert!(
            others.contains(&shown) || shown.is_none() && others.iter().all(Option::is_none),
            "{others:?} {shown:?}"
        );
        match shown {
            Some(text) => self.map(&branch).insert(id, text),
            None => self.map(&branch).remove(&id),
        };
    }

    fn map(&mut self, branch: &str) -> &mut Map {
        self.model.branches.get_mut(branch).unwrap()
    }

    fn write_several(&mut self) {
        let branch = self.some_branch();
        let tx = self.open(&branch).begin().unwrap();
        let things = tx.collection(COLLECTION).unwrap();
        let mut written = Map::new();
        for _ in 0..3 {
            let (id, text) = (format!("d{}", self.below(IDS)), self.body());
            things.write(Write::put(&id, &text).unwrap().expecting(Expect::Anything)).unwrap();
            written.insert(id, text);
        }
        if self.below(3) > 0 {
            tx.commit().unwrap();
            self.map(&branch).extend(written);
        }
    }

    fn make(&mut self) {
        if self.model.branches.len() >= BRANCHES_MAX {
            return;
        }
        self.model.numbered += 1;
        let name = format!("b{}", self.model.numbered);
        let tags: Vec<String> = self.model.tags.keys().cloned().collect();
        let (from, at, map) = if !tags.is_empty() && self.below(3) == 0 {
            let tag = self.pick(&tags);
            let (branch, map) = self.model.tags[&tag].clone();
            (branch, format!("tag:{tag}").parse().unwrap(), map)
        } else {
            let from = self.some_branch();
            let map = self.model.branches[&from].clone();
            (from, At::Now, map)
        };
        match self.open(&from).branch(&name, at) {
            Ok(_) => {
                self.model.branches.insert(name.clone(), map);
                self.model.parents.insert(name, from);
            }
            Err(error) => assert!(error.to_string().contains("at most 8 deep"), "{error}"),
        }
    }

    fn drop_one(&mut self) {
        let name = self.some_branch();
        if name == MAIN {
            return;
        }
        let needed = self.model.parents.values().any(|parent| *parent == name)
            || self.model.tags.values().any(|(branch, _)| *branch == name);
        let dropped = self.store.drop_branch(&name);
        assert_eq!(dropped.is_err(), needed, "{dropped:?}");
        if !needed {
            self.model.branches.remove(&name);
            self.model.parents.remove(&name);
        }
    }

    fn tag(&mut self) {
        if self.model.tags.len() >= 5 {
            return;
        }
        self.model.numbered += 1;
        let (name, branch) = (format!("t{}", self.model.numbered), self.some_branch());
        self.open(&branch).tag(&name, At::Now).unwrap();
        let map = self.model.branches[&branch].clone();
        self.model.tags.insert(name, (branch, map));
    }

    fn untag(&mut self) {
        let names: Vec<String> = self.model.tags.keys().cloned().collect();
        if names.is_empty() {
            return assert!(!self.store.untag("none").unwrap());
        }
        let name = self.pick(&names);
        assert!(self.store.untag(&name).unwrap());
        self.model.tags.remove(&name);
    }

    fn compare(&mut self) {
        let (one, other) = (self.some_branch(), self.some_branch());
        let found = self.open(&one).diff_with(&self.open(&other)).unwrap();
        let mut told = BTreeSet::new();
        for found in found {
            let (_, difference) = found.unwrap();
            let bodies = |side: &Option<recension::Document<'_>>| side.as_ref().map(|one| one.body.to_string());
            // Equal texts of different revisions are told too.
            let (before, after) =
                (self.model.branches[&one].get(&difference.id), self.model.branches[&other].get(&difference.id));
            assert_eq!((bodies(&difference.before).as_ref(), bodies(&difference.after).as_ref()), (before, after));
            told.insert(difference.id);
        }
        for id in self.model.branches[&one].keys().chain(self.model.branches[&other].keys()) {
            let same = self.model.branches[&one].get(id) == self.model.branches[&other].get(id);
            assert!(same || told.contains(id), "{id} of {one} and {other} is not told");
        }
    }

    /// A merge takes what only the other side changed since the two were one; of what both changed, each member is that
    /// of one of the sides. Where no side shall win, both leaves stay.
    fn merge(&mut self) {
        let (from, into) = (self.some_branch(), self.some_branch());
        if from == into {
            return;
        }
        let (theirs, ours) = (self.open(&from), self.open(&into));
        let conflicts = [Conflicts::Ours, Conflicts::Theirs, Conflicts::Fields, Conflicts::Abort][self.below(4)];
        let options = MergeOptions { conflicts, ..MergeOptions::default() };
        let look = MergeOptions { dry_run: true, ..options.clone() };
        let told = ours.merge_from(&theirs, &look).unwrap();
        assert_eq!(all(&ours, At::Now), self.model.branches[&into], "a look writes nothing");
        let leaves = [leaves_of(&ours), leaves_of(&theirs)];
        let merged = ours.merge_from(&theirs, &options).unwrap();
        assert_eq!((told.taken, told.combined, told.conflicted), (merged.taken, merged.combined, merged.conflicted));
        let after = all(&ours, At::Now);
        if conflicts == Conflicts::Abort && merged.conflicted > 0 {
            assert_eq!((merged.commit, after), (None, self.model.branches[&into].clone()), "nothing is written");
            return;
        }
        for (id, text) in &after {
            let sides = [self.model.branches[&into].get(id), self.model.branches[&from].get(id)];
            let is_one = leaves.iter().any(|side| side[id].iter().flatten().any(|leaf| leaf == text));
            let mixed = sides[0].zip(sides[1]).is_some_and(|(one, other)| is_of_both(text, one, other));
            assert!(is_one || mixed, "{id} is {text} after a merge of {sides:?}");
        }
        let now = leaves_of(&ours);
        for (id, text) in &self.model.branches[&into] {
            if self.model.branches[&from].get(id) == Some(text) {
                // A side that is in conflict brings leaves of which another may win, by the rule of all replicas.
                let is_plain = leaves.iter().all(|side| side[id].iter().flatten().count() == 1);
                assert!(now[id].contains(&Some(text.clone())), "what both have stays: {id}, {leaves:?}, {now:?}");
                assert!(!is_plain || after.get(id) == Some(text), "it wins without a conflict: {id}, {leaves:?}");
            }
        }
        self.model.branches.insert(into.clone(), after);
        assert_eq!(all(&theirs, At::Now), self.model.branches[&from], "the merged side stays");
        let again = ours.merge_from(&theirs, &options).unwrap();
        assert_eq!((again.commit, again.taken, again.combined), (None, 0, 0), "twice is once");
    }

    fn query(&mut self) {
        let (branch, a) = (self.some_branch(), self.below(5));
        let query = Query::new().matching("a", ValueRange::equal(i64::try_from(a).unwrap()));
        let found = self.open(&branch).collection(COLLECTION).unwrap().find(&query).unwrap();
        let found: BTreeSet<String> = found.map(|one| one.unwrap().id.to_string()).collect();
        let has = |text: &str| text.starts_with(&format!("{{\"a\":{a},"));
        let expected = self.model.branches[&branch].iter().filter(|(_, text)| has(text)).map(|(id, _)| id.clone());
        assert_eq!(found, expected.collect());
    }

    fn view(&mut self) {
        let (branch, b) = (self.some_branch(), self.below(5));
        let by_b = |input: &MapInput| {
            let body: serde_json::Value = serde_json::from_str(&input.document.body).unwrap();
            vec![Emitted { key: body["b"].to_string(), value: "1".to_owned() }]
        };
        let view = View::new("by b", ViewOptions::default(), Arc::new(by_b)).named("by b");
        let read = self.open(&branch).collection(COLLECTION).unwrap().views().get(&view).unwrap();
        let found = read.rows(&ViewRange::key(b.to_string())).unwrap().map(|row| row.unwrap().id);
        let has = |text: &str| text.contains(&format!("\"b\":{b}"));
        let expected = self.model.branches[&branch].iter().filter(|(_, text)| has(text)).map(|(id, _)| id.clone());
        assert_eq!(found.collect::<BTreeSet<_>>(), expected.collect());
    }

    /// One of two indexes of a name of their own is made, made anew with other members, or dropped.
    fn index(&mut self) {
        let (branch, name) = (self.some_branch(), ["i", "j"][self.below(2)]);
        let things = self.open(&branch).collection(COLLECTION).unwrap();
        let there = things.indexes().unwrap().iter().any(|index| index.spec.name == name);
        if there {
            things.drop_index(name).unwrap();
        }
        if !there || self.below(2) == 0 {
            let path = ["a", "b", "c"][self.below(3)];
            things.create_index(IndexSpec::new(name, path), |_| {}).unwrap();
        }
    }

    fn rename(&mut self) {
        let name = self.some_branch();
        if name == MAIN {
            return;
        }
        self.model.numbered += 1;
        let to = format!("b{}", self.model.numbered);
        self.store.rename_branch(&name, &to).unwrap();
        let map = self.model.branches.remove(&name).unwrap();
        self.model.branches.insert(to.clone(), map);
        if let Some(parent) = self.model.parents.remove(&name) {
            self.model.parents.insert(to.clone(), parent);
        }
        for parent in self.model.parents.values_mut().filter(|parent| **parent == name) {
            parent.clone_from(&to);
        }
        for (branch, _) in self.model.tags.values_mut().filter(|(branch, _)| *branch == name) {
            branch.clone_from(&to);
        }
    }

    fn give_up_history(&mut self) {
        let keeps = if self.below(2) == 0 { Retention::Everything } else { Retention::HeadOnly };
        let branch = self.some_branch();
        self.open(&branch).collection(COLLECTION).unwrap().settings().set_retention(keeps).unwrap();
        self.store.compact().unwrap();
    }

    /// What is erased is on no branch, at no moment.
    fn erase(&mut self) {
        let id = format!("d{}", self.below(IDS));
        self.store.collection(COLLECTION).unwrap().erase([id.clone()]).unwrap();
        let maps = self.model.branches.values_mut().chain(self.model.tags.values_mut().map(|(_, map)| map));
        for map in maps {
            map.remove(&id);
        }
    }

    fn drop_collection(&mut self) {
        let branch = self.some_branch();
        let there = self.open(&branch).drop_collection(COLLECTION).unwrap();
        assert!(there || self.map(&branch).is_empty());
        self.map(&branch).clear();
    }

    fn open_again(&mut self) {
        if self.place.lasts() {
            self.store = Store::memory().unwrap();
            self.store = self.place.open();
        }
    }

    fn crash(&mut self) {
        self.place.crash(&mut self.rng);
        self.open_again();
    }

    fn check_one(&mut self) {
        let branch = self.some_branch();
        let store = self.open(&branch);
        assert_eq!(all(&store, At::Now), self.model.branches[&branch], "{branch}");
        assert_eq!(store.check(At::Now).unwrap().problems, []);
        for (tag, (branch, map)) in &self.model.tags {
            let (store, at) = (self.open(branch), format!("tag:{tag}").parse().unwrap());
            // A collection that was made anew has no past of the former one.
            let made = store.collection(COLLECTION).unwrap().settings().made().unwrap();
            let is_later = made.is_some_and(|made| made.seq > store.resolve(at).unwrap());
            let none = Map::new();
            let expected = if is_later { &none } else { map };
            assert_eq!(all(&store, at), *expected, "tag {tag} of {branch}");
        }
    }
}

/// Whether each member is that of one of the sides.
fn is_of_both(text: &str, one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).unwrap();
    let (merged, one, other) = (read(text), read(one), read(other));
    merged.iter().all(|(name, value)| one.get(name) == Some(value) || other.get(name) == Some(value))
}
