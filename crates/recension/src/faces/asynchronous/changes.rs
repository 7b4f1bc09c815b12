//! Changes as a stream. They are read in batches on a thread of the pool. If the feed has caught up, the engine wakes
//! the task at the next commit, and no thread waits.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use blocking::{Task, unblock};
use futures_core::Stream;

use super::ChangeItem;
use crate::faces::changes::Follow;
use crate::kernel::changes::change::Position;
use crate::kernel::changes::pages::Step;
use recension_values::limits::ASYNC_BATCH_ITEMS;

/// Changes as they come: those that exist first, then those to come. The stream ends after an error only.
pub struct ChangeStream {
    state: State,
    changes: VecDeque<ChangeItem>,
    position: Position,
}

enum State {
    Idle(Box<Follow>),
    Reading(Task<(Box<Follow>, VecDeque<ChangeItem>, bool)>),
    /// The feed has caught up.
    CaughtUp(Box<Follow>),
    Ended,
}

impl ChangeStream {
    pub(super) fn new(follow: Follow) -> Self {
        let position = follow.position().clone();
        ChangeStream { state: State::Idle(Box::new(follow)), changes: VecDeque::new(), position }
    }

    /// The position of the feed: behind the changes that it has answered or left out. A new feed from this position
    /// goes on here.
    pub fn position(&self) -> &Position {
        &self.position
    }
}

/// Some changes, and whether there may be more at once. With a filter, a batch may be empty. A stream that is dropped
/// therefore does not keep its thread for long.
fn read(mut follow: Box<Follow>) -> (Box<Follow>, VecDeque<ChangeItem>, bool) {
    let mut changes = VecDeque::new();
    while changes.len() < ASYNC_BATCH_ITEMS {
        match follow.step() {
            Ok(Step::Change(change)) => changes.push_back(Ok(change)),
            Ok(Step::Passed) => break,
            Ok(Step::End) => {
                let more = !changes.is_empty();
                return (follow, changes, more);
            }
            Err(error) => {
                changes.push_back(Err(error));
                break;
            }
        }
    }
    (follow, changes, true)
}

impl Stream for ChangeStream {
    type Item = ChangeItem;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<ChangeItem>> {
        loop {
            match self.changes.pop_front() {
                Some(Ok(change)) => {
                    self.position = change.position();
                    return Poll::Ready(Some(Ok(change)));
                }
                Some(Err(error)) => {
                    self.state = State::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {}
            }
            match &mut self.state {
                State::Ended => return Poll::Ready(None),
                State::Reading(task) => {
                    let (follow, changes, more) = ready!(Pin::new(task).poll(context));
                    if changes.is_empty() {
                        self.position = Follow::position(&follow).clone();
                    }
                    self.state = if more { State::Idle(follow) } else { State::CaughtUp(follow) };
                    self.changes = changes;
                }
                State::CaughtUp(follow) if !follow.ready(context.waker()) => return Poll::Pending,
                state @ (State::Idle(_) | State::CaughtUp(_)) => match std::mem::replace(state, State::Ended) {
                    State::Idle(follow) | State::CaughtUp(follow) => {
                        *state = State::Reading(unblock(move || read(follow)));
                    }
                    State::Reading(_) | State::Ended => {}
                },
            }
        }
    }
}
