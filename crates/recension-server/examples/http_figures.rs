//! How many requests a second the server answers, beside a bare hyper server under the same load: closed loop,
//! clients with one connection each, in this process. `cargo run --release -p recension-server --example http_figures
//! [seconds]`
//!
//! The load comes from the same cores as the answers, so that the ratios say more than the rates.

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use recension_server::Server;
use recension_server::config::Config;

const BODY: &str = r#"{"name":"Ada Lovelace","email":"ada@example.org","address":{"city":"London","street":"St James's Square 12"},"tags":["analyst","poet"],"balance":1815.5,"notes":"The Analytical Engine has no pretensions whatever to originate anything."}"#;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(2);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
    let (ours, bare) = runtime.block_on(async {
        let config = Config {
            store: dir.path().join("store").display().to_string(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            ..Config::default()
        };
        let server = Server::bind(config).await.expect("a server");
        let ours = server.address();
        tokio::spawn(server.run(std::future::pending()));
        (ours, bare_server().await)
    });
    assert_eq!(Client::to(ours).ask("PUT", "/db", ""), 201);
    for number in 0..1000 {
        assert_eq!(Client::to(ours).ask("PUT", &format!("/db/{number:06}"), BODY), 201);
    }
    let get = |number: u64| ("GET", format!("/db/{:06}", number % 1000), "");
    let put = |number: u64| ("PUT", format!("/db/new-{number}"), BODY);
    for clients in [1, 8, 64] {
        let floor = rate(bare, clients, seconds, get);
        let gets = rate(ours, clients, seconds, get);
        let puts = rate(ours, clients, seconds, put_of(put, clients));
        println!(
            "{clients:>3} clients: bare hyper {floor:>8.0}/s   GET {gets:>8.0}/s ({:.2} of it)   PUT {puts:>7.0}/s",
            gets / floor
        );
    }
}

/// Numbers of their own for each round: a document is made once.
fn put_of<F: Fn(u64) -> (&'static str, String, &'static str)>(
    put: F,
    clients: u64,
) -> impl Fn(u64) -> (&'static str, String, &'static str) {
    move |number| put(clients << 40 | number)
}

async fn bare_server() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let answer = service_fn(|_| async {
                Ok::<_, Infallible>(http::Response::new(Full::new(Bytes::from_static(BODY.as_bytes()))))
            });
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
        }
    });
    address
}

/// Requests a second of this many clients, for this many seconds.
fn rate(
    to: SocketAddr,
    clients: u64,
    seconds: u64,
    request: impl Fn(u64) -> (&'static str, String, &'static str) + Sync,
) -> f64 {
    let (stop, number, done) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU32::new(0));
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..clients {
            scope.spawn(|| {
                let mut client = Client::to(to);
                while !stop.load(Ordering::Relaxed) {
                    let (method, path, body) = request(number.fetch_add(1, Ordering::Relaxed));
                    assert!(client.ask(method, &path, body) < 300, "{method} {path}");
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(seconds));
        stop.store(true, Ordering::Relaxed);
    });
    f64::from(done.load(Ordering::Relaxed)) / started.elapsed().as_secs_f64()
}

/// A connection that is kept.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        Client { stream, buffer: vec![0; 64 * 1024] }
    }

    /// Sends a request and reads its answer, which fits into the buffer; returns the status.
    fn ask(&mut self, method: &str, path: &str, body: &str) -> u16 {
        let request = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        self.stream.write_all(request.as_bytes()).expect("a request is sent");
        let mut read = 0;
        loop {
            read += self.stream.read(&mut self.buffer[read..]).expect("an answer");
            let text = &self.buffer[..read];
            let Some(head) = text.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            let headers = String::from_utf8_lossy(&text[..head]).to_lowercase();
            let length =
                headers.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
            if read >= head + 4 + length.unwrap_or(0) {
                return headers.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
            }
        }
    }
}
