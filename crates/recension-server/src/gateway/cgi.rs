//! CGI: a process for one request. It opens the store beside the processes that have it open, or alone.

use std::io::{self, Read, Write};

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use recension_gateway::{Environment, answer};

use super::{Ready, app, refusal};
use crate::arriving::Hander;
use crate::config::Config;
use crate::dispatch;
use crate::limits::CHUNK_BYTES;
use crate::serve::ServeError;

/// Answers the request that the variables describe, with its body from `input`, to `output`.
///
/// # Errors [`ServeError`]: the store cannot be opened, or the answer not be sent whole. A process that ends with
/// that says so to its web server by its exit code.
pub async fn run(
    config: Config,
    environment: Vec<(Vec<u8>, Vec<u8>)>,
    input: impl Read + Send + 'static,
    mut output: impl Write,
) -> Result<(), ServeError> {
    let failed = |source| ServeError::Io { what: "answering as CGI".to_owned(), source };
    let (ready, hander) = match Ready::of(&Environment(environment)) {
        Ok(ready) => ready,
        Err(malformed) => {
            return output.write_all(&refusal(StatusCode::BAD_REQUEST, malformed.0)).map_err(failed);
        }
    };
    let (app, _stop) = app(config)?;
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

/// Hands the body on. Bytes behind its announced length are ignored.
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
