//! A store on a shared log: a branch that is made, written, merged and dropped on one node is so on the others, and on
//! a node that begins later.

use std::path::Path;
use std::sync::Arc;

use recension::engine::EngineError;
use recension::{At, Error, Expect, MergeOptions, Store};
use recension_log::{Cache, MemoryLog, ReplicatedEngine, ReplicatedOptions};

/// A node, and its store as of everything that the log has.
fn node(log: &MemoryLog, folder: &Path) -> Store {
    let options = ReplicatedOptions::default();
    let engine = ReplicatedEngine::open(Arc::new(log.clone()), &Cache::directory(folder), options).unwrap();
    Store::on(Arc::new(engine)).unwrap()
}

/// What a branch has for an id, as a node sees it once it has caught up.
fn body(node: &Store, branch: &str, id: &str) -> Option<String> {
    node.engine().refresh().unwrap();
    let orders = node.open_branch(branch).unwrap().collection("orders").unwrap();
    orders.get(id).unwrap().map(|found| found.body.into_owned())
}

#[test]
fn a_branch_of_one_node_is_on_all_nodes() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let [one, two, three] = ["one", "two", "three"].map(|name| node(&log, &folder.path().join(name)));
    one.collection("orders").unwrap().put("17", r#"{"price":9,"state":"open"}"#).unwrap();
    one.branch("prices", At::Now).unwrap();
    one.tag("before", At::Now).unwrap();
    two.engine().refresh().unwrap();
    let prices = two.open_branch("prices").unwrap().collection("orders").unwrap();
    prices.merge_patch("17", Expect::Anything, r#"{"price":12}"#).unwrap();
    for node in [&one, &two, &three] {
        assert_eq!(body(node, "main", "17").as_deref(), Some(r#"{"price":9,"state":"open"}"#));
        assert_eq!(body(node, "prices", "17").as_deref(), Some(r#"{"price":12,"state":"open"}"#));
        let then = node.collection("orders").unwrap().at("tag:before".parse().unwrap()).unwrap();
        assert!(then.get("17").unwrap().is_some());
    }
    // A third node merges what the second wrote on the branch that the first made.
    three.collection("orders").unwrap().merge_patch("17", Expect::Anything, r#"{"state":"paid"}"#).unwrap();
    let from = three.open_branch("prices").unwrap();
    let merged = three.merge_from(&from, &MergeOptions::default()).unwrap();
    assert_eq!((merged.combined, merged.conflicted), (1, 0));
    let late = node(&log, &folder.path().join("late"));
    for node in [&one, &two, &three, &late] {
        assert_eq!(body(node, "main", "17").as_deref(), Some(r#"{"price":12,"state":"paid"}"#));
        // Every node remembers the merge.
        let again = node.merge_from(&node.open_branch("prices").unwrap(), &MergeOptions::default()).unwrap();
        assert_eq!((again.commit, again.combined), (None, 0));
    }
    late.drop_branch("prices").unwrap();
    for node in [&one, &two, &three, &late] {
        node.engine().refresh().unwrap();
        let gone = node.open_branch("prices").err();
        assert!(matches!(gone, Some(Error::Engine(EngineError::NoSuchBranch { .. }))), "{gone:?}");
        assert!(node.untag("none").is_ok_and(|there| !there));
    }
    assert!(prices.get("17").is_err(), "what was dropped is read by nobody");
}
