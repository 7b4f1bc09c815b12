//! A client's connections. Each has one request under way. If there are as many as allowed, a thread that needs one
//! waits.

use std::io::{self, BufReader};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use recension_engine::{EngineError, Result};

use crate::answer::Answer;
use crate::limits::CLIENT_CONNECTIONS_MAX;
use crate::request::Request;
use crate::wire::{Connector, Wire};
use crate::{PROTOCOL_VERSION, frame};

/// Connections to one owner.
pub(crate) struct Pool {
    to: Arc<dyn Connector>,
    state: Mutex<State>,
    given_back: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    in_use: usize,
}

struct Connection {
    stream: BufReader<Box<dyn Wire>>,
    last_request: u32,
}

/// The reason for which there is no answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// The owner cannot have received the whole request: nothing was done.
    NotSent(String),
    /// It is unknown whether the request was carried out.
    Unknown(String),
}

impl Pool {
    /// Connects to the store's owner.
    pub(crate) fn connect(to: &Arc<dyn Connector>) -> Result<Self> {
        let pool = Pool { to: Arc::clone(to), state: Mutex::default(), given_back: Condvar::new() };
        let first = pool.open()?;
        pool.state.lock().idle.push(first);
        Ok(pool)
    }

    fn open(&self) -> Result<Connection> {
        let unavailable = |error: io::Error| EngineError::Unavailable { why: error.to_string() };
        let stream = BufReader::with_capacity(64 << 10, self.to.connect().map_err(unavailable)?);
        let mut connection = Connection { stream, last_request: 0 };
        if let Some(token) = self.to.token() {
            match connection.ask(&Request::Token { token: token.to_owned() }.encode()) {
                Ok(Answer::Done) => {}
                Ok(Answer::Failed(error)) => return Err(error),
                Ok(_) => return Err(crate::bytes::malformed("no answer to the token")),
                Err(NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) => return Err(EngineError::Unavailable { why }),
            }
        }
        let greeting = Request::Hello { version: PROTOCOL_VERSION }.encode();
        match connection.ask(&greeting) {
            Ok(Answer::Hello { .. }) => Ok(connection),
            Ok(Answer::Failed(error)) => Err(error),
            Ok(_) => Err(crate::bytes::malformed("no greeting")),
            Err(NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) => Err(EngineError::Unavailable { why }),
        }
    }

    /// The owner's answer to an encoded request. A request that may wait long gets a connection beyond the usual
    /// number.
    pub(crate) fn ask(&self, request: &[u8], waits: bool) -> std::result::Result<Answer, NoAnswer> {
        let mut state = self.state.lock();
        while !waits && state.in_use >= CLIENT_CONNECTIONS_MAX {
            self.given_back.wait(&mut state);
        }
        state.in_use += usize::from(!waits);
        let idle = state.idle.pop();
        drop(state);
        let connection = idle.map_or_else(|| self.open().map_err(|error| NoAnswer::NotSent(error.to_string())), Ok);
        let (connection, answer) = match connection {
            Ok(mut connection) => {
                let answer = connection.ask(request);
                (Some(connection), answer)
            }
            Err(error) => (None, Err(error)),
        };
        let mut state = self.state.lock();
        state.in_use -= usize::from(!waits);
        // A connection that has failed once is not used again.
        if answer.is_ok() && state.idle.len() < CLIENT_CONNECTIONS_MAX {
            state.idle.extend(connection);
        }
        drop(state);
        self.given_back.notify_one();
        answer
    }
}

impl Connection {
    fn ask(&mut self, request: &[u8]) -> std::result::Result<Answer, NoAnswer> {
        self.last_request = self.last_request.wrapping_add(1);
        let number = self.last_request;
        frame::write(self.stream.get_mut(), number, request).map_err(|error| NoAnswer::NotSent(error.to_string()))?;
        let unknown = |why: String| NoAnswer::Unknown(why);
        let message = frame::read(&mut self.stream)
            .map_err(|error| unknown(error.to_string()))?
            .ok_or_else(|| unknown("its owner has ended".to_owned()))?;
        let answer = Answer::decode(&message.payload).map_err(|error| unknown(error.to_string()))?;
        match answer {
            // An error of the connection itself belongs to no request.
            Answer::Failed(error) if message.request == 0 => Err(NoAnswer::NotSent(error.to_string())),
            answer if message.request == number => Ok(answer),
            _ => Err(unknown("the owner has answered another request".to_owned())),
        }
    }
}
