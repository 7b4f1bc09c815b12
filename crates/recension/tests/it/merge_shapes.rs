//! What a merge does with collections themselves: new ones, those that one side dropped, and indexes that break.

use recension::{At, Conflicts, Error, IndexSpec, MergeOptions, Merged, Store, Write};

fn names(store: &Store) -> Vec<String> {
    store.collections(At::Now).unwrap().into_iter().map(|collection| collection.name).collect()
}

fn merge(into: &Store, from: &Store, conflicts: Conflicts) -> Merged {
    into.merge_from(from, &MergeOptions { conflicts, ..MergeOptions::default() }).unwrap()
}

#[test]
fn a_collection_that_was_dropped_here_and_changed_there_stays_dropped_or_comes_back_whole() {
    let main = Store::memory().unwrap();
    let (old, unchanged) = (main.collection("old").unwrap(), main.collection("unchanged").unwrap());
    old.make(&[("color", "red")]).unwrap();
    old.create_index(IndexSpec::new("n", "n"), |_| ()).unwrap();
    old.put("a", r#"{"n":1}"#).unwrap();
    unchanged.put("a", "{}").unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    idea.collection("old").unwrap().put("b", r#"{"n":2}"#).unwrap();
    idea.collection("new").unwrap().make(&[("color", "blue")]).unwrap();
    main.drop_collection("old").unwrap();
    main.drop_collection("unchanged").unwrap();
    let told = main.merge_from(&idea, &MergeOptions { dry_run: true, ..MergeOptions::default() }).unwrap();
    let merged = merge(&main, &idea, Conflicts::Fields);
    for told in [&told, &merged] {
        assert_eq!((told.taken, told.conflicted, &told.made), (0, 1, &vec!["new".to_owned()]));
        let conflict = &told.conflicts[0];
        assert_eq!((conflict.collection.as_str(), conflict.id.as_str()), ("old", ""));
        assert_eq!(conflict.places[0].ours, None);
    }
    assert_eq!(names(&main), ["new"]);
    assert_eq!(main.collection("new").unwrap().settings().get("color").unwrap().as_deref(), Some("blue"));
    idea.collection("old").unwrap().put("c", r#"{"n":3}"#).unwrap();
    assert_eq!(merge(&main, &idea, Conflicts::Abort).commit, None);
    assert_eq!(merge(&main, &idea, Conflicts::Theirs).taken, 3);
    assert_eq!((names(&main), old.indexes().unwrap().len()), (vec!["new".to_owned(), "old".to_owned()], 1));
    assert_eq!(old.settings().get("color").unwrap().as_deref(), Some("red"));
    assert_eq!(main.check(At::Now).unwrap().problems, []);
}

#[test]
fn a_collection_that_was_dropped_there_and_made_again_is_told() {
    let main = Store::memory().unwrap();
    main.collection("menu").unwrap().put("old", "{}").unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    idea.drop_collection("menu").unwrap();
    idea.collection("menu").unwrap().put("new", "{}").unwrap();
    let merged = merge(&main, &idea, Conflicts::Fields);
    assert_eq!((merged.dropped, merged.taken), (vec!["menu".to_owned()], 1));
    assert!(main.collection("menu").unwrap().get("old").unwrap().is_some(), "it stays");
}

#[test]
fn an_index_that_breaks_leaves_the_one_that_was_there() {
    let main = Store::memory().unwrap();
    let menu = main.collection("menu").unwrap();
    menu.create_index(IndexSpec::new("name", "name"), |_| ()).unwrap();
    menu.put("a", r#"{"name":"soup"}"#).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    let theirs = idea.collection("menu").unwrap();
    theirs.drop_index("name").unwrap();
    theirs.create_index(IndexSpec { unique: true, ..IndexSpec::new("name", "name") }, |_| ()).unwrap();
    menu.put("b", r#"{"name":"soup"}"#).unwrap();
    let refused = main.merge_from(&idea, &MergeOptions::default());
    let broken = refused.as_ref().map_err(Error::cause);
    assert!(matches!(broken, Err(Error::NotUnique { .. })), "{refused:?}");
    let indexes = menu.indexes().unwrap();
    assert_eq!((indexes.len(), indexes[0].spec.unique), (1, false));
}

/// The merge's first commit drops it, so that a crash after any commit leaves nothing behind, and it refuses no
/// document of the branch.
#[test]
fn an_index_that_was_dropped_there_is_dropped_with_the_first_documents() {
    let main = Store::memory().unwrap();
    let menu = main.collection("menu").unwrap();
    menu.create_index(IndexSpec { unique: true, ..IndexSpec::new("name", "name") }, |_| ()).unwrap();
    menu.create_index(IndexSpec::new("n", "n"), |_| ()).unwrap();
    menu.put("a", r#"{"name":"soup","n":1}"#).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    let theirs = idea.collection("menu").unwrap();
    theirs.drop_index("name").unwrap();
    theirs.put("b", r#"{"name":"soup","n":2}"#).unwrap();
    let look = MergeOptions { dry_run: true, ..MergeOptions::default() };
    assert_eq!(main.merge_from(&idea, &look).unwrap().taken, 1);
    assert_eq!(menu.indexes().unwrap().len(), 2);
    let merged = merge(&main, &idea, Conflicts::Fields);
    assert_eq!((merged.taken, merged.commit.unwrap().seq), (1, main.engine().head()), "it is one commit");
    assert_eq!(menu.indexes().unwrap().iter().map(|index| &*index.spec.name).collect::<Vec<_>>(), ["n"]);
    assert_eq!(main.check(At::Now).unwrap().problems, []);
    theirs.drop_index("n").unwrap();
    assert!(merge(&main, &idea, Conflicts::Abort).commit.is_some(), "without a document, too");
    assert!(menu.indexes().unwrap().is_empty());
    assert_eq!(merge(&main, &idea, Conflicts::Fields).commit, None);
}

#[test]
fn a_branch_is_not_merged_into_itself() {
    let main = Store::memory().unwrap();
    main.branch("idea", At::Now).unwrap();
    for name in ["main", "idea"] {
        let (one, same) = (main.open_branch(name).unwrap(), main.open_branch(name).unwrap());
        let refused = one.merge_from(&same, &MergeOptions::default()).unwrap_err().to_string();
        assert!(refused.contains(name) && refused.contains("not merged into itself"), "{refused}");
    }
}

#[test]
fn more_documents_than_a_commit_has_are_merged_in_several() {
    const DOCUMENTS: usize = 10_003;
    let main = Store::memory().unwrap();
    main.collection("b").unwrap().put("x", "{}").unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    let writes = (0..DOCUMENTS).map(|n| Write::put(&format!("d{n}"), "{}").unwrap());
    idea.collection("a").unwrap().bulk(writes.collect::<Vec<_>>()).unwrap();
    idea.collection("b").unwrap().put("y", "{}").unwrap();
    let look = MergeOptions { dry_run: true, ..MergeOptions::default() };
    assert_eq!(main.merge_from(&idea, &look).unwrap().taken, DOCUMENTS as u64 + 1);
    // What only the last of the pieces would break is known before the first is written.
    let schema = |text: &str| Some(recension::Schema::from_json(text).unwrap());
    main.collection("b").unwrap().settings().set_schema(schema(r#"{"properties":{"n":{"type":"number"}}}"#)).unwrap();
    idea.collection("b").unwrap().put("y", r#"{"n":"text"}"#).unwrap();
    let refused = main.merge_from(&idea, &MergeOptions::default()).unwrap_err();
    assert!(matches!(&refused, Error::InMerge { collection, .. } if collection == "b"), "{refused}");
    assert_eq!(main.collection("a").unwrap().count().unwrap(), 0, "nothing was written");
    idea.collection("b").unwrap().put("y", "{}").unwrap();
    let head = main.engine().head();
    let merged = merge(&main, &idea, Conflicts::Abort);
    assert_eq!((merged.taken, main.engine().head().0 - head.0), (DOCUMENTS as u64 + 1, 2));
    assert_eq!(main.diff_with(&idea).unwrap().count(), 0);
    assert_eq!(merge(&main, &idea, Conflicts::Fields).commit, None);
}

/// Users and replications are the main line's, whatever a branch says of them.
#[test]
fn what_is_of_the_server_is_neither_compared_nor_merged() {
    let main = Store::memory().unwrap();
    main.collection("_users").unwrap().put("ada", r#"{"roles":[]}"#).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    idea.collection("_users").unwrap().put("eve", r#"{"roles":["_admin"]}"#).unwrap();
    idea.collection("_more").unwrap().put("x", "{}").unwrap();
    assert_eq!(main.diff_with(&idea).unwrap().count(), 0);
    let merged = merge(&main, &idea, Conflicts::Theirs);
    assert_eq!((merged.commit, merged.taken, merged.made), (None, 0, Vec::new()));
    assert_eq!(names(&main), ["_users"]);
    assert!(main.collection("_users").unwrap().get("eve").unwrap().is_none());
}
