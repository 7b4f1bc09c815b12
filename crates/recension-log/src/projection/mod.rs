//! A projection: the present documents as rows of tables in the database that the log lives on, for `psql`, `mariadb`
//! and reporting tools to read. It is derived: it can be deleted and written again at any time. The logic is written
//! once. The differences between systems are a [`Dialect`], and a [`Session`] that runs its statements.

// Without a system that has projections there is nobody to read what is written here.
#![cfg_attr(not(any(feature = "postgres", feature = "mysql")), allow(dead_code, unreachable_code))]

mod dialect;

use std::collections::HashSet;

#[cfg(feature = "mysql")]
pub(crate) use self::dialect::MYSQL;
#[cfg(feature = "postgres")]
pub(crate) use self::dialect::POSTGRES;

pub(crate) use self::dialect::Dialect;
use crate::{LogAddress, LogError, Result, System};

/// The table with the projection's progress.
const STATE: &str = "recension_projection";
/// Statements are kept prepared. If they are for more tables, the session is begun anew.
const TABLES_MAX: usize = 300;

/// A document as a row; without a body it is deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectedRow {
    /// Its collection.
    pub collection: String,
    /// Its id.
    pub id: String,
    /// Its revision.
    pub rev: String,
    /// The commit that wrote it.
    pub seq: u64,
    /// The body, JSON text; `None` if the document is deleted.
    pub body: Option<String>,
}

/// A row compared with its document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowState {
    /// The same.
    Same,
    /// It has another revision, or another body.
    Different,
    /// Not there.
    Missing,
}

/// A value in a statement.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Text(String),
    Number(u64),
}

/// A statement and its values.
pub(crate) type Statement = (String, Vec<Cell>);

/// A connection to a database.
pub(crate) trait Session: Send {
    /// Runs a statement without values that answers nothing.
    fn simple(&mut self, sql: &str) -> Result<()>;

    /// Runs statements in one transaction; returns the first columns of all rows, which are texts.
    fn transaction(&mut self, statements: &[Statement]) -> Result<Vec<String>>;

    /// Makes a new connection.
    fn anew(&mut self) -> Result<()>;
}

/// The destination of rows: the tables of a schema.
pub struct Projection {
    session: Box<dyn Session>,
    dialect: &'static Dialect,
    schema: String,
    log: String,
    /// Tables that are there.
    tables: HashSet<String>,
    is_made: bool,
}

/// The projection that an address asks for with `?project=SCHEMA`; `None` if it asks for none. Nothing is made before
/// the first write.
pub fn open_projection(address: &LogAddress) -> Result<Option<Projection>> {
    let Some(schema) = address.parameter("project") else { return Ok(None) };
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if schema.is_empty() || schema.len() > 63 || !schema.bytes().all(plain) {
        let why = "?project= is the name of a schema, in MySQL of a database: a-z, 0-9 and _".to_owned();
        return Err(LogError::Refused { system: "projection", why });
    }
    let (session, dialect): (Box<dyn Session>, _) = match address.system {
        #[cfg(feature = "postgres")]
        System::Postgres => (Box::new(crate::postgres::PostgresSession::open(address)?), &POSTGRES),
        #[cfg(feature = "mysql")]
        System::MySql => (Box::new(crate::mysql::MySqlSession::open(address)?), &MYSQL),
        System::Folder | System::MongoDb | System::Etcd | System::S3 => {
            let why = "only PostgreSQL, MySQL and MariaDB have projections".to_owned();
            return Err(LogError::Refused { system: "projection", why });
        }
        #[allow(unreachable_patterns)] // with every feature there is none left
        missing => {
            let feature = missing.feature();
            let why = format!("it needs the cargo feature `{feature}`, which this program was built without");
            return Err(LogError::Refused { system: "projection", why });
        }
    };
    let (schema, log) = (schema.to_owned(), address.log_name().to_owned());
    Ok(Some(Projection { session, dialect, schema, log, tables: HashSet::new(), is_made: false }))
}

impl Projection {
    /// The commit up to which it is complete; `None` if it was never written.
    pub fn seq(&mut self) -> Result<Option<u64>> {
        if !self.is_there(STATE)? {
            return Ok(None);
        }
        let sql = self.on(STATE, self.dialect.state);
        let found = self.ask(sql, vec![Cell::Text(self.log.clone())])?;
        Ok(found.first().and_then(|seq| seq.parse().ok()))
    }

    /// The collections that have tables.
    pub fn collections(&mut self) -> Result<Vec<String>> {
        let found = self.ask(self.dialect.tables.to_owned(), vec![Cell::Text(self.schema.clone())])?;
        Ok(found.into_iter().filter(|name| name != STATE).collect())
    }

    /// Writes rows in one transaction. `seq`: the projection is then complete up to this commit.
    pub fn write(&mut self, rows: &[ProjectedRow], seq: Option<u64>) -> Result<()> {
        self.make()?;
        for row in rows {
            self.make_table(&row.collection)?;
        }
        let mut statements = Vec::with_capacity(rows.len() + 1);
        // Neighbouring rows of one kind share a statement, if the system allows it.
        let kind = |row: &ProjectedRow| (row.collection.clone(), row.body.is_some());
        for group in rows.chunk_by(|a, b| kind(a) == kind(b)) {
            if group[0].body.is_none() {
                for row in group {
                    let sql = self.on(&row.collection, self.dialect.delete);
                    statements.push((sql, vec![Cell::Text(row.id.clone()), Cell::Number(row.seq)]));
                }
                continue;
            }
            let most = self.dialect.rows_at_once;
            for rows in group.chunks(most) {
                // Only few kinds of statements are kept prepared: full ones, and ones with a single row.
                for rows in rows.chunks(if rows.len() == most { most } else { 1 }) {
                    let values = vec![self.dialect.upsert_row; rows.len()].join(", ");
                    let sql = self.on(&rows[0].collection, self.dialect.upsert).replace("{rows}", &values);
                    let cells = rows.iter().flat_map(|row| {
                        let body = (self.dialect.storable)(row.body.as_deref().unwrap_or_default());
                        let (id, rev) = (Cell::Text(row.id.clone()), Cell::Text(row.rev.clone()));
                        [id, rev, Cell::Number(row.seq), Cell::Text(body)]
                    });
                    statements.push((sql, cells.collect()));
                }
            }
        }
        if let Some(seq) = seq {
            let sql = self.on(STATE, self.dialect.write_state);
            statements.push((sql, vec![Cell::Text(self.log.clone()), Cell::Number(seq)]));
        }
        self.session.transaction(&statements).map(drop)
    }

    /// Drops a collection's table.
    pub fn drop_collection(&mut self, collection: &str) -> Result<()> {
        self.tables.remove(collection);
        // Without cascade: if somebody's view depends on the table, the server refuses and says so.
        let sql = self.on(collection, "drop table if exists {table}");
        self.session.simple(&sql)
    }

    /// The ids of a collection's rows, in no order.
    pub fn ids(&mut self, collection: &str) -> Result<Vec<String>> {
        let sql = self.on(collection, self.dialect.ids);
        self.ask(sql, Vec::new())
    }

    /// Compares existing rows with documents: the revision, and the body as the database stores it.
    pub fn compare(&mut self, rows: &[ProjectedRow]) -> Result<Vec<RowState>> {
        let statements: Vec<Statement> = rows
            .iter()
            .map(|row| {
                let body = (self.dialect.storable)(row.body.as_deref().unwrap_or_default());
                let cells = vec![Cell::Text(row.rev.clone()), Cell::Text(body), Cell::Text(row.id.clone())];
                (self.on(&row.collection, self.dialect.compare), cells)
            })
            .collect();
        let states = self.session.transaction(&statements)?.into_iter().map(|state| match state.as_str() {
            "same" => RowState::Same,
            "missing" => RowState::Missing,
            _ => RowState::Different,
        });
        Ok(states.collect())
    }

    fn ask(&mut self, sql: String, cells: Vec<Cell>) -> Result<Vec<String>> {
        self.session.transaction(&[(sql, cells)])
    }

    fn is_there(&mut self, table: &str) -> Result<bool> {
        let cells = vec![Cell::Text(self.schema.clone()), Cell::Text(table.to_owned())];
        Ok(!self.ask(self.dialect.is_there.to_owned(), cells)?.is_empty())
    }

    /// A statement on a table.
    fn on(&self, table: &str, statement: &str) -> String {
        let quote = self.dialect.quote;
        let quoted = |name: &str| format!("{quote}{}{quote}", name.replace(quote, &format!("{quote}{quote}")));
        let table = format!("{}.{}", quoted(&self.schema), quoted(table));
        statement.replace("{table}", &table).replace("{schema}", &quoted(&self.schema))
    }

    /// Makes the schema and the table with the progress. A user who may not make a schema can use an existing one.
    fn make(&mut self) -> Result<()> {
        if self.is_made {
            return Ok(());
        }
        if self.ask(self.dialect.schema_is_there.to_owned(), vec![Cell::Text(self.schema.clone())])?.is_empty() {
            let sql = self.on(STATE, self.dialect.make_schema);
            self.session.simple(&sql)?;
        }
        if !self.is_there(STATE)? {
            let sql = self.on(STATE, self.dialect.make_state);
            self.session.simple(&sql)?;
        }
        self.is_made = true;
        Ok(())
    }

    fn make_table(&mut self, collection: &str) -> Result<()> {
        if self.tables.contains(collection) {
            return Ok(());
        }
        if self.dialect.is_too_long(collection) || collection == STATE {
            let why = format!("the collection {collection:?} cannot be a table: its name is too long, or taken");
            return Err(LogError::Refused { system: self.dialect.system, why });
        }
        if self.tables.len() >= TABLES_MAX {
            self.tables.clear();
            self.session.anew()?;
        }
        let sql = self.on(collection, self.dialect.make_table);
        self.session.simple(&sql)?;
        self.tables.insert(collection.to_owned());
        Ok(())
    }
}
