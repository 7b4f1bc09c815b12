//! CGI: a process for one request. The store is opened for sharing with the process that has it open, or alone. Or it
//! is opened only for reading, so that a web server that may not write there can serve it and nothing of it is changed.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use recension::OpenOptions;
use recension::engine::EngineError;
use recension_gateway::handed::{self, Came};
use recension_gateway::{Environment, Malformed, answer};
use recension_remote::socket;

use tokio::sync::watch;

use super::{app, refusal};
use crate::dispatch;
use crate::handed::SOCKET_FILE;
use crate::ready::Ready;
use crate::serve_error::ServeError;
use recension_app::auth::scope::reads;
use recension_app::config::Config;
use recension_app::state::{App, Lives};
use recension_wire::arriving::Hander;
use recension_wire::limits::CHUNK_BYTES;
use recension_wire::parts::Parts;
use recension_wire::route::Target;

/// Bytes of an answer of a server that are passed on at a time.
const RELAYED_BYTES: usize = 128 * 1024;

/// Hands the request that the variables describe to the server that has the store open, and its answer on to `output`:
/// docs/handed-requests.md. Returns whether there was one; otherwise nothing was written, and [`run`] answers.
///
/// # Errors
/// [`ServeError`]: the answer broke off, or cannot be sent on.
pub fn handed_over(config: &Config, environment: &Environment, mut output: impl Write) -> Result<bool, ServeError> {
    let Some(request) = handed::request(environment, &config.alike()) else { return Ok(false) };
    let Ok(mut server) = socket::connect(Path::new(&config.store), SOCKET_FILE) else { return Ok(false) };
    if server.write_all(&request).is_err() {
        return Ok(false);
    }
    let mut bytes = vec![0; RELAYED_BYTES];
    let (mut arriving, mut began) = (handed::Arriving::default(), false);
    let failed = |source| ServeError::Io { what: "answering as CGI".to_owned(), source };
    loop {
        let read = match server.read(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.unwrap_or(0),
        };
        let pass = |part: &[u8]| {
            began = true;
            output.write_all(part).map_err(Relay::Output)
        };
        match arriving.push(&bytes[..read], pass) {
            Ok(Came::Whole) => return output.flush().map(|()| true).map_err(failed),
            Ok(Came::Part) if read > 0 => {}
            Err(Relay::Output(error)) => return Err(failed(error)),
            _ if !began => return Ok(false),
            _ => return Err(failed(io::Error::new(io::ErrorKind::UnexpectedEof, "the server's answer broke off"))),
        }
    }
}

/// Why an answer is not passed on.
enum Relay {
    Output(io::Error),
    Malformed,
}

impl From<Malformed> for Relay {
    fn from(_: Malformed) -> Self {
        Relay::Malformed
    }
}

/// Answers the request that the variables describe, with its body from `input`, to `output`. If `read_only` is set,
/// what would change something is refused.
///
/// # Errors [`ServeError`]: the store cannot be opened, or the answer not be sent whole. A process that ends with
/// that says so to its web server by its exit code.
pub async fn run(
    config: Config,
    environment: Environment,
    input: impl Read + Send + 'static,
    mut output: impl Write,
    read_only: bool,
) -> Result<(), ServeError> {
    let failed = |source| ServeError::Io { what: "answering as CGI".to_owned(), source };
    let (ready, hander) = match Ready::of(&environment) {
        Ok(ready) => ready,
        Err(malformed) => {
            return output.write_all(&refusal(StatusCode::BAD_REQUEST, malformed.0)).map_err(failed);
        }
    };
    if read_only && !only_reads(&ready) {
        let reason =
            "The store is opened for reading only here: send what changes something to the server that has it.";
        return output.write_all(&refusal(StatusCode::FORBIDDEN, reason)).map_err(failed);
    }
    let asks_for_events = ready.request.uri().path().starts_with("/_db_updates");
    let lives = if asks_for_events { Lives::Long } else { Lives::OneRequest };
    let (app, _stop) = if read_only { reading(config, lives)? } else { app(config, lives)? };
    match ready.length.unwrap_or(0) {
        0 => hander.end().await,
        length => _ = tokio::task::spawn_blocking(move || hand_on(input, &hander, length)),
    }
    let (head, mut body) = dispatch::answer(app, ready.connection, ready.request).await.into_parts();
    let mut out = Vec::new();
    answer::push_head(head.status, &head.headers, &mut out);
    let mut send = |piece: &[u8]| output.write_all(piece).map_err(failed);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| failed(io::Error::other(error)))?.into_data() else { continue };
        for part in Parts::of(std::mem::take(&mut out), data) {
            send(&part)?;
        }
    }
    send(&out)?;
    output.flush().map_err(failed)
}

fn only_reads(ready: &Ready) -> bool {
    let (method, path) = (ready.request.method(), ready.request.uri().path());
    match Target::parse(path) {
        // Logging in writes nothing to the store.
        Ok(Target::Server { name, .. }) if matches!(&*name, "_session" | "_dbs_info") => true,
        Ok(target) => reads(method, &target),
        // A malformed path is refused as such.
        Err(_) => true,
    }
}

/// The state of requests on a store that is opened for reading. If a process has it open, or it is not a folder, it is
/// opened in the usual way.
fn reading(config: Config, lives: Lives) -> Result<(Arc<App>, watch::Sender<bool>), ServeError> {
    if !Path::new(&config.store).is_dir() {
        return app(config, lives);
    }
    let keys = config.key_source();
    let key = keys.key().map_err(recension::Error::from)?;
    let options = OpenOptions::new().key(key).collection_keys(keys.collection_keys);
    let store = match options.open_read_only(&config.store) {
        Err(recension::Error::Engine(EngineError::Locked { .. })) => return app(config, lives),
        store => store?,
    };
    super::on(store, config, lives)
}

/// Hands the body on. What is behind its length is not of it.
fn hand_on(input: impl Read, hander: &Hander, length: u64) {
    let mut input = input.take(length);
    let handle = tokio::runtime::Handle::current();
    loop {
        let mut bytes = vec![0; CHUNK_BYTES];
        match input.read(&mut bytes) {
            Ok(0) => return handle.block_on(hander.end()),
            Ok(length) => {
                bytes.truncate(length);
                if !handle.block_on(hander.send(Bytes::from(bytes))) {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Dropped without its end, the body breaks off.
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is passed on of a server's answer, and how that ends.
    fn relayed(answer: &[u8]) -> (Result<bool, ServeError>, Vec<u8>) {
        let place = tempfile::tempdir().unwrap();
        let listener = socket::listen(place.path(), SOCKET_FILE).unwrap();
        let config = Config { store: place.path().display().to_string(), ..Config::default() };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut asked = [0; 2048];
                assert!(stream.read(&mut asked).unwrap() > 0);
                stream.write_all(answer).unwrap();
            });
            let mut output = Vec::new();
            let asked = Environment(vec![(b"REQUEST_URI".to_vec(), b"/db".to_vec())]);
            (handed_over(&config, &asked, &mut output), output)
        })
    }

    #[test]
    fn an_answer_that_breaks_off_is_an_error_once_a_part_of_it_was_passed_on() {
        for (answer, whole, passed) in [
            (&b"\x01\x04\0\0\0body\0\0\0\0"[..], Some(true), "body"),
            (b"\x01\x04\0\0\0body", None, "body"),
            (b"\x01\x04\0\0\0bo", None, "bo"),
            (b"\x01\x02\0\0\0bo\0\0\0\0more", None, "bo"),
            (b"\x01\x04\0", Some(false), ""),
            (b"\0", Some(false), ""),
            (b"HTTP/1.1 200 OK", Some(false), ""),
            (b"", Some(false), ""),
        ] {
            let (outcome, output) = relayed(answer);
            assert_eq!(outcome.ok(), whole, "{}", answer.escape_ascii());
            assert_eq!(output, passed.as_bytes(), "{}", answer.escape_ascii());
        }
    }

    #[test]
    fn where_nobody_listens_nothing_is_handed_over() {
        let config = Config { store: "memory:".to_owned(), ..Config::default() };
        assert!(!handed_over(&config, &Environment::default(), Vec::new()).unwrap());
    }
}
