//! Replication between real servers over real sockets: in both directions, through a proxy that misbehaves, and with
//! either side killed. Whatever happens on the way, in the end the pair agrees, and nothing is there twice.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::Place;

/// A server on a store of its own that can be killed and started again.
struct Node {
    place: Place,
    process: Child,
    port: u16,
}

impl Node {
    fn start() -> Self {
        let place = Place::new();
        let (process, port) = Self::serve(&place, 0);
        Node { place, process, port }
    }

    fn serve(place: &Place, port: u16) -> (Child, u16) {
        let mut process = place
            .command(&["serve", "--listen", &format!("127.0.0.1:{port}"), "--log", "warn", "store"])
            .env("RECENSION_ADMIN", "adm:pass")
            .stdout(Stdio::piped())
            .stderr(std::fs::File::options().create(true).append(true).open(place.path().join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        (process, port.expect(&line))
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn again(&mut self) {
        self.kill();
        self.process = Self::serve(&self.place, self.port).0;
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.place.path().join("log")).unwrap()
    }

    fn url(&self, db: &str) -> String {
        format!("http://adm:pass@127.0.0.1:{}/{db}", self.port)
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://127.0.0.1:{}/{path}", self.port))
            .header("authorization", "Basic YWRtOnBhc3M=")
            .header("content-type", "application/json")
            .body(if body.is_null() { String::new() } else { body.to_string() })
            .unwrap();
        let mut response = agent.run(request).unwrap();
        let text = response.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
        (response.status().as_u16(), serde_json::from_str(&text).unwrap_or(Value::Null))
    }

    #[track_caller]
    fn done(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, body);
        assert!(status < 300, "{method} {path}: {status} {answer}");
        answer
    }

    /// A database with this many documents, some of which have attachments.
    fn fill(&self, db: &str, number: usize) {
        self.done("PUT", db, &json!(null));
        let document = |number: usize| {
            let mut document = json!({ "_id": format!("n{number:05}"), "number": number, "text": "x".repeat(200) });
            if number.is_multiple_of(50) {
                document["_attachments"] = json!({ "a.txt": { "content_type": "text/plain", "data": "aGVsbG8=" } });
            }
            document
        };
        for first in (0..number).step_by(500) {
            let docs: Vec<Value> = (first..number.min(first + 500)).map(document).collect();
            self.done("POST", &format!("{db}/_bulk_docs"), &json!({ "docs": docs }));
        }
    }

    /// Every leaf of every document.
    fn leaves(&self, db: &str) -> Vec<String> {
        let feed = self.done("GET", &format!("{db}/_changes?style=all_docs"), &json!(null));
        let row = |row: &Value| {
            let mut revs: Vec<&str> =
                row["changes"].as_array().unwrap().iter().map(|leaf| leaf["rev"].as_str().unwrap()).collect();
            revs.sort_unstable();
            format!("{} {revs:?}", row["id"])
        };
        let mut all: Vec<String> = feed["results"].as_array().unwrap().iter().map(row).collect();
        all.sort();
        all
    }

    /// All documents with all bytes of their attachments.
    fn documents(&self, db: &str) -> Value {
        let query = "include_docs=true&attachments=true&conflicts=true";
        self.done("GET", &format!("{db}/_all_docs?{query}"), &json!(null))["rows"].take()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn agree(one: &Node, other: &Node, db: &str) {
    assert!(one.leaves(db) == other.leaves(db), "the leaves differ");
    assert!(one.documents(db) == other.documents(db), "the documents differ");
}

/// A proxy before a server, which harms every other connection.
struct Proxy {
    port: u16,
    harms: Arc<AtomicBool>,
    harmed: Arc<AtomicUsize>,
}

impl Proxy {
    fn before(to: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (harms, harmed) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
        let (own_harms, own_harmed) = (Arc::clone(&harms), Arc::clone(&harmed));
        std::thread::spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                let Ok(client) = client else { continue };
                let harm = own_harms.load(Ordering::Relaxed) && number % 2 == 1;
                let harm = if harm { number / 2 % 5 + 1 } else { 0 };
                own_harmed.fetch_add(usize::from(harm > 0), Ordering::Relaxed);
                std::thread::spawn(move || drop(Self::pass(client, to, harm)));
            }
        });
        Proxy { port, harms, harmed }
    }

    fn pass(mut client: TcpStream, to: u16, harm: usize) -> std::io::Result<()> {
        let short = match harm {
            1 => return Ok(()),
            2 => Some("429 Too Many Requests\r\nRetry-After: 0"),
            3 => Some("500 Internal Server Error"),
            _ => None,
        };
        if let Some(status) = short {
            let mut request = [0; 65536];
            let _ = client.read(&mut request)?;
            client
                .write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes())?;
            return Ok(());
        }
        let mut server = TcpStream::connect(("127.0.0.1", to))?;
        let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from_client, &mut to_server);
            let _ = to_server.shutdown(Shutdown::Write);
        });
        match harm {
            // Cut off in the middle of an answer.
            4 => {
                std::io::copy(&mut (&mut server).take(700), &mut client)?;
                client.shutdown(Shutdown::Both)?;
                server.shutdown(Shutdown::Both)
            }
            // Late, and cut off after a while: connections are kept, and no pair of sides is to keep a good one.
            harm => {
                if harm == 5 {
                    std::thread::sleep(Duration::from_millis(30));
                }
                let most = if harm == 5 { 5_000 } else { 20_000 };
                std::io::copy(&mut (&mut server).take(most), &mut client)?;
                client.shutdown(Shutdown::Both)?;
                server.shutdown(Shutdown::Both)
            }
        }
    }
}

#[test]
fn servers_replicate_to_each_other_by_url_and_by_name_in_both_directions() {
    let (one, other) = (Node::start(), Node::start());
    one.fill("db", 600);
    let answer =
        one.done("POST", "_replicate", &json!({ "source": "db", "target": other.url("db"), "create_target": true }));
    assert_eq!((&answer["docs_written"], &answer["doc_write_failures"]), (&json!(600), &json!(0)), "{answer}");
    agree(&one, &other, "db");
    // An attachment that is streamed, a conflict, a deletion.
    let long = "0123456789abcdef".repeat(200_000);
    let put = json!({ "_rev": one.done("GET", "db/n00001", &json!(null))["_rev"], "_attachments":
        { "long.bin": { "content_type": "application/octet-stream", "data": long } } });
    one.done("PUT", "db/n00001", &put);
    for (node, by) in [(&one, "one"), (&other, "other")] {
        let rev = node.done("GET", "db/n00002", &json!(null))["_rev"].take();
        node.done("PUT", "db/n00002", &json!({ "_rev": rev, "by": by }));
    }
    let rev = other.done("GET", "db/n00003", &json!(null))["_rev"].as_str().unwrap().to_owned();
    other.done("DELETE", &format!("db/n00003?rev={rev}"), &json!(null));
    one.done("POST", "_replicate", &json!({ "source": one.url("db"), "target": other.url("db") }));
    one.done("POST", "_replicate", &json!({ "source": other.url("db"), "target": "db" }));
    agree(&one, &other, "db");
    assert_eq!(one.ask("GET", "db/n00003", &json!(null)).0, 404);
    // An edit of a document does not send its attachments again, and keeps them.
    let rev = one.done("GET", "db/n00001", &json!(null))["_rev"].take();
    let stub = json!({ "_rev": rev, "again": true, "_attachments": { "long.bin": { "stub": true } } });
    one.done("PUT", "db/n00001", &stub);
    let answer = one.done("POST", "_replicate", &json!({ "source": "db", "target": other.url("db") }));
    assert_eq!(answer["docs_written"], 1, "{answer}");
    agree(&one, &other, "db");
    let nothing = one.done("POST", "_replicate", &json!({ "source": "db", "target": other.url("db") }));
    assert_eq!((&nothing["no_changes"], &nothing["docs_read"]), (&json!(true), &json!(0)), "{nothing}");
}

#[test]
fn a_first_replication_takes_all_leaves_in_one_stream() {
    let (one, other) = (Node::start(), Node::start());
    one.fill("db", 1100);
    let conflict = json!({ "docs": [{ "_id": "n00007", "_rev": "1-other", "by": "other" }], "new_edits": false });
    one.done("POST", "db/_bulk_docs", &conflict);
    let rev = one.done("GET", "db/n00008", &json!(null))["_rev"].as_str().unwrap().to_owned();
    one.done("DELETE", &format!("db/n00008?rev={rev}"), &json!(null));
    let job = json!({ "source": one.url("db"), "target": "db", "create_target": true });
    let answer = other.done("POST", "_replicate", &job);
    assert_eq!((&answer["docs_written"], &answer["doc_write_failures"]), (&json!(1101), &json!(0)), "{answer}");
    // Only the documents with attachments were asked for.
    assert_eq!(answer["history"][0]["bulk_get_docs"], 44, "{answer}");
    agree(&one, &other, "db");
    one.done("PUT", "db/later", &json!({}));
    let answer = other.done("POST", "_replicate", &job);
    assert_eq!((&answer["docs_written"], &answer["docs_read"]), (&json!(1), &json!(1)), "{answer}");
    agree(&one, &other, "db");
}

#[test]
fn what_cannot_be_replicated_is_told_without_passwords() {
    let (one, other) = (Node::start(), Node::start());
    one.done("PUT", "db", &json!(null));
    let wrong = other.url("db").replace("adm:pass", "adm:secret");
    for (source, target, status, part) in [
        ("db".to_owned(), wrong.clone(), 401, "does not know this user"),
        ("db".to_owned(), other.url("none"), 404, "create it first"),
        ("none".to_owned(), other.url("db"), 404, "could not open none"),
        ("db".to_owned(), other.url("_up"), 404, "is no database"),
        ("db".to_owned(), "ftp://adm:secret@x/db".to_owned(), 400, "http://"),
        ("db".to_owned(), "_users".to_owned(), 403, "by their URLs"),
    ] {
        let (found, answer) = one.ask("POST", "_replicate", &json!({ "source": source, "target": target }));
        let text = answer.to_string();
        assert!(found == status && text.contains(part), "{source} {target}: {found} {text}");
        assert!(!text.contains("secret") && !text.contains("adm:pass"), "{text}");
    }
    // One that goes on is tried again, and shown as what it is.
    one.done("POST", "_replicate", &json!({ "source": "db", "target": wrong, "continuous": true }));
    let mut job = Value::Null;
    until("it did not crash", || {
        job = one.done("GET", "_scheduler/jobs", &json!(null))["jobs"][0].take();
        job["history"][0]["type"] == "crashed"
    });
    for text in [job.to_string(), one.log()] {
        assert!(text.contains("does not know this user") && !text.contains("secret"), "{text}");
    }
    one.done("POST", "_replicate", &json!({ "replication_id": job["id"], "cancel": true }));
    until("it goes on", || one.done("GET", "_scheduler/jobs", &json!(null))["total_rows"] == 0);
}

#[test]
fn documents_of_the_replicator_run_end_and_are_begun_again_when_the_server_starts() {
    let (mut one, other) = (Node::start(), Node::start());
    one.fill("db", 120);
    other.done("PUT", "db", &json!(null));
    one.done("PUT", "_replicator/once", &json!({ "source": "db", "target": other.url("copy"), "create_target": true }));
    let state = |node: &Node, id: &str| {
        node.done("GET", &format!("_replicator/{id}"), &json!(null))["_replication_state"].take()
    };
    until("it is not completed", || state(&one, "once") == "completed");
    assert!(one.leaves("db") == other.leaves("copy"));
    one.done("PUT", "_replicator/bad", &json!({ "source": "db" }));
    until("it did not fail", || state(&one, "bad") == "failed");
    one.done("PUT", "_replicator/live", &json!({ "source": "db", "target": other.url("db"), "continuous": true }));
    let shown = |node: &Node| node.done("GET", "_scheduler/docs/_replicator/live", &json!(null));
    until("it does not run", || other.leaves("db") == one.leaves("db"));
    let row = shown(&one);
    assert_eq!((&row["state"], &row["source"]), (&json!("running"), &json!("db")), "{row}");
    let tasks = one.done("GET", "_active_tasks", &json!(null));
    assert_eq!(tasks[0]["doc_id"], "live", "{tasks}");
    assert!(!format!("{row}{tasks}").contains("adm:pass"));
    one.again();
    one.done("PUT", "db/new", &json!({}));
    until("it was not begun again", || other.leaves("db") == one.leaves("db"));
    let rev = one.done("GET", "_replicator/live", &json!(null))["_rev"].as_str().unwrap().to_owned();
    one.done("DELETE", &format!("_replicator/live?rev={rev}"), &json!(null));
    until("it did not end", || one.done("GET", "_active_tasks", &json!(null)) == json!([]));
}

#[test]
fn local_databases_are_replicated_for_server_admins_only() {
    let one = Node::start();
    one.fill("db", 1);
    one.done("PUT", "_replicator/_security", &json!({ "members": { "names": ["eve"] } }));
    one.done("PUT", "_replicator/x", &json!({ "source": "db", "target": "copy", "create_target": true }));
    let mut document = Value::Null;
    until("it did not fail", || {
        document = one.done("GET", "_replicator/x", &json!(null));
        document["_replication_state"] == "failed"
    });
    assert!(document["_replication_state_reason"].as_str().unwrap().contains("URLs"), "{document}");
    assert_eq!(one.ask("GET", "copy", &json!(null)).0, 404);
}

#[test]
fn through_a_proxy_that_drops_delays_cuts_and_answers_errors_the_pair_agrees() {
    let (one, other) = (Node::start(), Node::start());
    one.fill("db", 1500);
    other.fill("theirs", 700);
    let proxy = Proxy::before(other.port);
    let through = |db: &str| other.url(db).replace(&format!(":{}/", other.port), &format!(":{}/", proxy.port));
    for job in [
        json!({ "source": "db", "target": through("db"), "create_target": true, "continuous": true, "worker_batch_size": 50 }),
        json!({ "source": through("theirs"), "target": "theirs", "create_target": true, "continuous": true, "worker_batch_size": 50 }),
    ] {
        one.done("POST", "_replicate", &job);
    }
    until("the proxy kept documents back", || {
        other.ask("GET", "db", &json!(null)).0 == 200
            && one.leaves("db") == other.leaves("db")
            && one.leaves("theirs") == other.leaves("theirs")
    });
    assert!(proxy.harmed.load(Ordering::Relaxed) > 3, "the proxy did no harm");
    proxy.harms.store(false, Ordering::Relaxed);
    agree(&one, &other, "db");
    agree(&one, &other, "theirs");
}

#[test]
fn with_either_side_killed_again_and_again_nothing_is_lost_and_nothing_is_there_twice() {
    let (mut one, mut other) = (Node::start(), Node::start());
    one.fill("db", 4000);
    other.done("PUT", "db", &json!(null));
    one.done("PUT", "_replicator/live", &json!({ "source": "db", "target": other.url("db"), "continuous": true }));
    let count = |node: &Node| node.done("GET", "db", &json!(null))["doc_count"].as_u64().unwrap();
    for round in 0..4 {
        let before = count(&other);
        until("nothing came", || count(&other) > before || count(&other) == count(&one));
        if round % 2 == 0 {
            other.again();
        } else {
            one.again();
        }
        one.done("PUT", &format!("db/new{round}"), &json!({ "round": round }));
    }
    until("documents are lost", || one.leaves("db") == other.leaves("db"));
    agree(&one, &other, "db");
    assert_eq!(count(&other), 4004);
}

#[test]
fn the_command_syncs_with_a_server_and_says_what_is_wrong() {
    let (node, place) = (Node::start(), Place::new());
    place.ok_with(&["put", "notes", "a"], b"{\"text\":\"hello\"}");
    let url = node.url("notes");
    assert!(place.fails(1, &["sync", "notes", &url]).contains("create it first"));
    let said = place.ok(&["sync", "notes", &url, "--create"]);
    assert!(said.contains("\"docs_written\":1"), "{said}");
    node.done("PUT", "notes/b", &json!({ "text": "there" }));
    place.ok(&["sync", &url, "notes"]);
    assert!(place.ok(&["get", "notes", "b"]).contains("there"));
    place.ok(&["sync", "notes", "other.store#copy"]);
    assert!(place.ok(&["get", "copy", "b", "--store", "other.store"]).contains("there"));
    let wrong = url.replace("adm:pass", "adm:secret");
    for (code, from, part) in [
        (6, wrong.as_str(), "does not know this user"),
        (6, &node.url("_up"), "is no database"),
        (6, &url.replace("http:", "https:"), "https://"),
        (2, "ftp://x/y", "http://"),
        (2, "http://localhost", "name of a database"),
        (1, "none", "none"),
    ] {
        let error = place.fails(code, &["sync", from, "notes"]);
        assert!(error.contains(part) && !error.contains("secret"), "{from}: {error}");
    }
    let plain = format!("http://127.0.0.1:{}/notes", node.port);
    let mut command = place.command(&["sync", &plain, "notes"]);
    assert!(command.env("RECENSION_SYNC_LOGIN", "adm:pass").output().unwrap().status.success());
}

#[test]
fn a_live_sync_goes_on_until_it_is_interrupted_and_through_a_restart_of_the_server() {
    let (mut node, place) = (Node::start(), Place::new());
    node.fill("notes", 3);
    let mut live: Child = {
        let mut command: Command = place.command(&["sync", &node.url("notes"), "notes", "--live", "--quiet"]);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let checkpoints =
        |node: &Node| node.done("GET", "notes/_local_docs?include_docs=true", &json!(null))["rows"].take();
    let through = |node: &Node| checkpoints(node)[0]["doc"]["history"][0]["docs_written"].as_u64().unwrap_or(0);
    until("it did not begin", || through(&node) == 3);
    node.again();
    node.done("PUT", "notes/new", &json!({}));
    let rows = |node: &Node| checkpoints(node).to_string();
    let before = rows(&node);
    until("it did not go on", || rows(&node) != before);
    rustix::process::kill_process(rustix::process::Pid::from_child(&live), rustix::process::Signal::INT).unwrap();
    assert!(live.wait().unwrap().success());
    assert_eq!(place.ok(&["get", "notes", "new"]).matches("\"_id\"").count(), 1);
}
