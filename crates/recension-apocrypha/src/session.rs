//! A connection: frames in, replies out in their order. The memory held for it is bounded, whatever it sends or does
//! not read. Nothing is remembered from one request to the next, except that a token was right.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::future::{Future, poll_fn};
use std::hash::BuildHasher as _;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use recension::engine::budget::{Arrival, NoRoom, Patience, Share};
use recension::engine::pacing::Vain;
use recension::{CollectionAt, Error};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::language::{Command, Operator, Step, parse, plain_member};
use crate::limits::{
    AT_ONCE_TO_RETURN, IDLE_BYTES, LARGE_COMMANDS_MAX, PASSES_MAX, READ_BYTES, REPLIES_BYTES, REQUEST_WEIGHT,
    REST_MILLIS, TOKEN_BYTES_MAX, TURNS, WAITING_COMMANDS_MAX,
};
use crate::settings::Settings;
use crate::store::{Database, PANICKED};
use crate::wire::{self, Incoming};

/// The origin of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A unix socket; the permissions of its file say who may connect.
    ThisMachine,
    /// TCP.
    Network,
}

/// Answers connections.
#[derive(Clone)]
pub struct Service {
    database: Database,
    settings: Settings,
    /// Places for large commands.
    large: Arc<Semaphore>,
    /// Places for commands that wait for the disk.
    waiting: Arc<Semaphore>,
    /// A writer of a member waits for earlier writers of it, rather than conflict with them and begin again. Members
    /// share turns by their hash.
    turns: Arc<[Arc<Semaphore>]>,
    hash: RandomState,
    stopping: watch::Receiver<bool>,
    /// How many writes did not wait for the disk.
    writes: Arc<AtomicU64>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Replies that were not sent yet.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    /// The room of a long reply among all connections' replies.
    room: Option<Share>,
    /// One of them belongs to a write that did not wait for the disk.
    wrote: bool,
}

impl Output {
    /// Everything is sent.
    pub(crate) fn sent(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(IDLE_BYTES);
        self.room = None;
        self.wrote = false;
    }
}

/// What a connection remembers from one request to the next.
#[derive(Clone, Copy, Debug)]
pub struct Speaker {
    /// It needs no token, or has sent it.
    known: bool,
    /// It has sent a request; a token must come before.
    begun: bool,
}

/// A connection that changes hands: its speaker, its unanswered bytes, and its unsent replies.
pub struct Conversation {
    pub(crate) speaker: Speaker,
    pub(crate) input: Vec<u8>,
    pub(crate) output: Output,
    /// Nothing more is answered.
    pub(crate) last: bool,
}

impl From<Speaker> for Conversation {
    fn from(speaker: Speaker) -> Self {
        Conversation { speaker, input: Vec::new(), output: Output::default(), last: false }
    }
}

impl fmt::Debug for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conversation").field("speaker", &self.speaker).finish_non_exhaustive()
    }
}

/// The step after a reply.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    GoOn,
    Close,
}

/// The moment of reads whose requests have all arrived: every moment since then would be right. A write ends it,
/// because its own connection may read after it.
#[derive(Default)]
pub(crate) struct Moment(Option<CollectionAt>);

impl Moment {
    fn members(&mut self, database: &Database) -> Result<&CollectionAt, Error> {
        match &mut self.0 {
            Some(members) => Ok(members),
            none => Ok(none.insert(database.now()?)),
        }
    }
}

/// The outcome of a frame.
pub(crate) enum FrameOutcome {
    /// It was answered.
    Answered(Then),
    /// Its command has to wait. Nothing was done.
    Waits(Command),
}

impl Service {
    /// For a database, until `stopping` becomes true.
    pub fn new(database: Database, settings: Settings, stopping: watch::Receiver<bool>) -> Self {
        Service {
            database,
            settings,
            large: Arc::new(Semaphore::new(LARGE_COMMANDS_MAX)),
            waiting: Arc::new(Semaphore::new(WAITING_COMMANDS_MAX)),
            hash: RandomState::new(),
            turns: (0..TURNS).map(|_| Arc::new(Semaphore::new(1))).collect(),
            stopping,
            writes: Arc::default(),
        }
    }

    /// The speaker of a new connection.
    pub fn speaker(&self, peer: Peer) -> Speaker {
        Speaker { known: peer == Peer::ThisMachine || self.settings.token.is_none(), begun: false }
    }

    /// Whether connections are ended.
    pub(crate) fn has_stopped(&self) -> bool {
        *self.stopping.borrow()
    }

    /// Answers a connection until it ends, or until the service stops and its requests are answered. With `returns`, it
    /// also ends after nothing has waited for a while, and answers the speaker.
    ///
    /// # Errors
    /// Errors of the stream; [`io::ErrorKind::TimedOut`] if a client sends half a request or does not read.
    pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        conversation: Conversation,
        returns: bool,
    ) -> io::Result<Option<Speaker>> {
        let Conversation { mut speaker, mut input, mut output, last } = conversation;
        // Replies are sent first: there is room for one long reply at a time.
        self.send(stream, &mut output).await?;
        if last {
            return Ok(None);
        }
        input.reserve(IDLE_BYTES);
        let mut stopping = self.stopping.clone();
        let mut stopped = pin!(stopping.wait_for(|stopping| *stopping));
        let mut stopping_too = self.stopping.clone();
        let mut given_up = pin!(async {
            let _ = stopping_too.wait_for(|stopping| *stopping).await;
            tokio::time::sleep(Duration::from_millis(REST_MILLIS)).await;
        });
        let mut arrival = Arrival::new(&self.settings.receiving);
        let mut vain = Vain::up_to(PASSES_MAX);
        let mut at_once = 0;
        loop {
            let mut used = 0;
            let mut moment = Moment::default();
            let needed = loop {
                match self.next(input.get(used..).unwrap_or_default(), speaker, &mut output) {
                    Incoming::Frame(payload) => {
                        used += wire::HEAD_BYTES + payload.len();
                        let asked = self.answer_at_once(payload, &mut speaker, &mut moment, &mut output);
                        at_once = match &asked {
                            // An event loop can answer it too.
                            FrameOutcome::Waits(command) if !self.goes_together(command) => 0,
                            _ => at_once + 1,
                        };
                        match asked {
                            FrameOutcome::Answered(Then::GoOn) => {}
                            FrameOutcome::Answered(Then::Close) => {
                                return self.send(stream, &mut output).await.map(|()| None);
                            }
                            FrameOutcome::Waits(command) => {
                                moment = Moment::default();
                                self.answer_waiting(command, payload, &mut output).await;
                            }
                        }
                        if output.bytes.len() >= REPLIES_BYTES {
                            self.send(stream, &mut output).await?;
                        }
                    }
                    Incoming::Partial(needed) => break needed,
                    Incoming::TooLong(_) => return self.send(stream, &mut output).await.map(|()| None),
                }
            };
            if output.wrote {
                self.let_others_write(&mut vain).await;
            }
            self.send(stream, &mut output).await?;
            input.drain(..used);
            if input.is_empty() {
                if returns && at_once >= AT_ONCE_TO_RETURN {
                    return Ok(Some(speaker));
                }
                arrival = Arrival::new(&self.settings.receiving);
                input.shrink_to(IDLE_BYTES);
            }
            let needed = needed.unwrap_or(0);
            if needed > READ_BYTES {
                let whole = needed.saturating_mul(REQUEST_WEIGHT);
                arrival.room_for(whole, tokio::time::sleep(self.settings.patience)).await.map_err(no_room)?;
            }
            let wanted = if needed > input.len() { (needed - input.len()).min(READ_BYTES) } else { IDLE_BYTES };
            input.reserve(wanted);
            let read = if input.is_empty() {
                tokio::select! {
                    biased;
                    read = stream.read_buf(&mut input) => read?,
                    _ = &mut stopped => return Ok(None),
                }
            } else {
                tokio::select! {
                    biased;
                    read = self.rest(stream, &mut input, &arrival) => read?,
                    // What has not come by then has not begun.
                    () = &mut given_up => return Ok(None),
                }
            };
            // An incomplete frame is no request.
            if read == 0 {
                return Ok(None);
            }
        }
    }

    /// The first frame of the received bytes. If it is too long, it is refused: nothing behind it can be read.
    pub(crate) fn next<'b>(&self, bytes: &'b [u8], speaker: Speaker, output: &mut Output) -> Incoming<'b> {
        let longest = if speaker.known { self.settings.frame_bytes_max } else { TOKEN_BYTES_MAX + 16 };
        let next = wire::next(bytes, longest);
        if let Incoming::TooLong(length) = next {
            let why = format!("the request announces {length} bytes, and {longest} are allowed");
            wire::write(self.database.refusal(&why).as_bytes(), &mut output.bytes);
        }
        next
    }

    /// Lets other connections' writes be made, if there were any lately. Replies that are sent one after the other then
    /// wake a program with several connections once, rather than once for each.
    async fn let_others_write(&self, vain: &mut Vain) {
        if vain.passes() {
            return;
        }
        let before = self.writes.load(Ordering::Relaxed);
        tokio::task::yield_now().await;
        let in_vain = self.writes.load(Ordering::Relaxed) == before;
        vain.was(in_vain);
    }

    /// Reads more of a request that has begun.
    async fn rest<S: AsyncRead + Unpin>(
        &self,
        stream: &mut S,
        input: &mut Vec<u8>,
        arrival: &Arrival,
    ) -> io::Result<usize> {
        let mut waited = Duration::ZERO;
        loop {
            arrival.came(input.len()).map_err(no_room)?;
            let look = arrival.next_look(self.settings.patience.saturating_sub(waited));
            match in_time(look, stream.read_buf(input)).await {
                Err(error) if error.kind() == io::ErrorKind::TimedOut && waited + look < self.settings.patience => {
                    waited += look;
                }
                read => return read,
            }
        }
    }

    async fn send<S: AsyncWrite + Unpin>(&self, stream: &mut S, output: &mut Output) -> io::Result<()> {
        let patience = Patience::new(Arc::clone(&self.settings.sending), self.settings.patience);
        let late = || io::Error::from(io::ErrorKind::TimedOut);
        let mut rest = output.bytes.as_slice();
        let mut waited = Duration::ZERO;
        while !rest.is_empty() {
            let look = patience.left(waited).ok_or_else(late)?;
            match in_time(look, stream.write(rest)).await {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => waited += look,
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                wrote => {
                    rest = rest.get(wrote?..).unwrap_or_default();
                    waited = Duration::ZERO;
                }
            }
        }
        if !output.bytes.is_empty() {
            in_time(self.settings.patience, stream.flush()).await?;
        }
        output.sent();
        Ok(())
    }

    /// Answers a frame if that takes microseconds.
    pub(crate) fn answer_at_once(
        &self,
        payload: &[u8],
        speaker: &mut Speaker,
        moment: &mut Moment,
        output: &mut Output,
    ) -> FrameOutcome {
        let started = self.started();
        let first = !std::mem::replace(&mut speaker.begun, true);
        let refuse =
            |why: &str, output: &mut Output| wire::write(self.database.refusal(why).as_bytes(), &mut output.bytes);
        let Ok(text) = std::str::from_utf8(payload) else {
            refuse("the request is not UTF-8", output);
            return FrameOutcome::Answered(if speaker.known { Then::GoOn } else { Then::Close });
        };
        if let Some(said) = text.strip_prefix("--token\n").filter(|_| first) {
            speaker.known |= self.settings.token.as_ref().is_none_or(|token| token.is(said.trim_end_matches('\n')));
            if speaker.known {
                wire::write(b"", &mut output.bytes);
                return FrameOutcome::Answered(Then::GoOn);
            }
            refuse("the token is not right", output);
            return FrameOutcome::Answered(Then::Close);
        }
        if !speaker.known {
            refuse("a token is needed first: --token TOKEN", output);
            return FrameOutcome::Answered(Then::Close);
        }
        if self.answer_plain(text, moment, output) {
            self.trace(started, text);
            return FrameOutcome::Answered(Then::GoOn);
        }
        match parse(text, self.database.dialect()) {
            Ok(command) if self.places(&command).is_some() => return FrameOutcome::Waits(command),
            Ok(command) => {
                *moment = Moment::default();
                if command.operator.writes() {
                    self.writes.fetch_add(1, Ordering::Relaxed);
                    output.wrote = true;
                }
                self.reply(self.database.run(&command), output);
            }
            Err(why) => refuse(&why, output),
        }
        self.trace(started, text);
        FrameOutcome::Answered(Then::GoOn)
    }

    /// Prefetches the data of these requests into the processor's caches, if each reads one member.
    pub(crate) fn prefetch(&self, requests: &[&str], moment: &mut Moment) {
        if let Ok(members) = moment.members(&self.database) {
            members.prefetch(requests);
        }
    }

    /// Answers a request that reads a member, if its text shows that at a glance; returns whether it did.
    fn answer_plain(&self, text: &str, moment: &mut Moment, output: &mut Output) -> bool {
        let Some(name) = plain_member(text) else { return false };
        // The long way reports the fault.
        let Ok(members) = moment.members(&self.database) else { return false };
        let end = if self.database.dialect().newline_at_end { "\n" } else { "" };
        let show = |line: &str| {
            let short = line.len() < REPLIES_BYTES;
            if short {
                wire::write_parts(&[line.as_bytes(), end.as_bytes()], &mut output.bytes);
            }
            short
        };
        if let Some(reply) = self.database.read_member(members, name, show) {
            self.reply(reply, output);
        }
        true
    }

    /// Answers a command that waits; `payload` is its text.
    async fn answer_waiting(&self, command: Command, payload: &[u8], output: &mut Output) {
        let started = self.started();
        self.reply(self.run(command).await, output);
        self.trace(started, std::str::from_utf8(payload).unwrap_or_default());
    }

    /// The present time, if commands are traced.
    fn started(&self) -> Option<Instant> {
        self.settings.trace.as_ref().map(|_| Instant::now())
    }

    fn trace(&self, started: Option<Instant>, text: &str) {
        if let (Some(trace), Some(started)) = (&self.settings.trace, started) {
            let words: String = text.split('\n').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            let shown: String = words.chars().take(80).collect();
            trace(&format!("{:.6} {}", started.elapsed().as_secs_f64(), shown.escape_debug()));
        }
    }

    /// Adds a reply, if there is room for it.
    fn reply(&self, mut reply: String, output: &mut Output) {
        if reply.len() > REPLIES_BYTES {
            // This connection has one at a time: it is sent before the next request is answered.
            output.room = self.settings.sending.at_once(reply.len());
            if output.room.is_none() {
                reply = self.database.refusal(&format!(
                    "the reply has {} KiB, and all replies that wait to be taken have at most {}; ask again, or for a \
                     part",
                    reply.len().div_ceil(1024),
                    self.settings.sending.max() / 1024
                ));
            }
        }
        wire::write(reply.as_bytes(), &mut output.bytes);
    }

    async fn turn(&self, name: &str) -> Option<OwnedSemaphorePermit> {
        let hash = self.hash.hash_one(name);
        let turn = self.turns.get(usize::try_from(hash % TURNS as u64).unwrap_or(0))?;
        Arc::clone(turn).acquire_owned().await.ok()
    }

    /// Whether a command waits for the disk.
    fn waits(&self, command: &Command) -> bool {
        command.operator == Operator::Flush || command.operator.writes() && self.database.writes_wait()
    }

    /// The places of which a command needs one; none if it takes microseconds.
    fn places(&self, command: &Command) -> Option<&Arc<Semaphore>> {
        match (command.is_large(), self.waits(command)) {
            (true, _) => Some(&self.large),
            (_, true) => Some(&self.waiting),
            _ => None,
        }
    }

    /// Carries out a command. If it takes microseconds, or waits for the disk once, it runs on this thread, whose other
    /// tasks move to another thread meanwhile. If it takes long, it runs on another thread.
    async fn run(&self, command: Command) -> String {
        let Some(places) = self.places(&command) else { return self.database.run(&command) };
        let turn = match (self.waits(&command), command.steps.first()) {
            (true, Some(Step::Key(name) | Step::Reference(name))) => self.turn(name).await,
            _ => None,
        };
        let Ok(place) = Arc::clone(places).acquire_owned().await else {
            return self.database.refusal("the server stops");
        };
        let alone = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
        if !alone && !command.is_large() && command.operator != Operator::Flush {
            // No thread has to be woken for it or by it.
            let done = catch_unwind(AssertUnwindSafe(|| tokio::task::block_in_place(|| self.database.run(&command))));
            drop((turn, place));
            return done.unwrap_or_else(|_| self.panicked());
        }
        let database = self.database.clone();
        let done = tokio::task::spawn_blocking(move || {
            let reply = database.run(&command);
            drop((turn, place));
            reply
        });
        done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a command's work panicked");
            self.panicked()
        })
    }

    /// Whether it only waits for the disk: then others may be committed with it.
    pub(crate) fn goes_together(&self, command: &Command) -> bool {
        command.operator.writes()
            && self.database.writes_wait()
            && !command.is_large()
            && !matches!(command.steps.first(), Some(Step::Key(name)) if self.database.is_large(name))
    }

    /// The replies to commands that are committed together.
    pub(crate) fn write_together(&self, commands: &[Command]) -> Vec<String> {
        self.database.run_together(commands)
    }

    /// Adds the reply to a write that was committed elsewhere.
    pub(crate) fn answer_written(&self, reply: String, begun: Option<(Instant, String)>, output: &mut Output) {
        self.reply(reply, output);
        if let Some((started, text)) = begun {
            self.trace(Some(started), &text);
        }
    }

    /// The start time and the text of a write, if commands are traced.
    pub(crate) fn begun(&self, payload: &[u8]) -> Option<(Instant, String)> {
        self.started().map(|started| (started, String::from_utf8_lossy(payload).into_owned()))
    }

    pub(crate) fn panicked(&self) -> String {
        self.database.refusal(PANICKED)
    }
}

fn no_room(_: NoRoom) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "others wait for the memory that its request takes")
}

/// Most work is done at once, and needs no timer.
async fn in_time<T>(patience: Duration, work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let mut work = pin!(work);
    match poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        Poll::Ready(done) => done,
        Poll::Pending => {
            tokio::time::timeout(patience, work).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use recension::Store;
    use recension::engine::Durability;

    use super::*;
    use crate::Dialect;

    proptest! {
        /// Reads at a glance, or as of a shared moment, give the same answers as commands one after the other.
        #[test]
        fn frames_that_come_together_are_answered_as_commands_one_after_the_other(
            requests in prop::collection::vec("(a|b|!a|_a|\\$|--keys|@|é)(\n(=|\\+|-|--set|--del)\n(1|x|!a|\"!b\"|\\{\"a\":1\\}|long text))?", 1..20),
            dialect in prop::sample::select(Dialect::ALL.to_vec()),
        ) {
            let database = || Database::on(&Store::memory().unwrap(), dialect).unwrap().with_durability(Durability::Process);
            let (_stop, stopping) = watch::channel(false);
            let service = Service::new(database(), Settings::default(), stopping);
            let (mut speaker, mut moment) = (service.speaker(Peer::Network), Moment::default());
            let mut output = Output::default();
            let (mut expected, other) = (Vec::new(), database());
            for request in &requests {
                match service.answer_at_once(request.as_bytes(), &mut speaker, &mut moment, &mut output) {
                    FrameOutcome::Answered(then) => prop_assert!(then == Then::GoOn),
                    FrameOutcome::Waits(command) => {
                        moment = Moment::default();
                        wire::write(service.database.run(&command).as_bytes(), &mut output.bytes);
                    }
                }
                wire::write(other.answer(request).as_bytes(), &mut expected);
            }
            prop_assert_eq!(output.bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
        }
    }

    #[test]
    fn others_are_seldom_let_write_where_that_was_in_vain() {
        let mut vain = Vain::up_to(PASSES_MAX);
        for passes in [1, 2, 4, 8, 16, 32, 64, 64] {
            assert!(!vain.passes());
            vain.was(true);
            for pass in 0..passes {
                assert!(vain.passes(), "{pass} of {passes}");
            }
        }
        vain.was(false);
        assert!(!vain.passes(), "once others wrote they are let again at once");
    }
}
