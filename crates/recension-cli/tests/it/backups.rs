//! Backups of a server's store over HTTP: whole, brought up to date, gone on with.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::common::Place;

struct Server(Child, String);

impl Server {
    fn start(place: &Place) -> Self {
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "recension.store"]);
        command.env("RECENSION_ADMIN", "ada:secret").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on http://").unwrap().trim_end_matches('/').to_owned();
        Server(child, url)
    }

    fn url(&self, who: &str) -> String {
        format!("http://{who}@{}", self.1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn fetched(place: &Place, url: &str, to: &str) -> (u64, u64) {
    let report: Value = serde_json::from_str(&place.ok(&["backup", url, to])).unwrap();
    (report["files_copied"].as_u64().unwrap(), report["files_kept"].as_u64().unwrap())
}

#[test]
fn a_server_is_backed_up_over_http() {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"n":1}"#]);
    let server = Server::start(&place);
    let url = server.url("ada:secret");
    let (sent, kept) = fetched(&place, &url, "copy");
    assert!(sent > 1 && kept == 0, "{sent} {kept}");
    assert!(place.ok(&["--store", "copy", "get", "notes", "a"]).contains(r#""n":1"#));
    place.ok(&["put", "notes", "b", r#"{"n":2}"#]);
    let (sent, kept) = fetched(&place, &url, "copy");
    assert!(sent > 0 && kept > 0, "what is there is not sent again: {sent} {kept}");
    assert!(place.ok(&["--store", "copy", "get", "notes", "b"]).contains(r#""n":2"#));
    place.ok(&["--store", "copy", "verify"]);
    assert!(!place.path().join("copy.part").exists() && !place.path().join("copy.old").exists());

    // One that was broken off: some files are whole, and one is not.
    let part = place.path().join("other.part");
    std::fs::create_dir_all(part.join("log")).unwrap();
    fetched(&place, &url, "whole");
    let store = std::fs::read(place.path().join("whole/STORE")).unwrap();
    std::fs::write(part.join("STORE"), store).unwrap();
    std::fs::write(part.join("log/cut-off.tmp"), "half").unwrap();
    std::fs::write(part.join("log/of-no-use"), "old").unwrap();
    let (_, kept) = fetched(&place, &url, "other");
    assert_eq!(kept, 1);
    assert!(!place.path().join("other/log/of-no-use").exists());
    place.ok(&["--store", "other", "verify"]);
    // As of a moment.
    place.ok(&["restore-backup", "other", "then", "--at", "seq:1"]);

    let refused = place.run(&["backup", &server.url("ada:wrong"), "third"]);
    assert!(refused.code != 0 && !refused.err.contains("wrong@"), "{}", refused.err);
    std::fs::create_dir(place.path().join("mine")).unwrap();
    std::fs::write(place.path().join("mine/file"), "mine").unwrap();
    assert!(place.run(&["backup", &url, "mine"]).err.contains("holds other files"));
    assert!(place.run(&["backup", "ftp://x", "mine"]).err.contains("URL of a server"));
}

#[test]
fn what_is_no_earlier_backup_of_that_store_is_not_replaced_over_http() {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"n":1}"#]);
    place.ok(&["backup", "older"]);
    place.ok(&["put", "notes", "b", r#"{"n":2}"#]);
    place.ok(&["put", "mine", "x", "{}", "--store", "mine.store"]);
    let server = Server::start(&place);
    let url = server.url("ada:secret");
    fetched(&place, &url, "copy");
    // Another store, which is not even a backup.
    assert!(place.fails(6, &["backup", &url, "mine.store"]).contains("a backup of another store"));
    place.ok(&["get", "mine", "x", "--store", "mine.store"]);
    // The store was put back to an older copy.
    drop(server);
    std::fs::remove_dir_all(place.path().join("recension.store")).unwrap();
    std::fs::rename(place.path().join("older"), place.path().join("recension.store")).unwrap();
    let server = Server::start(&place);
    let url = server.url("ada:secret");
    let refused = place.fails(6, &["backup", &url, "copy"]);
    assert!(refused.contains("put back to an older copy") && refused.contains("in another place"), "{refused}");
    assert!(!refused.contains("recension-stream"), "{refused}");
    assert!(place.ok(&["get", "notes", "b", "--store", "copy"]).contains(r#""n":2"#));
    // Fetches that were broken off at their end: the former backup is away, or was not removed yet.
    fetched(&place, &url, "new");
    std::fs::rename(place.path().join("new"), place.path().join("new.old")).unwrap();
    let (_, kept) = fetched(&place, &url, "new");
    assert!(kept > 0);
    std::fs::create_dir_all(place.path().join("new.old/log")).unwrap();
    fetched(&place, &url, "new");
    assert!(!place.path().join("new.old").exists());
}
