//! What `recension serve` writes and where, and what SIGHUP does to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::common::Place;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server whose output is read.
struct Serving {
    process: Child,
    address: String,
    out: Receiver<String>,
    err: Receiver<String>,
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                break;
            }
        }
    });
    told
}

/// The next line in which something stands.
fn line_with(lines: &Receiver<String>, what: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = lines.recv_timeout(left).unwrap_or_else(|_| panic!("no line with {what}"));
        if line.contains(what) {
            return line;
        }
    }
}

impl Serving {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command: Command = place.command(&[&["serve", "--listen", "127.0.0.1:0", "store"], args].concat());
        let piped = command.env_remove("NO_COLOR").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn().unwrap();
        let (out, err) = (lines(process.stdout.take().unwrap()), lines(process.stderr.take().unwrap()));
        let line = line_with(&out, "listening on ");
        let address = line.trim_start_matches("listening on http://").trim_end_matches('/').to_owned();
        Serving { process, address, out, err }
    }

    fn ask(&self, who: &str, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let who = base64(who);
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {who}\r\nContent-Length: {}\r\nConnection: \
             close\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(process, signal).unwrap();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.encode(text)
}

#[test]
fn the_first_password_is_for_standard_error_and_what_is_no_terminal_has_no_colours() {
    let place = Place::new();
    let mut serving = Serving::start(&place, &["--log", "debug"]);
    let line = line_with(&serving.err, "server admin: ");
    let password = line.split("password: ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let answer = serving.ask(&format!("admin:{password}"), "GET", "/_all_dbs", "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let refused = serving.ask("admin:wrong\u{1b}[31m\n", "GET", "/_all_dbs", "");
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    let odd = serving.ask("a\u{1b}[31m\nb:x", "GET", "/_all_dbs", "");
    assert!(odd.starts_with("HTTP/1.1 401"), "{odd}");
    let line = line_with(&serving.err, "a log-in failed");
    assert!(line.contains("WARN") && line.contains("client=127.0.0.1") && line.contains("name=admin"), "{line}");
    let line = line_with(&serving.err, "a log-in failed");
    assert!(line.contains("name=a\\u{1b}[31m\\nb ") && !line.contains("wrong"), "{line}");
    serving.signal(rustix::process::Signal::TERM);
    assert!(serving.process.wait().unwrap().success());
    let (out, err): (String, String) = (serving.out.iter().collect(), serving.err.iter().collect());
    assert!(!out.contains(&password) && !out.contains("password"), "{out}");
    assert!(!err.contains('\u{1b}'), "{err}");
}

#[test]
fn with_log_json_every_line_is_json_from_the_first_to_the_last() {
    let place = Place::new();
    let config = place.path().join("json.toml");
    std::fs::write(&config, "log_json = true\nlog_requests = \"json\"\n").unwrap();
    let args = ["serve", "--listen", "127.0.0.1:0", "--config", config.to_str().unwrap(), "store"];
    let mut command: Command = place.command(&args);
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (out, err) = (lines(process.stdout.take().unwrap()), lines(process.stderr.take().unwrap()));
    let json = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap_or_else(|_| panic!("{line}"));
    let listening = json(&line_with(&out, "listening"));
    assert_eq!(listening["door"], "http");
    let serving = json(&line_with(&err, "serving"));
    assert_eq!(serving["fields"]["url"], listening["listening"], "{serving}");
    assert!(serving["fields"]["version"].is_string() && serving["fields"]["store"] == "store", "{serving}");
    // Once it answers, it heeds signals.
    let address = listening["listening"].as_str().unwrap().trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET /_up HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    rustix::process::kill_process(rustix::process::Pid::from_child(&process), rustix::process::Signal::TERM).unwrap();
    assert!(process.wait().unwrap().success());
    let rest: Vec<_> = err.iter().map(|line| json(&line)).collect();
    assert_eq!(rest.last().unwrap()["fields"]["message"], "stopped");
    for line in &out {
        json(&line);
    }
}

#[test]
fn with_log_json_the_error_that_keeps_a_server_from_starting_is_json_too() {
    let place = Place::new();
    for (file, text) in [("file", "no store"), ("wrong.toml", "listn = 1\n"), ("json.toml", "log_json = true\n")] {
        std::fs::write(place.path().join(file), text).unwrap();
    }
    for (args, named) in [
        (["serve", "--log-json", "file"].as_slice(), "it is a file"),
        (&["serve", "--log-json", "--config", "wrong.toml", "store"], "listn"),
        (&["fcgi", "--config", "json.toml", "--listen", "127.0.0.1:0", "file"], "it is a file"),
    ] {
        let refused = place.run(args);
        let line = refused.err.lines().last().unwrap();
        let line: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{args:?}: {line}"));
        assert!(line["level"] == "ERROR" && line["error"].as_str().unwrap().contains(named), "{args:?}: {line}");
    }
}

#[test]
fn alarms_dashboard_and_guide_name_only_metrics_that_are_served() {
    let place = Place::new();
    let serving = Serving::start(&place, &["--admin", "adm:pass"]);
    serving.ask("adm:pass", "PUT", "/db", "");
    serving.ask("adm:pass", "PUT", "/db/a", "{}");
    let served = serving.ask("adm:pass", "GET", "/_metrics", "");
    let is_served = |name: &str| {
        served
            .lines()
            .map(|line| line.trim_start_matches("# TYPE "))
            .any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])))
    };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let names_in = |file: &str| -> std::collections::BTreeSet<String> {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.filter(|word| word.starts_with("recension_")).map(str::to_owned).collect()
    };
    for file in ["packaging/recension-alarms.yml", "packaging/recension-dashboard.json", "docs/src/monitoring.md"] {
        let names = names_in(file);
        assert!(names.len() > 5, "{file}: {names:?}");
        for name in names {
            assert!(is_served(&name), "{file} names {name}, which is not served:\n{served}");
        }
    }
    let guide = names_in("docs/src/monitoring.md");
    for name in served.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
        assert!(guide.contains(name), "the guide lacks {name}");
    }
}

#[test]
fn requests_are_logged_on_standard_output_in_the_form_that_is_asked_for() {
    let place = Place::new();
    let mut serving = Serving::start(&place, &["--log-requests", "combined", "--admin", "adm:pass"]);
    serving.ask("adm:pass", "PUT", "/db?token=hidden&q=1", "");
    let line = line_with(&serving.out, "PUT");
    assert!(line.starts_with("127.0.0.1 - adm ["), "{line}");
    assert!(line.ends_with("\"PUT /db?token=***&q=1 HTTP/1.1\" 201 12 \"-\" \"-\""), "{line}");
    serving.ask("adm:wrong", "GET", "/db", "");
    let line = line_with(&serving.out, "GET");
    assert!(line.starts_with("127.0.0.1 - - [") && line.contains("\" 401 "), "{line}");
    let metrics = serving.ask("adm:pass", "GET", "/_metrics", "");
    for text in [
        "recension_http_request_duration_seconds_count{method=\"PUT\",endpoint=\"database\"} 1",
        "recension_http_response_size_bytes_sum{endpoint=\"database\"} ",
        "recension_log_ins_failed_total 1",
        "text/plain; version=0.0.4",
    ] {
        assert!(metrics.contains(text), "{text}: {metrics}");
    }
    // What was asked last is written before the process ends.
    serving.ask("adm:pass", "GET", "/_up?last", "");
    serving.signal(rustix::process::Signal::TERM);
    assert!(serving.process.wait().unwrap().success());
    line_with(&serving.out, "GET /_up?last");
}

#[test]
fn sighup_reads_the_configuration_again_and_a_bad_one_is_refused() {
    let place = Place::new();
    let file = |text: &str| place.file("server.toml", format!("admins = [\"adm:pass\"]\n{text}"));
    file("");
    let serving = Serving::start(&place, &["--config", "server.toml"]);
    let size = || {
        let answer = serving.ask("adm:pass", "GET", "/_node/_local/_config/couchdb/max_document_size", "");
        answer.rsplit("\r\n").next().unwrap().trim().to_owned()
    };
    assert_eq!(size(), "\"8000000\"");
    file("max_document_size = 1000\nmax_connections = 7\nlog_requests = \"json\"\n");
    serving.signal(rustix::process::Signal::HUP);
    line_with(&serving.err, "were read again");
    assert!(line_with(&serving.err, "WARN").contains("max_connections"));
    assert_eq!(size(), "\"1000\"");
    let line = line_with(&serving.out, "max_document_size");
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&line["user"], &line["status"], &line["client"]), (&"adm".into(), &200.into(), &"127.0.0.1".into()));
    for bad in ["max_document_size = 0\n", "nonsense = 1\n", "tls_key = \"x\"\n", "= =\n"] {
        file(bad);
        serving.signal(rustix::process::Signal::HUP);
        assert!(line_with(&serving.err, "was refused").contains("ERROR"), "{bad}");
        assert_eq!(size(), "\"1000\"", "{bad}");
    }
    file("max_document_size = 2000\n");
    serving.signal(rustix::process::Signal::HUP);
    line_with(&serving.err, "were read again");
    assert_eq!(size(), "\"2000\"");
}
