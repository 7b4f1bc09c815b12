//! Encrypted stores, as an operator has them: keys from everywhere, on every command, and never shown.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::Place;

const WORD: &str = "pangolin";

/// A place with a key in a file, and the key.
fn place_with_key() -> (Place, String) {
    let place = Place::new();
    let key = place.ok(&["key", "new"]).trim_end().to_owned();
    assert!(key.len() == 64 && key.bytes().all(|digit| digit.is_ascii_hexdigit()), "{key}");
    assert_ne!(place.ok(&["key", "new"]).trim_end(), key);
    place.file("the.key", format!("{key}\n"));
    (place, key)
}

/// Whether a word is in any file of a folder.
fn has_word(folder: &std::path::Path, word: &str) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return has_word(&path, word);
        }
        // A socket is no file.
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        bytes.windows(word.len()).any(|window| window == word.as_bytes())
    })
}

/// The modes of a folder and of all below it that others may use.
fn open_to_others(path: &std::path::Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut open = if mode | 0o700 == 0o700 { Vec::new() } else { vec![format!("{} {mode:o}", path.display())] };
    if path.is_dir() {
        open.extend(std::fs::read_dir(path).unwrap().flat_map(|entry| open_to_others(&entry.unwrap().path())));
    }
    open
}

#[test]
fn others_read_no_store_and_no_backup_and_a_key_that_they_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let (place, _) = place_with_key();
    place.ok(&["put", "menu", "a", "{}", "--key-file", "the.key"]);
    place.ok(&["backup", "copy.store", "--key-file", "the.key"]);
    place.ok(&["put", "menu", "a", "{}", "--store", "sqlite:a.sqlite"]);
    let log = format!("file://{0}/log?cache={0}/cache", place.path().display());
    place.ok(&["put", "menu", "a", "{}", "--store", &log]);
    for made in ["recension.store", "copy.store", "a.sqlite", "log", "cache"] {
        assert_eq!(open_to_others(&place.path().join(made)), Vec::<String>::new());
    }
    std::fs::set_permissions(place.path().join("the.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let said = place.fails(6, &["get", "menu", "a", "--key-file", "the.key"]);
    assert!(said.contains("others may read it; chmod 600 the.key"), "{said}");
}

#[test]
fn every_command_opens_an_encrypted_store_with_its_key_and_none_without() {
    let (place, key) = place_with_key();
    place.file("words.txt", "a long passphrase\n");
    let with = |args: &[&str]| place.ok(&[args, &["--key-file", "the.key"]].concat());
    with(&["put", "menu", WORD, r#"{"text":"pangolin"}"#]);
    with(&["index", "create", "menu", "text"]);
    with(&["compact"]);
    assert!(!has_word(&place.path().join("recension.store"), WORD));
    for args in [
        &["get", "menu", WORD][..],
        &["find", "menu", "text = 'pangolin'"],
        &["history", "menu", WORD],
        &["export", "menu"],
        &["changes"],
        &["backup", "copy.store"],
        &["get", "menu", WORD, "--store", "copy.store"],
        &["restore-backup", "copy.store", "restored.store"],
        &["get", "menu", WORD, "--store", "restored.store"],
        &["salvage", "copy.store", "salvaged.store"],
        &["get", "menu", WORD, "--store", "salvaged.store"],
        &["verify"],
        &["stats"],
        &["collections"],
    ] {
        let refused = place.run(args);
        assert!(refused.code == 6 && refused.err.contains("is encrypted; give its key"), "{args:?}: {refused:?}");
        with(args);
    }
    for copy in ["copy.store", "restored.store", "salvaged.store"] {
        assert!(!has_word(&place.path().join(copy), WORD), "{copy}");
    }
    // From the environment, from a command, and as a passphrase.
    let get = ["get", "menu", WORD];
    let from_environment = place.command(&get).env("RECENSION_KEY", &key).output().unwrap();
    assert!(from_environment.status.success());
    place.ok(&[&get[..], &["--key-command", "cat the.key"]].concat());
    let passphrase = ["--store", "other.store", "--passphrase-file", "words.txt"];
    place.ok(&[&["put", "menu", "a", "{}"][..], &passphrase].concat());
    place.ok(&[&["get", "menu", "a"][..], &passphrase].concat());
}

#[test]
fn a_key_that_does_not_fit_is_said_and_not_shown() {
    let (place, key) = place_with_key();
    place.ok(&["put", "menu", "a", "{}", "--key-file", "the.key"]);
    place.ok(&["put", "menu", "a", "{}", "--store", "open.store"]);
    let other = place.ok(&["key", "new"]);
    place.file("other.key", &other);
    place.file("half.key", &key[..40]);
    for (code, args, wanted) in [
        (6, &["get", "menu", "a"][..], "give its key with --key-file"),
        (6, &["get", "menu", "a", "--key-file", "other.key"], "not the one it was encrypted with"),
        (6, &["get", "menu", "a", "--key-file", "half.key"], "64 hexadecimal digits"),
        (6, &["get", "menu", "a", "--key-file", "none.key"], "none.key"),
        (6, &["get", "menu", "a", "--passphrase-file", "the.key"], "not with a passphrase"),
        (2, &["get", "menu", "a", "--passphrase-file", "the.key", "--key-file", "the.key"], "cannot be used with"),
        (6, &["get", "menu", "a", "--key-command", "echo $(cat the.key)0; exit 1"], "it failed"),
        (6, &["get", "menu", "a", "--key-file", "the.key", "--store", "open.store"], "is not encrypted"),
        (2, &["key", "status"], "give the store's key"),
    ] {
        let said = place.fails(code, args);
        assert!(said.contains(wanted), "{args:?}: {said}");
        assert!(![&key[..20], &other[..20]].iter().any(|part| said.contains(part)), "{args:?}: {said}");
    }
    // Half of KEYS.
    let keys = place.path().join("recension.store/KEYS");
    let whole = std::fs::read(&keys).unwrap();
    std::fs::write(&keys, &whole[..70]).unwrap();
    let said = place.fails(4, &["get", "menu", "a", "--key-file", "the.key"]);
    assert!(said.contains("restore KEYS from a backup"), "{said}");
    std::fs::write(&keys, &whole).unwrap();
    place.ok(&["get", "menu", "a", "--key-file", "the.key"]);
}

#[test]
fn keys_are_looked_at_and_changed() {
    let (place, _) = place_with_key();
    let new = place.ok(&["key", "new"]);
    place.file("new.key", &new);
    for n in 0..20 {
        place.ok(&["put", "menu", &format!("{WORD}-{n}"), "{}", "--key-file", "the.key"]);
    }
    let status = |key: &str| -> serde_json::Value {
        serde_json::from_str(&place.ok(&["key", "status", "--key-file", key])).unwrap()
    };
    assert_eq!(status("the.key")["seals_with"], 1);
    place.ok(&["key", "rotate-master", "--key-file", "the.key", "--new-key-file", "new.key"]);
    place.fails(6, &["key", "status", "--key-file", "the.key"]);
    place.ok(&["key", "rotate", "--key-file", "new.key"]);
    let after = status("new.key");
    assert_eq!(after["seals_with"], 2, "{after}");
    assert!(after["keys"][1]["bytes"].as_u64() > Some(8000), "{after}");
    assert!(place.ok(&["get", "menu", "pangolin-7", "--key-file", "new.key"]).contains("pangolin-7"));
    place.ok(&["verify", "--key-file", "new.key"]);
}

#[test]
fn a_server_has_the_key_of_its_configuration_and_shows_it_to_nobody() {
    let (place, key) = place_with_key();
    let path = place.path().join("the.key").display().to_string();
    let file = place.file("serve.toml", format!("store = \"served.store\"\nkey_file = \"{path}\"\n"));
    let listed = place.ok(&["config", "--config", &file]);
    assert!(listed.contains("key_file = ") && !listed.contains(&key), "{listed}");
    let mut server = place
        .command(&["serve", "--listen", "127.0.0.1:0", "--config", &file])
        .env("RECENSION_ADMIN", "adm:pass")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("listening on http://").unwrap().trim_end_matches('/').to_owned();
    let put = |path: &str, body: &str| {
        let url = format!("http://adm:pass@{url}/{path}");
        Command::new("curl").args(["-sS", "-X", "PUT", "-d", body, &url]).output().unwrap()
    };
    put("menu", "");
    let answer = put("menu/pangolin", r#"{"text":"pangolin"}"#);
    let words = std::fs::read(format!("/proc/{}/cmdline", server.id())).unwrap();
    // Another process of the same user reaches it through the server, which has the key.
    let got = place.run(&["get", "menu", WORD, "--store", "served.store"]);
    server.kill().unwrap();
    server.wait().unwrap();
    let refused = place.run(&["get", "menu", WORD, "--store", "served.store"]);
    assert!(String::from_utf8_lossy(&answer.stdout).contains("\"ok\":true"), "{answer:?}");
    assert!(!String::from_utf8_lossy(&words).contains(&key));
    assert!(got.code == 0 && got.out.contains(WORD), "{got:?}");
    assert!(refused.code == 6 && refused.err.contains("give its key"), "{refused:?}");
    assert!(!has_word(&place.path().join("served.store"), WORD));
}

#[test]
fn a_gateway_has_the_key_of_its_flags() {
    let (place, _) = place_with_key();
    place.ok(&["put", "menu", WORD, r#"{"text":"pangolin"}"#, "--key-file", "the.key"]);
    let asked = |key: &[&str]| {
        let mut command = place.command(&[&["cgi", "--admin-party", "--log", "off"], key].concat());
        command.envs([("REQUEST_METHOD", "GET"), ("REQUEST_URI", "/menu/pangolin"), ("SERVER_PROTOCOL", "HTTP/1.1")]);
        let answer = command.stdin(Stdio::null()).output().unwrap();
        (answer.status.success(), String::from_utf8_lossy(&answer.stdout).into_owned())
    };
    let (ok, answer) = asked(&["--key-file", "the.key"]);
    assert!(ok && answer.contains("\"text\":\"pangolin\""), "{answer}");
    let (ok, answer) = asked(&[]);
    assert!(!ok && !answer.contains("\"text\""), "{answer}");
}

#[test]
fn a_collection_whose_key_is_destroyed_is_gone_here_and_unreadable_in_every_backup() {
    let (place, _) = place_with_key();
    let keys = place.path().join("vault.keys").display().to_string();
    let opened = ["--key-file", "the.key", "--collection-keys", &keys];
    let with = |args: &[&str]| place.ok(&[args, &opened].concat());
    let fails = |code, args: &[&str]| place.fails(code, &[args, &["--key-file", "the.key"]].concat());
    with(&["put", "menu", "pizza", "{}"]);
    let said = place.fails(6, &[&["key", "collection", "menu"][..], &opened].concat());
    assert!(said.contains("it is there already, without a key"), "{said}");
    with(&["key", "collection", "patients"]);
    let first = with(&["put", "patients", "ada", r#"{"ill":"pangolin"}"#]);
    with(&["put", "patients", "ada", r#"{"ill":"wombat"}"#]);
    let seq = serde_json::from_str::<serde_json::Value>(&first).unwrap()["seq"].to_string();
    with(&["backup", "copy.store"]);
    assert!(with(&["get", "patients", "ada", "--at", &seq]).contains(WORD));
    let listed = with(&["keys", "collections"]);
    assert!(listed.contains("patients") && listed.contains("here"), "{listed}");
    let said = place.fails(5, &[&["index", "create", "patients", "ill"][..], &opened].concat());
    assert!(said.contains("--with-indexes"), "{said}");

    // Without the file of keys, here and in the backup, the rest is as ever.
    for store in ["recension.store", "copy.store"] {
        for args in [&["get", "patients", "ada"][..], &["export", "patients"], &["changes"], &["find", "patients"]] {
            let said = fails(6, &[args, &["--store", store]].concat());
            assert!(said.contains("--collection-keys"), "{store}: {args:?}: {said}");
        }
        place.ok(&["get", "menu", "pizza", "--key-file", "the.key", "--store", store]);
        place.ok(&["verify", "--key-file", "the.key", "--store", store]);
        place.ok(&["compact", "--key-file", "the.key", "--store", store]);
    }
    assert!(with(&["get", "patients", "ada", "--store", "copy.store"]).contains("wombat"));
    std::fs::copy(&keys, place.path().join("old.keys")).unwrap();

    with(&["keys", "destroy", "patients", "--yes"]);
    with(&["keys", "destroy", "patients", "--yes"]);
    place.fails(1, &[&["get", "patients", "ada"][..], &opened].concat());
    place.fails(1, &[&["get", "patients", "ada", "--at", &seq][..], &opened].concat());
    with(&["compact"]);
    let said = place.fails(6, &[&["get", "patients", "ada", "--store", "copy.store"][..], &opened].concat());
    assert!(said.contains("its key was destroyed at 20"), "{said}");
    with(&["get", "menu", "pizza", "--store", "copy.store"]);
    let listed = with(&["key", "collections"]);
    assert!(listed.contains("destroyed"), "{listed}");
    // A restored backup is as it was, and a key of it stays destroyed.
    with(&["restore-backup", "copy.store", "restored.store"]);
    place.fails(6, &[&["get", "patients", "ada", "--store", "restored.store"][..], &opened].concat());
    // Who has kept an older file of keys has kept the key.
    let old =
        ["get", "patients", "ada", "--store", "copy.store", "--key-file", "the.key", "--collection-keys", "old.keys"];
    assert!(place.ok(&old).contains("wombat"));
    let said = fails(6, &["key", "destroy", "menu", "--yes"]);
    assert!(said.contains("it has no key here"), "{said}");
}
