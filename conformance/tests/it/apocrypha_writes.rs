//! Writes of Apocrypha that event loops have committed together: on a disk that is held up, that fails, that loses
//! its power, with connections that go in between.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::Mutex;
use recension::Store;
use recension::engine::native::Maintenance;
use recension::engine::{Durability, Engine, NativeEngine, NativeOptions, Seq};
use recension_apocrypha::{
    Connection, Database, Dialect, EventLoops, HandOver, Peer, Service, Settings, Speaker, wire,
};
use recension_conformance::sim::{CrashPolicy, Fault, FaultKind, Gate, OpKind, Rng, SimDisk};
use tokio::sync::watch;

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

fn database(disk: &SimDisk) -> Database {
    let options = NativeOptions { maintenance: Maintenance::Inline, ..NativeOptions::default() };
    let engine: Arc<dyn Engine> = Arc::new(NativeEngine::open(disk.arc(), options).unwrap());
    Database::on(&Store::on(engine).unwrap(), Dialect::HASKELL).unwrap().with_durability(Durability::Disk)
}

/// Event loops, and sessions for what waits.
struct Served {
    service: Service,
    engine: Arc<dyn Engine>,
    stop: watch::Sender<bool>,
    loops: EventLoops<()>,
    listener: TcpListener,
    runtime: tokio::runtime::Runtime,
}

impl Served {
    fn on(disk: &SimDisk, number: usize) -> Self {
        let database = database(disk);
        let engine = database.collection().store().engine().clone();
        let (stop, stopping) = watch::channel(false);
        let service = Service::new(database, Settings::default(), stopping);
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (handle, sessions) = (runtime.handle().clone(), service.clone());
        let hand_over: HandOver<()> = Arc::new(move |stream, conversation, held, back| {
            let service = sessions.clone();
            handle.spawn(async move {
                let mut stream = tokio::net::TcpStream::from_std(stream).unwrap();
                if let Ok(Some(speaker)) = service.serve(&mut stream, conversation, true).await {
                    back.take(Connection { stream: stream.into_std().unwrap(), speaker, held });
                }
            });
        });
        let loops = EventLoops::start(&service, number, &hand_over).unwrap();
        Served { service, engine, stop, loops, listener: TcpListener::bind("127.0.0.1:0").unwrap(), runtime }
    }

    fn speaker(&self) -> Speaker {
        self.service.speaker(Peer::Network)
    }

    fn client(&self) -> Client {
        let client = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        client.set_nodelay(true).unwrap();
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        self.loops.take(Connection { stream, speaker: self.speaker(), held: () });
        Client(client)
    }

    /// Ends it, as a server does.
    fn stop(self) {
        self.stop.send(true).unwrap();
        self.loops.join();
        self.runtime.shutdown_timeout(LONG);
    }
}

struct Client(TcpStream);

impl Client {
    fn send(&mut self, requests: &[&str]) {
        self.0.write_all(&frames(requests)).unwrap();
    }

    fn try_reply(&mut self) -> Option<String> {
        let mut head = [0; wire::HEAD_BYTES];
        self.0.read_exact(&mut head).ok()?;
        let mut payload = vec![0; u32::from_be_bytes(head) as usize];
        self.0.read_exact(&mut payload).ok()?;
        Some(String::from_utf8(payload).unwrap())
    }

    fn reply(&mut self) -> String {
        self.try_reply().expect("there is no reply")
    }

    fn replies(&mut self, number: usize) -> Vec<String> {
        (0..number).map(|_| self.reply()).collect()
    }

    fn ask(&mut self, request: &str) -> String {
        self.send(&[request]);
        self.reply()
    }

    fn hears_nothing(&mut self) {
        self.0.set_read_timeout(Some(SHORT)).unwrap();
        assert!(self.0.peek(&mut [0]).is_err(), "there is a reply, or an end");
        self.0.set_read_timeout(Some(LONG)).unwrap();
    }
}

fn frames(requests: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for request in requests {
        wire::write(request.as_bytes(), &mut bytes);
    }
    bytes
}

#[test]
fn who_reads_does_not_wait_for_the_disk_and_who_writes_meanwhile_is_committed_together() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let served = Served::on(&disk, 1);
    let (mut reader, mut first) = (served.client(), served.client());
    assert_eq!(reader.ask("z\n=\nthe log is made with the first commit"), "");
    let head = served.engine.head();
    gate.shut();
    first.send(&["a", "a\n=\n1", "a"]);
    assert_eq!(first.reply(), "", "what stands before a write does not wait for it");
    gate.until_one_waits();
    let mut others: Vec<Client> = (0..20).map(|_| served.client()).collect();
    for (n, other) in others.iter_mut().enumerate() {
        other.send(&[&format!("b{n}\n=\n{n}"), &format!("b{n}")]);
    }
    // The third of these is read when the others' writes have left their loop.
    assert_eq!([reader.ask("a"), reader.ask("b0"), reader.ask("a")], ["", "", ""], "what is not durable is shown");
    first.hears_nothing();
    others[7].hears_nothing();
    let before = gate.open();
    assert_eq!(first.replies(2), ["", "1"]);
    for (n, other) in others.iter_mut().enumerate() {
        assert_eq!(other.replies(2), [String::new(), n.to_string()]);
    }
    assert_eq!(gate.passed() - before, 2, "syncs");
    assert_eq!(served.engine.head(), Seq(head.0 + 21), "each is a commit of its own");
    assert_eq!(reader.ask("b19"), "19");
    served.stop();
}

#[test]
fn writes_of_one_member_that_come_together_are_all_made() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let served = Served::on(&disk, 2);
    let mut clients: Vec<Client> = (0..9).map(|_| served.client()).collect();
    gate.shut();
    for (n, client) in clients.iter_mut().enumerate() {
        // References lead to one member by many names.
        let name = if n % 2 == 0 { "list".to_owned() } else { format!("!link{n}") };
        client.send(&[&format!("link{n}\n=\nlist"), &format!("{name}\n+\n{n}"), "--strict\nnothing\n-\n1", "list"]);
    }
    gate.until_one_waits();
    gate.open();
    for client in &mut clients {
        assert_eq!(client.replies(2), ["", ""]);
        assert!(client.reply().starts_with("error: "), "one that is refused is refused alone");
        client.reply();
    }
    let mut all: Vec<String> = clients[0].ask("list").lines().map(str::to_owned).collect();
    all.sort();
    assert_eq!(all, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    served.stop();
}

#[test]
fn a_sync_that_fails_is_told_to_everybody_of_its_group_and_nothing_is_acknowledged_after_it() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let served = Served::on(&disk, 2);
    let mut clients: Vec<Client> = (0..12).map(|_| served.client()).collect();
    assert_eq!(clients[0].ask("kept\n=\nyes"), "");
    gate.shut();
    clients[0].send(&["first\n=\n1"]);
    gate.until_one_waits();
    for client in &mut clients[1..] {
        client.send(&["a\n=\n1", "kept", "b\n=\n2"]);
    }
    // The hook comes before the call: the first fails as well.
    disk.fail(Fault::nth_of(1, OpKind::Sync, FaultKind::Eio));
    gate.open();
    let refused = |reply: String| assert!(reply.starts_with("error: "), "acknowledged: {reply}");
    refused(clients[0].reply());
    for client in &mut clients[1..] {
        refused(client.reply());
        assert_eq!(client.reply(), "yes");
        refused(client.reply());
    }
    assert_eq!(clients[3].ask("first"), "", "what was not acknowledged is shown");
    refused(served.client().ask("c\n=\n1"));
    drop(clients);
    served.stop();
    disk.heal();
    let served = Served::on(&disk, 1);
    let mut client = served.client();
    assert_eq!([client.ask("kept"), client.ask("c"), client.ask("c\n=\n2"), client.ask("c")], ["yes", "", "", "2"]);
    served.stop();
}

#[test]
fn connections_that_end_while_they_write_take_nothing_from_others() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let served = Served::on(&disk, 1);
    let mut stays = served.client();
    for round in 0..20 {
        let mut going: Vec<Client> = (0..8).map(|_| served.client()).collect();
        gate.shut();
        stays.send(&[&format!("stays\n=\n{round}"), "stays"]);
        gate.until_one_waits();
        for (n, client) in going.iter_mut().enumerate() {
            client.send(&[&format!("gone{n}\n=\n{round}"), "stays", &format!("gone{n}")]);
            client.0.write_all(&[0, 0, 0, 9, b'h']).unwrap();
        }
        drop(going);
        // Others come, who would have the numbers of those that have gone.
        let mut come: Vec<Client> = (0..8).map(|_| served.client()).collect();
        for client in &mut come {
            assert_eq!(client.ask("nothing"), "");
        }
        gate.open();
        assert_eq!(stays.replies(2), [String::new(), round.to_string()]);
        for (n, client) in come.iter_mut().enumerate() {
            assert_eq!(client.ask(&format!("come{n}\n=\n{round}")), "");
            assert_eq!(client.ask(&format!("gone{n}")), round.to_string(), "it was asked for and nobody takes it back");
            assert_eq!(client.ask(&format!("come{n}")), round.to_string());
        }
    }
    served.stop();
}

#[test]
fn who_writes_while_the_server_stops_is_answered() {
    let disk = SimDisk::new();
    let gate = Gate::on(&disk);
    let served = Served::on(&disk, 2);
    let mut clients: Vec<Client> = (0..30).map(|_| served.client()).collect();
    for client in &mut clients {
        assert_eq!(client.ask("a"), "");
    }
    gate.shut();
    for (n, client) in clients.iter_mut().enumerate() {
        client.send(&["a", &format!("a{n}\n=\n1"), &format!("a{n}"), &format!("a{n}\n=\n2"), &format!("a{n}")]);
        assert_eq!(client.reply(), "");
    }
    gate.until_one_waits();
    let stopped = std::thread::spawn(move || served.stop());
    clients[3].hears_nothing();
    gate.open();
    for client in &mut clients {
        assert_eq!(client.replies(4), ["", "1", "", "2"]);
        assert_eq!(client.try_reply(), None);
    }
    stopped.join().unwrap();
}

/// Many connections, each with members of its own, in pieces that are cut anywhere: each is answered as if it were
/// alone.
#[test]
fn many_that_write_are_each_answered_as_one_alone() {
    for seed in 0..3 {
        let disk = SimDisk::new();
        let served = Served::on(&disk, 1 + seed as usize % 2);
        let threads: Vec<JoinHandle<()>> = (0..10)
            .map(|number| {
                let mut client = served.client();
                std::thread::spawn(move || {
                    let mut rng = Rng::new(seed * 100 + number);
                    let mut below = |n: u64| rng.below(n);
                    let long = "x".repeat(5000);
                    let requests: Vec<String> = (0..400)
                        .map(|_| {
                            let name = format!("{number}{}", ["a", "b", "c"][below(3) as usize]);
                            let value = ["1", "x", "{\"a\":[1,2]}", "{", &long]
                                [if below(40) == 0 { 4 } else { below(4) as usize }];
                            match below(9) {
                                0..3 => format!("{name}\n=\n{value}"),
                                3 => format!("{name}\n+\n{value}"),
                                4 => format!("{name}\n--set\n{value}"),
                                5 => format!("{name}\na\n--pop"),
                                6 => format!("--if\n\"1\"\n{name}\n=\nx"),
                                _ => name,
                            }
                        })
                        .collect();
                    let alone = Database::on(&Store::memory().unwrap(), Dialect::HASKELL).unwrap();
                    let expected: Vec<String> = requests.iter().map(|request| alone.answer(request)).collect();
                    let bytes: Vec<u8> = frames(&requests.iter().map(String::as_str).collect::<Vec<_>>());
                    let cuts: Vec<usize> =
                        (0..bytes.len()).map(|_| [1, 3, 20, 60, 300, 4096, 9000][below(7) as usize]).collect();
                    let mut out = client.0.try_clone().unwrap();
                    let writing = std::thread::spawn(move || {
                        let (mut rest, mut cuts) = (&bytes[..], cuts.into_iter());
                        while !rest.is_empty() {
                            let (piece, more) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                            out.write_all(piece).unwrap();
                            rest = more;
                        }
                        out.shutdown(std::net::Shutdown::Write).unwrap();
                    });
                    for (nth, expected) in expected.iter().enumerate() {
                        let reply = client.reply();
                        assert_eq!(&reply, expected, "seed {seed}, {number}, request {nth}: {:.60}", requests[nth]);
                    }
                    assert_eq!(client.try_reply(), None, "there is more than was asked for");
                    writing.join().unwrap();
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        served.stop();
    }
}

#[test]
fn what_is_acknowledged_survives_the_loss_of_power() {
    let disk = SimDisk::new();
    let served = Served::on(&disk, 2);
    let acknowledged: Arc<[Mutex<u64>; 8]> = Arc::default();
    let threads: Vec<JoinHandle<()>> = (0..8)
        .map(|number| {
            let (mut client, acknowledged) = (served.client(), acknowledged.clone());
            std::thread::spawn(move || {
                for n in 1..=300_u64 {
                    assert_eq!(client.ask(&format!("k{number}\n=\n{n}")), "");
                    *acknowledged[number].lock() = n;
                }
            })
        })
        .collect();
    for seed in 0..40 {
        let before: Vec<u64> = acknowledged.iter().map(|n| *n.lock()).collect();
        let policy = CrashPolicy::ALL[seed as usize % CrashPolicy::ALL.len()];
        let after = database(&disk.crash(seed, policy));
        for (number, before) in before.into_iter().enumerate() {
            let there = after.answer(&format!("k{number}")).parse().unwrap_or(0);
            assert!(there >= before, "{policy:?}, seed {seed}: k{number} is {there}, and {before} was acknowledged");
        }
    }
    for thread in threads {
        thread.join().unwrap();
    }
    served.stop();
}
