//! Configurations and certificates that are taken over while the server runs, and those that are refused.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use recension_server::config::{Config, RequestLog, SettingText};
use recension_server::{Reloader, Server};
use std::io::{Read, Write};
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
};

fn key(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/keys").join(name)
}

/// Takes any certificate: the test looks at it.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Asks over TLS; the answer, and the certificate of who gave it.
fn ask(address: SocketAddr, who: &str, path: &str) -> (String, Vec<u8>) {
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Anybody))
        .with_no_client_auth();
    let connection = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    let who = BASE64_STANDARD.encode(who);
    let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic {who}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let certificate = stream.conn.peer_certificates().unwrap()[0].to_vec();
    (String::from_utf8_lossy(&answer).into_owned(), certificate)
}

fn certificate(path: &Path) -> Vec<u8> {
    let pem = std::fs::read_to_string(path).unwrap();
    let lines = pem.lines().skip_while(|line| !line.contains("BEGIN CERT")).skip(1);
    BASE64_STANDARD.decode(lines.take_while(|line| !line.contains("END")).collect::<String>()).unwrap()
}

/// A server that runs, and what takes configurations over for it.
fn running(config: Config, test: impl FnOnce(SocketAddr, Reloader)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let server = Server::bind(config).await.unwrap();
        let (address, reloader) = (server.address(), server.reloader());
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(server.run(async { stopped.await.unwrap_or_default() }));
        tokio::task::block_in_place(|| test(address, reloader));
        drop(stop);
        running.await.unwrap().unwrap();
    });
}

#[test]
fn what_can_change_while_it_runs_does_and_what_is_wrong_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (chain, private) = (dir.path().join("chain.pem"), dir.path().join("key.pem"));
    let install = |certificate: &str, own: &str| {
        std::fs::copy(key(certificate), &chain).unwrap();
        std::fs::copy(key(own), &private).unwrap();
    };
    install("certificate.pem", "ec.pem");
    let mut config = Config {
        store: "memory:".into(),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        tls_certificate: Some(chain.clone()),
        tls_key: Some(private.clone()),
        admins: vec!["adm:pass".into()],
        ..Config::default()
    };
    let iterations = std::collections::BTreeMap::from([("iterations".to_owned(), SettingText("10".into()))]);
    config.settings.insert("chttpd_auth".into(), iterations);
    running(config.clone(), |address, reloader| {
        let size = "/_node/_local/_config/couchdb/max_document_size";
        let state = |who: &str| {
            let (answer, certificate) = ask(address, who, size);
            (answer[9..12].to_owned(), answer.rsplit("\r\n").next().unwrap().trim().to_owned(), certificate)
        };
        let first = ("200".to_owned(), "\"8000000\"".to_owned(), certificate(&key("certificate.pem")));
        assert_eq!(state("adm:pass"), first);
        // What is wrong, in whatever place: nothing of the rest holds either.
        let changed = Config { max_document_size: 1000, admins: vec!["bob:new".into()], ..config.clone() };
        let mut bad_setting = changed.clone();
        bad_setting
            .settings
            .insert("chttpd".into(), [("require_valid_user".to_owned(), SettingText("x".into()))].into());
        let missing = Config { tls_certificate: Some(dir.path().join("none.pem")), ..changed.clone() };
        let nobody = Config { admins: Vec::new(), ..changed.clone() };
        let log = Config { log: "a=b=c".into(), ..changed.clone() };
        for (name, bad) in [("setting", bad_setting), ("file", missing), ("admins", nobody), ("log", log)] {
            assert!(reloader.reload(&bad).is_err(), "{name}");
            assert_eq!(state("adm:pass"), first, "{name}");
        }
        for (name, pair) in [("another key", ("vouched.pem", "ec.pem")), ("no certificate", ("ec.pub.pem", "ec.pem"))] {
            install(pair.0, pair.1);
            assert!(reloader.reload(&changed).is_err(), "{name}");
            assert_eq!(state("adm:pass"), first, "{name}");
        }
        install("vouched.pem", "vouched.key.pem");
        assert_eq!(reloader.reload(&changed).unwrap(), Vec::<String>::new());
        let second = ("200".to_owned(), "\"1000\"".to_owned(), certificate(&key("vouched.pem")));
        assert_eq!(state("bob:new"), second);
        assert_eq!(state("adm:pass").0, "401", "who was taken out is out");
        // What holds from the next start on is named.
        let later = Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 1)),
            store: "elsewhere".into(),
            max_connections: 7,
            log_requests: Some(RequestLog::Json),
            ..changed.clone()
        };
        let mut named = reloader.reload(&later).unwrap();
        named.sort();
        assert_eq!(named, ["listen", "max_connections", "store"]);
        assert_eq!(state("bob:new"), second);
        let plain = Config { tls_certificate: None, tls_key: None, ..changed.clone() };
        assert_eq!(reloader.reload(&plain).unwrap(), ["tls_certificate"]);
        assert_eq!(state("bob:new"), second);
    });
}

#[test]
fn a_setting_that_is_put_later_stands_on_the_configuration_that_was_taken_over() {
    let config = Config {
        store: "memory:".into(),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        admin_party: true,
        ..Config::default()
    };
    running(config.clone(), |address, reloader| {
        reloader.reload(&Config { max_document_size: 1000, ..config.clone() }).unwrap();
        let ask = |method: &str, path: &str, body: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            let path = format!("/_node/_local/_config/{path}");
            let length = body.len();
            write!(
                stream,
                "{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            )
            .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer.rsplit("\r\n").next().unwrap().trim().to_owned()
        };
        assert_eq!(ask("PUT", "vhosts/thing", "\"x\""), "\"\"");
        assert_eq!(ask("GET", "couchdb/max_document_size", ""), "\"1000\"");
        assert_eq!(ask("PUT", "couchdb/max_document_size", "\"7\""), "\"1000\"");
        reloader.reload(&Config { max_document_size: 2000, ..config.clone() }).unwrap();
        assert_eq!(ask("GET", "couchdb/max_document_size", ""), "\"7\"", "what was put wins");
        assert_eq!(ask("DELETE", "couchdb/max_document_size", ""), "\"7\"");
        assert_eq!(ask("GET", "couchdb/max_document_size", ""), "\"2000\"");
    });
}
