//! What the real `recension serve` holds in memory: while an attachment goes through it that is larger than that, and
//! while many wait. `RECENSION_ATTACHMENT_MIB=1024` makes the attachment so large; both tests print what they
//! measured.

// A process of its own: it raises the limit of open files, and measures memory while nothing else runs.
#[path = "it/common/mod.rs"]
mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::served::Served;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const MIB: usize = 1 << 20;
/// `adm:pass`
const HEADERS: &str = "Host: x\r\nAuthorization: Basic YWRtOnBhc3M=\r\n";

/// What a server may hold of its own with an attachment on its way to it.
const COMING_BYTES_MAX: usize = 96 * MIB;
/// The same on its way out: the store may have settled it meanwhile, and keeps blocks of settled files up to its budget
/// (`block_cache_bytes`), beside what an idle server has and what is on its way. The attachment is longer than that, so
/// that it would not fit.
const GOING_BYTES_MAX: usize = (256 + 96) * MIB;
const ATTACHMENT_MIB: usize = 400;
/// What one that waits may take.
const WAITING_BYTES_MAX: usize = 64 * 1024;

fn connect(served: &Served) -> TcpStream {
    let stream = TcpStream::connect(served.url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(5))).unwrap();
    stream
}

/// The head of an answer, read up to the body.
fn head(reader: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    head
}

fn make(served: &Served) {
    let mut stream = connect(served);
    write!(stream, "PUT /db HTTP/1.1\r\n{HEADERS}Content-Length: 0\r\n\r\n").unwrap();
    assert!(head(&mut BufReader::new(stream)).starts_with("HTTP/1.1 201"));
}

/// A block that looks like no other.
fn block(number: usize) -> Vec<u8> {
    let mut state = number as u64 + 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (0..MIB / 8).flat_map(|_| next()).collect()
}

/// The most that was seen: of the server's own, and with the files that it has mapped.
#[derive(Clone, Copy, Debug, Default)]
struct Peak {
    own: usize,
    resident: usize,
}

impl Peak {
    fn see(&mut self, served: &Served) {
        self.own = self.own.max(served.memory("RssAnon"));
        self.resident = self.resident.max(served.memory("VmRSS"));
    }

    fn mib(self) -> String {
        format!("{} MiB of its own, {} MiB with mapped files", self.own / MIB, self.resident / MIB)
    }
}

#[test]
fn an_attachment_larger_than_the_memory_goes_in_and_out() {
    let blocks = std::env::var("RECENSION_ATTACHMENT_MIB").map_or(ATTACHMENT_MIB, |text| text.parse().unwrap());
    let served = Served::start();
    make(&served);
    let idle = served.memory("RssAnon");
    let mut peak = Peak::default();
    let mut stream = connect(&served);
    let length = blocks * MIB;
    write!(stream, "PUT /db/a/file HTTP/1.1\r\n{HEADERS}Content-Type: x/y\r\nContent-Length: {length}\r\n\r\n")
        .unwrap();
    for number in 0..blocks {
        stream.write_all(&block(number)).unwrap();
        peak.see(&served);
    }
    let mut reader = BufReader::new(stream);
    assert!(head(&mut reader).starts_with("HTTP/1.1 201"));
    peak.see(&served);
    println!("{blocks} MiB in: {} (idle: {} MiB)", peak.mib(), idle / MIB);
    assert!(peak.own <= COMING_BYTES_MAX, "{peak:?}");

    let mut peak = Peak::default();
    let mut stream = connect(&served);
    write!(stream, "GET /db/a/file HTTP/1.1\r\n{HEADERS}\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let head = head(&mut reader);
    assert!(head.starts_with("HTTP/1.1 200") && head.contains(&format!("content-length: {length}\r\n")), "{head}");
    let mut read = vec![0; MIB];
    for number in 0..blocks {
        reader.read_exact(&mut read).unwrap();
        assert!(read == block(number), "block {number} is another");
        peak.see(&served);
    }
    println!("{blocks} MiB out: {}", peak.mib());
    assert!(peak.own <= GOING_BYTES_MAX, "{peak:?}");
}

#[test]
fn two_thousand_idle_long_polls_take_little_each() {
    const POLLS: usize = 2000;
    // Sockets here and there; the server inherits the limit.
    let limit = getrlimit(Resource::Nofile);
    let wanted = (POLLS + 200) as u64;
    if limit.current.is_some_and(|current| current < wanted) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }).unwrap();
    }
    let served = Served::start();
    make(&served);
    let before = served.memory("RssAnon");
    let polls: Vec<_> = (0..POLLS)
        .map(|_| {
            let mut stream = connect(&served);
            let poll = "GET /db/_changes?feed=longpoll&since=now&heartbeat=60000 HTTP/1.1";
            write!(stream, "{poll}\r\n{HEADERS}Connection: close\r\n\r\n").unwrap();
            let mut reader = BufReader::with_capacity(512, stream);
            // Head and first line come at once: from then on it waits.
            let mut line = String::new();
            while !line.contains("results") {
                assert!(reader.read_line(&mut line).unwrap() > 0, "{line}");
            }
            reader
        })
        .collect();
    let after = served.memory("RssAnon");
    let each = after.saturating_sub(before) / POLLS;
    println!("{POLLS} long polls: {} MiB, {each} bytes each; {} MiB before", after / MIB, before / MIB);
    assert!(each <= WAITING_BYTES_MAX, "{each} bytes each");
    // It answers others, and all of them when there is something.
    let mut stream = connect(&served);
    write!(stream, "PUT /db/a HTTP/1.1\r\n{HEADERS}Content-Length: 2\r\n\r\n{{}}").unwrap();
    assert!(head(&mut BufReader::new(stream)).starts_with("HTTP/1.1 201"));
    for mut poll in polls {
        let mut rest = String::new();
        poll.read_to_string(&mut rest).unwrap();
        assert!(rest.contains("\"id\":\"a\"") && rest.ends_with("0\r\n\r\n"), "{rest}");
    }
}
