//! `recension apocrypha` and `recension d` as processes: files of the existing servers, the command-line client, and
//! what is there after `kill -9`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::Place;

struct Server {
    process: Child,
    address: SocketAddr,
}

impl Server {
    fn start(folder: &Path, flags: &[&str]) -> Self {
        Self::listening("127.0.0.1:0", folder, flags)
    }

    fn listening(address: &str, folder: &Path, flags: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_recension"))
            .args(["apocrypha", "--listen", address])
            .args(flags)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap_or_else(|| {
            let mut why = String::new();
            let _ = process.stderr.as_mut().unwrap().read_to_string(&mut why);
            panic!("it does not listen: {why}");
        });
        Server { address: address.parse().unwrap(), process }
    }

    /// Ends it as `kill -9` does; answers what it said on standard error.
    fn kill(mut self) -> String {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }

    fn d(&self, words: &[&str]) -> (i32, String, String) {
        self.d_with(words, "", &[])
    }

    fn d_with(&self, words: &[&str], input: &str, options: &[&str]) -> (i32, String, String) {
        let mut process = Command::new(env!("CARGO_BIN_EXE_recension"))
            .args(["d", "--port", &self.address.port().to_string()])
            .args(options)
            .arg("--")
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let ended = process.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (ended.status.code().unwrap(), text(ended.stdout), text(ended.stderr))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Asks on a connection; `None` where the server is gone.
fn ask(stream: &mut TcpStream, words: &[&str]) -> Option<String> {
    let payload = words.join("\n");
    let frame = [&(payload.len() as u32).to_be_bytes()[..], payload.as_bytes()].concat();
    stream.write_all(&frame).ok()?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).ok()?;
    let mut reply = vec![0; u32::from_be_bytes(head) as usize];
    stream.read_exact(&mut reply).ok()?;
    String::from_utf8(reply).ok()
}

#[test]
fn a_database_file_is_read_once_and_can_be_written_back() {
    let place = Place::new();
    let folder = place.path();
    std::fs::write(folder.join("db.json"), r#"{"pizza": "sauce", "sub": {"b": 1.50, "_a": []}}"#).unwrap();
    let flags = ["--no-unix", "--database", "db.json"];
    let server = Server::start(folder, &flags);
    assert_eq!(server.d(&["pizza"]), (0, "sauce\n".into(), String::new()));
    assert_eq!(server.d(&["pizza", "+", "cheese"]).0, 0);
    assert_eq!(server.d(&["sub", "--del"]).0, 0);
    server.kill();
    // What was deleted does not come back from the file.
    let server = Server::start(folder, &flags);
    assert_eq!(server.d(&["--keys"]).1, "pizza\n");
    assert_eq!(server.d(&["sub", "x", "_id", "=", "1"]).0, 0);
    server.kill();
    let export = ["--store", "db.json.recension", "export", "apocrypha", "--format", "apocrypha", "-o", "out.json"];
    place.ok(&export);
    let out = std::fs::read_to_string(folder.join("out.json")).unwrap();
    assert_eq!(out, r#"{"pizza":["sauce","cheese"],"sub":{"x":{"_id":"1"}}}"#);
    assert!(place.ok(&["--store", "db.json.recension", "get", "apocrypha", "pizza"]).contains("sauce"));
    // What is no database is refused before anybody is answered.
    std::fs::write(folder.join("bad.json"), "[1]").unwrap();
    let ended = place.run(&["apocrypha", "--listen", "127.0.0.1:0", "--no-unix", "--database", "bad.json"]);
    assert!(ended.code == 5 && ended.err.contains("no database of Apocrypha"), "{}", ended.err);
}

#[test]
fn d_says_words_and_what_is_piped_in() {
    let place = Place::new();
    let server = Server::start(place.path(), &["--stateless", "--no-unix", "--token", "sesame", "--trace"]);
    let d = |words: &[&str], input: &str| server.d_with(words, input, &["--token", "sesame"]);
    assert_eq!(d(&["toppings", "+", "pineapple"], ""), (0, String::new(), String::new()));
    assert_eq!(d(&["toppings", "+"], "ham\nolives\n").0, 0);
    assert_eq!(d(&["toppings"], "").1, "pineapple\nham\nolives\n");
    assert_eq!(d(&["menu", "--set"], "{\n  \"pizza\":\n 1}\n").0, 0);
    assert_eq!(d(&["menu", "--edit"], "").1, "{\n    \"pizza\": 1\n}\n");
    let (code, _, error) = d(&["toppings", "x", "y"], "");
    assert_eq!((code, error.as_str()), (5, "recension: cannot index through non-dict\n"));
    assert!(server.d_with(&["toppings"], "", &["--token", "other"]).2.contains("token"));
    let said = server.kill();
    assert!(said.lines().any(|line| line.starts_with("0.0") && line.ends_with(" toppings + pineapple")), "{said}");
}

#[test]
fn serve_answers_apocrypha_beside_http() {
    let place = Place::new();
    let mut process = Command::new(env!("CARGO_BIN_EXE_recension"))
        .args(["serve", "--listen", "127.0.0.1:0", "--apocrypha", "127.0.0.1:0", "--admin", "ada:secret"])
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let http = lines.next().unwrap().unwrap().replace("listening on http://", "").replace('/', "");
    let address = lines.next().unwrap().unwrap().replace("listening for Apocrypha on ", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    assert_eq!(ask(&mut stream, &["menu", "pizza", "=", "9.50"]).as_deref(), Some(""));
    let mut web = TcpStream::connect(&http).unwrap();
    // ada:secret
    let request = format!(
        "GET /apocrypha/menu HTTP/1.1\r\nHost: {http}\r\nAuthorization: Basic YWRhOnNlY3JldA==\r\nConnection: \
         close\r\n\r\n"
    );
    web.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    web.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""pizza":"9.50""#), "{answer}");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn validation_functions_of_the_database_are_asked() {
    let place = Place::new();
    let design =
        r#"{"validate_doc_update":"function(doc) { if (doc.bad) throw({forbidden: 'no ' + doc.bad + ' here'}) }"}"#;
    place.ok(&["put", "apocrypha", "_design/v", design]);
    let server = Server::start(place.path(), &[]);
    assert_eq!(server.d(&["menu", "good", "=", "pizza"]).0, 0);
    let (code, out, err) = server.d(&["menu", "bad", "=", "pineapple"]);
    assert!(code != 0 && (out.clone() + &err).contains("no pineapple here"), "{code} {out} {err}");
    let (_, menu, _) = server.d(&["menu"]);
    assert!(menu.contains("pizza") && !menu.contains("bad"), "{menu}");
}

/// Rows A2 and A3 of what the existing servers do wrong. `RECENSION_KILLS=100` for as many trials.
#[test]
fn what_was_acknowledged_is_there_after_kill_9() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (trials, seed) = (number("RECENSION_KILLS", 10), number("RECENSION_SEED", 1));
    let place = Place::new();
    // What each writer was told is written: counted over all trials.
    let acknowledged: Arc<Vec<AtomicU64>> = Arc::new((0..4).map(|_| AtomicU64::new(0)).collect());
    for trial in 0..trials {
        let durability = if trial % 2 == 0 { "disk" } else { "process" };
        let server = Server::start(place.path(), &["--no-unix", "--database", "killed", "--durability", durability]);
        let mut checker = TcpStream::connect(server.address).unwrap();
        check(&mut checker, &acknowledged, &format!("before trial {trial}, RECENSION_SEED={seed}"));
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (address, acknowledged) = (server.address, Arc::clone(&acknowledged));
                std::thread::spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    loop {
                        let next = acknowledged[writer].load(Ordering::SeqCst) + 1;
                        let (own, value) = (format!("own {writer}"), format!("{next:06}"));
                        let set = ask(&mut stream, &[&own, "=", &value]);
                        let all = set.and_then(|_| ask(&mut stream, &["all", &own, "last", "=", &value]));
                        match all.as_deref() {
                            Some("") => acknowledged[writer].store(next, Ordering::SeqCst),
                            Some(other) => panic!("{other}"),
                            None => return,
                        }
                    }
                })
            })
            .collect();
        // Another moment in each trial.
        let chance = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ trial).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40;
        std::thread::sleep(Duration::from_millis(5 + chance % 150));
        server.kill();
        for writer in writers {
            writer.join().unwrap();
        }
    }
    let server = Server::start(place.path(), &["--no-unix", "--database", "killed"]);
    let mut checker = TcpStream::connect(server.address).unwrap();
    check(&mut checker, &acknowledged, "at the end");
    let written: u64 = acknowledged.iter().map(|counted| counted.load(Ordering::SeqCst)).sum();
    assert!(written > trials, "only {written} writes were made: nothing was tried");
}

/// Nothing that was acknowledged is missing, and of the one that was not all or nothing is there.
fn check(checker: &mut TcpStream, acknowledged: &[AtomicU64], when: &str) {
    for (writer, counted) in acknowledged.iter().enumerate() {
        let own = format!("own {writer}");
        let known = counted.load(Ordering::SeqCst);
        for words in [&[own.as_str()][..], &["all", &own, "last"]] {
            let found: u64 = ask(checker, words).unwrap().parse().unwrap_or(0);
            assert!(found == known || found == known + 1, "{when}: {words:?} is {found}, {known} was acknowledged");
        }
    }
}

/// Runs `recension d` at a terminal with an editor that is a line of shell; returns how it ended.
fn edit(place: &Place, server: &Server, path: &[&str], editor: &str) -> i32 {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&screen).unwrap();
    unlockpt(&screen).unwrap();
    let name = ptsname(&screen, Vec::new()).unwrap();
    let child = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let stdio = || Stdio::from(child.try_clone().unwrap());
    let script = place.path().join("editor");
    std::fs::write(&script, editor).unwrap();
    let ended = place
        .command(&["d", "--port", &server.address.port().to_string(), "--"])
        .args(path)
        .arg("--edit")
        .env_remove("VISUAL")
        .env("EDITOR", format!("sh '{}'", script.display()))
        .env("RECENSION", env!("CARGO_BIN_EXE_recension"))
        .env("PORT", server.address.port().to_string())
        .stdin(stdio())
        .stdout(stdio())
        .stderr(stdio())
        .status()
        .unwrap();
    drop((child, screen));
    ended.code().unwrap()
}

#[test]
fn an_editor_changes_a_value_unless_somebody_was_faster() {
    let place = Place::new();
    let server = Server::start(place.path(), &["--stateless", "--no-unix"]);
    let shown = || server.d(&["menu", "--edit"]).1;
    assert_eq!(server.d(&["menu", "--set", r#"{"pizza":1,"soup":[]}"#]).0, 0);
    assert_eq!(edit(&place, &server, &["menu"], "sed -i s/1/2/ \"$1\""), 0);
    assert_eq!(shown(), "{\n    \"pizza\": 2,\n    \"soup\": []\n}\n");
    assert_eq!(edit(&place, &server, &["menu"], "true"), 0);
    // Somebody else writes while the editor is open.
    let faster = "\"$RECENSION\" d --port $PORT -- menu pasta = 9 </dev/null; sed -i s/2/3/ \"$1\"";
    assert_eq!(edit(&place, &server, &["menu"], faster), 3);
    assert!(shown().contains("\"pizza\": 2") && shown().contains("\"pasta\": \"9\""), "{}", shown());
    assert_eq!(edit(&place, &server, &["menu"], "exit 1"), 6);
    assert_eq!(edit(&place, &server, &["menu"], "echo { > \"$1\""), 5);
    assert_eq!(edit(&place, &server, &["menu"], "sed -i s/2/4/ \"$1\""), 0);
    assert!(shown().contains("\"pizza\": 4"), "{}", shown());
    // The whole database is written so too.
    let faster = "\"$RECENSION\" d --port $PORT -- tea = green </dev/null; sed -i s/4/5/ \"$1\"";
    assert_eq!(edit(&place, &server, &[], faster), 3);
    assert!(shown().contains("\"pizza\": 4") && server.d(&["tea"]).1 == "green\n");
    assert_eq!(edit(&place, &server, &[], "sed -i 's/green/black/' \"$1\""), 0);
    assert_eq!(server.d(&["tea"]).1, "black\n");
    assert!(shown().contains("\"pizza\": 4"), "{}", shown());
}

#[test]
fn d_speaks_tls_with_who_is_vouched_for_and_says_why_with_nobody_else() {
    let place = Place::new();
    let keys = format!("{}/../recension-server/tests/keys", env!("CARGO_MANIFEST_DIR"));
    let [certificate, key, authority, other] =
        ["vouched.pem", "vouched.key.pem", "authority.pem", "certificate.pem"].map(|name| format!("{keys}/{name}"));
    let flags = ["--stateless", "--no-unix", "--tls-certificate", &certificate, "--tls-key", &key];
    let server = Server::start(place.path(), &flags);
    let d = |words: &[&str], options: &[&str]| server.d_with(words, "", options);
    assert_eq!(d(&["menu", "=", "☃"], &["--ca", &authority]), (0, String::new(), String::new()));
    assert_eq!(d(&["menu"], &["--ca", &authority, "--tls", "--host", "localhost"]).1, "☃\n");
    // More than a record of TLS holds.
    let long = "x".repeat(100_000);
    assert_eq!(d(&["long", "=", &long], &["--ca", &authority]).0, 0);
    assert_eq!(d(&["long"], &["--ca", &authority]).1.len(), long.len() + 1);
    let empty = place.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    for (options, code, part) in [
        // Somebody else's certificate; none; a file that is not there; no name; no TLS.
        (&["--ca", other.as_str()][..], 6, "no TLS with 127.0.0.1"),
        (&["--ca", empty], 5, "there is no certificate in it"),
        (&["--ca", "nowhere.pem"], 5, "nowhere.pem"),
        (&["--ca", &authority, "--host", "not a name"], 6, "not a name"),
        (&[], 6, "asking the server"),
    ] {
        let (found, _, error) = d(&["menu"], options);
        assert!(found == code && error.contains(part), "{options:?}: {found} {error}");
    }
    assert_eq!(d(&["menu"], &["--ca", &authority]).1, "☃\n");
    // The right certificate for another name.
    let elsewhere = Server::listening("127.0.0.2:0", place.path(), &flags);
    let (code, _, error) = elsewhere.d_with(&["menu"], "", &["--ca", &authority, "--host", "127.0.0.2"]);
    assert!(code == 6 && error.contains("no TLS with 127.0.0.2"), "{error}");
    // And the other way around.
    let plain = Server::start(place.path(), &["--stateless", "--no-unix"]);
    let (code, _, error) = plain.d_with(&["menu"], "", &["--ca", &authority]);
    assert!(code == 6 && error.contains("no TLS with 127.0.0.1"), "{error}");
}
