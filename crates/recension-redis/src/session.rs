//! A connection: requests in, replies and messages out, in their order. The memory held for it is bounded, whatever it
//! sends or does not read.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use recension::Received;
use recension::engine::budget::{Arrival, FREE_BYTES, NoRoom, Patience, Share};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, SemaphorePermit, watch};

use crate::door::{Caller, Door};
use crate::limits::{
    AHEAD_BYTES_MAX, IDLE_BYTES, PIECE_BYTES, READ_BYTES, REPLIES_BYTES, REPLY_BYTES_MAX, REQUEST_WEIGHT,
    WRITES_TOGETHER_MAX,
};
use crate::long::Long;
use crate::reply::Reply;
use crate::resp::Requests;
use crate::settings::Attempt;

/// The next event of a connection.
enum Came {
    Bytes(usize),
    Message(Received),
    /// It is worth trying the command again that waits.
    Again,
    /// Nothing came for a while.
    Nothing,
    /// It is time to ask for the caller's rights.
    Rights,
    Stop,
}

/// Replies that wait to be sent, and the room that they have.
struct Out {
    bytes: Vec<u8>,
    room: Option<Share>,
    patience: Patience,
    /// The turns of all that send something long.
    turns: Arc<Semaphore>,
    /// What was received while there was no room.
    ahead: Vec<u8>,
}

impl Door {
    /// Answers a connection until it ends, or `stopping` says so. `known` is called when somebody who may has asked
    /// something.
    ///
    /// # Errors
    /// If the connection breaks, or takes too long; [`io::ErrorKind::PermissionDenied`] if a web page speaks on it.
    pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        from: Option<IpAddr>,
        mut stopping: watch::Receiver<bool>,
        mut known: impl FnMut(),
    ) -> io::Result<()> {
        let settings = &self.shared.settings;
        let (mut caller, mut requests) = (self.caller(), Requests::default());
        caller.from = from;
        let patience = Patience::new(settings.sending.clone(), settings.patience);
        let turns = Arc::clone(&self.shared.sending);
        let (mut read, mut out) =
            (vec![0; READ_BYTES], Out { bytes: Vec::new(), room: None, patience, turns, ahead: Vec::new() });
        let (mut arrival, mut silent) = (Arrival::new(&settings.receiving), Duration::ZERO);
        loop {
            let is_open = requests.waiting() > 0 && caller.blocked.is_none();
            if is_open && requests.coming() > FREE_BYTES {
                let whole = requests.coming().saturating_mul(REQUEST_WEIGHT);
                tokio::select! {
                    room = arrival.room_for(whole, tokio::time::sleep(settings.patience)) => room.map_err(given_up)?,
                    _ = stopping.wait_for(|stopping| *stopping) => return Ok(()),
                }
                requests.make_room();
            }
            let look = arrival.next_look(settings.patience.saturating_sub(silent));
            let ahead = caller.blocked.is_none() || requests.waiting() < AHEAD_BYTES_MAX;
            let came = next(stream, &mut caller, (&mut read, ahead), &mut stopping, is_open.then_some(look)).await?;
            let Some(came) = came else { return Ok(()) };
            if !matches!(came, Came::Nothing) {
                silent = Duration::ZERO;
            }
            if !caller.has_rights() {
                return end(stream, &mut caller, &mut out).await;
            }
            let mut goes_on = true;
            match came {
                Came::Stop => return Ok(()),
                Came::Rights => {}
                Came::Nothing => {
                    silent += look;
                    if silent >= settings.patience {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    arrival.came(requests.waiting()).map_err(given_up)?;
                }
                Came::Message(received) => {
                    goes_on = tell(&mut caller, received, &mut out).await?;
                }
                Came::Again => {
                    let Some(reply) = caller.try_again() else { continue };
                    let before = out.bytes.len();
                    reply.write(caller.protocol, &mut out.bytes);
                    out.pay_for(out.bytes.len() - before);
                    caller.turn = None;
                    goes_on = answer(stream, &mut caller, &mut requests, &mut out).await?.goes_on;
                }
                Came::Bytes(count) => {
                    requests.feed(&read[..count]);
                    arrival.came(requests.waiting()).map_err(given_up)?;
                    let answered = answer(stream, &mut caller, &mut requests, &mut out).await?;
                    goes_on = answered.goes_on;
                    if answered.any {
                        if caller.known {
                            known();
                        }
                        arrival = Arrival::new(&settings.receiving);
                    }
                    requests.shrink(IDLE_BYTES);
                }
            }
            send(stream, &mut out).await?;
            if !goes_on {
                return Ok(());
            }
        }
    }
}

/// Tells a caller whose rights have ended why the connection ends.
async fn end<S: AsyncWrite + Unpin>(stream: &mut S, caller: &mut Caller, out: &mut Out) -> io::Result<()> {
    let reply = Reply::Error("NOAUTH what you logged in with has ended: log in again".to_owned());
    reply.write(caller.protocol, &mut out.bytes);
    send(stream, out).await
}

fn no_room() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "others hold the memory that its replies need, and do not read")
}

fn given_up(_: NoRoom) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "others wait for the memory that its request takes")
}

/// Waits for the next bytes or message; `None` at the end.
async fn next<S: AsyncRead + Unpin>(
    stream: &mut S,
    caller: &mut Caller,
    (read, ahead): (&mut [u8], bool),
    stopping: &mut watch::Receiver<bool>,
    patience: Option<Duration>,
) -> io::Result<Option<Came>> {
    let Caller { subscriber, standing, blocked, .. } = caller;
    let again = async {
        match blocked {
            Some(blocked) => blocked.wait().await,
            None => std::future::pending().await,
        }
    };
    let message = poll_fn(|context| match subscriber {
        Some(subscriber) => subscriber.poll_next(context),
        None => Poll::Pending,
    });
    let late = async {
        match patience {
            Some(patience) => tokio::time::sleep(patience).await,
            None => std::future::pending().await,
        }
    };
    let rights = async {
        match standing {
            Some(standing) => standing.changed().await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased;
        count = stream.read(read), if ahead => match count? {
            0 => Ok(None),
            count => Ok(Some(Came::Bytes(count))),
        },
        received = message => Ok(Some(Came::Message(received))),
        () = again => Ok(Some(Came::Again)),
        () = late => Ok(Some(Came::Nothing)),
        () = rights => Ok(Some(Came::Rights)),
        _ = stopping.wait_for(|stopping| *stopping) => Ok(Some(Came::Stop)),
    }
}

/// What came of the requests that were whole.
struct Answered {
    any: bool,
    /// Otherwise the connection ends after the replies.
    goes_on: bool,
}

/// Answers the complete requests.
async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    caller: &mut Caller,
    requests: &mut Requests,
    out: &mut Out,
) -> io::Result<Answered> {
    let mut any = false;
    while caller.blocked.is_none() {
        if !caller.has_rights() {
            end(stream, caller, out).await?;
            return Ok(Answered { any, goes_on: false });
        }
        let (mut together, mut broken, mut is_last, mut is_page) = (Vec::new(), None, false, false);
        // What comes behind the right password is read as that of somebody who is known.
        requests.come_from_unknown(!caller.known);
        let most = if caller.known { WRITES_TOGETHER_MAX } else { 1 };
        while together.len() < most && !is_page && !together.last().is_some_and(|last: &Vec<_>| caller.may_wait(last)) {
            match requests.next_request() {
                Ok(Some(request)) if is_of_a_page(&request) => is_page = true,
                Ok(Some(request)) => together.push(request),
                Ok(None) => {
                    is_last = true;
                    break;
                }
                Err(malformed) => {
                    broken = Some(malformed);
                    break;
                }
            }
        }
        any |= !together.is_empty();
        answer_all(stream, caller, together, out).await?;
        if !out.ahead.is_empty() {
            requests.feed(&std::mem::take(&mut out.ahead));
            is_last = false;
        }
        if is_page {
            let why = "possible SECURITY ATTACK: a web page (POST or Host:) speaks to the door for clients of Redis; \
                       the connection was closed";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        if let Some(malformed) = broken {
            Reply::error(format_args!("Protocol error: {}", malformed.0)).write(caller.protocol, &mut out.bytes);
            return Ok(Answered { any, goes_on: false });
        }
        if caller.ends {
            return Ok(Answered { any, goes_on: false });
        }
        if is_last {
            return Ok(Answered { any, goes_on: true });
        }
        if out.bytes.len() >= REPLIES_BYTES {
            send(stream, out).await?;
        }
    }
    Ok(Answered { any, goes_on: true })
}

/// Whether a request begins as those of HTTP do. A browser sends them for any page, to any port: nothing of such a
/// request is answered, and nothing behind it (as Redis does).
fn is_of_a_page(request: &[Vec<u8>]) -> bool {
    let named = |word: &str| request.first().is_some_and(|first| first.eq_ignore_ascii_case(word.as_bytes()));
    named("POST") || named("Host:")
}

/// Answers requests in their order: those up to the last that writes together, and reads behind it one by one, so that
/// no more of their replies are in memory than are sent at a time.
async fn answer_all<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    caller: &mut Caller,
    mut requests: Vec<Vec<Vec<u8>>>,
    out: &mut Out,
) -> io::Result<()> {
    let reads = requests.iter().rev().take_while(|request| caller.only_reads(request)).count();
    let reads = requests.split_off(requests.len() - reads);
    while !requests.is_empty() && !caller.ends {
        if out.bytes.len() >= REPLIES_BYTES || out.patience.budget().is_overdrawn() {
            send(stream, out).await?;
        }
        if out.patience.budget().is_overdrawn() {
            out.wait_for(stream, FREE_BYTES).await?;
        }
        let before = out.bytes.len();
        requests = some(caller, requests, &mut out.bytes).await;
        // They are done, and cannot be made again.
        out.pay_for(out.bytes.len() - before);
        caller.turn = None;
    }
    for request in reads {
        if caller.ends {
            break;
        }
        answer_read(stream, caller, request, out).await?;
    }
    Ok(())
}

/// Answers a request that reads. If there is no room for its reply, the reply is dropped, and made again when there is.
async fn answer_read<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    caller: &mut Caller,
    request: Vec<Vec<u8>>,
    out: &mut Out,
) -> io::Result<()> {
    if out.bytes.len() >= REPLIES_BYTES {
        send(stream, out).await?;
    }
    let before = out.bytes.len();
    let again = request.clone();
    caller.long = Long::Droppable;
    write_replies(caller, request, &mut out.bytes);
    let gave_up = std::mem::replace(&mut caller.long, Long::Kept) == Long::GivenUp;
    let length = if gave_up { REPLY_BYTES_MAX } else { out.bytes.len() - before };
    let has_room = !gave_up && out.has_room_for(length);
    if !has_room {
        out.bytes.truncate(before);
        out.bytes.shrink_to(before);
    }
    caller.turn = None;
    if !has_room {
        send(stream, out).await?;
        out.wait_for(stream, 2 * length).await?;
        caller.long = Long::Paid;
        write_replies(caller, again, &mut out.bytes);
        (caller.turn, caller.long) = (None, Long::Kept);
    }
    Ok(())
}

fn write_replies(caller: &mut Caller, request: Vec<Vec<u8>>, out: &mut Vec<u8>) {
    let mut replies = Vec::with_capacity(1);
    caller.call_all(vec![request], &mut replies);
    write_all(caller, replies, out);
}

fn write_all(caller: &Caller, replies: Vec<Reply>, out: &mut Vec<u8>) {
    if caller.turn.is_some() {
        out.reserve_exact(replies.iter().map(Reply::weight).sum());
    }
    for reply in replies {
        reply.write(caller.protocol, out);
    }
}

impl Out {
    /// Takes room for this many bytes more, if there is some. A few need none.
    fn has_room_for(&mut self, more: usize) -> bool {
        if more <= FREE_BYTES && self.bytes.len() <= REPLIES_BYTES {
            return true;
        }
        match &mut self.room {
            Some(room) => room.grow(2 * more),
            none => {
                *none = self.patience.budget().at_once(2 * more);
                none.is_some()
            }
        }
    }

    /// Takes room for what is there already.
    fn pay_for(&mut self, more: usize) {
        if more > FREE_BYTES {
            let room = self.room.get_or_insert_with(|| self.patience.budget().nothing());
            room.settle(room.bytes() + more);
        }
    }

    /// Waits for room.
    async fn room_for(&mut self, bytes: usize) -> io::Result<()> {
        let taken = tokio::time::timeout(self.patience.most(), self.patience.budget().take(bytes)).await;
        self.room = Some(taken.map_err(|_| no_room())?);
        Ok(())
    }

    /// The same. Who goes away meanwhile needs none.
    async fn wait_for<S: AsyncRead + Unpin>(&mut self, stream: &mut S, bytes: usize) -> io::Result<()> {
        let taken = tokio::time::timeout(self.patience.most(), self.patience.budget().take(bytes));
        let mut taken = std::pin::pin!(taken);
        let mut some = vec![0; AHEAD_BYTES_MAX];
        let taken = loop {
            tokio::select! {
                biased;
                taken = &mut taken => break taken,
                read = stream.read(&mut some), if self.ahead.len() < AHEAD_BYTES_MAX => match read? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    read => self.ahead.extend_from_slice(&some[..read]),
                },
            }
        };
        self.room = Some(taken.map_err(|_| no_room())?);
        Ok(())
    }
}

/// Makes the attempt to log in that a request is, and waits its turn.
async fn attempt(caller: &mut Caller, request: &[Vec<u8>]) {
    let named = |name: &str| request.first().is_some_and(|word| word.eq_ignore_ascii_case(name.as_bytes()));
    let (name, password) = match request {
        [_, password] if named("AUTH") => (&b"default"[..], password),
        [_, name, password] if named("AUTH") => (&name[..], password),
        _ if named("HELLO") => match request.iter().position(|word| word.eq_ignore_ascii_case(b"AUTH")) {
            Some(at) if request.len() > at + 2 => (&request[at + 1][..], &request[at + 2]),
            _ => return,
        },
        _ => return,
    };
    let (Some(authenticate), Ok(name)) = (&caller.shared.settings.authenticate, std::str::from_utf8(name)) else {
        return;
    };
    let mut attempt = authenticate.attempt(caller.from, name, password, false);
    if let Attempt::Later(wait) = attempt {
        tokio::time::sleep(wait).await;
        attempt = authenticate.attempt(caller.from, name, password, true);
    }
    if attempt == Attempt::Right {
        caller.standing = authenticate.standing(name, password);
    }
    caller.attempted = Some(attempt);
}

/// Writes the replies to requests up to one that changes how what comes behind it is answered, or until they are long;
/// returns the requests that are left.
async fn some(caller: &mut Caller, mut requests: Vec<Vec<Vec<u8>>>, out: &mut Vec<u8>) -> Vec<Vec<Vec<u8>>> {
    let changes = |request: &Vec<Vec<u8>>| {
        let named = |word: &&str| request.first().is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes()));
        ["HELLO", "RESET", "AUTH"].iter().any(named)
    };
    let end = requests.iter().position(changes).map_or(requests.len(), |at| at.max(1));
    let rest = requests.split_off(end);
    if let [only] = &requests[..] {
        attempt(caller, only).await;
    }
    let mut replies = Vec::with_capacity(requests.len());
    let mut left = caller.call_some(requests, &mut replies);
    caller.attempted = None;
    write_all(caller, replies, out);
    left.extend(rest);
    left
}

/// Writes messages; false if the subscriber was too slow, in which case Redis ends the connection.
async fn tell(caller: &mut Caller, first: Received, out: &mut Out) -> io::Result<bool> {
    let mut next = Some(first);
    let turns = Arc::clone(&out.turns);
    let mut turn = None;
    while let Some(received) = next.take() {
        let Received::Message(message, pattern) = received else { return Ok(false) };
        let length = message.payload.len() + message.topic.len();
        if length > FREE_BYTES && turn.is_none() {
            turn = self::turn(&turns).await;
        }
        if !out.has_room_for(length) {
            if out.bytes.is_empty() {
                // Those who make room may need a turn.
                drop(turn.take());
                out.room_for(2 * length).await?;
            } else {
                out.pay_for(length);
            }
        }
        let payload = Reply::Bulk(message.payload.clone());
        let topic = Reply::Bulk(message.topic.clone());
        let parts = match pattern {
            Some(pattern) => vec![Reply::text("pmessage"), Reply::Bulk(pattern.to_vec()), topic, payload],
            None => vec![Reply::text("message"), topic, payload],
        };
        Reply::Push(parts).write(caller.protocol, &mut out.bytes);
        if out.bytes.len() < FREE_BYTES {
            next = caller.subscriber().and_then(recension::Subscriber::try_next);
        }
    }
    Ok(true)
}

/// Sends what there is. What is long goes out in pieces, each of which begins in a turn: a message for a thousand
/// subscribers, or a thousand long replies, let others' requests go first. Who waits for its client has no turn.
async fn send<S: AsyncWrite + Unpin>(stream: &mut S, out: &mut Out) -> io::Result<()> {
    let late = || io::Error::from(io::ErrorKind::TimedOut);
    let mut rest = out.bytes.as_slice();
    let mut began = Instant::now();
    while !rest.is_empty() {
        let left = out.patience.left(began.elapsed()).ok_or_else(late)?;
        let Ok(wrote) = tokio::time::timeout(left, write(stream, rest, &out.turns)).await else { continue };
        let wrote = wrote?;
        if wrote == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        rest = rest.get(wrote..).unwrap_or_default();
        began = Instant::now();
    }
    if !out.bytes.is_empty() {
        tokio::time::timeout(out.patience.most(), stream.flush()).await.map_err(|_| late())??;
    }
    out.bytes.clear();
    out.bytes.shrink_to(IDLE_BYTES);
    out.room = None;
    Ok(())
}

/// Writes the first of these bytes; returns how many.
async fn write<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8], turns: &Semaphore) -> io::Result<usize> {
    let piece = bytes.get(..PIECE_BYTES).unwrap_or(bytes);
    if piece.len() > FREE_BYTES {
        let turn = turn(turns).await;
        let began = poll_fn(|context| Poll::Ready(Pin::new(&mut *stream).poll_write(context, piece))).await;
        drop(turn);
        if let Poll::Ready(wrote) = began {
            return wrote;
        }
    }
    stream.write(piece).await
}

/// A turn among those that have something long to do, after what can run without one.
async fn turn(turns: &Semaphore) -> Option<SemaphorePermit<'_>> {
    let turn = turns.acquire().await.ok();
    tokio::task::yield_now().await;
    turn
}
