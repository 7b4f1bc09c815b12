//! Branches and tags from the command line: made, worked on, compared, merged, dropped.

use super::common::Place;

#[test]
fn a_branch_is_made_worked_on_compared_merged_and_dropped() {
    let place = Place::new();
    place.ok(&["put", "orders", "1", r#"{"price":9,"item":"pizza"}"#]);
    place.ok(&["tag", "before"]);
    place.ok(&["branch", "idea"]);
    place.ok(&["--branch", "idea", "put", "orders", "1", r#"{"price":12,"item":"pizza"}"#]);
    let here = place.ok(&["get", "orders", "1"]);
    assert!(here.contains('9') && !here.contains("12"), "{here}");
    let there = place.ok(&["--branch", "idea", "get", "orders", "1"]);
    assert!(there.contains("12"), "{there}");
    let listed = place.ok(&["branch", "--json"]);
    assert!(listed.contains("\"idea\"") && listed.contains("\"main\""), "{listed}");
    let differs = place.ok(&["diff", "--with", "idea", "--json"]);
    assert!(differs.contains(r#"{"path":"/price","before":9,"after":12}"#), "{differs}");
    let patch = place.ok(&["--branch", "idea", "diff", "orders", "1", "--with", "main", "--json-patch"]);
    assert!(patch.contains(r#""value":9"#), "{patch}");
    let at = format!("{}#idea", place.path().join("recension.store").display());
    assert!(place.ok(&["--store", &at, "get", "orders", "1"]).contains("12"));
    // A token of a branch would open nothing: the server asks the main line.
    // Nor do these know branches: they would do something to all of the store.
    for line in [
        &["serve"][..],
        &["token", "create", "ci", "--database", "orders"],
        &["token", "list"],
        &["backup", "copy"],
        &["compact"],
        &["doctor"],
        &["salvage", "recension.store", "copy"],
        &["stats"],
        &["verify"],
    ] {
        let refused = place.fails(2, &[&["--branch", "idea"], line].concat());
        assert!(refused.contains("whole store"), "{line:?}: {refused}");
    }
    place.ok(&["merge", "idea", "--dry-run"]);
    assert!(place.ok(&["get", "orders", "1"]).contains('9'));
    place.ok(&["merge", "idea"]);
    assert!(place.ok(&["get", "orders", "1"]).contains("12"));
    assert!(place.ok(&["get", "orders", "1", "--at", "tag:before"]).contains('9'));
    place.ok(&["branch", "idea", "--rename-to", "done"]);
    let asked = place.fails(2, &["branch", "done", "--drop"]);
    assert!(asked.contains("--yes"), "{asked}");
    place.ok(&["branch", "done", "--drop", "--yes"]);
    for line in [&["--branch", "done", "get", "orders", "1"][..], &["branch", "done", "--drop"], &["merge", "done"]] {
        let ended = place.run(line);
        assert!(ended.code == 1 && ended.err.contains("there is no branch done"), "{line:?}: {}", ended.err);
    }
    place.ok(&["branch", "costs"]);
    for line in [
        &["merge", "csts"][..],
        &["merge", "costs", "--into", "csts"],
        &["diff", "--with", "csts"],
        &["branch", "csts", "--rename-to", "x"],
        &["--branch", "csts", "collections"],
    ] {
        let refused = place.fails(1, line);
        assert!(refused.contains("no branch csts; there are main, costs"), "{line:?}: {refused}");
    }
    // A slip in an address makes no store.
    for address in ["none.store#costs", "none.store#", "recension.store#", "recension.store#a b"] {
        let refused = place.run(&["put", "a", "b", "{}", "--store", address]);
        assert!(refused.code != 0 && refused.err.contains("there is no"), "{address}: {refused:?}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    for line in [&["diff", "odrers", "--with", "costs"][..], &["diff", "odrers", "1"]] {
        let none = place.fails(1, line);
        assert!(none.contains("no collection odrers"), "{line:?}: {none}");
    }
    let same = place.run(&["--branch", "costs", "merge", "costs"]);
    assert!(same.code != 0 && same.err.contains("not merged into itself"), "{}", same.err);
    place.ok(&["--branch", "main", "get", "orders", "1"]);
    place.ok(&["merge", "main", "--into", "costs"]);
    place.ok(&["branch", "costs", "--drop", "--yes"]);
    assert_eq!(place.run(&["tag", "nothing", "--drop"]).code, 1);
    place.ok(&["tag", "before", "--drop"]);
}

#[test]
fn what_both_changed_is_told_counted_and_aborted() {
    let place = Place::new();
    place.ok(&["put", "stock", "ham", r#"{"count":10,"price":1,"name":"ham"}"#]);
    place.ok(&["branch", "idea"]);
    place.ok(&["put", "stock", "ham", r#"{"count":8,"price":2,"name":"ham"}"#]);
    place.ok(&["--branch", "idea", "put", "stock", "ham", r#"{"count":7,"price":3,"name":"ham"}"#]);
    let told = place.ok(&["merge", "idea", "--dry-run", "--json"]);
    assert!(told.contains("/price") && told.contains("/count"), "{told}");
    assert_eq!(place.run(&["merge", "idea", "--conflicts", "abort"]).code, 3);
    place.ok(&["merge", "idea", "--conflicts", "theirs", "--counter", "/count"]);
    let merged = place.ok(&["get", "stock", "ham"]);
    assert!(merged.contains("\"count\":5") && merged.contains("\"price\":3"), "{merged}");
    assert!(place.run(&["merge", "idea", "--counter", "count"]).code == 2);
    assert!(place.run(&["branch", "idea", "--at", "tag:none"]).err.contains("no such tag"));
}

#[test]
fn the_log_draws_how_branches_begin_and_are_merged() {
    let place = Place::new();
    place.ok(&["put", "orders", "1", r#"{"price":9}"#]);
    place.ok(&["tag", "before"]);
    place.ok(&["branch", "idea"]);
    place.ok(&["--branch", "idea", "put", "orders", "1", r#"{"price":12}"#]);
    place.ok(&["--branch", "idea", "branch", "detail"]);
    place.ok(&["put", "stock", "ham", r#"{"count":7}"#]);
    place.ok(&["merge", "idea"]);
    let drawn = place.ok(&["log", "--graph", "--json"]);
    let lines: Vec<serde_json::Value> = drawn.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {}: {}", line["graph"], line["branch"], line["what"]).replace('"', ""))
        .collect();
    assert_eq!(
        told,
        [
            "*<| | main: idea merged",
            "* | | main: last change of stock",
            "| *-' idea: detail begins",
            "| * idea: last change of orders",
            "*-' main: idea begins",
            "* main: tag before",
        ]
    );
    assert!(lines.iter().all(|line| line["time"].as_str().is_some_and(|time| time.ends_with('Z'))), "{drawn}");
    assert!(place.ok(&["log", "-n", "1", "--table"]).contains("idea merged"));
    assert_eq!(place.ok(&["log", "-n", "0", "--graph", "--json"]), drawn);
    // A list has no moment.
    place.fails(2, &["branch", "--at", "1"]);
    place.fails(2, &["tag", "--at", "1"]);
}

/// The second line was "in use by this process already".
#[test]
fn lines_of_one_store_are_copied_into_each_other() {
    let place = Place::new();
    place.ok(&["put", "orders", "1", r#"{"price":9}"#]);
    place.ok(&["branch", "idea"]);
    place.ok(&["--branch", "idea", "put", "orders", "2", r#"{"price":12}"#]);
    place.ok(&["sync", "recension.store#idea#orders", "copies"]);
    assert!(place.ok(&["get", "copies", "2"]).contains("12"));
    place.ok(&["--branch", "idea", "sync", "orders", "recension.store#orders"]);
    assert!(place.ok(&["get", "orders", "2"]).contains("12"));
    place.ok(&["sync", "copies", "recension.store#idea#more"]);
    assert!(place.ok(&["--branch", "idea", "get", "more", "1"]).contains('9'));
    assert!(place.fails(1, &["get", "more", "1"]).contains("no collection more"));
    let none = place.fails(1, &["sync", "orders", "recension.store#ide#orders"]);
    assert!(none.contains("no branch ide"), "{none}");
}
