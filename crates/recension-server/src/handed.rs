//! Requests that CGI programs of the store hand to this process, which has it open: docs/handed-requests.md. Nothing is
//! answered here that the program would answer otherwise by itself.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use recension_gateway::{Environment, answer, handed, scgi};
use recension_remote::socket;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, WriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::ready::Ready;
use recension_app::settings::NOTE;
use recension_app::state::App;
use recension_wire::arriving::Hander;
use recension_wire::parts::Parts;
use recension_wire::route::Target;
use recension_wire::write_timeout::Patient;

/// The socket's name in the store's folder.
pub(crate) const SOCKET_FILE: &str = "REQUESTS";

/// The socket in the folder, for as long as this lives.
struct Offered {
    folder: PathBuf,
    listener: UnixListener,
}

impl Offered {
    fn in_folder(folder: PathBuf) -> io::Result<Self> {
        let listener = socket::listen(&folder, SOCKET_FILE).map_err(io::Error::other)?;
        listener.set_nonblocking(true)?;
        Ok(Offered { listener: UnixListener::from_std(listener)?, folder })
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        socket::remove(&self.folder, SOCKET_FILE);
    }
}

/// Takes requests until the server stops, if this process owns the store that the configuration names. The task ends
/// when the last of them is answered.
pub(crate) fn offer(app: &Arc<App>) -> Option<JoinHandle<()>> {
    let folder = std::fs::canonicalize(&app.config.store).ok().filter(|folder| folder.is_dir())?;
    // Reads that wait go to another process, or to another machine: a program does that as well by itself.
    if app.databases.profile().reads_wait() || app.databases.profile().others_commit {
        return None;
    }
    match Offered::in_folder(folder) {
        Ok(offered) => Some(tokio::spawn(take(Arc::clone(app), offered))),
        Err(error) => {
            tracing::warn!(%error, "CGI programs answer by themselves: they cannot hand requests to this server");
            None
        }
    }
}

async fn take(app: Arc<App>, offered: Offered) {
    let mut connections = JoinSet::new();
    loop {
        let taken = tokio::select! {
            taken = async { Ok((offered.listener.accept().await?, app.connections.place().await)) } => taken,
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
            () = app.stopped() => break,
        };
        match taken {
            Ok(((stream, _), place)) => {
                let app = Arc::clone(&app);
                connections.spawn(async move {
                    if let Err(error) = connection(&app, stream).await {
                        tracing::debug!(%error, "a CGI program's connection ended");
                    }
                    drop(place);
                });
            }
            Err(error) => {
                let error: io::Error = error;
                // No file descriptors are left: connections that end free some.
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(offered);
    let patience = Duration::from_secs(app.config.shutdown_seconds);
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(patience, finished).await;
}

/// Answers the request of a connection, or refuses it. If the program goes away before, the request is given up.
async fn connection(app: &Arc<App>, stream: UnixStream) -> io::Result<()> {
    socket::check_peer(&stream)?;
    let (mut reader, mut writer) = tokio::io::split(Patient::new(stream, app.streams.patience()));
    let patience = Duration::from_secs(app.config.head_seconds);
    let environment = tokio::time::timeout(patience, head(&mut reader)).await;
    let environment = environment.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    let Some((ready, body)) = taken(app, &environment) else {
        writer.write_all(&[handed::REFUSED]).await?;
        return writer.shutdown().await;
    };
    body.end().await;
    let mut more = [0];
    tokio::select! {
        sent = send(app, ready, &mut writer) => sent?,
        // It says no more: this is its end.
        _ = reader.read(&mut more) => return Ok(()),
    }
    writer.shutdown().await
}

/// The request, if this process answers as its sender would.
fn taken(app: &Arc<App>, environment: &Environment) -> Option<(Ready, Hander)> {
    match app.settings.follow(|| app.databases.note(NOTE)) {
        Ok(true) => app.realm.rights.tell(),
        Ok(false) => {}
        Err(error) => {
            tracing::warn!(reason = %error.reason, "the settings that another process has kept do not hold here");
            return None;
        }
    }
    if !handed::is_alike(environment, &app.settings.alike()) {
        return None;
    }
    let (ready, body) = Ready::of(environment).ok()?;
    let target = Target::parse(ready.request.uri().path()).ok()?;
    is_alike_everywhere(&target).then_some((ready, body))
}

/// Whether reading a target tells nothing of the process that answers, and needs no functions of design documents.
fn is_alike_everywhere(target: &Target<'_>) -> bool {
    match target {
        Target::Database { .. } | Target::Document { .. } => true,
        Target::OfDocument { id, .. } => !id.starts_with("_design/"),
        Target::Special { name, rest, .. } => {
            matches!(&**name, "_all_docs" | "_design_docs" | "_local_docs") && rest.is_empty()
        }
        Target::Root | Target::Server { .. } | Target::Redirect { .. } => false,
    }
}

async fn head(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Environment> {
    let mut held = Vec::with_capacity(2048);
    loop {
        if reader.read_buf(&mut held).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some((environment, _)) = scgi::head(&held).map_err(io::Error::other)? {
            return Ok(environment);
        }
    }
}

/// Sends the answer in pieces. A short one is sent with its head and its end in one write.
async fn send<S: AsyncWrite>(app: &Arc<App>, ready: Ready, to: &mut WriteHalf<S>) -> io::Result<()> {
    let (head, mut body) = ready.answered(app).await.into_parts();
    let mut first = Vec::new();
    answer::push_head(head.status, &head.headers, &mut first);
    let mut pieces = Parts::default();
    pieces.push(Bytes::from_static(&[handed::TAKEN]));
    // What comes next, if it is there already.
    let mut next = None;
    loop {
        let frame = match next.take() {
            Some(frame) => frame,
            None => body.frame().await,
        };
        let Some(frame) = frame else { break };
        let Ok(data) = frame.map_err(io::Error::other)?.into_data() else { continue };
        push(Parts::of(std::mem::take(&mut first), data), &mut pieces)?;
        next = body.frame().now_or_never();
        if let Some(None) = next {
            break;
        }
        to.write_all_buf(&mut std::mem::take(&mut pieces)).await?;
    }
    push(Parts::of(first, Bytes::new()), &mut pieces)?;
    pieces.push(Bytes::copy_from_slice(&handed::piece_head(0)));
    to.write_all_buf(&mut pieces).await?;
    to.flush().await
}

/// Appends parts of an answer as pieces.
fn push(parts: Parts, to: &mut Parts) -> io::Result<()> {
    for part in parts {
        let length = u32::try_from(part.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        to.push(Bytes::copy_from_slice(&handed::piece_head(length)));
        to.push(part);
    }
    Ok(())
}
