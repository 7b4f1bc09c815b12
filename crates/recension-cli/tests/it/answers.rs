//! What a user would take for an answer and is none: each of these is now answered as expected, or refused with what
//! to do.

use std::io::Write as _;

use crate::common::Place;
use flate2::Compression;
use flate2::write::GzEncoder;
use recension::disk::FsDisk;
use recension::engine::{ManualClock, NativeEngine, NativeOptions, Timestamp};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_id_is_a_member_that_conditions_sorts_and_fields_can_name() {
    let place = Place::new();
    let input =
        b"{\"_id\":\"a\",\"n\":1}\n{\"_id\":\"b\",\"n\":2}\n{\"_id\":\"10\",\"n\":1}\n{\"_id\":\"9\",\"n\":1}\n";
    place.ok_with(&["import", "c"], input);
    let ids = |args: &[&str]| -> Vec<String> {
        let out = place.ok(&[&["find", "c"], args].concat());
        out.lines().map(|line| line.split('"').nth(3).unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["_id = a"]), ["a"]);
    assert_eq!(ids(&["_id = 10"]), ["10"]);
    assert_eq!(ids(&["_id in [9, b, x]"]), ["9", "b"]);
    assert_eq!(ids(&["_id >= a and n = 2"]), ["b"]);
    assert_eq!(ids(&["_id missing"]), Vec::<String>::new());
    assert_eq!(ids(&["--sort", "-_id"]), ["b", "a", "9", "10"]);
    assert_eq!(ids(&["--sort", "n,-_id"]), ["a", "9", "10", "b"]);
    place.ok(&["index", "create", "c", "n"]);
    assert_eq!(ids(&["n = 1", "--sort", "-_id"]), ["a", "9", "10"]);
    assert_eq!(place.ok(&["find", "c", "_id = a", "--fields", "_id,n"]), "{\"_id\":\"a\",\"n\":1}\n");
    let rev = place.ok(&["find", "c", "_id = a", "--fields", "_rev"]);
    assert!(rev.starts_with("{\"_id\":\"a\",\"_rev\":\"1-"), "{rev}");
    let found = place.run(&["find", "c", "_id = a"]);
    assert!(found.err.contains("1 document in") && found.err.contains("documents by id"), "{found:?}");
    assert_eq!(place.ok(&["changes", "c", "--where", "_id = b"]).lines().count(), 1);
    assert!(place.fails(5, &["find", "c", "_type = x"]).contains("_id, a document's id, and _rev, its revision"));
    assert!(place.fails(5, &["index", "create", "c", "_id"]).contains("without an index"));
    assert!(place.fails(5, &["index", "create", "c", "n,_id", "--name", "m"]).contains("leave _id away"));
    place.ok(&["index", "create", "c", "n", "--name", "of-a", "--where", "_id >= a"]);
    assert_eq!(ids(&["n = 1 and _id >= a", "--through", "of-a"]), ["a"]);
    place.ok_with(&["import", "d", "--id-field", "_id"], input);
    assert_eq!(place.ok(&["export", "d"]), place.ok(&["export", "c"]));
}

#[test]
fn a_column_of_a_csv_has_one_type() {
    let place = Place::new();
    let csv = "_id,zip,n,ok\na,1234,1,true\nb,01234,2.5,false\nc,,,\n";
    let file = place.file("c.csv", csv);
    let expected = "{\"_id\":\"a\",\"zip\":\"1234\",\"n\":1,\"ok\":true}\n\
                    {\"_id\":\"b\",\"zip\":\"01234\",\"n\":2.5,\"ok\":false}\n{\"_id\":\"c\"}\n";
    let ended = place.run(&["import", "file", &file]);
    assert!(
        ended.err.contains("c.csv: column \"zip\" is text: line 3 has \"01234\", and it was number before"),
        "{ended:?}"
    );
    assert_eq!(place.ok(&["export", "file"]), expected);
    // What cannot be read twice is kept.
    place.ok_with(&["import", "pipe"], csv.as_bytes());
    assert_eq!(place.ok(&["export", "pipe"]), expected);
    place.ok_with(&["import", "packed"], &gzip(csv.as_bytes()));
    assert_eq!(place.ok(&["export", "packed"]), expected);
    let long: String = (0..300_000).map(|n| format!("{n},{n},1,true\n")).collect();
    let late = format!("_id,zip,n,ok\n{long}x,00,1,true\n");
    place.ok_with(&["import", "late", "-q"], late.as_bytes());
    assert!(place.ok(&["get", "late", "7"]).contains("\"zip\":\"7\""));
    place.ok(&["import", "named", &file, "--types", "n=text,zip=number"]);
    assert!(place.ok(&["get", "named", "b"]).contains("\"zip\":1234,\"n\":\"2.5\""));
    assert!(place.fails(2, &["import", "c", &file, "--types", "n=float"]).contains("text, number, boolean or json"));
    assert!(place.fails(5, &["import", "c", &file, "--types", "m=text"]).contains("no such column"));
    assert!(place.fails(5, &["import", "other", &file, "--types", "ok=number"]).contains("line 2, column 1"));
}

#[test]
fn a_malformed_csv_imports_nothing_and_a_skipped_record_has_no_say_in_the_types() {
    let place = Place::new();
    let csv = b"_id,n\na,1\nb\nc,3";
    assert!(place.fails_with(5, &["import", "c"], csv).contains("0 documents imported"));
    let ended = place.run_with(&["import", "c", "--on-error", "skip"], b"_id,n\na,1\nb,x,y\nc,3\nd");
    assert!(ended.code == 5 && ended.err.contains("2 documents imported into c, 2 failed"), "{ended:?}");
    assert_eq!(place.ok(&["export", "c"]), "{\"_id\":\"a\",\"n\":1}\n{\"_id\":\"c\",\"n\":3}\n");
}

#[test]
fn what_gzip_and_zstd_have_packed_is_imported_from_files_and_pipes() {
    let place = Place::new();
    let lines = "{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n";
    let packs: [(&str, fn(&[u8]) -> Vec<u8>); 2] = [("gz", gzip), ("zst", |bytes| zstd::encode_all(bytes, 0).unwrap())];
    for (ending, pack) in packs {
        let packed = pack(lines.as_bytes());
        let file = place.file(&format!("x.ndjson.{ending}"), &packed);
        let [from_file, from_pipe, from_csv] = ["file", "pipe", "csv"].map(|name| format!("{ending}-{name}"));
        place.ok(&["import", &from_file, &file]);
        assert_eq!(place.ok(&["export", &from_file]), lines);
        place.ok_with(&["import", &from_pipe], &packed);
        assert_eq!(place.ok(&["export", &from_pipe]), lines);
        // The name inside is told without the packing's ending.
        let csv = place.file(&format!("one.csv.{ending}"), pack(b"_id\na\nb\n"));
        place.ok(&["import", &from_csv, &csv]);
        assert_eq!(place.ok(&["export", &from_csv]), lines);
        let cut = place.file(&format!("cut.{ending}"), &packed[..packed.len() - 5]);
        let error = place.fails(5, &["import", &format!("{ending}-cut"), &cut]);
        assert!(error.contains(&cut) && error.contains("damaged or cut off"), "{error}");
    }
    let zip = place.file("x.zip", b"PK\x03\x04rest");
    assert!(place.fails(5, &["import", "c", &zip]).contains("packed with zip"));
}

#[test]
fn an_attachment_is_not_read_from_an_input_that_nobody_named() {
    let place = Place::new();
    place.ok(&["put", "c", "a", "{}"]);
    assert!(place.fails_with(2, &["attach", "put", "c", "a", "x"], b"bytes").contains("<FILE>"));
    place.ok_with(&["attach", "put", "c", "a", "x", "-"], b"bytes");
    assert_eq!(place.ok(&["attach", "get", "c", "a", "x", "-o", "-"]), "bytes");
    assert!(!place.path().join("-").exists());
    assert!(place.fails(2, &["attach", "put", "c", "a", "y", "."]).contains("is a directory"));
    assert_eq!(place.ok(&["attach", "list", "c", "a"]).lines().count(), 1);
}

/// A store whose commits have known times: a collection `old` from the year 2020, `new` from 2021.
fn store_of_years(place: &Place) {
    let clock = std::sync::Arc::new(ManualClock::new(Timestamp(1_577_836_800_000_000)));
    let disk = std::sync::Arc::new(FsDisk::new(place.path().join("recension.store")));
    let options = NativeOptions { clock: clock.clone(), ..NativeOptions::default() };
    let engine = std::sync::Arc::new(NativeEngine::open(disk, options).unwrap());
    let store = recension::Store::on(engine).unwrap();
    store.collection("old").unwrap().put("a", "{}").unwrap();
    clock.set(Timestamp(1_609_459_200_000_000));
    store.collection("old").unwrap().put("b", "{}").unwrap();
    store.collection("new").unwrap().put("a", "{}").unwrap();
}

#[test]
fn before_a_collection_was_made_it_is_not_missing_but_not_yet_there() {
    let place = Place::new();
    store_of_years(&place);
    let of = |name: &str| format!("at 2020-06-01T00:00:00Z there was no collection {name} yet");
    let made = "it was made by commit 3, at 2021-01-01T00:00:00";
    for args in [
        &["find", "new"][..],
        &["explain", "new"],
        &["get", "new", "a"],
        &["history", "new", "a"],
        &["export", "new"],
        &["changes", "new"],
        &["conflicts", "new"],
        &["attach", "list", "new", "a"],
        &["restore", "new", "a"],
        &["restore", "new", "--yes"],
        &["restore", "new", "--where", "x = 1"],
    ] {
        let error = place.fails(1, &[args, &["--at", "2020-06-01"]].concat());
        assert!(error.contains(&of("new")) && error.contains(made), "{args:?}: {error}");
    }
    let error = place.fails(1, &["find", "old", "--at", "2019-06-01"]);
    assert!(
        error.contains("it was made by commit 1") && error.contains("the first commit of the store is of 2020-01-01"),
        "{error}"
    );
    for args in [&["collections"][..], &["restore", "--all", "--yes"]] {
        let error = place.fails(1, &[args, &["--at", "2019-06-01"]].concat());
        assert!(error.contains("is before the first commit"), "{args:?}: {error}");
    }
    let error = place.fails(1, &["find", "none", "--at", "2020-06-01"]);
    assert!(error.contains("no collection none, now or at 2020-06-01"), "{error}");
    // Nothing was brought back to nothing.
    assert_eq!(place.ok(&["export", "new"]), "{\"_id\":\"a\"}\n");
    for args in [
        &["get", "none", "x"][..],
        &["delete", "none", "x"],
        &["purge", "none", "x"],
        &["index", "create", "none", "x"],
    ] {
        assert!(place.fails(1, args).contains("no collection none"), "{args:?}");
    }
}

#[test]
fn a_backup_is_restored_as_of_a_moment_that_it_has() {
    let place = Place::new();
    store_of_years(&place);
    place.ok(&["backup", "copy.store"]);
    for at in ["2019-06-01", "0"] {
        let error = place.fails(1, &["restore-backup", "copy.store", "back.store", "--at", at]);
        let range = "from commit 1 (2020-01-01T00:00:00Z) to commit 3 (2021-01-01T00:00:00";
        assert!(error.contains(range), "{error}");
        assert!(!place.path().join("back.store").exists());
    }
    let ahead = place.fails(2, &["restore-backup", "copy.store", "back.store", "--at", "2999-01-01"]);
    assert!(ahead.contains("is in the future"), "{ahead}");
    place.ok(&["restore-backup", "copy.store", "back.store", "--at", "2020-06-01"]);
    assert_eq!(place.ok(&["export", "old", "--store", "back.store"]), "{\"_id\":\"a\"}\n");
}

#[test]
fn a_place_for_files_is_no_address() {
    let place = Place::new();
    place.ok(&["put", "c", "a", "{}"]);
    for args in [
        &["backup", "sqlite:x"][..],
        &["backup", "memory:"],
        &["backup", "s3:bucket"],
        &["salvage", "recension.store", "sqlite:x"],
        &["salvage", "sqlite:x", "y"],
        &["restore-backup", "recension.store", "sqlite:x"],
        &["restore-backup", "sqlite:x", "y"],
    ] {
        let error = place.fails(2, args);
        assert!(error.contains("is a folder"), "{args:?}: {error}");
    }
    place.ok(&["branch", "idea"]);
    for args in [
        &["backup", "x#idea"][..],
        &["backup", "./x#"],
        &["restore-backup", "recension.store#idea", "y"],
        &["restore-backup", "recension.store", "y#idea"],
        &["salvage", "recension.store", "y#idea"],
    ] {
        let error = place.fails(2, args);
        assert!(error.contains("is a whole store") && error.contains("names a branch"), "{args:?}: {error}");
    }
    let mut names: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["recension.store"]);
    place.ok(&["backup", "./a:b"]);
    assert_eq!(place.ok(&["export", "c", "--store", "./a:b"]), "{\"_id\":\"a\"}\n");
}

#[test]
fn odd_input_has_an_answer_that_says_what_it_is() {
    let place = Place::new();
    place.ok(&["put", "c", "a", r#"{"zip":"5","n":5}"#]);
    place.ok(&["put", "c", "b", r#"{"n":6}"#]);
    // A number that was to be text, documents that an order leaves out, a member that is named twice.
    let found = place.run(&["find", "c", "zip = 5"]);
    assert!(
        found.out.is_empty() && found.err.contains("zip is text, and 5 is a number: \"5\" in quotes is text"),
        "{found:?}"
    );
    assert!(!place.run(&["find", "c", "zip = six"]).err.contains("is text, and"));
    let sorted = place.run(&["find", "c", "--sort", "-zip"]);
    assert!(sorted.out.lines().count() == 1 && sorted.err.contains("without those that lack zip"), "{sorted:?}");
    assert!(!place.run(&["find", "c", "--sort", "_id"]).err.contains("lack"));
    assert_eq!(place.ok(&["find", "c", "_id = a", "--fields", "n,n,_id"]), "{\"_id\":\"a\",\"n\":5}\n");
    let table = place.ok(&["find", "c", "_id = a", "--fields", "n,_id", "--table"]);
    assert_eq!(table.matches("_id").count(), 1, "{table}");
    for (code, args, message) in [
        (2, &["changes", "--since", "99"][..], "is ahead of the newest commit, 2"),
        (1, &["changes", "none", "--follow"], "no collection none"),
        (2, &["find", "c", "--fields", "n,"], "the member cannot be understood"),
        (2, &["index", "create", "c", ""], "the member cannot be understood"),
        (2, &["index", "create", "c", "n", "--name", ""], "cannot name an index"),
        (2, &["put", "c", "{}"], "the document is in the place of its id"),
        (2, &["attach", "put", "c", "a", "", "recension.store"], "a name of at least one character"),
        (2, &["put", "_c", "a", "{}"], "names that begin with _ are the server's"),
        (2, &["import", "_c", "-"], "names that begin with _ are the server's"),
        (2, &["backup", "recension.store"], "a store cannot be a backup of itself"),
        (6, &["backup", "."], "holds other folders, such as recension.store"),
        (6, &["put", "c", "a", "{}", "--store", "."], "holds other folders, such as recension.store"),
        (2, &["update", "c", " ", "--merge", "{}", "--yes"], "the condition is empty; `_id exists` chooses"),
        (2, &["delete", "c", "--where", "", "--yes"], "the condition is empty"),
        (2, &["restore", "c", "--where", "", "--at", "1", "--yes"], "the condition is empty"),
        (2, &["find", "c", "--store", "foo:x"], "the kinds of store are"),
        (2, &["find", "c", "--store", ""], "it is empty; name a directory"),
    ] {
        let error = place.fails(code, args);
        assert!(error.contains(message), "{args:?}: {error}");
    }
    let names: Vec<_> = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["recension.store"]);
}

#[test]
fn a_server_with_a_log_filter_that_means_nothing_does_not_start() {
    let place = Place::new();
    for command in ["serve", "config"] {
        let error = place.fails(2, &[command, "--log", "foo"]);
        assert!(error.contains("\"foo\" names no level") && error.contains("off, error, warn, info"), "{error}");
    }
    assert!(place.ok(&["config", "--log", "warn,hyper=debug"]).contains("warn,hyper=debug"));
}

#[test]
fn an_export_that_finds_no_room_leaves_the_older_file_and_the_next_one_tidies_up() {
    let place = Place::new();
    let big: String = (0..2000).map(|n| format!("{{\"_id\":\"{n:05}\",\"text\":\"{}\"}}\n", "x".repeat(100))).collect();
    place.ok_with(&["import", "c"], big.as_bytes());
    place.file("out.ndjson", "older");
    let program = env!("CARGO_BIN_EXE_recension");
    let limited = |script: &str| {
        let shell =
            std::process::Command::new("bash").current_dir(place.path()).args(["-c", script, "bash", program]).output();
        let output = shell.unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let export = "\"$1\" -q export c -o out.ndjson";
    let (code, error) = limited(&format!("trap '' XFSZ; ulimit -f 16; {export}"));
    assert!(code == Some(6) && error.contains("writing out.ndjson"), "{code:?} {error}");
    assert_eq!(std::fs::read_to_string(place.path().join("out.ndjson")).unwrap(), "older");
    assert!(!place.path().join("out.ndjson.part").exists());
    // Without the trap it is killed in the midst of it.
    let (code, _) = limited(&format!("ulimit -f 16; {export}"));
    assert_ne!(code, Some(0));
    assert_eq!(std::fs::read_to_string(place.path().join("out.ndjson")).unwrap(), "older");
    assert!(place.path().join("out.ndjson.part").exists());
    assert_eq!(limited(export).0, Some(0));
    assert_eq!(std::fs::read_to_string(place.path().join("out.ndjson")).unwrap(), big);
    assert!(!place.path().join("out.ndjson.part").exists());
}
