//! A server with accounts for a test, and a client that asks as one or the other.
#![allow(dead_code)] // not every test needs all of it

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use recension::Store;
use recension_server::config::{Config, SettingText};
use recension_server::{FirstAdmin, Server};
use serde_json::{Value, json};

/// A server in this process; it stops with the test.
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) first_admin: Option<FirstAdmin>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An answer: status, head, body.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}{}", self.head, self.body))
    }

    pub(crate) fn cookie(&self) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect(&self.head);
        line.split(';').next().unwrap().to_owned()
    }
}

pub(crate) const ADMIN: &str = "adm:pass";

impl Served {
    /// With the admin `adm`, and few rounds of hashing.
    pub(crate) fn start() -> Self {
        Self::with(Config { store: "memory:".into(), admins: vec![ADMIN.into()], ..Config::default() })
    }

    pub(crate) fn with(config: Config) -> Self {
        Self::serving(None, config)
    }

    /// On a store that the test holds, too.
    pub(crate) fn on(store: Store) -> Self {
        Self::serving(Some(store), Config { admins: vec![ADMIN.into()], ..Config::default() })
    }

    fn serving(store: Option<Store>, mut config: Config) -> Self {
        config.listen = SocketAddr::from(([127, 0, 0, 1], 0));
        let auth = config.settings.entry("chttpd_auth".into()).or_default();
        auth.insert("iterations".into(), SettingText("10".into()));
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let (tell, told) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let server = match store {
                    Some(store) => Server::on(store, config).await.unwrap(),
                    None => Server::bind(config).await.unwrap(),
                };
                tell.send((server.address(), server.first_admin().cloned())).unwrap();
                server.run(async { stopped.await.unwrap_or_default() }).await.unwrap();
            });
        });
        let (address, first_admin) = told.recv().unwrap();
        Served { address, first_admin, stop: Some(stop), thread: Some(thread) }
    }

    /// Asks with a header more, on a connection of its own.
    pub(crate) fn ask_with(&self, header: &str, method: &str, path: &str, body: &str) -> Answered {
        Connection::to(self.address).ask(header, method, path, body)
    }

    /// Asks as `name:password`; empty: as nobody.
    pub(crate) fn ask(&self, who: &str, method: &str, path: &str, body: &str) -> Answered {
        self.ask_with(&basic(who), method, path, body)
    }

    pub(crate) fn admin(&self, method: &str, path: &str, body: &Value) -> Answered {
        let answer = self.ask(ADMIN, method, path, &body.to_string());
        assert!(answer.status < 300, "{method} {path}: {}", answer.body);
        answer
    }

    pub(crate) fn user(&self, name: &str, roles: &[&str]) {
        let user = json!({"name": name, "type": "user", "roles": roles, "password": "pw"});
        self.admin("PUT", &format!("/_users/org.couchdb.user:{name}"), &user);
    }

    pub(crate) fn log_in(&self, name: &str) -> String {
        let answer = self.ask("", "POST", "/_session", &json!({"name": name, "password": "pw"}).to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        format!("Cookie: {}\r\n", answer.cookie())
    }

    pub(crate) fn set(&self, section: &str, key: &str, value: &str) -> Answered {
        self.ask(ADMIN, "PUT", &format!("/_node/_local/_config/{section}/{key}"), &json!(value).to_string())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
        let _ = self.thread.take().unwrap().join();
    }
}

pub(crate) fn basic(who: &str) -> String {
    match who {
        "" => String::new(),
        who => format!("Authorization: Basic {}\r\n", BASE64_STANDARD.encode(who)),
    }
}

/// A connection that is used again and again.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Connection(BufReader::new(stream))
    }

    pub(crate) fn ask(&mut self, header: &str, method: &str, path: &str, body: &str) -> Answered {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\n{header}Content-Type: application/json\r\nContent-Length: \
             {}\r\n\r\n{body}",
            body.len()
        );
        self.0.get_mut().write_all(head.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).unwrap() > 0, "{method} {path}: {head}");
        }
        let status = head[9..12].parse().unwrap();
        let length = |head: &str| head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let mut body = Vec::new();
        if method != "HEAD" && head.contains("transfer-encoding: chunked") {
            loop {
                let mut line = String::new();
                self.0.read_line(&mut line).unwrap();
                let length = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut piece = vec![0; length + 2];
                self.0.read_exact(&mut piece).unwrap();
                if length == 0 {
                    break;
                }
                body.extend_from_slice(&piece[..length]);
            }
        } else if method != "HEAD" {
            body = vec![0; length(&head).unwrap_or(0)];
            self.0.read_exact(&mut body).unwrap();
        }
        Answered { status, head, body: String::from_utf8(body).unwrap() }
    }
}

/// A token that is signed with a secret.
pub(crate) fn token(claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({"alg": "HS256", "typ": "JWT", "kid": "k"})), part(claims));
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret);
    format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, message.as_bytes())))
}
