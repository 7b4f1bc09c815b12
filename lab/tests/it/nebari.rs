//! The suite `nebari`.

use crate::common::{measured_or_explained, row, run, run_with};

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
    for operation in ["insert_rnd_10000", "update_1000_history", "get_asof", "delete_1", "get_seq_1_large", "blob_64m"]
    {
        assert!(row(&report, operation, "recension")["median"].is_number(), "{operation}");
    }
    let couchdb = row(&report, "insert_seq_1", "couchdb")["reason"].as_str().unwrap();
    assert!(couchdb.contains("the suite `http`"), "{couchdb}");
}

#[test]
fn dropped_deletes_and_a_wrong_past_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let report = run_with(dir.path(), "nebari", &["--subjects", "recension,lying-keeping,lying-present"]);
    for (operation, subject) in [("delete_1", "lying-keeping"), ("get_asof", "lying-present")] {
        assert!(row(&report, operation, "recension")["median"].is_number(), "{operation}");
        let found = row(&report, operation, subject);
        assert!(found["median"].is_null(), "{found}");
        assert!(found["reason"].as_str().unwrap().contains("wrong answer"), "{found}");
    }
}

/// Making them takes longest; what a process was given while it reads them is to be another one's in the next sitting.
#[test]
fn large_sets_are_made_once_and_read_by_a_process_for_each_sitting() {
    let dir = tempfile::tempdir().unwrap();
    let report = run_with(dir.path(), "nebari", &["--subjects", "recension,memory", "--sittings", "3"]);
    let sittings = |operation: &str, subject: &str| row(&report, operation, subject)["sittings"].to_string();
    for operation in ["get_seq_1_large", "scan_rnd_16th_large", "insert_seq_1"] {
        for subject in ["recension", "memory"] {
            assert_eq!(sittings(operation, subject), "[2,2,2]", "{operation} of {subject}");
        }
        assert_eq!(row(&report, operation, "memory")["ours_to_this"]["n"], 6, "{operation}");
    }
    assert_eq!(row(&report, "blob_64m", "recension")["n"], 1, "and the largest blobs are written in the last");
}
