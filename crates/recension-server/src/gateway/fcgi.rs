//! A connection of FastCGI. One task reads it. Each request has a task of its own, which writes whole records in turn
//! with the others. A slow reader holds up its own connection only, with at most one piece of each of its answers.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::StatusCode;
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use recension_gateway::fcgi::{Connection, Event};
use recension_gateway::record::{self, Ended};
use recension_gateway::{Environment, answer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::refusal;
use crate::ready::Ready;
use recension_app::state::App;
use recension_wire::arriving::Hander;
use recension_wire::limits::CHUNK_BYTES;
use recension_wire::parts::Parts;

/// What the tasks of a connection share.
struct Shared<S> {
    app: Arc<App>,
    writer: tokio::sync::Mutex<WriteHalf<S>>,
    /// The requests that are under way, as the reader sees them.
    read: Mutex<Connection>,
    /// Ends the connection: no more is read.
    end: mpsc::Sender<()>,
}

/// A request that is worked at.
struct Work {
    body: Hander,
    /// Gives it up between two records: a record is written whole, since others share the connection.
    give_up: oneshot::Sender<()>,
    task: AbortHandle,
}

/// Answers what comes over a connection until it ends. Then the requests that are under way are given up.
pub(super) async fn connection<S>(app: &Arc<App>, stream: S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (reader, writer) = tokio::io::split(stream);
    let (end, mut ended) = mpsc::channel(1);
    let shared =
        Arc::new(Shared { app: Arc::clone(app), writer: tokio::sync::Mutex::new(writer), read: Mutex::default(), end });
    let mut works = BTreeMap::new();
    let outcome = tokio::select! {
        outcome = read(&shared, reader, &mut works) => outcome,
        _ = ended.recv() => Ok(()),
    };
    for work in works.values() {
        work.task.abort();
    }
    let _ = shared.writer.lock().await.shutdown().await;
    outcome
}

async fn read<S>(shared: &Arc<Shared<S>>, mut reader: ReadHalf<S>, works: &mut BTreeMap<u16, Work>) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let mut bytes = vec![0; CHUNK_BYTES];
    let mut stopping = shared.app.stopping.clone();
    loop {
        let idle = works.values().all(|work| work.task.is_finished());
        let length = tokio::select! {
            length = reader.read(&mut bytes) => length?,
            // A connection that waits for its next request is not waited for when the server stops.
            _ = stopping.wait_for(|stopping| *stopping), if idle => return Ok(()),
        };
        if length == 0 {
            return Ok(());
        }
        let events = shared.read.lock().push(&bytes[..length]).map_err(io::Error::other)?;
        for event in events {
            match event {
                Event::Send(record) => shared.writer.lock().await.write_all(&record).await?,
                Event::Request { id, environment, keep } => {
                    works.retain(|_, work| !work.task.is_finished());
                    if let Some(work) = begun(shared, id, &environment, keep).await? {
                        works.insert(id, work);
                    }
                }
                Event::TooLong { id, keep } => {
                    let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
                    refuse(shared, id, keep, status, "The request's headers are too long.").await?;
                }
                Event::Body { id, bytes } => {
                    if let Some(work) = works.get(&id) {
                        // An error means that the request is answered already.
                        let _ = work.body.send(bytes.into()).await;
                    }
                }
                Event::BodyEnd { id } => {
                    if let Some(work) = works.get(&id) {
                        work.body.end().await;
                    }
                }
                Event::Abort { id } => {
                    if let Some(work) = works.remove(&id) {
                        // An error means that the request was answered meanwhile.
                        let _ = work.give_up.send(());
                    }
                }
            }
        }
    }
}

/// Begins to work at a request.
async fn begun<S>(shared: &Arc<Shared<S>>, id: u16, environment: &Environment, keep: bool) -> io::Result<Option<Work>>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (ready, body) = match Ready::of(environment) {
        Ok(ready) => ready,
        Err(error) => {
            refuse(shared, id, keep, StatusCode::BAD_REQUEST, error.0).await?;
            return Ok(None);
        }
    };
    let own = Arc::clone(shared);
    let (give_up, given_up) = oneshot::channel();
    let task = tokio::spawn(async move {
        if answer(&own, id, keep, ready, given_up).await.is_err() {
            // The answer broke off, or nobody reads it. The connection closes, so that nobody takes it for whole.
            let _ = own.end.try_send(());
        }
    });
    Ok(Some(Work { body, give_up, task: task.abort_handle() }))
}

/// Answers a request, or ends it if the web server gives it up.
async fn answer<S: AsyncWrite>(
    shared: &Shared<S>,
    id: u16,
    keep: bool,
    ready: Ready,
    mut given_up: oneshot::Receiver<()>,
) -> io::Result<()> {
    let response = tokio::select! {
        response = ready.answered(&shared.app) => response,
        _ = &mut given_up => return shared.finish(id, keep, Ended::Complete, Parts::default()).await,
    };
    let (head, mut body) = response.into_parts();
    let mut out = Vec::new();
    answer::push_head(head.status, &head.headers, &mut out);
    // What comes next, if it is there already.
    let mut next = None;
    loop {
        let frame = match next.take() {
            Some(frame) => frame,
            None => tokio::select! {
                frame = body.frame() => frame,
                _ = &mut given_up => return shared.finish(id, keep, Ended::Complete, Parts::default()).await,
            },
        };
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
        let piece = Parts::of(std::mem::take(&mut out), data);
        next = body.frame().now_or_never();
        if let Some(None) = next {
            // A short answer is sent with its head and its end in one write.
            return shared.finish(id, keep, Ended::Complete, piece).await;
        }
        shared.send(id, piece).await?;
    }
    shared.finish(id, keep, Ended::Complete, Parts::of(out, Bytes::new())).await
}

async fn refuse<S: AsyncWrite>(
    shared: &Shared<S>,
    id: u16,
    keep: bool,
    status: StatusCode,
    reason: &str,
) -> io::Result<()> {
    shared.finish(id, keep, Ended::Complete, Parts::of(refusal(status, reason), Bytes::new())).await
}

impl<S: AsyncWrite> Shared<S> {
    /// Sends a piece of an answer.
    async fn send(&self, id: u16, piece: Parts) -> io::Result<()> {
        self.writer.lock().await.write_all_buf(&mut records(id, piece)).await
    }

    /// Sends the last piece of an answer, and its end.
    async fn finish(&self, id: u16, keep: bool, ended: Ended, piece: Parts) -> io::Result<()> {
        let mut end = Vec::with_capacity(4 * record::HEAD_BYTES);
        record::push(record::STDOUT, id, &[], &mut end);
        record::push_end(id, ended, &mut end);
        let mut records = records(id, piece);
        records.push(end.into());
        let mut writer = self.writer.lock().await;
        self.read.lock().finished(id);
        writer.write_all_buf(&mut records).await?;
        writer.flush().await?;
        if !keep {
            let _ = self.end.try_send(());
        }
        Ok(())
    }
}

/// A piece of an answer in records.
fn records(id: u16, piece: Parts) -> Parts {
    let mut records = Parts::default();
    for mut rest in piece {
        while !rest.is_empty() {
            let content = rest.split_to(rest.len().min(record::CONTENT_BYTES_MAX));
            let length = u16::try_from(content.len()).unwrap_or(u16::MAX);
            records.push(Bytes::copy_from_slice(&record::head(record::STDOUT, id, length)));
            records.push(content);
        }
    }
    records
}
