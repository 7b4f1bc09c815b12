//! The suite `hasql`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn every_client_that_is_here_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "hasql");
    measured_or_explained(&report, &["parse_100", "parse_10k", "parameters", "transfer", "transfer_8"]);
    // Ours needs nothing that could be missing, and tries again by itself.
    assert!(row(&report, "transfer_8", "recension")["median"].is_number());
    assert_eq!(row(&report, "transfer_8_retries", "recension")["median"], 0.0);
}
