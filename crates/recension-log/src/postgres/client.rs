//! A connection to `PostgreSQL`, as far as a log needs it: statements that are prepared once, one round trip each,
//! values in binary. See chapters 55.2 and 55.7 of its documentation.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::IsNull;
use postgres_protocol::authentication::{md5_hash, sasl};
use postgres_protocol::message::backend::{ErrorResponseBody, Message};
use postgres_protocol::message::frontend;
use rustls::ClientConfig;

use crate::net::{Stream, connect};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// The credentials of a connection.
pub(super) struct Login {
    pub(super) user: String,
    pub(super) password: Option<String>,
    pub(super) database: String,
    pub(super) tls: Option<Arc<ClientConfig>>,
}

/// The reason for which a request failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection broke or the server did not answer. It is unknown whether the request was carried out.
    Io(io::Error),
    /// The server refused, with its code (SQLSTATE) and words.
    Server { code: String, message: String },
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Io(error)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Io(error) => error.fmt(f),
            Failure::Server { code, message } => write!(f, "{message} ({code})"),
        }
    }
}

/// A row: its columns in binary.
pub(super) type Row = Vec<Option<Vec<u8>>>;

/// The answer to a statement.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) rows: Vec<Row>,
    /// Rows that it wrote.
    pub(super) written: u64,
}

/// A connection.
pub(super) struct Client {
    stream: Stream,
    input: BytesMut,
    output: BytesMut,
    /// The numbers of the statements that are prepared.
    prepared: HashMap<String, usize>,
    /// The payloads of notifications that have come.
    pub(super) notices: Vec<String>,
}

impl Client {
    pub(super) fn connect(host: &str, port: u16, login: &Login) -> Result<Self, Failure> {
        let mut socket = connect(host, port)?;
        let stream = match &login.tls {
            None => Stream::Plain(socket),
            Some(config) => {
                let mut request = BytesMut::new();
                frontend::ssl_request(&mut request);
                socket.write_all(&request)?;
                let mut answer = [0];
                socket.read_exact(&mut answer)?;
                if answer != *b"S" {
                    return Err(io::Error::other("the server speaks no TLS, which ?tls= asks for").into());
                }
                Stream::over_tls(socket, host, config)?
            }
        };
        let (input, output) = (BytesMut::with_capacity(READ_BYTES), BytesMut::new());
        let mut client = Client { stream, input, output, prepared: HashMap::new(), notices: Vec::new() };
        client.log_in(login)?;
        Ok(client)
    }

    fn log_in(&mut self, login: &Login) -> Result<(), Failure> {
        let parameters = [
            ("user", login.user.as_str()),
            ("database", &login.database),
            ("application_name", "recension"),
            ("client_encoding", "UTF8"),
        ];
        frontend::startup_message(parameters, &mut self.output)?;
        self.send()?;
        let no_password = || Failure::Server {
            code: "28P01".to_owned(),
            message: "the server asks for a password: set RECENSION_LOG_PASSWORD, or name a file with ?password-file="
                .to_owned(),
        };
        let password = login.password.as_deref();
        let mut scram = None;
        loop {
            match self.receive()? {
                Message::AuthenticationOk
                | Message::ParameterStatus(_)
                | Message::BackendKeyData(_)
                | Message::NoticeResponse(_) => continue,
                Message::ReadyForQuery(_) => return Ok(()),
                Message::AuthenticationCleartextPassword if login.tls.is_some() => {
                    let password = password.ok_or_else(no_password)?;
                    frontend::password_message(password.as_bytes(), &mut self.output)?;
                }
                Message::AuthenticationCleartextPassword => {
                    return Err(
                        io::Error::other("the server wants the password in clear; it is sent over TLS only").into()
                    );
                }
                Message::AuthenticationMd5Password(body) => {
                    let password = password.ok_or_else(no_password)?;
                    let hash = md5_hash(login.user.as_bytes(), password.as_bytes(), body.salt());
                    frontend::password_message(hash.as_bytes(), &mut self.output)?;
                }
                Message::AuthenticationSasl(_) => {
                    let password = password.ok_or_else(no_password)?;
                    let state = sasl::ScramSha256::new(password.as_bytes(), sasl::ChannelBinding::unsupported());
                    frontend::sasl_initial_response(sasl::SCRAM_SHA_256, state.message(), &mut self.output)?;
                    scram = Some(state);
                }
                Message::AuthenticationSaslContinue(body) => {
                    let state = scram.as_mut().ok_or_else(out_of_order)?;
                    state.update(body.data())?;
                    frontend::sasl_response(state.message(), &mut self.output)?;
                }
                Message::AuthenticationSaslFinal(body) => {
                    scram.as_mut().ok_or_else(out_of_order)?.finish(body.data())?;
                    continue;
                }
                Message::ErrorResponse(body) => return Err(refusal(&body)),
                _ => return Err(io::Error::other("the server asks for a way to log in that is not known here").into()),
            }
            self.send()?;
        }
    }

    /// Statements without values, one after the other.
    pub(super) fn simple(&mut self, sql: &str) -> Result<(), Failure> {
        frontend::query(sql, &mut self.output)?;
        self.send()?;
        self.answer().map(drop)
    }

    /// A statement with values in binary; it is prepared on first use.
    pub(super) fn run(&mut self, sql: &str, values: &[&[u8]]) -> Result<Answer, Failure> {
        self.pipeline(&[(sql, values)])
    }

    /// Statements in one round trip, and in one transaction, because a single sync ends them. The answer is the last
    /// one's.
    pub(super) fn pipeline(&mut self, statements: &[(&str, &[&[u8]])]) -> Result<Answer, Failure> {
        let known = self.prepared.len();
        for (sql, values) in statements {
            let next = self.prepared.len();
            let name = format!("s{}", self.prepared.get(*sql).unwrap_or(&next));
            if !self.prepared.contains_key(*sql) {
                frontend::parse(&name, sql, [], &mut self.output)?;
                self.prepared.insert((*sql).to_owned(), next);
            }
            let value = |value: &&[u8], buffer: &mut BytesMut| {
                buffer.extend_from_slice(value);
                Ok(IsNull::No)
            };
            frontend::bind("", &name, [1], *values, value, [1], &mut self.output)
                .map_err(|_| io::Error::other("the values of a statement are too long"))?;
            frontend::execute("", 0, &mut self.output)?;
        }
        frontend::sync(&mut self.output);
        let answer = self.send().map_err(Failure::from).and_then(|()| self.answer());
        if answer.is_err() {
            // Statements of this call may not have been prepared.
            self.prepared.retain(|_, number| *number < known);
        }
        answer
    }

    fn answer(&mut self) -> Result<Answer, Failure> {
        let mut answer = Answer::default();
        let mut failure = None;
        loop {
            match self.receive()? {
                Message::DataRow(body) => {
                    let buffer = body.buffer();
                    let columns = body.ranges().map(|range| Ok(range.map(|range| buffer[range].to_vec())));
                    answer.rows.push(columns.collect()?);
                }
                Message::CommandComplete(body) => {
                    let count = body.tag()?.rsplit(' ').next().and_then(|count| count.parse().ok());
                    answer.written = count.unwrap_or(0);
                }
                Message::ErrorResponse(body) => failure = Some(refusal(&body)),
                Message::ReadyForQuery(_) => return failure.map_or(Ok(answer), Err),
                _ => {}
            }
        }
    }

    /// Waits for a notification.
    pub(super) fn listen(&mut self, timeout: Duration) -> Result<(), Failure> {
        self.stream.socket().set_read_timeout(Some(timeout))?;
        let mut bytes = [0; 4096];
        match self.stream.read(&mut bytes) {
            Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            Ok(len) => self.input.extend_from_slice(&bytes[..len]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        while let Some(message) = Message::parse(&mut self.input)? {
            self.noticed(&message);
        }
        Ok(())
    }

    fn noticed(&mut self, message: &Message) {
        if let Message::NotificationResponse(body) = message {
            self.notices.extend(body.message().ok().map(str::to_owned));
        }
    }

    fn send(&mut self) -> io::Result<()> {
        let sent = self.stream.write_all(&self.output).and_then(|()| self.stream.flush());
        self.output.clear();
        sent
    }

    fn receive(&mut self) -> io::Result<Message> {
        loop {
            if let Some(message) = Message::parse(&mut self.input)? {
                self.noticed(&message);
                if !matches!(message, Message::NotificationResponse(_)) {
                    return Ok(message);
                }
                continue;
            }
            let len = self.input.len();
            self.input.resize(len + READ_BYTES, 0);
            let read = self.stream.read(&mut self.input[len..]);
            self.input.truncate(len + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn out_of_order() -> io::Error {
    io::Error::other("the server's answers to the log-in are out of order")
}

fn refusal(body: &ErrorResponseBody) -> Failure {
    let (mut code, mut message) = (String::new(), String::new());
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        match field.type_() {
            b'C' => code = String::from_utf8_lossy(field.value_bytes()).into_owned(),
            b'M' => message = String::from_utf8_lossy(field.value_bytes()).into_owned(),
            _ => {}
        }
    }
    Failure::Server { code, message }
}
