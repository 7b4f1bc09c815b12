//! Event loops and what they hand over, with real sockets. Sessions are run by the tests themselves, so that it is
//! seen what goes there, when, and with what.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use recension::Store;
use recension::engine::Durability;
use recension_apocrypha::{
    Connection, Conversation, Database, Dialect, Entrance, EventLoops, HandOver, Peer, Service, Settings, Token, wire,
};
use tokio::sync::watch;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

/// What connections hold: who has the other half sees when they let go.
type Life = mpsc::Sender<()>;

struct Handed {
    stream: TcpStream,
    conversation: Conversation,
    held: Life,
    back: Entrance<Life>,
}

struct Looped {
    service: Service,
    stop: watch::Sender<bool>,
    loops: EventLoops<Life>,
    handed: mpsc::Receiver<Handed>,
    listener: TcpListener,
    lives: Option<Life>,
    ended: mpsc::Receiver<()>,
}

impl Looped {
    fn with(durability: Durability, settings: Settings) -> Self {
        let database = Database::on(&Store::memory().unwrap(), Dialect::HASKELL).unwrap().with_durability(durability);
        let (stop, stopping) = watch::channel(false);
        let service = Service::new(database, settings, stopping);
        let (give, handed) = mpsc::channel();
        let hand_over: HandOver<Life> = Arc::new(move |stream, conversation, held, back| {
            let _ = give.send(Handed { stream, conversation, held, back });
        });
        let loops = EventLoops::start(&service, 2, &hand_over).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (lives, ended) = mpsc::channel();
        Looped { service, stop, loops, handed, listener, lives: Some(lives), ended }
    }

    fn start() -> Self {
        Self::with(Durability::Process, Settings::default())
    }

    fn client(&self) -> Client {
        let client = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let held = self.lives.clone().expect("it was stopped");
        self.loops.take(Connection { stream, speaker: self.service.speaker(Peer::Network), held });
        Client(client)
    }

    fn handed(&self) -> Handed {
        self.handed.recv_timeout(LONG).expect("nothing was handed over")
    }

    fn hands_nothing_over(&self) {
        assert!(self.handed.recv_timeout(SHORT).is_err(), "a connection was handed over");
    }

    /// Serves what was handed over until it returns, and gives it back; the thread answers whether it did return.
    fn serve(&self, handed: Handed) -> JoinHandle<bool> {
        let (service, Handed { stream, conversation, held, back }) = (self.service.clone(), handed);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut stream = tokio::net::TcpStream::from_std(stream).unwrap();
                match service.serve(&mut stream, conversation, true).await.unwrap() {
                    Some(speaker) => {
                        back.take(Connection { stream: stream.into_std().unwrap(), speaker, held });
                        true
                    }
                    None => false,
                }
            })
        })
    }
}

struct Client(TcpStream);

impl Client {
    fn send(&mut self, request: &str) {
        self.0.write_all(&frame(request)).unwrap();
    }

    fn reply(&mut self) -> String {
        let mut head = [0; wire::HEAD_BYTES];
        self.0.read_exact(&mut head).expect("there is no reply");
        let mut payload = vec![0; u32::from_be_bytes(head) as usize];
        self.0.read_exact(&mut payload).unwrap();
        String::from_utf8(payload).unwrap()
    }

    fn ask(&mut self, request: &str) -> String {
        self.send(request);
        self.reply()
    }

    fn is_closed(&mut self) {
        let mut rest = Vec::new();
        // A reset is an end as well: what it had sent was not read.
        let _ = self.0.read_to_end(&mut rest);
        assert_eq!(rest, b"", "more was said before the end");
    }
}

fn frame(request: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::write(request.as_bytes(), &mut bytes);
    bytes
}

#[test]
fn what_takes_microseconds_is_answered_in_the_loop() {
    let looped = Looped::start();
    let mut clients: Vec<Client> = (0..200).map(|_| looped.client()).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(&format!("a{n}\n=\n{n}"));
    }
    for client in &mut clients {
        assert_eq!(client.reply(), "");
    }
    // One connection's requests are read as they were written, whoever else asks beside them.
    for (n, client) in clients.iter_mut().enumerate() {
        let requests =
            [format!("a{n}"), format!("a{n}\n=\nnew"), format!("a{n}"), format!("a{n}\n--keys"), String::new()];
        let together: Vec<u8> = requests[..3].iter().flat_map(|request| frame(request)).collect();
        client.0.write_all(&together).unwrap();
    }
    for (n, client) in clients.iter_mut().enumerate() {
        assert_eq!([client.reply(), client.reply(), client.reply()], [n.to_string(), String::new(), "new".to_owned()]);
    }
    looped.hands_nothing_over();
}

#[test]
fn half_a_request_is_handed_over_and_comes_back_when_nothing_waits() {
    let looped = Looped::start();
    let mut client = looped.client();
    let bytes = frame("toppings\n=\npineapple");
    // What is whole is answered first.
    client.0.write_all(&[frame("nothing"), bytes[..9].to_vec()].concat()).unwrap();
    let handed = looped.handed();
    assert_eq!(client.reply(), "");
    client.0.write_all(&bytes[9..]).unwrap();
    let session = looped.serve(handed);
    assert_eq!(client.reply(), "");
    for _ in 0..40 {
        assert_eq!(client.ask("toppings"), "pineapple");
    }
    assert!(session.join().unwrap(), "the connection ended");
    assert_eq!(client.ask("toppings"), "pineapple");
    looped.hands_nothing_over();
}

#[test]
fn what_waits_for_the_disk_stays_in_its_loop_and_what_comes_behind_it_waits() {
    let looped = Looped::with(Durability::Disk, Settings::default());
    let mut clients: Vec<Client> = (0..150).map(|_| looped.client()).collect();
    for round in 0..3 {
        for (n, client) in clients.iter_mut().enumerate() {
            let requests = [format!("a{n}\n=\n{round}"), format!("a{n}"), format!("a{n}\n+\nx"), format!("a{n}")];
            client.0.write_all(&requests.map(|request| frame(&request)).concat()).unwrap();
        }
        for client in &mut clients {
            let replies = [client.reply(), client.reply(), client.reply(), client.reply()];
            assert_eq!(replies, [String::new(), round.to_string(), String::new(), format!("{round}\nx")]);
        }
    }
    looped.hands_nothing_over();
}

#[test]
fn what_takes_long_is_handed_over_undone_with_what_comes_behind_it() {
    let looped = Looped::with(Durability::Disk, Settings::default());
    let mut client = looped.client();
    let requests = ["a", "--keys", "a\n=\n1", "a", "a\n=\n2"];
    client.0.write_all(&requests.map(frame).concat()).unwrap();
    let handed = looped.handed();
    assert_eq!(client.reply(), "");
    let mut other = looped.client();
    assert_eq!(other.ask("a"), "", "it was written before it was handed over");
    let session = looped.serve(handed);
    assert_eq!([client.reply(), client.reply(), client.reply(), client.reply()], ["", "", "1", ""]);
    assert_eq!(other.ask("a"), "2");
    for n in 0..40 {
        assert_eq!(client.ask(&format!("a\n=\n{n}")), "");
    }
    assert!(session.join().unwrap(), "one that only writes does not come back");
    assert_eq!(client.ask("a\n=\n1"), "");
    drop(client);
    looped.hands_nothing_over();
}

#[test]
fn replies_that_are_not_taken_wait_in_a_session() {
    let looped = Looped::start();
    let mut client = looped.client();
    let long = "x".repeat(1 << 20);
    // Longer than what is read at once.
    client.send(&format!("long\n=\n{long}"));
    let handed = looped.handed();
    let session = looped.serve(handed);
    assert_eq!(client.reply(), "");
    for _ in 0..32 {
        assert_eq!(client.ask("short"), "");
    }
    assert!(session.join().unwrap());
    client.0.write_all(&vec![frame("long"); 16].concat()).unwrap();
    let handed = looped.handed();
    let session = looped.serve(handed);
    for _ in 0..16 {
        assert_eq!(client.reply(), long);
    }
    for _ in 0..32 {
        assert_eq!(client.ask("short"), "");
    }
    assert!(session.join().unwrap());
    assert_eq!(client.ask("long"), long);
}

#[test]
fn who_is_refused_is_told_why_and_closed() {
    let token = Token::new("secret");
    let looped = Looped::with(Durability::Process, Settings { token, ..Settings::default() });
    let mut client = looped.client();
    assert_eq!(client.ask("--token\nsecret"), "");
    assert_eq!(client.ask("a"), "");
    for (refused, why) in [("a", "a token is needed"), ("--token\nwrong", "the token is not right")] {
        let mut client = looped.client();
        client.0.write_all(&[frame(refused), frame("a\n=\n1")].concat()).unwrap();
        let reply = client.reply();
        assert!(reply.contains(why), "{reply}");
        client.is_closed();
    }
    let mut client_too_long = looped.client();
    client_too_long.0.write_all(&[0xff; 8]).unwrap();
    assert!(client_too_long.reply().contains("the request announces"));
    client_too_long.is_closed();
    assert_eq!(client.ask("a"), "");
    looped.hands_nothing_over();
}

#[test]
fn a_panic_ends_its_connection_and_no_other() {
    for (durability, boom) in [(Durability::Process, "boom"), (Durability::Disk, "boom\n=\n1")] {
        a_panic_ends_its_connection(durability, boom);
    }
}

fn a_panic_ends_its_connection(durability: Durability, boom: &str) {
    let trace = Arc::new(|line: &str| assert!(!line.contains("boom"), "as the test wants it"));
    let looped = Looped::with(durability, Settings { trace: Some(trace), ..Settings::default() });
    let mut clients: Vec<Client> = (0..4).map(|_| looped.client()).collect();
    for client in &mut clients {
        assert_eq!(client.ask("a"), "");
    }
    let mut broken = clients.remove(1);
    broken.send(boom);
    let mut said = Vec::new();
    let _ = broken.0.read_to_end(&mut said);
    for client in clients.iter_mut().chain([&mut looped.client(), &mut looped.client()]) {
        assert_eq!(client.ask("a"), "");
    }
}

#[test]
fn connections_are_let_go_when_they_end_and_when_the_service_stops() {
    let mut looped = Looped::start();
    let mut gone = looped.client();
    assert_eq!(gone.ask("a\n=\n1"), "");
    drop(gone);
    let mut client = looped.client();
    assert_eq!(client.ask("a"), "1");
    drop(looped.lives.take());
    assert_eq!(looped.ended.recv_timeout(SHORT), Err(mpsc::RecvTimeoutError::Timeout), "a connection was let go early");
    client.send("a");
    looped.stop.send(true).unwrap();
    looped.loops.wake();
    assert_eq!(client.reply(), "1", "what had been asked was not answered");
    assert_eq!(looped.ended.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected), "a connection is held");
    client.is_closed();
    looped.loops.join();
}

#[test]
fn loops_that_nobody_has_any_more_end() {
    let Looped { service, stop: _stop, loops, listener, lives, ended, .. } = Looped::start();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    loops.take(Connection { stream, speaker: service.speaker(Peer::Network), held: lives.unwrap() });
    drop(loops);
    assert_eq!(ended.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected), "a connection is held");
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
}
