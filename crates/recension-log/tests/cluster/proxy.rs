//! A way to a log's server that can be made bad: nothing comes through, everything comes late, connections end when a
//! request has been passed on, or before its answer is.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// What becomes of what passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Way {
    /// All of it, at once.
    Open,
    /// Nothing, and nobody is told: a partition.
    Dropped,
    /// All of it, late.
    Late,
    /// A request is passed on, and then its connection ends, now and then.
    ClosedAfterSending,
    /// An answer is kept, and its connection ends, now and then.
    ClosedBeforeAnswering,
    /// Connections end, and new ones are refused.
    Closed,
}

const WAYS: [Way; 6] =
    [Way::Open, Way::Dropped, Way::Late, Way::ClosedAfterSending, Way::ClosedBeforeAnswering, Way::Closed];
/// How late what is late comes.
const LATE: Duration = Duration::from_millis(20);
/// How often a connection looks at its way while nothing passes.
const LOOK: Duration = Duration::from_millis(20);
/// One of this many pieces that pass ends its connection, if some do.
const ONE_OF: u64 = 25;

/// The ways of one node to every server.
#[derive(Default)]
pub(crate) struct Ways {
    way: AtomicU8,
    passed: AtomicU64,
}

impl Ways {
    pub(crate) fn set(&self, way: Way) {
        self.way.store(way as u8, Ordering::SeqCst);
    }

    fn now(&self) -> Way {
        WAYS[usize::from(self.way.load(Ordering::SeqCst))]
    }

    fn ends_now(&self) -> bool {
        self.passed.fetch_add(1, Ordering::Relaxed) % ONE_OF == ONE_OF - 1
    }
}

/// The address with a way in place of every server on loopback.
pub(crate) fn through(address: &str, ways: &Arc<Ways>) -> String {
    let mut parts = address.split("127.0.0.1:");
    let mut through = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let port = listen(format!("127.0.0.1:{}", &part[..digits]), ways.clone());
        through = format!("{through}127.0.0.1:{port}{}", &part[digits..]);
    }
    through
}

/// Passes on what comes to a new port. It ends with the process.
fn listen(to: String, ways: Arc<Ways>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            if ways.now() == Way::Closed {
                continue;
            }
            let Ok(server) = TcpStream::connect(&to) else { continue };
            let _ = (client.set_nodelay(true), server.set_nodelay(true));
            let ends = [(client.try_clone(), server.try_clone(), true), (Ok(server), Ok(client), false)];
            for (from, to, is_request) in ends {
                let (Ok(from), Ok(to)) = (from, to) else { break };
                let ways = ways.clone();
                std::thread::spawn(move || pass(from, to, is_request, &ways));
            }
        }
    });
    port
}

fn pass(mut from: TcpStream, mut to: TcpStream, is_request: bool, ways: &Ways) {
    let _ = from.set_read_timeout(Some(LOOK));
    let mut bytes = vec![0; 64 << 10];
    loop {
        let len = match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(len) => len,
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
                if ways.now() == Way::Closed {
                    break;
                }
                continue;
            }
            Err(_) => break,
        };
        // What is held back comes through when the way is open again, as with a network that was parted.
        while ways.now() == Way::Dropped {
            std::thread::sleep(LOOK);
        }
        let way = ways.now();
        let ends = match way {
            Way::ClosedAfterSending => is_request && ways.ends_now(),
            Way::ClosedBeforeAnswering => !is_request && ways.ends_now(),
            Way::Closed => true,
            Way::Open | Way::Dropped | Way::Late => false,
        };
        if way == Way::Late {
            std::thread::sleep(LATE);
        }
        let passes = way != Way::Closed && (is_request || !ends);
        if passes && to.write_all(&bytes[..len]).is_err() || ends {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
