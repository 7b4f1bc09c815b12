//! The suite `ycsb`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn clients_in_threads_and_in_processes_are_answered_as_they_know_and_keep_what_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "ycsb");
    let operations = ["load", "a", "a_p99", "b", "c", "d", "e", "f", "f_p99"];
    measured_or_explained(&report, &operations);
    for subject in ["recension", "processes-recension"] {
        for operation in operations {
            let row = row(&report, operation, subject);
            assert!(row["median"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
}
