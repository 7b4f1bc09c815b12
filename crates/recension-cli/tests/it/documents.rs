//! One document from its creation to its restoration, as programs and people see it.

use crate::common::Place;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_document_is_put_read_changed_looked_back_at_deleted_and_restored() {
    let place = Place::new();
    let first = json(&place.ok(&["put", "cities", "porto", r#"{"name":"Porto","population":252687}"#]));
    assert_eq!(first["id"], "porto");
    assert_eq!(first["seq"], 1);
    let got = json(&place.ok(&["get", "cities", "porto"]));
    assert_eq!(got["population"], 252_687);
    assert_eq!(got["_rev"], first["rev"]);

    let second = json(&place.ok(&["put", "cities", "porto", "--merge", r#"{"population":300000,"note":"new"}"#]));
    assert!(second["rev"].as_str().unwrap().starts_with("2-"));
    let got = place.ok(&["get", "cities", "porto"]);
    assert!(got.contains(r#""name":"Porto","population":300000,"note":"new"}"#), "{got}");

    for at in [first["seq"].to_string(), first["time"].as_str().unwrap().to_owned()] {
        assert_eq!(json(&place.ok(&["get", "cities", "porto", "--at", &at]))["population"], 252_687, "{at}");
    }
    let by_rev = place.ok(&["get", "cities", "porto", "--rev", first["rev"].as_str().unwrap()]);
    assert_eq!(json(&by_rev)["population"], 252_687);

    let third = json(&place.ok(&["delete", "cities", "porto"]));
    assert!(place.fails(1, &["get", "cities", "porto"]).contains("no document \"porto\" in cities"));
    let history = place.ok(&["history", "cities", "porto"]);
    let history: Vec<Value> = history.lines().map(json).collect();
    let seqs: Vec<_> = history.iter().map(|revision| revision["rev"].clone()).collect();
    assert_eq!(seqs, [third["rev"].clone(), second["rev"].clone(), first["rev"].clone()]);
    assert_eq!(history[0]["deleted"], true);
    assert_eq!(history[1]["deleted"], false);

    place.ok(&["restore", "cities", "porto", "--at", &first["seq"].to_string()]);
    let got = json(&place.ok(&["get", "cities", "porto"]));
    assert_eq!((&got["population"], got.get("note")), (&Value::from(252_687), None));
    assert_eq!(place.ok(&["history", "cities", "porto"]).lines().count(), 4);
    assert_eq!(place.ok(&["history", "cities", "porto", "--at", "2"]).lines().count(), 2);
}

#[test]
fn a_conflict_ends_with_3_and_changes_nothing() {
    let place = Place::new();
    let first = json(&place.ok(&["put", "notes", "a", r#"{"n":1}"#]));
    let rev = first["rev"].as_str().unwrap();
    place.ok(&["put", "notes", "a", r#"{"n":2}"#, "--rev", rev]);
    for args in [
        &["put", "notes", "a", r#"{"n":3}"#, "--rev", rev][..],
        &["put", "notes", "a", r#"{"n":3}"#, "--new"],
        &["put", "notes", "a", r#"{"n":3}"#, "--merge", "--rev", rev],
        &["delete", "notes", "a", "--rev", rev],
    ] {
        assert!(place.fails(3, args).contains("conflict"), "{args:?}");
    }
    // Two expectations that exclude each other are not one of them.
    let named = format!(r#"{{"_rev":"{rev}","n":3}}"#);
    for id in ["a", "another"] {
        assert!(place.fails(2, &["put", "notes", id, &named, "--new"]).contains("--new"), "{id}");
    }
    assert_eq!(json(&place.ok(&["get", "notes", "a"]))["n"], 2);
}

#[test]
fn a_body_comes_from_the_command_line_or_standard_input_and_is_kept_as_it_is_written() {
    let place = Place::new();
    let body = r#"{"big":12345678901234567890123,"e":1.50e+2,"u":"\u00e9é","s":"\/"}"#;
    place.ok_with(&["put", "c", "x"], format!(" {body}\n").as_bytes());
    place.ok_with(&["put", "c", "y", "-"], body.as_bytes());
    place.ok(&["put", "c", "z", body]);
    for id in ["x", "y", "z"] {
        assert!(place.ok(&["get", "c", id]).trim_end().ends_with(&body[1..]), "{id}");
    }
    let made = json(&place.ok_with(&["put", "c"], b"{}"));
    assert_eq!(made["id"].as_str().unwrap().len(), 32);
    assert_eq!(json(&place.ok_with(&["put", "c"], br#"{"_id":"own"}"#))["id"], "own");
}

#[test]
fn what_is_no_document_is_refused_with_5() {
    let place = Place::new();
    for body in ["", "[1]", "7", r#"{"a":}"#, r#"{"a":1}x"#, r#"{"_secret":1}"#] {
        let ended = place.run_with(&["put", "c", "x"], body.as_bytes());
        assert_eq!(ended.code, 5, "{body}: {ended:?}");
    }
    assert!(place.fails_with(5, &["put", "c", "x"], b"{\"a\":\"\xff\"}").contains("not UTF-8"));
    place.ok(&["put", "c", "x", "{}"]);
    assert_eq!(place.run(&["put", "c", "x", "--merge", "{\"a\":"]).code, 5);
    assert_eq!(place.run(&["put", "c", "none", "--merge", "{}"]).code, 1);
}

#[test]
fn a_store_that_is_not_there_is_not_made_by_reading() {
    let place = Place::new();
    for args in [
        &["get", "c", "x"][..],
        &["find", "c"],
        &["history", "c", "x"],
        &["collections"],
        &["stats"],
        &["verify"],
        &["export", "c"],
        &["delete", "c", "x"],
        &["index", "list", "c"],
    ] {
        assert!(place.fails(6, args).contains("there is no store at recension.store"), "{args:?}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    std::fs::create_dir(place.path().join("recension.store")).unwrap();
    assert!(place.fails(6, &["stats"]).contains("there is no store at recension.store"));
    assert_eq!(std::fs::read_dir(place.path().join("recension.store")).unwrap().count(), 0);
}

#[test]
fn what_was_read_is_put_back_only_if_nobody_wrote_since() {
    let place = Place::new();
    place.ok(&["put", "c", "x", r#"{"n":1}"#]);
    let read = place.ok(&["get", "c", "x"]);
    let rev = json(&read)["_rev"].as_str().unwrap().to_owned();
    place.ok(&["put", "c", "x", &read]);
    for refused in [&["put", "c", "x", &read][..], &["put", "c", "x", "--merge", &read], &["patch", "c", "x", &read]] {
        assert!(place.fails(3, refused).contains(&rev), "{refused:?}");
    }
    let said = place.fails(2, &["put", "c", "x", &read, "--rev", "7-967a00dff5e02add41819138abb3284d"]);
    assert!(said.contains("leave one out"), "{said}");
    assert!(place.fails(2, &["update", "c", "n = 1", "--yes", "--merge", &read]).contains("not of _"));
    assert!(place.ok(&["get", "c", "x"]).contains("\"2-"));
    // A document of another store is copied, and one without its revision replaces what is there.
    place.ok(&["put", "c", "x", &read, "--store", "other.store"]);
    place.ok(&["put", "c", "x", r#"{"n":2}"#]);
}

#[test]
fn the_store_is_named_by_flag_or_environment_and_may_be_sqlite() {
    let place = Place::new();
    place.ok(&["--store", "a.store", "put", "c", "x", r#"{"n":1}"#]);
    place.ok(&["put", "c", "x", r#"{"n":2}"#, "--store", "sqlite:b.sqlite"]);
    assert_eq!(json(&place.ok(&["get", "c", "x", "-s", "a.store"]))["n"], 1);
    let output = place.command(&["get", "c", "x"]).env("RECENSION_STORE", "sqlite:b.sqlite").output().unwrap();
    assert_eq!(json(&String::from_utf8(output.stdout).unwrap())["n"], 2);
    assert_eq!(json(&place.ok(&["put", "c", "x", "{}", "-s", "memory:"]))["seq"], 1);
    assert!(place.path().join("b.sqlite").is_file() && place.path().join("a.store").is_dir());
    for address in ["mysql://x", "sqlite:"] {
        assert!(matches!(place.run(&["put", "c", "x", "{}", "-s", address]).code, 2 | 6), "{address}");
    }
}

#[test]
fn a_store_in_use_is_refused_with_6_and_the_holder_is_named() {
    let place = Place::new();
    place.ok(&["put", "c", "x", "{}"]);
    let disk = std::sync::Arc::new(recension::disk::FsDisk::new(place.path().join("recension.store")));
    let held = recension::engine::NativeEngine::open(disk, recension::engine::NativeOptions::default()).unwrap();
    let message = place.fails(6, &["get", "c", "x"]);
    assert!(message.contains("in use") && message.contains(&std::process::id().to_string()), "{message}");
    drop(held);
    place.ok(&["get", "c", "x"]);
}

#[test]
fn stats_collections_and_verify_say_what_is_there() {
    let place = Place::new();
    place.ok(&["put", "b", "x", "{}"]);
    place.ok(&["put", "a", "x", "{}"]);
    place.ok(&["put", "a", "y", "{}"]);
    let collections: Vec<Value> = place.ok(&["collections"]).lines().map(json).collect();
    assert_eq!(collections.len(), 2);
    assert_eq!((&collections[0]["collection"], &collections[0]["documents"]), (&Value::from("a"), &Value::from(2)));
    assert_eq!(place.ok(&["collections", "--at", "1"]).lines().count(), 1);
    let stats = json(&place.ok(&["stats"]));
    assert_eq!(stats["seq"], 3);
    assert!(stats["disk_bytes"].as_u64().unwrap() > 0);
    let report = json(&place.ok(&["verify"]));
    assert_eq!((&report["sound"], &report["commits"]), (&Value::from(true), &Value::from(3)));
    assert!(place.ok(&["verify", "--table"]).starts_with("sound: 3 commits"));
}

#[test]
fn damage_ends_with_4_and_salvage_copies_the_rest() {
    let place = Place::new();
    for n in 0..20 {
        place.ok(&["put", "c", &n.to_string(), &format!("{{\"marker\":\"needle-{n}\"}}")]);
    }
    let log = place.path().join("recension.store/log");
    let segment = std::fs::read_dir(&log).unwrap().map(|entry| entry.unwrap().path()).min().unwrap();
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = bytes.windows(9).position(|window| window == b"needle-7\"").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&segment, bytes).unwrap();

    let ended = place.run(&["verify"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert!(ended.err.contains("recension salvage"), "{ended:?}");
    let ended = place.run(&["salvage", "recension.store", "new.store"]);
    assert_eq!(ended.code, 4, "{ended:?}");
    assert_eq!(json(&ended.out)["commits"], 19);
    place.ok(&["verify", "-s", "new.store"]);
    assert_eq!(json(&place.ok(&["get", "c", "8", "-s", "new.store"]))["marker"], "needle-8");
    assert_eq!(place.run(&["get", "c", "7", "-s", "new.store"]).code, 1);
    assert_eq!(place.run(&["salvage", "recension.store", "new.store"]).code, 2);
    assert_eq!(place.run(&["salvage", "nowhere", "other.store"]).code, 2);
}

#[test]
fn salvaging_a_sound_store_copies_it_and_ends_with_0() {
    let place = Place::new();
    place.ok(&["put", "c", "x", r#"{"n":1}"#]);
    place.ok(&["put", "c", "x", r#"{"n":2}"#]);
    place.ok(&["salvage", "recension.store", "copy.store"]);
    assert_eq!(json(&place.ok(&["get", "c", "x", "--at", "1", "-s", "copy.store"]))["n"], 1);
    assert_eq!(place.ok(&["history", "c", "x", "-s", "copy.store"]), place.ok(&["history", "c", "x"]));
}

#[test]
fn a_backup_is_brought_up_to_date_and_restored_as_of_a_moment() {
    let place = Place::new();
    place.ok(&["put", "c", "x", r#"{"n":1}"#]);
    assert_eq!(json(&place.ok(&["backup", "backup.store"]))["seq"], 1);
    place.ok(&["put", "c", "x", r#"{"n":2}"#]);
    let report = json(&place.ok(&["backup", "backup.store"]));
    let seq = report["seq"].as_u64().unwrap();
    assert_eq!(json(&place.ok(&["get", "c", "x", "-s", "backup.store"]))["n"], 2);
    assert_eq!(json(&place.ok(&["restore-backup", "backup.store", "new.store"]))["seq"], seq);
    assert_eq!(place.ok(&["history", "c", "x", "-s", "new.store"]), place.ok(&["history", "c", "x"]));
    place.ok(&["restore-backup", "backup.store", "past.store", "--at", "1"]);
    assert_eq!(json(&place.ok(&["get", "c", "x", "-s", "past.store"]))["n"], 1);
    place.ok(&["verify", "-s", "past.store"]);
    assert_eq!(place.run(&["restore-backup", "backup.store", "past.store"]).code, 2);
    let refused = place.run(&["backup", "new.store"]);
    assert!(refused.code == 6 && refused.err.contains("another store"), "{refused:?}");
}
