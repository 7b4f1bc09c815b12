//! A connection to `MySQL` or `MariaDB` for a projection.

use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error, Params, Row, Value};

use super::server::{Failure, Server};
use crate::projection::{Cell, Session, Statement};
use crate::{LogAddress, Result};

/// How long a transaction of many rows may take.
const TRANSACTION_TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) struct MySqlSession {
    server: Server,
    conn: Option<Conn>,
}

impl MySqlSession {
    pub(crate) fn open(address: &LogAddress) -> Result<Self> {
        let mut session = MySqlSession { server: Server::of(address)?, conn: None };
        session.anew()?;
        Ok(session)
    }

    /// Runs statements one after the other; after a failure the connection is made anew.
    fn run(&mut self, statements: Vec<(String, Params)>) -> Result<Vec<Row>> {
        if self.conn.is_none() {
            self.anew()?;
        }
        let Some(conn) = self.conn.take() else { return Ok(Vec::new()) };
        let work = async move {
            let mut conn = conn;
            let mut rows: Vec<Row> = Vec::new();
            for (sql, values) in statements {
                match values {
                    Params::Empty => conn.query_drop(sql).await?,
                    values => rows.extend(conn.exec::<Row, _, _>(sql, values).await?),
                }
            }
            Ok::<_, Error>((conn, rows))
        };
        match self.server.driver.run(TRANSACTION_TIMEOUT, work) {
            Some(Ok((conn, rows))) => {
                self.conn = Some(conn);
                Ok(rows)
            }
            Some(Err(error)) => Err(self.server.error(error.into())),
            None => Err(self.server.error(Failure::Broken("no answer in time".to_owned()))),
        }
    }
}

impl Session for MySqlSession {
    fn simple(&mut self, sql: &str) -> Result<()> {
        self.run(vec![(sql.to_owned(), Params::Empty)]).map(drop)
    }

    fn transaction(&mut self, statements: &[Statement]) -> Result<Vec<String>> {
        let order = |sql: &str| (sql.to_owned(), Params::Empty);
        let mut all = vec![order("start transaction")];
        all.extend(statements.iter().map(|(sql, cells)| {
            let value = |cell: &Cell| match cell {
                Cell::Text(text) => Value::from(text.as_str()),
                Cell::Number(number) => Value::from(*number),
            };
            let values: Vec<Value> = cells.iter().map(value).collect();
            // Even without values, the statement answers rows.
            (sql.clone(), Params::Positional(values))
        }));
        all.push(order("commit"));
        let rows = self.run(all)?;
        Ok(rows.into_iter().filter_map(|mut row| row.take::<Option<String>, _>(0).flatten()).collect())
    }

    fn anew(&mut self) -> Result<()> {
        self.conn = Some(self.server.connect()?);
        // Text that does not fit must be refused, and not truncated.
        self.simple("set session sql_mode = 'STRICT_ALL_TABLES'")
    }
}
