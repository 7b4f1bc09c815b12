//! Servers of the page, each on loopback with two threads.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use crate::writers::{Tables, Writer};

/// Threads of each.
const THREADS: usize = 2;

fn at(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// hyper on tokio.
pub fn hyper(writer: Writer, port: u16) -> io::Result<()> {
    use http_body_util::Full;
    use hyper::body::{Bytes, Incoming};
    use hyper::service::service_fn;
    use hyper::{Request, Response};

    let tables = Arc::new(Tables::new());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(at(port)).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            let _ = stream.set_nodelay(true);
            let tables = Arc::clone(&tables);
            tokio::spawn(async move {
                let service = service_fn(move |request: Request<Incoming>| {
                    let page = tables.page(writer, request.uri().path());
                    let mut response = Response::new(Full::new(Bytes::from(page)));
                    let html = hyper::header::HeaderValue::from_static("text/html");
                    response.headers_mut().insert(hyper::header::CONTENT_TYPE, html);
                    async { Ok::<_, Infallible>(response) }
                });
                let io = hyper_util::rt::TokioIo::new(stream);
                let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
            });
        }
    })
}

/// actix-web.
pub fn actix(writer: Writer, port: u16) -> io::Result<()> {
    use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};

    let tables = web::Data::new(Tables::new());
    actix_web::rt::System::new().block_on(async move {
        let app = move || {
            App::new().app_data(tables.clone()).default_service(web::to(
                move |request: HttpRequest, tables: web::Data<Tables>| async move {
                    HttpResponse::Ok().content_type("text/html").body(tables.page(writer, request.path()))
                },
            ))
        };
        HttpServer::new(app).workers(THREADS).bind(at(port))?.run().await
    })
}

/// ntex on tokio.
pub fn ntex(writer: Writer, port: u16) -> io::Result<()> {
    use ntex::web::{self, App, HttpRequest, HttpResponse};

    let tables = Arc::new(Tables::new());
    ntex::rt::System::new("pages", ntex::rt::DefaultRuntime).block_on(async move {
        let app = async move || {
            let tables = Arc::clone(&tables);
            App::new().default_service(web::to(move |request: HttpRequest| {
                let tables = Arc::clone(&tables);
                async move { HttpResponse::Ok().content_type("text/html").body(tables.page(writer, request.path())) }
            }))
        };
        web::server(app).workers(THREADS).bind(at(port))?.run().await
    })
}
