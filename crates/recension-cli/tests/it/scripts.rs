//! The scripts behind `make`: what they count is what a reader believes.

use std::io::Write;
use std::process::{Command, Stdio};

/// What a script says of a log on its standard input.
fn told(script: &str, args: &[&str], log: &str) -> (i32, String) {
    let script = format!("{}/../../scripts/{script}", env!("CARGO_MANIFEST_DIR"));
    let mut child = Command::new(script).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_summary_sums_every_result_and_hides_no_failure() {
    let passed = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let failed = "test result: FAILED. 2 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n";
    for (steps_failed, log, code, line) in [
        ("0", passed.to_owned(), 0, "3 passed, 0 failed, 1 skipped\n"),
        ("0", format!("{passed}noise\ntest a ... ok\n{passed}"), 0, "6 passed, 0 failed, 2 skipped\n"),
        ("1", format!("{passed}{failed}"), 1, "5 passed, 2 failed, 1 skipped\n"),
        // A lint, or a test binary that was killed: no result line counts it.
        ("1", passed.to_owned(), 1, "3 passed, 1 failed, 1 skipped\n"),
        ("0", String::new(), 1, "no test ran\n0 passed, 1 failed\n"),
    ] {
        assert_eq!(told("count-tests", &[steps_failed], &log), (code, line.to_owned()), "{log}");
    }
}

#[test]
fn tests_that_failed_are_named_at_the_end_of_a_long_log() {
    let rust = "test a::passes ... ok <0.1s>\ntest a::fails ... FAILED <0.1s>\n\n---- a::fails stdout ----\n\n\
        thread 'a::fails' panicked at a.rs:1:\nleft: 1\n\nfailures:\n    a::fails\n";
    let others = "    not ok 3 - a view is read\nok 4 - other\nFAILED test_a.py::test_b - assert 1 == 2\n";
    let said = told("failed-tests", &[], &format!("{rust}{others}")).1;
    assert_eq!(said.lines().next(), Some("FAILED: a::fails"), "{said}");
    for word in ["panicked at a.rs:1:", "left: 1", "not ok 3 - a view is read", "FAILED test_a.py::test_b"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    assert!(!said.contains("passes") && !said.contains("ok 4"), "{said}");
}

#[test]
fn a_part_of_the_tests_that_there_is_not_is_explained() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/test");
    let output = Command::new(script).env("PART", "laboratory").stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no part 'laboratory'") && said.contains("PART=core") && said.contains("PART=lab"), "{said}");
}

#[test]
fn every_script_is_sound_and_can_be_run() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    for name in [".ci/run", "scripts/bench", "scripts/count-tests", "scripts/dist", "scripts/docs"].into_iter().chain([
        "scripts/check-commits",
        "scripts/check-dependencies",
        "scripts/check-packages",
        "scripts/failed-tests",
        "scripts/fetch-cities",
        "scripts/licences",
        "scripts/lint",
        "scripts/modules",
        "scripts/run",
        "scripts/run-tests",
        "scripts/test",
        "scripts/toolchain",
    ]) {
        let path = format!("{root}/{name}");
        let is_python = std::fs::read_to_string(&path).unwrap().starts_with("#!/usr/bin/env python3");
        let (program, check) = if is_python {
            ("python3", ["-c", "import ast, sys; ast.parse(open(sys.argv[1]).read())"].as_slice())
        } else {
            ("bash", ["-n"].as_slice())
        };
        assert!(Command::new(program).args(check).arg(&path).status().unwrap().success(), "{name}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o111, 0o111, "{name} cannot be run");
    }
}
