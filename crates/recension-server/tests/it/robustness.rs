//! What a server has to bear: requests that are too large, too slow, broken or hostile, readers that do not read, and
//! many that wait. After each of them it answers others as before.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::served::Served;
use recension_server::config::Config;

#[test]
fn bad_requests_are_refused_with_a_reason_and_nothing_is_lost() {
    let served = Served::with(Config { max_document_size: 1000, max_request_size: 100_000, ..Config::default() });
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    assert_eq!(served.ask("PUT", "/db/kept", b"{\"a\":1}").0, 201);
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels)).into_bytes();
    let long = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes)).into_bytes();
    let bulk = |document: Vec<u8>| [b"{\"docs\":[", &document[..], b"]}"].concat();
    for (method, path, body, status, error) in [
        ("PUT", "/db/a", long(1000), 413, "document_too_large"),
        ("PUT", "/db/a", long(200_000), 413, "too_large"),
        ("POST", "/db/_bulk_docs", bulk(long(1000)), 413, "document_too_large"),
        ("POST", "/db/_bulk_docs", long(200_000), 413, "too_large"),
        ("PUT", "/db/a", deep(40_000), 400, "bad_request"),
        ("POST", "/db/_bulk_docs", bulk(deep(40_000)), 400, "bad_request"),
        (
            "POST",
            "/db/_changes?filter=_selector",
            [b"{\"selector\":", &deep(40_000)[..], b"}"].concat(),
            400,
            "bad_request",
        ),
        ("PUT", "/db/a", b"{\"a\":\"\xff\"}".to_vec(), 400, "bad_request"),
        ("PUT", "/db/a", b"{\"a\":".to_vec(), 400, "bad_request"),
        ("GET", "/db/%ff", Vec::new(), 400, "bad_request"),
        ("GET", "/db/%ff?x=%fe", Vec::new(), 400, "bad_request"),
        ("PUT", "/Bad", Vec::new(), 400, "illegal_database_name"),
        ("PUT", &format!("/{}", "a".repeat(300)), Vec::new(), 400, "database_name_too_long"),
        ("PUT", &format!("/db/{}", "a".repeat(3000)), b"{}".to_vec(), 400, "illegal_docid"),
        ("BREW", "/db/a", Vec::new(), 405, "method_not_allowed"),
    ] {
        let (found, answer) = served.ask(method, path, &body);
        assert_eq!(found, status, "{method} {path}: {answer}");
        assert!(answer.contains(&format!("\"error\":\"{error}\"")), "{method} {path}: {answer}");
        served.is_well();
    }
    let (status, answer) = served.ask("GET", "/db/kept", b"");
    assert_eq!((status, answer.contains("\"a\":1}")), (200, true), "{answer}");
    assert!(served.ask("GET", "/db", b"").1.contains("\"doc_count\":1,"));
}

#[test]
fn heads_that_are_too_long_or_no_http_are_refused() {
    let served = Served::start();
    for request in [
        format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(70_000)),
        format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "a".repeat(200_000)),
        format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: y\r\n".repeat(5000)),
        "GARBAGE\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n".to_owned(),
    ] {
        let answer = served.raw(request.as_bytes());
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 4");
        assert!(refused, "{request:.60}: {answer:.200}");
        served.is_well();
    }
}

#[test]
fn who_sends_a_head_or_a_body_too_slowly_is_given_up() {
    let served = Served::with(Config { head_seconds: 1, body_idle_seconds: 1, ..Config::default() });
    // They end because the server closes: nothing more is sent.
    let answer = served.raw(b"GET / HTTP/1.1\r\nHost: x");
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let answer = served.raw(b"PUT /db/a HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nConnection: close\r\n\r\n{");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(served.ask("GET", "/db/a", b"").0, 404);
}

#[test]
fn an_answer_waits_for_its_reader_and_others_are_served_meanwhile() {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let text = "x".repeat(10_000);
    let documents: Vec<String> =
        (0..2000).map(|number| format!("{{\"_id\":\"{number:04}\",\"a\":\"{text}\"}}")).collect();
    let body = format!("{{\"docs\":[{}]}}", documents.join(","));
    assert_eq!(served.ask("POST", "/db/_bulk_docs", body.as_bytes()).0, 201);
    // More of them than threads that may wait.
    let request = b"GET /db/_all_docs?include_docs=true HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let mut readers: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = served.connect();
            stream.write_all(request).unwrap();
            stream.read_exact(&mut [0; 12]).unwrap();
            stream
        })
        .collect();
    assert_eq!(served.ask("PUT", "/db/new", b"{}").0, 201);
    assert_eq!(served.ask("GET", "/db/_all_docs?limit=10", b"").0, 200);
    let mut rest = Vec::new();
    readers.pop().unwrap().read_to_end(&mut rest).unwrap();
    assert!(rest.ends_with(b"0\r\n\r\n"), "the last chunk says that it is whole");
    assert!(rest.len() > 20_000_000, "{}", rest.len());
}

#[test]
fn long_polls_wait_without_threads_and_are_answered_by_a_change_and_by_the_end() {
    let mut served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    assert_eq!(served.ask("PUT", "/other", b"").0, 201);
    let poll = |path: &str| {
        let mut stream = served.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        // The head and the first line come at once, so that the feed is known to wait.
        while !line.contains("results") && reader.read_line(&mut line).unwrap() > 0 {}
        reader
    };
    let waiting: Vec<_> = (0..500).map(|_| poll("/db/_changes?feed=longpoll&since=now&timeout=60000")).collect();
    let others: Vec<_> = (0..20).map(|_| poll("/other/_changes?feed=longpoll&since=now&heartbeat=60000")).collect();
    let rest = |mut reader: BufReader<TcpStream>| {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    };
    assert_eq!(served.ask("PUT", "/db/a", b"{}").0, 201);
    for reader in waiting {
        let text = rest(reader);
        assert!(text.contains("\"id\":\"a\"") && text.ends_with("0\r\n\r\n"), "{text}");
    }
    // Those of the other database have slept on; the end of the server wakes them, and they get a whole answer.
    served.stop();
    for reader in others {
        let text = rest(reader);
        assert!(!text.contains("\"id\"") && text.contains("\"last_seq\"") && text.ends_with("0\r\n\r\n"), "{text}");
    }
}

#[test]
fn a_feed_ends_with_its_database_and_a_late_write_does_not_make_it_again() {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let mut stream = served.connect();
    stream
        .write_all(b"GET /db/_changes?feed=continuous&heartbeat=50 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).unwrap();
    }
    assert_eq!(served.ask("DELETE", "/db", b"").0, 200);
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("last_seq"), "{rest}");
    assert_eq!(served.ask("PUT", "/db/a", b"{}").0, 404);
    assert_eq!(served.ask("GET", "/db", b"").0, 404);
}

/// One test for a body that is whole and one for a body in pieces: the first waits in the socket, the second in its
/// maker.
#[test]
fn a_client_that_does_not_read_its_answer_is_given_up() {
    const ANSWERS: usize = 8;
    let served = Served::with(Config { reader_seconds: 1, ..Config::default() });
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    assert_eq!(served.ask("PUT", "/db/a", format!("{{\"a\":\"{}\"}}", "x".repeat(7_000_000)).as_bytes()).0, 201);
    for path in ["/db/a", "/db/_all_docs?include_docs=true"] {
        let mut stream = served.connect();
        // More answers than sockets hold, so that something waits however large their buffers are.
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").repeat(ANSWERS);
        stream.write_all(request.as_bytes()).unwrap();
        // A connection that has begun to answer is one that is counted.
        stream.read_exact(&mut [0; 12]).unwrap();
        // The server closes: its connections go down to the one that asks.
        let open = || {
            let metrics = served.ask("GET", "/_metrics", b"").1;
            let line = metrics.lines().find(|line| line.starts_with("recension_http_connections "));
            line.and_then(|line| line.rsplit(' ').next()?.parse::<u32>().ok()).unwrap_or(u32::MAX)
        };
        let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while open() > 1 {
            assert!(std::time::Instant::now() < deadline, "{path}: the connection is still there");
            std::thread::yield_now();
        }
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < ANSWERS * 7_000_000, "{path}: {} bytes", rest.len());
    }
    served.is_well();
}

/// The system would keep megabytes for each client that does not read, and copy them while others wait.
#[cfg(target_os = "linux")]
#[test]
fn the_system_keeps_little_for_a_client_that_does_not_read() {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    assert_eq!(served.ask("PUT", "/db/a", format!("{{\"a\":\"{}\"}}", "x".repeat(7_000_000)).as_bytes()).0, 201);
    let mut stream = served.connect();
    stream.write_all(b"GET /db/a HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 12]).unwrap();
    // Bytes that the server wrote and the client's side has not taken: proc_net_tcp(5).
    let (from, to) = (served.address.port(), stream.local_addr().unwrap().port());
    let waiting = || {
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let between = |line: &&str| line.contains(&format!(":{from:04X} 0100007F:{to:04X} "));
        let queue = sockets.lines().find(between).and_then(|line| line.split_whitespace().nth(4)?.split(':').next());
        u64::from_str_radix(queue.unwrap(), 16).unwrap()
    };
    let mut seen = (waiting(), std::time::Instant::now());
    while seen.1.elapsed() < std::time::Duration::from_millis(300) {
        let now = waiting();
        if now != seen.0 {
            seen = (now, std::time::Instant::now());
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!((1..1 << 20).contains(&seen.0), "{} bytes wait", seen.0);
}

/// A list of documents of a thousand bytes each, and its answer.
fn long_list(served: &Served, documents: usize) -> (&'static str, String) {
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let text = "x".repeat(1000);
    let documents: Vec<String> = (0..documents).map(|n| format!("{{\"_id\":\"{n:05}\",\"a\":\"{text}\"}}")).collect();
    let body = format!("{{\"docs\":[{}]}}", documents.join(","));
    assert_eq!(served.ask("POST", "/db/_bulk_docs", body.as_bytes()).0, 201);
    let path = "/db/_all_docs?include_docs=true";
    let (status, list) = served.ask("GET", path, b"");
    assert_eq!(status, 200);
    assert!(list.ends_with("0\r\n\r\n"), "it is whole");
    (path, list)
}

#[test]
fn lists_take_turns_where_the_budget_is_smaller_than_a_piece() {
    let served = Served::with(Config { max_list_memory: 1, list_threads: 2, ..Config::default() });
    let (path, expected) = long_list(&served, 1000);
    let backwards = served.ask("GET", &format!("{path}&descending=true&skip=10&limit=900"), b"").1;
    let rows = |text: &str| -> Vec<String> {
        text.split("\"id\":\"").skip(1).map(|row| row.split('"').next().unwrap_or_default().to_owned()).collect()
    };
    let mut some = rows(&expected)[90..990].to_vec();
    some.reverse();
    assert_eq!(rows(&backwards), some, "a list that rests goes on where it was");
    std::thread::scope(|scope| {
        let lists: Vec<_> = (0..20).map(|_| scope.spawn(|| served.ask("GET", path, b"").1)).collect();
        let feeds: Vec<_> =
            (0..5).map(|_| scope.spawn(|| served.ask("GET", "/db/_changes?include_docs=true", b"").1)).collect();
        for list in lists {
            assert!(list.join().unwrap() == expected, "another list");
        }
        for feed in feeds {
            assert_eq!(feed.join().unwrap().matches("\"seq\"").count(), 1000);
        }
    });
}

#[test]
fn a_reader_that_takes_nothing_does_not_keep_others_from_their_lists() {
    // Whoever takes nothing for a second is given up; before, it holds all that there is.
    let served = Served::with(Config { max_list_memory: 1, reader_seconds: 2, ..Config::default() });
    let (path, expected) = long_list(&served, 40_000);
    let mut idle = served.connect();
    idle.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
    idle.read_exact(&mut [0; 12]).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    loop {
        // It may be refused meanwhile, with a reason, or broken off: it does not hang, and in the end it is whole.
        let (status, list) = served.ask("GET", path, b"");
        assert!(matches!(status, 200 | 503), "{status} {list:.200}");
        if status == 200 && list == expected {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{status} {list:.200}");
    }
    served.is_well();
}

#[test]
fn bodies_share_a_budget_and_who_is_slow_makes_room_for_who_waits() {
    let served = Served::with(Config { max_body_memory: 200_000, max_request_size: 150_000, ..Config::default() });
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let body = format!("{{\"docs\":[{{\"_id\":\"a\",\"a\":\"{}\"}}]}}", "x".repeat(140_000));
    // One that comes nearly whole, and waits.
    let mut held = served.connect();
    let head =
        "POST /db/_bulk_docs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 150000\r\n\r\n";
    held.write_all(&[head.as_bytes(), &body.as_bytes()[..140_000]].concat()).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let holds = || {
        let metrics = served.ask("GET", "/_metrics", b"").1;
        let line = metrics.lines().find(|line| line.starts_with("recension_bodies_memory_bytes "));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<u32>().ok()).unwrap_or_default()
    };
    while holds() < 100_000 {
        assert!(std::time::Instant::now() < deadline, "{}", holds());
        std::thread::yield_now();
    }
    let (status, answer) = served.ask("POST", "/db/_bulk_docs", body.as_bytes());
    assert!(status == 201, "{status} {answer}");
    assert_eq!(served.ask("PUT", "/db/small", b"{}").0, 201, "small ones need no room");
    let mut told = String::new();
    let _ = held.read_to_string(&mut told);
    assert!(told.starts_with("HTTP/1.1 408 "), "{told}");
    while holds() > 0 {
        assert!(std::time::Instant::now() < deadline, "{}", holds());
        std::thread::yield_now();
    }
}

#[test]
fn filters_of_open_feeds_have_one_bound_together() {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let opened = |ids: &[String]| {
        let body = serde_json::json!({ "doc_ids": ids }).to_string();
        let mut stream = served.connect();
        let path = "/db/_changes?feed=continuous&since=now&heartbeat=100&filter=_doc_ids";
        let head = "Host: x\r\nContent-Type: application/json";
        let head = format!("POST {path} HTTP/1.1\r\n{head}\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (String::from_utf8_lossy(&status[9..]).into_owned(), stream)
    };
    let long: Vec<String> = (0..10_000).map(|n| format!("{n:01500}")).collect();
    let mut open: Vec<_> = (0..3).map(|_| opened(&long)).collect();
    let statuses: Vec<&str> = open.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(statuses, ["200", "200", "503"]);
    assert_eq!(opened(&["a".to_owned()]).0, "200", "short ones need no room");
    open.remove(0);
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while opened(&long).0 != "200" {
        assert!(std::time::Instant::now() < deadline, "the room does not come back");
    }
}

#[test]
fn long_documents_wait_for_room_without_being_held() {
    let served = Served::with(Config { max_list_memory: 1, ..Config::default() });
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let body = format!("{{\"a\":\"{}\"}}", "x".repeat(300_000));
    assert_eq!(served.ask("PUT", "/db/a", body.as_bytes()).0, 201);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..20).map(|_| scope.spawn(|| served.ask("GET", "/db/a", b""))).collect();
        for reader in readers {
            let (status, text) = reader.join().unwrap();
            assert!(status == 200 && text.len() > 300_000 && text.ends_with("\"}\n"), "{status} {}", text.len());
        }
    });
}

#[test]
fn a_request_that_two_servers_could_read_differently_is_refused_and_ends_its_connection() {
    let served = Served::start();
    let next = "GET /_uuids HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    for head in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: user@a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
        "POST /_session HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "POST /_session HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\
         \r\n",
        "POST /_session HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\
         \r\n",
        "POST /_session HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "POST /_session HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "POST /_session HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n folded\r\n\r\n",
    ] {
        let answer = served.raw(format!("{head}{next}").as_bytes());
        // With both a length and chunks, the chunks count, and nothing follows them.
        let both = head.contains("Content-Length: 2") && head.contains("chunked\r\n");
        assert!(both || answer.starts_with("HTTP/1.1 400"), "{head:?}: {answer}");
        assert!(!answer.contains("uuids"), "{head:?}: the connection goes on: {answer}");
        served.is_well();
    }
    for head in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"] {
        assert!(served.raw(head.as_bytes()).contains(" 200 OK"), "{head:?}");
    }
}

#[test]
fn half_requests_make_room_for_others_and_who_waits_for_changes_stays() {
    let mut served = Served::with(Config { max_connections: 4, head_seconds: 3600, ..Config::default() });
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let mut poll = served.connect();
    write!(poll, "GET /db/_changes?feed=longpoll&since=now HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut poll = BufReader::new(poll);
    let mut line = String::new();
    while !line.contains("results") && poll.read_line(&mut line).unwrap() > 0 {}
    let half = |text: &str| {
        let mut stream = served.connect();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let mut held: Vec<TcpStream> = (0..20).map(|_| half("GET / HTTP/1.1\r\nHo")).collect();
    held.extend((0..20).map(|_| half("PUT /db/half HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")));
    for number in 0..5 {
        assert_eq!(served.ask("PUT", &format!("/db/a{number}"), b"{}").0, 201);
    }
    let mut rest = String::new();
    poll.read_to_string(&mut rest).unwrap();
    assert!(rest.contains("\"id\":\"a0\"") && rest.ends_with("0\r\n\r\n"), "{rest}");
    assert_eq!(held[0].read(&mut [0]).unwrap_or(0), 0, "the oldest was closed");
    assert_eq!(served.ask("GET", "/db/half", b"").0, 404);
    drop(held);
    served.stop();
}

#[test]
fn a_stop_does_not_wait_for_requests_that_have_not_begun() {
    let hours = 7200;
    let config = Config { head_seconds: hours, shutdown_seconds: hours, ..Config::default() };
    let mut served = Served::with(config);
    let mut halves = [served.connect(), served.connect()];
    halves[0].write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    halves[1].write_all(b"GET /_up HTTP/1.1\r\nHost: x\r\n\r\nGET").unwrap();
    assert!(halves[1].read(&mut [0; 9]).unwrap() > 0, "the first of two is answered");
    served.is_well();
    served.stop();
    assert_eq!(halves[0].read(&mut [0]).unwrap_or(0), 0);
}
