//! A page with PouchDB in headless Chromium, which comes from another origin than the server and syncs with it, and
//! with a branch that is merged then. The picture is target/page.png.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::common::served::Served;

/// Where the page is done, and who waits for that.
type Done = Arc<(Mutex<bool>, Condvar)>;

/// Serves the page and PouchDB; an image of the page is answered when the page is done, so that the browser waits so
/// long.
fn pages() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let done = Done::default();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, done) = (stream.unwrap(), Arc::clone(&done));
            std::thread::spawn(move || answer(stream, &done));
        }
    });
    address
}

fn answer(mut stream: TcpStream, done: &Done) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut header = String::new();
    while reader.read_line(&mut header).ok()? > 2 {
        header.clear();
    }
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/clients");
    let path = line.split(' ').nth(1)?.split('?').next()?;
    let (kind, body) = match path {
        "/page.html" => ("text/html", std::fs::read(clients.join("page.html")).ok()?),
        "/pouchdb.min.js" => {
            ("text/javascript", std::fs::read(clients.join("node_modules/pouchdb/dist/pouchdb.min.js")).ok()?)
        }
        "/done" => {
            *done.0.lock().ok()? = true;
            done.1.notify_all();
            ("text/plain", Vec::new())
        }
        "/wait" => {
            let waits = done.0.lock().ok()?;
            drop(done.1.wait_timeout_while(waits, Duration::from_mins(1), |done| !*done).ok()?);
            ("image/png", Vec::new())
        }
        _ => ("text/plain", Vec::new()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    let _ = reader.read(&mut [0]);
    Some(())
}

#[test]
fn a_page_with_pouchdb_syncs_both_ways_across_origins() {
    let pages = pages();
    let served = Served::with(&["--cors-origins", &format!("http://{pages}")]);
    let profile = tempfile::tempdir().unwrap();
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("page.png");
    let output = Command::new("chromium-headless-shell")
        .args(["--no-sandbox", "--disable-gpu", "--window-size=900,420", "--timeout=60000"])
        .args(["--dump-dom".to_owned(), format!("--user-data-dir={}", profile.path().display())])
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("http://{pages}/page.html?server={}", served.url))
        .output()
        .expect("chromium-headless-shell is installed: scripts/test installs it");
    let dom = String::from_utf8_lossy(&output.stdout);
    let shown = dom.split("<script").next().unwrap_or_default();
    for expected in [
        "pushed 201, pulled 0",
        "hello, page",
        "hello, server",
        "203 documents in the page, 203 on the server",
        r#"branch: pushed 1, "hello, server" on main"#,
        r#"merged: 1 taken, "hello, branch" on main"#,
        r#"<p id="result" class="done">in sync</p>"#,
    ] {
        assert!(shown.contains(expected), "{expected}: {dom}{}", String::from_utf8_lossy(&output.stderr));
    }
    assert!(std::fs::metadata(&picture).unwrap().len() > 1000);
}
