//! What the real `recension serve` holds in memory while many clients read long lists from it at once: no more than a
//! few lists' pieces, and no thread for each of them. It prints what it measured.

// A process of its own: it measures memory while nothing else runs.
#[path = "it/common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::served::Served;

const MIB: usize = 1 << 20;
/// `adm:pass`
const HEADERS: &str = "Host: x\r\nAuthorization: Basic YWRtOnBhc3M=\r\n";

const DOCUMENTS: usize = 10_000;
const READERS: usize = 50;
const LISTS_OF_EACH: usize = 6;
/// All that the server may hold at its peak, with the store's own memory and mapped files.
const RESIDENT_BYTES_MAX: usize = 300 * MIB;
/// Threads of the server: those of connections by the machine's processors, of lists, of requests that wait, of the
/// store.
const THREADS_MAX: usize = 64;

fn connect(served: &Served) -> BufReader<TcpStream> {
    let stream = TcpStream::connect(served.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(5))).unwrap();
    BufReader::new(stream)
}

/// The head of an answer, in small letters, and its body.
fn answer(reader: &mut BufReader<TcpStream>) -> (String, Vec<u8>) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let head = head.to_lowercase();
    let mut body = Vec::new();
    if let Some(length) = head.lines().find_map(|line| line.strip_prefix("content-length: ")) {
        body.resize(length.parse().unwrap(), 0);
        reader.read_exact(&mut body).unwrap();
        return (head, body);
    }
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let length = usize::from_str_radix(line.trim(), 16).expect(&line);
        let start = body.len();
        body.resize(start + length + 2, 0);
        reader.read_exact(&mut body[start..]).unwrap();
        body.truncate(start + length);
        if length == 0 {
            return (head, body);
        }
    }
}

fn ask(reader: &mut BufReader<TcpStream>, method: &str, path: &str, body: &str) -> (String, Vec<u8>) {
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\n{HEADERS}Content-Type: application/json\r\nContent-Length: {length}");
    reader.get_mut().write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
    answer(reader)
}

fn fill(served: &Served) {
    let mut reader = connect(served);
    assert!(ask(&mut reader, "PUT", "/db", "").0.starts_with("http/1.1 201"));
    let numbers: Vec<usize> = (0..DOCUMENTS).collect();
    for some in numbers.chunks(500) {
        let documents =
            some.iter().map(|n| format!("{{\"_id\":\"{n:06}\",\"text\":\"{}\"}}", format!("{n:06} ").repeat(40)));
        let body = format!("{{\"docs\":[{}]}}", documents.collect::<Vec<_>>().join(","));
        assert!(ask(&mut reader, "POST", "/db/_bulk_docs", &body).0.starts_with("http/1.1 201"));
    }
}

#[test]
fn fifty_readers_of_long_lists_take_the_memory_of_a_few_pieces() {
    let served = Served::start();
    fill(&served);
    let before = served.memory("VmRSS");
    let list = "/db/_all_docs?include_docs=true";
    let (head, expected) = ask(&mut connect(&served), "GET", list, "");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    let text = std::str::from_utf8(&expected).unwrap();
    assert!(text.ends_with("\n]}\n") && text.matches("\"doc\":{").count() == DOCUMENTS);
    let mut threads = 0;
    let lists: BTreeSet<(usize, bool)> = std::thread::scope(|scope| {
        let reading: Vec<_> = (0..READERS)
            .map(|_| {
                let (expected, served) = (&expected, &served);
                scope.spawn(move || {
                    let mut reader = connect(served);
                    let same = (0..LISTS_OF_EACH).map(|_| ask(&mut reader, "GET", list, "").1 == *expected);
                    let same: Vec<bool> = same.collect();
                    (same.len(), same.into_iter().all(|same| same))
                })
            })
            .collect();
        while reading.iter().any(|reader| !reader.is_finished()) {
            threads = threads.max(served.threads());
            std::thread::yield_now();
        }
        reading.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    assert_eq!(lists, BTreeSet::from([(LISTS_OF_EACH, true)]), "each list is whole and says the same");
    let peak = served.memory("VmHWM");
    println!(
        "{} lists of {} KiB: {} MiB at most, {} MiB before; {threads} threads",
        READERS * LISTS_OF_EACH,
        expected.len() / 1024,
        peak / MIB,
        before / MIB
    );
    assert!(peak <= RESIDENT_BYTES_MAX, "{} MiB", peak / MIB);
    assert!(threads <= THREADS_MAX, "{threads} threads");
    // What was taken for pieces has come back.
    let (_, metrics) = ask(&mut connect(&served), "GET", "/_metrics", "");
    let metrics = String::from_utf8(metrics).unwrap();
    assert!(metrics.contains("\nrecension_lists_memory_bytes 0\n"), "{metrics}");
}
