//! A log in a table of `PostgreSQL`. An append is one insert, which does nothing if the position is taken. NOTIFY tells
//! other nodes. A second connection sends it at most every few milliseconds: inside the transaction it would take a
//! lock of the whole server.

mod client;
mod notify;
mod project;

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

pub(crate) use self::project::PostgresSession;

use self::client::{Answer, Client, Failure, Login};
use self::notify::Notifier;
use crate::address::TlsMode;
use crate::net::{ANSWER_TIMEOUT, Pool, Watch, config};
use crate::{Appended, Blobs, LogAddress, LogError, LogProfile, Position, Result, SharedLog};

const SYSTEM: &str = "postgresql";
const PORT: u16 = 5432;

/// Missing tables are made. A user without the right to make tables may thus use existing ones.
pub(crate) const TABLES: [(&str, &str); 2] = [
    (
        "recension_log",
        "create table if not exists recension_log (log text not null, position bigint not null, record bytea not null, \
         primary key (log, position)); alter table recension_log alter column record set storage external",
    ),
    (
        "recension_blob",
        "create table if not exists recension_blob (log text not null, name text not null, bytes bytea not null, \
         primary key (log, name)); alter table recension_blob alter column bytes set storage external",
    ),
];

const APPEND: &str = "insert into recension_log (log, position, record) select $1::text, $2::int8, $3::bytea where \
    $2::int8 = 1 \
                      or exists (select from recension_log where log = $1::text and position = $2::int8 - 1) \
                      on conflict do nothing";
const READ: &str = "select position, record from (select position, record, sum(octet_length(record)) over (order by \
    position) - \
                    octet_length(record) as before from recension_log where log = $1::text and position >= $2::int8 \
                    order by position limit 4096) as page where before < $3::int8 order by position";
const NEWEST: &str = "select coalesce(max(position), 0) from recension_log where log = $1::text";
const TRIM: &str = "delete from recension_log where log = $1::text and position < least($2::int8, \
                    (select max(position) from recension_log where log = $1::text))";
const PUT: &str = "insert into recension_blob (log, name, bytes) values ($1::text, $2::text, $3::bytea) \
                   on conflict (log, name) do update set bytes = excluded.bytes";
const GET: &str = "select bytes from recension_blob where log = $1::text and name = $2::text";
const LIST: &str =
    "select name from recension_blob where log = $1::text and starts_with(name, $2::text) order by name collate \"C\"";
const DELETE: &str = "delete from recension_blob where log = $1::text and name = $2::text";

/// A log in `PostgreSQL`.
pub struct PostgresLog {
    server: Arc<Server>,
    notifier: Notifier,
}

/// The log's servers, and the connections to them.
struct Server {
    hosts: Vec<(String, u16)>,
    /// The host that was the primary when last looked.
    primary: Mutex<usize>,
    login: Login,
    log: String,
    place: String,
    pool: Pool<Client>,
    watch: Watch,
}

impl PostgresLog {
    /// The log at an address; its tables are made if they are missing.
    pub fn open(address: &LogAddress) -> Result<Self> {
        let server = Arc::new(Server::of(address)?);
        server.make_tables()?;
        let notifier = Notifier::start(&server)?;
        Ok(PostgresLog { server, notifier })
    }
}

impl Server {
    fn of(address: &LogAddress) -> Result<Self> {
        let tls = match address.tls() {
            TlsMode::Off => None,
            TlsMode::Required(ca) => Some(config(ca.as_deref())?),
        };
        let user = address.user.clone().or_else(|| std::env::var("USER").ok()).unwrap_or_else(|| "postgres".to_owned());
        let login = Login { user, password: address.password()?, database: address.path.clone(), tls };
        Ok(Server {
            hosts: address.hosts.iter().map(|(host, port)| (host.clone(), port.unwrap_or(PORT))).collect(),
            primary: Mutex::new(0),
            login,
            log: address.log_name().to_owned(),
            place: address.place(),
            pool: Pool::new(),
            watch: Watch::default(),
        })
    }

    /// A connection to the server that takes writes, from the pool or a new one.
    fn connection(&self) -> Result<Client> {
        match self.pool.take() {
            Some(client) => Ok(client),
            None => self.connect(),
        }
    }

    fn connect(&self) -> Result<Client> {
        let mut primary = self.primary.lock();
        let (began, mut failures) = (Instant::now(), Vec::new());
        for turn in (0..self.hosts.len()).take_while(|_| began.elapsed() < ANSWER_TIMEOUT) {
            let at = (*primary + turn) % self.hosts.len();
            let (host, port) = &self.hosts[at];
            let client = Client::connect(host, *port, &self.login).and_then(|mut client| {
                // An acknowledged commit must be on disk, whatever the database's own setting is.
                let set = "select set_config('synchronous_commit', 'on', false) where \
                    current_setting('synchronous_commit') in ('off', 'local')";
                client.simple(set)?;
                let standby = client.run("select pg_is_in_recovery()", &[])?;
                Ok((client, standby.rows.first().is_some_and(|row| row.first() == Some(&Some(vec![1])))))
            });
            match client {
                Ok((client, false)) => {
                    *primary = at;
                    return Ok(client);
                }
                Ok((_, true)) => failures.push(format!("{host}:{port} is a standby")),
                Err(failure @ Failure::Server { .. }) if is_lasting(&failure) => return Err(self.error(&failure)),
                Err(failure) => failures.push(format!("{host}:{port}: {failure}")),
            }
        }
        Err(LogError::Unavailable(format!("{}: {}", self.place, failures.join("; "))))
    }

    fn make_tables(&self) -> Result<()> {
        let mut client = self.connection()?;
        for (table, sql) in TABLES {
            let found = client
                .run("select 1::int8 where to_regclass($1::text) is not null", &[table.as_bytes()])
                .map_err(|failure| self.error(&failure))?;
            if found.rows.is_empty() {
                match client.simple(sql) {
                    // Another node was making it at the same time.
                    Err(Failure::Server { code, .. })
                        if ["23505", "42P07", "42710", "XX000"].contains(&code.as_str()) => {}
                    made => made.map_err(|failure| self.error(&failure))?,
                }
            }
        }
        self.pool.give(client);
        Ok(())
    }

    /// A statement that may be run twice.
    fn ask(&self, sql: &'static str, values: &[&[u8]]) -> Result<Answer> {
        let (began, mut tried) = (Instant::now(), false);
        loop {
            let pooled = self.pool.take();
            let was_pooled = pooled.is_some();
            let mut client = pooled.map_or_else(|| self.connect(), Ok)?;
            match client.run(sql, values) {
                Ok(answer) => {
                    self.pool.give(client);
                    return Ok(answer);
                }
                // A pooled connection may have been closed long ago.
                Err(Failure::Io(_)) if was_pooled && !tried && began.elapsed() < ANSWER_TIMEOUT => {
                    self.pool.clear();
                    tried = true;
                }
                Err(failure) => {
                    self.pool.clear();
                    return Err(self.error(&failure));
                }
            }
        }
    }

    fn error(&self, failure: &Failure) -> LogError {
        let why = format!("{}: {failure}", self.place);
        if is_lasting(failure) { LogError::Refused { system: SYSTEM, why } } else { LogError::Unavailable(why) }
    }

    fn newest(&self) -> Result<Position> {
        let answer = self.ask(NEWEST, &[self.log.as_bytes()])?;
        let newest = answer.rows.first().and_then(|row| number(row.first()?.as_ref()?)).unwrap_or(0);
        Ok(Position(newest))
    }
}

/// Whether the server will refuse this until somebody changes something.
fn is_lasting(failure: &Failure) -> bool {
    // Errors of transactions, connections, resources, operators and the system pass, as a failover does.
    let passing = ["08", "40", "53", "55", "57", "58", "XX"];
    let passes = |code: &str| passing.iter().any(|class| code.starts_with(class)) || code == "25006";
    matches!(failure, Failure::Server { code, .. } if !passes(code))
}

/// Whether the server has said that it did not write.
fn is_certain(failure: &Failure) -> bool {
    matches!(failure, Failure::Server { code, .. } if !code.starts_with("57") && !code.starts_with("08"))
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

impl SharedLog for PostgresLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let server = &self.server;
        let mut client = server.connection()?;
        let values: [&[u8]; 3] = [server.log.as_bytes(), &position.0.to_be_bytes(), record];
        match client.run(APPEND, &values) {
            Ok(answer) => {
                server.pool.give(client);
                if answer.written == 0 {
                    return Ok(Appended::Taken);
                }
                server.watch.heard(position);
                self.notifier.written(position);
                Ok(Appended::Written)
            }
            Err(failure) => {
                server.pool.clear();
                let certain = is_certain(&failure);
                match server.error(&failure) {
                    LogError::Unavailable(why) if !certain => Err(LogError::Unknown(why)),
                    error => Err(error),
                }
            }
        }
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let bytes_max = (bytes_max as u64).to_be_bytes();
        let answer = self.server.ask(READ, &[self.server.log.as_bytes(), &from.0.to_be_bytes(), &bytes_max])?;
        let mut records = Vec::with_capacity(answer.rows.len());
        for mut row in answer.rows {
            let record = row.pop().flatten().unwrap_or_default();
            let position = row.pop().flatten().and_then(|bytes| number(&bytes)).unwrap_or(0);
            records.push((Position(position), record));
        }
        match records.first() {
            Some((first, _)) if *first > from => Err(LogError::Trimmed { asked: from, first: Some(*first) }),
            _ => Ok(records),
        }
    }

    fn tail(&self, _known: Position) -> Result<Position> {
        Ok(self.server.newest()?.next())
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.server.watch.wait(position, timeout);
    }

    fn wake(&self) {
        self.server.watch.wake();
    }

    fn trim(&self, before: Position) -> Result<()> {
        self.server.ask(TRIM, &[self.server.log.as_bytes(), &before.0.to_be_bytes()]).map(drop)
    }

    fn blobs(&self) -> &dyn Blobs {
        &*self.server
    }

    fn profile(&self) -> LogProfile {
        LogProfile {
            system: SYSTEM,
            place: self.server.place.clone(),
            record_bytes_max: crate::limits::RECORD_BYTES_MAX,
            record_bytes_best: 1 << 20,
            blob_bytes_max: 8 << 20,
            keeps: "loss of power, and whatever the server's standbys survive if synchronous_standby_names says so",
        }
    }
}

impl Blobs for Server {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.ask(PUT, &[self.log.as_bytes(), name.as_bytes(), bytes]).map(drop)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let answer = self.ask(GET, &[self.log.as_bytes(), name.as_bytes()])?;
        Ok(answer.rows.into_iter().next().and_then(|row| row.into_iter().next().flatten()))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let answer = self.ask(LIST, &[self.log.as_bytes(), prefix.as_bytes()])?;
        let names = answer.rows.into_iter().filter_map(|row| String::from_utf8(row.into_iter().next()??).ok());
        Ok(names.collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.ask(DELETE, &[self.log.as_bytes(), name.as_bytes()]).map(drop)
    }
}
