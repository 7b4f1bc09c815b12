//! Requests that CGI programs hand to a server that has the store open: answered as the program itself would, by its
//! settings and rights, and what each way costs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const BIN: &str = env!("CARGO_BIN_EXE_recension");

/// A server that logs what it is asked.
struct Serving {
    process: Child,
    out: BufReader<std::process::ChildStdout>,
    store: PathBuf,
    _place: tempfile::TempDir,
}

impl Serving {
    fn start(flags: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let store = place.path().join("store");
        let mut process = Command::new(BIN)
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "error", "--log-requests", "combined"])
            .args(flags)
            .arg(&store)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        assert!(line.starts_with("listening on"), "{line}");
        let serving = Serving { process, out, store, _place: place };
        // It offers it when it has begun to run.
        while !serving.socket().exists() {
            std::thread::yield_now();
        }
        serving
    }

    fn socket(&self) -> PathBuf {
        self.store.join("REQUESTS")
    }

    /// The answer of a CGI program that the server may answer for.
    fn cgi(&self, variables: &[(&str, &str)], body: &str) -> String {
        let mut process = Command::new(BIN)
            .args(["cgi", "--log", "off"])
            .arg(&self.store)
            .env("CONTENT_LENGTH", body.len().to_string())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        process.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{variables:?}");
        // Every answer has an id of its own.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_inclusive("\r\n").filter(|line| !line.starts_with("x-couch-request-id:")).collect()
    }

    /// The answer of a program that finds no server to hand its request to.
    fn cgi_alone(&self, variables: &[(&str, &str)]) -> String {
        let away = self.store.join("AWAY");
        std::fs::rename(self.socket(), &away).unwrap();
        let answer = self.cgi(variables, "");
        std::fs::rename(away, self.socket()).unwrap();
        answer
    }

    /// Ends it, and says which requests it answered.
    fn ended(mut self) -> String {
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.process.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut lines = String::new();
        self.out.read_to_string(&mut lines).unwrap();
        assert!(self.process.wait().unwrap().success());
        assert!(!self.socket().exists());
        lines
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const PARTY: (&str, &str) = ("RECENSION_ADMIN_PARTY", "true");
const ADMIN: (&str, &str) = ("RECENSION_ADMIN", "adm:pass");
/// adm:pass
const AS_ADMIN: (&str, &str) = ("HTTP_AUTHORIZATION", "Basic YWRtOnBhc3M=");

fn status(answer: &str) -> &str {
    answer.strip_prefix("Status: ").and_then(|rest| rest.get(..3)).unwrap_or(answer)
}

fn put(serving: &Serving, own: &[(&str, &str)], uri: &str, body: &str) {
    let variables = [own, &[("REQUEST_METHOD", "PUT"), ("REQUEST_URI", uri)]].concat();
    let answer = serving.cgi(&variables, body);
    assert!(matches!(status(&answer), "200" | "201"), "{uri}: {answer}");
}

#[test]
fn what_is_handed_over_is_answered_as_the_program_itself_would() {
    let serving = Serving::start(&["--admin-party"]);
    assert_eq!(std::fs::metadata(serving.socket()).unwrap().permissions().mode() & 0o777, 0o600);
    put(&serving, &[PARTY], "/db", "");
    for (id, length) in [("d0", 200_000), ("d1", 1)] {
        put(&serving, &[PARTY], &format!("/db/{id}"), &format!("{{\"text\":\"<{}>\"}}", "x".repeat(length)));
    }
    let design = r#"{"views":{"v":{"map":"function(doc){emit(doc._id)}"}},
        "templates":{"t":{"head":"<ul>","row":"<li>{{ doc.text }}","foot":"</ul>"}}}"#;
    put(&serving, &[PARTY], "/db/_design/d", design);
    let html = ("HTTP_ACCEPT", "text/html,application/xhtml+xml");
    let below = ("PATH_INFO", "/db/_all_docs");
    let asked: &[(bool, &str, &str, &[(&str, &str)])] = &[
        (true, "GET", "/db/d0?mark=1", &[]),
        (true, "HEAD", "/db/d0?mark=2", &[]),
        (true, "GET", "/db/none?mark=3", &[]),
        (true, "GET", "/db/_all_docs?include_docs=true&mark=4", &[]),
        (true, "GET", "/db/_all_docs?mark=5", &[html]),
        (true, "GET", "/db/_all_docs?include_docs=true&template=d/t&mark=6", &[html]),
        (true, "GET", "/app/db/_all_docs?mark=7", &[html, below, ("SCRIPT_NAME", "/app")]),
        (true, "GET", "/db/_design/d?mark=8", &[("HTTPS", "on")]),
        (true, "GET", "/db/d0?rev=nonsense&mark=9", &[]),
        // Functions, feeds and the server's own pages are the program's.
        (false, "GET", "/db/_design/d/_view/v?mark=10", &[]),
        (false, "GET", "/db/_changes?mark=11", &[]),
        (false, "GET", "/_all_dbs?mark=12", &[]),
        (false, "GET", "/_node/_local/_config/chttpd/port?mark=13", &[]),
        (false, "GET", "/db/_%ff?mark=14", &[]),
        (false, "DELETE", "/db/none?mark=15", &[]),
    ];
    for (_, method, uri, more) in asked {
        let variables = [&[PARTY, ("REQUEST_METHOD", method), ("REQUEST_URI", uri)][..], more].concat();
        let answer = serving.cgi(&variables, "");
        assert_eq!(answer, serving.cgi_alone(&variables), "{uri}");
        assert!(status(&answer).parse::<u16>().is_ok(), "{answer}");
    }
    let answered = serving.ended();
    for (handed, _, uri, _) in asked {
        let mark = format!("{} HTTP", &uri[uri.find("mark").unwrap()..]);
        assert_eq!(answered.matches(&mark).count(), usize::from(*handed), "{uri}\n{answered}");
    }
}

#[test]
fn a_program_with_other_settings_answers_by_itself() {
    for (flags, own, expected) in [
        (&["--admin", "adm:pass"][..], PARTY, "200"),
        (&["--admin-party"], ("RECENSION_ADMIN", "other:pass"), "401"),
        (&["--admin-party"], ("LANG", "C"), "401"),
    ] {
        let serving = Serving::start(flags);
        let set_up = if flags.len() == 1 { vec![PARTY] } else { vec![ADMIN, AS_ADMIN] };
        put(&serving, &set_up, "/db", "");
        put(&serving, &set_up, "/db/a", "{}");
        let answer = serving.cgi(&[own, ("REQUEST_URI", "/db/a?mark=1")], "");
        assert_eq!(status(&answer), expected, "{flags:?} {own:?}: {answer}");
        assert!(!serving.ended().contains("mark=1"), "{flags:?} {own:?}");
    }
}

#[test]
fn settings_that_another_process_has_changed_hold_for_what_is_handed_over() {
    let serving = Serving::start(&["--admin", "adm:pass"]);
    put(&serving, &[ADMIN, AS_ADMIN], "/db", "");
    put(&serving, &[ADMIN, AS_ADMIN], "/db/a", "{}");
    put(&serving, &[ADMIN, AS_ADMIN], "/db/_security", "{}");
    let get = |mark: &str| serving.cgi(&[ADMIN, ("REQUEST_URI", &format!("/db/a?mark={mark}"))], "");
    assert_eq!(status(&get("1")), "200");
    put(&serving, &[ADMIN, AS_ADMIN], "/_node/_local/_config/chttpd/require_valid_user", "\"true\"");
    assert_eq!(status(&get("2")), "401");
    let answered = serving.ended();
    assert!(answered.contains("mark=1 HTTP") && answered.contains("mark=2 HTTP"), "{answered}");
}

#[test]
fn a_server_that_was_killed_is_in_nobodys_way() {
    let mut serving = Serving::start(&["--admin-party"]);
    put(&serving, &[PARTY], "/db", "");
    put(&serving, &[PARTY], "/db/a", "{}");
    serving.process.kill().unwrap();
    serving.process.wait().unwrap();
    assert!(serving.socket().exists());
    assert_eq!(status(&serving.cgi(&[PARTY, ("REQUEST_URI", "/db/a")], "")), "200");
}

/// Stands in the place of the owner's socket, and counts the requests that pass.
fn counted(store: &Path) -> Arc<AtomicUsize> {
    let behind = store.join("SOCKET.behind");
    std::fs::rename(store.join("SOCKET"), &behind).unwrap();
    let listener = UnixListener::bind(store.join("SOCKET")).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&count);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (client, owner) = (client.unwrap(), UnixStream::connect(&behind).unwrap());
            let (mut to_client, mut from_owner) = (client.try_clone().unwrap(), owner.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from_owner, &mut to_client));
            let counts = Arc::clone(&counts);
            std::thread::spawn(move || {
                let (mut client, mut owner, mut head) = (client, owner, [0; 8]);
                while client.read_exact(&mut head).is_ok() {
                    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) & 0x7fff_ffff;
                    let mut frame = head.to_vec();
                    (&mut client).take(length.into()).read_to_end(&mut frame).unwrap();
                    counts.fetch_add(1, Ordering::SeqCst);
                    owner.write_all(&frame).unwrap();
                }
                let _ = owner.shutdown(std::net::Shutdown::Write);
            });
        }
    });
    count
}

#[test]
fn a_request_costs_no_more_round_trips_than_is_written_here() {
    let serving = Serving::start(&["--admin-party"]);
    put(&serving, &[PARTY], "/db", "");
    put(&serving, &[PARTY], "/db/a", "{}");
    let count = counted(&serving.store);
    let table = [("/db/a", 9), ("/db/_all_docs?include_docs=true", 10)];
    let measured = table.map(|(uri, _)| {
        let variables = [PARTY, ("REQUEST_URI", uri)];
        count.store(0, Ordering::SeqCst);
        serving.cgi(&variables, "");
        assert_eq!(count.load(Ordering::SeqCst), 0, "{uri}, handed over");
        serving.cgi_alone(&variables);
        (uri, count.load(Ordering::SeqCst))
    });
    assert_eq!(measured, table);
}
