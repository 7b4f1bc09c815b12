//! One connection with many requests under way: threads write theirs one behind the other, and one of those that wait
//! reads for all. The owner answers in the order of the requests, so each answer is that of the one who waits longest.

use std::collections::VecDeque;
use std::io::{BufReader, Read, Write};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::answer::Answer;
use crate::frame::{self, Message};
use crate::wire::Halves;

/// Why there is no answer.
#[derive(Clone, Debug)]
pub(crate) enum NoAnswer {
    /// The owner cannot have the whole request: nothing was done.
    NotSent(String),
    /// Whether it was done is not known.
    Unknown(String),
}

type Outcome = std::result::Result<Vec<u8>, NoAnswer>;

/// A connection that threads share.
pub(crate) struct Pipe {
    writing: Mutex<Writing>,
    state: Mutex<State>,
}

struct Writing {
    to: Box<dyn Write + Send>,
    last_request: u32,
}

struct State {
    /// Here while nobody reads.
    from: Option<BufReader<Box<dyn Read + Send>>>,
    /// Those that wait, in the order of their requests.
    waiting: VecDeque<Arc<Waiting>>,
    /// Why it is of no use any more.
    broken: Option<String>,
}

/// Who waits for an answer.
struct Waiting {
    request: u32,
    /// Something has come for it, or it is its turn to read.
    woken: Condvar,
    outcome: Mutex<Option<Outcome>>,
}

impl Pipe {
    /// The connection, and what is called when the owner has greeted.
    pub(crate) fn new(halves: Halves) -> (Self, Box<dyn FnOnce() -> std::io::Result<()> + Send>) {
        let from = BufReader::with_capacity(64 << 10, halves.read);
        let pipe = Pipe {
            writing: Mutex::new(Writing { to: halves.write, last_request: 0 }),
            state: Mutex::new(State { from: Some(from), waiting: VecDeque::new(), broken: None }),
        };
        (pipe, halves.greeted)
    }

    /// The answer to an encoded request. Others may ask meanwhile.
    pub(crate) fn ask(&self, request: &[u8]) -> std::result::Result<Answer, NoAnswer> {
        let payload = self.send(request).and_then(|waiting| self.wait(&waiting))?;
        Answer::decode(&payload).map_err(|error| NoAnswer::Unknown(error.to_string()))
    }

    fn send(&self, request: &[u8]) -> std::result::Result<Arc<Waiting>, NoAnswer> {
        let mut writing = self.writing.lock();
        // 0 is no request's number.
        writing.last_request = writing.last_request.checked_add(1).unwrap_or(1);
        let number = writing.last_request;
        let waiting = Arc::new(Waiting { request: number, woken: Condvar::new(), outcome: Mutex::default() });
        {
            let mut state = self.state.lock();
            if let Some(why) = &state.broken {
                return Err(NoAnswer::NotSent(why.clone()));
            }
            state.waiting.push_back(Arc::clone(&waiting));
        }
        let Err(error) = frame::write(&mut writing.to, number, request) else { return Ok(waiting) };
        // What was asked before may be answered still.
        let mut state = self.state.lock();
        state.waiting.retain(|other| other.request != number);
        state.broken.get_or_insert_with(|| error.to_string());
        Err(NoAnswer::NotSent(error.to_string()))
    }

    fn wait(&self, own: &Waiting) -> Outcome {
        let mut state = self.state.lock();
        loop {
            if let Some(outcome) = own.outcome.lock().take() {
                return outcome;
            }
            match state.from.take() {
                Some(from) => state = self.read_for_all(state, from, own),
                None => own.woken.wait(&mut state),
            }
        }
    }

    /// Reads until there is an answer for `own`, then leaves the reading to who waits longest.
    fn read_for_all<'p>(
        &'p self,
        mut state: MutexGuard<'p, State>,
        mut from: BufReader<Box<dyn Read + Send>>,
        own: &Waiting,
    ) -> MutexGuard<'p, State> {
        loop {
            drop(state);
            let message = frame::read(&mut from).map_err(|error| error.to_string());
            state = self.state.lock();
            let outcome = match message {
                Ok(Some(message)) => given(&mut state, message),
                Ok(None) => Err(NoAnswer::Unknown("its owner has ended".to_owned())),
                Err(why) => Err(NoAnswer::Unknown(why)),
            };
            if let Err(no_answer) = outcome {
                let (NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) = &no_answer;
                state.broken.get_or_insert_with(|| why.clone());
                for waiting in state.waiting.drain(..) {
                    waiting.give(Err(no_answer.clone()));
                }
            }
            if own.outcome.lock().is_some() {
                break;
            }
        }
        state.from = Some(from);
        if let Some(next) = state.waiting.front() {
            next.woken.notify_one();
        }
        state
    }
}

impl Waiting {
    fn give(&self, outcome: Outcome) {
        *self.outcome.lock() = Some(outcome);
        self.woken.notify_one();
    }
}

/// Gives an answer to who waits for it.
fn given(state: &mut State, message: Message) -> std::result::Result<(), NoAnswer> {
    // A refusal of the connection itself belongs to no request.
    if message.request == 0
        && let Ok(Answer::Failed(error)) = Answer::decode(&message.payload)
    {
        return Err(NoAnswer::NotSent(error.to_string()));
    }
    match state.waiting.pop_front() {
        Some(first) if first.request == message.request => {
            first.give(Ok(message.payload));
            Ok(())
        }
        other => {
            state.waiting.extend(other);
            Err(NoAnswer::Unknown("the owner has answered another request".to_owned()))
        }
    }
}
