//! A client's connections. What the owner answers at once shares a few of them, with many requests under way; what
//! may take long has one to itself, so that nobody waits behind it, and commits of several threads meet in the owner's
//! queue.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use recension_engine::{EngineError, Result};

use crate::PROTOCOL_VERSION;
use crate::answer::Answer;
use crate::limits::{CLIENT_CONNECTIONS_MAX, PIPES_MAX, UNDER_WAY_MANY};
use crate::pipe::{NoAnswer, Pipe};
use crate::request::{Manner, Request};
use crate::wire::Connector;

/// Connections to one owner.
pub(crate) struct Pool {
    to: Arc<dyn Connector>,
    state: Mutex<State>,
    given_back: Condvar,
}

#[derive(Default)]
struct State {
    connections: Vec<Connection>,
    /// How many are being opened.
    opening: usize,
    opened: u64,
}

struct Connection {
    number: u64,
    pipe: Arc<Pipe>,
    /// A request has it to itself.
    alone: bool,
    under_way: usize,
}

/// What there is for a request.
enum Place {
    /// This connection, by its place in the list.
    At(usize),
    /// A new one.
    New,
    /// There are as many as may be.
    None,
}

impl State {
    fn place(&self, manner: Manner) -> Place {
        let free = self.connections.iter().enumerate().filter(|(_, connection)| !connection.alone);
        let room = self.connections.len() + self.opening < CLIENT_CONNECTIONS_MAX;
        if manner == Manner::Together {
            let pipes = free.clone().count() + self.opening;
            return match free.min_by_key(|(_, connection)| connection.under_way) {
                Some((_, least)) if least.under_way >= UNDER_WAY_MANY && room && pipes < PIPES_MAX => Place::New,
                Some((at, _)) => Place::At(at),
                None if room => Place::New,
                None => Place::None,
            };
        }
        match free.clone().find(|(_, connection)| connection.under_way == 0) {
            Some((at, _)) => Place::At(at),
            None if room || manner == Manner::Waits => Place::New,
            None => Place::None,
        }
    }

    fn take(&mut self, at: usize, manner: Manner) -> (u64, Arc<Pipe>) {
        let connection = &mut self.connections[at];
        connection.under_way += 1;
        connection.alone = manner != Manner::Together;
        (connection.number, Arc::clone(&connection.pipe))
    }

    fn add(&mut self, pipe: Arc<Pipe>) -> usize {
        self.opened += 1;
        self.connections.push(Connection { number: self.opened, pipe, alone: false, under_way: 0 });
        self.connections.len() - 1
    }

    fn give_back(&mut self, number: u64, is_whole: bool) {
        let Some(at) = self.connections.iter().position(|connection| connection.number == number) else { return };
        let too_many = self.connections.len() > CLIENT_CONNECTIONS_MAX;
        let connection = &mut self.connections[at];
        connection.under_way -= 1;
        connection.alone = false;
        // A connection that has failed once has nothing more to say.
        if !is_whole || (too_many && connection.under_way == 0) {
            self.connections.swap_remove(at);
        }
    }
}

impl Pool {
    /// Connects to the store's owner.
    pub(crate) fn connect(to: &Arc<dyn Connector>) -> Result<Self> {
        let pool = Pool { to: Arc::clone(to), state: Mutex::default(), given_back: Condvar::new() };
        let first = pool.open()?;
        pool.state.lock().add(Arc::new(first));
        Ok(pool)
    }

    fn open(&self) -> Result<Pipe> {
        let failed = |error: std::io::Error| EngineError::Unavailable { why: error.to_string() };
        let (pipe, greeted) = Pipe::new(self.to.connect().map_err(failed)?);
        let ask = |request: &Request| match pipe.ask(&request.encode()) {
            Ok(Answer::Failed(error)) => Err(error),
            Ok(answer) => Ok(answer),
            Err(NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) => Err(EngineError::Unavailable { why }),
        };
        if let Some(introduction) = self.to.introduction() {
            let Answer::Done = ask(&introduction)? else {
                return Err(crate::bytes::malformed("no answer to who asks"));
            };
        }
        match ask(&Request::Hello { version: PROTOCOL_VERSION })? {
            Answer::Hello { .. } => greeted().map(|()| pipe).map_err(failed),
            _ => Err(crate::bytes::malformed("no greeting")),
        }
    }

    /// The owner's answer to an encoded request. One that may wait long has a connection beyond the usual number.
    pub(crate) fn ask(&self, request: &[u8], manner: Manner) -> std::result::Result<Answer, NoAnswer> {
        let (number, pipe) = self.take(manner)?;
        let answer = pipe.ask(request);
        self.state.lock().give_back(number, answer.is_ok());
        self.given_back.notify_one();
        answer
    }

    fn take(&self, manner: Manner) -> std::result::Result<(u64, Arc<Pipe>), NoAnswer> {
        let mut state = self.state.lock();
        loop {
            match state.place(manner) {
                Place::At(at) => return Ok(state.take(at, manner)),
                Place::None => self.given_back.wait(&mut state),
                Place::New => break,
            }
        }
        state.opening += 1;
        drop(state);
        let opened = self.open();
        let mut state = self.state.lock();
        state.opening -= 1;
        match opened {
            Ok(pipe) => {
                let at = state.add(Arc::new(pipe));
                Ok(state.take(at, manner))
            }
            Err(error) => {
                // There is room for another one again.
                self.given_back.notify_one();
                Err(NoAnswer::NotSent(error.to_string()))
            }
        }
    }
}
