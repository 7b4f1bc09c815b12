//! An iterator that may touch the disk, as a stream: its items are read in batches on a thread of the pool, the next
//! batch when the last one is used up.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use blocking::{Task, unblock};
use futures_core::Stream;

use recension_values::limits::ASYNC_BATCH_ITEMS;

/// The items of an iterator, as a stream.
pub struct Batched<I: Iterator> {
    state: State<I>,
    items: VecDeque<I::Item>,
}

enum State<I: Iterator> {
    Idle(I),
    Reading(Task<(I, VecDeque<I::Item>)>),
    Ended,
}

impl<I: Iterator> Batched<I> {
    pub(super) fn new(iterator: I) -> Self {
        Batched { state: State::Idle(iterator), items: VecDeque::new() }
    }
}

// Nothing in it is ever borrowed from itself.
impl<I: Iterator> Unpin for Batched<I> {}

impl<I> Stream for Batched<I>
where
    I: Iterator + Send + 'static,
    I::Item: Send + 'static,
{
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<I::Item>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Poll::Ready(Some(item));
            }
            match &mut self.state {
                State::Ended => return Poll::Ready(None),
                State::Reading(task) => {
                    let (iterator, items) = ready!(Pin::new(task).poll(context));
                    // Short of a whole batch, there is no more.
                    self.state = if items.len() < ASYNC_BATCH_ITEMS { State::Ended } else { State::Idle(iterator) };
                    self.items = items;
                }
                state @ State::Idle(_) => {
                    let State::Idle(mut iterator) = std::mem::replace(state, State::Ended) else { continue };
                    *state = State::Reading(unblock(move || {
                        let items = iterator.by_ref().take(ASYNC_BATCH_ITEMS).collect();
                        (iterator, items)
                    }));
                }
            }
        }
    }
}
