//! The suite `queries`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn every_store_that_is_here_answers_what_it_is_asked_as_all_orders_say() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "queries");
    measured_or_explained(&report, &["load"]);
    for subject in ["recension", "recension-http"] {
        for operation in ["equal", "or", "in_1000", "elem_match", "group_sum", "text_phrase", "update_where"] {
            let row = row(&report, operation, subject);
            assert!(row["median"].as_f64().is_some_and(|ns| ns > 0.0) || subject != "recension", "{row}");
            assert_eq!(row["median"].is_null(), row["reason"].is_string(), "{row}");
        }
    }
    let subjects = report["subjects"].as_array().unwrap().iter();
    let rows = report["results"].as_array().unwrap();
    for subject in subjects.filter(|subject| subject["reason"].is_null()) {
        let failed = rows.iter().filter(|row| row["subject"] == subject["name"] && row["median"].is_null());
        assert_eq!(failed.map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
    }
}
