//! Branches and tags of a store of documents: making, dropping, comparing, merging, erasing. Laws of merges are
//! property tests: what did not change changes nothing, merging twice is merging once, disjoint merges have no order.

use std::collections::BTreeMap;

use proptest::prelude::*;
use recension::engine::{EngineError, Retention};
use recension::{At, Conflicts, Error, IndexSpec, MergeOptions, Merged, Query, Selector, Store};

fn store() -> Store {
    recension::open("memory:").expect("a store in memory")
}

fn put(store: &Store, id: &str, body: &str) {
    store.collection("menu").unwrap().put(id, body).unwrap();
}

fn get(store: &Store, id: &str) -> Option<String> {
    store.collection("menu").unwrap().get(id).unwrap().map(|document| document.body.to_string())
}

fn merge(into: &Store, from: &Store) -> Merged {
    into.merge_from(from, &MergeOptions::default()).unwrap()
}

fn all(store: &Store) -> BTreeMap<String, String> {
    let menu = store.collection("menu").unwrap();
    let list = menu.list(&recension::ListOptions::default()).unwrap();
    list.map(|document| document.unwrap())
        .map(|document| (document.id.to_string(), document.body.to_string()))
        .collect()
}

#[test]
fn a_branch_has_its_own_writes_and_its_parents_past() {
    let main = store();
    put(&main, "pizza", r#"{"price":9}"#);
    put(&main, "soup", r#"{"price":5}"#);
    main.collection("menu").unwrap().create_index(IndexSpec::new("price", "price"), |_| ()).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    put(&idea, "pizza", r#"{"price":12}"#);
    put(&main, "soup", r#"{"price":6}"#);
    let soup = idea.collection("menu").unwrap().get("soup").unwrap().unwrap();
    idea.collection("menu").unwrap().delete("soup", &soup.rev).unwrap();
    assert_eq!(get(&main, "pizza").as_deref(), Some(r#"{"price":9}"#));
    assert_eq!((get(&idea, "pizza").as_deref(), get(&idea, "soup")), (Some(r#"{"price":12}"#), None));
    let menu = idea.collection("menu").unwrap();
    assert_eq!(menu.count().unwrap(), 1);
    assert_eq!(menu.history("pizza").unwrap().count(), 2);
    let dear = Query::new().selecting(Selector::from_json(r#"{"price":{"$gt":10}}"#).unwrap());
    let found: Vec<_> = menu.find(&dear).unwrap().map(|found| found.unwrap().id.to_string()).collect();
    assert_eq!(found, ["pizza"]);
    assert_eq!(main.collection("menu").unwrap().count().unwrap(), 2);
    assert!(main.check(At::Now).unwrap().problems.is_empty());
    assert!(idea.check(At::Now).unwrap().problems.is_empty());
    let names: Vec<_> = main.branches().unwrap().into_iter().map(|branch| branch.name).collect();
    assert_eq!(names, ["idea"]);
}

#[test]
fn a_slip_in_an_address_makes_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let place = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    put(&recension::open(&place("store")).unwrap(), "a", "{}");
    for wrong in ["store#", "store#a b", "store#idea", "new#idea", "new#"] {
        let refused = recension::open(&place(wrong)).err();
        assert!(matches!(refused, Some(Error::Engine(EngineError::NoSuchBranch { .. }))), "{wrong}: {refused:?}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    assert!(recension::open(&place("new#main")).unwrap().branch_name().is_none());
}

#[test]
fn branches_are_renamed_dropped_and_refused_with_a_reason() {
    let main = store();
    put(&main, "a", r#"{"n":1}"#);
    let idea = main.branch("idea", At::Now).unwrap();
    put(&idea, "a", r#"{"n":2}"#);
    let deeper = idea.branch("deeper", At::Now).unwrap();
    put(&deeper, "b", r#"{"n":3}"#);
    assert_eq!((get(&deeper, "a").as_deref(), get(&main, "b")), (Some(r#"{"n":2}"#), None));
    for name in ["", "main", "now", "a b", "-x", &"x".repeat(32)] {
        let refused =
            [main.branch(name, At::Now).err(), main.rename_branch("idea", name).err(), main.tag(name, At::Now).err()];
        for refused in refused {
            assert!(matches!(refused, Some(Error::Engine(EngineError::BadBranch { .. }))), "{name}: {refused:?}");
        }
    }
    for refused in [main.branch("idea", At::Now).err(), main.rename_branch("deeper", "idea").err()] {
        assert!(matches!(refused, Some(Error::Engine(EngineError::Branch { .. }))), "{refused:?}");
    }
    for refused in [main.drop_branch("main").err(), main.rename_branch("main", "x").err()] {
        assert!(matches!(refused, Some(Error::Engine(EngineError::BadBranch { .. }))), "{refused:?}");
    }
    for refused in [main.open_branch("none").err(), main.drop_branch("none").err(), deeper.open_branch("none").err()] {
        let Some(Error::Engine(EngineError::NoSuchBranch { name, known })) = refused else { panic!("{refused:?}") };
        assert_eq!((name.as_str(), known), ("none", vec!["idea".to_owned(), "deeper".to_owned()]));
    }
    assert_eq!(deeper.open_branch("main").unwrap().branch_name(), None);
    let needed = main.drop_branch("idea").unwrap_err().to_string();
    assert!(needed.contains("deeper"), "{needed}");
    main.rename_branch("deeper", "deepest").unwrap();
    put(&deeper, "b", r#"{"n":4}"#);
    assert_eq!(get(&main.open_branch("deepest").unwrap(), "b").as_deref(), Some(r#"{"n":4}"#));
    main.drop_branch("deepest").unwrap();
    let write = deeper.collection("menu").unwrap().put("b", "{}").unwrap_err().to_string();
    assert!(write.contains("dropped"), "{write}");
    let read = deeper.collection("menu").unwrap().get("b").unwrap_err().to_string();
    assert!(read.contains("dropped"), "{read}");
    let id = main.branches().unwrap()[0].id;
    assert_eq!(main.name_of_branch(id).unwrap().as_deref(), Some("idea"));
    main.rename_branch("idea", "thought").unwrap();
    assert_eq!(main.name_of_branch(id).unwrap().as_deref(), Some("thought"));
    main.drop_branch("thought").unwrap();
    assert_eq!(
        (main.name_of_branch(id).unwrap(), main.name_of_branch(recension::engine::BranchId(0)).unwrap().as_deref()),
        (None, Some("main"))
    );
    assert!(main.branches().unwrap().is_empty());
    let never = main.open_branch("idea").err().unwrap().to_string();
    assert_eq!(never, "there is no branch idea: it was dropped, or none has been made yet");
    main.branch("idea", At::Now).unwrap();
    let mut deep = main.clone();
    for depth in 0..8 {
        deep = deep.branch(&format!("d{depth}"), At::Now).unwrap();
    }
    assert!(deep.branch("too-deep", At::Now).is_err());
}

#[test]
fn nothing_begins_before_the_first_commit() {
    let main = store();
    put(&main, "a", "{}");
    for at in ["0", "1970-01-02"] {
        let at: At = at.parse().unwrap();
        assert!(matches!(main.branch("empty", at), Err(Error::BadMoment { .. })), "{at}");
        assert!(matches!(main.tag("empty", at), Err(Error::BadMoment { .. })), "{at}");
    }
    assert!(main.branches().unwrap().is_empty() && main.tags().unwrap().is_empty());
}

#[test]
fn tags_keep_their_moment_whatever_retention_says() {
    let main = store();
    put(&main, "a", r#"{"n":1}"#);
    let early = main.resolve(At::Now).unwrap();
    put(&main, "a", r#"{"n":2}"#);
    main.tag("v1", At::Now).unwrap();
    put(&main, "a", r#"{"n":3}"#);
    main.collection("menu").unwrap().settings().set_retention(Retention::HeadOnly).unwrap();
    main.compact().unwrap();
    let then = main.collection("menu").unwrap().at("tag:v1".parse().unwrap()).unwrap();
    assert_eq!(then.get("a").unwrap().unwrap().body, r#"{"n":2}"#);
    for made in [main.tag("early", At::Seq(early)).map(drop), main.branch("early", At::Seq(early)).map(drop)] {
        assert!(matches!(made, Err(Error::Engine(EngineError::Forgotten { .. }))), "{made:?}");
    }
    assert_eq!((main.tags().unwrap().len(), main.branches().unwrap().len()), (1, 0));
    let old = main.branch("old", "tag:v1".parse().unwrap()).unwrap();
    assert_eq!(get(&old, "a").as_deref(), Some(r#"{"n":2}"#));
    assert!(main.untag("v1").unwrap() && !main.untag("v1").unwrap());
    put(&main, "a", r#"{"n":4}"#);
    main.compact().unwrap();
    assert_eq!(get(&old, "a").as_deref(), Some(r#"{"n":2}"#), "the branch needs it still");
    assert!(main.collection("menu").unwrap().at("tag:v1".parse().unwrap()).is_err());
}

#[test]
fn what_is_erased_is_on_no_branch() {
    let main = store();
    put(&main, "a", r#"{"secret":1}"#);
    let idea = main.branch("idea", At::Now).unwrap();
    put(&idea, "a", r#"{"secret":2}"#);
    let deeper = idea.branch("deeper", At::Now).unwrap();
    put(&deeper, "b", r#"{"secret":3}"#);
    let before = main.resolve(At::Now).unwrap();
    assert_eq!(main.collection("menu").unwrap().erase(["a", "b"]).unwrap().documents, 2);
    for store in [&main, &idea, &deeper] {
        for id in ["a", "b"] {
            assert_eq!(get(store, id), None, "{:?} {id}", store.branch_name());
            let then = store.collection("menu").unwrap().at(At::Seq(before)).unwrap();
            assert!(then.get(id).unwrap().is_none(), "{:?} {id}", store.branch_name());
        }
        assert!(store.check(At::Now).unwrap().problems.is_empty());
    }
}

#[test]
fn a_branch_of_before_an_erasure_is_without_it_too() {
    let main = store();
    put(&main, "a", r#"{"secret":1}"#);
    put(&main, "b", r#"{"n":1}"#);
    let before = main.resolve(At::Now).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    main.collection("menu").unwrap().erase(["a"]).unwrap();
    let late = main.branch("late", At::Seq(before)).unwrap();
    for store in [&main, &idea, &late] {
        assert_eq!((get(store, "a"), get(store, "b").is_some()), (None, true), "{:?}", store.branch_name());
        assert_eq!(store.check(At::Now).unwrap().problems, [], "{:?}", store.branch_name());
    }
    assert_eq!(late.collection("menu").unwrap().erasures().unwrap().len(), 1);
    put(&late, "a", r#"{"n":2}"#);
    assert_eq!((get(&late, "a").is_some(), get(&main, "a")), (true, None));
}

#[test]
fn what_is_erased_on_a_branch_is_on_no_other_though_a_collection_is_only_there() {
    let main = store();
    put(&main, "a", "{}");
    let [one, two] = ["one", "two"].map(|name| main.branch(name, At::Now).unwrap());
    one.collection("own").unwrap().put("x", "{}").unwrap();
    let deeper = one.branch("deeper", At::Now).unwrap();
    assert_eq!(one.collection("own").unwrap().erase(["x"]).unwrap().documents, 1);
    assert_eq!(two.collection("menu").unwrap().erase(["a"]).unwrap().documents, 1);
    for store in [&main, &one, &two, &deeper] {
        assert_eq!(get(store, "a"), None, "{:?}", store.branch_name());
        assert!(store.collection("own").unwrap().get("x").unwrap().is_none(), "{:?}", store.branch_name());
        assert_eq!(store.check(At::Now).unwrap().problems, [], "{:?}", store.branch_name());
    }
}

#[test]
fn a_merge_takes_combines_and_tells_conflicts() {
    let main = store();
    for id in ["same", "taken", "both", "clash", "gone"] {
        put(&main, id, r#"{"a":1,"b":1}"#);
    }
    let idea = main.branch("idea", At::Now).unwrap();
    put(&idea, "taken", r#"{"a":2,"b":1}"#);
    put(&idea, "new", r#"{"a":1}"#);
    put(&idea, "both", r#"{"a":2,"b":1}"#);
    put(&main, "both", r#"{"a":1,"b":2}"#);
    put(&idea, "clash", r#"{"a":2,"b":5}"#);
    put(&main, "clash", r#"{"a":3,"b":1}"#);
    let gone = idea.collection("menu").unwrap().get("gone").unwrap().unwrap();
    idea.collection("menu").unwrap().delete("gone", &gone.rev).unwrap();
    let differ: Vec<_> = main.diff_with(&idea).unwrap().map(|found| found.unwrap().1.id).collect();
    assert_eq!(differ, ["both", "clash", "gone", "new", "taken"]);
    let head = main.resolve(At::Now).unwrap();
    let told = main.merge_from(&idea, &MergeOptions { dry_run: true, ..MergeOptions::default() }).unwrap();
    assert_eq!((told.taken, told.combined, told.conflicts.len()), (3, 1, 1));
    let abort = MergeOptions { conflicts: Conflicts::Abort, ..MergeOptions::default() };
    assert_eq!(main.merge_from(&idea, &abort).unwrap().conflicts[0].places[0].path.to_string(), "/a");
    assert_eq!(main.resolve(At::Now).unwrap(), head, "nothing was written");
    let merged = merge(&main, &idea);
    assert_eq!((merged.taken, merged.combined, merged.conflicts.len()), (3, 1, 1));
    assert_eq!(get(&main, "both").as_deref(), Some(r#"{"a":2,"b":2}"#));
    assert_eq!((get(&main, "gone"), get(&main, "new").as_deref()), (None, Some(r#"{"a":1}"#)));
    let menu = main.collection("menu").unwrap();
    assert_eq!((menu.conflicts("clash").unwrap().len(), menu.conflicts("both").unwrap().len()), (1, 0));
    let again = merge(&main, &idea);
    assert_eq!((again.taken, again.combined, again.commit.is_none()), (0, 0, true));
    // The other way round, everything is a descendant of what is there, but for the conflict.
    merge(&idea, &main);
    assert_eq!(get(&idea, "both"), get(&main, "both"));
    assert!(main.check(At::Now).unwrap().problems.is_empty() && idea.check(At::Now).unwrap().problems.is_empty());
}

/// Its newest leaf is another deletion, which does not go on from what is here.
#[test]
fn what_a_branch_has_seen_and_deleted_is_deleted_by_the_merge() {
    let main = store();
    put(&main, "a", r#"{"n":1}"#);
    let other = main.branch("other", At::Now).unwrap();
    put(&main, "a", r#"{"n":2}"#);
    let idea = main.branch("idea", At::Now).unwrap();
    put(&other, "a", r#"{"n":3}"#);
    put(&other, "a", r#"{"n":4}"#);
    for branch in [&other, &idea] {
        let menu = branch.collection("menu").unwrap();
        menu.delete("a", &menu.get("a").unwrap().unwrap().rev).unwrap();
    }
    merge(&idea, &other);
    assert_eq!((get(&idea, "a"), get(&main, "a").as_deref()), (None, Some(r#"{"n":2}"#)));
    for conflicts in [Conflicts::Ours, Conflicts::Theirs] {
        let told = main.merge_from(&idea, &MergeOptions { conflicts, dry_run: true, ..MergeOptions::default() });
        assert_eq!(told.unwrap().conflicted, 0);
    }
    let options = MergeOptions { conflicts: Conflicts::Ours, ..MergeOptions::default() };
    assert_eq!(main.merge_from(&idea, &options).unwrap().taken, 1);
    assert_eq!(get(&main, "a"), None);
}

#[test]
fn who_shall_win_wins_only_where_both_changed_the_same() {
    for (conflicts, expected) in
        [(Conflicts::Ours, r#"{"a":2,"b":2,"c":2}"#), (Conflicts::Theirs, r#"{"a":3,"b":2,"c":2}"#)]
    {
        let main = store();
        put(&main, "x", r#"{"a":1,"b":1,"c":1}"#);
        let idea = main.branch("idea", At::Now).unwrap();
        put(&main, "x", r#"{"a":2,"b":2,"c":1}"#);
        put(&idea, "x", r#"{"a":3,"b":1,"c":2}"#);
        let merged = main.merge_from(&idea, &MergeOptions { conflicts, ..MergeOptions::default() }).unwrap();
        assert_eq!(merged.conflicts.len(), 1);
        assert_eq!(get(&main, "x").as_deref(), Some(expected));
        assert!(main.collection("menu").unwrap().conflicts("x").unwrap().is_empty());
    }
}

#[test]
fn what_breaks_a_unique_index_or_a_schema_is_refused_whole() {
    let main = store();
    let menu = main.collection("menu").unwrap();
    menu.create_index(IndexSpec { unique: true, ..IndexSpec::new("name", "name") }, |_| ()).unwrap();
    put(&main, "a", r#"{"name":"soup"}"#);
    let idea = main.branch("idea", At::Now).unwrap();
    put(&idea, "b", r#"{"name":"rice"}"#);
    put(&idea, "c", r#"{"name":"peas"}"#);
    put(&main, "d", r#"{"name":"rice"}"#);
    let refused = main.merge_from(&idea, &MergeOptions::default()).unwrap_err();
    let Error::InMerge { collection, error } = &refused else { panic!("{refused}") };
    assert!(collection == "menu" && matches!(**error, Error::NotUnique { .. }), "{refused}");
    assert!(refused.to_string().starts_with("in menu, document \"b\" cannot have"), "{refused}");
    assert_eq!(get(&main, "c"), None);
    // A unique index that is on the branch only says where it is broken, too.
    let other = main.branch("other", At::Now).unwrap();
    put(&main, "e", r#"{"n":1}"#);
    put(&main, "f", r#"{"n":1}"#);
    let spec = IndexSpec { unique: true, ..IndexSpec::new("n", "n") };
    other.collection("menu").unwrap().create_index(spec, |_| ()).unwrap();
    let refused = main.merge_from(&other, &MergeOptions::default()).unwrap_err();
    assert!(refused.to_string().starts_with("in menu, document"), "{refused}");
}

#[test]
fn documents_that_have_exchanged_unique_values_are_merged_in_whatever_order_they_were_written() {
    let main = store();
    let menu = main.collection("menu").unwrap();
    menu.create_index(IndexSpec { unique: true, ..IndexSpec::new("place", "place") }, |_| ()).unwrap();
    for (id, body) in [("a", r#"{"place":1}"#), ("b", r#"{"place":2}"#), ("c", r#"{"place":3}"#)] {
        put(&main, id, body);
    }
    let idea = main.branch("idea", At::Now).unwrap();
    // a and b have exchanged theirs; d has that of c, which was changed once more later. Both changed b.
    for (id, body) in [("a", r#"{"place":9}"#), ("b", r#"{"place":1}"#), ("a", r#"{"place":2}"#)] {
        put(&idea, id, body);
    }
    put(&idea, "c", r#"{"place":4}"#);
    put(&idea, "d", r#"{"place":3}"#);
    put(&idea, "c", r#"{"place":5}"#);
    put(&main, "b", r#"{"place":2,"note":"x"}"#);
    let look = MergeOptions { dry_run: true, ..MergeOptions::default() };
    assert_eq!(main.merge_from(&idea, &look).unwrap().combined, 1);
    let merged = merge(&main, &idea);
    assert_eq!((merged.taken, merged.combined, merged.conflicted), (3, 1, 0));
    let places = [r#"{"place":2}"#, r#"{"place":1,"note":"x"}"#, r#"{"place":5}"#, r#"{"place":3}"#];
    assert_eq!(all(&main).values().map(String::as_str).collect::<Vec<_>>(), places);
    for (number, id) in [(2, "a"), (1, "b"), (5, "c"), (3, "d")] {
        let selector = Selector::from_json(format!(r#"{{"place":{number}}}"#)).unwrap();
        let query = Query::new().selecting(selector);
        let found = menu.find(&query).unwrap().next().unwrap().unwrap();
        assert_eq!(found.id, id);
    }
    assert_eq!(main.check(At::Now).unwrap().problems, []);
}

#[test]
fn collections_indexes_and_attachments_of_a_branch_come_along() {
    let main = store();
    put(&main, "a", "{}");
    let idea = main.branch("idea", At::Now).unwrap();
    let orders = idea.collection("orders").unwrap();
    orders.create_index(IndexSpec::new("item", "item"), |_| ()).unwrap();
    orders.put("1", r#"{"item":"pizza"}"#).unwrap();
    orders.attach("1", recension::Expect::Anything, "bill", "text/plain", &b"one pizza"[..]).unwrap();
    merge(&main, &idea);
    let orders = main.collection("orders").unwrap();
    assert_eq!(orders.indexes().unwrap().len(), 1);
    let mut bill = String::new();
    let mut reader = orders.attachment("1", "bill").unwrap().unwrap();
    std::io::Read::read_to_string(&mut reader, &mut bill).unwrap();
    assert_eq!(bill, "one pizza");
    main.drop_branch("idea").unwrap();
    assert!(main.check(At::Now).unwrap().problems.is_empty());
}

#[test]
fn schemas_and_indexes_are_merged_and_dropped_collections_are_told() {
    let main = store();
    put(&main, "a", r#"{"n":1}"#);
    main.collection("old").unwrap().put("x", "{}").unwrap();
    let menu = main.collection("menu").unwrap();
    menu.create_index(IndexSpec::new("gone", "gone"), |_| ()).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    let theirs = idea.collection("menu").unwrap();
    let schema = |text: &str| Some(recension::Schema::from_json(text).unwrap());
    theirs.settings().set_schema(schema(r#"{"properties":{"n":{"type":"number"}}}"#)).unwrap();
    theirs.create_index(IndexSpec::new("n", "n"), |_| ()).unwrap();
    theirs.drop_index("gone").unwrap();
    idea.drop_collection("old").unwrap();
    idea.collection("empty").unwrap().make(&[]).unwrap();
    let merged = merge(&main, &idea);
    assert_eq!((merged.dropped, merged.conflicted), (vec!["old".to_owned()], 0));
    assert!(main.collection("old").unwrap().get("x").unwrap().is_some(), "it stays");
    let names: Vec<_> = menu.indexes().unwrap().into_iter().map(|index| index.spec.name).collect();
    assert_eq!(names, ["n"]);
    assert!(menu.put("b", r#"{"n":"text"}"#).is_err(), "the schema is here too");
    assert!(main.collections(At::Now).unwrap().iter().any(|collection| collection.name == "empty"));
    // Both change it: the place is told, and stays as it is.
    theirs.settings().set_schema(schema(r#"{"properties":{"n":{"type":"integer"}}}"#)).unwrap();
    menu.settings().set_schema(schema("{}")).unwrap();
    let merged = merge(&main, &idea);
    assert_eq!((merged.conflicted, merged.conflicts[0].places[0].path.to_string()), (1, "/schema".to_owned()));
    assert_eq!(menu.settings().schema().unwrap().as_deref(), Some("{}"));
}

#[test]
fn a_dry_run_fails_where_the_merge_would_and_abort_writes_nothing() {
    let main = store();
    let menu = main.collection("menu").unwrap();
    menu.create_index(IndexSpec { unique: true, ..IndexSpec::new("name", "name") }, |_| ()).unwrap();
    put(&main, "a", r#"{"name":"soup"}"#);
    let idea = main.branch("idea", At::Now).unwrap();
    put(&idea, "b", r#"{"name":"rice"}"#);
    put(&main, "d", r#"{"name":"rice"}"#);
    let dry = MergeOptions { dry_run: true, ..MergeOptions::default() };
    let refused = main.merge_from(&idea, &dry).unwrap_err();
    assert!(
        matches!(&refused, Error::InMerge { error, .. } if matches!(**error, Error::NotUnique { .. })),
        "{refused}"
    );
    put(&main, "d", r#"{"name":"peas"}"#);
    put(&main, "a", r#"{"name":"stew"}"#);
    put(&idea, "a", r#"{"name":"broth"}"#);
    let head = main.resolve(At::Now).unwrap();
    assert_eq!(main.merge_from(&idea, &dry).unwrap().conflicted, 1);
    let abort = MergeOptions { conflicts: Conflicts::Abort, ..MergeOptions::default() };
    let told = main.merge_from(&idea, &abort).unwrap();
    assert_eq!((told.conflicted, told.commit, main.resolve(At::Now).unwrap()), (1, None, head));
}

/// A commit has a bound in bytes, and what it takes is in memory.
#[test]
fn a_merge_of_large_documents_takes_several_commits_and_abort_looks_at_all_of_them_first() {
    let main = store();
    let large = |letter: &str| format!(r#"{{"text":"{}"}}"#, letter.repeat(1024 * 1024));
    for n in 0..12 {
        put(&main, &format!("c{n}"), &large("a"));
    }
    let idea = main.branch("idea", At::Now).unwrap();
    for n in 0..40 {
        put(&idea, &format!("b{n}"), &large("b"));
    }
    for n in 0..12 {
        put(&idea, &format!("c{n}"), &large("b"));
        put(&main, &format!("c{n}"), &large("c"));
    }
    let before = main.resolve(At::Now).unwrap();
    let abort = MergeOptions { conflicts: Conflicts::Abort, ..MergeOptions::default() };
    let told = main.merge_from(&idea, &abort).unwrap();
    // Not all values are told.
    assert!(told.conflicted == 12 && told.conflicts.len() < 12, "{} of {}", told.conflicts.len(), told.conflicted);
    assert_eq!((told.commit, main.resolve(At::Now).unwrap()), (None, before));
    let merged = merge(&main, &idea);
    assert_eq!((merged.taken, merged.conflicted), (40, 12));
    assert!(merged.commit.unwrap().seq.0 > before.0 + 1, "{merged:?}");
    assert_eq!(main.collection("menu").unwrap().count().unwrap(), 52);
    assert!(merge(&main, &idea).commit.is_none());
}

#[test]
fn attachments_of_both_sides_are_in_the_merged_document() {
    let main = store();
    let attach = |store: &Store, name: &str, bytes: &'static [u8]| {
        store.collection("menu").unwrap().attach("a", recension::Expect::Anything, name, "text/plain", bytes).unwrap();
    };
    put(&main, "a", r#"{"n":1,"m":1}"#);
    attach(&main, "both", b"one");
    let idea = main.branch("idea", At::Now).unwrap();
    attach(&main, "ours", b"ours");
    attach(&idea, "theirs", b"theirs");
    attach(&idea, "both", b"two");
    let differences: Vec<_> = main.diff_with(&idea).unwrap().map(|found| found.unwrap().1).collect();
    let changes: Vec<_> = differences[0].changes().unwrap();
    let told =
        |change: &recension::json::Change| (change.path.to_string(), change.before.is_some(), change.after.is_some());
    let expected = [("ours", true, false), ("both", true, true), ("theirs", false, true)]
        .map(|(name, before, after)| (format!("/_attachments/{name}"), before, after));
    assert_eq!(changes.iter().map(told).collect::<Vec<_>>(), expected, "no member differs");
    let merged = merge(&main, &idea);
    assert_eq!((merged.combined, merged.conflicted), (1, 0));
    let menu = main.collection("menu").unwrap();
    for (name, bytes) in [("both", "two"), ("ours", "ours"), ("theirs", "theirs")] {
        let mut read = String::new();
        let mut reader = menu.attachment("a", name).unwrap().unwrap();
        std::io::Read::read_to_string(&mut reader, &mut read).unwrap();
        assert_eq!(read, bytes);
    }
    assert!(menu.conflicts("a").unwrap().is_empty());
    assert_eq!(main.check(At::Now).unwrap().problems, []);
}

#[test]
fn a_difference_is_between_any_two_moments_of_any_two_branches() {
    let main = store();
    put(&main, "a", r#"{"n":1}"#);
    let first = main.resolve(At::Now).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    put(&main, "a", r#"{"n":2}"#);
    put(&idea, "b", r#"{"n":3}"#);
    let ids = |from: &Store, at, to: &Store, to_at| -> Vec<String> {
        from.diff_from(at, to, to_at).unwrap().map(|found| found.unwrap().1.id).collect()
    };
    assert_eq!(ids(&main, At::Now, &idea, At::Now), ["a", "b"]);
    assert_eq!(ids(&main, At::Seq(first), &idea, At::Now), ["b"]);
    assert_eq!(ids(&main, At::Seq(first), &main, At::Now), ["a"]);
    assert!(ids(&idea, At::Seq(first), &main, At::Seq(first)).is_empty());
    main.drop_collection("menu").unwrap();
    assert_eq!(ids(&main, At::Now, &idea, At::Now), ["a", "b"]);
}

fn documents() -> impl Strategy<Value = BTreeMap<String, String>> {
    let body = (0..3_u8, 0..3_u8).prop_map(|(a, b)| format!(r#"{{"a":{a},"b":{b}}}"#));
    proptest::collection::btree_map("[a-d]", body, 0..4)
}

fn put_all(store: &Store, documents: &BTreeMap<String, String>) {
    for (id, body) in documents {
        put(store, id, body);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn merging_what_did_not_change_changes_nothing_and_twice_is_once(
        base in documents(), ours in documents(), theirs in documents(),
    ) {
        let main = store();
        put_all(&main, &base);
        let idea = main.branch("idea", At::Now).unwrap();
        put_all(&main, &ours);
        let before = all(&main);
        merge(&main, &idea);
        prop_assert_eq!(&all(&main), &before);
        put_all(&idea, &theirs);
        merge(&main, &idea);
        let once = all(&main);
        prop_assert!(merge(&main, &idea).commit.is_none());
        prop_assert_eq!(&all(&main), &once);
        let winners = MergeOptions { conflicts: Conflicts::Ours, ..MergeOptions::default() };
        idea.merge_from(&main, &winners).unwrap();
        main.merge_from(&idea, &winners).unwrap();
        prop_assert_eq!(all(&main), all(&idea));
        prop_assert!(main.check(At::Now).unwrap().problems.is_empty());
        prop_assert!(idea.check(At::Now).unwrap().problems.is_empty());
    }

    #[test]
    fn disjoint_merges_have_no_order(base in documents(), theirs in documents()) {
        let merged = |first: usize| {
            let main = store();
            put_all(&main, &base);
            let branches = ["one", "two"].map(|name| main.branch(name, At::Now).unwrap());
            for (number, (id, body)) in theirs.iter().enumerate() {
                put(&branches[number % 2], id, body);
            }
            merge(&main, &branches[first]);
            merge(&main, &branches[1 - first]);
            all(&main)
        };
        prop_assert_eq!(merged(0), merged(1));
    }
}
