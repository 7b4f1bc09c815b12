//! Attachments: in from files and pipes, out again, listed, removed, and as they were.

use std::io::{Read, Write};
use std::process::Stdio;

use crate::common::Place;
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Bytes that no compression makes shorter, and that are not UTF-8.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| byte()).collect()
}

#[test]
fn what_is_put_is_listed_is_got_back_byte_for_byte_and_goes() {
    let place = Place::new();
    let first = lines(&place.ok(&["put", "notes", "a", r#"{"n":1.50}"#]));
    let picture = noise(3_000_000);
    place.file("map.png", &picture);
    let ended = place.run(&["attach", "put", "notes", "a", "map.png", "map.png"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.err.contains("of image/png in"), "{}", ended.err);
    let second = lines(&ended.out);
    assert!(second[0]["rev"].as_str().unwrap().starts_with("2-"), "{second:?}");
    place.ok_with(&["attach", "put", "notes", "a", "words", "-", "--type", "text/plain"], &b"many words ".repeat(1000));
    place.ok_with(&["attach", "put", "notes", "a", "nothing.bin", "-"], b"");

    let listed = lines(&place.ok(&["attach", "list", "notes", "a"]));
    let row = |name: &str| listed.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!(listed.len(), 3);
    assert_eq!((&row("map.png")["bytes"], &row("map.png")["stored_bytes"]), (&3_000_000.into(), &3_000_000.into()));
    assert_eq!((&row("map.png")["type"], &row("map.png")["revpos"]), (&"image/png".into(), &2.into()));
    assert_eq!(row("words")["bytes"], 11_000);
    assert!(row("words")["stored_bytes"].as_u64().unwrap() < 1000, "{listed:?}");
    assert_eq!(
        (&row("nothing.bin")["bytes"], &row("nothing.bin")["type"]),
        (&0.into(), &"application/octet-stream".into())
    );
    assert!(place.ok(&["get", "notes", "a"]).contains(r#""n":1.50"#), "the body stays as it is");

    place.ok(&["attach", "get", "notes", "a", "map.png", "-o", "back.png"]);
    assert_eq!(std::fs::read(place.path().join("back.png")).unwrap(), picture);
    assert_eq!(place.ok(&["attach", "get", "notes", "a", "words"]), "many words ".repeat(1000));
    let mut child = place.command(&["attach", "get", "notes", "a", "map.png"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut piped = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut piped).unwrap();
    assert!(child.wait().unwrap().success() && piped == picture);

    place.ok(&["attach", "rm", "notes", "a", "map.png"]);
    assert!(place.fails(1, &["attach", "get", "notes", "a", "map.png"]).contains("no attachment \"map.png\""));
    place.ok(&[
        "attach",
        "get",
        "notes",
        "a",
        "map.png",
        "--rev",
        second[0]["rev"].as_str().unwrap(),
        "-o",
        "then.png",
    ]);
    assert_eq!(std::fs::read(place.path().join("then.png")).unwrap(), picture);
    let then = first[0]["seq"].to_string();
    assert_eq!(place.run(&["attach", "list", "notes", "a", "--at", &then]).out, "");
    assert!(place.ok(&["verify"]).contains('0'));
}

#[test]
fn what_cannot_be_done_is_refused_with_its_own_code_and_leaves_no_file() {
    let place = Place::new();
    let written = lines(&place.ok(&["put", "notes", "a", "{}"]));
    let rev = written[0]["rev"].as_str().unwrap();
    let file = place.file("f.txt", "text");
    for (code, args, part) in [
        (1, &["attach", "get", "notes", "b", "x"][..], "no document \"b\""),
        (1, &["attach", "list", "nothing", "a"], "no collection nothing"),
        (1, &["attach", "rm", "notes", "a", "x"], "no attachment \"x\""),
        (1, &["attach", "get", "notes", "a", "x", "-o", "out"], "no attachment \"x\""),
        (1, &["attach", "list", "notes", "a", "--rev", "7-00000000000000000000000000000000"], "revision"),
        (2, &["attach", "put", "notes", "a", "_x", &file], "_"),
        (2, &["attach", "put", "notes", "a", "x", &file, "--type", "no\ntype"], "type"),
        (3, &["attach", "put", "notes", "a", "x", &file, "--rev", "1-00000000000000000000000000000000"], "revision"),
        (6, &["attach", "put", "notes", "a", "x", "missing.txt"], "missing.txt"),
        (2, &["attach", "put", "notes", "a", "x", "."], ". is a directory"),
    ] {
        let said = place.fails(code, args);
        assert!(said.contains(part), "{args:?}: {said}");
    }
    assert!(!place.path().join("out").exists());
    assert_eq!(lines(&place.ok(&["get", "notes", "a"]))[0]["_rev"], rev, "nothing was changed");
    place.ok(&["attach", "put", "notes", "a", "x", &file, "--rev", rev]);
    place.ok(&["attach", "put", "notes", "new", "x", &file]);
    assert!(place.ok(&["get", "notes", "new"]).contains("_attachments"));
}

#[test]
fn ctrl_c_in_the_middle_of_an_upload_leaves_the_document_as_it_was() {
    let place = Place::new();
    place.ok(&["put", "notes", "a", "{}"]);
    let mut command = place.command(&["attach", "put", "notes", "a", "x", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // More than a pipe holds: what is written was read, so that the command is under way.
    stdin.write_all(&noise(2_000_000)).unwrap();
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    // It looks when the next bytes come.
    let _ = stdin.write_all(&noise(300_000));
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(place.run(&["attach", "list", "notes", "a"]).out, "");
    place.ok(&["verify"]);
}
