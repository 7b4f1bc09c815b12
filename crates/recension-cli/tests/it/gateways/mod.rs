//! The gateways behind nginx, lighttpd and Apache: the same requests through each, 1 GB in one answer, then what web
//! servers and clients do to them. `RECENSION_GATEWAY_MB` is another number of megabytes for that answer.

mod fronts;
mod handed;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fronts::{Front, Gateway, Way};

/// What a gateway may hold in memory while it sends 1 GB, and has done for the requests before.
const MEMORY_MAX: usize = 200 << 20;

/// A request through a web server; the answer's status, head and body.
fn ask(front: &Front, method: &str, path: &str, headers: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
    let mut stream = begin(front, method, path, headers, body);
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(answer.len().saturating_sub(4));
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    let status = head.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, head, answer[end + 4..].to_vec())
}

fn begin(front: &Front, method: &str, path: &str, headers: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(front.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    // adm:pass
    let who = if headers.contains("Authorization") { "" } else { "Authorization: Basic YWRtOnBhc3M=\r\n" };
    let head = format!("{method} {path} HTTP/1.0\r\nHost: front.example\r\n{who}{length}{kind}{headers}\r\n");
    stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
    stream
}

fn text(front: &Front, path: &str) -> String {
    String::from_utf8_lossy(&ask(front, "GET", path, "", b"").2).into_owned()
}

/// What any client may expect, whatever stands between.
fn answers_as_over_http(front: &Front) {
    assert_eq!(ask(front, "PUT", "/db", "", b"").0, 201, "{}", front.log());
    let (status, head, _) = ask(front, "PUT", "/db/a%2Fb%3F", "", br#"{"n":"\u0000<\u20ac>"}"#);
    assert_eq!(status, 201, "{head}");
    assert!(head.contains("location: http://front.example/db/a%2fb%3f"), "{head}");
    let (status, head, body) = ask(front, "GET", "/db/a%2Fb%3F", "", b"");
    assert_eq!(status, 200, "{head}");
    assert!(String::from_utf8_lossy(&body).starts_with("{\"_id\":\"a/b?\""), "{}", String::from_utf8_lossy(&body));
    let tag = head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    assert_eq!(ask(front, "GET", "/db/a%2Fb%3F", &format!("If-None-Match: {tag}\r\n"), b"").0, 304);
    assert_eq!(ask(front, "HEAD", "/db/a%2Fb%3F", "", b"").2, b"");
    assert_eq!(ask(front, "GET", "/db/none", "", b"").0, 404);
    // adm:wrong
    assert_eq!(ask(front, "GET", "/db/none", "Authorization: Basic YWRtOndyb25n\r\n", b"").0, 401);
    assert!(text(front, "/db/_all_docs?startkey=%22a%22&limit=1").contains("a/b?"));
    let (_, head, page) = ask(front, "GET", "/db/_all_docs", "Accept: text/html,application/xhtml+xml\r\n", b"");
    assert!(head.contains("text/html") && page.starts_with(b"<!DOCTYPE html>"), "{head}");
    let docs: Vec<String> =
        (0..200).map(|n| format!("{{\"_id\":\"d{n:03}\",\"text\":\"{}\"}}", "x".repeat(10_000))).collect();
    let bulk = format!("{{\"docs\":[{}]}}", docs.join(","));
    assert_eq!(ask(front, "POST", "/db/_bulk_docs", "", bulk.as_bytes()).0, 201);
    let (_, head, list) = ask(front, "GET", "/db/_all_docs?include_docs=true", "", b"");
    assert!(list.len() > 2_000_000 && list.ends_with(b"\n]}\n"), "{} {head}", list.len());
}

fn at_once(front: &Front) {
    std::thread::scope(|scope| {
        for n in 0..64 {
            scope.spawn(move || {
                let path = format!("/db/d{:03}", n % 200);
                for _ in 0..3 {
                    let (status, _, body) = ask(front, "GET", &path, "", b"");
                    assert_eq!((status, body.len() > 10_000), (200, true), "{path}");
                }
            });
        }
    });
}

/// Asks for an answer of this many megabytes: the same document, again and again.
fn ask_for(front: &Front, megabytes: usize) -> TcpStream {
    let keys = vec!["\"d001\""; megabytes * 100].join(",");
    begin(front, "POST", "/db/_all_docs?include_docs=true", "", format!("{{\"keys\":[{keys}]}}").as_bytes())
}

/// Reads a long answer to its end. Whoever makes it holds a small part of it at a time.
fn is_long(front: &Front, megabytes: usize) {
    let (mut stream, mut length, mut last) = (ask_for(front, megabytes), 0, Vec::new());
    let (mut piece, mut memory, mut looked) = (vec![0; 1 << 20], 0, 0);
    loop {
        let read = stream.read(&mut piece).unwrap();
        if read == 0 {
            break;
        }
        length += read;
        // A process of CGI is gone when its answer has ended.
        if length - looked > 32 << 20 {
            (memory, looked) = (memory.max(front.memory()), length);
        }
        last = piece[read.saturating_sub(64).min(read)..read].to_vec();
    }
    assert!(length > megabytes * 1_000_000, "{length}");
    assert!(last.ends_with(b"\n]}\n"), "{}", last.escape_ascii());
    assert!((1..MEMORY_MAX).contains(&memory), "{megabytes} MB were streamed with {memory} bytes of memory");
}

/// A long answer, whose reader does not stop, is slow, or goes away.
fn streams(front: &Front) {
    is_long(front, megabytes());
    let mut piece = vec![0; 1 << 20];
    let mut slow = ask_for(front, 200);
    slow.read_exact(&mut piece[..1000]).unwrap();
    for _ in 0..5 {
        let mut gone = ask_for(front, 200);
        gone.read_exact(&mut piece[..1000]).unwrap();
    }
    at_once(front);
    slow.read_exact(&mut piece).unwrap();
}

/// A feed through a gateway ends with the rights of who reads it, and sends nothing of what came after.
fn feeds_end_with_rights(front: &Front) {
    let put = |path: &str, body: &str| assert_eq!(ask(front, "PUT", path, "", body.as_bytes()).0 / 100, 2, "{path}");
    put("/_users/org.couchdb.user:eve", r#"{"name":"eve","type":"user","roles":[],"password":"apple"}"#);
    put("/shared", "");
    put("/shared/_security", r#"{"members":{"names":["eve"],"roles":[]},"admins":{"names":[],"roles":[]}}"#);
    put("/shared/before", "{}");
    // eve:apple
    let eve = "Authorization: Basic ZXZlOmFwcGxl\r\n";
    let mut feed = begin(front, "GET", "/shared/_changes?feed=continuous&heartbeat=500", eve, b"");
    let (mut told, mut piece) = (Vec::new(), [0; 1 << 10]);
    while !String::from_utf8_lossy(&told).contains("before") {
        let read = feed.read(&mut piece).unwrap();
        assert!(read > 0, "the feed ended before its first change: {}", String::from_utf8_lossy(&told));
        told.extend(&piece[..read]);
    }
    put("/shared/_security", r#"{"members":{"names":["nobody"],"roles":[]},"admins":{"names":[],"roles":[]}}"#);
    put("/shared/after", "{}");
    feed.read_to_end(&mut told).unwrap();
    assert!(!String::from_utf8_lossy(&told).contains("after"), "{}", String::from_utf8_lossy(&told));
    assert!(matches!(ask(front, "GET", "/shared", eve, b"").0, 401 | 403));
}

/// A gateway that is killed takes nothing with it that was acknowledged.
fn survives_its_end(front: &Front, gateway: Gateway) {
    for n in 0..20 {
        assert_eq!(ask(front, "PUT", &format!("/db/kept{n}"), "", b"{}").0, 201);
    }
    let gateway = gateway.killed();
    let (status, ..) = ask(front, "GET", "/db/kept0", "", b"");
    assert!((500..600).contains(&status), "{status}");
    let _gateway = gateway.started();
    let deadline = Instant::now() + Duration::from_secs(30);
    // A web server may hold a gateway for dead for some seconds.
    while ask(front, "GET", "/db/kept0", "", b"").0 != 200 {
        assert!(Instant::now() < deadline, "{}", front.log());
        std::thread::yield_now();
    }
    for n in 0..20 {
        assert_eq!(ask(front, "GET", &format!("/db/kept{n}"), "", b"").0, 200);
    }
}

fn megabytes() -> usize {
    std::env::var("RECENSION_GATEWAY_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(1024)
}

#[test]
fn fastcgi_behind_nginx() {
    let (front, gateway) = Front::nginx(Way::FastCgi);
    answers_as_over_http(&front);
    feeds_end_with_rights(&front);
    streams(&front);
    survives_its_end(&front, gateway);
}

#[test]
fn scgi_behind_nginx() {
    let (front, gateway) = Front::nginx(Way::Scgi);
    answers_as_over_http(&front);
    feeds_end_with_rights(&front);
    streams(&front);
    survives_its_end(&front, gateway);
}

#[test]
fn fastcgi_behind_lighttpd() {
    let (front, gateway) = Front::lighttpd(Way::FastCgi);
    answers_as_over_http(&front);
    streams(&front);
    survives_its_end(&front, gateway);
}

#[test]
fn scgi_behind_lighttpd() {
    let (front, _gateway) = Front::lighttpd(Way::Scgi);
    answers_as_over_http(&front);
    streams(&front);
}

#[test]
fn fastcgi_that_apache_starts() {
    let front = Front::apache(Way::FastCgi);
    answers_as_over_http(&front);
    at_once(&front);
    streams(&front);
}

#[test]
fn cgi_behind_apache() {
    let front = Front::apache(Way::Cgi);
    answers_as_over_http(&front);
    is_long(&front, megabytes());
    std::thread::scope(|scope| {
        for n in 0..8 {
            let front = &front;
            scope.spawn(move || assert_eq!(ask(front, "PUT", &format!("/db/p{n}"), "", b"{}").0, 201));
        }
    });
    for n in 0..8 {
        assert_eq!(ask(&front, "GET", &format!("/db/p{n}"), "", b"").0, 200);
    }
}

/// A process of CGI, with its variables.
fn cgi_process(store: &Path, flags: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_recension"))
        .args(["cgi", "--log", "off"])
        .args(flags)
        .arg(store)
        .env("RECENSION_ADMIN_PARTY", "true")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The status and the body of its answer.
fn cgi(store: &Path, flags: &[&str], variables: &[(&str, &str)]) -> (String, String) {
    let output = cgi_process(store, flags, variables);
    let text = String::from_utf8(output.stdout).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text} {:?}", output.stderr));
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    (status.get(..3).unwrap_or_default().to_owned(), body.to_owned())
}

/// Every file of a folder, with what is in it.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn cgi_that_only_reads_changes_no_byte_of_the_store() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path().join("store");
    let put = |uri: &str| cgi(&store, &[], &[("REQUEST_METHOD", "PUT"), ("REQUEST_URI", uri)]).0;
    assert_eq!((put("/db"), put("/db/a?x")), ("201".to_owned(), "400".to_owned()));
    let before = files(&store);
    let get = |uri: &str| cgi(&store, &["--read-only"], &[("REQUEST_URI", uri)]);
    let (status, body) = get("/db");
    assert_eq!((status.as_str(), body.contains("\"doc_count\":0")), ("200", true), "{body}");
    for (method, uri) in [("PUT", "/db/b"), ("DELETE", "/db"), ("POST", "/db"), ("POST", "/_replicate")] {
        let (status, body) = cgi(&store, &["--read-only"], &[("REQUEST_METHOD", method), ("REQUEST_URI", uri)]);
        assert_eq!((status.as_str(), body.contains("for reading only")), ("403", true), "{method} {uri}: {body}");
    }
    assert!(files(&store) == before, "the store was changed");
    // Whoever has it open is asked, and not got past.
    let _open = recension::open(&store.display().to_string()).unwrap();
    let refused = cgi_process(&store, &["--read-only"], &[("REQUEST_URI", "/db")]);
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is in use by process"), "{refused:?}");
}

#[test]
fn links_lead_below_where_the_application_is_mounted() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path().join("store");
    let mounted = [("SCRIPT_NAME", "/data base"), ("REQUEST_URI", "/data%20base/_utils/"), ("PATH_INFO", "/_utils/")];
    let (status, page) = cgi(&store, &[], &mounted);
    assert_eq!(status, "200", "{page}");
    let links: Vec<_> = page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.len() > 5);
    let astray: Vec<_> = links.iter().filter(|to| !to.starts_with("/data%20base/") && !to.starts_with('#')).collect();
    assert!(astray.is_empty(), "{astray:?}");
}
