//! Networks that lose requests and answers, and members of a cluster that are killed: nothing that was acknowledged
//! is lost,
//! nothing is there twice.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use recension_conformance::sim::Rng;
use recension_log::{Appended, LogAddress, Position, ReplicatedEngine, SharedLog, open_log};

use crate::nodes::{Told, check, write};
use crate::support::{System, node, try_node};

/// Whether faults happen.
type Faults = Arc<AtomicBool>;

/// Percent of what passes a proxy that ends its connection.
const PERCENT: u64 = 3;

/// Passes on what comes to a new port to `to`; while there are faults, some connections end before something has been
/// passed
/// on: a request, or an answer. Returns the port. It ends with the process.
fn proxy(to: String, faults: Faults, seed: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let next = AtomicU64::new(seed * 1_000_000);
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let Ok(server) = TcpStream::connect(&to) else { continue };
            let ways = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
            for (from, to) in ways {
                let (Ok(from), Ok(to)) = (from, to) else { break };
                let (faults, rng) = (faults.clone(), Rng::new(next.fetch_add(1, Ordering::Relaxed)));
                std::thread::spawn(move || pass(from, to, &faults, rng));
            }
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, faults: &AtomicBool, mut rng: Rng) {
    let mut bytes = vec![0; 64 << 10];
    while let Ok(len) = from.read(&mut bytes) {
        let ends = faults.load(Ordering::Relaxed) && rng.percent(PERCENT);
        if len == 0 || ends || to.write_all(&bytes[..len]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// The address with proxies in place of every server.
fn through_proxies(address: &str, faults: &Faults, seed: u64) -> String {
    let mut parts = address.split("127.0.0.1:");
    let mut through = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let port = proxy(format!("127.0.0.1:{}", &part[..digits]), faults.clone(), seed);
        let rest = &part[digits..];
        through = format!("{through}127.0.0.1:{port}{rest}");
    }
    through
}

/// Requests and answers are lost on the way.
pub(crate) fn what_is_lost_on_the_way_loses_nothing(system: &System) {
    const NODES: usize = 2;
    const WRITERS: usize = 3;
    let Some(of) = &system.address else { return };
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let faults: Faults = Arc::default();
    let engines: Vec<ReplicatedEngine> = (0..NODES)
        .map(|n| {
            let address = LogAddress::parse(&through_proxies(&of(&name), &faults, n as u64)).unwrap();
            let log: Arc<dyn SharedLog> = open_log(&address).unwrap();
            node(log, &folder.path().join(n.to_string()))
        })
        .collect();
    let (told, start) = (Told::default(), Barrier::new(NODES * WRITERS));
    faults.store(true, Ordering::Relaxed);
    std::thread::scope(|scope| {
        for (n, engine) in engines.iter().enumerate() {
            let (told, start) = (&told, &start);
            scope.spawn(move || write(engine, n, WRITERS, 25, told, start));
        }
    });
    faults.store(false, Ordering::Relaxed);
    assert!(!told.acknowledged.lock().unwrap().is_empty());
    let direct = node((system.open)(&name), &folder.path().join("direct"));
    let mut all: Vec<_> = engines.iter().collect();
    all.push(&direct);
    check(&all, &told);
}

/// A member of the system's cluster is killed while nodes write.
pub(crate) fn a_member_that_is_killed_stops_nobody(system: &System) {
    const NODES: usize = 2;
    const WRITERS: usize = 4;
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let engines: Vec<_> =
        (0..NODES).map(|n| try_node((system.open)(&name), &folder.path().join(n.to_string())).unwrap()).collect();
    let (told, start) = (Told::default(), Barrier::new(NODES * WRITERS));
    std::thread::scope(|scope| {
        for (n, engine) in engines.iter().enumerate() {
            let (told, start) = (&told, &start);
            scope.spawn(move || write(engine, n, WRITERS, 40, told, start));
        }
        crate::support::until("some commits are made", || told.acknowledged.lock().unwrap().len() > 20);
        let member = system.members[0];
        let member = rustix::process::Pid::from_raw(member.cast_signed()).unwrap();
        rustix::process::kill_process(member, rustix::process::Signal::KILL).unwrap();
    });
    assert!(told.refused.lock().unwrap().is_empty(), "patience is longer than an election");
    check(&engines.iter().collect::<Vec<_>>(), &told);
}

/// TLS is spoken with whom a certificate vouches for, and with nobody else.
pub(crate) fn tls_is_checked(system: &System) {
    let (Some(of), Some(certificate)) = (&system.tls_address, &system.certificate) else { return };
    let name = system.fresh_name();
    let open = |certificate: &Path| {
        let address = of(&name);
        let and = if address.contains('?') { '&' } else { '?' };
        open_log(&LogAddress::parse(&format!("{address}{and}ca={}", certificate.display())).unwrap())
    };
    let log = open(Path::new(certificate)).unwrap();
    assert_eq!(log.append(Position::FIRST, b"over TLS").unwrap(), Appended::Written);
    assert_eq!(log.read(Position::FIRST, 1).unwrap(), [(Position::FIRST, b"over TLS".to_vec())]);
    log.wait_for(Position::FIRST, Duration::from_millis(50));
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.pem");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=other"])
        .args(["-keyout", "/dev/null", "-out"])
        .arg(&other)
        .output();
    assert!(made.expect("apt-get install openssl").status.success());
    let refused = open(&other).map(drop).unwrap_err().to_string();
    assert!(refused.to_lowercase().contains("certificate"), "nobody vouches for it: {refused}");
    let missing = open(&folder.path().join("missing.pem")).map(drop).unwrap_err().to_string();
    assert!(missing.contains("missing.pem"), "{missing}");
}

/// Wrong passwords are refused; no password is repeated.
pub(crate) fn passwords_are_checked_and_not_repeated(system: &System) {
    let Some(of) = &system.address else { return };
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong");
    std::fs::write(&wrong, "falsch").unwrap();
    let address = of(&name).replace("password-file=", "cache=");
    let address = LogAddress::parse(&format!("{address}&password-file={}", wrong.display())).unwrap();
    let refused = open_log(&address).map(drop).unwrap_err();
    let said = format!("{refused} {refused:?} {address} {address:?}");
    assert!(!said.contains("falsch") && !said.contains("geheim"), "{said}");
    let log = open_log(&LogAddress::parse(&of(&name)).unwrap()).unwrap();
    assert!(!format!("{:?}", log.profile()).contains("geheim"));
}
