//! What an owner's clients may take of its memory: budgets of bytes that it may share with other doors, for what comes
//! in and for what waits to be sent.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension_engine::budget::{Arrival, Budget, FREE_BYTES, NoRoom, PRESSED, Patience, Share};

use crate::frame::{self, Reception};
use crate::limits::{CONNECTIONS_MAX, RECEIVED_BYTES, REQUEST_WEIGHT, SENT_BYTES};
use crate::makers::{Encoded, Made};
use crate::wire::Wire;

/// How long a message may pause that has begun, and an answer may be left unread.
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How often an answer is made whose length is not known before.
const ATTEMPTS: usize = 4;

/// How long a read or a write of a socket waits before it is asked whether to go on.
pub(crate) const LOOKS_EVERY: Duration = PRESSED;

/// The bounds of a door.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Connections at a time.
    pub connections: usize,
    /// Room for the requests that are coming in or are worked on.
    pub receiving: Arc<Budget>,
    /// Room for the answers that wait to be sent.
    pub sending: Arc<Budget>,
}

impl Default for Bounds {
    fn default() -> Self {
        let (receiving, sending) = (Budget::new(RECEIVED_BYTES), Budget::new(SENT_BYTES));
        Bounds { connections: CONNECTIONS_MAX, receiving, sending }
    }
}

/// The next request of a connection, and the room that it has.
pub(crate) struct Receiving {
    arrival: Arrival,
    /// Since when nothing has come, and how many bytes had.
    paused: Option<(usize, Instant)>,
}

impl Receiving {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Receiving { arrival: Arrival::new(&bounds.receiving), paused: None }
    }
}

fn no_room(_: NoRoom) -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "others wait for the memory that its request takes")
}

impl Reception for Receiving {
    fn announced(&mut self, bytes: usize) -> io::Result<()> {
        self.arrival.room_within(bytes.saturating_mul(REQUEST_WEIGHT), PAUSE_MAX).map_err(no_room)
    }

    fn nothing_came(&mut self, so_far: usize) -> io::Result<()> {
        if so_far == 0 {
            return Ok(());
        }
        self.arrival.came(so_far).map_err(no_room)?;
        match self.paused {
            Some((before, since)) if before == so_far && since.elapsed() >= PAUSE_MAX => {
                Err(ErrorKind::TimedOut.into())
            }
            Some((before, _)) if before == so_far => Ok(()),
            _ => {
                self.paused = Some((so_far, Instant::now()));
                Ok(())
            }
        }
    }
}

/// An answer, and its room. If there is none for it, it waits for room, and is made again.
pub(crate) fn made(make: impl Fn(usize) -> io::Result<Made>, sending: &Arc<Budget>) -> io::Result<(Encoded, Share)> {
    let mut share = sending.nothing();
    for _ in 0..ATTEMPTS {
        match make(share.bytes())? {
            Made::Answer(encoded, more) => {
                drop(more);
                share.settle(if encoded.len() <= FREE_BYTES { 0 } else { encoded.len() });
                return Ok((encoded, share));
            }
            Made::NoRoom(bytes) => {
                // Its own share is given back before it waits, or two would wait for each other.
                drop(std::mem::replace(&mut share, sending.nothing()));
                let why = "others hold the memory for its answer, and do not read";
                let why = || io::Error::new(ErrorKind::TimedOut, why);
                share = sending.take_within(bytes, PAUSE_MAX).ok_or_else(why)?;
            }
        }
    }
    Err(io::Error::other("the answer was longer each time that it was made"))
}

/// Writes an answer, and gives its room back.
pub(crate) fn send(
    wire: &mut dyn Wire,
    number: u32,
    (encoded, share): (Encoded, Share),
    sending: &Arc<Budget>,
) -> io::Result<()> {
    let patience = Patience::new(Arc::clone(sending), PAUSE_MAX);
    let mut to = Patiently { wire, patience, since: Instant::now() };
    frame::write(&mut to, number, &encoded)?;
    to.flush()?;
    drop::<Share>(share);
    Ok(())
}

/// A connection whose other side has to read.
struct Patiently<'w> {
    wire: &'w mut dyn Wire,
    patience: Patience,
    since: Instant,
}

impl Patiently<'_> {
    fn until_done<T>(&mut self, mut work: impl FnMut(&mut dyn Wire) -> io::Result<T>) -> io::Result<T> {
        loop {
            match work(self.wire) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if self.patience.left(self.since.elapsed()).is_none() {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => {
                    self.since = Instant::now();
                    return done;
                }
            }
        }
    }
}

impl Write for Patiently<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until_done(|wire| wire.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.until_done(|wire| wire.flush())
    }
}
