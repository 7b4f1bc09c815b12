//! Event loops: threads that read requests of many connections and answer those that take microseconds, with no task,
//! no timer and no buffers for a connection. A loop reads what has come on all of them (epoll, through mio), then
//! answers one after the other.
//!
//! Writes that wait for the disk go to the writer (`writer.rs`), and their connection waits here for the reply.
//!
//! What else has to wait is handed over to a session (`session.rs`): for the rest of a request, for a reply to be
//! taken, for a place among large commands. Bounds and timeouts are there alone. It takes along what has come and was
//! not answered, and what was answered and is not sent; the connection comes back when nothing has waited for a
//! while.

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
use crate::session::{Asked, Conversation, Moment, Output, Service, Speaker, Then};
use crate::wire::{self, Incoming};
use crate::writer::{Replies, Write, Writer, Writes};

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

/// Is given a connection that has to wait, and where it may go back to. It is called on the loop's thread and must
/// not block.
pub type HandOver<K> = Arc<dyn Fn(TcpStream, Conversation, K, Entrance<K>) + Send + Sync>;

/// What an event loop is given.
enum Given<K> {
    Connection(Connection<K>),
    Replies(Replies),
}

/// Where an event loop is given connections.
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
    /// Gives it a connection; one that has ended closes it.
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
        // If there is one processor nothing comes while a thread looks.
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
    /// A write that the writer has. Nothing more is answered, or read, before its reply.
    write: Option<UnderWay>,
}

/// What waits behind a write.
struct UnderWay {
    /// What had come behind it.
    rest: Vec<u8>,
    /// More has come, or may have, and nobody will say so again.
    readable: bool,
    /// When it was begun and what it says, if that is to be traced.
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
    /// Whether it looks for requests for a while before it sleeps.
    looks: bool,
    vain: Vain,
    given_up: Arc<AtomicBool>,
    /// What has come: the first `received`.
    pieces: Vec<Piece>,
    received: usize,
    /// Connections to be read whether or not something has come.
    again: Vec<usize>,
    /// Replies of writes that were not sent yet.
    replies: VecDeque<(usize, String)>,
    /// What the writer is to be brought.
    writes: Vec<Write>,
    /// How many writes it has.
    under_way: usize,
}

/// What has come on a connection, and what is answered.
struct Piece {
    number: usize,
    input: [u8; IDLE_BYTES],
    bytes: usize,
    /// How many of them are answered.
    used: usize,
    /// More may have come that nobody will tell of again.
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

/// What follows what has come on a connection.
enum Next {
    /// More is read when it comes.
    Read,
    /// It is closed.
    Close,
    /// Something has to wait.
    Wait,
    /// The writer is to do what the next frame says, which has so many bytes.
    Write(Command, usize),
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
                break;
            }
        }
        // And what was asked of the writer, with what had come behind it.
        while self.under_way > 0 || !self.again.is_empty() {
            self.look(&mut events, (!self.again.is_empty()).then_some(Duration::ZERO))?;
            self.admit();
            self.go_on();
        }
        Ok(())
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
        self.go_on();
    }

    /// Reads again if more may have come, goes on where writes are done, and brings the writer those that are at
    /// hand.
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

    /// Answers what has come, then sends the replies: a client with several connections is woken once for them. Much is
    /// sent earlier.
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

    /// Waits for something to come; for a moment without sleep, if requests have come as quickly lately. To wake a
    /// thread costs more than to answer a request, and who sends the request pays for it.
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
                    // If others have the processor, a thread that sleeps is let in before one that gives way.
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

    /// Takes what it was given.
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

    /// Goes on with a connection whose write is done.
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
        // A panic ends its connection and no other.
        match catch_unwind(AssertUnwindSafe(|| self.service.answer_written(reply, begun, &mut piece.output))) {
            Ok(()) => self.received += 1,
            Err(_) => {
                piece.output = Output::default();
                self.close(number);
            }
        }
    }

    /// Has a piece for what comes next.
    fn make_room(&mut self) {
        if self.received == self.pieces.len() {
            self.answer_all();
        }
    }

    /// Has what the first request of each connection reads fetched, if several have come.
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
        let Some(Watched { stream, write, .. }) = self.connections.get_mut(number) else { return };
        let sent = send(stream, &mut piece.output);
        // More may have come than there was room for, and nobody would say so again.
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

/// Answers the frames at the beginning of what has come, up to the first that has to wait; answers how many bytes
/// that were, and what follows.
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
            Asked::Waits(command) if service.goes_together(&command) => {
                return (used, Next::Write(command, wire::HEAD_BYTES + payload.len()));
            }
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
