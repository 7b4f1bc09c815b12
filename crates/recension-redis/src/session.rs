//! A connection: requests in, replies and messages out, in their order. The memory held for it is bounded, whatever it
//! sends or does not read.

use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::task::Poll;
use std::time::Duration;

use recension::Received;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::watch;

use crate::door::{Caller, Door};
use crate::limits::{AHEAD_BYTES_MAX, IDLE_BYTES, READ_BYTES, REPLIES_BYTES, WRITES_TOGETHER_MAX};
use crate::reply::Reply;
use crate::resp::Requests;
use crate::settings::Attempt;

/// The next event of a connection.
enum Came {
    Bytes(usize),
    Message(Received),
    /// It is worth trying the command again that waits.
    Again,
    Stop,
}

impl Door {
    /// Answers a connection until it ends, or `stopping` says so.
    ///
    /// # Errors
    /// If the connection breaks, or takes too long; [`io::ErrorKind::PermissionDenied`] if a web page speaks on it.
    pub async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        from: Option<IpAddr>,
        mut stopping: watch::Receiver<bool>,
    ) -> io::Result<()> {
        let patience = self.shared.settings.patience;
        let (mut caller, mut requests) = (self.caller(), Requests::default());
        caller.from = from;
        let (mut read, mut out) = (vec![0; READ_BYTES], Vec::new());
        loop {
            let is_open = requests.waiting() > 0;
            let late = (is_open && caller.blocked.is_none()).then_some(patience);
            let ahead = caller.blocked.is_none() || requests.waiting() < AHEAD_BYTES_MAX;
            let Some(came) = next(stream, &mut caller, (&mut read, ahead), &mut stopping, late).await? else {
                return Ok(());
            };
            match came {
                Came::Stop => return Ok(()),
                Came::Again => {
                    let Some(reply) = caller.try_again() else { continue };
                    reply.write(caller.protocol, &mut out);
                    if !answer(stream, &mut caller, &mut requests, &mut out, patience).await? {
                        return send(stream, &mut out, patience).await;
                    }
                }
                Came::Message(received) => {
                    if !tell(&mut caller, received, &mut out) {
                        send(stream, &mut out, patience).await?;
                        return Ok(());
                    }
                }
                Came::Bytes(count) => {
                    requests.feed(&read[..count]);
                    if !answer(stream, &mut caller, &mut requests, &mut out, patience).await? {
                        return send(stream, &mut out, patience).await;
                    }
                    requests.shrink(IDLE_BYTES);
                }
            }
            send(stream, &mut out, patience).await?;
        }
    }
}

/// Waits for the next bytes or message; `None` at the end.
async fn next<S: AsyncRead + Unpin>(
    stream: &mut S,
    caller: &mut Caller,
    (read, ahead): (&mut [u8], bool),
    stopping: &mut watch::Receiver<bool>,
    patience: Option<Duration>,
) -> io::Result<Option<Came>> {
    let Caller { subscriber, blocked, .. } = caller;
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
    tokio::select! {
        biased;
        count = stream.read(read), if ahead => match count? {
            0 => Ok(None),
            count => Ok(Some(Came::Bytes(count))),
        },
        received = message => Ok(Some(Came::Message(received))),
        () = again => Ok(Some(Came::Again)),
        () = late => Err(io::ErrorKind::TimedOut.into()),
        _ = stopping.wait_for(|stopping| *stopping) => Ok(Some(Came::Stop)),
    }
}

/// Answers the complete requests; false if the connection ends after the replies.
async fn answer<S: AsyncWrite + Unpin>(
    stream: &mut S,
    caller: &mut Caller,
    requests: &mut Requests,
    out: &mut Vec<u8>,
    patience: Duration,
) -> io::Result<bool> {
    while caller.blocked.is_none() {
        let (mut together, mut broken, mut is_last, mut is_page) = (Vec::new(), None, false, false);
        while together.len() < WRITES_TOGETHER_MAX
            && !is_page
            && !together.last().is_some_and(|last: &Vec<_>| caller.may_wait(last))
        {
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
        if !together.is_empty() {
            // HELLO changes how what comes behind it is answered, and nothing else does.
            for replies in in_protocols(caller, together).await {
                replies.0.iter().for_each(|reply| reply.write(replies.1, out));
            }
        }
        if is_page {
            let why = "possible SECURITY ATTACK: a web page (POST or Host:) speaks to the door for clients of Redis; \
                       the connection was closed";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        if let Some(malformed) = broken {
            Reply::error(format_args!("Protocol error: {}", malformed.0)).write(caller.protocol, out);
            return Ok(false);
        }
        if caller.ends {
            return Ok(false);
        }
        if is_last {
            return Ok(true);
        }
        if out.len() >= REPLIES_BYTES {
            send(stream, out, patience).await?;
        }
    }
    Ok(true)
}

/// Whether a request begins as those of HTTP do. A browser sends them for any page, to any port: nothing of such a
/// request is answered, and nothing behind it (as Redis does).
fn is_of_a_page(request: &[Vec<u8>]) -> bool {
    let named = |word: &str| request.first().is_some_and(|first| first.eq_ignore_ascii_case(word.as_bytes()));
    named("POST") || named("Host:")
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
    caller.attempted = Some(attempt);
}

/// The replies to requests, in stretches of one protocol.
async fn in_protocols(
    caller: &mut Caller,
    mut requests: Vec<Vec<Vec<u8>>>,
) -> Vec<(Vec<Reply>, crate::reply::Protocol)> {
    let changes = |request: &Vec<Vec<u8>>| {
        let named = |word: &&str| request.first().is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes()));
        ["HELLO", "RESET", "AUTH"].iter().any(named)
    };
    let mut stretches = Vec::new();
    while !requests.is_empty() {
        let end = requests.iter().position(changes).map_or(requests.len(), |at| at.max(1));
        let rest = requests.split_off(end);
        let mut replies = Vec::with_capacity(requests.len());
        if let [only] = &requests[..] {
            attempt(caller, only).await;
        }
        caller.call_all(std::mem::replace(&mut requests, rest), &mut replies);
        caller.attempted = None;
        stretches.push((replies, caller.protocol));
        if caller.ends {
            break;
        }
    }
    stretches
}

/// Writes messages; false if the subscriber was too slow, in which case Redis ends the connection.
fn tell(caller: &mut Caller, first: Received, out: &mut Vec<u8>) -> bool {
    let mut next = Some(first);
    while let Some(received) = next.take() {
        let Received::Message(message, pattern) = received else { return false };
        let payload = Reply::Bulk(message.payload.clone());
        let topic = Reply::Bulk(message.topic.clone());
        let parts = match pattern {
            Some(pattern) => vec![Reply::text("pmessage"), Reply::Bulk(pattern.to_vec()), topic, payload],
            None => vec![Reply::text("message"), topic, payload],
        };
        Reply::Push(parts).write(caller.protocol, out);
        if out.len() < REPLIES_BYTES {
            next = caller.subscriber().and_then(recension::Subscriber::try_next);
        }
    }
    true
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, out: &mut Vec<u8>, patience: Duration) -> io::Result<()> {
    if !out.is_empty() {
        let sent = async {
            stream.write_all(out).await?;
            stream.flush().await
        };
        tokio::time::timeout(patience, sent).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    }
    out.clear();
    out.shrink_to(IDLE_BYTES);
    Ok(())
}
