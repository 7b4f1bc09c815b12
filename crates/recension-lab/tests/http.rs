//! The suite `http` as its users run it, in sizes that mean nothing.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn run(dir: &Path, subjects: &str) -> Value {
    let (data, out) = (dir.join("data"), dir.join("out"));
    let output = Command::new(env!("CARGO_BIN_EXE_recension-lab"))
        .args(["run", "http", "--rows", "100", "--silent", "--any-filesystem", "--subjects", subjects, "--dir"])
        .arg(&data)
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "the run removes its stores");
    serde_json::from_str(&std::fs::read_to_string(out.join("http.json")).unwrap()).unwrap()
}

fn row<'r>(report: &'r Value, operation: &str, subject: &str) -> &'r Value {
    let mut rows = report["results"].as_array().unwrap().iter();
    let found = rows.find(|row| row["operation"] == operation && row["subject"] == subject);
    found.unwrap_or_else(|| panic!("no row of {operation} of {subject}: {}", report["subjects"]))
}

#[test]
fn every_server_that_is_here_is_measured_and_every_other_says_why_not() {
    let dir = tempfile::tempdir().unwrap();
    let report = run(dir.path(), "recension,express-pouchdb,couchdb,redis,hyper");
    for subject in report["subjects"].as_array().unwrap() {
        let name = subject["name"].as_str().unwrap();
        for operation in ["get_1", "get_64", "get_64_p99", "put_1", "put_64", "put_offered_p99", "get_64_client_cpu"] {
            let row = row(&report, operation, name);
            match subject["reason"].as_str() {
                // What cannot run says what to do; what runs and fails is a fault.
                Some(reason) => {
                    let known = ["apt-get install", "scripts/node-packages", "--recension", "--couchdb-url"];
                    assert!(known.iter().any(|part| reason.contains(part)), "{name}: {reason}");
                    assert!(row["median"].is_null() && row["reason"].is_string(), "{row}");
                }
                None => assert!(row["median"].as_f64().unwrap() > 0.0, "{row}"),
            }
        }
    }
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
