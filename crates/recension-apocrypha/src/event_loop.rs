//! Event loops: threads that read requests of many connections and answer those that take microseconds, with no task,
//! no timer and no buffers for a connection. A loop reads what has come on all of them (epoll, through mio), then
//! answers one after the other.
//!
//! Writes that wait for the disk go to the writer (`writer.rs`). Their connection waits here for the reply.
//!
//! Anything else that has to wait is handed over to a session (`session.rs`): the rest of a request, a slow reader of
//! replies, a place among large commands. Only sessions have bounds and timeouts. A connection takes along its
//! unanswered bytes and its unsent replies. It comes back when nothing has waited for a while.

use std::collections::VecDeque;
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
use recension::engine::pacing::Vain;
use slab::Slab;

use crate::language::{Command, plain_member};
use crate::limits::{EVENTS_MAX, IDLE_BYTES, LOOK_MICROS, PASSES_MAX, REPLIES_BYTES, WRITES_UNDER_WAY_MAX};
use crate::session::{Conversation, FrameOutcome, Moment, Output, Service, Speaker, Then};
use crate::wire::{self, Incoming};
use crate::writer::{Replies, Write, Writer, Writes};

/// The waker's token. Connections' are their numbers in a slab, which are never as large.
const WAKER: Token = Token(usize::MAX);

/// A connection of an event loop. It must not block. `K` is dropped when the connection is closed.
pub struct Connection<K> {
    /// The socket.
    pub stream: TcpStream,
    /// The connection's speaker.
    pub speaker: Speaker,
    /// A value that is held for the connection.
    pub held: K,
}

/// Receives a connection that has to wait, and the entrance to go back to. It is called on the loop's thread and must
/// not block.
pub type HandOver<K> = Arc<dyn Fn(TcpStream, Conversation, K, Entrance<K>) + Send + Sync>;

/// A message to an event loop.
enum Given<K> {
    Connection(Connection<K>),
    Replies(Replies),
}

/// The sending end of an event loop.
pub struct Entrance<K> {
    to: mpsc::Sender<Given<K>>,
    waker: Arc<Waker>,
}

impl<K> Clone for Entrance<K> {
    fn clone(&self) -> Self {
        Entrance { to: self.to.clone(), waker: self.waker.clone() }
    }
}

impl<K> Entrance<K> {
    /// Gives the loop a connection. If the loop has ended, the connection is closed.
    pub fn take(&self, connection: Connection<K>) {
        self.give(Given::Connection(connection));
    }

    fn give(&self, given: Given<K>) {
        if self.to.send(given).is_ok()
            && let Err(error) = self.waker.wake()
        {
            tracing::error!(%error, "an event loop could not be woken");
        }
    }
}

/// Some event loops, over which connections are spread. They end when the service stops, and when this is dropped.
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
    /// Makes the loops check whether the service stops. They close their connections after answering what has come.
    pub fn wake(&self) {
        for entrance in &self.entrances {
            // A loop that cannot be woken has reported that when it was given a connection.
            let _ = entrance.waker.wake();
        }
    }
}

impl<K: Send + 'static> EventLoops<K> {
    /// Starts this many, at least one.
    ///
    /// # Errors
    /// The error of the system, for a thread or a descriptor.
    pub fn start(service: &Service, number: usize, hand_over: &HandOver<K>) -> io::Result<Self> {
        // With a single processor, nothing can come while a thread polls.
        let looks = std::thread::available_parallelism().map_or(1, NonZero::get) > 1;
        let mut loops = EventLoops {
            entrances: Vec::new(),
            next: AtomicUsize::new(0),
            threads: Vec::new(),
            given_up: Arc::default(),
        };
        let (writer, brought) = mpsc::channel();
        for number in 0..number.max(1) {
            let poll = Poll::new()?;
            let waker = Arc::new(Waker::new(poll.registry(), WAKER)?);
            let (to, arrivals) = mpsc::channel();
            let entrance = Entrance { to, waker };
            loops.entrances.push(entrance.clone());
            let mut one = EventLoop {
                poll,
                number,
                arrivals,
                entrance,
                writer: writer.clone(),
                service: service.clone(),
                hand_over: hand_over.clone(),
                connections: Slab::new(),
                looks,
                vain: Vain::up_to(PASSES_MAX),
                given_up: loops.given_up.clone(),
                pieces: (0..EVENTS_MAX).map(|_| Piece::default()).collect(),
                received: 0,
                again: Vec::new(),
                replies: VecDeque::new(),
                writes: Vec::new(),
                under_way: 0,
            };
            let thread = std::thread::Builder::new().name(format!("apocrypha-{number}"));
            loops.threads.push(thread.spawn(move || {
                if let Err(error) = one.run() {
                    tracing::error!(%error, "an event loop ended");
                }
            })?);
        }
        let give = loops.entrances.iter().cloned();
        let give = give.map(|entrance| move |replies| entrance.give(Given::Replies(replies))).collect();
        let writer = Writer::new(service.clone(), brought, give, looks);
        let thread = std::thread::Builder::new().name("apocrypha-writer".to_owned());
        loops.threads.push(thread.spawn(move || writer.run())?);
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
    /// The connection's write, if the writer has one. Nothing more is answered, or read, before its reply.
    write: Option<UnderWay>,
}

/// The state of a connection that waits for a write.
struct UnderWay {
    /// The bytes behind the write.
    rest: Vec<u8>,
    /// More bytes may have come that no event will announce.
    readable: bool,
    /// When the write was begun, and its text, if it is to be traced.
    begun: Option<(Instant, String)>,
}

struct EventLoop<K> {
    poll: Poll,
    number: usize,
    arrivals: mpsc::Receiver<Given<K>>,
    entrance: Entrance<K>,
    writer: mpsc::Sender<Writes>,
    service: Service,
    hand_over: HandOver<K>,
    connections: Slab<Watched<K>>,
    /// Whether it polls for requests for a while before it sleeps.
    looks: bool,
    vain: Vain,
    given_up: Arc<AtomicBool>,
    /// Received bytes by connection: the first `received` of these are in use.
    pieces: Vec<Piece>,
    received: usize,
    /// Connections to read even without an event.
    again: Vec<usize>,
    /// Replies of writes that were not sent yet.
    replies: VecDeque<(usize, String)>,
    /// Writes to send to the writer.
    writes: Vec<Write>,
    /// How many writes the writer has.
    under_way: usize,
}

/// The received bytes of a connection, and its replies.
struct Piece {
    number: usize,
    input: [u8; IDLE_BYTES],
    bytes: usize,
    /// How many of the bytes are answered.
    used: usize,
    /// More bytes may have come that no event will announce.
    readable: bool,
    next: Next,
    output: Output,
}

impl Default for Piece {
    fn default() -> Self {
        let (next, output) = (Next::Read, Output::default());
        Piece { number: 0, input: [0; IDLE_BYTES], bytes: 0, used: 0, readable: false, next, output }
    }
}

impl Piece {
    fn come(&self) -> &[u8] {
        self.input.get(..self.bytes).unwrap_or_default()
    }
}

/// The next step for a connection.
enum Next {
    /// More is read when it comes.
    Read,
    /// It is closed.
    Close,
    /// Something has to wait.
    Wait,
    /// The writer must carry out the command of the next frame, which has this many bytes.
    Write(Command, usize),
}

impl<K> EventLoop<K> {
    fn run(&mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        while !self.service.has_stopped() && !self.given_up.load(Ordering::Acquire) {
            self.wait(&mut events)?;
            self.turn(&events);
        }
        // Everything that has come by now is answered.
        loop {
            self.look(&mut events, Some(Duration::ZERO))?;
            self.turn(&events);
            if events.iter().count() < EVENTS_MAX {
                break;
            }
        }
        // So are writes that the writer has, and the bytes behind them.
        while self.under_way > 0 || !self.again.is_empty() {
            self.look(&mut events, (!self.again.is_empty()).then_some(Duration::ZERO))?;
            self.admit();
            self.go_on();
        }
        Ok(())
    }

    /// Handles some events.
    fn turn(&mut self, events: &Events) {
        let mut admits = false;
        for event in events {
            match event.token() {
                WAKER => admits = true,
                Token(number) => self.receive(number),
            }
        }
        // New connections come after the other events, none of which is theirs.
        if admits {
            self.admit();
        }
        self.answer_all();
        self.go_on();
    }

    /// Reads again if more may have come, continues connections whose writes are done, and sends collected writes to
    /// the writer.
    fn go_on(&mut self) {
        for number in std::mem::take(&mut self.again) {
            self.receive(number);
        }
        self.answer_all();
        while let Some((number, reply)) = self.replies.pop_front() {
            self.resume(number, reply);
        }
        self.answer_all();
        if !self.writes.is_empty() {
            self.under_way += self.writes.len();
            let writes = Writes { of: self.number, writes: std::mem::take(&mut self.writes) };
            if let Err(mpsc::SendError(Writes { writes, .. })) = self.writer.send(writes) {
                let replies = writes.into_iter().map(|write| (write.number, self.service.panicked())).collect();
                self.entrance.give(Given::Replies(replies));
            }
        }
    }

    /// Answers received requests, then sends the replies: a client with several connections is woken once for them. If
    /// there are many replies, they are sent earlier.
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

    /// Waits for events. If requests have come quickly lately, it polls for a moment before it sleeps. Waking a thread
    /// costs more than answering a request, and the sender of the request pays for it.
    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        if !self.again.is_empty() {
            return self.look(events, Some(Duration::ZERO));
        }
        if self.looks && !self.vain.passes() {
            let until = Instant::now() + Duration::from_micros(LOOK_MICROS);
            loop {
                self.look(events, Some(Duration::ZERO))?;
                let late = Instant::now() >= until;
                if !events.is_empty() {
                    // If other threads use the processor, a sleeping thread runs before one that yields.
                    self.vain.was(late);
                    return Ok(());
                }
                if late {
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

    /// Takes messages.
    fn admit(&mut self) {
        while let Ok(given) = self.arrivals.try_recv() {
            let Connection { stream, speaker, held } = match given {
                Given::Connection(connection) => connection,
                Given::Replies(replies) => {
                    self.under_way -= replies.len();
                    self.replies.extend(replies);
                    continue;
                }
            };
            let place = self.connections.vacant_entry();
            let mut stream = mio::net::TcpStream::from_std(stream);
            match self.poll.registry().register(&mut stream, Token(place.key()), Interest::READABLE) {
                Ok(()) => {
                    place.insert(Watched { stream, speaker, held, write: None });
                }
                Err(error) => tracing::warn!(%error, "a connection could not be watched"),
            }
        }
    }

    /// Reads what has come on a connection.
    fn receive(&mut self, number: usize) {
        self.make_room();
        let (Some(watched), Some(piece)) = (self.connections.get_mut(number), self.pieces.get_mut(self.received))
        else {
            return;
        };
        if let Some(write) = &mut watched.write {
            write.readable = true;
            return;
        }
        match again(|| watched.stream.read(&mut piece.input)) {
            Ok(read) if read > 0 => {
                (piece.number, piece.bytes, piece.readable) = (number, read, false);
                self.received += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // It was closed, or broke.
            Ok(_) | Err(_) => self.close(number),
        }
    }

    /// Continues a connection whose write is done.
    fn resume(&mut self, number: usize, reply: String) {
        self.make_room();
        let (Some(watched), Some(piece)) = (self.connections.get_mut(number), self.pieces.get_mut(self.received))
        else {
            return;
        };
        let Some(UnderWay { rest, readable, begun }) = watched.write.take() else { return };
        let Some(input) = piece.input.get_mut(..rest.len()) else { return };
        input.copy_from_slice(&rest);
        (piece.number, piece.bytes, piece.readable) = (number, rest.len(), readable);
        // A panic ends only its own connection.
        match catch_unwind(AssertUnwindSafe(|| self.service.answer_written(reply, begun, &mut piece.output))) {
            Ok(()) => self.received += 1,
            Err(_) => {
                piece.output = Output::default();
                self.close(number);
            }
        }
    }

    /// Makes sure that there is a piece for the next bytes.
    fn make_room(&mut self) {
        if self.received == self.pieces.len() {
            self.answer_all();
        }
    }

    /// Prefetches the data of the first request of each connection, if several have come.
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

    /// Answers the requests of a connection; returns the number of bytes of its replies.
    fn answer(&mut self, place: usize, moment: &mut Moment) -> usize {
        let Some(piece) = self.pieces.get_mut(place) else { return 0 };
        let Some(Watched { speaker, .. }) = self.connections.get_mut(piece.number) else { return 0 };
        let come = piece.input.get(..piece.bytes).unwrap_or_default();
        // A panic ends only its own connection.
        let answered =
            catch_unwind(AssertUnwindSafe(|| answer_frames(&self.service, come, speaker, moment, &mut piece.output)));
        (piece.used, piece.next) = answered.unwrap_or((piece.bytes, Next::Close));
        piece.output.bytes.len()
    }

    /// Sends a connection's replies, and takes the next step.
    fn send(&mut self, place: usize) {
        let Some(piece) = self.pieces.get_mut(place) else { return };
        let number = piece.number;
        let Some(Watched { stream, write, .. }) = self.connections.get_mut(number) else { return };
        let sent = send(stream, &mut piece.output);
        // More may have come than there was room for, and no event would announce it.
        let more = piece.bytes == IDLE_BYTES;
        match (sent, std::mem::replace(&mut piece.next, Next::Read)) {
            (Ok(true), Next::Read) if !more => {
                if piece.readable {
                    self.again.push(number);
                }
            }
            (Ok(true), Next::Write(command, bytes)) if self.under_way + self.writes.len() < WRITES_UNDER_WAY_MAX => {
                let frame = piece.come().get(piece.used..).unwrap_or_default();
                let (payload, rest) = frame.split_at(bytes.min(frame.len()));
                let begun = self.service.begun(payload.get(wire::HEAD_BYTES..).unwrap_or_default());
                *write = Some(UnderWay { rest: rest.to_vec(), readable: piece.readable || more, begun });
                self.writes.push(Write { number, command });
            }
            (Err(_), _) | (Ok(true), Next::Close) => {
                piece.output = Output::default();
                self.close(number);
            }
            (Ok(_), next) => {
                let input = piece.come().get(piece.used..).unwrap_or_default().to_vec();
                let (output, last) = (std::mem::take(&mut piece.output), matches!(next, Next::Close));
                self.hand_over(number, |speaker| Conversation { speaker, input, output, last });
            }
        }
    }

    fn hand_over(&mut self, number: usize, conversation: impl FnOnce(Speaker) -> Conversation) {
        let Some(mut watched) = self.connections.try_remove(number) else { return };
        match self.poll.registry().deregister(&mut watched.stream) {
            Ok(()) => {
                let Watched { stream, speaker, held, .. } = watched;
                (self.hand_over)(stream.into(), conversation(speaker), held, self.entrance.clone());
            }
            Err(error) => tracing::warn!(%error, "a connection could not be let go"),
        }
    }

    fn close(&mut self, number: usize) {
        self.connections.try_remove(number);
    }
}

/// Answers the frames at the beginning of the received bytes, up to the first that has to wait. Returns their length in
/// bytes, and the next step.
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
            FrameOutcome::Answered(Then::GoOn) => used += wire::HEAD_BYTES + payload.len(),
            FrameOutcome::Answered(Then::Close) => return (used, Next::Close),
            FrameOutcome::Waits(command) if service.goes_together(&command) => {
                return (used, Next::Write(command, wire::HEAD_BYTES + payload.len()));
            }
            FrameOutcome::Waits(_) => return (used, Next::Wait),
        }
    }
}

/// Sends as much as the socket has room for, and removes it from `output`; returns whether that was all.
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

/// Repeats the call until no signal interrupts it.
fn again<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
