//! `recension doctor` and `recension upgrade --check`.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use rustix::process::geteuid;

use crate::common::Place;

/// A user who owns nothing else, for tests that root runs.
const NOBODY: u32 = 65534;

fn with_store() -> Place {
    let place = Place::new();
    place.ok(&["put", "notes", "a", "{}"]);
    place
}

/// The states of the checks by their names.
fn states(out: &str) -> Vec<(String, String)> {
    let read = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    out.lines().map(read).map(|line| (text(&line["check"]), text(&line["state"]))).collect()
}

fn state(out: &str, check: &str) -> String {
    let found = states(out).into_iter().find(|(name, _)| name == check);
    found.unwrap_or_else(|| panic!("no {check}: {out}")).1
}

#[test]
fn a_sound_store_has_no_fault_and_is_left_as_it_was() {
    let place = with_store();
    let before = place.ok(&["stats", "--json"]);
    let out = place.ok(&["doctor"]);
    for check in ["program", "permissions", "format", "store", "clock"] {
        assert_eq!(state(&out, check), "ok", "{check}: {out}");
    }
    assert_eq!(place.ok(&["stats", "--json"]), before);
    let people = place.ok(&["doctor", "--table"]);
    assert!(people.contains("ok store") && people.contains("commit"), "{people}");
    assert!(place.ok(&["upgrade", "--check"]).contains("nothing to upgrade"));
}

#[test]
fn each_fault_is_named_with_what_to_do() {
    let place = with_store();
    let store = place.path().join("recension.store");
    std::fs::set_permissions(store.join("STORE"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let out = place.ok(&["doctor"]);
    assert_eq!(state(&out, "permissions"), "warning", "{out}");
    assert!(out.contains("chmod -R go="), "{out}");

    let backups = place.path().join("backups");
    std::fs::create_dir(&backups).unwrap();
    let ended = place.run(&["doctor", "--backups", "backups"]);
    assert_eq!((ended.code, state(&ended.out, "backups").as_str()), (1, "fault"), "{ended:?}");
    std::fs::create_dir(backups.join("backup-20261121T100000Z")).unwrap();
    assert_eq!(state(&place.ok(&["doctor", "--backups", "backups"]), "backups"), "ok");

    place.file("no.pem", "nothing");
    let ended = place.run(&["doctor", "--tls-certificate", "no.pem"]);
    assert_eq!((ended.code, state(&ended.out, "certificate").as_str()), (1, "fault"), "{ended:?}");

    let ended = place.run(&["doctor", "--store", "nowhere"]);
    assert_eq!((ended.code, state(&ended.out, "store").as_str()), (1, "fault"), "{ended:?}");
    assert!(!place.path().join("nowhere").exists());
}

#[test]
fn a_newer_format_is_a_fault_and_the_configuration_is_read() {
    let place = with_store();
    let file = place.path().join("recension.store/STORE");
    let mut bytes = std::fs::read(&file).unwrap();
    // The version stands behind the magic; the checksum is at the end of what is used.
    bytes[8..12].copy_from_slice(&9_u32.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[..28]);
    bytes[28..32].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&file, bytes).unwrap();
    let ended = place.run(&["upgrade", "--check"]);
    assert_eq!((ended.code, state(&ended.out, "format").as_str()), (1, "fault"), "{ended:?}");

    let place = with_store();
    place.file("server.toml", "store = \"other.store\"\n[backups]\nfolder = \"kept\"\n");
    let ended = place.run(&["doctor", "--config", "server.toml"]);
    assert_eq!(state(&ended.out, "backups"), "fault", "{ended:?}");
    assert!(ended.out.contains("other.store"), "{ended:?}");
    place.file("wrong.toml", "stoer = 1\n");
    let ended = place.run(&["doctor", "--config", "wrong.toml"]);
    assert_eq!((ended.code, state(&ended.out, "configuration").as_str()), (1, "fault"), "{ended:?}");
}

/// Makes a folder and all below it files that their owner may read only; root, whom no mode stops, gives them away.
fn write_protect(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            write_protect(&entry.path());
        } else {
            protect(&entry.path(), 0o400);
        }
    }
    protect(folder, 0o500);
}

fn protect(path: &Path, mode: u32) {
    if geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs a command as a user whom the modes of files stop: (exit code, answer, errors).
fn run_as_user(place: &Place, args: &[&str]) -> (i32, String, String) {
    let mut command = place.command(args);
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let ended = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ended.status.code().unwrap(), text(ended.stdout), text(ended.stderr))
}

#[test]
fn a_store_that_this_user_may_only_read_is_read_and_no_write_is_tried() {
    let place = with_store();
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    place.ok(&["backup", "copy"]);
    let (store, copy) = (place.path().join("recension.store"), place.path().join("copy"));
    write_protect(&store);
    write_protect(&copy);
    let (code, out, err) = run_as_user(&place, &["get", "notes", "a"]);
    assert!(code == 0 && out.contains("\"_id\":\"a\"") && err.contains("is read as it is"), "{out}{err}");
    for args in [&["verify"][..], &["restore-backup", "copy", "again"], &["salvage", "copy", "salvaged"]] {
        let (code, out, err) = run_as_user(&place, args);
        assert_eq!(code, 0, "{args:?}: {out}{err}");
    }
    assert!(place.ok(&["get", "notes", "a", "--store", "again"]).contains("\"_id\":\"a\""));
    let (code, _, err) = run_as_user(&place, &["delete", "notes", "a"]);
    assert!(code == 6 && err.contains("for reading only"), "{err}");
    let (code, _, err) = run_as_user(&place, &["put", "notes", "b", "{}"]);
    assert!(code == 6 && err.contains("recension.store") && err.contains("as the user"), "{err}");
    let (code, out, _) = run_as_user(&place, &["doctor"]);
    assert_eq!(
        (code, state(&out, "permissions").as_str(), state(&out, "store").as_str()),
        (0, "warning", "ok"),
        "{out}"
    );
    // Nothing of it may be read.
    protect(&store, 0o0);
    let (code, out, _) = run_as_user(&place, &["doctor"]);
    assert!(code == 1 && !out.contains("salvage") && out.contains("run this as the user"), "{out}");
    for folder in [store, copy] {
        protect(&folder, 0o700);
    }
}

#[test]
fn only_damaged_files_of_a_store_are_to_be_salvaged() {
    let place = Place::new();
    let (log, older) = (place.path().join("log"), place.path().join("older"));
    let address = format!("file://{}?cache={}", log.display(), place.path().join("cache").display());
    place.ok(&["put", "notes", "a", "{}", "--store", &address]);
    let copied = std::process::Command::new("cp").arg("-r").args([&log, &older]).status().unwrap();
    assert!(copied.success());
    place.ok(&["put", "notes", "b", "{}", "--store", &address]);
    std::fs::remove_dir_all(&log).unwrap();
    std::fs::rename(&older, &log).unwrap();
    place.file("text", "no store");
    for (store, found, advice) in [
        (address.as_str(), "put back to an older copy", "what the error says is what to do"),
        ("etcd://127.0.0.1:1/x", "does not answer", "whether the other system runs"),
        ("text", "it is a file", "the error says what to do"),
        ("nowhere", "there is no store", "the error says what to do"),
    ] {
        let ended = place.run(&["doctor", "--store", store, "--table"]);
        assert!(ended.code == 1 && ended.out.contains(found) && ended.out.contains(advice), "{ended:?}");
        assert!(!ended.out.contains("salvage"), "{ended:?}");
    }
    place.ok(&["put", "notes", "a", "{}"]);
    place.file("recension.store/STORE", "x");
    let ended = place.run(&["doctor"]);
    assert!(ended.code == 1 && ended.out.contains("salvage"), "{ended:?}");
}
