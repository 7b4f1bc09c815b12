//! `/{db}/_topics`: publish and subscribe among a database's members. A topic of a database is the store's topic
//! `db/topic`, which programs and clients of Redis can publish and subscribe to, too. CouchDB has none.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http::header::CACHE_CONTROL;
use recension::engine::budget::FREE_BYTES;
use recension::json::quote;
use recension::{Received, Subscriber, Topics};
use tokio::time::{Instant, sleep_until};

use crate::feed::Feed;
use crate::web_socket::{self, End, Socket};
use recension_app::auth::standing::Standing;
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_app::state::App;
use recension_wire::answer::{Answer, Gone, Sink, pieces};
use recension_wire::error::{ApiError, Result};
use recension_wire::streams::Paid;

/// The refusal of another word for how it is sent.
const FEEDS: &str = "Supported `feed` types of topics: normal, eventsource";
/// Time between heartbeats of a stream without messages.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Signs of life of a WebSocket after which a client that has answered none has gone.
const HEARTBEATS_UNANSWERED_MAX: u32 = 3;

/// `POST /{db}/_topics/{topic}` says its body to who listens. `GET /{db}/_topics` lists the topics that somebody
/// listens to by name; with `feed=eventsource`, or as a WebSocket, it listens to those that `match` means, by default
/// all.
pub async fn endpoint(mut request: Request, session: Session, db: &str, rest: &[&str]) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let topics = database.topics();
    // A branch has topics of its own, under the same names.
    let db = database.collection().name();
    match (request.method(), rest) {
        (&Method::POST, [_, ..]) => {
            let body = request.bytes().await?;
            let heard = topics.publish(format!("{db}/{}", rest.join("/")), &body)?;
            Ok(Answer::ok(format!("{{\"ok\":true,\"heard\":{heard}}}")))
        }
        (&Method::GET, []) if web_socket::is_asked(&request) => {
            let (socket, answer) = web_socket::taken(&mut request, &session)?;
            let subscriber = subscribed(&request, &topics, db)?;
            let standing = Standing::in_database(&session, &database);
            let (app, prefix) = (Arc::clone(&request.app), db.len() + 1);
            tokio::spawn(async move {
                let Ok(socket) = socket.opened().await else { return };
                app.metrics.feeds.inc();
                listen(&app, subscriber, standing, prefix, socket).await;
                app.metrics.feeds.dec();
            });
            Ok(answer)
        }
        (&Method::GET, []) if Feed::of(&request.query, FEEDS)? == Feed::EventSource => {
            let subscriber = subscribed(&request, &topics, db)?;
            let standing = Standing::in_database(&session, &database);
            let prefix = db.len() + 1;
            let (sink, answer) = pieces(request.app.streams.patience());
            let app = Arc::clone(&request.app);
            tokio::spawn(async move {
                app.metrics.feeds.inc();
                // An error means that the client has gone.
                let _ = run(&app, subscriber, standing, prefix, sink).await;
                app.metrics.feeds.dec();
            });
            let mut answer = Answer::streamed("text/event-stream", answer.that_ask()).with(CACHE_CONTROL, "no-cache");
            answer.as_it_is = true;
            Ok(answer)
        }
        (&Method::GET, []) if Feed::of(&request.query, FEEDS)? != Feed::Normal => Err(ApiError::bad_request(FEEDS)),
        (&Method::GET, []) => {
            let prefix = format!("{db}/");
            let mut names: Vec<String> = topics
                .listened()
                .iter()
                .filter_map(|topic| topic.strip_prefix(prefix.as_bytes()))
                .map(|topic| quote(&String::from_utf8_lossy(topic)))
                .collect();
            names.sort_unstable();
            Ok(Answer::ok(format!("{{\"topics\":[{}]}}", names.join(","))))
        }
        (_, []) => Err(ApiError::method_not_allowed("GET")),
        _ => Err(ApiError::method_not_allowed("POST")),
    }
}

/// Somebody who hears the topics of a database that the request means.
fn subscribed(request: &Request, topics: &Topics, db: &str) -> Result<Subscriber> {
    let mut subscriber = topics.subscriber();
    let pattern = request.query.get("match").unwrap_or("*");
    subscriber.subscribe_pattern(format!("{}/{pattern}", literally(db)))?;
    Ok(subscriber)
}

/// Sends what comes over a WebSocket, until who listens goes or may not any more.
async fn listen(app: &App, mut subscriber: Subscriber, mut standing: Standing, prefix: usize, mut socket: Socket) {
    let mut beats = Instant::now() + HEARTBEAT;
    let end = 'socket: loop {
        let due = standing.due();
        let next = tokio::select! {
            next = poll_fn(|context| subscriber.poll_next(context)) => Some(next),
            end = socket.ended() => break end,
            () = sleep_until(beats) => None,
            () = standing.changed() => None,
            () = sleep_until(due) => None,
            () = app.stopped() => break End::Stopping,
        };
        if !standing.holds().unwrap_or(false) {
            break End::Rights;
        }
        let (mut texts, mut bytes, mut next) = (Vec::new(), 0, next);
        while let Some(received) = next.take() {
            let Ok(text) = app.spoken.text_of(&received, prefix, &app.streams).await else { break 'socket End::Gone };
            bytes += text.len();
            texts.push(text);
            if bytes < FREE_BYTES {
                next = subscriber.try_next();
            }
        }
        if bytes > FREE_BYTES && !standing.holds().unwrap_or(false) {
            break End::Rights;
        }
        let now = Instant::now();
        let mut sent = if texts.is_empty() { Ok(()) } else { socket.send(&texts, &app.speaking).await };
        if sent.is_ok() && beats <= now {
            beats = now + HEARTBEAT;
            let is_there = now.duration_since(socket.heard()) < HEARTBEATS_UNANSWERED_MAX * HEARTBEAT;
            sent = if is_there { socket.ping().await } else { Err(Gone) };
        }
        if sent.is_err() {
            break End::Gone;
        }
    };
    socket.close(end).await;
}

/// A name as a pattern that means it and nothing else.
fn literally(name: &str) -> String {
    name.chars().flat_map(|letter| ['\\', letter]).collect()
}

/// Sends messages, until the subscriber goes or loses its rights.
async fn run(
    app: &App,
    mut subscriber: Subscriber,
    mut standing: Standing,
    prefix: usize,
    sink: Sink,
) -> std::result::Result<(), Gone> {
    // A comment makes the head go out at once.
    sink.send(": listening\n\n").await?;
    let mut beats = Instant::now() + HEARTBEAT;
    loop {
        let due = standing.due();
        let next = tokio::select! {
            next = poll_fn(|context| subscriber.poll_next(context)) => Some(next),
            () = sleep_until(beats) => None,
            () = standing.changed() => None,
            () = sleep_until(due) => None,
            () = app.stopped() => break,
            () = sink.closed() => return Err(Gone),
        };
        if !standing.holds().unwrap_or(false) {
            break;
        }
        let mut text = String::new();
        let mut next = next;
        // What waits for its reader is the message, which all share, and not a text of it.
        sink.ready().await?;
        let mut turn = if next.is_some() { Some(web_socket::turn(&app.speaking).await?) } else { None };
        let mut room = None;
        while let Some(received) = next.take() {
            let json = app.spoken.text_of(&received, prefix, &app.streams).await.map_err(|_| Gone)?;
            if text.len() + json.len() > FREE_BYTES {
                // Nobody waits for room with a turn: those who make room may need it.
                drop(turn.take());
                let taken = app.streams.room(json.len()).await.map_err(|_| Gone)?;
                if !standing.holds().unwrap_or(false) {
                    sink.finish().await;
                    return Ok(());
                }
                room = Some(taken);
            }
            push(&received, &json, &mut text);
            if text.len() < FREE_BYTES {
                next = subscriber.try_next();
            }
        }
        drop(turn);
        if text.is_empty() && beats <= Instant::now() {
            text.push_str("event: heartbeat\ndata: \n\n");
        }
        if !text.is_empty() {
            match room {
                Some(room) => sink.send(Paid::bytes(text.into_bytes(), room)).await?,
                None => sink.send(text).await?,
            }
            beats = Instant::now() + HEARTBEAT;
        }
    }
    sink.finish().await;
    Ok(())
}

/// An event.
fn push(received: &Received, json: &str, out: &mut String) {
    if matches!(received, Received::Missed(_)) {
        out.push_str("event: missed\n");
    }
    // A JSON text is one line.
    for part in ["data: ", json, "\n\n"] {
        out.push_str(part);
    }
}
