//! Connections: bytes in, bytes out, both protocols, messages between replies, the end.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use recension::Store;
use recension::engine::budget::Budget;
use recension_redis::{Attempt, Authenticate, Door, Settings, Standing};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

fn connected(door: &Door) -> (DuplexStream, watch::Sender<bool>, JoinHandle<std::io::Result<()>>) {
    let (client, mut server) = tokio::io::duplex(1 << 16);
    let (stop, stopping) = watch::channel(false);
    let door = door.clone();
    (client, stop, tokio::spawn(async move { door.serve(&mut server, None, stopping, || {}).await }))
}

async fn expect(client: &mut DuplexStream, bytes: &str) {
    let mut found = vec![0; bytes.len()];
    let read = tokio::time::timeout(Duration::from_mins(1), client.read_exact(&mut found));
    read.await.expect("a reply in time").expect("a reply");
    assert_eq!(String::from_utf8_lossy(&found), bytes);
}

fn door() -> Door {
    Door::on(&Store::memory().unwrap(), Settings::default())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_in_pieces_are_answered_in_their_order_and_protocol() {
    let (mut client, _stop, served) = connected(&door());
    let first = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\n\r\n\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
    let bytes = [first, "GET b\r\nHELLO 3\r\nGET b\nQUIT\r\nGET a\r\n"].concat().into_bytes();
    for piece in bytes.chunks(3) {
        client.write_all(piece).await.unwrap();
    }
    expect(&mut client, "+OK\r\n$2\r\n\r\n\r\n$-1\r\n%7\r\n$6\r\nserver\r\n").await;
    let mut rest = String::new();
    client.read_to_string(&mut rest).await.unwrap();
    assert!(rest.ends_with("_\r\n+OK\r\n"), "{rest}");
    served.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_ends_the_connection() {
    let (mut client, _stop, served) = connected(&door());
    client.write_all(b"*-5\r\nPING\r\n*1\r\nx").await.unwrap();
    expect(&mut client, "+PONG\r\n-ERR Protocol error: expected '$', got 'x'\r\n").await;
    served.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_come_between_replies() {
    let door = door();
    let (mut listener, _stop, _served) = connected(&door);
    let (mut speaker, _stop_too, _served_too) = connected(&door);
    listener.write_all(b"SUBSCRIBE c\r\n").await.unwrap();
    expect(&mut listener, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n").await;
    speaker.write_all(b"PUBLISH c hello\r\n").await.unwrap();
    expect(&mut speaker, ":1\r\n").await;
    expect(&mut listener, "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$5\r\nhello\r\n").await;
    listener.write_all(b"PING\r\n").await.unwrap();
    expect(&mut listener, "*2\r\n$4\r\npong\r\n$0\r\n\r\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_waits_for_an_element_and_what_it_sent_behind_waits_too() {
    let door = door();
    let (mut waiter, _stop, served) = connected(&door);
    let (mut pusher, _stop_too, _served_too) = connected(&door);
    waiter.write_all(b"PING\r\nBLPOP q r 0\r\nRPUSH after 1\r\n").await.unwrap();
    expect(&mut waiter, "+PONG\r\n").await;
    pusher.write_all(b"EXISTS after\r\nMULTI\r\nRPUSH r a b\r\nEXEC\r\n").await.unwrap();
    expect(&mut pusher, ":0\r\n+OK\r\n+QUEUED\r\n*1\r\n:2\r\n").await;
    expect(&mut waiter, "*2\r\n$1\r\nr\r\n$1\r\na\r\n:1\r\n").await;
    waiter.write_all(b"BRPOP r 0\r\nBLMOVE q to LEFT LEFT 0.01\r\nBZPOPMIN z 0.01\r\nPING\r\n").await.unwrap();
    expect(&mut waiter, "*2\r\n$1\r\nr\r\n$1\r\nb\r\n$-1\r\n*-1\r\n+PONG\r\n").await;
    // One that goes while it waits takes nothing.
    waiter.write_all(b"BLPOP q 0\r\n").await.unwrap();
    drop(waiter);
    served.await.unwrap().unwrap();
    pusher.write_all(b"RPUSH q x\r\nLLEN q\r\n").await.unwrap();
    expect(&mut pusher, ":1\r\n:1\r\n").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_does_not_read_is_disconnected() {
    let store = Store::memory().unwrap();
    let (mut listener, _stop, served) = connected(&Door::on(&store, Settings::default()));
    listener.write_all(b"SUBSCRIBE c\r\n").await.unwrap();
    expect(&mut listener, "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n").await;
    let message = vec![b'x'; 1 << 20];
    for _ in 0..20 {
        store.topics().publish("c", &message).unwrap();
    }
    let mut rest = Vec::new();
    listener.read_to_end(&mut rest).await.unwrap();
    served.await.unwrap().unwrap();
    assert!(rest.len() < 20 << 20, "what it missed it is not told as if nothing had been");
    assert_eq!(store.topics().listened().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_ends_connections() {
    let (mut client, stop, served) = connected(&door());
    client.write_all(b"PING\r\n").await.unwrap();
    expect(&mut client, "+PONG\r\n").await;
    stop.send(true).unwrap();
    served.await.unwrap().unwrap();
}

/// Lets nobody try before it has waited, and refuses the third attempt.
#[derive(Default)]
struct Slow(std::sync::atomic::AtomicU32);

impl Authenticate for Slow {
    fn attempt(&self, _: Option<std::net::IpAddr>, _: &str, password: &[u8], waited: bool) -> Attempt {
        use std::sync::atomic::Ordering::SeqCst;
        match (waited, self.0.load(SeqCst)) {
            (false, 2) => Attempt::TooMany,
            (false, _) => Attempt::Later(Duration::from_millis(1)),
            (true, _) => {
                self.0.fetch_add(1, SeqCst);
                if password == b"right" { Attempt::Right } else { Attempt::Wrong }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attempts_to_log_in_wait_their_turn_and_too_many_are_refused() {
    let slow = std::sync::Arc::new(Slow::default());
    let settings = Settings { authenticate: Some(slow.clone()), ..Settings::default() };
    let (mut client, _stop, _served) = connected(&Door::on(&Store::memory().unwrap(), settings));
    client.write_all(b"GET a\r\nAUTH wrong\r\nHELLO 2 AUTH default wrong\r\nAUTH right\r\nGET a\r\n").await.unwrap();
    expect(&mut client, "-NOAUTH Authentication required.\r\n-WRONGPASS").await;
    let mut found = vec![0; 1024];
    let mut said = String::new();
    while !said.ends_with("NOAUTH Authentication required.\r\n") {
        let read = client.read(&mut found).await.unwrap();
        said.push_str(&String::from_utf8_lossy(&found[..read]));
    }
    assert_eq!(said.matches("WRONGPASS").count(), 1, "{said}");
    assert_eq!(said.matches("too many attempts").count(), 1, "{said}");
    assert_eq!(slow.0.load(std::sync::atomic::Ordering::SeqCst), 2, "one attempt each, after its wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_page_is_not_obeyed() {
    let anybody = |_: &str, password: &[u8]| password == b"right";
    for (login, page) in [
        (false, "POST / HTTP/1.1\r\nHost: x\r\n\r\nSET a 1\r\n"),
        (false, "GET / HTTP/1.1\r\nhost: x\r\n\r\nSET a 1\r\n"),
        (false, "MULTI\r\n*1\r\n$4\r\npost\r\nSET a 1\r\nEXEC\r\n"),
        (false, "PING\r\nHost: x\r\nSET a 1\r\n"),
        (true, "POST / HTTP/1.1\r\n\r\nAUTH right\r\nSET a 1\r\n"),
        (true, "AUTH right\r\nPOST / HTTP/1.1\r\nSET a 1\r\n"),
    ] {
        let store = Store::memory().unwrap();
        let mut settings = Settings::default();
        if login {
            settings.authenticate = Some(std::sync::Arc::new(anybody));
        }
        let (mut client, _stop, served) = connected(&Door::on(&store, settings));
        client.write_all(page.as_bytes()).await.unwrap();
        let mut rest = String::new();
        client.read_to_string(&mut rest).await.unwrap();
        let error = served.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{page}");
        assert!(error.to_string().contains("SECURITY ATTACK"), "{error}");
        assert!(store.keys("redis").unwrap().get("a").unwrap().is_none(), "{page}: {rest}");
    }
}

/// Lets everybody in, until it is told that rights have ended.
struct Ends(watch::Receiver<bool>);

impl Authenticate for Ends {
    fn attempt(&self, _: Option<std::net::IpAddr>, _: &str, _: &[u8], _: bool) -> Attempt {
        Attempt::Right
    }

    fn standing(&self, _: &str, _: &[u8]) -> Option<Box<dyn Standing>> {
        Some(Box::new(Ends(self.0.clone())))
    }
}

impl Standing for Ends {
    fn holds(&mut self) -> bool {
        !*self.0.borrow()
    }

    fn changed(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async { self.0.changed().await.unwrap() })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_ends_with_its_rights_is_neither_answered_nor_told() {
    let (end, ends) = watch::channel(false);
    let settings = Settings { authenticate: Some(std::sync::Arc::new(Ends(ends))), ..Settings::default() };
    let store = Store::memory().unwrap();
    let door = Door::on(&store, settings);
    let (mut caller, _stop, called) = connected(&door);
    let (mut listener, _stop_too, listened) = connected(&door);
    let (mut waiter, _stop_three, waited) = connected(&door);
    waiter.write_all(b"AUTH x\r\nBLPOP q 0\r\n").await.unwrap();
    expect(&mut waiter, "+OK\r\n").await;
    listener.write_all(b"AUTH x\r\nSUBSCRIBE c\r\n").await.unwrap();
    expect(&mut listener, "+OK\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n").await;
    caller.write_all(b"AUTH x\r\nSET a 1\r\n").await.unwrap();
    expect(&mut caller, "+OK\r\n+OK\r\n").await;
    end.send(true).unwrap();
    store.topics().publish("c", "secret").unwrap();
    for (mut client, served) in [(caller, called), (listener, listened), (waiter, waited)] {
        let _ = client.write_all(b"SET a 2\r\n").await;
        let mut rest = String::new();
        client.read_to_string(&mut rest).await.unwrap();
        assert!(rest.starts_with("-NOAUTH ") && !rest.contains("secret"), "{rest}");
        served.await.unwrap().unwrap();
    }
    assert_eq!(store.keys("redis").unwrap().get("a").unwrap().unwrap().into_bytes(), b"1");
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_nobody_reads_stay_within_the_budget_and_come_whole_when_they_are_read() {
    const VALUE: usize = 300_000;
    const REPLIES: usize = 20;
    let store = Store::memory().unwrap();
    store.keys("redis").unwrap().set("a", vec![b'x'; VALUE]).unwrap();
    let sending = Budget::new(3 << 20);
    let door = Door::on(&store, Settings { sending: sending.clone(), ..Settings::default() });
    let mut clients = Vec::new();
    for _ in 0..20 {
        let (mut client, stop, served) = connected(&door);
        client.write_all("GET a\r\n".repeat(REPLIES).as_bytes()).await.unwrap();
        clients.push((client, stop, served));
    }
    while sending.waiting() == 0 {
        tokio::task::yield_now().await;
    }
    assert!(sending.held() <= sending.max(), "{} bytes", sending.held());
    let (mut other, _stop, _served) = connected(&door);
    other.write_all(b"PING\r\nSET b 1\r\nGET b\r\n").await.unwrap();
    expect(&mut other, "+PONG\r\n+OK\r\n$1\r\n1\r\n").await;
    drop(clients);
    let reads = (0..20).map(|_| {
        let (mut client, stop, served) = connected(&door);
        tokio::spawn(async move {
            client.write_all("GET a\r\n".repeat(REPLIES).as_bytes()).await.unwrap();
            let mut read = vec![0; REPLIES * (VALUE + "$300000\r\n\r\n".len())];
            client.read_exact(&mut read).await.unwrap();
            assert!(read.chunks(read.len() / REPLIES).all(|reply| reply.ends_with(b"xx\r\n")));
            drop((client, stop));
            served.await.unwrap().unwrap();
        })
    });
    for read in reads.collect::<Vec<_>>() {
        read.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_do_not_end_wait_for_room_that_others_have() {
    let store = Store::memory().unwrap();
    let receiving = Budget::new(4 << 20);
    let door = Door::on(&store, Settings { receiving: receiving.clone(), ..Settings::default() });
    let mut clients = Vec::new();
    for _ in 0..10 {
        let (mut client, stop, served) = connected(&door);
        client.write_all(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$600000\r\n").await.unwrap();
        clients.push((client, stop, served));
    }
    while receiving.waiting() < 9 {
        tokio::task::yield_now().await;
    }
    assert!(receiving.held() <= receiving.max());
    let (mut other, _stop, _served) = connected(&door);
    other.write_all(b"SET b 1\r\n").await.unwrap();
    expect(&mut other, "+OK\r\n").await;
    drop(clients);
    let sends = (0..10).map(|_| {
        let (mut client, stop, served) = connected(&door);
        tokio::spawn(async move {
            let value = b"x".repeat(600_000);
            let request = [&b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$600000\r\n"[..], &value, b"\r\n"].concat();
            client.write_all(&request).await.unwrap();
            expect(&mut client, "+OK\r\n").await;
            drop((client, stop));
            served.await.unwrap().unwrap();
        })
    });
    for send in sends.collect::<Vec<_>>() {
        send.await.unwrap();
    }
    assert_eq!(receiving.held(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn long_replies_within_a_pipeline_of_writes_stay_within_the_budget() {
    const VALUE: usize = 300_000;
    let store = Store::memory().unwrap();
    store.keys("redis").unwrap().set("a", vec![b'x'; VALUE]).unwrap();
    let sending = Budget::new(2 << 20);
    let door = Door::on(&store, Settings { sending: sending.clone(), ..Settings::default() });
    let (mut client, stop, served) = connected(&door);
    let pipeline = format!("{}SET b 1\r\n", "GET a\r\n".repeat(100));
    client.write_all(pipeline.as_bytes()).await.unwrap();
    let mut read = vec![0; 100 * (VALUE + "$300000\r\n\r\n".len()) + "+OK\r\n".len()];
    let mut most = 0;
    for part in read.chunks_mut(100_000) {
        client.read_exact(part).await.unwrap();
        most = most.max(sending.held());
    }
    assert!(read.ends_with(b"\r\n+OK\r\n"));
    assert!(most > 0 && most <= sending.max(), "{most} bytes");
    drop((client, stop));
    served.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_to_log_in_first_may_not_say_much_and_then_may() {
    let anybody = |_: &str, password: &[u8]| password == b"right";
    let settings = || Settings { authenticate: Some(std::sync::Arc::new(anybody)), ..Settings::default() };
    let door = Door::on(&Store::memory().unwrap(), settings());
    for long in ["*3\r\n$3\r\nSET\r\n$2\r\nbb\r\n$60000000\r\n", "*11\r\n"] {
        let (mut client, _stop, served) = connected(&door);
        client.write_all(long.as_bytes()).await.unwrap();
        let mut said = String::new();
        client.read_to_string(&mut said).await.unwrap();
        assert!(said.starts_with("-ERR Protocol error: unauthenticated"), "{said}");
        served.await.unwrap().unwrap();
    }
    let value = "x".repeat(20_000);
    let (mut client, _stop, _served) = connected(&door);
    let pipeline = format!("AUTH right\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$20000\r\n{value}\r\n");
    client.write_all(pipeline.as_bytes()).await.unwrap();
    expect(&mut client, "+OK\r\n+OK\r\n").await;
}
