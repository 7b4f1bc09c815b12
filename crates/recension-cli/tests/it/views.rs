//! `recension views`.

use crate::common::Place;

const DESIGN: &str = r#"{"views":{
    "plain":{"map":"function(doc) { emit(doc.n, null) }"},
    "script":{"map":"function(doc) { emit(String(doc.n).length, 1) }"}}}"#;

fn states(place: &Place, arguments: &[&str]) -> Vec<(String, String, u64)> {
    let out = place.ok(&[&["views", "menu"], arguments].concat());
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| row[name].as_str().unwrap().to_owned();
        (text("view"), text("state"), row["rows"].as_u64().unwrap())
    };
    out.lines().map(row).collect()
}

/// Of each view, how many documents are in it, and how many there are.
fn mapped(place: &Place) -> Vec<[u64; 2]> {
    let row = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        ["mapped", "documents"].map(|name| row[name].as_u64().unwrap())
    };
    place.ok(&["views", "menu"]).lines().map(row).collect()
}

#[test]
fn views_are_listed_built_and_cleaned_up() {
    let place = Place::new();
    place.fails(6, &["views", "menu"]);
    place.ok(&["put", "menu", "a", r#"{"n":12}"#]);
    assert!(states(&place, &[]).is_empty());
    place.ok(&["put", "menu", "_design/d", DESIGN]);
    let own =
        |state: &str, rows| ["d/plain", "d/script"].map(|view| (view.to_owned(), state.to_owned(), rows)).to_vec();
    assert_eq!(states(&place, &[]), own("not built", 0));
    let built = [("d/plain", "in every commit"), ("d/script", "up to date")];
    let built = built.map(|(view, state)| (view.to_owned(), state.to_owned(), 1));
    assert_eq!(states(&place, &["--build"]), built);
    assert_eq!(mapped(&place), [[2, 2], [2, 2]]);
    assert_eq!(states(&place, &["--wait"]), built);
    assert_eq!(states(&place, &["d/plain"]), built[..1]);
    place.fails(1, &["views", "menu", "d/other"]);
    // A command that has not heard of the mapper leaves the view behind.
    place.ok(&["put", "menu", "b", r#"{"n":5}"#]);
    assert_eq!(states(&place, &[]), own("behind", 1));
    assert_eq!(mapped(&place), [[2, 3], [2, 3]]);
    assert_eq!(states(&place, &["d/script", "--build"])[0].2, 2);
    let (design, rev) = ("_design/d", r#"{"views":{"plain":{"map":"function(doc) { emit(doc.n, null) }"}}}"#);
    place.ok(&["put", "menu", design, rev]);
    let said = place.run(&["views", "menu", "--cleanup"]);
    assert!(said.err.contains("1 view was dropped"), "{}", said.err);
    assert_eq!(states(&place, &["--build"])[0].2, 2);
}
