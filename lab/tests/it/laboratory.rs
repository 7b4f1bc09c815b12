//! The program as its users run it, with the subjects that need no peers and sizes that mean nothing.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common::schema;

fn lab(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_recension-lab")).args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the suite in a directory; returns the report and what was printed.
fn run(dir: &Path, subjects: &str) -> (Value, String) {
    let (data, out) = (dir.join("data"), dir.join("out"));
    let output = lab(&[
        "run",
        "engine",
        "--rows",
        "400",
        "--subjects",
        subjects,
        "--silent",
        "--any-filesystem",
        "--dir",
        data.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report = std::fs::read_to_string(out.join("engine.json")).unwrap();
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 0, "the run removes its stores");
    (serde_json::from_str(&report).unwrap(), text(&output.stdout))
}

fn row<'r>(report: &'r Value, operation: &str, subject: &str) -> Option<&'r Value> {
    let mut rows = report["results"].as_array().unwrap().iter();
    rows.find(|row| row["operation"] == operation && row["subject"] == subject)
}

#[test]
fn a_run_measures_every_operation_and_says_why_where_it_cannot() {
    let dir = tempfile::tempdir().unwrap();
    let (report, printed) = run(dir.path(), "recension,memory,redb,raw");
    assert_eq!(schema::faults(&report), Vec::<String>::new());
    for operation in report["operations"].as_array().unwrap() {
        let name = operation["name"].as_str().unwrap();
        let row = row(&report, name, "recension").unwrap_or_else(|| panic!("no row of {name}"));
        assert!(row["median"].is_number() || row["reason"].is_string(), "{row}");
        assert_eq!(row["unit"], operation["unit"]);
        if let Some(median) = row["median"].as_f64() {
            let (low, high) = (row["low"].as_f64().unwrap(), row["high"].as_f64().unwrap());
            assert!(low <= median && median <= high && row["n"].as_u64().unwrap() > 0, "{row}");
        }
        assert!(printed.contains(name), "{printed}");
    }
    for name in ["load", "get_1", "get_2", "range_100_fresh", "range_100_settled", "get_asof"] {
        assert!(row(&report, name, "recension").unwrap()["cpu_median"].is_number(), "{name}");
        assert!(row(&report, name, "memory").unwrap()["ours_to_this"].is_object(), "{name}");
    }
    let raw = row(&report, "put_durable_1", "raw").unwrap();
    assert!(raw["median"].as_f64().unwrap() > 0.0);
    assert_eq!(row(&report, "size_fresh", "raw").unwrap()["median"], 400.0 * 316.0);
    assert!(row(&report, "get_1", "raw").is_none(), "the floor answers no reads");
    if cfg!(not(feature = "redb")) {
        let redb = row(&report, "get_1", "redb").unwrap();
        assert!(redb["median"].is_null() && redb["reason"].as_str().unwrap().contains("`redb`"), "{redb}");
    }
    // Where syncs can be counted, one for each commit is what we promise, and what the floor does.
    for subject in ["recension", "raw"] {
        let syncs = row(&report, "syncs_per_commit", subject).unwrap();
        match syncs["median"].as_f64() {
            Some(count) => assert!((1.0..1.5).contains(&count), "{syncs}"),
            None => assert!(syncs["reason"].as_str().unwrap().contains("strace"), "{syncs}"),
        }
    }
    let memory = report["subjects"].as_array().unwrap().iter().find(|subject| subject["name"] == "memory").unwrap();
    assert_eq!(memory["tier"], "T0");
    assert!(memory.get("reason").is_none(), "{memory}");
    let machine = &report["calibration"];
    assert!(machine["sync_ns"].as_f64().unwrap() > 0.0 && machine["cpu"].is_string());
}

#[test]
fn several_sittings_are_one_report_with_intervals_over_them() {
    let dir = tempfile::tempdir().unwrap();
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    let mut args =
        vec!["run", "goget", "--rows", "150", "--subjects", "recension,sqlite,raw", "--sittings", "6", "--silent"];
    args.extend(["--any-filesystem", "--dir", data.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let output = lab(&args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_str(&std::fs::read_to_string(out.join("goget.json")).unwrap()).unwrap();
    assert_eq!(schema::faults(&report), Vec::<String>::new());
    assert_eq!(report["sittings"], 6);
    assert!(report["sizes"].as_str().unwrap().starts_with("in each of 6 sittings "), "{}", report["sizes"]);
    assert!(report["command"].as_str().unwrap().contains(" --sittings 6 "), "{}", report["command"]);
    let mut names: Vec<(&str, &str)> = Vec::new();
    for row in report["results"].as_array().unwrap() {
        names.push((row["operation"].as_str().unwrap(), row["subject"].as_str().unwrap()));
        let Some(median) = row["median"].as_f64() else { continue };
        // Each sitting's median is within the interval, and of two rounds (or one look) each.
        let counts: Vec<u64> =
            row["sittings"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect();
        let samples = row["samples"].as_array().unwrap();
        assert_eq!((counts.len(), counts.iter().sum::<u64>()), (6, samples.len() as u64), "{row}");
        let (low, high) = (row["low"].as_f64().unwrap(), row["high"].as_f64().unwrap());
        assert!(low <= median && median <= high, "{row}");
        if counts == [1; 6] {
            let least = samples.iter().map(|sample| sample.as_f64().unwrap()).fold(f64::INFINITY, f64::min);
            assert!((least - low).abs() < 1e-9, "{row}");
        }
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "one row an operation and subject");
    // A new account is measured against the floor in each sitting, and so is what is looked at once in each.
    for (operation, subject) in [("lg2_new", "raw"), ("lg2_reopen", "sqlite"), ("lg2_size", "sqlite")] {
        let found = row(&report, operation, subject).unwrap();
        assert!(found["median"].is_null() || found["ours_to_this"].is_object(), "{found}");
    }
    assert!(row(&report, "lg2_new", "raw").unwrap()["ours_to_this"]["low"].is_number());
}

#[test]
fn a_report_is_printed_again_recorded_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    let (mut report, _) = run(dir.path(), "recension,raw");
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let before = path("out/engine.json");

    let csv = text(&lab(&["report", &before, "--csv"]).stdout);
    assert!(csv.starts_with("suite,operation,subject,tier,unit,median"), "{csv}");
    assert!(csv.contains("engine,put_durable_1,raw,"), "{csv}");
    let summary = "# Head\n\n<!-- lab:summary -->\nold\n<!-- /lab:summary -->\n";
    std::fs::write(path("BENCHMARKS.md"), summary).unwrap();
    assert!(lab(&["report", &before, "--record", &path("")]).status.success());
    let page = std::fs::read_to_string(path("docs/benchmarks/engine.md")).unwrap();
    let (losses, figures) = (page.find("## Where we lose").unwrap(), page.find("## Figures").unwrap());
    assert!(losses < figures && page.contains("| `put_durable_1` |"), "{page}");
    let summary = std::fs::read_to_string(path("BENCHMARKS.md")).unwrap();
    assert!(summary.contains("| commit a row, durable to loss of power |") && !summary.contains("old"), "{summary}");
    std::fs::remove_file(path("docs/benchmarks/summary.svg")).unwrap();
    assert!(lab(&["summary", &path("")]).status.success());
    assert!(std::fs::read_to_string(path("docs/benchmarks/summary.svg")).unwrap().starts_with("<svg"));
    assert_eq!(std::fs::read_to_string(path("BENCHMARKS.md")).unwrap(), summary);

    // The same report is no change; ours a thousand times slower is worse, however noisy two rounds were, and the exit
    // code says so.
    let same = lab(&["compare", &before, &before]);
    assert_eq!(same.status.code(), Some(0), "{}", text(&same.stdout));
    for row in report["results"].as_array_mut().unwrap() {
        if row["operation"] == "get_1" {
            for field in ["median", "low", "high"] {
                row[field] = (row[field].as_f64().unwrap() * 1000.0).into();
            }
        }
    }
    std::fs::write(path("slower.json"), report.to_string()).unwrap();
    let slower = lab(&["compare", &before, &path("slower.json")]);
    assert_eq!(slower.status.code(), Some(3), "{}", text(&slower.stdout));
    assert!(text(&slower.stdout).contains("worse: get_1"), "{}", text(&slower.stdout));

    // Another machine: no absolute time, and no verdict.
    report["calibration"]["cpu"] = "abacus".into();
    std::fs::write(path("other.json"), report.to_string()).unwrap();
    let other = lab(&["compare", &before, &path("other.json")]);
    let printed = text(&other.stdout);
    assert_eq!(other.status.code(), Some(0), "{printed}");
    assert!(printed.contains("two machines") && !printed.contains(" us "), "{printed}");
}

#[test]
fn what_the_schema_does_not_say_is_found_in_a_report() {
    let dir = tempfile::tempdir().unwrap();
    let (report, _) = run(dir.path(), "raw");
    assert_eq!(schema::faults(&report), Vec::<String>::new());
    for (path, value) in [
        ("/results/0/tier", "T9".into()),
        ("/results/0/median", "fast".into()),
        ("/results/0/n", Value::Null),
        ("/calibration/cores", 0.into()),
        ("/subjects/0", serde_json::json!({"name": "raw"})),
        ("/calibration_after", 7.into()),
        ("/operations/0", serde_json::json!({"name": "a", "unit": "ns", "what": "b", "weight": 1})),
    ] {
        let mut spoilt = report.clone();
        *spoilt.pointer_mut(path).unwrap() = value;
        assert!(!schema::faults(&spoilt).is_empty(), "{path}");
    }
}

#[test]
fn an_interrupted_run_keeps_what_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_recension-lab"))
        .args(["run", "engine", "--rows", "400", "--subjects", "recension", "--any-filesystem", "--dir", "data"])
        .args(["--out", "out"])
        .current_dir(dir.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    // Two operations later the load's rounds are over.
    assert!(said.any(|line| line.split_whitespace().next() == Some("get_1")), "progress says what is measured");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let last = said.last().unwrap_or_default();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{last}");
    assert!(last.contains("what was measured so far is kept"), "{last}");
    let report: Value = serde_json::from_slice(&std::fs::read(dir.path().join("out/engine.json")).unwrap()).unwrap();
    assert_eq!(report["interrupted"], true);
    assert!(row(&report, "load", "recension").unwrap()["median"].is_number());
    assert!(row(&report, "doc_list_50k", "recension").is_none());
    assert_eq!(std::fs::read_dir(dir.path().join("data")).unwrap().count(), 0, "the stores are removed");
}

#[test]
fn mistakes_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().to_str().unwrap();
    let missing = format!("{data}/none.json");
    for (args, code, part) in [
        (vec!["run", "oracle", "--dir", data], 2, "there is no suite \"oracle\"; there are engine"),
        (vec!["run", "engine", "--subjects", "oracle", "--dir", data], 2, "there is no subject \"oracle\""),
        (vec!["report", &missing], 1, "none.json"),
        (vec!["report", "Cargo.toml"], 1, "is no report of this laboratory"),
        (vec!["run"], 2, "<SUITES>"),
        // Before anything is measured, and not when the disk is full.
        (
            vec![
                "run",
                "goget",
                "--budget",
                "999999999",
                "--subjects",
                "recension",
                "--any-filesystem",
                "--dir",
                data,
                "--silent",
                "--wait",
                "0",
            ],
            2,
            "give --dir on a larger disk, a smaller --budget MIB, or fewer --subjects",
        ),
    ] {
        let output = lab(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(part), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_reader_that_goes_away_loses_no_figures_and_no_run() {
    let dir = tempfile::tempdir().unwrap();
    let (data, out) = (dir.path().join("data"), dir.path().join("out"));
    let (data, out) = (data.to_str().unwrap(), out.to_str().unwrap());
    let into_closed_pipe = |args: &[&str]| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = Command::new(env!("CARGO_BIN_EXE_recension-lab")).args(args).stdout(writer).output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{args:?}");
    };
    let same = ["--rows", "400", "--silent", "--any-filesystem", "--dir", data, "--out", out];
    // The second is measured as well.
    into_closed_pipe(&[&["run", "goget", "engine", "--subjects", "recension"], &same[..]].concat());
    for suite in ["goget", "engine"] {
        let file = format!("{out}/{suite}.json");
        let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(schema::faults(&report), Vec::<String>::new());
        assert!(std::fs::read_to_string(format!("{out}/{suite}.html")).unwrap().ends_with("</html>\n"));
        into_closed_pipe(&["report", &file]);
        into_closed_pipe(&["compare", &file, &file]);
    }
    into_closed_pipe(&["list"]);
    into_closed_pipe(&["doctor", "--dir", data]);
}

#[test]
fn what_there_is_and_what_the_machine_can_do_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let list = text(&lab(&["list"]).stdout);
    assert!(list.contains("suite engine") && list.contains("put_durable_16") && list.contains("surrealkv"), "{list}");
    let doctor = text(&lab(&["doctor", "--dir", dir.path().to_str().unwrap()]).stdout);
    assert!(doctor.contains("filesystem") && doctor.contains("strace"), "{doctor}");
    // Whatever is missing: what to do about it, once.
    assert!(doctor.contains("mongodb: needs a server at a URL"), "{doctor}");
    let (said, installs) = doctor.split_once("What is missing can be had with\n").unwrap_or((&doctor, ""));
    for line in said.lines().filter(|line| line.starts_with("(no)")) {
        // Each part of what is missing has its command.
        for command in line.split('`').skip(1).step_by(2).filter(|part| part.starts_with("apt-get ")) {
            assert_eq!(installs.lines().filter(|install| install.trim() == command).count(), 1, "{command}: {doctor}");
        }
    }
    let calibration = lab(&["calibrate", "--json", "--dir", dir.path().to_str().unwrap()]);
    let calibration: Value = serde_json::from_slice(&calibration.stdout).unwrap();
    assert!(calibration["memcpy_bytes_per_second"].as_f64().unwrap() > 0.0);
}
