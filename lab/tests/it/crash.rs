//! The suite `crash`, and that what lies is caught.

#[allow(dead_code)] // the suites that measure need more of it
use std::process::Command;

use crate::common::row;
use serde_json::Value;

fn lab(dir: &std::path::Path, args: &[&str], suite: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_recension-lab"))
        .args(args)
        .args(["--silent", "--any-filesystem", "--dir"])
        .arg(dir.join("data"))
        .arg("--out")
        .arg(dir)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&std::fs::read(dir.join(format!("{suite}.json"))).unwrap()).unwrap()
}

fn tier(report: &Value, name: &str) -> String {
    let subjects = report["subjects"].as_array().unwrap();
    subjects.iter().find(|subject| subject["name"] == name).unwrap()["tier"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_acknowledged_survives_and_whoever_lies_about_it_is_caught() {
    let dir = tempfile::tempdir().unwrap();
    let subjects = "recension,lying-unsynced,lying-dropping,lying-short";
    let report = lab(dir.path(), &["crash", "--rows", "150", "--subjects", subjects], "crash");
    let count = |operation: &str, subject: &str| row(&report, operation, subject)["median"].as_f64();
    for operation in ["kill_lost", "kill_broken", "power_lost", "power_broken", "torn_lost", "torn_broken"] {
        let ours = row(&report, operation, "recension");
        match ours["median"].as_f64() {
            Some(lost) => assert!(lost < 0.5, "{ours}"),
            None => {
                let reason = ours["reason"].as_str().unwrap();
                let known = ["x86-64", "C compiler", "seccomp"];
                assert!(known.iter().any(|part| reason.contains(part)), "{ours}");
            }
        }
    }
    assert!(row(&report, "kill_lost", "recension")["note"].as_str().unwrap().contains("acknowledged in 3 crashes"));
    assert!(count("kill_lost", "lying-dropping").unwrap() > 0.0);
    // What was written is in the system's memory: kill -9 does not show that it was not synced, loss of power does.
    assert!(count("kill_lost", "lying-unsynced").is_some_and(|lost| lost < 0.5));
    if count("power_lost", "recension").is_some() {
        assert!(count("power_lost", "lying-unsynced").unwrap() > 0.0);
        assert_eq!((tier(&report, "lying-unsynced").as_str(), tier(&report, "recension").as_str()), ("T1", "T2"));
    }
    assert_eq!(tier(&report, "lying-dropping"), "T0");
}

#[test]
fn verification_and_the_counter_of_syncs_catch_whoever_lies() {
    let dir = tempfile::tempdir().unwrap();
    let subjects = "recension,lying-unsynced,lying-dropping,lying-short";
    let report = lab(dir.path(), &["run", "engine", "--rows", "400", "--subjects", subjects], "engine");
    for (subject, part) in [("lying-dropping", "wrong answer"), ("lying-short", "wrong answer")] {
        let info = report["subjects"].as_array().unwrap().iter().find(|one| one["name"] == subject).unwrap();
        assert!(info["reason"].as_str().is_some_and(|reason| reason.contains(part)), "{info}");
    }
    let syncs = row(&report, "syncs_per_commit", "lying-unsynced");
    match syncs["median"].as_f64() {
        Some(count) => assert!(count < 0.5 && tier(&report, "lying-unsynced") == "T1", "{syncs}"),
        None => assert!(syncs["reason"].as_str().unwrap().contains("strace"), "{syncs}"),
    }
    assert_ne!(tier(&report, "recension"), "T0");
}
