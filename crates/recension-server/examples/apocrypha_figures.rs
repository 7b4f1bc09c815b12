//! What a command of Apocrypha takes, beside Redis GET and SET, with the same client code: closed loop, clients with
//! one connection each, in this process. Needs `redis-server` in the path; Redis keeps nothing on disk here. `cargo
//! run --release -p recension-server --example apocrypha_figures [seconds] [clients] [part of a row's name]`

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use recension::Store;
use recension::engine::Durability;
use recension_apocrypha::{Database, Dialect, file, wire};
use recension_server::{Apocrypha, ApocryphaConfig, Backend};

const SIZES: [usize; 3] = [100, 10_000, 100_000];

/// Measures something: how many a second, and two percentiles.
type Run<'r> = &'r dyn Fn() -> (f64, f64, f64);

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let length = Duration::from_secs_f64(seconds);
    let only_clients: Option<usize> = std::env::args().nth(2).and_then(|text| text.parse().ok());
    let only = std::env::args().nth(3).unwrap_or_default();
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let redis = Redis::start(&dir.path().display().to_string());
    for size in SIZES {
        let engine =
            recension_engines::open(&dir.path().join(format!("{size}")).display().to_string()).expect("a store");
        let database = Database::on(&Store::on(engine).expect("a store"), Dialect::HASKELL).expect("a database");
        load(&database, size);
        let listener = |durability| {
            let config = ApocryphaConfig { listen: SocketAddr::from(([127, 0, 0, 1], 0)), ..Default::default() };
            let backend = Backend::Database(database.clone().with_durability(durability));
            let server = runtime.block_on(Apocrypha::bind(config, backend)).expect("a listener");
            let address = server.address();
            runtime.spawn(server.run(std::future::pending()));
            address
        };
        let (disk, process) = (listener(Durability::Disk), listener(Durability::Process));
        for number in 0..size {
            redis.connect().ask(&resp(&["SET", &key(number), "0123456789"]));
            if number == 999 {
                break;
            }
        }
        for clients in [1, 10, 20].into_iter().filter(|clients| only_clients.is_none_or(|only| only == *clients)) {
            let rows: [(&str, Run<'_>); 5] = [
                ("redis GET", &|| {
                    measure(clients, length, || redis.connect(), |n| resp(&["GET", &key(n % size.min(1000))]))
                }),
                ("get", &|| measure(clients, length, || Client::frames(process), |n| frame(&[&key(n % size)]))),
                ("redis SET", &|| {
                    measure(clients, length, || redis.connect(), |n| resp(&["SET", &key(n % size), &n.to_string()]))
                }),
                ("set, process", &|| {
                    let set = |n: usize| frame(&[&key(n % size), "=", &n.to_string()]);
                    measure(clients, length, || Client::frames(process), set)
                }),
                ("set, disk", &|| {
                    let set = |n: usize| frame(&[&key(n % size), "=", &n.to_string()]);
                    measure(clients, length, || Client::frames(disk), set)
                }),
            ];
            for (name, run) in rows.into_iter().filter(|(name, _)| name.contains(&only)) {
                let (rate, p50, p99) = run();
                println!(
                    "{size:>6} members, {clients:>2} clients: {name:<13} {rate:>8.0}/s   p50 {p50:>7.1} us   p99 \
                     {p99:>8.1} us"
                );
            }
        }
        if size == 100 {
            let (rate, p50, p99) =
                measure(1, length, || Client::frames(process), |n| frame(&["large", &key(n % 10_000)]));
            println!("one member of 10,000, 1 client: get {rate:>8.0}/s   p50 {p50:>7.1} us   p99 {p99:>8.1} us");
        }
    }
}

fn key(number: usize) -> String {
    format!("key-{number:06}")
}

fn load(database: &Database, size: usize) {
    let member = |number: usize| format!("\"{}\":\"0123456789\"", key(number));
    let members: Vec<String> = (0..size).map(member).collect();
    let large: Vec<String> = (0..10_000).map(member).collect();
    let text = format!("{{\"large\":{{{}}},{}}}", large.join(","), members.join(","));
    file::import_bytes(database, text.as_bytes()).expect("an import");
}

fn frame(words: &[&str]) -> Vec<u8> {
    wire::request(words).expect("words without newlines")
}

fn resp(words: &[&str]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        out.extend(format!("${}\r\n{word}\r\n", word.len()).bytes());
    }
    out
}

struct Client {
    stream: TcpStream,
    /// How many bytes the reply has that begins so; none where too few are there.
    reply_bytes: fn(&[u8]) -> Option<usize>,
    buffer: Vec<u8>,
}

impl Client {
    fn to(address: SocketAddr, reply_bytes: fn(&[u8]) -> Option<usize>) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Client { stream, reply_bytes, buffer: vec![0; 64 * 1024] }
    }

    fn frames(address: SocketAddr) -> Self {
        Self::to(address, |bytes| {
            let length = u32::from_be_bytes(*bytes.first_chunk()?) as usize;
            (bytes.len() >= 4 + length).then_some(4 + length)
        })
    }

    fn ask(&mut self, request: &[u8]) -> usize {
        self.stream.write_all(request).expect("a request");
        let mut filled = 0;
        loop {
            filled += self.stream.read(&mut self.buffer[filled..]).expect("a reply");
            if let Some(length) = (self.reply_bytes)(&self.buffer[..filled]) {
                return length;
            }
        }
    }
}

/// Asks for a while; answers requests a second, and the median and the 99th percentile of their microseconds.
fn measure(
    clients: usize,
    length: Duration,
    connect: impl Fn() -> Client + Sync,
    request: impl Fn(usize) -> Vec<u8> + Sync,
) -> (f64, f64, f64) {
    let started = Instant::now();
    let mut micros: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|nth| {
                let (connect, request) = (&connect, &request);
                scope.spawn(move || {
                    let mut client = connect();
                    let mut taken = Vec::new();
                    let mut number = nth * 7919;
                    while started.elapsed() < length {
                        let request = request(number);
                        number += 104_729;
                        let begun = Instant::now();
                        client.ask(&request);
                        taken.push(begun.elapsed().as_secs_f64() * 1e6);
                    }
                    taken
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a client")).collect()
    });
    micros.sort_by(f64::total_cmp);
    let at = |percent: usize| micros.get(micros.len() * percent / 100).copied().unwrap_or(f64::NAN);
    let requests = u32::try_from(micros.len()).unwrap_or(u32::MAX);
    (f64::from(requests) / length.as_secs_f64(), at(50), at(99))
}

struct Redis {
    process: Child,
    address: SocketAddr,
}

impl Redis {
    fn start(dir: &str) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("a port");
        let process = Command::new("redis-server")
            .args([
                "--port",
                &free.port().to_string(),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                dir,
            ])
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        while TcpStream::connect(free).is_err() {
            std::thread::yield_now();
        }
        Redis { process, address: free }
    }

    fn connect(&self) -> Client {
        Client::to(self.address, |bytes| {
            let line = bytes.windows(2).position(|pair| pair == b"\r\n")? + 2;
            let length = match bytes.first()? {
                b'$' => {
                    std::str::from_utf8(&bytes[1..line - 2]).ok()?.parse::<usize>().map_or(line, |body| line + body + 2)
                }
                _ => line,
            };
            (bytes.len() >= length).then_some(length)
        })
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
