//! The door and its callers: requests in, replies out. Consecutive commands on data are one transaction, and so are the
//! commands between MULTI and EXEC. Nothing here knows sockets.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::Mutex;
use recension::engine::Durability;
use recension::engine::budget::Budget;
use recension::{Error, KeyValue, Keys, Store, Subscriber, Transaction};
use tokio::sync::Semaphore;

use crate::blocked::{Blocked, Waiting};
use crate::command::{Command, Kind};
use crate::data::{Data, Refusal};
use crate::limits::{DATABASES, KEPT_BYTES, REPLIES_BYTES, REPLY_BYTES_MAX, SENDING_MAX};
use crate::long::{Gathered, Long, Turn, Turns, waiting};
use crate::multi::{Queue, WatchedKeys};
use crate::reply::{Protocol, Reply};
use crate::scans::Scans;
use crate::script::Script;
use crate::settings::{Attempt, Settings, Standing};
use crate::watchers::Watchers;

/// A store as clients of Redis see it. Clones are cheap and the same.
#[derive(Clone)]
pub struct Door {
    pub(crate) shared: Arc<Shared>,
}

/// Finds a command by its name.
pub(crate) type Find = fn(&[u8]) -> Option<&'static Command>;

pub(crate) struct Shared {
    pub(crate) find: Find,
    pub(crate) store: Store,
    pub(crate) settings: Settings,
    pub(crate) scans: Mutex<Scans>,
    pub(crate) watchers: Watchers,
    /// The scripts of EVAL and SCRIPT LOAD with the lengths of their texts, by their hash.
    pub(crate) scripts: Mutex<HashMap<String, (Arc<Script>, usize)>>,
    /// Those that wait for an element.
    pub(crate) waiting: Arc<Waiting>,
    /// Those that make long replies.
    pub(crate) long: Arc<Turns>,
    /// Room for what callers keep from one request to the next.
    pub(crate) keeping: Arc<Budget>,
    /// The turns of those that send something long.
    pub(crate) sending: Arc<Semaphore>,
    pub(crate) callers: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) connected: AtomicU64,
    ids: AtomicI64,
}

impl Door {
    /// The door of a store, with the commands that `find` finds.
    pub(crate) fn with(store: &Store, settings: Settings, find: Find) -> Self {
        let shared = Shared {
            find,
            store: store.clone(),
            settings,
            scans: Mutex::default(),
            watchers: Watchers::default(),
            scripts: Mutex::default(),
            waiting: Arc::default(),
            long: Arc::default(),
            keeping: Budget::new(KEPT_BYTES),
            sending: Arc::new(Semaphore::new(SENDING_MAX)),
            callers: AtomicU64::new(0),
            commands: AtomicU64::new(0),
            connected: AtomicU64::new(0),
            ids: AtomicI64::new(0),
        };
        Door { shared: Arc::new(shared) }
    }

    /// A new caller.
    pub fn caller(&self) -> Caller {
        self.shared.callers.fetch_add(1, Ordering::Relaxed);
        self.shared.connected.fetch_add(1, Ordering::Relaxed);
        let mut caller = Caller {
            shared: self.shared.clone(),
            id: self.shared.ids.fetch_add(1, Ordering::Relaxed) + 1,
            name: Vec::new(),
            library: Default::default(),
            database: 0,
            protocol: Protocol::Resp2,
            known: false,
            from: None,
            attempted: None,
            standing: None,
            queued: None,
            watched: WatchedKeys::new(&self.shared.keeping),
            subscriber: None,
            blocked: None,
            waited: false,
            ends: false,
            turn: None,
            long: Long::Kept,
            keys: HashMap::new(),
        };
        caller.reset();
        caller
    }
}

impl std::fmt::Debug for Door {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Door").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

/// A command between MULTI and EXEC.
pub(crate) type Queued = (&'static Command, Vec<Vec<u8>>);

/// The reply to EXEC if those of its commands would be too long.
const TOO_LONG: &str = "EXECABORT Transaction discarded: its replies have more than 64 MiB together.";

/// What long replies of one transaction come to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The commands behind are left.
    Left,
    /// Nothing is done.
    Refused,
}

/// A caller: the counterpart of a connection to Redis.
pub struct Caller {
    pub(crate) shared: Arc<Shared>,
    pub(crate) id: i64,
    pub(crate) name: Vec<u8>,
    /// The name and the version of the client's library, as CLIENT SETINFO says them.
    pub(crate) library: [String; 2],
    pub(crate) database: usize,
    pub(crate) protocol: Protocol,
    /// It needs no password, or has sent the right one.
    pub(crate) known: bool,
    /// Where it asks from.
    pub(crate) from: Option<IpAddr>,
    /// What came of the attempt to log in that is answered next.
    pub(crate) attempted: Option<Attempt>,
    /// What its rights rest on, if they may end.
    pub(crate) standing: Option<Box<dyn Standing>>,
    pub(crate) queued: Option<Queue>,
    pub(crate) watched: WatchedKeys,
    pub(crate) subscriber: Option<Subscriber>,
    /// The command that waits for an element.
    pub(crate) blocked: Option<Blocked>,
    /// The command that runs has waited.
    pub(crate) waited: bool,
    /// The connection ends after the replies.
    pub(crate) ends: bool,
    /// It has made a long reply that is not paid for yet.
    pub(crate) turn: Option<Turn>,
    /// What becomes of a long reply for which there is no room.
    pub(crate) long: Long,
    keys: HashMap<usize, Keys>,
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.shared.connected.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The namespace of a numbered database.
pub(crate) fn namespace(database: usize) -> String {
    if database == 0 { "redis".to_owned() } else { format!("redis-{database}") }
}

impl Caller {
    /// Answers one request, and does not wait for an element that a command wants. Messages of subscriptions come by
    /// [`Caller::subscriber`].
    pub fn call(&mut self, request: &[&[u8]]) -> Reply {
        let request: Vec<Vec<u8>> = request.iter().map(|argument| argument.to_vec()).collect();
        let mut replies = Vec::new();
        self.call_all(vec![request], &mut replies);
        replies.extend(self.unblock());
        self.turn = None;
        match replies.len() {
            1 => replies.pop().unwrap_or(Reply::Null),
            _ => Reply::Array(replies),
        }
    }

    /// The subscriber that receives the messages of this caller's subscriptions.
    pub fn subscriber(&mut self) -> Option<&mut Subscriber> {
        self.subscriber.as_mut()
    }

    /// Resets the state to that of a new connection.
    pub(crate) fn reset(&mut self) {
        self.name.clear();
        self.database = 0;
        self.protocol = Protocol::Resp2;
        self.known = self.shared.settings.authenticate.is_none();
        self.standing = None;
        self.queued = None;
        self.watched.clear();
        self.subscriber = None;
        self.blocked = None;
    }

    /// Answers requests in their order. Consecutive commands on data are one commit. A command that waits for an
    /// element
    /// is the last one that is looked at.
    pub fn call_all(&mut self, mut requests: Vec<Vec<Vec<u8>>>, replies: &mut Vec<Reply>) {
        while !requests.is_empty() {
            requests = self.call_some(requests, replies);
        }
    }

    /// The same, until the replies of one commit are so long that they are better sent before others are made; returns
    /// the requests that are left.
    pub(crate) fn call_some(&mut self, requests: Vec<Vec<Vec<u8>>>, replies: &mut Vec<Reply>) -> Vec<Vec<Vec<u8>>> {
        self.shared.commands.fetch_add(requests.len() as u64, Ordering::Relaxed);
        let mut run: Vec<Queued> = Vec::new();
        let mut requests = requests.into_iter();
        while let Some(request) = requests.next() {
            let checked = self.check(&request);
            if let Ok(command) = checked
                && self.runs_together(command, &request)
            {
                run.push((command, request));
                continue;
            }
            let left = self.run_data(std::mem::take(&mut run), replies);
            if !left.is_empty() {
                return self.uncalled(left.into_iter().chain([request]).chain(requests).collect());
            }
            match checked {
                Ok(command) if self.may_wait(&request) => self.run_waiting(command, request, replies),
                Ok(command) => self.run_one(command, request, replies),
                Err(reply) => {
                    if let Some(queue) = &mut self.queued {
                        queue.broken = true;
                    }
                    replies.push(reply);
                }
            }
            if self.ends || self.blocked.is_some() {
                return Vec::new();
            }
        }
        let left = self.run_data(run, replies);
        self.uncalled(left)
    }

    /// Requests that are still to be called, and were counted already.
    fn uncalled(&self, left: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Vec<u8>>> {
        // CONFIG RESETSTAT may have been among them.
        let less = |commands: u64| Some(commands.saturating_sub(left.len() as u64));
        let _ = self.shared.commands.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        left
    }

    /// Whether a request is one commit with those beside it.
    fn runs_together(&self, command: &Command, request: &[Vec<u8>]) -> bool {
        self.queued.is_none() && matches!(command.kind, Kind::Data(..)) && !self.may_wait(request)
    }

    /// Whether a request reads and does nothing else, so that it can be made again.
    pub(crate) fn only_reads(&self, request: &[Vec<u8>]) -> bool {
        let Some(command) = request.first().and_then(|name| (self.shared.find)(name)) else { return false };
        self.queued.is_none() && !command.writes && matches!(command.kind, Kind::Data(..)) && command.name != "PUBLISH"
    }

    /// Whether what the caller logged in with still holds.
    pub(crate) fn has_rights(&mut self) -> bool {
        self.standing.as_mut().is_none_or(|standing| standing.holds())
    }

    /// The reply to one command on data.
    pub(crate) fn tried(&mut self, command: &'static Command, request: &[Vec<u8>]) -> Reply {
        let mut replies = Vec::with_capacity(1);
        self.run_together(&[(command, request.to_vec())], &mut replies);
        replies.pop().unwrap_or(Reply::Null)
    }

    /// The command of a request, if it may be called.
    fn check(&self, request: &[Vec<u8>]) -> Result<&'static Command, Reply> {
        let name = request.first().map(Vec::as_slice).unwrap_or_default();
        let Some(command) = (self.shared.find)(name) else {
            let name: String = String::from_utf8_lossy(name).chars().take(80).collect();
            let mut args = String::new();
            for argument in request.iter().skip(1) {
                if args.len() >= 128 {
                    break;
                }
                let argument = String::from_utf8_lossy(argument);
                args.extend(["'"].into_iter().chain([&argument[..argument.floor_char_boundary(128)], "' "]));
            }
            return Err(Reply::error(format_args!("unknown command '{name}', with args beginning with: {args}")));
        };
        if !self.known && !command.without_auth {
            return Err(Reply::Error("NOAUTH Authentication required.".to_owned()));
        }
        if !command.takes(request.len()) {
            let name = command.name.to_ascii_lowercase();
            return Err(Reply::error(format_args!("wrong number of arguments for '{name}' command")));
        }
        let listens = self.subscriber.as_ref().is_some_and(|subscriber| subscriber.listening() > 0);
        if listens && self.protocol == Protocol::Resp2 && !command.while_subscribed {
            let name = command.name.to_ascii_lowercase();
            return Err(Reply::error(format_args!(
                "Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in \
                 this context"
            )));
        }
        Ok(command)
    }

    fn run_one(&mut self, command: &'static Command, request: Vec<Vec<u8>>, replies: &mut Vec<Reply>) {
        if let Some(queue) = &mut self.queued
            && !command.within_multi
        {
            return replies.push(queue.add(command, request));
        }
        let arguments: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
        match command.kind {
            Kind::Caller(run) | Kind::Either(run, _) => {
                let reply = run(self, &arguments);
                replies.push(reply);
            }
            Kind::Replies(run) => run(self, &arguments, replies),
            Kind::Data(..) => _ = self.run_together(&[(command, request)], replies),
        }
    }

    /// The keys of the caller's database.
    pub(crate) fn keys(&mut self) -> Result<&Keys, Error> {
        let database = self.database.min(DATABASES);
        if !self.keys.contains_key(&database) {
            let keys = self.shared.store.keys(&namespace(database))?;
            self.keys.insert(database, keys);
        }
        Ok(&self.keys[&database])
    }

    /// Commands on data, in one transaction; returns those that are left once the replies are long.
    fn run_data(&mut self, run: Vec<Queued>, replies: &mut Vec<Reply>) -> Vec<Vec<Vec<u8>>> {
        if run.is_empty() {
            return Vec::new();
        }
        let mut done = 0;
        if run.iter().all(|(command, _)| command.name == "GET") {
            // This is the most frequent command, and needs no transaction.
            let mut bytes = 0;
            for (command, request) in &run {
                if bytes >= REPLIES_BYTES {
                    break;
                }
                match self.keys().and_then(|keys| keys.entry(&request[1])) {
                    Ok(Some(entry)) if !matches!(entry.value, KeyValue::Rows(_)) => {
                        let value = entry.value.into_bytes();
                        replies.push(if self.has_room_if_long(value.len()) { Reply::Bulk(value) } else { Reply::Null });
                    }
                    // It may be a list or a document, which are no strings.
                    Ok(_) => _ = self.run_together(&[(*command, request.clone())], replies),
                    Err(error) => replies.push(refused(error)),
                }
                bytes += replies.last().map_or(0, Reply::weight);
                done += 1;
            }
        } else {
            done = self.run_together(&run, replies);
        }
        run.into_iter().skip(done).map(|(_, request)| request).collect()
    }

    /// Returns how many it has run: those behind a long reply are left.
    fn run_together(&mut self, run: &[Queued], replies: &mut Vec<Reply>) -> usize {
        let waits = run.iter().any(|(command, _)| command.writes);
        match self.in_transaction(run, Ends::Left, waits, |_| Ok(true)) {
            Ok(done) => {
                let done = done.unwrap_or_default();
                let count = done.len();
                replies.extend(done);
                count
            }
            Err(error) => {
                let reply = refused(error);
                replies.extend(run.iter().map(|_| reply.clone()));
                run.len()
            }
        }
    }

    /// Runs commands in one transaction, if `holds` allows it. If one command is refused, the others still run.
    pub(crate) fn in_transaction(
        &mut self,
        run: &[Queued],
        ends: Ends,
        waits: bool,
        holds: impl Fn(&Transaction) -> Result<bool, Error>,
    ) -> Result<Option<Vec<Reply>>, Error> {
        let shared = self.shared.clone();
        let (waits, database) = (waits && self.waits_for_disk(), self.database);
        let mut gathered = self.gathering();
        let mut body = |tx: &Transaction| {
            if !holds(tx)? {
                return Ok(None);
            }
            self.database = database;
            let mut data = Data::of(tx, &shared, database)?;
            data.waited.set(self.waited);
            data.swap_gathered(&mut gathered);
            let (mut replies, mut published, mut pushed) = (Vec::with_capacity(run.len()), Vec::new(), false);
            let mut bytes = 0;
            for (number, (command, request)) in run.iter().enumerate() {
                if data.database != self.database {
                    let next = data.in_database(self.database)?;
                    pushed |= data.pushed.get();
                    published.append(&mut std::mem::replace(&mut data, next).into_published());
                }
                let arguments: Vec<&[u8]> = request.iter().map(Vec::as_slice).collect();
                data.begin(number);
                let outcome = match command.kind {
                    Kind::Data(run) | Kind::Either(_, run) => run(&data, &arguments),
                    Kind::Caller(run) => Ok(run(self, &arguments)),
                    Kind::Replies(_) => continue,
                };
                let reply = match outcome {
                    Ok(reply) | Err(Refusal::Reply(reply)) => reply,
                    Err(Refusal::Store(error)) if is_of_the_request(&error) => refused(error),
                    Err(Refusal::Store(error)) => return Err(error),
                };
                let weight = reply.weight();
                bytes += weight;
                let is_given_up = data.gathered(if ends == Ends::Refused { bytes } else { weight });
                replies.push(if is_given_up { Reply::Null } else { reply });
                match ends {
                    Ends::Left if bytes >= REPLIES_BYTES => break,
                    Ends::Refused if bytes > REPLY_BYTES_MAX => {
                        return Err(Error::Aborted { reason: TOO_LONG.to_owned() });
                    }
                    _ => {}
                }
            }
            pushed |= data.pushed.get();
            data.swap_gathered(&mut gathered);
            published.append(&mut data.into_published());
            Ok(Some((replies, published, pushed)))
        };
        let mut commit = || shared.store.transaction_with(shared.settings.durability, &mut body);
        let done = if waits { waiting(commit) } else { commit() };
        self.made_of(gathered);
        let Some((mut replies, published, pushed)) = done?.0 else { return Ok(None) };
        if pushed {
            shared.waiting.push();
        }
        for (number, topic, payload) in published {
            replies[number] = match shared.store.topics().publish(topic, payload) {
                Ok(told) => Reply::count(told),
                Err(error) => refused(error),
            };
        }
        Ok(Some(replies))
    }

    /// Waits until it may have a reply of this many bytes; returns whether there is room for it.
    fn has_room_if_long(&mut self, bytes: usize) -> bool {
        let mut gathered = self.gathering();
        let has_room = gathered.has_room(bytes);
        self.made_of(gathered);
        has_room
    }

    /// How long replies are made for it.
    fn gathering(&mut self) -> Gathered {
        Gathered::new(&self.shared.long, self.turn.take(), &self.shared.settings.sending, self.long)
    }

    fn made_of(&mut self, gathered: Gathered) {
        (self.turn, self.long) = (gathered.turn, gathered.long);
    }

    fn waits_for_disk(&self) -> bool {
        matches!(self.shared.settings.durability, None | Some(Durability::Disk))
    }
}

/// Whether an error concerns one request only, so that the others in its transaction may go on.
pub(crate) fn is_of_the_request(error: &Error) -> bool {
    !matches!(error, Error::Engine(_) | Error::Busy { .. } | Error::DamagedRow { .. } | Error::NewerLayout { .. })
}

/// The reply to an error of the store.
pub(crate) fn refused(error: Error) -> Reply {
    match error {
        Error::NotANumber { .. } => Reply::error("value is not an integer or out of range"),
        error => Reply::error(error),
    }
}
