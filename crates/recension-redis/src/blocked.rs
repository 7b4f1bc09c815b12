//! Commands that wait for an element: BLPOP and its like. Whoever waits longest for a key is served first. The
//! connection
//! tries the command again whenever something was added, and once a second, since another node or program may have
//! added it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use recension::engine::budget::Holding;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::command::{Command, Timeout};
use crate::data::{integer, timeout};
use crate::door::Caller;
use crate::limits::TRIED_AGAIN_SECONDS;
use crate::multi::{NO_ROOM, weight};
use crate::reply::Reply;

/// Those that wait, of all callers.
pub(crate) struct Waiting {
    /// By their numbers: the lowest waits longest.
    queue: Mutex<(u64, BTreeMap<u64, Turn>)>,
    /// How often something was added.
    pushed: watch::Sender<u64>,
    /// How often one has tried, or waits no longer.
    moved: watch::Sender<u64>,
}

/// One that waits: its keys, and what had been added when it tried last.
struct Turn {
    database: usize,
    keys: Vec<Vec<u8>>,
    tried: u64,
}

impl Default for Waiting {
    fn default() -> Self {
        Waiting { queue: Mutex::default(), pushed: watch::Sender::new(0), moved: watch::Sender::new(0) }
    }
}

impl Waiting {
    /// Something was added.
    pub(crate) fn push(&self) {
        self.pushed.send_modify(|pushed| *pushed += 1);
    }

    /// How many wait.
    pub(crate) fn count(&self) -> usize {
        self.queue.lock().1.len()
    }

    /// Whether all that have waited longer for one of its keys have tried since.
    fn is_turn(&self, number: u64, pushed: u64) -> bool {
        let (_, queue) = &*self.queue.lock();
        let Some(own) = queue.get(&number) else { return true };
        let is_before = |other: &Turn| {
            other.tried < pushed
                && other.database == own.database
                && other.keys.iter().any(|key| own.keys.contains(key))
        };
        !queue.range(..number).any(|(_, other)| is_before(other))
    }
}

/// A place among those that wait.
struct Place {
    waiting: Arc<Waiting>,
    number: u64,
}

impl Place {
    fn take(waiting: &Arc<Waiting>, turn: Turn) -> Self {
        let (next, queue) = &mut *waiting.queue.lock();
        *next += 1;
        queue.insert(*next, turn);
        Place { waiting: waiting.clone(), number: *next }
    }

    fn has_tried(&self, pushed: u64) {
        if let Some(turn) = self.waiting.queue.lock().1.get_mut(&self.number) {
            turn.tried = pushed;
        }
        self.waiting.moved.send_modify(|moved| *moved += 1);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.waiting.queue.lock().1.remove(&self.number);
        self.waiting.moved.send_modify(|moved| *moved += 1);
    }
}

/// A command that waits.
pub(crate) struct Blocked {
    command: &'static Command,
    request: Vec<Vec<u8>>,
    until: Option<Instant>,
    /// The reply if nothing comes.
    nothing: Reply,
    /// What had been added when it was tried last.
    seen: u64,
    place: Place,
    _kept: Holding,
}

impl Blocked {
    /// Waits until it is worth trying again, or time is up. It may be given up and begun again at any moment.
    pub(crate) async fn wait(&self) {
        let again = Instant::now() + Duration::from_secs(TRIED_AGAIN_SECONDS);
        let until = self.until.map_or(again, |until| until.min(again));
        tokio::select! {
            () = self.turn() => {}
            () = sleep_until(until) => {}
        }
    }

    /// Waits until something was added, and all that have waited longer for it have tried.
    async fn turn(&self) {
        let waiting = &self.place.waiting;
        let (mut pushed, mut moved) = (waiting.pushed.subscribe(), waiting.moved.subscribe());
        // The senders are there as long as the place is.
        let pushed = pushed.wait_for(|pushed| *pushed != self.seen).await.map_or(0, |pushed| *pushed);
        let _ = moved.wait_for(|_| waiting.is_turn(self.place.number, pushed)).await;
    }
}

/// The keys that a request waits for.
fn keys_of(command: &Command, request: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let end = request.len() - 1;
    let keys = match command.waits {
        // The timeout, the number of keys, the keys.
        Some(Timeout::First) => {
            let number = integer(&request[2]).ok().and_then(|number| usize::try_from(number).ok()).unwrap_or(0);
            request.get(3..number.saturating_add(3))
        }
        // Elements are moved from one key only.
        _ if command.keys.1 == 2 => request.get(1..2),
        _ => request.get(1..end),
    };
    keys.unwrap_or_default().to_vec()
}

impl Caller {
    /// Whether a request may wait, so that what comes behind it is not looked at before.
    pub(crate) fn may_wait(&self, request: &[Vec<u8>]) -> bool {
        let command = request.first().and_then(|name| (self.shared.find)(name));
        self.queued.is_none() && command.is_some_and(|command| command.waits.is_some())
    }

    /// Runs a command that may wait. If it has nothing to return, the caller is blocked, and there is no reply yet.
    pub(crate) fn run_waiting(&mut self, command: &'static Command, request: Vec<Vec<u8>>, replies: &mut Vec<Reply>) {
        let seen = *self.shared.waiting.pushed.borrow();
        let argument = match command.waits {
            Some(Timeout::First) => &request[1],
            _ => &request[request.len() - 1],
        };
        let wait = timeout(argument).ok().flatten();
        let until = wait.and_then(|wait| Instant::now().checked_add(wait));
        match self.tried(command, &request) {
            nothing @ (Reply::Null | Reply::NullArray) => {
                let mut kept = Holding::new(&self.shared.keeping);
                // The keys are in the queue of those that wait, too.
                if !kept.grow(2 * weight(&request)) {
                    return replies.push(Reply::error(NO_ROOM));
                }
                let turn = Turn { database: self.database, keys: keys_of(command, &request), tried: seen };
                let place = Place::take(&self.shared.waiting, turn);
                self.blocked = Some(Blocked { command, request, until, nothing, seen, place, _kept: kept });
            }
            reply => replies.push(reply),
        }
    }

    /// Tries the command again that the caller waits for; a reply if it waits no longer.
    pub(crate) fn try_again(&mut self) -> Option<Reply> {
        let mut blocked = self.blocked.take()?;
        let seen = *self.shared.waiting.pushed.borrow();
        self.waited = true;
        let reply = self.tried(blocked.command, &blocked.request);
        self.waited = false;
        match reply {
            Reply::Null | Reply::NullArray if blocked.until.is_none_or(|until| Instant::now() < until) => {
                blocked.seen = seen;
                blocked.place.has_tried(seen);
                self.blocked = Some(blocked);
                None
            }
            reply => Some(reply),
        }
    }

    /// The reply of a command that is not waited for any more.
    pub(crate) fn unblock(&mut self) -> Option<Reply> {
        self.blocked.take().map(|blocked| blocked.nothing)
    }
}
