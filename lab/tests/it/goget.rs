//! The suite `goget`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn every_database_that_is_here_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "goget");
    let operations: Vec<String> = report["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation["name"].as_str().unwrap().to_owned())
        // Beyond memory only where a budget is given.
        .filter(|name| !name.starts_with("xl_"))
        .collect();
    let names: Vec<&str> = operations.iter().map(String::as_str).collect();
    measured_or_explained(&report, &names);
    let xl = row(&report, "xl_get_id", "recension");
    assert!(xl["reason"].as_str().unwrap().contains("--budget MIB"), "{xl}");
    // The floor writes what calls bring, and answers nothing.
    for (operation, part) in [
        ("sm_new", true),
        ("lg2_new", true),
        ("lg2_update", true),
        ("lg2_delete", false),
        ("lg2_list", false),
        ("lg2_size", false),
    ] {
        let floor = report["results"].as_array().unwrap().iter();
        let mut floor = floor.filter(|row| row["operation"] == operation && row["subject"] == "raw");
        assert_eq!(floor.any(|row| row["median"].as_f64().is_some_and(|ns| ns > 0.0)), part, "{operation}");
    }
    // Ours needs nothing that could be missing.
    assert!(row(&report, "lg2_list", "recension")["median"].is_number());
}
