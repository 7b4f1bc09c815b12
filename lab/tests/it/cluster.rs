//! The suite `cluster`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn every_system_that_is_here_carries_one_node_and_three() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "cluster");
    measured_or_explained(&report, &["append", "append_best", "one_1", "one_16", "one_64", "three_16"]);
    assert!(row(&report, "three_16", "recension")["median"].is_number(), "a folder is always there");
}
