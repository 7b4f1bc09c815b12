//! Random histories of branches against a model in which a branch is a copy of a map: documents are written and deleted
//! on any branch, branches are made of past and present, compared, merged, renamed and dropped, moments get tags,
//! history is given up, documents are erased, and the store is opened again. `RECENSION_STEPS=n` makes longer ones,
//! `RECENSION_SEED=n` one again; a million steps with `RECENSION_LONG`.

use std::collections::{BTreeMap, BTreeSet};

use recension::engine::Retention;
use recension::{At, Conflicts, Expect, IndexSpec, MergeOptions, Query, Store, ValueRange};

use crate::chance::Chance;

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

fn body(chance: &mut Chance) -> String {
    let (a, b, c) = (chance.below(5), chance.below(5), chance.below(3));
    if c == 0 { format!(r#"{{"a":{a},"b":{b}}}"#) } else { format!(r#"{{"a":{a},"b":{b},"c":[{c}]}}"#) }
}

fn all(store: &Store, at: At) -> Map {
    let Ok(collection) = store.collection(COLLECTION).unwrap().at(at) else { panic!("{at} cannot be read") };
    let listed = collection.list(&recension::ListOptions::default()).unwrap();
    listed.map(Result::unwrap).map(|one| (one.id.to_string(), one.body.to_string())).collect()
}

/// A store, and the model of it.
struct Run {
    folder: tempfile::TempDir,
    /// Whether it is in the folder, so that it can be opened again.
    in_files: bool,
    store: Store,
    model: Model,
    chance: Chance,
}

impl Run {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Three in four are in memory, where a step takes a fifth of the time.
        let in_files = seed % 4 == 1;
        let place = if in_files { folder.path().join("store").display().to_string() } else { "memory:".to_owned() };
        let store = recension::open(&place).unwrap();
        store.collection(COLLECTION).unwrap().create_index(IndexSpec::new("a", "a"), |_| {}).unwrap();
        let mut model = Model::default();
        model.branches.insert(MAIN.to_owned(), Map::new());
        Run { folder, in_files, store, model, chance: Chance(seed) }
    }

    fn some_branch(&mut self) -> String {
        let names: Vec<String> = self.model.branches.keys().cloned().collect();
        self.chance.pick(&names)
    }

    fn open(&self, name: &str) -> Store {
        self.store.open_branch(name).unwrap()
    }

    fn step(&mut self) {
        match self.chance.below(100) {
            0..50 => self.write(),
            50..56 => self.make(),
            56..60 => self.drop_one(),
            60..64 => self.tag(),
            64..67 => self.untag(),
            67..75 => self.compare(),
            75..85 => self.merge(),
            85..90 => self.query(),
            90..92 => self.rename(),
            92..94 => self.give_up_history(),
            94..95 => self.erase(),
            95..97 => self.open_again(),
            _ => self.check_one(),
        }
    }

    fn write(&mut self) {
        let branch = self.some_branch();
        let store = self.open(&branch);
        let things = store.collection(COLLECTION).unwrap();
        let id = format!("d{}", self.chance.below(8));
        let map = self.model.branches.get_mut(&branch).unwrap();
        if self.chance.below(4) == 0 {
            assert_eq!(things.get(&id).unwrap().is_some(), map.remove(&id).is_some());
            if let Some(found) = things.get(&id).unwrap() {
                things.delete(&id, &found.rev).unwrap();
            }
        } else {
            let text = body(&mut self.chance);
            things.write(recension::Write::put(&id, &text).unwrap().expecting(Expect::Anything)).unwrap();
            map.insert(id, text);
        }
    }

    fn make(&mut self) {
        if self.model.branches.len() >= 6 {
            return;
        }
        self.model.numbered += 1;
        let name = format!("b{}", self.model.numbered);
        let tags: Vec<String> = self.model.tags.keys().cloned().collect();
        let (from, at, map) = if !tags.is_empty() && self.chance.below(3) == 0 {
            let tag = self.chance.pick(&tags);
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
        let name = self.chance.pick(&names);
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
    /// of one of the sides. Who wins is asked for, so that no conflict stays.
    fn merge(&mut self) {
        let (from, into) = (self.some_branch(), self.some_branch());
        if from == into {
            return;
        }
        let (theirs, ours) = (self.open(&from), self.open(&into));
        let conflicts = if self.chance.below(2) == 0 { Conflicts::Ours } else { Conflicts::Theirs };
        let options = MergeOptions { conflicts, ..MergeOptions::default() };
        let look = MergeOptions { dry_run: true, ..options.clone() };
        let told = ours.merge_from(&theirs, &look).unwrap();
        assert_eq!(all(&ours, At::Now), self.model.branches[&into], "a look writes nothing");
        let merged = ours.merge_from(&theirs, &options).unwrap();
        assert_eq!((told.taken, told.combined, told.conflicted), (merged.taken, merged.combined, merged.conflicted));
        let after = all(&ours, At::Now);
        for (id, text) in &after {
            let sides = [self.model.branches[&into].get(id), self.model.branches[&from].get(id)];
            let is_one = sides.into_iter().flatten().any(|side| side == text);
            let mixed = sides[0].zip(sides[1]).is_some_and(|(one, other)| is_of_both(text, one, other));
            assert!(is_one || mixed, "{id} is {text} after a merge of {sides:?}");
        }
        for (id, text) in &self.model.branches[&into] {
            if self.model.branches[&from].get(id) == Some(text) {
                assert_eq!(after.get(id), Some(text), "what both have stays");
            }
        }
        self.model.branches.insert(into.clone(), after);
        assert_eq!(all(&theirs, At::Now), self.model.branches[&from], "the merged side stays");
        let again = ours.merge_from(&theirs, &options).unwrap();
        assert_eq!((again.commit, again.taken, again.combined), (None, 0, 0), "twice is once");
    }

    fn query(&mut self) {
        let (branch, a) = (self.some_branch(), self.chance.below(5));
        let query = Query::new().matching("a", ValueRange::equal(i64::try_from(a).unwrap()));
        let found = self.open(&branch).collection(COLLECTION).unwrap().find(&query).unwrap();
        let found: BTreeSet<String> = found.map(|one| one.unwrap().id.to_string()).collect();
        let has = |text: &str| text.starts_with(&format!("{{\"a\":{a},"));
        let expected = self.model.branches[&branch].iter().filter(|(_, text)| has(text)).map(|(id, _)| id.clone());
        assert_eq!(found, expected.collect());
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
        let keeps = if self.chance.below(2) == 0 { Retention::Everything } else { Retention::HeadOnly };
        self.store.collection(COLLECTION).unwrap().settings().set_retention(keeps).unwrap();
        self.store.engine().settle().unwrap();
    }

    /// What is erased is on no branch, at no moment.
    fn erase(&mut self) {
        let id = format!("d{}", self.chance.below(8));
        self.store.collection(COLLECTION).unwrap().erase([id.clone()]).unwrap();
        let maps = self.model.branches.values_mut().chain(self.model.tags.values_mut().map(|(_, map)| map));
        for map in maps {
            map.remove(&id);
        }
    }

    fn open_again(&mut self) {
        if !self.in_files {
            return;
        }
        let place = self.folder.path().join("store").display().to_string();
        self.store = Store::memory().unwrap();
        self.store = recension::open(&place).unwrap();
    }

    fn check_one(&mut self) {
        let branch = self.some_branch();
        let store = self.open(&branch);
        assert_eq!(all(&store, At::Now), self.model.branches[&branch], "{branch}");
        assert_eq!(store.check(At::Now).unwrap().problems, []);
        for (tag, (branch, map)) in &self.model.tags {
            assert_eq!(all(&self.open(branch), format!("tag:{tag}").parse().unwrap()), *map, "tag {tag} of {branch}");
        }
    }
}

/// Whether each member is that of one of the sides.
fn is_of_both(text: &str, one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).unwrap();
    let (merged, one, other) = (read(text), read(one), read(other));
    merged.iter().all(|(name, value)| one.get(name) == Some(value) || other.get(name) == Some(value))
}

fn histories(seeds: impl Iterator<Item = u64>, steps: u64) {
    for seed in seeds {
        let mut run = Run::new(seed);
        for step in 0..steps {
            let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.step()));
            if let Err(panic) = told {
                eprintln!("RECENSION_SEED={seed}, step {step}");
                std::panic::resume_unwind(panic);
            }
        }
    }
}

#[test]
fn a_branch_is_a_copy_of_a_map_whatever_happens() {
    let number = |name| std::env::var(name).ok().and_then(|text: String| text.parse::<u64>().ok());
    let long = std::env::var_os("RECENSION_LONG").is_some();
    let steps = number("RECENSION_STEPS").unwrap_or(if long { 20_000 } else { 300 });
    match number("RECENSION_SEED") {
        Some(seed) => histories(seed..=seed, steps),
        None => histories(1..=if long { 50 } else { 3 }, steps),
    }
}
