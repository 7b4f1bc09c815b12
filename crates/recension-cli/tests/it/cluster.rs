//! Stores on a shared log as users have them: several servers on one log, and stores that move. The log lies in a
//! folder, so that no other system is needed; crates/recension-log tries the systems.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::Place;

/// A server on the log of a place.
struct Node {
    process: Child,
    address: String,
}

impl Node {
    fn start(place: &Place, name: &str) -> Self {
        let store = address(place, name);
        let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--log", "warn", &store]);
        let mut process = command.env("RECENSION_ADMIN", "adm:pass").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("listening on http://").trim_end_matches('/').to_owned();
        Node { process, address }
    }

    fn ask_as(&self, headers: &str, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let len = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Type: application/json\r\nContent-Length: \
                {len}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        // adm:pass
        self.ask_as("Authorization: Basic YWRtOnBhc3M=\r\n", method, path, body)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The address of the log of a place, for the node of a name.
fn address(place: &Place, node: &str) -> String {
    let path = place.path().display();
    format!("file://{path}/log?cache={path}/cache-{node}&node={node}")
}

#[test]
fn what_is_written_on_one_server_is_there_on_all() {
    let place = Place::new();
    let nodes = ["one", "two", "three"].map(|name| Node::start(&place, name));
    let [one, two, three] = &nodes;
    assert!(one.ask("PUT", "/db", "").starts_with("HTTP/1.1 201"));
    assert!(two.ask("PUT", "/db?fresh=true", "").starts_with("HTTP/1.1 412"), "it is there");
    assert!(two.ask("PUT", "/db/a", r#"{"n":1}"#).starts_with("HTTP/1.1 201"));
    let answer = three.ask("GET", "/db/a?fresh=true", "");
    assert!(answer.contains(r#""n":1"#), "{answer}");
    // A replacement without the revision is a conflict everywhere.
    assert!(one.ask("PUT", "/db/a?fresh=true", r#"{"n":2}"#).starts_with("HTTP/1.1 409"));
    // A feed that waits on one node is woken by what is written on another.
    let since = three.ask("GET", "/db/_changes?fresh=true", "");
    let since = since.rsplit(r#""last_seq":"#).next().unwrap().split(',').next().unwrap().trim_matches('"').to_owned();
    std::thread::scope(|scope| {
        let feed =
            scope.spawn(|| three.ask("GET", &format!("/db/_changes?feed=longpoll&timeout=50000&since={since}"), ""));
        assert!(one.ask("PUT", "/db/b", r#"{"n":3}"#).starts_with("HTTP/1.1 201"));
        let answer = feed.join().unwrap();
        assert!(answer.contains(r#""id":"b""#), "{answer}");
    });
    // A session of one node, and a user who was made on another.
    let user = r#"{"name":"ada","password":"lovelace","roles":[],"type":"user"}"#;
    let made = two.ask("PUT", "/_users/org.couchdb.user:ada", user);
    assert!(made.starts_with("HTTP/1.1 201"), "{made}");
    let session = one.ask_as("", "POST", "/_session?fresh=true", r#"{"name":"ada","password":"lovelace"}"#);
    assert!(session.starts_with("HTTP/1.1 200"), "{session}");
    let cookie = session.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).unwrap();
    let cookie = cookie.split_once(':').unwrap().1.split(';').next().unwrap().trim();
    let answer = three.ask_as(&format!("Cookie: {cookie}\r\n"), "GET", "/_session?fresh=true", "");
    assert!(answer.contains(r#""name":"ada""#), "{answer}");
    // Who may read a database, everywhere.
    let security = r#"{"members":{"names":["grace"],"roles":[]},"admins":{"names":[],"roles":[]}}"#;
    assert!(one.ask("PUT", "/db/_security", security).starts_with("HTTP/1.1 200"));
    let answer = two.ask_as(&format!("Cookie: {cookie}\r\n"), "GET", "/db/a?fresh=true", "");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        let status = place.ok(&["cluster", "status", "--json", "--store", &address(&place, "asks")]);
        let live = status.matches(r#""live":true"#).count();
        if live == 3 && status.matches(r#""behind":0"#).count() == 3 {
            break;
        }
        assert!(Instant::now() < end, "{status}");
        std::thread::sleep(Duration::from_millis(100));
    }
    // One node dies; the others go on, and it comes back.
    let [mut one, two, three] = nodes;
    one.process.kill().unwrap();
    assert!(two.ask("PUT", "/db/c", r#"{"n":4}"#).starts_with("HTTP/1.1 201"));
    drop(one);
    let one = Node::start(&place, "one");
    assert!(one.ask("GET", "/db/c", "").contains(r#""n":4"#));
    drop((one, two, three));
    let verified = place.ok(&["verify", "--store", &address(&place, "one")]);
    assert!(!verified.is_empty());
}

/// The newest commit that an answer may show.
fn seq_of(answer: &str) -> u64 {
    let header = answer.lines().find_map(|line| line.strip_prefix("x-recension-seq: "));
    header.unwrap_or_else(|| panic!("{answer}")).trim().parse().unwrap()
}

#[test]
fn a_client_finds_its_own_writes_on_another_server() {
    let place = Place::new();
    let (one, two) = (Node::start(&place, "one"), Node::start(&place, "two"));
    let read = |path: &str, seq: u64| {
        two.ask_as(&format!("Authorization: Basic YWRtOnBhc3M=\r\nX-Recension-Seq: {seq}\r\n"), "GET", path, "")
    };
    assert!(one.ask("PUT", "/db", "").starts_with("HTTP/1.1 201"));
    let mut rev = String::new();
    for n in 0..20 {
        let written = one.ask("PUT", "/db/a", &format!(r#"{{"n":{n}{rev}}}"#));
        assert!(written.starts_with("HTTP/1.1 201"), "{written}");
        let answer = read("/db/a", seq_of(&written));
        assert!(answer.contains(&format!(r#""n":{n}"#)) && seq_of(&answer) >= seq_of(&written), "{answer}");
        let new = written.split(r#""rev":""#).nth(1).unwrap().split('"').next().unwrap();
        rev = format!(r#","_rev":"{new}""#);
    }
    // Who asks for what is not there yet waits for it.
    let next = seq_of(&two.ask("GET", "/db/a?fresh=true", "")) + 1;
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| {
            let end = Instant::now() + Duration::from_mins(1);
            loop {
                let answer = read("/db/late", next);
                if !answer.starts_with("HTTP/1.1 503") || Instant::now() > end {
                    return answer;
                }
            }
        });
        let written = one.ask("PUT", "/db/late", r#"{"n":0}"#);
        let answer = waits.join().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && seq_of(&answer) >= seq_of(&written), "{answer}");
    });
    // And not for ever.
    let refused = read("/db/late", u64::MAX);
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("up to commit"), "{refused}");
    let nonsense = two.ask_as("X-Recension-Seq: soon\r\n", "GET", "/", "");
    assert!(nonsense.starts_with("HTTP/1.1 400") && nonsense.contains("X-Recension-Seq"), "{nonsense}");
}

/// nginx that passes on connections as the guide says, to these servers.
fn nginx(place: &Place, nodes: &[Node]) -> Node {
    const MODULE: &str = "/usr/lib/nginx/modules/ngx_stream_module.so";
    assert!(std::path::Path::new(MODULE).exists(), "nginx passes on no connections: install libnginx-mod-stream");
    let guide = include_str!("../../../../docs/src/shared-log.md");
    let snippet = guide.split("```nginx\n").nth(1).unwrap().split("```").next().unwrap();
    let listen = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = snippet.replace("listen 5984;", &format!("listen {listen};"));
    for (node, documented) in nodes.iter().zip(["10.0.0.1:5984", "10.0.0.2:5984", "10.0.0.3:5984"]) {
        assert!(config.contains(documented));
        config = config.replace(documented, &node.address);
    }
    let at = place.path().display();
    let head = format!(
        "load_module {MODULE};\ndaemon off; master_process off;\npid {at}/nginx.pid; error_log {at}/nginx.log;\n\
         events {{}}\n"
    );
    let file = place.path().join("nginx.conf");
    std::fs::write(&file, head + &config).unwrap();
    let mut command = std::process::Command::new("nginx");
    let process = command.arg("-p").arg(place.path()).arg("-c").arg(&file).spawn().expect("install nginx-light");
    let end = Instant::now() + Duration::from_mins(1);
    while TcpStream::connect(listen).is_err() {
        assert!(Instant::now() < end, "nginx does not listen: {}", std::fs::read_to_string(file).unwrap());
        std::thread::sleep(Duration::from_millis(20));
    }
    Node { process, address: listen.to_string() }
}

#[test]
fn behind_nginx_a_client_sees_one_store_also_if_a_server_dies() {
    let place = Place::new();
    let mut nodes = ["one", "two", "three"].map(|name| Node::start(&place, name));
    let front = nginx(&place, &nodes);
    assert!(front.ask("PUT", "/db", "").starts_with("HTTP/1.1 201"));
    for n in 0..30 {
        if n == 10 {
            nodes[1].process.kill().unwrap();
            nodes[1].process.wait().unwrap();
        }
        let written = front.ask("PUT", &format!("/db/{n}"), &format!(r#"{{"n":{n}}}"#));
        assert!(written.starts_with("HTTP/1.1 201"), "{n}: {written}");
        let own = format!("Authorization: Basic YWRtOnBhc3M=\r\nX-Recension-Seq: {}\r\n", seq_of(&written));
        let read = front.ask_as(&own, "GET", &format!("/db/_all_docs?limit=1&startkey=%22{n}%22"), "");
        assert!(read.contains(&format!(r#""id":"{n}""#)), "{n}: {read}");
    }
}

#[test]
fn a_store_moves_to_a_log_and_back_and_its_old_places_say_where_it_is() {
    let place = Place::new();
    place.ok_with(&["put", "menu", "pizza", "--store", "first"], br#"{"price": 9}"#);
    let log = address(&place, "one");
    let moved = place.ok(&["move", "first", &log]);
    assert!(moved.contains("\"seq\":"), "{moved}");
    let refused = place.fails(6, &["get", "menu", "pizza", "--store", "first"]);
    assert!(refused.contains("file://"), "{refused}");
    assert!(place.ok(&["get", "menu", "pizza", "--store", &log]).contains("\"price\":9"));
    place.ok_with(&["put", "menu", "soup", "--store", &log], br#"{"price": 4}"#);
    // Another node begins with the snapshot that the store came as.
    assert!(place.ok(&["get", "menu", "pizza", "--store", &address(&place, "two")]).contains("\"price\":9"));
    // A move that is repeated changes nothing, and the log has gone on.
    place.ok(&["move", "first", &log]);
    assert!(place.ok(&["get", "menu", "soup", "--store", &log]).contains("\"price\":4"));
    place.ok(&["move", &log, "second"]);
    assert!(place.ok(&["get", "menu", "soup", "--store", "second"]).contains("\"price\":4"));
    let refused = place.fails_with(6, &["put", "menu", "cake", "--store", &log], br#"{"price": 5}"#);
    assert!(refused.contains("second"), "{refused}");
    assert!(place.ok(&["get", "menu", "soup", "--store", &log]).contains("\"price\":4"), "reads go on");
    let other = format!("file://{}/other-log?cache={0}/other-cache", place.path().display());
    place.ok(&["move", "second", &other]);
    assert!(place.ok(&["get", "menu", "soup", "--store", &other]).contains("\"price\":4"));
    place.ok(&["verify", "--store", &other]);
}

#[test]
fn a_store_moves_while_a_server_has_it_open() {
    const WRITERS: usize = 3;
    let place = Place::new();
    place.ok_with(&["put", "menu", "pizza", "--store", "first"], br#"{"price": 9}"#);
    let mut server = place.command(&["serve", "--listen", "127.0.0.1:0", "--log", "warn", "first"]);
    let mut process = server.env("RECENSION_ADMIN", "adm:pass").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address_of = line.trim().trim_start_matches("listening on http://").trim_end_matches('/').to_owned();
    let node = Node { process, address: address_of };
    let log = address(&place, "one");
    let acknowledged = AtomicU64::new(0);
    // Writers go on until they are told where the store is.
    let written: Vec<u64> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (node, acknowledged) = (&node, &acknowledged);
                scope.spawn(move || {
                    for n in 0.. {
                        let answer = node.ask("PUT", &format!("/menu/w{writer}-{n}"), r#"{"price":1}"#);
                        if !answer.starts_with("HTTP/1.1 201") {
                            assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("file://"), "{answer}");
                            return n;
                        }
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    }
                    unreachable!("the store moves")
                })
            })
            .collect();
        let end = Instant::now() + Duration::from_mins(1);
        while acknowledged.load(Ordering::Relaxed) < 20 {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(2));
        }
        place.ok(&["move", "first", &log]);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    assert!(node.ask("GET", "/menu/pizza", "").contains("\"price\":9"), "reads go on");
    for (writer, &count) in written.iter().enumerate() {
        for n in [0, count.saturating_sub(1)].into_iter().filter(|n| *n < count) {
            place.ok(&["get", "menu", &format!("w{writer}-{n}"), "--store", &log]);
        }
    }
    let all = place.ok(&["find", "menu", "--store", &log, "--limit", "100000"]);
    assert_eq!(all.lines().count() as u64, 1 + written.iter().sum::<u64>(), "neither lost nor more");
    drop(node);
    let refused = place.fails(6, &["get", "menu", "pizza", "--store", "first"]);
    assert!(refused.contains("file://") && !refused.contains("cache="), "{refused}");
    place.ok(&["move", "first", &log]);
}

#[test]
fn a_log_moves_to_another_log_while_nodes_have_it_open() {
    let place = Place::new();
    let node = Node::start(&place, "one");
    assert!(node.ask("PUT", "/menu", "").starts_with("HTTP/1.1 201"));
    assert!(node.ask("PUT", "/menu/pizza", r#"{"price":9}"#).starts_with("HTTP/1.1 201"));
    let path = place.path().display().to_string();
    let other = format!("file://{path}/other-log?cache={path}/other-cache");
    let from = address(&place, "mover");
    place.ok(&["move", &from, &other]);
    let refused = node.ask("PUT", "/menu/soup", r#"{"price":4}"#);
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("other-log"), "{refused}");
    assert!(node.ask("GET", "/menu/pizza", "").contains("\"price\":9"), "reads go on");
    place.ok_with(&["put", "menu", "soup", "--store", &other], br#"{"price": 4}"#);
    // The move was made: it does nothing again, and the store goes to no third place.
    place.ok(&["move", &from, &other]);
    let refused = place.fails(6, &["move", &from, &format!("file://{path}/third?cache={path}/third-cache")]);
    assert!(refused.contains("other-log"), "{refused}");
    // A place that is taken is refused before anything is closed.
    let taken = place.fails(6, &["move", &other, &from]);
    assert!(taken.contains("there is a store already"), "{taken}");
    std::fs::create_dir(place.path().join("taken")).unwrap();
    std::fs::write(place.path().join("taken/file"), "x").unwrap();
    let taken = place.fails(6, &["move", &other, "taken"]);
    assert!(taken.contains("other files"), "{taken}");
    place.ok_with(&["put", "menu", "cake", "--store", &other], br#"{"price": 5}"#);
    place.ok(&["move", &other, "last"]);
    assert!(place.ok(&["get", "menu", "cake", "--store", "last"]).contains("\"price\":5"));
    let refused = place.fails_with(6, &["put", "menu", "tea", "--store", &other], br#"{"price": 1}"#);
    assert!(refused.contains(&format!("{path}/last")), "{refused}");
    place.ok(&["move", &other, "last"]);
}

#[test]
fn a_directory_that_another_process_keeps_for_itself_is_not_moved() {
    let place = Place::new();
    place.ok_with(&["put", "menu", "pizza", "--store", "first"], br#"{"price": 9}"#);
    let alone = recension::open(place.path().join("first").to_str().unwrap()).unwrap();
    let refused = place.fails(6, &["move", "first", &address(&place, "one")]);
    assert!(refused.contains("end that process"), "{refused}");
    drop(alone);
    place.ok(&["move", "first", &address(&place, "one")]);
}

#[test]
fn an_address_with_a_password_is_refused_and_not_repeated() {
    let place = Place::new();
    let refused = place.fails(2, &["get", "a", "b", "--store", "postgres://ada:tops3cret@127.0.0.1:1/db?log=x"]);
    assert!(refused.contains("password-file") && !refused.contains("tops3cret"), "{refused}");
    let missing = place.fails(6, &["get", "a", "b", "--store", &address(&place, "one")]);
    assert!(missing.contains("there is no store"), "{missing}");
}

#[test]
fn passwords_are_in_no_list_of_processes_no_log_and_no_error() {
    let place = Place::new();
    std::fs::write(place.path().join("secret"), "tops3cret\n").unwrap();
    let file = place.path().join("secret").display().to_string();
    for (scheme, path, more) in [
        ("postgres", "db?log=x", ""),
        ("mysql", "db?log=x", ""),
        ("mongodb", "db?log=x", ""),
        ("etcd", "x", ""),
        ("s3", "x?region=eu", "&endpoint=http://"),
    ] {
        for by_file in [false, true] {
            // Somebody who takes the call and says nothing.
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let at = listener.local_addr().unwrap();
            let mut address = match more {
                "" => format!("{scheme}://ada@{at}/{path}"),
                more => format!("{scheme}://ada@bucket/{path}{more}{at}"),
            };
            if by_file {
                let and = if address.contains('?') { '&' } else { '?' };
                address = format!("{address}{and}password-file={file}");
            }
            let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--log", "trace", &address]);
            if !by_file {
                command.env("RECENSION_LOG_PASSWORD", "tops3cret");
            }
            let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let call = listener.accept().unwrap();
            let arguments = std::fs::read(format!("/proc/{}/cmdline", process.id())).unwrap();
            assert!(!String::from_utf8_lossy(&arguments).contains("tops3cret"));
            drop((call, listener));
            let ended = process.wait_with_output().unwrap();
            assert!(!ended.status.success(), "{scheme}");
            let said = [ended.stdout, ended.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            let named = if more.is_empty() { "127.0.0.1" } else { "bucket" };
            assert!(said.contains(named) && !said.contains("tops3cret"), "{scheme}: {said}");
        }
    }
    for address in ["mysql://u@127.0.0.1:1/db?log=x&password=tops3cret", "s3://b/x?secret_key=tops3cret"] {
        let refused = place.fails(2, &["get", "a", "b", "--store", address]);
        assert!(!refused.contains("tops3cret"), "{refused}");
    }
}
