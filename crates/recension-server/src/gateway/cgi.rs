//! CGI: a process for one request. The store is opened for sharing with the process that has it open, or alone. Or it
//! is opened only for reading, so that a web server that may not write there can serve it and nothing of it is changed.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use recension::document::OpenOptions;
use recension::engine::EngineError;
use recension_gateway::{Environment, answer};

use tokio::sync::watch;

use super::{Ready, app, refusal};
use crate::arriving::Hander;
use crate::auth::tokens::reads;
use crate::config::Config;
use crate::dispatch;
use crate::limits::CHUNK_BYTES;
use crate::route::Target;
use crate::serve::ServeError;
use crate::state::App;

/// Answers the request that the variables describe, with its body from `input`, to `output`. If `read_only` is set,
/// what would change something is refused.
///
/// # Errors [`ServeError`]: the store cannot be opened, or the answer not be sent whole. A process that ends with
/// that says so to its web server by its exit code.
pub async fn run(
    config: Config,
    environment: Vec<(Vec<u8>, Vec<u8>)>,
    input: impl Read + Send + 'static,
    mut output: impl Write,
    read_only: bool,
) -> Result<(), ServeError> {
    let failed = |source| ServeError::Io { what: "answering as CGI".to_owned(), source };
    let (ready, hander) = match Ready::of(&Environment(environment)) {
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
    let (app, _stop) = if read_only { reading(config)? } else { app(config)? };
    let length = ready.length.unwrap_or(0);
    tokio::task::spawn_blocking(move || hand_on(input, &hander, length));
    let (head, mut body) = dispatch::answer(app, ready.connection, ready.request).await.into_parts();
    let mut out = Vec::new();
    answer::push_head(head.status, &head.headers, &mut out);
    let mut send = |piece: &[u8]| output.write_all(piece).map_err(failed);
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| failed(io::Error::other(error)))?.into_data() else { continue };
        out.extend_from_slice(&data);
        send(&out)?;
        out.clear();
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
fn reading(config: Config) -> Result<(Arc<App>, watch::Sender<bool>), ServeError> {
    if !Path::new(&config.store).is_dir() {
        return app(config);
    }
    let keys = config.key_source();
    let key = keys.key().map_err(recension::Error::from)?;
    let options = OpenOptions::new().key(key).collection_keys(keys.collection_keys);
    let store = match options.open_read_only(&config.store) {
        Err(recension::Error::Engine(EngineError::Locked { .. })) => return app(config),
        store => store?,
    };
    super::on(store, config)
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
