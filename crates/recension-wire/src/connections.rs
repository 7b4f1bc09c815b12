//! Connections and their places, over all listeners. If there is no place or no descriptor for a new one, one that
//! waits is closed for it, the oldest first: of those that have not sent a whole request yet, then of those between two
//! requests, then of those whose request's body does not come. A connection that is worked for is never closed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How long a connection that was told to close is waited for before another is.
const CLOSES_WITHIN: Duration = Duration::from_millis(100);

/// The connections.
#[derive(Debug)]
pub struct Connections {
    places: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
}

/// Those that wait for their client, by what for and since when.
#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    of: BTreeMap<Turn, Arc<Notify>>,
}

/// What a connection waits for. The order is that in which they are closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum For {
    FirstRequest,
    NextRequest,
    Body,
}

type Turn = (For, u64);

/// A connection among the others, until it is dropped.
#[derive(Debug)]
pub struct Line {
    of: Arc<Connections>,
    cut: Arc<Notify>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    has_asked: bool,
    /// Requests that have begun, and those of them whose bodies are waited for.
    requests: usize,
    bodies: usize,
    turn: Option<Turn>,
}

impl State {
    fn waits_for(&self) -> Option<For> {
        match (self.requests, self.has_asked) {
            (0, false) => Some(For::FirstRequest),
            (0, true) => Some(For::NextRequest),
            (requests, _) => (self.bodies == requests).then_some(For::Body),
        }
    }
}

/// A request that is under way on a connection.
#[derive(Debug)]
pub struct UnderWay(Arc<Line>);

/// What a client has begun to send and is waited for.
#[derive(Debug)]
pub struct Coming(Arc<Line>);

impl Connections {
    /// At most this many.
    pub fn up_to(max: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Arc::new(Connections { places, waiting: Mutex::default() })
    }

    /// A place, once there is one. Others are closed for it, one after the other, while there is none.
    pub async fn place(&self) -> OwnedSemaphorePermit {
        loop {
            if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
                return place;
            }
            self.relieve();
            let place = tokio::time::timeout(CLOSES_WITHIN, Arc::clone(&self.places).acquire_owned()).await;
            if let Ok(Ok(place)) = place {
                return place;
            }
        }
    }

    /// A new connection, which waits for its first request.
    pub fn opened(self: &Arc<Self>) -> Arc<Line> {
        let line = Line { of: Arc::clone(self), cut: Arc::default(), state: Mutex::default() };
        line.change(|_| {});
        Arc::new(line)
    }

    /// Closes the one that is closed first; returns whether there was one.
    pub fn relieve(&self) -> bool {
        let first = self.waiting.lock().of.pop_first();
        first.map(|(_, cut)| cut.notify_one()).is_some()
    }

    /// Closes all that wait for a request.
    pub fn close_waiting(&self) {
        let mut waiting = self.waiting.lock();
        let with_requests = waiting.of.split_off(&(For::Body, 0));
        for cut in std::mem::replace(&mut waiting.of, with_requests).into_values() {
            cut.notify_one();
        }
    }
}

impl Line {
    /// Completes when the connection is to be closed.
    pub async fn is_cut(&self) {
        loop {
            self.cut.notified().await;
            // Its next request may have come just before.
            if self.state.lock().waits_for().is_some() {
                return;
            }
        }
    }

    /// A request begins: its head is there.
    pub fn begin(self: &Arc<Self>) -> UnderWay {
        self.change(|state| {
            state.has_asked = true;
            state.requests += 1;
        });
        UnderWay(Arc::clone(self))
    }

    /// A request's body is waited for, until this is dropped.
    pub fn coming(self: &Arc<Self>) -> Coming {
        self.change(|state| state.bodies += 1);
        Coming(Arc::clone(self))
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        let waits_for = state.waits_for();
        if waits_for == state.turn.map(|turn| turn.0) {
            return;
        }
        let mut waiting = self.of.waiting.lock();
        if let Some(turn) = state.turn.take() {
            waiting.of.remove(&turn);
        }
        if let Some(waits_for) = waits_for {
            let turn = (waits_for, waiting.next);
            waiting.next += 1;
            waiting.of.insert(turn, Arc::clone(&self.cut));
            state.turn = Some(turn);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.change(|state| state.requests -= 1);
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.change(|state| state.bodies -= 1);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some(turn) = self.state.get_mut().turn {
            self.of.waiting.lock().of.remove(&turn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn cut(line: &Line) -> bool {
        tokio::time::timeout(Duration::ZERO, line.is_cut()).await.is_ok()
    }

    #[tokio::test]
    async fn the_oldest_that_waits_is_closed_and_none_that_is_worked_for() {
        let all = Connections::up_to(5);
        let [busy, sends, idle, half, late] = std::array::from_fn(|_| all.opened());
        let (under_way, upload) = (busy.begin(), sends.begin());
        let coming = sends.coming();
        drop(idle.begin());
        assert!(all.relieve() && cut(&half).await, "the oldest without a request is first");
        assert!(!cut(&idle).await && !cut(&late).await && !cut(&busy).await && !cut(&sends).await);
        assert!(all.relieve() && cut(&late).await);
        assert!(all.relieve() && cut(&idle).await, "then who waits between two requests");
        assert!(all.relieve() && cut(&sends).await, "then whose body does not come");
        drop((coming, upload));
        assert!(all.relieve() && !all.relieve(), "it waits for a request again; the one with a request stays");
        drop(under_way);
        assert!(all.relieve() && cut(&busy).await);
        drop((busy, sends, idle, half, late));
        assert!(!all.relieve());
    }

    #[tokio::test]
    async fn who_begins_before_it_was_closed_stays() {
        let all = Connections::up_to(1);
        let line = all.opened();
        assert!(all.relieve());
        let under_way = line.begin();
        assert!(!cut(&line).await);
        drop(under_way);
    }

    #[tokio::test]
    async fn a_stop_closes_what_has_not_begun() {
        let all = Connections::up_to(3);
        let [half, idle, sends] = std::array::from_fn(|_| all.opened());
        drop(idle.begin());
        let (_upload, _coming) = (sends.begin(), sends.coming());
        all.close_waiting();
        assert!(cut(&half).await && cut(&idle).await && !cut(&sends).await);
    }

    #[tokio::test]
    async fn a_place_is_made_by_closing_another() {
        let all = Connections::up_to(1);
        let (line, place) = (all.opened(), all.place().await);
        let closes = async {
            line.is_cut().await;
            drop(place);
        };
        let (_place, ()) = tokio::join!(all.place(), closes);
    }
}
