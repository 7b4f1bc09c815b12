//! What has changed, and what changes while somebody looks.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use crate::common::Place;
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(text: &str) -> Vec<String> {
    lines(text).iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
}

fn filled() -> Place {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"n":1}"#]);
    place.ok(&["put", "people", "ada", r#"{"n":2}"#]);
    place.ok(&["put", "notes", "b", r#"{"n":3}"#]);
    place.ok(&["put", "notes", "a", r#"{"n":4.50}"#]);
    place.ok(&["delete", "notes", "b"]);
    place
}

#[test]
fn every_document_is_listed_once_at_its_last_change() {
    let place = filled();
    assert_eq!(ids(&place.ok(&["changes"])), ["ada", "a", "b"]);
    assert_eq!(ids(&place.ok(&["changes", "notes"])), ["a", "b"]);
    assert_eq!(ids(&place.ok(&["changes", "notes", "--since", "4"])), ["b"]);
    assert_eq!(ids(&place.ok(&["changes", "--limit", "2"])), ["ada", "a"]);
    assert_eq!(ids(&place.ok(&["changes", "notes", "--at", "3"])), ["a", "b"]);
    assert_eq!(ids(&place.ok(&["changes", "--where", "n >= 2"])), ["ada", "a"]);
    assert_eq!(ids(&place.ok(&["changes", "notes", "--where", "n >= 5"])), [""; 0]);
    assert_eq!(ids(&place.ok(&["changes", "notes", "--where", "n missing"])), ["b"], "a deletion says nothing");
    assert_eq!(ids(&place.ok(&["changes", "--id", "a,b,c", "--where", "n > 4"])), ["a"]);
    assert_eq!(ids(&place.ok(&["changes", "notes", "--id", "b", "--follow", "--limit", "1"])), ["b"]);
    assert!(place.fails(2, &["changes", "--where", "n >"]).contains("expected a value"));
    let documents = place.ok(&["changes", "notes", "--include-docs"]);
    assert!(documents.contains(r#""n":4.50}"#), "{documents}");
    let documents = lines(&documents);
    assert_eq!((&documents[1]["deleted"], documents[1].get("doc")), (&Value::Bool(true), None));
    let then = lines(&place.ok(&["changes", "notes", "--include-docs", "--at", "3"]));
    assert_eq!((&then[0]["doc"]["n"], &then[1]["doc"]["n"]), (&Value::from(1), &Value::from(3)));
    assert!(place.fails(1, &["changes", "nothing"]).contains("no collection nothing"));
    assert!(place.fails(2, &["changes", "--since", "x"]).contains("position"));
    assert!(place.fails(2, &["changes", "notes", "--follow", "--at", "3"]).contains("cannot be used"));
}

#[test]
fn what_was_said_to_go_on_from_goes_on() {
    let place = filled();
    let mut seen = Vec::new();
    let mut since = "0".to_owned();
    loop {
        let ended = place.run(&["changes", "--limit", "1", "--since", &since]);
        let (_, position) = ended.err.trim().rsplit_once(' ').unwrap();
        since = position.to_owned();
        if ended.out.is_empty() {
            break;
        }
        seen.extend(ids(&ended.out));
    }
    assert_eq!(seen, ["ada", "a", "b"]);
    let changes = |limit: &str| ids(&place.ok(&["changes", "--position-file", "at", "--limit", limit]));
    assert_eq!(changes("2"), ["ada", "a"]);
    assert_eq!(changes("0"), ["b"]);
    assert!(changes("0").is_empty());
    place.ok(&["put", "notes", "b", "{}"]);
    assert_eq!(changes("0"), ["b"]);
    place.file("at", "nonsense");
    assert!(place.fails(5, &["changes", "--position-file", "at"]).contains("at: "));
    assert_eq!(std::fs::read_to_string(place.path().join("at")).unwrap(), "nonsense", "left as it was");
}

#[test]
fn following_waits_until_ctrl_c_and_the_position_is_kept() {
    let place = filled();
    let mut command = place.command(&["changes", "--follow", "--position-file", "at"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let seen: Vec<String> = out.by_ref().take(3).flat_map(|line| ids(&line)).collect();
    assert_eq!(seen, ["ada", "a", "b"]);
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(out.next(), None);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("3 changes; continue with --since 5"), "{said}");
    assert_eq!(std::fs::read_to_string(place.path().join("at")).unwrap(), "5\n");
    assert_eq!(ids(&place.ok(&["changes", "--follow", "--limit", "2"])), ["ada", "a"]);
}

#[test]
fn following_ends_when_nobody_reads_any_more_though_nothing_changes() {
    let place = filled();
    let mut child = place.command(&["changes", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    drop(out);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
