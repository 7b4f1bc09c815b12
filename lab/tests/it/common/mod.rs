//! The program as its users run it, in sizes that mean nothing.

pub(crate) mod schema;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Runs a suite in a directory with all of its usual subjects; returns the report.
pub(crate) fn run(dir: &Path, suite: &str) -> Value {
    run_with(dir, suite, &[])
}

/// The same with more arguments.
pub(crate) fn run_with(dir: &Path, suite: &str, more: &[&str]) -> Value {
    let (data, out) = (dir.join("data"), dir.join("out"));
    let output = Command::new(env!("CARGO_BIN_EXE_recension-lab"))
        .args(["run", suite, "--rows", "100", "--silent", "--any-filesystem", "--dir"])
        .arg(&data)
        .arg("--out")
        .arg(&out)
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "the run removes its stores");
    let page = std::fs::read_to_string(out.join(format!("{suite}.html"))).unwrap();
    assert!(page.ends_with("</html>\n"), "{page}");
    let report = serde_json::from_str(&std::fs::read_to_string(out.join(format!("{suite}.json"))).unwrap()).unwrap();
    assert_eq!(schema::faults(&report), Vec::<String>::new());
    report
}

/// A row.
pub(crate) fn row<'r>(report: &'r Value, operation: &str, subject: &str) -> &'r Value {
    let mut rows = report["results"].as_array().unwrap().iter();
    let found = rows.find(|row| row["operation"] == operation && row["subject"] == subject);
    found.unwrap_or_else(|| panic!("no row of {operation} of {subject}: {}", report["subjects"]))
}

/// Looks at these rows of every subject: it was measured, or it cannot run here and says what to do about that.
/// What runs and fails is a fault. A floor does a part of it.
pub(crate) fn measured_or_explained(report: &Value, operations: &[&str]) {
    let subjects = report["subjects"].as_array().unwrap().iter();
    for subject in subjects.filter(|subject| subject["floor"] != true) {
        let name = subject["name"].as_str().unwrap();
        for operation in operations {
            let row = row(report, operation, name);
            match subject["reason"].as_str() {
                Some(reason) => {
                    let known = [
                        "apt-get install",
                        "scripts/node-packages",
                        "scripts/python-packages",
                        "is in no registry",
                        "--recension",
                        "--couchdb-url",
                        "cargo build --release -p recension-cli --features full",
                        "make bench",
                        "a server at a URL",
                    ];
                    assert!(known.iter().any(|part| reason.contains(part)), "{name}: {reason}");
                    assert!(row["median"].is_null() && row["reason"].is_string(), "{row}");
                }
                None => assert!(row["median"].as_f64().unwrap() > 0.0, "{row}"),
            }
        }
    }
}
