//! Commands on a store that another process has open.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ended, Place};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(1);

/// A process that has the store open, until it is dropped.
struct Sharing(Child, BufReader<ChildStdout>);

impl Sharing {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Sharing(child, out)
    }

    /// One that says a line when it has the store.
    fn ready(place: &Place, args: &[&str]) -> Self {
        let mut sharing = Sharing::start(place, args);
        assert!(!sharing.line().is_empty(), "{args:?} ended");
        sharing
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Sharing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn filled() -> Place {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"n":1}"#]);
    place.ok(&["put", "notes", "b", r#"{"n":2}"#]);
    place
}

/// Commands that read and write, of each kind one.
fn commands_work(place: &Place, at: &str) {
    let run = |args: &[&str]| place.ok(&[&["--store", at], args].concat());
    let put: serde_json::Value = serde_json::from_str(&run(&["put", "notes", "c", r#"{"n":3}"#])).unwrap();
    let seq = put["seq"].to_string();
    assert!(run(&["get", "notes", "c"]).contains(r#""n":3"#));
    assert!(run(&["find", "notes", "n >= 2"]).contains(r#""n":3"#));
    run(&["index", "create", "notes", "n"]);
    assert!(run(&["find", "notes", "n = 3"]).contains(r#""n":3"#));
    run(&["explain", "notes", "n = 3"]);
    run(&["patch", "notes", "c", r#"{"n":4}"#]);
    assert!(run(&["history", "notes", "c"]).lines().count() >= 2);
    run(&["export", "notes", "-o", "exported.ndjson"]);
    run(&["import", "others", "exported.ndjson"]);
    assert!(run(&["collections"]).contains("others"));
    run(&["delete", "notes", "c"]);
    run(&["restore", "notes", "c", "--at", &seq]);
    assert_eq!(run(&["changes", "notes"]).lines().count(), 3);
    run(&["retention", "notes", "versions=3"]);
    run(&["compact", "notes"]);
    run(&["stats"]);
    run(&["verify"]);
    run(&["backup", "copy"]);
    assert!(place.ok(&["--store", "copy", "get", "notes", "a"]).contains(r#""n":1"#));
}

#[test]
fn commands_work_while_a_server_runs() {
    let place = filled();
    let _server = Sharing::ready(&place, &["serve", "--listen", "127.0.0.1:0", "recension.store"]);
    let mode = std::fs::metadata(place.path().join("recension.store/SOCKET")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    commands_work(&place, "recension.store");
    // Salvage reads the files themselves.
    assert!(place.run(&["salvage", "recension.store", "salvaged"]).err.contains("in use by process"));
}

#[test]
fn commands_work_while_a_server_of_apocrypha_runs() {
    let place = filled();
    let args = ["apocrypha", "--listen", "127.0.0.1:0", "--no-unix", "--headless", "--database", "recension.store"];
    let _server = Sharing::ready(&place, &args);
    commands_work(&place, "recension.store");
}

const TOKEN: &str = "a-token-of-the-tests";

/// A server with a port for the store, and the store's address without what comes before the host.
fn with_a_port(place: &Place, more: &[&str]) -> (Sharing, String) {
    let args = ["serve", "--listen", "127.0.0.1:0", "--engine", "127.0.0.1:0", "--engine-token", TOKEN];
    let mut server = Sharing::ready(place, &[&args, more, &["recension.store"]].concat());
    let line = server.line();
    let port = line.trim().rsplit_once(':').unwrap().1.to_owned();
    (server, port)
}

/// Runs a command whose environment has a secret.
fn run_with_secret(place: &Place, (name, secret): (&str, &str), args: &[&str]) -> Ended {
    let mut command = place.command(args);
    for name in ["RECENSION_TOKEN", "RECENSION_PASSWORD"] {
        command.env_remove(name);
    }
    let ended = command.env(name, secret).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ended { code: ended.status.code().unwrap_or(-1), out: text(ended.stdout), err: text(ended.stderr) }
}

#[test]
fn commands_work_over_a_network_for_who_knows_the_token() {
    let place = filled();
    let (_server, port) = with_a_port(&place, &[]);
    let at = format!("recension://127.0.0.1:{port}");
    let run = |args: &[&str]| run_with_secret(&place, ("RECENSION_TOKEN", TOKEN), &[&["--store", &at], args].concat());
    let put: serde_json::Value = serde_json::from_str(&run(&["put", "notes", "c", r#"{"n":3}"#]).out).unwrap();
    assert!(put["seq"].is_u64(), "{put}");
    assert!(run(&["find", "notes", "n >= 2"]).out.contains(r#""n":3"#));
    assert_eq!(run(&["verify"]).code, 0);
    // Its path would be one of the server's machine.
    let backup = run(&["backup", "copy"]);
    assert!(backup.code != 0 && backup.err.contains("run the command on the server's"), "{}", backup.err);
    // It is what others see.
    assert!(place.ok(&["get", "notes", "c"]).contains(r#""n":3"#));
    let get = ["--store", &at, "get", "notes", "a"];
    let refused = run_with_secret(&place, ("RECENSION_TOKEN", "another-token-than-that"), &get);
    assert!(refused.code != 0 && refused.err.contains("does not take that token"), "{}", refused.err);
    assert!(!refused.err.contains("another-token"), "{}", refused.err);
    let none = run_with_secret(&place, ("UNUSED", ""), &get);
    assert!(none.err.contains("a token is missing"), "{}", none.err);
    let shown = place.run(&["--store", &format!("recension://{TOKEN}@127.0.0.1:{port}"), "get", "notes", "a"]);
    assert!(shown.code != 0 && shown.err.contains("RECENSION_TOKEN") && !shown.err.contains(TOKEN), "{}", shown.err);
}

#[test]
fn the_servers_admins_open_its_store_over_a_network_and_nobody_else_does() {
    let place = filled();
    let mut command =
        place.command(&["serve", "--listen", "127.0.0.1:0", "--engine", "127.0.0.1:0", "recension.store"]);
    command.env("RECENSION_ADMIN", "ada:swordfish");
    let (mut server, http) = {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut server = Sharing(child, out);
        let http = server.line();
        (server, http)
    };
    let port = server.line().trim().rsplit_once(':').unwrap().1.to_owned();
    let get = |name: &str, secret: (&str, &str)| {
        let at = format!("recension://{name}127.0.0.1:{port}");
        run_with_secret(&place, secret, &["--store", &at, "get", "notes", "a"])
    };
    let found = get("ada@", ("RECENSION_PASSWORD", "swordfish"));
    assert!(found.out.contains(r#""n":1"#), "{} {http}", found.err);
    let wrong = get("ada@", ("RECENSION_PASSWORD", "guessed"));
    assert!(wrong.code != 0 && wrong.err.contains("Name or password is incorrect"), "{}", wrong.err);
    let made = place.ok(&["token", "create", "programs", "--rights", "server"]);
    let token = made.trim();
    assert!(get("", ("RECENSION_TOKEN", token)).out.contains(r#""n":1"#));
    let listed: serde_json::Value = serde_json::from_str(&place.ok(&["token", "list"])).unwrap();
    let limited = place.ok(&["token", "create", "reader", "--rights", "read", "--database", "notes"]);
    let refused = get("", ("RECENSION_TOKEN", limited.trim()));
    assert!(refused.code != 0 && refused.err.contains("for the server's admins"), "{}", refused.err);
    place.ok(&["token", "revoke", listed["id"].as_str().unwrap()]);
    let revoked = get("", ("RECENSION_TOKEN", token));
    assert!(revoked.code != 0 && revoked.err.contains("does not take that token"), "{}", revoked.err);
}

#[test]
fn collections_are_synced_from_and_to_a_store_on_a_network() {
    let place = filled();
    let (_server, port) = with_a_port(&place, &[]);
    let there = format!("recension://127.0.0.1:{port}#notes");
    let run = |args: &[&str]| run_with_secret(&place, ("RECENSION_TOKEN", TOKEN), args);
    let here = ["--store", "elsewhere.store"];
    let pulled = run(&[&here[..], &["sync", &there, "copies"]].concat());
    assert_eq!(pulled.code, 0, "{}", pulled.err);
    assert!(place.ok(&[&here[..], &["get", "copies", "b"]].concat()).contains(r#""n":2"#));
    place.ok(&[&here[..], &["put", "copies", "c", r#"{"n":3}"#]].concat());
    let pushed = run(&[&here[..], &["sync", "copies", &there]].concat());
    assert!(pushed.code == 0 && pushed.err.contains("1 revision written"), "{} {}", pushed.out, pushed.err);
    assert!(place.ok(&["get", "notes", "c"]).contains(r#""n":3"#));
    // How far it has come is known on both sides.
    let again = run(&[&here[..], &["sync", "copies", &there]].concat());
    assert!(again.code == 0 && again.err.contains("0 revisions written"), "{} {}", again.out, again.err);
}

#[test]
fn a_network_is_spoken_to_in_tls() {
    let place = filled();
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../recension-server/tests/keys");
    let file = |name: &str| format!("{keys}/{name}");
    let (chain, key) = (file("vouched.pem"), file("vouched.key.pem"));
    let (_server, port) = with_a_port(&place, &["--tls-certificate", &chain, "--tls-key", &key]);
    let secret = place.file("secret", format!("{TOKEN}\n"));
    std::fs::set_permissions(place.path().join(&secret), std::fs::Permissions::from_mode(0o600)).unwrap();
    let at = format!("recension://localhost:{port}?ca={}&secret={secret}", file("authority.pem"));
    assert!(place.ok(&["--store", &at, "find", "notes"]).contains(r#""n":2"#));
    let long = format!(r#"{{"n":9,"text":"{}"}}"#, "long ".repeat(200_000));
    place.ok_with(&["--store", &at, "put", "notes", "long"], long.as_bytes());
    assert!(place.ok(&["--store", &at, "get", "notes", "long"]).len() > 1_000_000);
    let other = format!("recension://localhost:{port}?ca={}&secret={secret}", file("certificate.pem"));
    let refused = place.run(&["--store", &other, "find", "notes"]);
    assert!(refused.code != 0 && refused.err.contains("no TLS with localhost"), "{}", refused.err);
}

#[test]
fn commands_work_while_a_shell_is_open() {
    let place = filled();
    let mut shell = Sharing::start(&place, &["shell"]);
    shell.0.stdin.as_mut().unwrap().write_all(b"get notes a\n").unwrap();
    assert!(shell.line().contains('1'));
    commands_work(&place, "recension.store");
}

#[test]
fn who_follows_changes_sees_what_others_write_and_goes_on_when_the_owner_is_killed() {
    let place = filled();
    let mut owner = Sharing::ready(&place, &["changes", "--follow"]);
    assert!(owner.line().contains(r#""b""#));
    let mut follower = Sharing::ready(&place, &["changes", "--follow", "notes"]);
    assert!(follower.line().contains(r#""b""#));
    for n in 0..3 {
        place.ok(&["put", "notes", &format!("c{n}"), "{}"]);
        assert!(owner.line().contains(&format!("c{n}")) && follower.line().contains(&format!("c{n}")));
    }
    owner.kill();
    let deadline = Instant::now() + LONG;
    while place.run(&["put", "notes", "later", "{}"]).code != 0 {
        assert!(Instant::now() < deadline, "nobody owns the store");
    }
    assert!(follower.line().contains("later"));
    place.ok(&["verify"]);
}

#[test]
fn an_owner_that_is_stopped_is_named_and_not_waited_for_without_end() {
    let place = filled();
    let mut owner = Sharing::ready(&place, &["changes", "--follow"]);
    assert!(owner.line().contains(r#""b""#));
    let process = rustix::process::Pid::from_child(&owner.0);
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    let said = place.fails(6, &["find", "notes", "n = 1"]);
    assert!(
        said.contains(&format!("process {}", process.as_raw_nonzero())) && said.contains("does not answer"),
        "{said}"
    );
    rustix::process::kill_process(process, rustix::process::Signal::CONT).unwrap();
    place.ok(&["find", "notes", "n = 1"]);
}

#[test]
fn a_store_that_is_in_use_and_not_shared_says_so() {
    let place = filled();
    let store = place.path().join("recension.store");
    let held = std::fs::File::options().write(true).open(store.join("lock")).unwrap();
    held.try_lock().unwrap();
    assert!(place.fails(6, &["get", "notes", "a"]).contains("in use by"));
}
