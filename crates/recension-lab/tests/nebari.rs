//! The suite `nebari`.

mod common;

use common::{measured_or_explained, row, run};

#[test]
fn every_store_that_is_built_in_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "nebari");
    let operations: Vec<String> = report["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation["name"].as_str().unwrap().to_owned())
        .collect();
    let names: Vec<&str> = operations.iter().map(String::as_str).collect();
    measured_or_explained(&report, &names);
    assert!(row(&report, "insert_rnd_10000", "recension")["median"].is_number());
}
