//! The floor of HTTP here: hyper on tokio with one answer to every request, as long as a document's.

use std::convert::Infallible;
use std::io::Write as _;
use std::net::SocketAddr;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::{Place, Process};
use crate::data::value;
use crate::error::{LabError, Result};

/// Its answer to every GET: a document, in the form of our answers.
pub fn answer() -> String {
    let head = "{\"_id\":\"d000000\",\"_rev\":\"1-0123456789abcdef0123456789abcdef\",";
    head.to_owned() + value(0, 0).trim_start_matches('{')
}

/// Starts it: this program again.
pub fn start(place: &Place<'_>) -> Result<(Process, SocketAddr)> {
    let program = std::env::current_exe().map_err(LabError::io("finding this program"))?;
    let mut command = place.program(program);
    place.start_that_says("the floor", command.arg("floor"))
}

/// Starts it with the page of the suite `bigtable`.
pub fn start_with_page(place: &Place<'_>) -> Result<(Process, SocketAddr)> {
    let program = std::env::current_exe().map_err(LabError::io("finding this program"))?;
    let mut command = place.program(program);
    place.start_that_says("the floor", command.args(["floor", "--page"]))
}

/// Runs the floor until the process is ended. It answers as a store of documents does, or with this page.
///
/// # Errors
/// If it cannot listen.
pub fn serve(page: Option<String>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(LabError::io("starting threads"))?.block_on(async {
        let failed = || LabError::io("listening on loopback");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed())?;
        let mut out = std::io::stdout();
        writeln!(out, "listening on http://{}", listener.local_addr().map_err(failed())?)
            .and_then(|()| out.flush())
            .map_err(LabError::io("saying where it listens"))?;
        let answered = Bytes::from(page.unwrap_or_else(answer));
        loop {
            let (stream, _) = listener.accept().await.map_err(failed())?;
            let _ = stream.set_nodelay(true);
            let answered = answered.clone();
            tokio::spawn(async move {
                let service = service_fn(|request| one(request, answered.clone()));
                let _ =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    })
}

async fn one(request: Request<Incoming>, answered: Bytes) -> std::result::Result<Response<Full<Bytes>>, Infallible> {
    let mut response = Response::new(Full::new(answered));
    if request.method() != Method::GET {
        let _ = request.into_body().collect().await;
        *response.status_mut() = StatusCode::CREATED;
    }
    let json = hyper::header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, json);
    Ok(response)
}
