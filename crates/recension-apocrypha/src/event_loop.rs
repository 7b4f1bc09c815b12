//! Event loops: threads that read requests of many connections and answer those that take microseconds, with no task, no
//! timer and no buffers for a connection. A loop reads what has come on all of them (epoll, through mio), then answers one
//! after the other.
//!
//! What has to wait is handed over to a session (`session.rs`): for the rest of a request, for a reply to be taken, for the
//! disk, for a place among large commands. Bounds and timeouts are there alone. It takes along what has come and was not
//! answered, and what was answered and is not sent; the connection comes back when nothing has waited for a while.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Token, Waker};
use slab::Slab;

use crate::language::plain_member;
use crate::limits::{EVENTS_MAX, IDLE_BYTES, LOOK_MICROS, REPLIES_BYTES};
use crate::session::{Asked, Conversation, Moment, Output, Service, Speaker, Then, Vain};
use crate::wire::{self, Incoming};

/// The waker's token. Connections' are their numbers in a slab, which are never as large.
const WAKER: Token = Token(usize::MAX);

/// A connection of an event loop. It must not block. `K` is dropped when the connection is closed.
pub struct Connection<K> {
    /// The socket.
    pub stream: TcpStream,
    /// Who speaks there.
    pub speaker: Speaker,
    /// What is held for it.
    pub held: K,
}

/// Is given a connection that has to wait, and where it may go back to. It is called on the loop's thread and must not block.
pub type HandOver<K> = Arc<dyn Fn(TcpStream, Conversation, K, Entrance<K>) + Send + Sync>;

/// Where an event loop is given connections.
pub struct Entrance<K> {
    to: mpsc::Sender<Connection<K>>,
    waker: Arc<Waker>,
}

impl<K> Clone for Entrance<K> {
    fn clone(&self) -> Self {
        Entrance { to: self.to.clone(), waker: self.waker.clone() }
    }
}

impl<K> Entrance<K> {
    /// Gives it a connection; one that has ended closes it.
    pub fn take(&self, connection: Connection<K>) {
        if self.to.send(connection).is_ok()
            && let Err(error) = self.waker.wake()
        {
            tracing::error!(%error, "an event loop could not be woken");
        }
    }
}

/// Some event loops, which connections are spread over. They end when the service stops, and when this is dropped.
pub struct EventLoops<K> {
    entrances: Vec<Entrance<K>>,
    next: AtomicUsize,
    threads: Vec<JoinHandle<()>>,
    given_up: Arc<AtomicBool>,
}

impl<K> Drop for EventLoops<K> {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::Release);
        self.wake();
    }
}

impl<K> fmt::Debug for EventLoops<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLoops").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl<K> EventLoops<K> {
    /// Has them look whether the service stops. They close their connections when what has come is answered.
    pub fn wake(&self) {
        for entrance in &self.entrances {
            // One that cannot be woken has said so when it was given a connection.
            let _ = entrance.waker.wake();
        }
    }
}

impl<K: Send + 'static> EventLoops<K> {
    /// Starts so many, at least one.
    ///
    /// # Errors
    /// What the system refuses: a thread, or a descriptor.
    pub fn start(service: &Service, number: usize, hand_over: &HandOver<K>) -> io::Result<Self> {
        // Where there is one processor nothing comes while a thread looks.
        let looks = std::thread::available_parallelism().map_or(1, NonZero::get) > 1;
        let mut loops = EventLoops {
            entrances: Vec::new(),
            next: AtomicUsize::new(0),
            threads: Vec::new(),
            given_up: Arc::default(),
        };
        for number in 0..number.max(1) {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
            let (to, arrivals) = mpsc::channel();
            let entrance = Entrance { to, waker };
            loops.entrances.push(entrance.clone());
            let mut one = EventLoop {
                poll,
                arrivals,
                entrance,
                service: service.clone(),
                hand_over: hand_over.clone(),
                connections: Slab::new(),
                looks,
                vain: Vain::default(),
                given_up: loops.given_up.clone(),
                pieces: (0..EVENTS_MAX).map(|_| Piece::default()).collect(),
                received: 0,
            };
            let thread = std::thread::Builder::new().name(format!("apocrypha-{number}"));
            loops.threads.push(thread.spawn(move || {
                if let Err(error) = one.run() {
                    tracing::error!(%error, "an event loop ended");
                }
            })?);
        }
        Ok(loops)
    }

    /// Gives a new connection to one of them.
    pub fn take(&self, connection: Connection<K>) {
        let number = self.next.fetch_add(1, Ordering::Relaxed) % self.entrances.len();
        if let Some(entrance) = self.entrances.get(number) {
            entrance.take(connection);
        }
    }

    /// Ends them, and waits until they have ended.
    pub fn join(mut self) {
        self.given_up.store(true, Ordering::Release);
        self.wake();
        for thread in std::mem::take(&mut self.threads) {
            // Its panic is in the log, as every panic is.
            let _ = thread.join();
        }
    }
}

struct Watched<K> {
    stream: mio::net::TcpStream,
    speaker: Speaker,
    held: K,
}

struct EventLoop<K> {
    poll: Poll,
    arrivals: mpsc::Receiver<Connection<K>>,
    entrance: Entrance<K>,
    service: Service,
    hand_over: HandOver<K>,
    connections: Slab<Watched<K>>,
    /// Whether it looks for requests for a while before it sleeps.
    looks: bool,
    vain: Vain,
    given_up: Arc<AtomicBool>,
    /// What has come: the first `received`.
    pieces: Vec<Piece>,
    received: usize,
}

/// What has come on a connection, and what is answered.
struct Piece {
    number: usize,
    input: [u8; IDLE_BYTES],
    bytes: usize,
    /// How many of them are answered.
    used: usize,
    next: Next,
    output: Output,
}

impl Default for Piece {
    fn default() -> Self {
        Piece { number: 0, input: [0; IDLE_BYTES], bytes: 0, used: 0, next: Next::Read, output: Output::default() }
    }
}

impl Piece {
    fn come(&self) -> &[u8] {
        self.input.get(..self.bytes).unwrap_or_default()
    }
}

/// What follows what has come on a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// More is read when it comes.
    Read,
    /// It is closed.
    Close,
    /// Something has to wait.
    Wait,
}

impl<K> EventLoop<K> {
    fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        while !self.service.has_stopped() && !self.given_up.load(Ordering::Acquire) {
            self.wait(&mut events)?;
            self.turn(&events);
        }
        // What has come by now is answered.
        loop {
            self.look(&mut events, Some(Duration::ZERO))?;
            self.turn(&events);
            if events.iter().count() < EVENTS_MAX {
                return Ok(());
            }
        }
    }

    /// Does what some events ask for.
    fn turn(&mut self, events: &Events) {
        let mut admits = false;
        for event in events {
            match event.token() {
                WAKER => admits = true,
                Token(number) => self.receive(number),
            }
        }
        // After the others' events, of which none is one of a new connection.
        if admits {
            self.admit();
        }
        self.answer_all();
    }

    /// Answers what has come, then sends the replies: who has several connections is woken once for them. Much is sent earlier.
    fn answer_all(&mut self) {
        let mut moment = Moment::default();
        self.prefetch(&mut moment);
        let (mut sent, mut bytes) = (0, 0);
        for place in 0..self.received {
            bytes += self.answer(place, &mut moment);
            if bytes >= REPLIES_BYTES {
                (sent..=place).for_each(|place| self.send(place));
                (sent, bytes) = (place + 1, 0);
            }
        }
        (sent..self.received).for_each(|place| self.send(place));
        self.received = 0;
    }

    /// Waits for something to come; for a moment without sleep, where requests have come as quickly lately. To wake a thread
    /// costs more than to answer a request, and who sends the request pays for it.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        if self.looks && !self.vain.passes() {
            let until = Instant::now() + Duration::from_micros(LOOK_MICROS);
            loop {
                self.look(events, Some(Duration::ZERO))?;
                if !events.is_empty() {
                    self.vain.was(false);
                    return Ok(());
                }
                if Instant::now() >= until {
                    break;
                }
                // The client may want this processor.
                std::thread::yield_now();
            }
            self.vain.was(true);
        }
        self.look(events, None)
    }

    fn look(&mut self, events: &mut Events, patience: Option<Duration>) -> io::Result<()> {
        match self.poll.poll(events, patience) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            done => done,
        }
    }

    /// Takes the connections that it was given.
    fn admit(&mut self) {
        while let Ok(Connection { stream, speaker, held }) = self.arrivals.try_recv() {
            let place = self.connections.vacant_entry();
            let mut stream = mio::net::TcpStream::from_std(stream);
            match self.poll.registry().register(&mut stream, Token(place.key()), Interest::READABLE) {
                Ok(()) => {
                    place.insert(Watched { stream, speaker, held });
                }
                Err(error) => tracing::warn!(%error, "a connection could not be watched"),
            }
        }
    }

    /// Reads what has come on a connection.
    fn receive(&mut self, number: usize) {
        let (Some(watched), Some(piece)) = (self.connections.get_mut(number), self.pieces.get_mut(self.received))
        else {
            return;
        };
        match again(|| watched.stream.read(&mut piece.input)) {
            Ok(read) if read > 0 => {
                (piece.number, piece.bytes) = (number, read);
                self.received += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // It was closed, or broke.
            Ok(_) | Err(_) => self.close(number),
        }
    }

    /// Has what the first request of each connection reads fetched, where several have come.
    fn prefetch(&self, moment: &mut Moment) {
        let mut names = [""; EVENTS_MAX];
        let mut found = 0;
        for piece in self.pieces.iter().take(self.received) {
            let payload = wire::first_payload(piece.come());
            if let Some(name) = payload.and_then(|payload| std::str::from_utf8(payload).ok()).and_then(plain_member) {
                names[found] = name;
                found += 1;
            }
        }
        if found > 1 {
            self.service.prefetch(&names[..found], moment);
        }
    }

    /// Answers what has come on a connection; answers the bytes of its replies.
    fn answer(&mut self, place: usize, moment: &mut Moment) -> usize {
        let Some(piece) = self.pieces.get_mut(place) else { return 0 };
        let Some(Watched { speaker, .. }) = self.connections.get_mut(piece.number) else { return 0 };
        let come = piece.input.get(..piece.bytes).unwrap_or_default();
        // A panic ends its connection and no other.
        let answered =
            catch_unwind(AssertUnwindSafe(|| answer_frames(&self.service, come, speaker, moment, &mut piece.output)));
        (piece.used, piece.next) = answered.unwrap_or((piece.bytes, Next::Close));
        piece.output.bytes.len()
    }

    /// Sends a connection's replies, and does what follows.
    fn send(&mut self, place: usize) {
        let Some(piece) = self.pieces.get_mut(place) else { return };
        let number = piece.number;
        let Some(Watched { stream, .. }) = self.connections.get_mut(number) else { return };
        let sent = send(stream, &mut piece.output);
        // More may have come than there was room for, and nobody would say so again.
        let more = piece.bytes == IDLE_BYTES;
        match (sent, piece.next) {
            (Ok(true), Next::Read) if !more => {}
            (Err(_), _) | (Ok(true), Next::Close) => {
                piece.output = Output::default();
                self.close(number);
            }
            (Ok(_), next) => {
                let input = piece.come().get(piece.used..).unwrap_or_default().to_vec();
                let (output, last) = (std::mem::take(&mut piece.output), next == Next::Close);
                self.hand_over(number, |speaker| Conversation { speaker, input, output, last });
            }
        }
    }

    fn hand_over(&mut self, number: usize, conversation: impl FnOnce(Speaker) -> Conversation) {
        let Some(mut watched) = self.connections.try_remove(number) else { return };
        match self.poll.registry().deregister(&mut watched.stream) {
            Ok(()) => {
                let Watched { stream, speaker, held } = watched;
                (self.hand_over)(stream.into(), conversation(speaker), held, self.entrance.clone());
            }
            Err(error) => tracing::warn!(%error, "a connection could not be let go"),
        }
    }

    fn close(&mut self, number: usize) {
        self.connections.try_remove(number);
    }
}

/// Answers the frames at the beginning of what has come, up to the first that has to wait; answers how many bytes that were, and
/// what follows.
fn answer_frames(
    service: &Service,
    come: &[u8],
    speaker: &mut Speaker,
    moment: &mut Moment,
    output: &mut Output,
) -> (usize, Next) {
    let mut used = 0;
    loop {
        let rest = come.get(used..).unwrap_or_default();
        if rest.is_empty() {
            return (used, Next::Read);
        }
        if output.bytes.len() >= REPLIES_BYTES {
            return (used, Next::Wait);
        }
        let payload = match service.next(rest, *speaker, output) {
            Incoming::Frame(payload) => payload,
            Incoming::Partial(_) => return (used, Next::Wait),
            Incoming::TooLong(_) => return (used, Next::Close),
        };
        match service.answer_at_once(payload, speaker, moment, output) {
            Asked::Answered(Then::GoOn) => used += wire::HEAD_BYTES + payload.len(),
            Asked::Answered(Then::Close) => return (used, Next::Close),
            Asked::Waits(_) => return (used, Next::Wait),
        }
    }
}

/// Sends what there is room for in the socket, and takes it out of `output`; answers whether that was all.
fn send(stream: &mut mio::net::TcpStream, output: &mut Output) -> io::Result<bool> {
    let mut sent = 0;
    while let Some(rest) = output.bytes.get(sent..).filter(|rest| !rest.is_empty()) {
        match again(|| stream.write(rest)) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(more) => sent += more,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                output.bytes.drain(..sent);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
    }
    output.sent();
    Ok(true)
}

/// Does it until no signal interrupts it.
fn again<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
