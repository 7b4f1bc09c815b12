//! Who makes an answer. A thread that makes a long one keeps megabytes of the allocator's memory for the next, and as
//! long as it waits nobody else has them: so the threads of a few connections make their own answers, and of more a few
//! threads make them for all.

use std::io;
use std::num::NonZero;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};

use memmap2::MmapMut;
use parking_lot::Mutex;
use recension_engine::Engine;
use recension_engine::budget::{Budget, FREE_BYTES, Share};

use crate::execute::execute;
use crate::request::Request;
use crate::serve::spawn;

/// Most connections whose own threads make their answers.
const ALONE_MAX: usize = 8;

/// Threads that make the answers of more, at least: some of them wait for the disk.
const THREADS_MIN: usize = 4;

/// The threads that make answers, once the number of connections asks for them.
#[derive(Default)]
pub(crate) struct Makers(OnceLock<Sender<Work>>);

/// Room that a list takes before it is made, if others wait for room: as much as most have.
const LIST_BYTES: usize = 1 << 20;

/// Shortest answer that a mapping is made for.
const MAPPED_BYTES_MIN: usize = 128 << 10;

/// What became of a request.
pub(crate) enum Made {
    /// The encoded answer, and room for what was not paid for before. Who makes it takes the room, since who waits for
    /// the answer may not run before a hundred others are made.
    Answer(Encoded, Share),
    /// There is no room for it, which takes about this many bytes.
    NoRoom(usize),
}

/// An encoded answer.
pub(crate) enum Encoded {
    Owned(Vec<u8>),
    /// One that many others wait beside. The allocator keeps what one thread has made and another gives back, and that
    /// was six times of what waited; a mapping goes back to the system when the answer is sent.
    Mapped(MmapMut),
}

impl Encoded {
    /// Moves a long answer out of the allocator's memory, if there is a mapping for it.
    fn mapped(encoded: Vec<u8>) -> Self {
        if encoded.len() < MAPPED_BYTES_MIN {
            return Encoded::Owned(encoded);
        }
        let Ok(mut mapping) = MmapMut::map_anon(encoded.len()) else { return Encoded::Owned(encoded) };
        mapping.copy_from_slice(&encoded);
        Encoded::Mapped(mapping)
    }
}

impl Deref for Encoded {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Encoded::Owned(bytes) => bytes,
            Encoded::Mapped(bytes) => bytes,
        }
    }
}

/// An answer that is wanted.
struct Work {
    engine: Arc<dyn Engine>,
    request: Request,
    sending: Arc<Budget>,
    paid: usize,
    to: Sender<Made>,
}

impl Makers {
    /// Makes the answer to a request that only reads, of one of this many connections, for which this many bytes of the
    /// budget are paid.
    ///
    /// # Errors
    /// If no thread can be started, or the one that made it has panicked.
    pub(crate) fn make(
        &self,
        engine: &Arc<dyn Engine>,
        request: &Request,
        connections: usize,
        (sending, paid): (&Arc<Budget>, usize),
    ) -> io::Result<Made> {
        if connections <= ALONE_MAX {
            return Ok(answer(&**engine, request.clone(), sending, paid, Encoded::Owned));
        }
        let lost = || io::Error::other("the thread that made the answer has ended");
        let (to, made) = mpsc::channel();
        let (engine, request, sending) = (Arc::clone(engine), request.clone(), Arc::clone(sending));
        self.threads()?.send(Work { engine, request, sending, paid, to }).map_err(|_| lost())?;
        made.recv().map_err(|_| lost())
    }

    fn threads(&self) -> io::Result<&Sender<Work>> {
        if let Some(started) = self.0.get() {
            return Ok(started);
        }
        let (sender, receiver) = mpsc::channel();
        let receiver = Arc::new(Mutex::new(receiver));
        let count = std::thread::available_parallelism().map_or(1, NonZero::get).max(THREADS_MIN);
        for _ in 0..count {
            let receiver = Arc::clone(&receiver);
            spawn("recension-answers", move || work_off(&receiver)).map_err(io::Error::other)?;
        }
        // If another thread was faster, these ones end.
        Ok(self.0.get_or_init(|| sender))
    }
}

/// Makes answers until nobody can ask any more.
fn work_off(wanted: &Mutex<Receiver<Work>>) {
    loop {
        // One of them waits for work with the lock, the others for the lock.
        let next = wanted.lock().recv();
        let Ok(Work { engine, request, sending, paid, to }) = next else { return };
        // Nothing of a request outlives a panic but the answer's absence. The engine is let go before its answer is
        // there: whoever has it may close the store.
        let made = catch_unwind(AssertUnwindSafe(|| answer(&*engine, request, &sending, paid, Encoded::mapped)));
        drop(engine);
        if let Ok(made) = made {
            let _ = to.send(made);
        }
    }
}

fn answer(
    engine: &dyn Engine,
    request: Request,
    sending: &Arc<Budget>,
    paid: usize,
    keep: fn(Vec<u8>) -> Encoded,
) -> Made {
    let is_list = matches!(request, Request::Range { .. } | Request::Keys { .. } | Request::Versions { .. });
    if is_list && paid == 0 && sending.waiting() > 0 {
        return Made::NoRoom(LIST_BYTES);
    }
    let encoded = execute(engine, request).encode();
    let more = encoded.len().saturating_sub(paid);
    // One that is longer than the whole budget has it alone.
    if more == 0 || encoded.len() <= FREE_BYTES || paid >= sending.max() {
        return Made::Answer(keep(encoded), sending.nothing());
    }
    match sending.at_once(more) {
        Some(share) => Made::Answer(keep(encoded), share),
        None => Made::NoRoom(encoded.len()),
    }
}
