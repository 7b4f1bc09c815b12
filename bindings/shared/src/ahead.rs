//! Long answers: some items are fetched at a time, so that a language's own locks and threads are changed less often.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::Result;

/// Most items, and bytes of them, that are fetched at a time.
const ITEMS: usize = 64;
const BYTES: usize = 256 << 10;

type Items<T> = Box<dyn Iterator<Item = recension::Result<T>> + Send>;

/// Where the items come from.
enum Source<T> {
    /// It has not been asked for yet.
    Later(Box<dyn FnOnce() -> Result<Items<T>> + Send>),
    Now(Items<T>),
    Ended,
}

/// The items of a long answer.
pub struct Ahead<T> {
    state: Mutex<State<T>>,
    bytes: fn(&T) -> usize,
}

struct State<T> {
    source: Source<T>,
    ready: VecDeque<Result<T>>,
}

impl<T> Ahead<T> {
    /// Those of an iterator; `bytes` says about how much memory one takes.
    pub fn new(items: impl Iterator<Item = recension::Result<T>> + Send + 'static, bytes: fn(&T) -> usize) -> Self {
        Self::of(Source::Now(Box::new(items)), bytes)
    }

    /// Those of an iterator that is made when the first one is asked for.
    pub fn later<I>(make: impl FnOnce() -> Result<I> + Send + 'static, bytes: fn(&T) -> usize) -> Self
    where
        I: Iterator<Item = recension::Result<T>> + Send + 'static,
    {
        Self::of(Source::Later(Box::new(move || Ok(Box::new(make()?)))), bytes)
    }

    fn of(source: Source<T>, bytes: fn(&T) -> usize) -> Self {
        Ahead { state: Mutex::new(State { source, ready: VecDeque::new() }), bytes }
    }

    /// The next item. It may wait for the disk, and for another thread that reads.
    pub fn next(&self) -> Option<Result<T>> {
        let mut state = self.state.lock();
        if state.ready.is_empty() {
            self.fill(&mut state);
        }
        state.ready.pop_front()
    }

    /// The next items, as many as are fetched at a time; none at the end.
    pub fn some(&self) -> Result<Vec<T>> {
        let mut state = self.state.lock();
        if state.ready.is_empty() {
            self.fill(&mut state);
        }
        // An error is told once what came before it has been.
        let good = state.ready.iter().take_while(|item| item.is_ok()).count();
        if good == 0 {
            return state.ready.pop_front().transpose().map(|item| item.into_iter().collect());
        }
        state.ready.drain(..good).collect()
    }

    /// Lets go of the snapshot.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.source = Source::Ended;
        state.ready.clear();
    }

    fn fill(&self, state: &mut State<T>) {
        match std::mem::replace(&mut state.source, Source::Ended) {
            Source::Later(make) => match make() {
                Ok(items) => state.source = Source::Now(items),
                Err(refused) => return state.ready.push_back(Err(refused)),
            },
            source => state.source = source,
        }
        let mut bytes = 0;
        while state.ready.len() < ITEMS && bytes < BYTES {
            let item = if let Source::Now(items) = &mut state.source { items.next() } else { None };
            let Some(item) = item else {
                // It holds a snapshot: one that has ended is let go.
                state.source = Source::Ended;
                break;
            };
            bytes += item.as_ref().map_or(BYTES, self.bytes);
            state.ready.push_back(item.map_err(Into::into));
        }
    }
}
