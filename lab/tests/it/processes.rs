//! The suite `processes`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn a_store_that_another_process_owns_is_read_and_written_and_keeps_what_it_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "processes");
    measured_or_explained(&report, &["get", "get_64", "put_durable", "writers_8x8"]);
    for subject in ["recension", "recension-local"] {
        for operation in ["get", "get_64", "range_100", "put_durable", "writers_8x8"] {
            let row = row(&report, operation, subject);
            assert!(row["median"].as_f64().unwrap() > 0.0, "{row}");
        }
    }
    let redis = report["results"].as_array().unwrap().iter();
    let ranges = redis.filter(|row| row["subject"] == "redis" && row["operation"] == "range_100");
    assert_eq!(ranges.count(), 0, "Redis has no order");
}
