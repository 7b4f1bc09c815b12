//! What a listener of Apocrypha has to bear: frames in any pieces, half of them, hostile ones, clients that do not
//! read, many at once; and what it promises: reads of one's own writes, writers that lose nothing, tokens, TLS.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::commanded::{Client, Commanded};
use recension::engine::Durability;
use recension::engine::budget::Budget;
use recension::{At, Store};
use recension_apocrypha::{Database, Dialect, Settings, Token, wire};
use recension_server::{Apocrypha, ApocryphaConfig, Backend};

fn request(words: &[&str]) -> Vec<u8> {
    wire::request(words).unwrap()
}

#[test]
fn frames_are_read_in_whatever_pieces_they_come() {
    let served = Commanded::start(Dialect::HASKELL);
    let bytes = [request(&["é", "=", "☃", "x"]), request(&[]), request(&["é"])].concat();
    for cut in 0..=bytes.len() {
        let mut client = served.client();
        client.0.write_all(&bytes[..cut]).unwrap();
        // What is answered of the first piece is answered before the second is sent.
        let (mut whole, mut before) = (0, &bytes[..cut]);
        while let wire::Incoming::Frame(payload) = wire::next(before, usize::MAX) {
            before = &before[wire::HEAD_BYTES + payload.len()..];
            whole += 1;
        }
        let mut replies: Vec<String> = (0..whole).map(|_| client.reply().unwrap()).collect();
        client.0.write_all(&bytes[cut..]).unwrap();
        replies.extend((whole..3).map(|_| client.reply().unwrap()));
        assert_eq!(replies, ["", "{\n    \"é\": [\n        \"☃\",\n        \"x\"\n    ]\n}", "☃\nx"], "cut at {cut}");
    }
    let mut client = served.client();
    for byte in &bytes {
        client.0.write_all(&[*byte]).unwrap();
    }
    assert_eq!((client.reply().unwrap().len(), client.reply().unwrap().is_empty()), (0, false));
}

/// Event loops and sessions hand connections to each other, wherever a piece ends and whatever waits: no reply is
/// lost by it, and none comes twice.
#[test]
fn whoever_answers_and_however_it_is_cut_the_replies_are_those_of_the_commands() {
    let long = "x".repeat(6000);
    let values = ["1", "x", "{\"a\": [1, 2]}", "!a", long.as_str()];
    for (durability, seed) in [(Durability::Process, 1), (Durability::Disk, 2), (Durability::Process, 3)] {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed);
        let mut below = |n: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % n as u64) as usize
        };
        let requests: Vec<Vec<&str>> = (0..3000)
            .map(|_| {
                let (name, value) = (["a", "b", "c", "é", "_d"][below(5)], values[below(values.len())]);
                match below(24) {
                    0..2 => vec![name, "=", value],
                    2 => vec![name, "+", value],
                    3 => vec![name, "--set", value],
                    4 => vec![name, "a", "--pop"],
                    5 => vec![name, "--del"],
                    6 => vec!["--keys"],
                    7 => vec![name, "@", "x"],
                    _ => vec![name],
                }
            })
            .collect();
        let database = || {
            let store = Store::memory().unwrap();
            (Database::on(&store, Dialect::HASKELL).unwrap().with_durability(durability), store)
        };
        let expected: Vec<String> = {
            let (database, _store) = database();
            requests.iter().map(|words| database.answer(&words.join("\n"))).collect()
        };
        let (served, store) = database();
        let served = Commanded::backed(Backend::Database(served), store, ApocryphaConfig::default());
        let mut client = served.client();
        let mut writes = client.0.try_clone().unwrap();
        let bytes: Vec<u8> = requests.iter().flat_map(|words| request(words)).collect();
        let cuts: Vec<usize> = (0..bytes.len()).map(|_| [1, 3, 20, 300, 4096, 9000][below(6)]).collect();
        let writer = std::thread::spawn(move || {
            let (mut rest, mut cuts) = (&bytes[..], cuts.into_iter());
            while !rest.is_empty() {
                let (piece, more) = rest.split_at(cuts.next().unwrap_or(1).min(rest.len()));
                writes.write_all(piece).unwrap();
                rest = more;
            }
        });
        for (nth, (expected, words)) in expected.iter().zip(&requests).enumerate() {
            let reply = client.reply();
            assert_eq!(reply.as_ref(), Some(expected), "{durability:?}, request {nth}: {words:.40?}");
        }
        writer.join().unwrap();
        client.0.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.reply(), None, "there is more than was asked for");
    }
}

#[test]
fn half_a_request_is_none() {
    let served = Commanded::start(Dialect::PYTHON);
    let bytes = request(&["half", "=", "yes"]);
    for cut in 0..bytes.len() {
        let mut client = served.client();
        client.0.write_all(&bytes[..cut]).unwrap();
        client.0.shutdown(Shutdown::Write).unwrap();
        assert_eq!(client.reply(), None, "cut at {cut}");
    }
    // The case that was stored by an existing server: more is announced than comes.
    let mut client = served.client();
    client.0.write_all(b"\0\0\0\x64half\n=\nyes").unwrap();
    client.0.shutdown(Shutdown::Write).unwrap();
    assert_eq!(client.reply(), None);
    assert_eq!(served.client().ask(&["half"]), "");
}

#[test]
fn who_stops_in_the_middle_of_a_request_is_given_up() {
    let settings = Settings { patience: Duration::from_millis(200), ..Settings::default() };
    let served = Commanded::tuned(Dialect::HASKELL, settings);
    let mut client = served.client();
    client.0.write_all(&request(&["a", "=", "b"])[..7]).unwrap();
    assert_eq!(client.reply(), None);
    served.is_well();
}

#[test]
fn hostile_lengths_and_bytes_are_refused_with_a_reason() {
    let served = Commanded::tuned(Dialect::HASKELL, Settings { frame_bytes_max: 1000, ..Settings::default() });
    for length in [1001u32, 1 << 24, 1 << 31, u32::MAX] {
        let mut client = served.client();
        client.0.write_all(&length.to_be_bytes()).unwrap();
        let reply = client.reply().unwrap();
        assert!(reply.starts_with(&format!("error: the request announces {length} bytes")), "{reply}");
        assert_eq!(client.reply(), None);
        served.is_well();
    }
    let mut client = served.client();
    for payload in [&b"\xff"[..], b"a\n=\n\xc3", b"\xed\xa0\x80"] {
        let mut frame = Vec::new();
        wire::write(payload, &mut frame);
        client.0.write_all(&frame).unwrap();
        assert_eq!(client.reply().unwrap(), "error: the request is not UTF-8");
    }
    // The connection goes on, and so do words that no path can have.
    assert_eq!(client.ask(&["a\0b", "=", "\u{1}"]), "");
    assert_eq!(client.ask(&["a\0b", "--edit"]), "\"\\u0001\"");
    assert!(client.ask(&["x"; 499]).is_empty());
}

#[test]
fn what_is_too_deep_or_too_long_is_refused_and_nothing_breaks() {
    let served = Commanded::start(Dialect::HASKELL);
    let mut client = served.client();
    let deep = "[".repeat(100_000);
    assert!(client.ask(&["a", "--set", &deep]).starts_with("error: unable to parse JSON"));
    let path: Vec<&str> = vec!["a"; 501];
    assert!(client.ask(&path).starts_with("error: a path has at most 500 words"));
    let nested: Vec<&str> = std::iter::repeat_n("a", 500).chain(["=", "x"]).collect();
    assert_eq!(client.ask(&nested), "");
    let long = "k".repeat(2049);
    assert_eq!(client.ask(&[&long]), "");
    assert!(client.ask(&[&long, "=", "x"]).starts_with("error: a key of the top level"));
    served.is_well();
}

#[test]
fn names_that_no_document_can_have_are_keys_as_any_others() {
    let served = Commanded::start(Dialect::HASKELL);
    let mut client = served.client();
    assert_eq!(client.ask(&["_id", "=", "1"]), "");
    assert_eq!(client.ask(&["a", "_rev", "=", "2"]), "");
    assert_eq!(client.ask(&["$value", "$value", "=", "3"]), "");
    assert_eq!(client.ask(&["--keys"]), "$value\n_id\na");
    assert_eq!(client.ask(&["_id"]) + &client.ask(&["a", "_rev"]) + &client.ask(&["$value", "$value"]), "123");
    assert_eq!(client.ask(&["--set", r#"{"":{"_x":1}}"#]), "");
    assert_eq!(client.ask(&["--edit"]), "{\n    \"\": {\n        \"_x\": 1\n    }\n}");
}

#[test]
fn a_client_that_does_not_read_harms_only_itself() {
    let settings = Settings { patience: Duration::from_millis(300), ..Settings::default() };
    let served = Commanded::tuned(Dialect::HASKELL, settings);
    served.load(&format!("{{\"big\":\"{}\"}}", "x".repeat(1 << 20)));
    let mut slow = served.client();
    let asked = request(&["big"]).repeat(4000);
    slow.0.set_nonblocking(true).unwrap();
    // It sends until nobody takes more of it, and reads nothing.
    let _ = slow.0.write_all(&asked);
    for _ in 0..50 {
        served.is_well();
    }
    // The server gives it up, which shows by writing: that fails for another reason than that there is no room.
    let closed = |error: &std::io::Error| error.kind() != std::io::ErrorKind::WouldBlock;
    while !slow.0.write(&asked).as_ref().is_err_and(closed) {
        std::thread::yield_now();
    }
    served.is_well();
}

#[test]
fn replies_that_nobody_takes_are_bounded_over_all_connections() {
    // Two of the replies have room, and a third one has not.
    let (sending, patience) = (Budget::new(60 << 20), Duration::from_mins(10));
    let settings = Settings { sending, patience, ..Settings::default() };
    let served = Commanded::tuned(Dialect::HASKELL, settings);
    served.load(&format!("{{\"long\":\"{}\"}}", "x".repeat(24 << 20)));
    let mut holding: Vec<Client> = (0..2).map(|_| served.client()).collect();
    for client in &mut holding {
        client.0.write_all(&request(&["long"])).unwrap();
        // Its first bytes are there: most of it waits in the server, since sockets hold a few MB.
        assert_eq!(client.0.peek(&mut [0; 4]).unwrap(), 4);
    }
    let mut third = served.client();
    let refused = third.ask(&["long"]);
    assert!(refused.starts_with("error: the reply has 24576 KiB"), "{}", refused.get(..80).unwrap_or_default());
    assert_eq!(third.ask(&["--history", "long"]).get(..7), Some("error: "));
    // Short ones go on, and when one was taken another has its place.
    served.is_well();
    assert_eq!(holding[0].reply().unwrap().len(), 24 << 20);
    assert_eq!(holding[0].ask(&["well"]), "yes");
    assert_eq!(third.ask(&["long"]).len(), 24 << 20);
}

#[test]
fn requests_that_come_together_are_answered_in_their_order() {
    let served = Commanded::start(Dialect::HASKELL);
    let mut client = served.client();
    let mut asked = Vec::new();
    for number in 0..5000 {
        let text = number.to_string();
        asked.extend(request(&["n", "=", &text]));
        asked.extend(request(&["n"]));
    }
    let mut writer = client.0.try_clone().unwrap();
    let sending = std::thread::spawn(move || writer.write_all(&asked).unwrap());
    for number in 0..5000 {
        assert_eq!(client.reply().unwrap(), "");
        assert_eq!(client.reply().unwrap(), number.to_string());
    }
    sending.join().unwrap();
}

#[test]
fn a_thousand_connections_are_answered() {
    let served = Commanded::start(Dialect::PYTHON);
    let mut clients: Vec<Client> = (0..1000).map(|_| served.client()).collect();
    for (nth, client) in clients.iter_mut().enumerate() {
        client.0.write_all(&request(&["at", &format!("{nth:04}"), "=", "here"])).unwrap();
    }
    for client in &mut clients {
        assert_eq!(client.reply().unwrap(), "");
    }
    assert_eq!(served.client().ask(&["at", "--keys"]).lines().count(), 1000);
}

/// Rows A1 and A5 of what the existing servers do wrong: stale reads, and lost ones.
#[test]
fn every_connection_reads_its_own_writes_and_writers_lose_nothing() {
    for dialect in Dialect::ALL {
        let served = Commanded::start(dialect);
        let over = Arc::new(AtomicBool::new(false));
        let address = served.address;
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let over = Arc::clone(&over);
                std::thread::spawn(move || {
                    let mut client = Client::to(address);
                    while !over.load(Ordering::Relaxed) {
                        for key in ["own 0", "own 3", "shared"] {
                            client.ask(&[key]);
                        }
                    }
                })
            })
            .collect();
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                std::thread::spawn(move || {
                    let mut client = Client::to(address);
                    let own = format!("own {writer}");
                    for nth in 0..150 {
                        let value = format!("{writer}-{nth}");
                        assert_eq!(client.ask(&[&own, "=", &value]), "");
                        assert_eq!(client.ask(&[&own]).trim_end(), value);
                        assert_eq!(client.ask(&["shared", "all", "+", &value]), "");
                        assert!(client.ask(&["shared", "all"]).lines().any(|line| line == value));
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        for reader in readers {
            reader.join().unwrap();
        }
        assert_eq!(served.client().ask(&["shared", "all"]).lines().count(), 600);
    }
}

/// Row A4: after each of these an existing server answers nobody any more.
#[test]
fn the_top_level_stays_an_object() {
    for dialect in Dialect::ALL {
        let served = Commanded::start(dialect);
        served.load(r#"{"a":"b"}"#);
        let mut client = served.client();
        for command in [
            &["--del"][..],
            &["=", "x"],
            &["=", "x", "y"],
            &["+", "x"],
            &["-", "x"],
            &["--pop"],
            &["--set", "\"x\""],
            &["--set", "null"],
            &["--set", "[]"],
            &["--set"],
            &["@"],
            &["--if", "1", "--set", "{}"],
        ] {
            let reply = client.ask(command);
            assert!(reply.starts_with("error: "), "{command:?}: {reply}");
            assert_eq!(client.ask(&["--edit"]).trim_end(), "{\n    \"a\": \"b\"\n}", "{command:?}");
        }
        served.is_well();
    }
}

#[test]
fn a_command_that_is_refused_changes_nothing() {
    for dialect in Dialect::ALL {
        let served = Commanded::start(dialect);
        served.load(r#"{"to":["x","y","z"],"x":"1","y":["2","3"],"z":{"k":"v"},"list":["a","b"]}"#);
        let mut client = served.client();
        let before = client.ask(&["--edit"]);
        for command in
            [&["!to", "+", "9"][..], &["!to", "--pop", "a"], &["!to", "q", "=", "1"], &["list", "-", "a", "q"]]
        {
            assert_eq!(client.ask(&["--set", &before.replace('\n', " ")]), "");
            let refused = client.ask(command).starts_with("error: ");
            // `-` with something missing, and `--pop` of an object, are commands of one dialect.
            assert!(refused || command.contains(&"-") || command.contains(&"--pop"), "{command:?}");
            if refused {
                assert_eq!(client.ask(&["--edit"]), before, "{command:?}");
            }
        }
    }
}

#[test]
fn nothing_of_one_request_is_seen_in_the_next() {
    let served = Commanded::start(Dialect::PYTHON);
    served.load(r#"{"p":["x",5],"x":"leak","y":"Y"}"#);
    let mut client = served.client();
    assert!(client.ask(&["-s", "-c", "!p"]).starts_with("error: "));
    assert_eq!(client.ask(&["y"]), "Y\n");
    assert_eq!(client.ask(&["missing"]), "");
    assert_eq!(served.client().ask(&["y"]), "Y\n");
}

#[test]
fn references_and_symlinks_that_lead_in_circles_end() {
    let served = Commanded::start(Dialect::PYTHON);
    served.load(r#"{"a":"!b","b":"!a","self":"!self","list":["!list","!a"],"r":["r","r"]}"#);
    let mut client = served.client();
    for command in [&["a"][..], &["self"], &["list"], &["a", "x"], &["a", "x", "=", "1"]] {
        let reply = client.ask(command);
        assert!(reply.starts_with("error: more than 32 symlinks"), "{command:?}: {reply}");
    }
    assert_eq!(client.ask(&["!r"]).lines().count(), 4);
    served.is_well();
}

#[test]
fn the_past_is_read_as_it_was() {
    for dialect in Dialect::ALL {
        let served = Commanded::start(dialect);
        let mut client = served.client();
        assert_eq!(client.ask(&["menu", "pizza", "=", "tomato"]), "");
        let then = served.store.resolve(At::Now).unwrap();
        assert_eq!(client.ask(&["menu", "pasta", "=", "pesto"]), "");
        assert_eq!(client.ask(&["menu", "pizza", "+", "pineapple"]), "");
        assert_eq!(client.ask(&["menu", "--del"]), "");
        let moment = format!("seq:{then}");
        assert_eq!(client.ask(&["--at", &moment, "menu", "pizza"]).trim_end(), "tomato");
        assert_eq!(client.ask(&["--at", &moment, "menu", "--keys"]).trim_end(), "pizza");
        assert_eq!(client.ask(&["--at", &moment, "--edit"]).matches("tomato").count(), 1);
        let history = client.ask(&["--history", "menu", "pizza"]);
        let values: Vec<&str> = history.lines().map(|line| line.splitn(3, ' ').nth(2).unwrap()).collect();
        assert_eq!(values, ["-", r#"["tomato","pineapple"]"#, "\"tomato\""]);
        assert_eq!(history.lines().last().unwrap().split(' ').next(), Some(then.to_string().as_str()));
        assert!(client.ask(&["--at", "999999", "menu"]).starts_with("error: "));
        assert!(client.ask(&["--at", &moment, "menu", "=", "x"]).starts_with("error: "));
        assert_eq!(client.ask(&["--flush"]), "");
        assert!(client.ask(&["--timing", "nothing"]).starts_with("time: 0.0"));
    }
}

#[test]
fn the_whole_database_is_replaced_on_condition() {
    for dialect in Dialect::ALL {
        let served = Commanded::start(dialect);
        let mut client = served.client();
        assert_eq!(client.ask(&["--if", "{}", "--set", r#"{"a":"1","b":{"c":2}}"#]), "");
        for wrong in ["{}", r#"{"a":"1"}"#, r#"{"a":"1","b":{"c":3}}"#] {
            let reply = client.ask(&["--if", wrong, "--set", "{}"]);
            assert_eq!(reply.trim_end(), "error: changed meanwhile", "{wrong}");
        }
        assert_eq!(client.ask(&["--if", r#"{"b":{"c":2.0},"a":"1"}"#, "--set", r#"{"d":"2"}"#]), "");
        assert_eq!(client.ask(&["--keys"]).trim_end(), "d");
        assert!(client.ask(&["--if", "{}", "--del"]).starts_with("error: --if needs"));
    }
}

#[test]
fn parts_of_a_large_member_are_as_they_were_written_last() {
    for dialect in Dialect::ALL {
        let served = Commanded::start(dialect);
        let members: Vec<String> = (0..1000).map(|n| format!("\"k{n}\":\"{n}\"")).collect();
        served.load(&format!("{{\"large\":{{{}}},\"list\":[\"{}\",\"y\"]}}", members.join(","), "x".repeat(9000)));
        let (mut one, mut other) = (served.client(), served.client());
        for n in (0..1000).step_by(97) {
            let (key, value) = (format!("k{n}"), format!("new {n}"));
            assert_eq!(one.ask(&["large", &key]).trim_end(), n.to_string());
            assert_eq!(one.ask(&["large", &key, "=", &value]), "");
            assert_eq!(other.ask(&["large", &key]).trim_end(), value);
            assert_eq!(one.ask(&["large", &key, "--del"]), "");
            assert_eq!(other.ask(&["large", &key]), "");
            assert!(other.ask(&["--strict", "large", &key]).starts_with(&format!("error: {key} not found")));
            assert!(other.ask(&["large", "k1", &key]).starts_with("error: cannot index through non-dict"));
        }
        // As it was, and when it is gone and there again.
        let before = served.store.engine().head().0.to_string();
        assert_eq!(one.ask(&["large", "--del"]) + &other.ask(&["large", "k1"]), "");
        assert_eq!(one.ask(&["--at", &before, "large", "k1"]).trim_end(), "1");
        assert_eq!(one.ask(&["large", "k1", "=", "again"]) + other.ask(&["large", "k1"]).trim_end(), "again");
        assert_eq!(other.ask(&["large", "k2"]), "");
        assert!(one.ask(&["list", "x"]).starts_with("error: ") && one.ask(&["list"]).trim_end().ends_with("\ny"));
    }
}

#[test]
fn a_write_on_condition_is_refused_where_somebody_was_faster() {
    let served = Commanded::start(Dialect::HASKELL);
    served.load(r#"{"n":1.0,"o":{"b":[1e3],"a":2}}"#);
    let mut client = served.client();
    for (condition, path, holds) in [
        ("1", "n", true),
        (r#"{"a":2,"b":[1000.0]}"#, "o", true),
        ("{}", "missing", true),
        ("2", "n", false),
        ("{}", "o", false),
        ("1", "missing", false),
    ] {
        let reply = client.ask(&["--if", condition, path, "--set", "7"]);
        assert_eq!(reply, if holds { "" } else { "error: changed meanwhile" }, "{condition} {path}");
        client.ask(&["--set", r#"{"n":1.0,"o":{"b":[1e3],"a":2}}"#]);
    }
}

#[test]
fn a_token_is_said_first_and_rightly() {
    let token = Some(Token::new("sesame").unwrap());
    let served = Commanded::tuned(Dialect::HASKELL, Settings { token, ..Settings::default() });
    let mut client = served.client();
    assert_eq!(client.ask(&["--token", "sesame"]), "");
    assert_eq!(client.ask(&["a", "=", "b"]) + &client.ask(&["a"]), "b");
    for first in [&["a"][..], &["--token", "sesam"], &["--token", "sesame!"], &["--token", ""], &["--token"], &[]] {
        let mut client = served.client();
        assert!(client.ask(first).starts_with("error: "), "{first:?}");
        assert_eq!(client.reply(), None, "{first:?}");
    }
    // Nobody unknown may announce much.
    let mut client = served.client();
    client.0.write_all(&100_000u32.to_be_bytes()).unwrap();
    assert!(client.reply().unwrap().starts_with("error: "));
    // Where none is needed one may be said.
    let open = Commanded::start(Dialect::HASKELL);
    assert_eq!(open.client().ask(&["--token", "whatever"]), "");
}

#[test]
fn no_other_interface_is_opened_without_a_token() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bind = |token: Option<Token>, proxy: bool| {
        let listen = SocketAddr::from(([0, 0, 0, 0], 0));
        let settings = Settings { token, ..Settings::default() };
        let database = recension_apocrypha::Database::on(&Store::memory().unwrap(), Dialect::HASKELL).unwrap();
        let backend = if proxy { Backend::Proxy("127.0.0.1:1".into()) } else { Backend::Database(database) };
        runtime.block_on(Apocrypha::bind(ApocryphaConfig { listen, settings, ..ApocryphaConfig::default() }, backend))
    };
    assert!(bind(None, false).unwrap_err().to_string().contains("token"));
    assert!(bind(Token::new("sesame"), true).is_err());
    assert!(bind(Token::new("sesame"), false).is_ok());
}

#[test]
fn a_unix_socket_needs_no_token_and_goes_with_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let settings = Settings { token: Token::new("sesame"), ..Settings::default() };
    let config = ApocryphaConfig { unix_socket: Some(path.clone()), settings, ..ApocryphaConfig::default() };
    let served = Commanded::with(Dialect::HASKELL, config);
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "whatever the umask");
    let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
    stream.write_all(&[request(&["a", "=", "b"]), request(&["a"])].concat()).unwrap();
    let mut replies = [0; 9];
    stream.read_exact(&mut replies).unwrap();
    assert_eq!(&replies, b"\0\0\0\0\0\0\0\x01b");
    drop(stream);
    drop(served);
    assert!(!path.exists());
}

#[test]
fn a_proxy_passes_frames_on_and_says_when_nobody_is_there() {
    let behind = Commanded::start(Dialect::PYTHON);
    let proxy =
        |to: String| Commanded::backed(Backend::Proxy(to), Store::memory().unwrap(), ApocryphaConfig::default());
    let front = proxy(behind.address.to_string());
    let mut client = front.client();
    assert_eq!(client.ask(&["a", "=", "b"]), "");
    assert_eq!(client.ask(&["a"]), "b\n");
    assert_eq!(behind.client().ask(&["a"]), "b\n");
    // A port that was free a moment ago.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let lost = proxy(nobody.to_string());
    let mut client = lost.client();
    assert!(client.reply().unwrap().starts_with("error: "));
}

#[test]
fn what_was_asked_is_answered_when_the_server_stops() {
    let served = Commanded::start(Dialect::HASKELL);
    let mut idle = served.client();
    idle.ask(&["a", "=", "b"]);
    let waiting = TcpStream::connect(served.address).unwrap();
    drop(served);
    assert_eq!(idle.reply(), None);
    drop(waiting);
}

/// A browser sends such a request for any page, to any port.
#[test]
fn a_web_page_is_not_obeyed() {
    let served = Commanded::start(Dialect::HASKELL);
    for method in ["POST", "PUT", "GET", "OPTIONS"] {
        let mut client = served.client();
        let page = format!("{method} / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
        let _ = client.0.write_all(&[page.as_bytes(), &request(&["a", "=", "b"])].concat());
        let mut said = Vec::new();
        let _ = client.0.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("announces") && said.matches("error").count() == 1, "{method}: {said}");
        assert_eq!(served.client().ask(&["a"]), "", "{method}");
    }
}
