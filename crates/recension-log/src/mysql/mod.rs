//! A log in a table of `MySQL` or `MariaDB`, also of a Galera cluster. An append is one insert; its key decides. Other
//! nodes poll.

mod project;
mod server;

use std::time::{Duration, Instant};

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Params, Row, Value};

pub(crate) use self::project::MySqlSession;
use self::server::{Failure, Server, is_lasting};
use crate::net::{ANSWER_TIMEOUT, Pool, Watch};
use crate::{Appended, Blobs, LogAddress, LogError, LogProfile, Position, Result, SharedLog};

const SYSTEM: &str = "mysql";
/// How often an append that yields to others is tried.
const GIVEN_WAY_MAX: u32 = 12;
/// How often waiters look for a record.
const LOOK: Duration = Duration::from_millis(15);
/// Room in a packet besides a record.
const PACKET_ROOM: usize = 64 << 10;
/// The least packet size that is accepted.
const PACKET_LEAST: usize = 1 << 20;

pub(crate) const TABLES: [(&str, &str); 2] = [
    (
        "recension_log",
        "create table if not exists recension_log (log varchar(64) character set ascii collate ascii_bin not null, \
         position bigint unsigned not null, record longblob not null, primary key (log, position)) engine=InnoDB",
    ),
    (
        "recension_blob",
        "create table if not exists recension_blob (log varchar(64) character set ascii collate ascii_bin not null, \
         name varchar(255) character set ascii collate ascii_bin not null, bytes longblob not null, \
         primary key (log, name)) engine=InnoDB",
    ),
];

const APPEND: &str = "insert into recension_log (log, position, record) select ?, ?, ? from dual where ? = 1 or exists \
                      (select 1 from recension_log where log = ? and position = ?)";
const READ: &str =
    "select position, record from recension_log where log = ? and position >= ? order by position limit ?";
const LENGTHS: &str = "select position, octet_length(record) from recension_log where log = ? and position >= ? \
    order by position limit 256";
const NEWEST: &str = "select max(position) from recension_log where log = ?";
const TRIM: &str = "delete from recension_log where log = ? and position < ?";
const PUT: &str = "replace into recension_blob (log, name, bytes) values (?, ?, ?)";
const GET: &str = "select bytes from recension_blob where log = ? and name = ?";
const LIST: &str = "select name from recension_blob where log = ? and name >= ? and name < ? order by name";
const DELETE: &str = "delete from recension_blob where log = ? and name = ?";

/// A log in `MySQL` or `MariaDB`.
pub struct MySqlLog {
    server: Server,
    log: String,
    packet_bytes: usize,
    keeps: &'static str,
    pool: Pool<Conn>,
    watch: Watch,
}

impl MySqlLog {
    /// The log at an address; its tables are made if they are missing.
    pub fn open(address: &LogAddress) -> Result<Self> {
        let mut log = MySqlLog {
            server: Server::of(address)?,
            log: address.log_name().to_owned(),
            packet_bytes: 0,
            keeps: "",
            pool: Pool::new(),
            watch: Watch::default(),
        };
        log.prepare()?;
        Ok(log)
    }

    /// Makes the tables, and asks for the server's properties.
    fn prepare(&mut self) -> Result<()> {
        for (table, sql) in TABLES {
            let found = "select 1 from information_schema.tables where table_schema = database() and table_name = ?";
            if self.ask(found, vec![table.into()])?.is_empty() {
                self.ask(sql, Vec::new())?;
            }
        }
        let settings = self.ask("select @@max_allowed_packet, @@global.innodb_flush_log_at_trx_commit", Vec::new())?;
        let setting = |column: usize| settings.first().and_then(|row| row.get::<u64, _>(column)).unwrap_or_default();
        self.packet_bytes = usize::try_from(setting(0)).unwrap_or(usize::MAX);
        if self.packet_bytes < PACKET_LEAST {
            let why =
                format!("{}: max_allowed_packet is {}; it has to be 1M at least", self.server.place, self.packet_bytes);
            return Err(LogError::Refused { system: SYSTEM, why });
        }
        self.keeps = match setting(1) {
            1 => "loss of power, and on Galera that of any node",
            _ => "not the loss of power: innodb_flush_log_at_trx_commit is not 1",
        };
        Ok(())
    }

    /// Runs a statement; answers its rows and how many rows it wrote.
    fn run(&self, conn: Conn, sql: &'static str, values: Vec<Value>) -> std::result::Result<(Vec<Row>, u64), Failure> {
        let work = async move {
            let mut conn = conn;
            let values = if values.is_empty() { Params::Empty } else { Params::Positional(values) };
            let rows: std::result::Result<Vec<Row>, Error> = conn.exec(sql, values).await;
            let written = conn.affected_rows();
            (conn, rows.map(|rows| (rows, written)))
        };
        match self.server.driver.run(ANSWER_TIMEOUT, work) {
            Some((conn, Ok(answer))) => {
                self.pool.give(conn);
                Ok(answer)
            }
            Some((conn, Err(Error::Server(error)))) => {
                // The connection is sound.
                self.pool.give(conn);
                Err(Error::Server(error).into())
            }
            Some((_, Err(error))) => {
                self.pool.clear();
                Err(error.into())
            }
            None => {
                self.pool.clear();
                Err(Failure::Broken("no answer in time".to_owned()))
            }
        }
    }

    /// A statement that may be run twice.
    #[allow(clippy::needless_pass_by_value)] // callers make the values for one statement
    fn ask(&self, sql: &'static str, values: Vec<Value>) -> Result<Vec<Row>> {
        let (began, mut tries) = (Instant::now(), 0);
        loop {
            let conn = self.pool.take().map_or_else(|| self.server.connect(), Ok)?;
            match self.run(conn, sql, values.clone()) {
                Ok((rows, _)) => return Ok(rows),
                Err(failure) if tries < 3 && !is_lasting(&failure) && began.elapsed() < ANSWER_TIMEOUT => tries += 1,
                Err(failure) => return Err(self.server.error(failure)),
            }
        }
    }

    fn name(&self) -> Value {
        self.log.as_str().into()
    }

    /// How many records from a position on have about this many bytes; at least one.
    fn page(&self, from: Position, bytes_max: usize) -> Result<u64> {
        let mut bytes = 0;
        let mut count = 0;
        for row in self.ask(LENGTHS, vec![self.name(), from.0.into()])? {
            if bytes >= bytes_max as u64 {
                break;
            }
            bytes += row.get::<u64, _>(1).unwrap_or(0);
            count += 1;
        }
        Ok(count.max(1))
    }
}

const DUPLICATE: u16 = 1062;

impl SharedLog for MySqlLog {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let before = position.before().0;
        let mut attempts = 0;
        loop {
            attempts += 1;
            let conn = self.pool.take().map_or_else(|| self.server.connect(), Ok)?;
            let values =
                vec![self.name(), position.0.into(), record.into(), position.0.into(), self.name(), before.into()];
            return match self.run(conn, APPEND, values) {
                Ok((_, 0)) | Err(Failure::Server(DUPLICATE, _)) => Ok(Appended::Taken),
                Ok(_) => {
                    self.watch.heard(position);
                    Ok(Appended::Written)
                }
                // The server made this statement yield to another one, maybe of another log, and asks for it again.
                // Each time it waits longer, since many logs in one table can make each other yield again and again.
                Err(Failure::Server(1020 | 1213, _)) if attempts < GIVEN_WAY_MAX => {
                    std::thread::sleep(Duration::from_millis(u64::from(attempts * attempts)));
                    continue;
                }
                // After a conflict or a lock timeout nothing was written. After a broken connection that is unknown.
                Err(failure @ Failure::Server(1020 | 1205 | 1213, _)) => Err(self.server.error(failure)),
                Err(failure) => Err(match self.server.error(failure) {
                    LogError::Unavailable(why) => LogError::Unknown(why),
                    error => error,
                }),
            };
        }
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        let limit = self.page(from, bytes_max)?;
        let rows = self.ask(READ, vec![self.name(), from.0.into(), limit.into()])?;
        let mut records = Vec::with_capacity(rows.len());
        for mut row in rows {
            let (position, record) = (row.take::<u64, _>(0).unwrap_or(0), row.take(1).unwrap_or_default());
            records.push((Position(position), record));
        }
        match records.first() {
            Some((first, _)) if *first > from => Err(LogError::Trimmed { asked: from, first: Some(*first) }),
            _ => Ok(records),
        }
    }

    fn tail(&self, _known: Position) -> Result<Position> {
        let rows = self.ask(NEWEST, vec![self.name()])?;
        let newest = Position(rows.first().and_then(|row| row.get::<Option<u64>, _>(0).flatten()).unwrap_or(0));
        self.watch.heard(newest);
        Ok(newest.next())
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.watch.poll(position, timeout, LOOK, || self.tail(Position(0)).is_ok_and(|tail| tail > position));
    }

    fn wake(&self) {
        self.watch.wake();
    }

    fn trim(&self, before: Position) -> Result<()> {
        let before = before.min(self.tail(Position(0))?.before());
        self.ask(TRIM, vec![self.name(), before.0.into()]).map(drop)
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        let room = self.packet_bytes - PACKET_ROOM;
        LogProfile {
            system: SYSTEM,
            place: self.server.place.clone(),
            record_bytes_max: room.min(crate::limits::RECORD_BYTES_MAX),
            record_bytes_best: room.min(1 << 20),
            blob_bytes_max: room.min(8 << 20),
            keeps: self.keeps,
        }
    }
}

impl Blobs for MySqlLog {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.ask(PUT, vec![self.name(), name.into(), bytes.into()]).map(drop)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let rows = self.ask(GET, vec![self.name(), name.into()])?;
        Ok(rows.into_iter().next().and_then(|mut row| row.take(0)))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        // Names have no byte beyond `z`.
        let rows = self.ask(LIST, vec![self.name(), prefix.into(), format!("{prefix}~").into()])?;
        Ok(rows.into_iter().filter_map(|mut row| row.take(0)).collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.ask(DELETE, vec![self.name(), name.into()]).map(drop)
    }
}
