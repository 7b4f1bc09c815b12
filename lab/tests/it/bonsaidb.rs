//! The suite `bonsaidb`.

use crate::common::{measured_or_explained, row, run};
use serde_json::Value;

/// The report with the subjects alone that have a part.
fn only(report: &Value, names: &[&str]) -> Value {
    let mut report = report.clone();
    let subjects = report["subjects"].as_array_mut().unwrap();
    subjects.retain(|subject| names.contains(&subject["name"].as_str().unwrap()));
    assert_eq!(subjects.len(), names.len());
    report
}

#[test]
fn every_store_that_is_here_is_measured_in_what_it_has_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "bonsaidb");
    let documents = ["recension", "bonsaidb", "sqlite", "postgresql", "redis"];
    measured_or_explained(&only(&report, &documents), &["save_1k", "save_2k", "save_8k", "save_32k", "save_1m"]);
    let keys = ["recension", "bonsaidb-keys", "sqlite", "postgresql", "redis"];
    measured_or_explained(&only(&report, &keys), &["kv_set", "kv_get", "kv_increment"]);
    let steps = ["load", "find_product", "lookup_product", "create_cart", "add_to_cart", "checkout", "review"];
    let shops =
        ["shop_small_balanced_1", "shop_small_balanced_cpus", "shop_medium_balanced_1", "shop_medium_balanced_cpus"];
    for operations in [&steps[..], &shops[..]] {
        measured_or_explained(&only(&report, &["recension", "bonsaidb", "sqlite", "postgresql"]), operations);
    }
    // What other runs measure says so, and what keeps less is labelled.
    let large = row(&report, "shop_large_readheavy_cpus", "recension");
    assert_eq!(large["reason"], "only in full runs");
    assert_eq!(row(&report, "kv_set", "bonsaidb-keys")["tier"], "T0");
    assert!(row(&report, "review", "recension")["median"].is_number());
}
