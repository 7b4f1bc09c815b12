//! A listener of Apocrypha for a test, and a client that sends bytes as they are.
#![allow(dead_code)] // apocrypha_cases.rs is a crate of its own that uses a part

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use recension::Store;
use recension_apocrypha::{Database, Dialect, Settings, file, wire};
use recension_server::{Apocrypha, ApocryphaConfig, Backend};

/// A listener in this process; it stops with the test.
pub(crate) struct Commanded {
    pub(crate) address: SocketAddr,
    pub(crate) store: Store,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Commanded {
    pub(crate) fn with(dialect: Dialect, config: ApocryphaConfig) -> Self {
        let store = Store::memory().unwrap();
        Self::backed(Backend::Database(Database::on(&store, dialect).unwrap()), store, config)
    }

    pub(crate) fn backed(backend: Backend, store: Store, config: ApocryphaConfig) -> Self {
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let listen = SocketAddr::from(([127, 0, 0, 1], 0));
                let apocrypha = Apocrypha::bind(ApocryphaConfig { listen, ..config }, backend).await.unwrap();
                tell.send(apocrypha.address()).unwrap();
                apocrypha.run(async { stopped.await.unwrap_or_default() }).await.unwrap();
            });
        });
        Commanded { address: told.recv().unwrap(), store, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn start(dialect: Dialect) -> Self {
        Self::with(dialect, ApocryphaConfig::default())
    }

    pub(crate) fn tuned(dialect: Dialect, settings: Settings) -> Self {
        Self::with(dialect, ApocryphaConfig { settings, ..ApocryphaConfig::default() })
    }

    /// Puts members there, as a file of the originals has them.
    pub(crate) fn load(&self, json: &str) {
        file::import_bytes(&Database::on(&self.store, Dialect::HASKELL).unwrap(), json.as_bytes()).unwrap();
    }

    pub(crate) fn client(&self) -> Client {
        Client::to(self.address)
    }

    /// Whether it answers as ever.
    pub(crate) fn is_well(&self) {
        let mut client = self.client();
        assert_eq!(client.ask(&["well", "=", "yes"]), "");
        assert_eq!(client.ask(&["well"]).trim_end(), "yes");
    }
}

impl Drop for Commanded {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("the listener panicked");
        }
    }
}

pub(crate) struct Client(pub(crate) TcpStream);

impl Client {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Client(stream)
    }

    pub(crate) fn ask(&mut self, words: &[&str]) -> String {
        self.0.write_all(&wire::request(words).unwrap()).unwrap();
        self.reply().expect("a reply")
    }

    /// The next reply; none where the server has closed the connection.
    pub(crate) fn reply(&mut self) -> Option<String> {
        let mut head = [0; wire::HEAD_BYTES];
        self.0.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes(head) as usize];
        self.0.read_exact(&mut payload).unwrap();
        Some(String::from_utf8(payload).unwrap())
    }
}
