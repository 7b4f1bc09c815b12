//! The socket in a store's folder: a dead process's, a long path, another version, cancelled waits, and closing.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use recension_engine::{Batch, Direction, Engine, EngineError, KeyRange, MemoryEngine, Seq, TreeId};
use recension_native::NativeOptions;
#[cfg(feature = "network")]
use recension_remote::PROTOCOL_VERSION;
use recension_remote::{Owner, RemoteEngine, open};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_mins(1);
const T: TreeId = TreeId(1);

fn put(engine: &dyn Engine, key: &[u8]) -> Seq {
    let mut batch = Batch::new();
    batch.put(T, key, b"value");
    engine.commit(batch).unwrap().seq
}

fn has(engine: &dyn Engine, key: &[u8]) -> bool {
    engine.snapshot().unwrap().get(T, key).unwrap().is_some()
}

fn shared(folder: &Path) -> Arc<dyn Engine> {
    open(folder, &NativeOptions::default(), true).unwrap()
}

#[test]
fn a_socket_of_a_dead_process_is_replaced() {
    let dir = tempfile::tempdir().unwrap();
    drop(shared(dir.path()));
    assert!(!dir.path().join("SOCKET").exists(), "taken away");
    drop(UnixListener::bind(dir.path().join("SOCKET")).unwrap());
    let owner = shared(dir.path());
    let other = shared(dir.path());
    put(&*other, b"a");
    assert!(has(&*owner, b"a"));
}

#[test]
fn a_store_with_a_long_path_is_shared() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("f".repeat(120)).join("g".repeat(120));
    let owner = shared(&folder);
    let other = shared(&folder);
    put(&*owner, b"a");
    assert!(has(&*other, b"a"));
}

#[test]
fn a_store_that_is_not_shared_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let _owner = open(dir.path(), &NativeOptions::default(), false).unwrap();
    let refused = open(dir.path(), &NativeOptions::default(), true);
    assert!(matches!(refused.err(), Some(EngineError::Locked { .. })));
}

#[test]
fn who_uses_a_store_takes_it_over_when_its_owner_closes_it() {
    let dir = tempfile::tempdir().unwrap();
    let owner = shared(dir.path());
    let others = [shared(dir.path()), shared(dir.path())];
    put(&*others[0], b"a");
    let before = others[1].snapshot().unwrap();
    let head = others[1].head();
    let waiting = {
        let other = Arc::clone(&others[1]);
        thread::spawn(move || other.wait_beyond(head, LONG))
    };
    drop(owner);
    put(&*others[0], b"b");
    assert_eq!(waiting.join().unwrap(), head.next());
    assert!(others.iter().all(|other| has(&**other, b"a") && has(&**other, b"b")));
    assert!(before.get(T, b"b").unwrap().is_none(), "a snapshot stays as it is");
    assert!(before.get(T, b"a").unwrap().is_some());
    drop(before);
    drop(others);
    assert!(has(&*shared(dir.path()), b"b"));
}

/// What it knows may be of another history, even if the owner has gone beyond it since.
#[test]
fn who_uses_a_store_that_was_put_back_to_an_older_copy_stops() {
    for written in [0, 3] {
        let folder = tempfile::tempdir().unwrap();
        let [place, copy] = ["store", "copy"].map(|name| folder.path().join(name));
        let owner = shared(&place);
        put(&*owner, b"a");
        let user = RemoteEngine::connect(&place, Duration::from_secs(10)).unwrap();
        owner.backup(&copy).unwrap();
        put(&user, b"lost");
        assert!(has(&user, b"lost"));
        drop(owner);
        std::fs::remove_dir_all(&place).unwrap();
        std::fs::rename(&copy, &place).unwrap();
        let owner = shared(&place);
        for _ in 0..written {
            put(&*owner, b"other");
        }
        let refused = user.snapshot().err();
        assert!(matches!(refused, Some(EngineError::Diverged { .. })), "{written}: {refused:?}");
        assert!(matches!(user.commit(Batch::new()), Err(EngineError::Diverged { .. })));
        let again = RemoteEngine::connect(&place, Duration::from_secs(10)).unwrap();
        assert!(has(&again, b"a") && !has(&again, b"lost"));
    }
}

#[test]
fn who_may_not_take_over_is_told_that_the_store_does_not_answer() {
    let dir = tempfile::tempdir().unwrap();
    let owner = Owner::of(Arc::new(MemoryEngine::new()), dir.path()).unwrap();
    let other = RemoteEngine::connect(dir.path(), Duration::ZERO).unwrap();
    put(&other, b"a");
    drop(owner);
    let mut batch = Batch::new();
    batch.put(T, b"b", b"");
    assert!(matches!(other.commit(batch), Err(EngineError::Unavailable { .. })));
    assert!(matches!(other.snapshot().err(), Some(EngineError::Unavailable { .. })));
    let started = Instant::now();
    other.wait_beyond(Seq(9), Duration::from_millis(50));
    assert!(started.elapsed() < LONG);
}

/// An owner that takes a commit and dies before it answers.
#[test]
fn the_outcome_of_a_commit_without_an_answer_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(dir.path().join("SOCKET")).unwrap();
    let dying = thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        read_frame(&mut client);
        client.write_all(&frame(1, &[&[2][..], &1_u32.to_le_bytes(), &7_u32.to_le_bytes()].concat())).unwrap();
        read_frame(&mut client);
    });
    let other = RemoteEngine::connect(dir.path(), Duration::ZERO).unwrap();
    let mut batch = Batch::new();
    batch.put(T, b"b", b"");
    assert!(matches!(other.commit(batch), Err(EngineError::Unknown { .. })));
    dying.join().unwrap();
}

fn frame(request: u32, payload: &[u8]) -> Vec<u8> {
    [&(payload.len() as u32).to_le_bytes()[..], &request.to_le_bytes(), payload].concat()
}

fn read_frame(from: &mut UnixStream) -> Vec<u8> {
    read_numbered(from).unwrap().1
}

fn read_numbered(from: &mut UnixStream) -> std::io::Result<(u32, Vec<u8>)> {
    let mut header = [0; 8];
    from.read_exact(&mut header)?;
    let mut payload = vec![0; u32::from_le_bytes(header[..4].try_into().unwrap()) as usize];
    from.read_exact(&mut payload)?;
    Ok((u32::from_le_bytes(header[4..].try_into().unwrap()), payload))
}

/// An owner that answers no get before all of them are there. A get is answered with the last byte of its key.
fn owner_that_waits_for(gets: usize, listener: UnixListener) -> usize {
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for (connection, stream) in listener.incoming().map_while(Result::ok).enumerate() {
            let tell = tell.clone();
            thread::spawn(move || {
                let mut stream = stream;
                while let Ok((number, payload)) = read_numbered(&mut stream) {
                    let answer = match payload[0] {
                        0 => {
                            [&[2][..], &recension_remote::PROTOCOL_VERSION.to_le_bytes(), &7_u32.to_le_bytes()].concat()
                        }
                        1 => [&[3][..], &7_u64.to_le_bytes()].concat(),
                        _ => {
                            let held = (connection, stream.try_clone().unwrap(), number, *payload.last().unwrap());
                            tell.send(held).unwrap();
                            continue;
                        }
                    };
                    stream.write_all(&frame(number, &answer)).unwrap();
                }
            });
        }
    });
    let held: Vec<_> = (0..gets).map(|_| told.recv_timeout(LONG).expect("it waits for answers")).collect();
    let mut connections = std::collections::BTreeSet::new();
    for (connection, mut stream, number, byte) in held {
        connections.insert(connection);
        let value = [&7_u64.to_le_bytes()[..], &1_u32.to_le_bytes(), &[byte]].concat();
        let answer = [&[5][..], &1_u32.to_le_bytes(), &[1], &value].concat();
        stream.write_all(&frame(number, &answer)).unwrap();
    }
    connections.len()
}

#[test]
fn gets_of_many_threads_are_under_way_at_once_on_a_few_connections() {
    let dir = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(dir.path().join("SOCKET")).unwrap();
    let owner = thread::spawn(move || owner_that_waits_for(64, listener));
    let other = RemoteEngine::connect(dir.path(), LONG).unwrap();
    let snapshot = other.snapshot().unwrap();
    thread::scope(|scope| {
        for key in 0..64_u8 {
            let snapshot = &snapshot;
            scope.spawn(move || assert_eq!(*snapshot.get(T, &[1, key]).unwrap().unwrap().bytes, [key]));
        }
    });
    let connections = owner.join().unwrap();
    assert!(connections <= recension_remote::limits::PIPES_MAX, "{connections}");
}

#[test]
fn threads_that_share_connections_get_their_own_answers() {
    let dir = tempfile::tempdir().unwrap();
    let owner = Owner::of(Arc::new(MemoryEngine::new()), dir.path()).unwrap();
    for key in 0..64_u8 {
        put(&owner, &[key]);
    }
    let other = RemoteEngine::connect(dir.path(), LONG).unwrap();
    thread::scope(|scope| {
        for key in 0..32_u8 {
            let other = &other;
            scope.spawn(move || {
                for _ in 0..200 {
                    assert!(has(other, &[key]));
                    assert!(!has(other, &[key, key]));
                }
                put(other, &[key, key]);
                let rows = other.snapshot().unwrap().range(T, &KeyRange::all(), Direction::Forward).count();
                assert!(rows > 64, "{rows}");
                assert!(has(other, &[key, key]));
            });
        }
    });
}

#[test]
fn requests_are_answered_in_order_and_the_next_one_ends_a_wait() {
    let dir = tempfile::tempdir().unwrap();
    let _owner = Owner::of(Arc::new(MemoryEngine::new()), dir.path()).unwrap();
    let mut stream = UnixStream::connect(dir.path().join("SOCKET")).unwrap();
    stream.set_read_timeout(Some(LONG / 2)).unwrap();
    let hello = frame(1, &[&[0][..], &recension_remote::PROTOCOL_VERSION.to_le_bytes()].concat());
    let wait = frame(2, &[&[11][..], &0_u64.to_le_bytes(), &60_000_u32.to_le_bytes()].concat());
    let head = frame(3, &[1]);
    stream.write_all(&[hello, wait, head].concat()).unwrap();
    assert_eq!(read_frame(&mut stream)[0], 2);
    let zero = [&[3][..], &0_u64.to_le_bytes()].concat();
    assert_eq!([read_frame(&mut stream), read_frame(&mut stream)], [zero.clone(), zero]);
}

#[test]
fn another_version_and_what_is_no_message_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let owner = Owner::of(Arc::new(MemoryEngine::new()), dir.path()).unwrap();
    for (sent, said) in [
        (frame(1, &[0, 9, 0, 0, 0]), "version 9"),
        (frame(1, &[1]), "before the greeting"),
        (frame(1, &[200]), "malformed"),
    ] {
        let mut stream = UnixStream::connect(dir.path().join("SOCKET")).unwrap();
        stream.write_all(&sent).unwrap();
        let answer = String::from_utf8_lossy(&read_frame(&mut stream)).into_owned();
        assert!(answer.contains(said), "{answer}");
        assert_eq!(stream.read(&mut [0]).unwrap(), 0, "and closed");
    }
    let mut stream = UnixStream::connect(dir.path().join("SOCKET")).unwrap();
    stream.write_all(&[0xff; 64]).unwrap();
    assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
    put(&owner, b"it goes on");
}

/// What a client of a port sends first, and requests for a row.
#[cfg(feature = "network")]
fn asks(key: &[u8], times: u32) -> Vec<u8> {
    let text = |text: &[u8]| [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], text].concat();
    let get = [&[2][..], &1_u64.to_le_bytes(), &1_u32.to_le_bytes(), &T.0.to_le_bytes(), &text(key)].concat();
    let mut sent = frame(1, &[&[22][..], &text(b"0123456789abcdef")].concat());
    sent.extend(frame(2, &[&[0][..], &PROTOCOL_VERSION.to_le_bytes()].concat()));
    (0..times).for_each(|number| sent.extend(frame(3 + number, &get)));
    sent
}

#[cfg(feature = "network")]
#[test]
fn answers_that_nobody_reads_stay_within_the_budget_and_come_when_they_are_read() {
    use recension_engine::budget::Budget;
    use recension_remote::Bounds;
    use recension_remote::network::{Token, listen};
    use std::net::TcpStream;

    const LONG_ROW: usize = 400_000;
    let engine = Arc::new(MemoryEngine::new());
    let mut batch = Batch::new();
    batch.put(T, b"long", &vec![7; LONG_ROW]);
    batch.put(T, b"short", b"x");
    engine.commit(batch).unwrap();
    let bounds = Bounds { sending: Budget::new(1 << 20), ..Bounds::default() };
    let token = Arc::new(Token::new("0123456789abcdef").unwrap());
    let at = ([127, 0, 0, 1], 0).into();
    let (_listening, address) = listen(engine, at, None, token, bounds.clone()).unwrap();
    let connected = |key: &[u8], times: u32| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(&asks(key, times)).unwrap();
        stream
    };
    let read = |mut stream: TcpStream, times: u32| {
        for number in 1..3 + times {
            let mut head = [0; 8];
            stream.read_exact(&mut head).unwrap();
            let length = u32::from_le_bytes(head[..4].try_into().unwrap()) as usize;
            assert_eq!(u32::from_le_bytes(head[4..].try_into().unwrap()), number);
            stream.read_exact(&mut vec![0; length]).unwrap();
        }
    };
    let unread: Vec<TcpStream> = (0..8).map(|_| connected(b"long", 100)).collect();
    while bounds.sending.waiting() == 0 {
        thread::yield_now();
    }
    assert!(bounds.sending.held() <= bounds.sending.max(), "{} bytes", bounds.sending.held());
    read(connected(b"short", 10), 10);
    drop(unread);
    read(connected(b"long", 100), 100);
}

/// A browser sends such a request for any page, to any port.
#[cfg(feature = "network")]
#[test]
fn a_web_page_is_not_obeyed() {
    use recension_remote::Bounds;
    use recension_remote::network::{Token, listen};

    let engine = Arc::new(MemoryEngine::new());
    let token = Arc::new(Token::new("0123456789abcdef").unwrap());
    let at = ([127, 0, 0, 1], 0).into();
    let (_listening, address) = listen(engine, at, None, token, Bounds::default()).unwrap();
    for method in ["POST", "PUT", "GET", "OPTIONS"] {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        let page = format!("{method} / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n");
        let _ = stream.write_all(&[page.as_bytes(), &asks(b"a", 1)].concat());
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said);
        assert_eq!(said, b"", "{method}");
    }
}
