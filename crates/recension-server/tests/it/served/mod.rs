//! A server for a test, and a client that sends bytes as they are.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use recension::Store;
use recension_server::Server;
use recension_server::config::Config;

/// A server in this process; it stops with the test.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    pub(crate) fn with(config: Config) -> Self {
        Self::on_with(Store::memory().unwrap(), config)
    }

    /// On a store that the test holds, too.
    pub(crate) fn on(store: Store) -> Self {
        Self::on_with(store, Config::default())
    }

    fn on_with(store: Store, config: Config) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let listen = SocketAddr::from(([127, 0, 0, 1], 0));
                let server = Server::on(store, Config { listen, admin_party: true, ..config }).await.unwrap();
                tell.send(server.address()).unwrap();
                server.run(async { stopped.await.unwrap_or_default() }).await.unwrap();
            });
        });
        Served { address: told.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn start() -> Self {
        Self::with(Config::default())
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// Sends bytes as they are and reads until the server closes.
    pub(crate) fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // A server that refuses early may close before all was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        self.ask_with("", method, path, body)
    }

    /// With headers, each with the end of its line.
    pub(crate) fn ask_with(&self, headers: &str, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Type: application/json\r\nContent-Length: \
             {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let answer = self.raw(&[head.as_bytes(), body].concat());
        let status = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    pub(crate) fn is_well(&self) {
        assert_eq!(self.ask("GET", "/_up", b"").0, 200);
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap();
    }
}

/// A body as JSON, without the lines that say how long its chunks are. Good for answers of short lines only.
pub(crate) fn json(body: &str) -> serde_json::Value {
    serde_json::from_str(&unchunked(body)).unwrap_or(serde_json::Value::Null)
}

fn unchunked(body: &str) -> String {
    if !body.ends_with("0\r\n\r\n") {
        return body.to_owned();
    }
    let mut rest = body;
    let mut out = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        out.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    out
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}
