//! The suite `apocrypha`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn every_server_of_members_that_is_here_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "apocrypha");
    let everybodys =
        ["get_1_100", "get_1_100k", "get_within_10k", "set_1", "set_within_10k", "get_20", "set_10", "mixed_10"];
    measured_or_explained(&report, &everybodys);
    for subject in report["subjects"].as_array().unwrap() {
        if subject.get("reason").is_some_and(serde_json::Value::is_string) {
            continue;
        }
        let name = subject["name"].as_str().unwrap();
        // Those that print their commands, and those that have something to start with.
        let traced = name.starts_with("recension");
        let has_row = |operation: &str| {
            let mut rows = report["results"].as_array().unwrap().iter();
            rows.any(|row| row["operation"] == operation && row["subject"] == name)
        };
        assert_eq!(has_row("get_traced"), traced, "{name}");
        assert_eq!(row(&report, "start", name)["median"].is_number(), subject["tier"] != "T0", "{name}");
        assert!(row(&report, "set_1", name)["quantiles"]["p99"].as_u64() > Some(0));
    }
}
