//! The queue of one subscriber. It is bounded: if it is full, messages are counted instead, and the count is delivered.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::faces::topics::{Message, Received};
use recension_values::limits::{QUEUED_MESSAGE_BYTES_MAX, QUEUED_MESSAGES_MAX};

#[derive(Default)]
pub(super) struct Inbox {
    queue: Mutex<Queue>,
    came: Condvar,
}

#[derive(Default)]
struct Queue {
    received: VecDeque<Received>,
    bytes: usize,
    /// Messages that came since the queue was full. The subscriber is told of them after the queue's messages.
    missed: u64,
    waker: Option<Waker>,
}

impl Inbox {
    pub(super) fn put(&self, message: &Arc<Message>, pattern: Option<&Arc<[u8]>>) {
        let size = message.topic.len() + message.payload.len();
        let mut queue = self.queue.lock();
        let is_full = queue.received.len() >= QUEUED_MESSAGES_MAX
            || (queue.bytes + size > QUEUED_MESSAGE_BYTES_MAX && !queue.received.is_empty());
        if is_full {
            queue.missed += 1;
            return;
        }
        if queue.missed > 0 {
            let missed = std::mem::take(&mut queue.missed);
            queue.received.push_back(Received::Missed(missed));
        }
        queue.bytes += size;
        queue.received.push_back(Received::Message(message.clone(), pattern.cloned()));
        self.tell(queue);
    }

    /// A message came that there is no room for.
    pub(super) fn miss(&self) {
        let mut queue = self.queue.lock();
        queue.missed += 1;
        self.tell(queue);
    }

    /// Bytes that wait.
    pub(super) fn bytes(&self) -> usize {
        self.queue.lock().bytes
    }

    /// Loses what waits, and counts it.
    pub(super) fn lose(&self) {
        let mut queue = self.queue.lock();
        let lost = queue.received.drain(..).map(|received| match received {
            Received::Message(..) => 1,
            Received::Missed(missed) => missed,
        });
        let lost: u64 = lost.sum();
        queue.missed += lost;
        queue.bytes = 0;
        self.tell(queue);
    }

    fn tell(&self, mut queue: MutexGuard<'_, Queue>) {
        let waker = queue.waker.take();
        drop(queue);
        self.came.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn take(&self) -> Option<Received> {
        self.queue.lock().take()
    }

    pub(super) fn wait(&self, timeout: Duration) -> Option<Received> {
        let deadline = Instant::now().checked_add(timeout);
        let mut queue = self.queue.lock();
        loop {
            if let Some(received) = queue.take() {
                return Some(received);
            }
            match deadline {
                Some(deadline) if self.came.wait_until(&mut queue, deadline).timed_out() => return queue.take(),
                Some(_) => {}
                None => self.came.wait(&mut queue),
            }
        }
    }

    pub(super) fn poll(&self, context: &mut Context<'_>) -> Poll<Received> {
        let mut queue = self.queue.lock();
        match queue.take() {
            Some(received) => Poll::Ready(received),
            None => {
                queue.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Queue {
    fn take(&mut self) -> Option<Received> {
        let Some(received) = self.received.pop_front() else {
            let missed = std::mem::take(&mut self.missed);
            return (missed > 0).then_some(Received::Missed(missed));
        };
        if let Received::Message(message, _) = &received {
            self.bytes -= message.topic.len() + message.payload.len();
        }
        Some(received)
    }
}
