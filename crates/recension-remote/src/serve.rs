//! The owner's side: a thread that accepts connections, and one for each of them.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use recension_engine::{Engine, EngineError, Result, Seq};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::answer::Answer;
use crate::door::{Arrival, Door, InFolder, Opened};
use crate::execute::execute;
use crate::limits::{MESSAGE_BYTES_MAX, WAIT_MILLISECONDS_MAX};
use crate::makers::{Encoded, Makers};
use crate::request::Request;
use crate::room::{self, Bounds, Receiving};
use crate::wire::Wire;
use crate::{PROTOCOL_VERSION, frame, socket};

/// Connections beyond those that are served that are told why they are not.
const TOLD_MAX: usize = 16;

/// Bytes that are read at once. Longer messages are read where they belong. The allocator keeps such a buffer in a
/// small page; with a larger one each of many connections has half a megabyte of pages that others made dirty.
const BUFFER_BYTES: usize = 8 << 10;

/// An engine that other processes reach through the socket in its folder, for as long as this lives. Dropping it
/// removes the socket and waits for requests under way.
pub struct Listening {
    shared: Arc<Shared>,
    taking: Option<JoinHandle<()>>,
}

struct Shared {
    engine: Arc<dyn Engine>,
    door: Box<dyn Door>,
    stopping: AtomicBool,
    connections: Arc<Mutex<BTreeMap<u64, Served>>>,
    bounds: Bounds,
    makers: Makers,
}

/// A connection and the thread that serves it.
struct Served {
    socket: OwnedFd,
    thread: Option<JoinHandle<()>>,
    /// It is known who it is.
    admitted: bool,
}

impl Listening {
    /// Listens in `folder`, the store's own, whose lock the caller holds as long as this lives.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn start(engine: Arc<dyn Engine>, folder: &Path) -> Result<Self> {
        let door = InFolder::new(folder.to_owned(), socket::listen(folder, socket::SOCKET_FILE)?);
        Self::at(engine, Box::new(door), Bounds::default())
    }

    pub(crate) fn at(engine: Arc<dyn Engine>, door: Box<dyn Door>, bounds: Bounds) -> Result<Self> {
        let (stopping, connections) = (AtomicBool::new(false), Arc::default());
        let shared = Arc::new(Shared { engine, door, stopping, connections, bounds, makers: Makers::default() });
        let taking = {
            let shared = Arc::clone(&shared);
            spawn("recension-door", move || take_connections(&shared))?
        };
        Ok(Listening { shared, taking: Some(taking) })
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.shared.door.close();
        self.shared.stopping.store(true, Ordering::SeqCst);
        // It wakes the thread that accepts.
        let _ = rustix::net::shutdown(self.shared.door.socket(), rustix::net::Shutdown::Both);
        if let Some(taking) = self.taking.take() {
            let _ = taking.join();
        }
        let connections = std::mem::take(&mut *self.shared.connections.lock());
        // Requests that were sent before are answered. The system refuses later ones, so no client is in doubt.
        for served in connections.values() {
            let _ = rustix::net::shutdown(&served.socket, rustix::net::Shutdown::Read);
        }
        for thread in connections.into_values().filter_map(|served| served.thread) {
            let _ = thread.join();
        }
    }
}

pub(crate) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map_err(|error| EngineError::io(format!("starting the thread {name}"), error))
}

fn take_connections(shared: &Arc<Shared>) {
    let mut number = 0;
    while !shared.stopping.load(Ordering::SeqCst) {
        let Ok(arrival) = shared.door.accept() else {
            // Either there are no file descriptors left, and connections will end meanwhile, or this is stopping.
            std::thread::sleep(Duration::from_millis(5));
            continue;
        };
        number += 1;
        // A connection that cannot be served is closed, and its client reports that.
        let _ = begin(shared, number, arrival);
    }
}

fn begin(shared: &Arc<Shared>, number: u64, arrival: Box<dyn Arrival>) -> Result<()> {
    let failed = |error| EngineError::io("taking a connection", error);
    let socket = arrival.socket().try_clone_to_owned().map_err(failed)?;
    let refused = {
        let mut connections = shared.connections.lock();
        let most = shared.bounds.connections;
        let refused = connections.len() >= most;
        if refused {
            // The one that has been waited for longest to say who it is makes room for the next.
            if let Some(silent) = connections.values().find(|served| !served.admitted) {
                let _ = rustix::net::shutdown(&silent.socket, rustix::net::Shutdown::Both);
            }
        }
        // Few are told why.
        if connections.len() >= most + TOLD_MAX {
            return Ok(());
        }
        connections.insert(number, Served { socket, thread: None, admitted: false });
        refused
    };
    let thread = {
        let shared = Arc::clone(shared);
        spawn("recension-client", move || {
            // However it ends, its client sees that.
            let _ = arrival.open().and_then(|mut opened| {
                if refused {
                    let why = format!("its owner serves {} connections already", shared.bounds.connections);
                    return frame::write(
                        &mut opened.wire,
                        0,
                        &Answer::Failed(EngineError::Unavailable { why }).encode(),
                    );
                }
                if let Some(served) = shared.connections.lock().get_mut(&number) {
                    served.admitted = true;
                }
                converse(&shared, opened)
            });
            let connections = Arc::clone(&shared.connections);
            // Closing the store waits for the listed connections: once this one is not listed, nothing may hold the
            // engine.
            drop(shared);
            connections.lock().remove(&number);
        })
    };
    let mut connections = shared.connections.lock();
    match thread {
        // If the connection has ended already, its thread need not be waited for.
        Ok(thread) => _ = connections.get_mut(&number).map(|served| served.thread = Some(thread)),
        Err(_) => _ = connections.remove(&number),
    }
    Ok(())
}

/// Answers one request after the other, in their order.
fn converse(shared: &Shared, Opened { wire, still }: Opened) -> io::Result<()> {
    let distant = wire.is_network();
    let mut from = BufReader::with_capacity(BUFFER_BYTES, wire);
    let mut greeted = false;
    loop {
        let mut receiving = Receiving::new(&shared.bounds);
        let message = frame::read_at_most(&mut from, MESSAGE_BYTES_MAX, &mut receiving)?;
        let Some(message) = message else { return Ok(()) };
        let request = Request::decode(&message.payload);
        drop(message.payload);
        let mut made = None;
        let answer = match request {
            _ if still.as_ref().is_some_and(|still| !still()) => {
                let why = "the server does not let in any more who asks: log in again";
                let answer = Answer::Failed(EngineError::Unavailable { why: why.to_owned() });
                // The connection is refused, and nothing was done.
                frame::write(from.get_mut(), 0, &answer.encode())?;
                return from.get_mut().flush();
            }
            Ok(Request::Hello { version }) if version != PROTOCOL_VERSION => Answer::Failed(other_version(version)),
            Ok(request @ Request::Hello { .. }) => {
                greeted = true;
                execute(&*shared.engine, request)
            }
            Ok(_) if !greeted => Answer::Failed(crate::bytes::malformed("a request before the greeting")),
            Ok(Request::Wait { beyond, milliseconds }) => Answer::Seq(wait(shared, &from, beyond, milliseconds)),
            Ok(Request::Backup { .. }) if distant => Answer::Failed(EngineError::Unsupported {
                engine: "remote",
                what: "write a backup on the machine that asks; run the command on the server's",
            }),
            Ok(request) if request.only_reads() => {
                let connections = shared.connections.lock().len();
                let make = |paid| {
                    let bounds = &shared.bounds;
                    shared.makers.make(&shared.engine, &request, connections, (&bounds.sending, paid))
                };
                made = Some(room::made(make, &shared.bounds.sending)?);
                Answer::Done
            }
            Ok(request) => execute(&*shared.engine, request),
            Err(error) => Answer::Failed(error),
        };
        let refused = !greeted;
        let (sending, encoded) = (&shared.bounds.sending, answer.encode());
        let made = made.unwrap_or_else(|| {
            // It was done, and cannot be made again.
            let mut share = sending.nothing();
            share.settle(encoded.len());
            (Encoded::Owned(encoded), share)
        });
        room::send(&mut **from.get_mut(), message.request, made, sending)?;
        if refused {
            return Ok(());
        }
    }
}

fn other_version(found: u32) -> EngineError {
    let why = format!(
        "its owner speaks version {PROTOCOL_VERSION} of the protocol between processes, and this program version \
         {found}; use one release for both"
    );
    EngineError::Unavailable { why }
}

/// Waits for a commit, for the time to pass, or for the next bytes on the connection: another request ends a wait.
fn wait(shared: &Shared, from: &BufReader<Box<dyn Wire>>, beyond: Seq, milliseconds: u32) -> Seq {
    let engine = &*shared.engine;
    let deadline = Instant::now() + Duration::from_millis(milliseconds.min(WAIT_MILLISECONDS_MAX).into());
    let Ok((ours, bell)) = UnixStream::pair() else { return engine.head() };
    if bell.set_nonblocking(true).is_err() {
        return engine.head();
    }
    let waker = Waker::from(Arc::new(Bell(bell)));
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || !from.buffer().is_empty() || engine.wake_beyond(beyond, &waker) {
            return engine.head();
        }
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let mut waited =
            [PollFd::from_borrowed_fd(from.get_ref().socket(), PollFlags::IN), PollFd::new(&ours, PollFlags::IN)];
        let _ = poll(&mut waited, Some(&timeout));
        if !waited[0].revents().is_empty() {
            return engine.head();
        }
        if !waited[1].revents().is_empty() {
            let _ = io::Read::read(&mut &ours, &mut [0; 64]);
        }
    }
}

/// Wakes a thread that polls. If it was rung already, another ring need not be heard.
struct Bell(UnixStream);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        let _ = (&self.0).write(&[1]);
    }
}
