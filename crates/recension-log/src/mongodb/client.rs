//! A connection to `MongoDB`, as far as a log needs it: a command and its answer are one `OP_MSG` each.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;

use bson::{Document, doc};
use rustls::ClientConfig;

use super::scram;
use crate::net::{Stream, connect};

const OP_MSG: i32 = 2013;
const HEADER_BYTES: usize = 16;
/// Longest message that a server sends.
const MESSAGE_BYTES_MAX: usize = 48_000_000;

/// The credentials of a connection.
pub(super) struct Login {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) database: String,
    pub(super) tls: Option<Arc<ClientConfig>>,
}

/// The reason for which a command failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection broke, or the member is not the primary.
    Io(io::Error),
    /// The server refused, with its code and words.
    Server { code: i32, message: String },
}

impl Failure {
    /// Whether trying again may help.
    pub(super) fn may_pass(&self) -> bool {
        // Not the primary, shutting down, interrupted, timed out, network.
        const PASSING: [i32; 15] = [6, 7, 50, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436, 64, 112];
        match self {
            Failure::Io(_) => true,
            Failure::Server { code, .. } => PASSING.contains(code),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Io(error) => error.fmt(f),
            Failure::Server { code, message } => write!(f, "{message} ({code})"),
        }
    }
}

/// A connection.
pub(super) struct Client {
    stream: Stream,
    database: String,
    number: i32,
}

fn wrong(what: impl fmt::Display) -> io::Error {
    io::Error::other(format!("an answer that is not as the protocol says: {what}"))
}

impl Client {
    pub(super) fn connect(host: &str, port: u16, login: &Login) -> Result<Self, Failure> {
        let socket = connect(host, port)?;
        let stream = match &login.tls {
            None => Stream::Plain(socket),
            Some(config) => Stream::over_tls(socket, host, config)?,
        };
        let mut client = Client { stream, database: login.database.clone(), number: 0 };
        let hello = client.run_on("admin", &doc! { "hello": 1 })?;
        let writable = hello.get_bool("isWritablePrimary").or_else(|_| hello.get_bool("ismaster"));
        if !writable.unwrap_or(false) {
            return Err(io::Error::other("it is not the primary").into());
        }
        if let Some(user) = &login.user {
            let password = login.password.as_deref().ok_or_else(|| Failure::Server {
                code: 18,
                message: "a user needs a password: set RECENSION_LOG_PASSWORD, or name a file with ?password-file="
                    .to_owned(),
            })?;
            scram::log_in(&mut client, user, password)?;
        }
        Ok(client)
    }

    /// Runs a command on the log's database.
    pub(super) fn run(&mut self, command: &Document) -> Result<Document, Failure> {
        let database = self.database.clone();
        self.run_on(&database, command)
    }

    pub(super) fn run_on(&mut self, database: &str, command: &Document) -> Result<Document, Failure> {
        let mut command = command.clone();
        command.insert("$db", database);
        self.number = self.number.wrapping_add(1);
        let body = command.to_vec().map_err(wrong)?;
        let len = HEADER_BYTES + 4 + 1 + body.len();
        let mut message = Vec::with_capacity(len);
        let len = i32::try_from(len).map_err(|_| wrong("a command that is too long"))?;
        for number in [len, self.number, 0, OP_MSG, 0] {
            message.extend_from_slice(&number.to_le_bytes());
        }
        message.push(0);
        message.extend_from_slice(&body);
        self.stream.write_all(&message)?;
        self.stream.flush()?;
        let answer = self.receive()?;
        let code = |answer: &Document| super::number(answer.get("code")) as i32;
        match super::number(answer.get("ok")) {
            1 => Ok(answer),
            _ => Err(Failure::Server {
                code: code(&answer),
                message: answer.get_str("errmsg").unwrap_or("refused").to_owned(),
            }),
        }
    }

    fn receive(&mut self) -> Result<Document, Failure> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header)?;
        let number = |at: usize| i32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let len = usize::try_from(number(0)).ok().filter(|len| (HEADER_BYTES + 5..=MESSAGE_BYTES_MAX).contains(len));
        let len = len.ok_or_else(|| wrong("a length out of bounds"))?;
        if number(8) != self.number || number(12) != OP_MSG {
            return Err(wrong("an answer to something else").into());
        }
        let mut message = vec![0; len - HEADER_BYTES];
        self.stream.read_exact(&mut message)?;
        // Flags; then one section of kind 0, a document.
        match message.get(4) {
            Some(0) => Ok(Document::from_reader(&message[5..]).map_err(wrong)?),
            _ => Err(wrong("a section of another kind").into()),
        }
    }
}
