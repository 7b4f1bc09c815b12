//! The suite `http`.

use crate::common::{measured_or_explained, row, run};

#[test]
fn every_server_that_is_here_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "http");
    let everybodys = ["get_1", "get_64", "get_64_p99", "put_1", "put_64", "put_offered_p99", "get_64_client_cpu"];
    measured_or_explained(&report, &everybodys);
    let floor = row(&report, "get_64", "hyper");
    let quantiles = &floor["quantiles"];
    assert!(quantiles["p50"].as_u64() <= quantiles["p99"].as_u64() && quantiles["max"].as_u64() > Some(0), "{floor}");
    assert_eq!(floor["tier"], "T0");
    let ours = report["subjects"].as_array().unwrap().iter().find(|subject| subject["name"] == "recension").unwrap();
    if ours.get("reason").is_none() {
        for operation in report["operations"].as_array().unwrap() {
            let row = row(&report, operation["name"].as_str().unwrap(), "recension");
            assert!(row["median"].is_number() || row["reason"].is_string(), "{row}");
        }
        // Where syncs can be counted: one for each PUT of a lone client is what our server promises.
        let syncs = row(&report, "syncs_per_put", "recension");
        assert!(syncs["median"].as_f64().is_none_or(|count| (1.0..2.0).contains(&count)), "{syncs}");
    }
}
