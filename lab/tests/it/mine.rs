//! The suite `mine`: a user's own workload.

use std::path::Path;
use std::process::Command;

use crate::common::{row, run_with};

fn example(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("workloads").join(name).display().to_string()
}

#[test]
fn the_examples_run_and_every_store_of_less_durability_says_why_it_does_not() {
    for (name, absent, present) in [("orders.toml", "memory", "scan_p99"), ("readings.toml", "memory", "insert")] {
        let dir = tempfile::tempdir().unwrap();
        let report = run_with(dir.path(), "mine", &["--workload", &example(name), "--subjects", "recension,memory"]);
        for operation in ["all", "all_p99", present, "size"] {
            assert!(row(&report, operation, "recension")["median"].as_f64().unwrap() > 0.0, "{name}: {operation}");
        }
        let reason = row(&report, "all", absent)["reason"].as_str().unwrap();
        assert!(reason.contains("the workload asks for T"), "{reason}");
    }
}

#[test]
fn without_a_workload_and_with_a_wrong_one_it_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let wrong = dir.path().join("wrong.toml");
    let text = std::fs::read_to_string(example("orders.toml")).unwrap();
    std::fs::write(&wrong, text.replace("clients = 4", "clints = 4")).unwrap();
    let wrong = wrong.to_str().unwrap();
    for (args, part) in [
        (vec!["--silent"], "--workload FILE.toml"),
        (vec!["--workload", wrong], "unknown field `clints`"),
        (vec!["--workload", "none.toml"], "none.toml"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_recension-lab"))
            .args(["run", "mine", "--wait", "0", "--any-filesystem", "--dir"])
            .arg(dir.path().join("data"))
            .arg("--out")
            .arg(dir.path().join("out"))
            .args(&args)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(part), "{args:?}: {said}");
    }
}
