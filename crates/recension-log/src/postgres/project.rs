//! A connection to `PostgreSQL` for a projection.

use super::Server;
use super::client::{Client, Failure};
use crate::projection::{Cell, Session, Statement};
use crate::{LogAddress, Result};

pub(crate) struct PostgresSession {
    server: Server,
    client: Client,
}

impl PostgresSession {
    pub(crate) fn open(address: &LogAddress) -> Result<Self> {
        let server = Server::of(address)?;
        let client = server.connect()?;
        Ok(PostgresSession { server, client })
    }

    /// A connection that has failed is made anew for the next try.
    fn checked<T>(&mut self, done: std::result::Result<T, Failure>) -> Result<T> {
        done.map_err(|failure| {
            let error = self.server.error(&failure);
            let _ = self.anew();
            error
        })
    }
}

impl Session for PostgresSession {
    fn simple(&mut self, sql: &str) -> Result<()> {
        let done = self.client.simple(sql);
        self.checked(done)
    }

    fn transaction(&mut self, statements: &[Statement]) -> Result<Vec<String>> {
        let bytes: Vec<Vec<Vec<u8>>> = statements
            .iter()
            .map(|(_, cells)| {
                let bytes = |cell: &Cell| match cell {
                    Cell::Text(text) => text.as_bytes().to_vec(),
                    Cell::Number(number) => number.to_be_bytes().to_vec(),
                };
                cells.iter().map(bytes).collect()
            })
            .collect();
        let values: Vec<Vec<&[u8]>> = bytes.iter().map(|cells| cells.iter().map(Vec::as_slice).collect()).collect();
        let pipeline: Vec<(&str, &[&[u8]])> =
            statements.iter().zip(&values).map(|((sql, _), values)| (sql.as_str(), values.as_slice())).collect();
        let done = self.client.pipeline(&pipeline);
        let answer = self.checked(done)?;
        let text = |row: Vec<Option<Vec<u8>>>| String::from_utf8(row.into_iter().next()??).ok();
        Ok(answer.rows.into_iter().filter_map(text).collect())
    }

    fn anew(&mut self) -> Result<()> {
        self.client = self.server.connect()?;
        Ok(())
    }
}
