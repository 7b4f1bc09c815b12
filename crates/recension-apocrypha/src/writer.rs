//! The writer: a thread that commits the writes of all event loops. Writes that are at hand are committed together,
//! with one wait for the disk, and each loop gets its replies at once. A write must never be answered before its commit
//! is acknowledged.
//!
//! Of several writes of one member, a group has only the first: the others would have to run again.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use recension::engine::pacing::Vain;

use crate::language::{Command, Step};
use crate::limits::{LOOK_MICROS, PASSES_MAX, WRITES_TOGETHER_MAX};
use crate::session::Service;

/// The writer waits for more writes for this part of the time that the last group took.
const WAIT_PART: u32 = 2;
/// And no longer than this.
const WAIT_MAX: Duration = Duration::from_micros(200);

/// A write of an event loop's connection.
pub(crate) struct Write {
    /// The connection's number in its loop.
    pub(crate) number: usize,
    pub(crate) command: Command,
}

/// Writes that an event loop has collected.
pub(crate) struct Writes {
    /// The loop's number.
    pub(crate) of: usize,
    pub(crate) writes: Vec<Write>,
}

/// Connections' numbers, and the replies to their writes.
pub(crate) type Replies = Vec<(usize, String)>;

/// Commits the writes of event loops, until every loop has dropped its sender.
pub(crate) struct Writer<T> {
    service: Service,
    brought: Receiver<Writes>,
    /// Gives each loop its replies.
    give: Vec<T>,
    waiting: VecDeque<(usize, Write)>,
    pace: Pace,
    /// Whether it polls for writes for a while before it sleeps.
    looks: bool,
    vain: Vain,
}

/// The last group, which decides whether to wait for more: its callers come back right after their answers, and would
/// otherwise wait for two groups.
#[derive(Default)]
struct Pace {
    /// Its size, with the writes that waited at its end.
    expected: usize,
    /// How long it took.
    took: Duration,
    vain: Vain,
}

impl<T: Fn(Replies)> Writer<T> {
    pub(crate) fn new(service: Service, brought: Receiver<Writes>, give: Vec<T>, looks: bool) -> Self {
        let (waiting, pace, vain) = (VecDeque::new(), Pace::default(), Vain::up_to(PASSES_MAX));
        Writer { service, brought, give, waiting, pace, looks, vain }
    }

    /// Works until every loop has ended, which they do when they have their replies.
    pub(crate) fn run(mut self) {
        while self.wait() {
            self.wait_for_more();
            let group = self.gather();
            let started = Instant::now();
            let (from, commands): (Vec<_>, Vec<_>) =
                group.into_iter().map(|(of, Write { number, command })| ((of, number), command)).unzip();
            let written = catch_unwind(AssertUnwindSafe(|| self.service.write_together(&commands)));
            let replies = written.unwrap_or_else(|_| vec![self.service.panicked(); commands.len()]);
            self.take();
            self.pace.expected = commands.len() + self.waiting.len();
            self.pace.took = started.elapsed();
            let mut given: Vec<Replies> = self.give.iter().map(|_| Replies::new()).collect();
            for ((of, number), reply) in from.into_iter().zip(replies) {
                if let Some(replies) = given.get_mut(of) {
                    replies.push((number, reply));
                }
            }
            for (give, replies) in self.give.iter().zip(given) {
                if !replies.is_empty() {
                    give(replies);
                }
            }
        }
    }

    /// Waits until there is something to write; `false` if nothing more will come.
    fn wait(&mut self) -> bool {
        if !self.take() {
            return !self.waiting.is_empty();
        }
        if self.waiting.is_empty() && self.looks && !self.vain.passes() {
            let until = Instant::now() + Duration::from_micros(LOOK_MICROS);
            while self.waiting.is_empty() && Instant::now() < until {
                std::thread::yield_now();
                self.take();
            }
            // If other threads use the processor for longer than that, a sleeping thread runs before one that yields.
            self.vain.was(Instant::now() >= until);
        }
        if self.waiting.is_empty() {
            let Ok(writes) = self.brought.recv() else { return false };
            self.bring(writes);
        }
        true
    }

    /// Takes the collected writes of loops; returns whether more may come.
    fn take(&mut self) -> bool {
        loop {
            match self.brought.try_recv() {
                Ok(writes) => self.bring(writes),
                Err(error) => return error == TryRecvError::Empty,
            }
        }
    }

    fn bring(&mut self, Writes { of, writes }: Writes) {
        self.waiting.extend(writes.into_iter().map(|write| (of, write)));
    }

    /// Lets callers of the last group come back first, for a part of the time that it took, and rarely if that was in
    /// vain.
    fn wait_for_more(&mut self) {
        self.take();
        let patience = (self.pace.took / WAIT_PART).min(WAIT_MAX);
        if self.waiting.len() >= self.pace.expected || self.pace.vain.passes() {
            return;
        }
        let until = Instant::now() + patience;
        let in_vain = loop {
            std::thread::yield_now();
            self.take();
            // It is also in vain if all have come, but too late, because other threads use the processor.
            if Instant::now() >= until {
                break true;
            }
            if self.waiting.len() >= self.pace.expected {
                break false;
            }
        };
        self.pace.vain.was(in_vain);
    }

    /// Takes the next group from the waiting writes.
    fn gather(&mut self) -> Vec<(usize, Write)> {
        let mut members = HashSet::new();
        let (mut group, mut later) = (Vec::new(), VecDeque::new());
        for (of, write) in self.waiting.drain(..) {
            let fits = group.len() < WRITES_TOGETHER_MAX;
            if fits && member(&write.command).is_none_or(|member| members.insert(member.to_owned())) {
                group.push((of, write));
            } else {
                later.push_back((of, write));
            }
        }
        self.waiting = later;
        group
    }
}

fn member(command: &Command) -> Option<&str> {
    match command.steps.first() {
        Some(Step::Key(name) | Step::Reference(name)) => Some(name),
        None => None,
    }
}
