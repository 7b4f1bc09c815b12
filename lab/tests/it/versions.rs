//! The suite `versions`.

use crate::common::{measured_or_explained, run};

#[test]
fn every_store_that_is_here_keeps_the_versions_that_the_model_has() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "versions");
    measured_or_explained(&report, &["write_long", "size_long", "load", "size"]);
    let rows = report["results"].as_array().unwrap();
    let subjects = report["subjects"].as_array().unwrap().iter();
    for subject in subjects.filter(|subject| subject["reason"].is_null()) {
        let own = || rows.iter().filter(|row| row["subject"] == subject["name"]);
        assert_eq!(own().count(), 19, "{subject}");
        let failed = own().filter(|row| row["median"].is_null());
        assert_eq!(failed.map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    }
}
