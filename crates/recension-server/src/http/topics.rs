//! `/{db}/_topics`: publish and subscribe among a database's members. A topic of a database is the store's topic
//! `db/topic`, which programs and clients of Redis can publish and subscribe to, too. CouchDB has none.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::Method;
use http::header::CACHE_CONTROL;
use recension::document::json::quote;
use recension::document::{Received, Subscriber};
use tokio::time::{Instant, sleep_until};

use crate::answer::{Answer, Gone, Sink, pieces};
use crate::auth::standing::Standing;
use crate::auth::{Access, Session};
use crate::error::{ApiError, Result};
use crate::request::Request;
use crate::state::App;

/// Time between heartbeats of a stream without messages.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Bytes of events that are collected before they are sent.
const EVENTS_BYTES: usize = 256 * 1024;

/// `POST /{db}/_topics/{topic}` publishes its body. `GET /{db}/_topics` lists the topics that somebody subscribes to by
/// name. With `feed=eventsource` it subscribes to the topics that the pattern `match` fits, by default all.
pub(crate) async fn endpoint(mut request: Request, session: Session, db: &str, rest: &[&str]) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let topics = database.topics();
    match (request.method(), rest) {
        (&Method::POST, [_, ..]) => {
            let body = request.bytes().await?;
            let heard = topics.publish(format!("{db}/{}", rest.join("/")), &body)?;
            Ok(Answer::ok(format!("{{\"ok\":true,\"heard\":{heard}}}")))
        }
        (&Method::GET, []) if request.query.get("feed") == Some("eventsource") => {
            let mut subscriber = topics.subscriber();
            let pattern = request.query.get("match").unwrap_or("*");
            subscriber.subscribe_pattern(format!("{}/{pattern}", literally(db)))?;
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
            let mut answer = Answer::streamed("text/event-stream", answer).with(CACHE_CONTROL, "no-cache");
            answer.as_it_is = true;
            Ok(answer)
        }
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

/// A pattern that fits this name only.
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
        while let Some(received) = next.take() {
            push(&received, prefix, &mut text);
            if text.len() < EVENTS_BYTES {
                next = subscriber.try_next();
            }
        }
        if text.is_empty() && beats <= Instant::now() {
            text.push_str("event: heartbeat\ndata: \n\n");
        }
        if !text.is_empty() {
            sink.send(text).await?;
            beats = Instant::now() + HEARTBEAT;
        }
    }
    sink.finish().await;
    Ok(())
}

/// An event: the topic and the message, as text if it is text; or how many messages were missed.
fn push(received: &Received, prefix: usize, out: &mut String) {
    let data = match received {
        Received::Missed(missed) => {
            out.push_str("event: missed\n");
            format!("{{\"missed\":{missed}}}")
        }
        Received::Message(message, _) => {
            let topic = quote(&String::from_utf8_lossy(message.topic.get(prefix..).unwrap_or_default()));
            match std::str::from_utf8(&message.payload) {
                Ok(text) => format!("{{\"topic\":{topic},\"message\":{}}}", quote(text)),
                Err(_) => format!("{{\"topic\":{topic},\"base64\":\"{}\"}}", BASE64_STANDARD.encode(&message.payload)),
            }
        }
    };
    // A JSON text is one line.
    for part in ["data: ", &data, "\n\n"] {
        out.push_str(part);
    }
}
